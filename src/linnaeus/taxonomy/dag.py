"""Directed acyclic graphs and forests over numbers, parents before children, as compact arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.taxonomy import closure_fast

PtrArray = npt.NDArray[np.int64]


class Dag(NamedTuple):
    """Two CSR lists and a depth. Every parent has a lower number than its children.

    The parents of v are ``parents[parent_ptr[v]:parent_ptr[v + 1]]``, ascending; the children
    likewise. ``depth[v]`` is the longest way down from a root, so parents are always less deep.

    Attributes
    ----------
    parent_ptr : ndarray of int of shape (n_nodes + 1,)
        Where the parents of each node start.
    parents : ndarray of int of shape (n_edges,)
        Parents of all nodes.
    child_ptr : ndarray of int of shape (n_nodes + 1,)
        Where the children of each node start.
    children : ndarray of int of shape (n_edges,)
        Children of all nodes.
    depth : ndarray of int of shape (n_nodes,)
        Longest way down from a root.
    """

    parent_ptr: PtrArray
    parents: IntArray
    child_ptr: PtrArray
    children: IntArray
    depth: IntArray


class Ancestors(NamedTuple):
    """The ancestor closure as CSR lists: ``nodes[ptr[v]:ptr[v + 1]]``, ascending, with v last.

    Attributes
    ----------
    ptr : ndarray of int of shape (n_nodes + 1,)
        Where the ancestors of each node start.
    nodes : ndarray of int of shape (n_ancestors,)
        Ancestors of all nodes.
    """

    ptr: PtrArray
    nodes: IntArray


def freeze(*arrays: npt.NDArray[np.generic]) -> None:
    """Make arrays read-only: they are shared by everyone who asks."""
    for array in arrays:
        array.flags.writeable = False


def pointers(n: int, rows: IntArray) -> PtrArray:
    """Where the list of each row starts when entries are grouped by row."""
    ptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=ptr[1:])
    return ptr


def child_lists(n: int, parent: IntArray, child: IntArray) -> tuple[PtrArray, IntArray]:
    """The children of each node, in the order of the edges."""
    ptr, children = pointers(n, parent), np.empty(child.size, dtype=np.int32)
    closure_fast.group(child.size, parent, child, ptr[:-1].copy(), children)
    return ptr, children


def build(n: int, parent: IntArray, child: IntArray) -> Dag:
    """The graph of the edges ``parent[e] -> child[e]``; repeated edges count once.

    Every edge must have ``parent[e] < child[e]``; `parents_first` gives such numbers.
    """
    child_ptr, unsorted = child_lists(n, parent, child)
    parent_ptr, n_steps = pointers(n, child), n + child.size
    parents, children = np.empty_like(unsorted), np.empty_like(unsorted)
    closure_fast.transpose(n_steps, child_ptr, unsorted, parent_ptr[:-1].copy(), parents)
    closure_fast.transpose(n_steps, parent_ptr, parents, child_ptr[:-1].copy(), children)
    row = np.repeat(np.arange(n, dtype=np.int32), np.diff(parent_ptr))
    new = np.ones(parents.size, dtype=bool)
    new[1:] = (parents[1:] != parents[:-1]) | (row[1:] != row[:-1])
    if not new.all():
        return build(n, parents[new], row[new])
    depth = np.zeros(n, dtype=np.int32)
    closure_fast.longest_depth(n_steps, parent_ptr, parents, depth)
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
    child_ptr, children = child_lists(n, parent, child)
    n_waiting = np.bincount(child, minlength=n).astype(np.int32)
    heap = np.empty(n, dtype=np.int32)
    work = (child_ptr, children, n_waiting, heap, order)
    return order[: closure_fast.topological_order(8 * n + child.size, *work)]


def find_cycle(n: int, parent: IntArray, child: IntArray) -> list[int]:
    """One cycle, as nodes each of which is a parent of the next; there must be one.

    Every node that `parents_first` leaves out has a parent left out: walk up until a repeat.
    """
    left = np.ones(n, dtype=bool)
    left[parents_first(n, parent, child)] = False
    inside = left[parent] & left[child]
    above = dict(zip(child[inside].tolist(), parent[inside].tolist(), strict=True))
    seen: dict[int, None] = {}
    v = min(above)
    while v not in seen:
        seen[v] = None
        v = above[v]
    walk = list(seen)
    return walk[walk.index(v) :][::-1]


def ancestor_lists(dag: Dag, starts: IntArray | None = None) -> Ancestors:
    """All ancestors of every node, or of some: O(their total number)."""
    n = dag.depth.size
    starts = np.arange(n, dtype=np.int32) if starts is None else np.asarray(starts, dtype=np.int32)
    seen, found = np.full(n, -1, dtype=np.int32), np.empty(n, dtype=np.int32)
    ptr, nodes = np.zeros(starts.size + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    n_steps = starts.size * (1 + int(dag.depth.max(initial=0)))  # about: of a tree
    for _ in range(2):
        work = (dag.parent_ptr, dag.parents, seen, found, ptr, nodes)
        closure_fast.list_ancestors(n_steps, starts, *work)
        if not nodes.size:
            nodes, n_steps = np.empty(int(ptr[-1]), dtype=np.int32), int(ptr[-1])
        seen[:] = -1
    freeze(ptr, nodes)
    return Ancestors(ptr, nodes)


# -- forests --------------------------------------------------------------------------------------


IntArray = npt.NDArray[np.int32]


class Tree(NamedTuple):
    """A forest with ``parent[v] < v``; roots have ``parent == -1``.

    Counting up visits parents before children; counting down, children first.

    Attributes
    ----------
    parent : ndarray of int of shape (n_nodes,)
        Parent of each node.
    n_children : ndarray of int of shape (n_nodes,)
        Number of its children.
    """

    parent: IntArray
    n_children: IntArray
