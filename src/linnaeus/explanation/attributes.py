"""Models whose classes share weights through attributes, which are mostly the nodes above them.

    F(x, y) = sum_r l_r(y) w_r.x     [Cai2008] (3.9)

The part of attribute r in the score of class y is l_r(y) w_r. Attributes given as a matrix, or by a
class kernel, have no nodes: one that a single class has is its own, others have numbers for names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.explanation.own import flat
from linnaeus.explanation.weights import Additive, Inputs, Shares, Table, entries
from linnaeus.taxonomy import Taxonomy


def ranked(estimator: Any) -> Additive:
    """The weights of RankingSVM, HierarchicalPerceptron and Hieron."""
    targets, inputs = estimator.targets_, Inputs.of(estimator)
    online = hasattr(estimator, "shared_")
    if targets.binary or not (online or inputs.kind == "features"):
        return flat(estimator)
    L = estimator.shared_.attributes if online else estimator.attributes_
    table = _table(estimator, inputs.kind == "features")
    inner: dict[Any, list[int]] = {}
    if _over_nodes(estimator, L):
        grown, rows = targets.taxonomy, np.asarray(targets.nodes)
        leaves = set(rows.tolist())
        names: list[Any] = [grown.misc.get(name, name) for name in grown.nodes]
        inner = {name: [v] for v, name in enumerate(grown.nodes) if v not in leaves}
    else:
        names, rows = _attribute_names(L, targets.names), np.arange(L.shape[0])
    classes = {name: [v] for name, v in zip(targets.names, rows.tolist(), strict=True)}
    return Additive(
        inputs, table, names, classes, inner, sp.csr_array(sp.eye_array(table.offsets.size)),
        _shares(L, rows, targets.taxonomy),
    )  # fmt: skip


def _table(estimator: Any, linear: bool) -> Table:
    """The weights of the attributes: of features, or of examples."""
    if linear:
        return Table((estimator.node_coef_,), np.asarray(estimator.node_intercept_))
    W = sp.csr_array(estimator.weights_.answer()).T.tocsr()
    constant = float(estimator.intercept_scaling) ** 2 if estimator.fit_intercept else 0.0
    return Table((W,), constant * np.asarray(W.sum(axis=1)).ravel())


def _over_nodes(estimator: Any, L: sp.csr_array) -> bool:
    """Whether the attributes of the classes are the nodes of the taxonomy."""
    grown, scheme = estimator.targets_.taxonomy, estimator.attributes
    if grown is None or getattr(estimator, "class_kernel", None) is not None:
        return False
    named = scheme is None or callable(scheme) or (isinstance(scheme, str) and scheme != "flat")
    return named and L.shape[1] == len(grown)


def _attribute_names(L: sp.csr_array, classes: Sequence[Any]) -> list[Any]:
    """An attribute of a single class has its name; shared ones have numbers from 1."""
    columns = sp.csc_array(L)
    names: list[Any] = []
    for r in range(L.shape[1]):
        at = columns.indices[columns.indptr[r] : columns.indptr[r + 1]]
        names.append(classes[at[0]] if at.size == 1 else f"attribute {r + 1}")
    return names


def _shares(L: sp.csr_array, rows: np.ndarray, grown: Taxonomy | None) -> Shares:
    """The attributes of a class; of an inner node, as the first class below it has them."""
    place = {v: j for j, v in enumerate(rows.tolist())}

    def shares(v: int) -> tuple[np.ndarray, np.ndarray]:
        if v in place:
            numbers, values = entries(L, place[v])
            return np.array(numbers, dtype=int), np.array(values)
        assert grown is not None
        name = grown.nodes[v]
        below = next(u for u in grown.numbers(grown.descendants(name)).tolist() if u in place)
        above = set(grown.numbers(grown.ancestors(name)).tolist())
        pairs = [(u, a) for u, a in zip(*entries(L, place[below]), strict=True) if u in above]
        return np.array([u for u, _ in pairs], dtype=int), np.array([a for _, a in pairs])

    return shares
