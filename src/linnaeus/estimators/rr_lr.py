"""Recursive regularisation with the logistic loss: RR-LR of [GopalYang2015]."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.estimators._continued import column_names, rows_of
from linnaeus.estimators._linear import Independent
from linnaeus.estimators._recursive import Recursive
from linnaeus.solvers.recursive import rr_lr
from linnaeus.solvers.recursive.alternation import Structure


class RecursiveLogistic(Recursive, Independent):
    """One logistic regression per class, pulled towards its relatives.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        A tree, a DAG, or a graph of related labels; None gives independent regressions.
    C : float, default=1.0
        Weight of the loss against the regulariser.
    root : {'zero', 'free', 'pinned'}, default='zero'
        'zero' pulls every root towards zero, 'free' leaves roots alone, 'pinned' fixes them at
        zero.
    ground : float or None, default=None
        Strength by which every node is also pulled towards zero; None for 0.
    conductance : dict, float or None, default=None
        Strength of the pull of each edge, {(parent, child): strength}, 1 elsewhere; or one number
        for the edges between inner nodes. None for 1.
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
    intercept_sharing : {'parent', 'own'}, default='parent'
        'parent' pulls intercepts towards their relatives like all weights, 'own' towards zero. The
        default differs from that of `RecursiveSVM` by what was measured (docs/maths/rr_svm.md).
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
        Threads; None for one, -1 for all cores. The result does not depend on it. They share
        certificates and Newton's steps of large data; on a forest all classes of a sample are
        solved together, one sample after the other.
    backend : {'serial', 'threads', 'ray'} or None, default=None
        Where the work is done; None for threads, as `n_jobs` says. The result is the same.
    checkpoint : str, Path or None, default=None
        Folder that keeps finished work: a fit that was stopped goes on from there, to the same
        result.
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
    kept_ : object
        The rows so far, in memory, for `partial_fit`; internal.
    held_ : list
        The classes that the last ``partial_fit(only=...)`` left as they were; only after it.
    targets_ : object
        How labels become columns and back; internal.

    Examples
    --------
    >>> from linnaeus import RecursiveLogistic, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> model = RecursiveLogistic(tax, C=10.0).fit(X, ["cat", "dog", "oak"])
    >>> model.predict([[0.0, 2.0]])
    array(['oak'], dtype='<U3')
    """

    def _solver(self) -> Any:
        return rr_lr.solve

    def _start(self, past: Any, names: Any, n: int) -> Any:
        """The weights that the classes had; NaN for a class that is new."""
        if past is None:
            return None
        at, bias = rows_of(names, column_names(past.targets_, past.intercept_.size)), self._bias()
        W = np.empty((at.size, past.coef_.shape[1] + 1), dtype=past.coef_.dtype)
        W[:, :-1] = past.coef_[at]
        W[:, -1] = past.intercept_[at] / bias if bias else 0.0
        W[at < 0] = np.nan
        return W

    def _values(
        self, X: sp.csr_array, Y: sp.csr_array, structure: Structure, W_T: Any, W_I: Any,
        n_seen: Any, options: dict[str, Any],
    ) -> tuple[float, float]:  # fmt: skip
        return rr_lr.certificate(X, Y, structure, W_T, W_I, n_seen, **options)
