"""What the linear models of all classes together share: one label per sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from linnaeus.estimators import _targets
from linnaeus.estimators._linear import LinearClassifier
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.taxonomy import Taxonomy


class Multiclass(LinearClassifier):
    """One label per sample, and one row of weights for two classes."""

    several = False

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        dtype: Any = None,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _columns(self, Y: sp.csr_array) -> sp.csr_array:
        return Y

    def _one_class(self, Y: sp.csr_array) -> np.ndarray:
        """The class of every example."""
        remedy = "Use FlatSVM or FlatLogistic for several."
        return _targets.the_class(Y, type(self).__name__, remedy)

    def _positive(self, scores: np.ndarray) -> sp.csr_array:
        return self._best_alone(scores)

    def _folded(self, solution: Solution) -> Solution:
        """For two exclusive classes the difference of their weights is enough."""
        if not self.targets_.binary:
            return solution
        W, b = solution.coef, solution.intercept
        return solution._replace(coef=W[1:] - W[:1], intercept=b[1:] - b[:1])


class Exclusive(Multiclass):
    """Classes of which one is right; scores are log probabilities up to a constant."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, one column for each of `classes_`.

        With one label per sample they sum to 1. For label sets a node has the sum over the classes
        at or below it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of `classes_`.
        """
        check_is_fitted(self, "targets_")
        if self.targets_.one and not self.targets_.by_path:
            return self._probabilities(self._label_scores(X))
        return np.asarray(self.targets_.columns().total(self.class_probabilities(X)))

    def class_probabilities(self, X: Any) -> np.ndarray:
        """Probabilities of the classes that were trained, in the order of training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_trained)
            One column for each class.
        """
        return self._probabilities(self.class_scores(X))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Softmax; of two exclusive classes the scores are the log odds, and minus these."""
        return np.asarray(softmax(scores / 2 if self.targets_.binary else scores, axis=1))
