"""Recursive regularisation with the logistic loss: RR-LR of [GopalYang2015]."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.estimators._continued import column_names, rows_of
from linnaeus.estimators._linear import class_probabilities
from linnaeus.estimators._recursive import Recursive
from linnaeus.solvers.recursive import rr_lr
from linnaeus.solvers.recursive.alternation import Structure


class RecursiveLogistic(Recursive):
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

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class; with one label per sample they sum to 1."""
        return class_probabilities(self.decision_function(X), self.targets_)
