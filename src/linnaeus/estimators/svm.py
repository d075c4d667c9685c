"""One support vector machine per class, all classes over one matrix: BSVM of [GopalYang2015].

    minimise  sum_k  1/2 ||w_k||^2 + C sum_i loss(y_ik w_k.x_i)

with y_ik = +1 when example i carries class k, else -1.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from linnaeus.estimators._linear import LinearClassifier, class_costs
from linnaeus.execution import executor
from linnaeus.parameters import Limits, choice
from linnaeus.solvers.linear import svm
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.taxonomy import Taxonomy


class FlatSVM(LinearClassifier):
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
    class_weight : dict, 'balanced' or None, default=None
        Factor of the cost of the positives of each class; None for 1.
    prune : float, default=0.0
        Drop weights below this at the end; `coef_` is then sparse.
    warm_start : bool, default=False
        Start from the dual variables of the last `fit` of the same samples, for instance with
        another C; `linnaeus.experiments.c_path` uses it.
    tol : float, default=0.001
        Relative duality gap at which to stop.
    max_iter : int, default=100
        Most rounds, each a descent and a sweep over all samples. The default is lower than where
        passes are counted.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    coef_ : ndarray or csr_array of shape (n_classes, n_features)
        Weights; one row for two exclusive classes without a taxonomy.
    intercept_ : ndarray of shape (n_classes,)
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
    class_gap_ : ndarray of shape (n_classes,)
        Absolute duality gap of each class.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    prune_loss_ : float
        With `prune`, by what share the objective rose.
    targets_, duals_ : object
        How labels become columns, and with `warm_start` the dual variables; internal.

    Examples
    --------
    >>> from linnaeus import FlatSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> FlatSVM(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9]])
    array(['oak'], dtype='<U3')
    """

    limits = Limits(loss=choice("squared_hinge", "hinge"))

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
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype)
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
