"""One support vector machine per class, all classes over one matrix: BSVM of [GopalYang2015].

    minimise  sum_k  1/2 ||w_k||^2 + C sum_i loss(y_ik w_k.x_i)

with y_ik = +1 when example i carries class k, else -1.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.estimators._linear import LinearClassifier, class_costs
from linnaeus.execution import executor
from linnaeus.solvers.linear import svm
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.taxonomy import Taxonomy


class FlatSVM(LinearClassifier):
    """One support vector machine per class against all the others.

    Parameters
    ----------
    taxonomy : the taxonomy; None for classes without a hierarchy
    C : weight of the loss
    loss : "squared_hinge" or "hinge"
    classes : "leaves" or "nodes", what a class is; over nodes the predictions are repaired
        so that a node is only on when its parents are
    fit_intercept : add a constant feature of size `intercept_scaling`, regularised like any other
    empty : "best" gives a row in which no class scores above the threshold its best label, if every
        training row had one; "none" leaves it without
    class_weight : None, "balanced" or {class: factor of the cost of its positives}
    prune : drop weights below this at the end; `coef_` is then sparse, and `prune_loss_` says by
        what share the objective rose
    warm_start : start from the dual variables of the last `fit` of the same examples, with
        another C, say; `linnaeus.experiments.c_path` uses it
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
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        loss: str = "squared_hinge",
        classes: str = "leaves",
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        empty: str = "best",
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
        self.empty = empty
        self.class_weight = class_weight
        self.prune = prune
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype)
        if self.loss not in ("hinge", "squared_hinge"):
            raise UserError(f"loss={self.loss!r} is not known. Use 'squared_hinge' or 'hinge'.")
        solution, blocks = svm.solve(
            X, Y, loss=self.loss,
            class_weight=class_costs(self.class_weight, self.targets_, Y, weight), seed=seed,
            prune=self.prune, start=self._start(Y) if weight is None else None,
            keep_duals=self.warm_start, executor=executor(self.n_jobs), **options,
        )  # fmt: skip
        if self.warm_start:
            self.duals_ = [block.duals for block in blocks]
        if self.prune > 0:
            self.prune_loss_ = sum(b.pruned for b in blocks) / float(solution.objective.sum())
        return solution

    def _start(self, Y: sp.csr_array) -> list[sp.csr_array] | None:
        """The dual variables of the last fit, if it was of as many examples and classes."""
        duals = getattr(self, "duals_", None) if self.warm_start else None
        if duals is None:
            return None
        fits = duals[0].shape[0] == Y.shape[0] and sum(d.shape[1] for d in duals) == Y.shape[1]
        return duals if fits else None
