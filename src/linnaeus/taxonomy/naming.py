"""From names to numbers: the rule by which the nodes of a taxonomy are numbered.

Nodes are numbered by first appearance in the input, a parent before its child on the same line,
but never before one of their parents: such a node waits, and of the nodes that may come next the
earliest seen is taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import TaxonomyError, shorten
from linnaeus.taxonomy import dag as _dag
from linnaeus.taxonomy.tree import IntArray

Name = Hashable


class Numbered(NamedTuple):
    """Names in node order, and how to get from a name to its number: ``number[code[name]]``."""

    nodes: tuple[Any, ...]
    code: dict[Any, int]
    number: IntArray
    dag: _dag.Dag
    related: IntArray  # (n_links, 2), each pair ascending, no repeats


def number_nodes(
    parents: Sequence[Any], children: Sequence[Any], related: Sequence[tuple[Any, Any]]
) -> Numbered:
    """Number the nodes of the lines ``(parents[i], children[i])``; parent None declares a root."""
    m = len(children)
    code: dict[Any, int] = dict(zip(children, range(m), strict=True))
    tree_like = len(code) == m
    c = (
        np.arange(m, dtype=np.int32)
        if tree_like
        else np.fromiter(map(code.__getitem__, children), np.int32, m)
    )
    p = np.fromiter(map(code.get, parents, repeat(-1)), np.int32, m)
    unused = m - len(code)  # lines whose child has a later line too; codes count lines
    for i in np.flatnonzero(p < 0).tolist():
        if parents[i] is not None:
            p[i] = code.setdefault(parents[i], len(code) + unused)
    links = [code.setdefault(a, len(code) + unused) for pair in related for a in pair]
    _check_names(code)
    _check_declared(children, p, c)
    r = np.array(links, dtype=np.int32).reshape(-1, 2)
    extra = len(code) + unused
    order = _first_seen(extra, p, c, r)[: len(code)]
    is_edge = p >= 0
    seen = np.empty(extra, dtype=np.int32)
    seen[order] = np.arange(order.size, dtype=np.int32)
    names = np.empty(extra, dtype=object)
    names[np.fromiter(code.values(), np.int64, len(code))] = list(code)
    p, c = seen[p[is_edge]], seen[c[is_edge]]
    by_line = names[order]
    _check_acyclic(by_line, p, c)
    placed = _dag.parents_first(order.size, p, c)
    number = np.full(extra, -1, dtype=np.int32)
    number[order[placed]] = np.arange(order.size, dtype=np.int32)
    final = np.empty(order.size, dtype=np.int32)
    final[placed] = np.arange(order.size, dtype=np.int32)
    graph = _dag.build(order.size, final[p], final[c])
    return Numbered(tuple(by_line[placed].tolist()), code, number, graph, unique_links(number[r]))


def unique_links(pairs: IntArray) -> IntArray:
    """Symmetric links once each, as ascending pairs in ascending order; self-links dropped."""
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0).astype(np.int32) if pairs.size else pairs.reshape(-1, 2)


def plain_names(values: Iterable[Any]) -> list[Any]:
    """A list of names with NumPy scalars turned into Python's."""
    if isinstance(values, np.ndarray):
        out: list[Any] = values.tolist()
        return out
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def _first_seen(n: int, p: IntArray, c: IntArray, r: IntArray) -> IntArray:
    """Codes by first appearance: parent then child, line by line, then the related links."""
    position = np.full(n, 2 * (p.size + r.shape[0]), dtype=np.int64)
    line = np.arange(p.size, dtype=np.int64)
    has_parent = np.flatnonzero(p >= 0)
    for codes, at in (
        (p[has_parent], 2 * line[has_parent]),
        (c, 2 * line + 1),
        (r.ravel(), 2 * p.size + np.arange(r.size, dtype=np.int64)),
    ):
        codes, at = codes[::-1], at[::-1]  # reversed, so that the earliest is written last
        position[codes] = np.minimum(position[codes], at)
    return np.argsort(position, kind="stable").astype(np.int32)


def _check_names(code: dict[Any, int]) -> None:
    """Names are non-empty strings or integers."""
    for kind in set(map(type, code)) - {str, int}:
        bad = next(name for name in code if type(name) is kind)
        if bad is None:
            raise TaxonomyError("A node has the name None. Give every child a name.")
        if not (issubclass(kind, str | int) and kind is not bool):
            raise TaxonomyError(
                f"Node name {shorten(bad)} is of type {kind.__name__}. "
                f"Names must be strings or integers: convert it, for example with str()."
            )
    if "" in code:
        raise TaxonomyError("A node has an empty name. Give every node a name of its own.")


def _check_declared(children: Sequence[Any], p: IntArray, c: IntArray) -> None:
    """A node declared to be a root must not have a parent elsewhere; nor be its own parent."""
    itself = np.flatnonzero(p == c)
    if itself.size:
        name = children[int(itself[0])]
        raise TaxonomyError(
            f"Node {shorten(name)} is given as its own parent. Remove that edge, or give the "
            f"name None as the parent of a root."
        )
    declared = np.flatnonzero(p < 0)
    if 0 < declared.size < p.size:
        clash = np.isin(c[declared], c[p >= 0])
        if clash.any():
            name = children[int(declared[clash][0])]
            raise TaxonomyError(
                f"Node {shorten(name)} is declared a root (its parent is empty) but also has a "
                f"parent. Remove one of the two lines."
            )


def _check_acyclic(names: Any, p: IntArray, c: IntArray) -> None:
    cycle = [] if (p < c).all() else _dag.find_cycle(len(names), p, c)
    if cycle:
        shown = " -> ".join(str(names[v]) for v in [*cycle, cycle[0]][:12])
        more = f" -> ... ({len(cycle)} nodes)" if len(cycle) > 11 else ""
        raise TaxonomyError(
            f"The taxonomy has a cycle: {shown}{more}. "
            f"Every node must be reachable from a root: remove one of these edges."
        )
