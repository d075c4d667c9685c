"""One support vector machine per class, all classes over one matrix: BSVM of [GopalYang2015].

    minimise  sum_k  1/2 ||w_k||^2 + C sum_i loss(y_ik w_k.x_i)

with y_ik = +1 when example i carries class k, else -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.estimators._continued import (
    Continued,
    column_names,
    in_units,
    past_duals,
    replaced,
    whole,
    with_columns,
)
from linnaeus.estimators._linear import class_costs
from linnaeus.execution import executor
from linnaeus.solvers.linear import svm, svm_duals
from linnaeus.solvers.numerics.examples import Solution, example_weights
from linnaeus.taxonomy import Taxonomy


class FlatSVM(Continued):
    """One support vector machine per class against all the others.

    Parameters
    ----------
    taxonomy : the taxonomy; None for classes without a hierarchy
    C : weight of the loss
    loss : "squared_hinge" or "hinge"
    classes : "leaves" or "nodes", what a class is; over nodes the predictions are repaired
        so that a node is only on when its parents are
    fit_intercept : add a constant feature of size `intercept_scaling`, regularised like any other
    class_weight : None, "balanced" or {class: factor of the cost of its positives}
    prune : drop weights below this at the end; `coef_` is then sparse, and `prune_loss_` says by
        what share the objective rose
    warm_start : start from the dual variables of the last `fit` of the same examples, with
        another C, say; `linnaeus.experiments.c_path` uses it. A saved model then also holds its
        rows, so that it can go on by `partial_fit`.
    tol : relative duality gap at which to stop
    max_iter : rounds of descent and sweep at most
    dtype : "float32" or "float64"; None takes float32 for large data
    n_jobs : threads; -1 for all cores. The result does not depend on it.
    random_state : seed

    Attributes
    ----------
    coef_, intercept_ : (n_classes, n_features) and (n_classes,), one row for two exclusive classes
    classes_, taxonomy_, n_iter_, trace_
    objective_, dual_objective_, gap_ : of all classes together; `class_gap_` of each
    duals_ : (n_samples, n_classes), sparse, dual variables over C, those of negatives with a minus
    kept_ : the rows so far, in memory, for `partial_fit`

    Examples
    --------
    >>> from linnaeus import FlatSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> FlatSVM(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9]])
    array(['oak'], dtype='<U3')
    """

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        C: float = 1.0,
        loss: str = "squared_hinge",
        classes: str = "leaves",
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        prune: float = 0.0,
        warm_start: bool = False,
        tol: float = 1e-3,
        max_iter: int = 100,
        dtype: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.prune = prune
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int, past: Any = None
    ) -> Solution:
        names = column_names(self.targets_, Y.shape[1])
        costs = self._costs(Y, weight)
        solution, duals = self._columns_solved(X, Y, weight, dtype, seed, past, names, costs)
        self.duals_ = in_units(duals, self.C)
        return solution

    def _costs(self, Y: sp.csr_array, weight: Any) -> Any:
        return class_costs(self.class_weight, self.targets_, Y, weight)

    def _columns_solved(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int, past: Any,
        names: Any, costs: Any,
    ) -> tuple[Solution, sp.csr_array]:  # fmt: skip
        """The solution of columns with these names, and its dual variables."""
        options = self._options(weight, dtype)
        if self.loss not in ("hinge", "squared_hinge"):
            raise UserError(f"loss={self.loss!r} is not known. Use 'squared_hinge' or 'hinge'.")
        solution, blocks = svm.solve(
            X, Y, loss=self.loss, class_weight=costs, seed=seed, prune=self.prune,
            start=past_duals(past, names, Y.shape[0], self.C), keep_duals=True,
            executor=executor(self.n_jobs), **options,
        )  # fmt: skip
        if self.prune > 0:
            self.prune_loss_ = sum(b.pruned for b in blocks) / float(solution.objective.sum())
        return solution, svm.dual_variables(blocks, Y, weight)

    def _solve_some(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, seed: int, past: Any, held: Any
    ) -> Solution:
        names, costs, dtype = self.targets_.names, self._costs(Y, weight), past.coef_.dtype
        free = np.flatnonzero(held < 0)
        coef, intercept, trace = past.coef_[held], past.intercept_[held], []
        duals = past_duals(past, names, Y.shape[0], self.C)
        n_iter = 0
        if free.size:
            found, some = self._columns_solved(
                X, sp.csr_array(Y[:, free]), weight, dtype, seed, past,
                [names[j] for j in free.tolist()], None if costs is None else costs[:, free],
            )  # fmt: skip
            coef, intercept[free] = replaced(coef, free, found.coef), found.intercept
            duals, trace, n_iter = with_columns(duals, free, some), found.trace, found.n_iter
        self.duals_ = in_units(duals, self.C)
        P, D = self._values(X, Y, weight, coef, intercept, costs, duals)
        return Solution(coef, intercept, P, D, n_iter, [*trace, whole(P, D, trace)])

    def _values(
        self,
        X: sp.csr_array,
        Y: sp.csr_array,
        weight: Any,
        coef: Any,
        intercept: Any,
        costs: Any,
        duals: Any,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Primal and dual value of each class, whatever its weights and dual variables."""
        cost = self.C * (np.ones((2, Y.shape[1])) if costs is None else costs)
        each, squared = example_weights(self.C, weight, X.shape[0]), self.loss == "squared_hinge"
        P = svm_duals.losses(X, Y, coef, intercept, each, cost, squared)
        square = coef.multiply(coef) if sp.issparse(coef) else np.square(coef, dtype=np.float64)
        P += 0.5 * np.asarray(square.sum(axis=1)).ravel()
        if self._bias():
            P += 0.5 * (intercept / self._bias()) ** 2
        gain, V = svm_duals.gains(X, Y, duals, each, cost, self._bias(), squared)
        return P, np.minimum(gain - 0.5 * np.einsum("ij,ij->i", V, V), P)
