"""Multinomial logistic regression: MLR of [GopalYang2015] section 5.2.

    minimise  1/2 sum_k ||w_k||^2 + C sum_i (log sum_k exp(w_k.x_i) - w_{t_i}.x_i)

t_i is the class of example i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.estimators._multiclass import Multiclass, exclusive_probabilities
from linnaeus.execution import executor
from linnaeus.solvers.linear import mlr
from linnaeus.solvers.numerics.examples import Solution


class MulticlassLogistic(Multiclass):
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
