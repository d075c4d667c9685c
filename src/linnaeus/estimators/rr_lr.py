"""Recursive regularisation with the logistic loss: RR-LR of [GopalYang2015]."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from linnaeus.estimators._linear import Independent
from linnaeus.estimators._recursive import Recursive
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.solvers.recursive import rr_lr


class RecursiveLogistic(Recursive, Independent):
    """One logistic regression per class, pulled towards its relatives.

    Parameters and attributes are those of `RecursiveSVM`, without `loss`; intercepts are pulled
    towards those of their relatives unless `intercept_sharing` says "own".

    Examples
    --------
    >>> from linnaeus import RecursiveLogistic, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> model = RecursiveLogistic(tax, C=10.0).fit(X, ["cat", "dog", "oak"])
    >>> model.predict([[0.0, 2.0]])
    array(['oak'], dtype='<U3')
    """

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        return self._minimise(rr_lr.solve, X, Y, weight, dtype, seed)
