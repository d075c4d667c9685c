"""One logistic regression per class, all classes over one matrix: BLR of [GopalYang2015].

    minimise  sum_k  1/2 ||w_k||^2 + C sum_i log(1 + exp(-y_ik w_k.x_i))

with y_ik = +1 when example i carries class k, else -1.
"""

from __future__ import annotations

from pathlib import Path
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
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    C : float, default=1.0
        Weight of the loss against the regulariser.
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
    tol : float, default=0.001
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most passes over the data.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The result does not depend on it.
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
    targets_ : object
        How labels become columns and back; internal.

    Examples
    --------
    >>> from linnaeus import FlatLogistic
    >>> model = FlatLogistic().fit([[1.0], [0.5], [-0.5], [-1.0]], ["a", "a", "b", "b"])
    >>> model.predict_proba([[1.0]]).round(1)
    array([[0.7, 0.3]])
    """

    leaves_out_empty = True

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
        backend: str | None = None,
        checkpoint: str | Path | None = None,
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
        self.backend = backend
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype) | {"executor": executor(self.n_jobs)}
        factors = class_costs(self.class_weight, self.targets_, Y, weight)
        costs = None if factors is None else factors.T
        return logistic.solve(X, Y, class_weight=costs, seed=seed, **options)
