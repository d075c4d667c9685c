"""From names to numbers: the rule by which the nodes of a taxonomy are numbered.

Nodes are numbered by first appearance in the input, a parent before its child on the same line,
but never before one of their parents: such a node waits, and of the nodes that may come next the
earliest seen is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.errors import TaxonomyError, cut, shorten
from linnaeus.labels import plain_names
from linnaeus.taxonomy import closure_fast
from linnaeus.taxonomy import dag as _dag
from linnaeus.taxonomy.dag import IntArray


class Numbered(NamedTuple):
    """Names in node order, with the edges and links over their numbers."""

    nodes: tuple[Any, ...]
    dag: _dag.Dag
    related: IntArray  # (n_links, 2), each pair ascending, no repeats


def number_nodes(
    lines: list[Any], related: Iterable[Sequence[Any]] = (), seen: Collection[Any] = ()
) -> Numbered:
    """Number the nodes of the lines ``parent, child, parent, child, ...`` in one flat list.

    A parent None declares its child a root. Related pairs may name further nodes; the names
    `seen` come before all lines. The list `lines` is used up.
    """
    m = len(lines) // 2
    lines.extend(chain.from_iterable(related))
    names, declared = _plain_names(lines, m)
    before = plain_names(seen) if len(seen) else []
    code, first = by_appearance(before + names if before else names)
    code = code[len(before) :]
    p, c, links = code[: 2 * m : 2], code[1 : 2 * m : 2], code[2 * m :].reshape(-1, 2)
    _check_lines(names, p, c, declared)
    p, c = p[~declared], c[~declared]
    order = _dag.parents_first(first.size, p, c)
    names = before + names if before else names
    if order.size < first.size:
        _refuse_cycle([names[i] for i in first.tolist()], p, c)
    number = np.empty(order.size, dtype=np.int32)
    number[order] = np.arange(order.size, dtype=np.int32)
    nodes = tuple(map(names.__getitem__, first[order].tolist()))
    if "" in nodes:
        raise TaxonomyError("A node has an empty name. Give every node a name of its own.")
    graph = _dag.build(order.size, number[p], number[c])
    return Numbered(nodes, graph, unique_links(number[links]))


def _plain_names(names: list[Any], m: int) -> tuple[list[Any], npt.NDArray[np.bool_]]:
    """Names as Python's own strings and integers, and which of the m lines declare a root.

    Such a line gets its child for a parent, so that nothing but names is left.
    """
    kinds = set(map(type, names))
    if any(issubclass(kind, np.generic) for kind in kinds):
        names = plain_names(names)
        kinds = set(map(type, names))
    declared = np.zeros(m, dtype=bool)
    if type(None) in kinds:
        declared[:] = [p is None for p in names[: 2 * m : 2]]
        for i in np.flatnonzero(declared).tolist():
            names[2 * i] = names[2 * i + 1]
    for kind in kinds - {str, int}:
        bad = next((name for name in names if type(name) is kind), "")
        if bad is None:
            raise TaxonomyError("A node has the name None. Give every child a name.")
        if not issubclass(kind, str | int | None) or kind is bool:
            raise TaxonomyError(
                f"Node name {shorten(bad)} is of type {kind.__name__}. "
                f"Names must be strings or integers: convert it, for example with str()."
            )
    return names, declared


def by_appearance(names: Sequence[Any]) -> tuple[IntArray, IntArray]:
    """The number of each name, by first appearance, and the places of these appearances."""
    n = len(names)
    code, first = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    if n <= closure_fast.SMALL and set(map(type, names)) <= {str, int}:
        number: dict[Any, int] = {}
        code[:] = [number.setdefault(name, len(number)) for name in names]
        first[code[::-1]] = np.arange(n)[::-1]  # of several places the last one written stays
        return code, first[: len(number)]
    from linnaeus.taxonomy import naming_fast  # loads Numba

    buffer = _bytes(names)
    table = np.full(1 << (2 * n).bit_length(), -1, dtype=np.int32)
    hashes, starts = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64)
    count = naming_fast.number_by_appearance(buffer, table, hashes, starts, code, first)
    return code, first[:count]


def _bytes(names: Sequence[Any]) -> npt.NDArray[np.uint8]:
    """Names behind one another, each ended by a zero byte; different names differ."""
    try:
        text = "\0".join(names)
        unclear = text.count("\0") != len(names) - 1  # a zero byte inside a name
    except TypeError:  # not all names are strings
        unclear = True
    if unclear:
        text = "\0".join(map(repr, names))
    return np.frombuffer((text + "\0").encode("utf-8", "surrogatepass"), dtype=np.uint8)


def unique_links(pairs: IntArray) -> IntArray:
    """Symmetric links once each, as ascending pairs in ascending order; self-links dropped."""
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0).astype(np.int32) if pairs.size else pairs.reshape(-1, 2)


def _check_lines(
    names: Sequence[Any], p: IntArray, c: IntArray, declared: npt.NDArray[np.bool_]
) -> None:
    """No node is its own parent, and no declared root has a parent elsewhere."""
    itself = np.flatnonzero((p == c) & ~declared)
    if itself.size:
        said = (
            f"Node {shorten(names[2 * int(itself[0])])} is given as its own parent. Remove that "
            f"edge; a root has no parent: "
        )
        raise TaxonomyError(
            f"{said}None in Python, an empty cell in a file.", f"{said}leave it empty."
        )
    clash = declared & np.isin(c, c[~declared]) if declared.any() else declared
    if clash.any():
        raise TaxonomyError(
            f"Node {shorten(names[2 * int(np.argmax(clash))])} is declared a root (its parent is "
            f"empty) but also has a parent. Remove one of the two lines."
        )


def _refuse_cycle(names: list[Any], p: IntArray, c: IntArray) -> None:
    cycle = _dag.find_cycle(len(names), p, c)
    shown = " -> ".join(cut(str(names[v])) for v in [*cycle, cycle[0]][:12])
    more = f" -> ... ({len(cycle)} nodes)" if len(cycle) > 11 else ""
    raise TaxonomyError(
        f"The taxonomy has a cycle: {shown}{more}. "
        f"Every node must be reachable from a root: remove one of these edges."
    )
