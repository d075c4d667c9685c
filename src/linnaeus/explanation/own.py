"""Models whose nodes share nothing: one row of weights per class, or per step.

Models of steps are such too: at every node there is a choice among its children. One model per
child (TopDown with local="binary") has learned the child against its siblings. Where children are
compared with each other (local="multiclass", OrthogonalTransfer), a step is explained by its score
less that of the best sibling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
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


# -- steps ----------------------------------------------------------------------------------------


def top_down(estimator: Any) -> Additive:
    """The weights of TopDown: a row for every edge from a parent to a child."""
    if estimator.estimator is not None:
        kind = type(estimator.estimator).__name__
        said = f"The local models are {kind}s, whose weights are unknown here. "
        raise UserError(
            f"{said}Use TopDown without estimator=... to explain it.",
            f"{said}Train with --method topdown to explain it.",
        )
    if estimator.targets_.binary and estimator.local == "binary":
        return flat(estimator)
    edges = estimator.edges_
    misc = {} if estimator.targets_.taxonomy is None else estimator.targets_.taxonomy.misc
    names = [misc.get(child, child) for _, child in edges]
    parents: dict[Any, int] = {}
    family = np.array([parents.setdefault(parent, len(parents)) for parent, _ in edges])
    rows = [(name, child in misc) for name, (_, child) in zip(names, edges, strict=True)]
    classes, inner = _steps(rows)
    return Additive(
        Inputs(), Table((estimator.coef_,), estimator.intercept_), names, classes, inner,
        sp.csr_array(sp.eye_array(len(edges))), itself, steps=True,
        given=[parent for parent, _ in edges],
        family=family if estimator.local == "multiclass" else None,
    )  # fmt: skip


def orthogonal(estimator: Any) -> Additive:
    """The weights of OrthogonalTransfer; the least of its steps is the score of a class."""
    grown = estimator.targets_.taxonomy
    misc = {} if grown is None else grown.misc
    nodes, fam = estimator.nodes_, estimator.families_
    family, given = np.empty(len(nodes), dtype=int), [None] * len(nodes)
    for f, p in enumerate(fam.parent.tolist()):
        for v in fam.children(f).tolist():
            family[v], given[v] = f, nodes[p] if p >= 0 else None
    classes, inner = _steps([(misc.get(name, name), name in misc) for name in nodes])
    return Additive(
        Inputs(), Table((estimator.coef_,), estimator.intercept_),
        [misc.get(name, name) for name in nodes], classes, inner,
        sp.csr_array(sp.eye_array(len(nodes))), itself, steps=True, given=given, family=family,
    )  # fmt: skip


def _steps(rows: Sequence[tuple[Any, bool]]) -> tuple[dict[Any, list[int]], dict[Any, list[int]]]:
    """The rows of every node, with and without the step that stays at it (its misc leaf)."""
    classes: dict[Any, list[int]] = {}
    inner: dict[Any, list[int]] = {}
    for r, (name, stays) in enumerate(rows):
        classes.setdefault(name, []).append(r)
        if not stays:
            inner.setdefault(name, []).append(r)
    return classes, inner
