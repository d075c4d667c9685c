"""One support vector machine per class, all classes over one matrix: BSVM of [GopalYang2015].

    minimise  sum_k  1/2 ||w_k||^2 + C sum_i loss(y_ik w_k.x_i)

with y_ik = +1 when example i carries class k, else -1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

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
from linnaeus.estimators._on_disk import weights_on_disk
from linnaeus.execution import executor
from linnaeus.execution.memory import Plan, size_of, workers_of
from linnaeus.parameters import NOT_NEGATIVE, Limits, choice
from linnaeus.solvers.linear import svm, svm_duals
from linnaeus.solvers.numerics.examples import Solution, example_weights
from linnaeus.taxonomy import Taxonomy


class FlatSVM(Continued):
    """One support vector machine per class against all the others.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    C : float, default=1.0
        Weight of the loss against the regulariser.
    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        Loss of a margin below 1. The default is the smooth one, which converges faster;
        `RecursiveSVM` defaults to its paper's hinge.
    classes : {'leaves', 'nodes'}, default='leaves'
        What a class is. Over nodes the predictions are repaired, so that a node is only on when
        its parents are.
    fit_intercept : bool, default=True
        Whether to append a constant feature, regularised like any other.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if no class scores above 0: 'best',
        its best label, if every training sample had one; 'none', no label.
    class_weight : dict, 'balanced' or None, default=None
        Factor of the cost of the positives of each class; None for 1.
    prune : float or 'auto', default=0.0
        Drop weights below this at the end; 'auto' drops what the gap has room for within `tol`,
        and the certificate is that of the rest. `coef_` is then sparse.
    warm_start : bool, default=False
        Whether to start from what the last `fit` found, for instance with another C. A saved model
        then also holds its rows, so that it can go on by `partial_fit`.
    tol : float, default=0.001
        Relative duality gap at which to stop.
    max_iter : int, default=100
        Most rounds, each a descent and a sweep over all samples. The default is lower than where
        passes are counted.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The result does not depend on it.
    backend : {'serial', 'threads', 'ray'} or None, default=None
        Where the work is done; None for threads, as `n_jobs` says. The result is the same.
    checkpoint : str, Path or None, default=None
        Folder that keeps finished work: a fit that was stopped goes on from there, to the same
        result.
    memory : str, int or None, default=None
        Most memory to take, such as '8G', or in bytes; None for as much as it needs. Weights that
        do not fit are pruned as by 'auto', and lie on disk.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    coef_ : ndarray or csr_array of shape (n_trained, n_features)
        Weights; one row for two exclusive classes without a taxonomy.
    coef_names_ : ndarray of shape (n_trained,)
        The classes that were trained, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_trained,)
        What is added to the scores.
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns of scores.
    taxonomy_ : Taxonomy or None
        The taxonomy.
    n_features_in_ : int
        Number of features.
    objective_ : float
        Primal objective.
    dual_objective_ : float
        Dual objective, a bound on the best primal one.
    gap_ : float
        Relative duality gap, ``(objective_ - dual_objective_) / objective_``.
    class_gap_ : ndarray of shape (n_trained,)
        Absolute duality gap of each class.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    duals_ : csr_array of shape (n_samples, n_trained) or None
        Dual variables over C, those of negatives with a minus; None where `memory` is too little.
    kept_ : object
        The rows so far, in memory, for `partial_fit`; internal.
    held_ : list
        The classes that the last ``partial_fit(only=...)`` left as they were; only after it.
    prune_loss_ : float
        With `prune`, by what share the objective rose.
    targets_ : object
        How labels become columns and back; internal.

    Examples
    --------
    >>> from linnaeus import FlatSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> FlatSVM(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9]])
    array(['oak'], dtype='<U3')
    """

    leaves_out_empty = True
    limits = Limits(loss=choice("squared_hinge", "hinge"), prune=NOT_NEGATIVE | choice("auto"))

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
        prune: float | str = 0.0,
        warm_start: bool = False,
        tol: float = 1e-3,
        max_iter: int = 100,
        dtype: Any = None,
        n_jobs: int | None = None,
        backend: str | None = None,
        checkpoint: str | Path | None = None,
        memory: str | int | None = None,
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
        self.backend = backend
        self.checkpoint = checkpoint
        self.memory = memory
        self.random_state = random_state

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int, past: Any = None
    ) -> Solution:
        names = column_names(self.targets_, Y.shape[1])
        costs = self._costs(Y, weight)
        solution, duals = self._columns_solved(X, Y, weight, dtype, seed, past, names, costs)
        self.duals_ = None if duals is None else in_units(duals, self.C)
        return solution

    def _costs(self, Y: sp.csr_array, weight: Any) -> Any:
        return class_costs(self.class_weight, self.targets_, Y, weight)

    def _columns_solved(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int, past: Any,
        names: Any, costs: Any,
    ) -> tuple[Solution, sp.csr_array | None]:  # fmt: skip
        """The solution of columns with these names, and its dual variables where they fit."""
        plan, jobs = self._plan(X, Y, dtype)
        sparse, prune = self._pruning(plan)
        keep = plan is None or not plan.on_disk or self.warm_start
        start, options = past_duals(past, names, Y.shape[0], self.C), self._options(weight, dtype)
        with weights_on_disk(plan is not None and plan.on_disk, dtype) as sink:
            solution, blocks = svm.solve(
                X, Y, loss=self.loss, class_weight=costs, seed=seed, prune=prune, sparse=sparse,
                sink=sink, start=start, keep_duals=keep, executor=executor(jobs), **options,
            )  # fmt: skip
        if sink is not None:
            solution = solution._replace(coef=sink.opened)
        if prune > 0:
            self.prune_loss_ = sum(b.pruned for b in blocks) / float(solution.objective.sum())
        return solution, svm.dual_variables(blocks, Y, weight) if keep else None

    def _plan(self, X: sp.csr_array, Y: sp.csr_array, dtype: Any) -> tuple[Plan | None, Any]:
        """What memory is for, if it is limited; and how many workers that leaves."""
        limit = None if self.memory is None else size_of(self.memory)
        if limit is None:
            return None, self.n_jobs
        sparse = self.prune == "auto" or float(self.prune) > 0
        plan = svm.plan(X, Y, dtype, limit, sparse, self.warm_start)
        return plan, plan.workers(workers_of(self.n_jobs))

    def _pruning(self, plan: Plan | None) -> tuple[bool, float]:
        """Whether weights are dropped as far as the gap allows; else those of which size."""
        auto = self.prune == "auto" or (plan is not None and plan.on_disk)
        return auto, 0.0 if auto else float(self.prune)

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
