"""Recursive regularisation with the hinge: RR-SVM of [GopalYang2015]."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.estimators._continued import past_duals
from linnaeus.estimators._recursive import Recursive
from linnaeus.execution.memory import size_of
from linnaeus.parameters import Limits, choice
from linnaeus.solvers.linear import svm_duals
from linnaeus.solvers.numerics.examples import example_weights
from linnaeus.solvers.recursive import alternation, rr_svm
from linnaeus.solvers.recursive.alternation import Structure
from linnaeus.taxonomy import Taxonomy


class RecursiveSVM(Recursive):
    """One support vector machine per class, pulled towards its relatives.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        A tree, a DAG, or a graph of related labels; None gives independent machines.
    C : float, default=1.0
        Weight of the loss against the regulariser.
    loss : {'hinge', 'squared_hinge'}, default='hinge'
        Loss of a margin below 1. The default is that of the paper; `FlatSVM` defaults to the
        smooth one, which converges faster.
    root : {'zero', 'free', 'pinned'}, default='zero'
        'zero' pulls every root towards zero, 'free' leaves roots alone, 'pinned' fixes them at
        zero.
    ground : float or None, default=None
        Strength by which every node is also pulled towards zero; None for 0.
    conductance : dict, float or None, default=None
        Strength of the pull of each edge, {(parent, child): strength}, 1 elsewhere; or one number
        for the edges between inner nodes: the larger, the less distant relatives have in common.
        None for 1.
    schedule : {'two-block', 'parity', 'color', 'jacobi'}, default='two-block'
        Order of the updates; all reach the same optimum. The default solves for all classes, then
        for all other nodes exactly.
    fit_intercept : bool, default=True
        Whether to append a constant feature, regularised like any other.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if no class scores above 0: 'best',
        its best label, if every training sample had one; 'none', no label.
    intercept_sharing : {'own', 'parent'}, default='own'
        'own' pulls intercepts towards zero, 'parent' towards their relatives like all weights. The
        default differs from that of `RecursiveLogistic` by what was measured
        (docs/maths/rr_svm.md).
    class_weight : dict, 'balanced' or None, default=None
        Factor of the cost of the positives of each class; None for 1.
    warm_start : bool, default=False
        Whether to start from what the last `fit` found, for instance with another C. A saved model
        then also holds its rows, so that it can go on by `partial_fit`.
    tol : float, default=0.001
        Relative duality gap at which to stop.
    max_iter : int, default=50
        Most rounds over the whole hierarchy, each several passes over the data. The default is
        lower than where passes are counted.
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
        Most memory to take, such as '8G', or in bytes; None for any. What the fit takes is planned
        beforehand: where dense weights do not fit they are kept in parts (`own_coef_`,
        `common_coef_`, `paths_`), fewer workers run, and a limit that is too low for that is
        refused with the one that would do.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    coef_ : ndarray of shape (n_trained, n_features)
        Weights; one row for two exclusive classes without a taxonomy.
    coef_names_ : ndarray of shape (n_trained,)
        The classes that were trained, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_trained,)
        What is added to the scores.
    inner_coef_ : ndarray of shape (n_inner, n_features)
        Weights of the nodes that are no classes.
    inner_intercept_ : ndarray of shape (n_inner,)
        What is added to their scores.
    inner_nodes_ : list
        Their names.
    own_coef_ : csr_array of shape (n_trained, n_features)
        Only where memory did not hold whole weights: what each class has of its own. The weights
        are ``own_coef_ + paths_ @ common_coef_``; `coef_` and `inner_coef_` are made when asked
        for, unless they are too large.
    common_coef_ : csr_array of shape (n_all_inner, n_features)
        What the classes below a node have in common; only there.
    links_ : csr_array of shape (n_trained, n_all_inner)
        What each class takes of the weights of each inner node; only there.
    inner_paths_ : csr_array of shape (n_all_inner, n_all_inner)
        The share of inner nodes, those of `inner_nodes_` first, in what each node has in common;
        only there.
    paths_ : csr_array of shape (n_trained, n_all_inner)
        Likewise of classes, ``links_ @ inner_paths_``, made when asked for; only there.
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
    class_gap_ : ndarray of shape (1,)
        Absolute duality gap.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    duals_ : csr_array of shape (n_samples, n_trained)
        Dual variables over C, those of negatives with a minus.
    kept_ : object
        The rows so far, in memory, for `partial_fit`; internal.
    held_ : list
        The classes that the last ``partial_fit(only=...)`` left as they were; only after it.
    targets_ : object
        How labels become columns and back; internal.

    Examples
    --------
    >>> from linnaeus import RecursiveSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> model = RecursiveSVM(tax, tol=1e-6).fit(X, ["cat", "dog", "oak"])
    >>> model.gap_ < 1e-6
    True
    """

    limits = Limits(loss=choice("hinge", "squared_hinge"))

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
        warm_start: bool = False,
        tol: float = 1e-3,
        max_iter: int = 50,
        dtype: Any = None,
        n_jobs: int | None = None,
        backend: str | None = None,
        checkpoint: str | Path | None = None,
        memory: str | int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            taxonomy, C, root, ground, conductance, schedule, fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling, empty=empty, intercept_sharing=intercept_sharing,
            class_weight=class_weight, warm_start=warm_start, tol=tol, max_iter=max_iter,
            dtype=dtype, n_jobs=n_jobs, backend=backend, checkpoint=checkpoint,
            random_state=random_state,
        )  # fmt: skip
        self.memory = memory
        self.loss = loss

    def _solver(self) -> Any:
        limit = size_of(self.memory)
        return partial(rr_svm.solve, loss=self.loss, limit=limit, n_jobs=self.n_jobs)

    def _start(self, past: Any, names: Any, n: int) -> Any:
        return past_duals(past, names, n, self.C)

    def _values(
        self, X: sp.csr_array, Y: sp.csr_array, structure: Structure, W_T: Any, W_I: Any,
        n_seen: Any, options: dict[str, Any],
    ) -> tuple[float, float]:  # fmt: skip
        cost = self.C * np.ones((2, Y.shape[1]))
        if options["class_weight"] is not None:
            cost *= options["class_weight"]
        weight = example_weights(self.C, options["sample_weight"], X.shape[0])
        squared, bias, duals = self.loss == "squared_hinge", self._bias(), self.C * self.duals_
        loss = svm_duals.losses(X, Y, W_T[:, :-1], bias * W_T[:, -1], weight, cost, squared)
        gain, V = svm_duals.gains(X, Y, duals, weight, cost, bias, squared)
        P = alternation.pull(structure, W_T, W_I) + loss.sum()
        return P, gain.sum() - alternation.dual_pull(structure, V, options["share_bias"])
