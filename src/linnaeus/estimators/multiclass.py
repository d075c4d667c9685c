"""One linear model of all classes together, for one label per sample: MSVM and MLR.

    MulticlassSVM       1/2 sum_k ||w_k||^2 + C sum_i max_k ([k != t_i] + w_k.x_i - w_{t_i}.x_i)
    MulticlassLogistic  1/2 sum_k ||w_k||^2 + C sum_i (log sum_k exp(w_k.x_i) - w_{t_i}.x_i)

t_i is the class of example i; the baselines of [GopalYang2015] section 5.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from scipy.special import softmax as softmax_of

from linnaeus.estimators import _targets
from linnaeus.estimators._linear import LinearClassifier
from linnaeus.estimators.flat import check_positive
from linnaeus.execution import executor
from linnaeus.solvers.linear import mlr, msvm
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.taxonomy import Taxonomy


class _Multiclass(LinearClassifier):
    """What both share: one label per sample, and one row of weights for two classes."""

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
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

    def _options(self, weight: Any, dtype: Any) -> dict[str, Any]:
        """What both solvers are told."""
        check_positive(C=self.C, tol=self.tol, max_iter=self.max_iter)
        return {
            "C": self.C,
            "bias": self._bias(),
            "sample_weight": weight,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "dtype": dtype,
        }

    def _positive(self, scores: np.ndarray) -> sp.csr_array:
        return self._best_alone(scores)

    def _folded(self, solution: Solution) -> Solution:
        """For two exclusive classes the difference of their weights is enough."""
        if not self.targets_.binary:
            return solution
        W, b = solution.coef, solution.intercept
        return solution._replace(coef=W[1:] - W[:1], intercept=b[1:] - b[:1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


class MulticlassSVM(_Multiclass):
    """The multiclass support vector machine of Crammer and Singer.

    Parameters
    ----------
    taxonomy : the taxonomy, whose leaves are the classes; None for the labels that occur
    C : weight of the loss
    fit_intercept, intercept_scaling, tol, dtype, random_state : as in `FlatSVM`
    max_iter : passes over the data at most
    n_jobs : not used: examples are visited one after the other

    Attributes
    ----------
    coef_, intercept_ : (n_classes, n_features) and (n_classes,), one row for two exclusive classes
    classes_, taxonomy_, n_iter_, trace_, objective_, dual_objective_, gap_
    """

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype)
        t = self._one_class(Y)
        return self._folded(msvm.solve(X, t, Y.shape[1], random_state=seed, **options))


class MulticlassLogistic(_Multiclass):
    """Softmax regression: one probability for every class, summing to 1.

    Parameters
    ----------
    taxonomy : the taxonomy, whose leaves are the classes; None for the labels that occur
    C : weight of the loss
    fit_intercept, intercept_scaling, tol, dtype, n_jobs, random_state : as in `FlatSVM`
    max_iter : passes over the data at most

    Attributes
    ----------
    coef_, intercept_ : (n_classes, n_features) and (n_classes,), one row for two exclusive classes
    classes_, taxonomy_, n_iter_, trace_, objective_, dual_objective_, gap_
    """

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype) | {"executor": executor(self.n_jobs)}
        t = self._one_class(Y)
        return self._folded(mlr.solve(X, t, Y.shape[1], seed=seed, **options))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        return exclusive_probabilities(self.decision_function(X), self.targets_)


def exclusive_probabilities(scores: np.ndarray, targets: _targets.Targets) -> np.ndarray:
    """Softmax of scores; of two exclusive classes the score is the log odds of the second."""
    if targets.binary:
        p = expit(scores)
        return np.column_stack([1 - p, p])
    return np.asarray(softmax_of(scores, axis=1))
