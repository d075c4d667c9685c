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

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        Its leaves are the classes; None for the labels that occur.
    C : float, default=1.0
        Weight of the loss against the regulariser.
    fit_intercept : bool, default=True
        Whether to append a constant feature, regularised like any other.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    tol : float, default=0.001
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most passes over the data.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The result does not depend on it. They share
        certificates and Newton's steps of large data; samples are visited one after the other.
    checkpoint : str, Path or None, default=None
        Folder that keeps the state from time to time: a fit that was stopped goes on from there, to
        the same result.
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
    class_gap_ : ndarray of shape (1,)
        Absolute duality gap.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    targets_ : object
        How labels become columns and back; internal.
    """

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype) | {"executor": executor(self.n_jobs)}
        t = self._one_class(Y)
        return self._folded(mlr.solve(X, t, Y.shape[1], seed=seed, **options))
