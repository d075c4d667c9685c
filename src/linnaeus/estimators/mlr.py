"""Multinomial logistic regression: MLR of [GopalYang2015] section 5.2.

    minimise  1/2 sum_k ||w_k||^2 + C sum_i (log sum_k exp(w_k.x_i) - w_{t_i}.x_i)

t_i is the class of example i.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from linnaeus.estimators._multiclass import Exclusive
from linnaeus.execution import executor
from linnaeus.solvers.linear import mlr
from linnaeus.solvers.numerics.examples import Solution


class MulticlassLogistic(Exclusive):
    """Softmax regression: one probability for every class, summing to 1.

    Parameters and attributes are those of `MulticlassSVM`; `n_jobs` is as in `FlatSVM`.
    """

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype) | {"executor": executor(self.n_jobs)}
        t = self._one_class(Y)
        return self._folded(mlr.solve(X, t, Y.shape[1], seed=seed, **options))
