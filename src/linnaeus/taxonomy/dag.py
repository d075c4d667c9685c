"""A directed acyclic graph over numbers, parents before children, as compact arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.taxonomy import closure_fast
from linnaeus.taxonomy.tree import IntArray

PtrArray = npt.NDArray[np.int64]


class Dag(NamedTuple):
    """Two CSR lists and a depth. Every parent has a lower number than its children.

    The parents of v are ``parents[parent_ptr[v]:parent_ptr[v + 1]]``, ascending; the children
    likewise. ``depth[v]`` is the longest way down from a root, so parents are always less deep.
    """

    parent_ptr: PtrArray  # (n_nodes + 1,)
    parents: IntArray  # (n_edges,)
    child_ptr: PtrArray  # (n_nodes + 1,)
    children: IntArray  # (n_edges,)
    depth: IntArray  # (n_nodes,)


class Ancestors(NamedTuple):
    """The ancestor closure as CSR lists: ``nodes[ptr[v]:ptr[v + 1]]``, ascending, with v last."""

    ptr: PtrArray  # (n_nodes + 1,)
    nodes: IntArray


def freeze(*arrays: npt.NDArray[np.generic]) -> None:
    """Make arrays read-only: they are shared by everyone who asks."""
    for array in arrays:
        array.flags.writeable = False


def csr_lists(n: int, rows: IntArray, values: IntArray) -> tuple[PtrArray, IntArray]:
    """Group `values` by `rows`: CSR lists, each ascending."""
    ptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=ptr[1:])
    if rows.size > 1:
        key = rows.astype(np.int64) * n + values
        if not (key[1:] >= key[:-1]).all():
            values = values[np.argsort(key, kind="stable")]
    return ptr, np.ascontiguousarray(values, dtype=np.int32)


def build(n: int, parent: IntArray, child: IntArray) -> Dag:
    """The graph of the edges ``parent[e] -> child[e]``; repeated edges count once.

    Every edge must have ``parent[e] < child[e]``; `parents_first` gives such numbers.
    """
    key = child.astype(np.int64) * n + parent
    if key.size and not (key[1:] > key[:-1]).all():
        key = np.unique(key)
    rows, values = (key // max(n, 1)).astype(np.int32), (key % max(n, 1)).astype(np.int32)
    parent_ptr, parents = csr_lists(n, rows, values)
    child_ptr, children = csr_lists(n, values, rows)
    depth = np.zeros(n, dtype=np.int32)
    if parents.size:
        closure_fast.longest_depth(parent_ptr, parents, depth)
    dag = Dag(parent_ptr, parents, child_ptr, children, depth)
    freeze(*dag)
    return dag


def parents_first(n: int, parent: IntArray, child: IntArray) -> IntArray:
    """The order in which nodes are numbered: by number, but never before a parent.

    A node that would precede one of its parents waits; of the nodes that may come next, the
    lowest is taken. The result is shorter than n when some nodes lie on or below a cycle.
    """
    order = np.arange(n, dtype=np.int32)
    if (parent < child).all():
        return order
    child_ptr, children = csr_lists(n, parent, child)
    n_waiting = np.bincount(child, minlength=n).astype(np.int32)
    heap = np.empty(n, dtype=np.int32)
    placed = closure_fast.topological_order(child_ptr, children, n_waiting, heap, order)
    return order[:placed]


def find_cycle(n: int, parent: IntArray, child: IntArray) -> list[int]:
    """One cycle, as nodes each of which is a parent of the next; empty when there is none."""
    left = np.ones(n, dtype=bool)
    left[parents_first(n, parent, child)] = False
    inside = left[parent] & left[child]  # each node left has a parent left: walk up until a repeat
    above = dict(zip(child[inside].tolist(), parent[inside].tolist(), strict=True))
    if not above:
        return []
    seen: dict[int, None] = {}
    v = min(above)
    while v not in seen:
        seen[v] = None
        v = above[v]
    walk = list(seen)
    return walk[walk.index(v) :][::-1]


def ancestor_lists(dag: Dag) -> Ancestors:
    """All ancestors of every node: O(n_nodes + total number of ancestors)."""
    n = dag.depth.size
    stack, seen = np.empty(max(n, 1), dtype=np.int32), np.full(n, -1, dtype=np.int32)
    ptr = np.zeros(n + 1, dtype=np.int64)
    closure_fast.count_ancestors(dag.parent_ptr, dag.parents, stack, seen, ptr)
    nodes = np.empty(int(ptr[-1]), dtype=np.int32)
    seen[:] = -1
    closure_fast.fill_ancestors(dag.parent_ptr, dag.parents, stack, seen, ptr, nodes)
    freeze(ptr, nodes)
    return Ancestors(ptr, nodes)
