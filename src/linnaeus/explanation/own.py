"""Models whose nodes share nothing: one row of weights per class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.explanation.weights import Additive, Inputs, Row, Table


def flat(estimator: Any, note: str = "") -> Additive:
    """The weights of the classes as the estimator keeps them."""
    table = _kept(estimator)
    names, n = estimator.targets_.names, table.offsets.size
    change = sp.csr_array(sp.eye_array(n))
    if estimator.targets_.binary:  # one row of weights, for the second class against the first
        change = sp.csr_array([[-1.0], [1.0]])
    rows = {name: [j] for j, name in enumerate(names)}
    inputs = Inputs.of(estimator)
    return Additive(inputs, table, names, rows, {}, change, itself, note=note)


def _kept(estimator: Any) -> Table:
    """One row of weights per class, and intercepts."""
    if Inputs.of(estimator).kind == "features":
        return Table((estimator.coef_,), estimator.intercept_)
    A = estimator.dual_coef_
    if hasattr(estimator, "intercept_"):
        return Table((A.T,), estimator.intercept_)
    constant = float(estimator.intercept_scaling) ** 2 if estimator.fit_intercept else 0.0
    return Table((A.T,), constant * np.asarray(A.sum(axis=0)).ravel())


def itself(r: int) -> tuple[np.ndarray, np.ndarray]:
    """A source that is all of its row."""
    return np.array([r]), np.ones(1)


def ridge(estimator: Any) -> Additive:
    """The same of H-RLS, whose margins are p / (1 + C q): all contributions shrink alike."""
    found = flat(estimator)
    place = {name: j for j, name in enumerate(estimator.targets_.names)}

    def shrinkage(row: Row, node: Any) -> float:
        binary = estimator.targets_.binary  # one row of weights: that of the second class
        j = 0 if binary else place[node]
        W = found.table.rows(np.array([j]), row.columns)[0]
        raw = float(W @ row.values + found.table.offsets[j])
        shrunk = estimator.class_scores(row.X)[0, 1 if binary else j]
        return float(shrunk) / raw if raw else 1.0

    return replace(found, steps=True, factor=shrinkage)
