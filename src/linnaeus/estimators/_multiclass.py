"""What the linear models of all classes together share: one label per sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from scipy.special import softmax as softmax_of

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


def exclusive_probabilities(scores: np.ndarray, targets: _targets.Targets) -> np.ndarray:
    """Softmax of scores; of two exclusive classes the score is the log odds of the second."""
    if targets.binary:
        p = expit(scores)
        return np.column_stack([1 - p, p])
    return np.asarray(softmax_of(scores, axis=1))
