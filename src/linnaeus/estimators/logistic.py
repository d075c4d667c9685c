"""One logistic regression per class, all classes over one matrix: BLR of [GopalYang2015].

    minimise  sum_k  1/2 ||w_k||^2 + C sum_i log(1 + exp(-y_ik w_k.x_i))

with y_ik = +1 when example i carries class k, else -1.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from linnaeus.estimators._linear import Independent, class_costs
from linnaeus.execution import executor
from linnaeus.solvers.linear import logistic
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.taxonomy import Taxonomy


class FlatLogistic(Independent):
    """One logistic regression per class against all the others.

    Parameters
    ----------
    taxonomy, C, classes, fit_intercept, intercept_scaling, empty, class_weight, tol, dtype, n_jobs,
        random_state : as in `FlatSVM`
    max_iter : passes over the data at most

    Attributes
    ----------
    coef_, intercept_ : (n_classes, n_features) and (n_classes,), one row for two exclusive classes
    classes_, taxonomy_, n_iter_, trace_, objective_, dual_objective_, gap_, class_gap_

    Examples
    --------
    >>> from linnaeus import FlatLogistic
    >>> model = FlatLogistic().fit([[1.0], [0.5], [-0.5], [-1.0]], ["a", "a", "b", "b"])
    >>> model.predict_proba([[1.0]]).round(1)
    array([[0.7, 0.3]])
    """

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        classes: str = "leaves",
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        dtype: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype) | {"executor": executor(self.n_jobs)}
        factors = class_costs(self.class_weight, self.targets_, Y, weight)
        costs = None if factors is None else factors.T
        return logistic.solve(X, Y, class_weight=costs, seed=seed, **options)
