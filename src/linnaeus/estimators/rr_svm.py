"""Recursive regularisation with the hinge: RR-SVM of [GopalYang2015]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import scipy.sparse as sp

from linnaeus.estimators._recursive import Recursive
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.solvers.recursive import rr_svm
from linnaeus.taxonomy import Taxonomy


class RecursiveSVM(Recursive):
    """One support vector machine per class, pulled towards its relatives.

    Parameters
    ----------
    taxonomy : a tree, a DAG, or a graph of related labels; None gives independent machines
    C : weight of the loss
    loss : "hinge" or "squared_hinge"
    root : "zero" pulls every root towards zero, "free" leaves roots alone, "pinned" fixes them
        at zero
    ground : a number by which every node is pulled towards zero besides
    conductance : {(parent, child): strength of the pull}, 1 elsewhere; or a number, for the edges
        between inner nodes: the larger, the less distant relatives have in common
    schedule : "two-block" (all classes, then all other nodes exactly), "parity", "color" or
        "jacobi"; all reach the same optimum
    intercept_sharing : "own" pulls intercepts towards zero, "parent" towards their relatives like
        all weights (docs/maths/rr_svm.md tells what was measured)
    tol : relative duality gap at which to stop
    max_iter : rounds at most
    fit_intercept, intercept_scaling, empty, class_weight, dtype, n_jobs, random_state : as in
        `FlatSVM`

    Attributes
    ----------
    coef_, intercept_ : one row per class
    inner_coef_, inner_nodes_ : weights of the nodes that are no classes, and their names
    classes_, taxonomy_, n_iter_, trace_, objective_, dual_objective_, gap_

    Examples
    --------
    >>> from linnaeus import RecursiveSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> model = RecursiveSVM(tax, tol=1e-6).fit(X, ["cat", "dog", "oak"])
    >>> model.gap_ < 1e-6
    True
    """

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        loss: str = "hinge",
        root: str = "zero",
        ground: float | None = None,
        conductance: Mapping[tuple[Any, Any], float] | float | None = None,
        schedule: str = "two-block",
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        intercept_sharing: str = "own",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 50,
        dtype: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            taxonomy, C, root, ground, conductance, schedule, fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling, empty=empty, intercept_sharing=intercept_sharing,
            class_weight=class_weight, tol=tol, max_iter=max_iter, dtype=dtype, n_jobs=n_jobs,
            random_state=random_state,
        )  # fmt: skip
        self.loss = loss

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        return self._minimise(rr_svm.solve, X, Y, weight, dtype, seed, loss=self.loss)
