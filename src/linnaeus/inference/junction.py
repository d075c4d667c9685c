"""Trees of a hypergraph: junction trees by the min-fill rule, and random spanning trees.

Nodes are eliminated one by one, always the one whose neighbours need the fewest new links to be
all joined (ties: the lower number). A node and its neighbours at that moment form a clique; the
cliques form a tree, the parent being that of the neighbour which is eliminated next. The largest
clique has one node more than the width, and max-sum costs 2^(width + 1) per clique.

Along random spanning trees the messages of a reparametrisation go. Hyperedges are taken in random
order; one belongs to the tree if its members were not joined before, so the bipartite graph of
nodes and chosen hyperedges has no cycle.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import accumulate, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.inference.graphs_fast import Cliques, Schedule

IntArray = npt.NDArray[np.int64]
MAX_WIDTH = 20
MAX_ENTRIES = 1 << 25  # of all tables and maps together


def junction_tree(n_nodes: int, edges: Sequence[IntArray]) -> Cliques:
    """The cliques of a hypergraph over nodes 0..n-1, with the maps that max-sum needs."""
    order, above = eliminate(n_nodes, edges)
    place = np.empty(n_nodes, dtype=np.int64)
    place[order] = np.arange(n_nodes)
    members = [[*sorted(above[v], key=place.__getitem__, reverse=True), v] for v in order]
    parent = [int(place[m[-2]]) if len(m) > 1 else -1 for m in members]
    home = np.array([int(place[e].min()) for e in edges], dtype=np.int64)
    _check_size(members, parent, home)
    up: list[Any] = [
        _projection(members[p], m[:-1]) if p >= 0 else []
        for m, p in zip(members, parent, strict=True)
    ]
    inside = [_projection(members[t], e.tolist()) for t, e in zip(home, edges, strict=True)]
    return Cliques(
        _starts([len(m) for m in members]), _joined(members),
        _starts([1 << len(m) for m in members]), np.array(parent, dtype=np.int64),
        _starts([len(u) for u in up]), _joined(up), home, _starts([len(u) for u in inside]),
        _joined(inside),
    )  # fmt: skip


def eliminate(n_nodes: int, edges: Sequence[IntArray]) -> tuple[list[int], list[set[int]]]:
    """The order of elimination, and for each node its neighbours when it was eliminated."""
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for edge in edges:
        if edge.size > MAX_WIDTH + 1:
            raise _too_wide(edge.size)
        for a, b in combinations(edge.tolist(), 2):
            near[a].add(b)
            near[b].add(a)
    fill = [_fill(near, v) for v in range(n_nodes)]
    heap = [(f, v) for v, f in enumerate(fill)]
    heapq.heapify(heap)
    order: list[int] = []
    gone = [False] * n_nodes
    while heap:
        f, v = heapq.heappop(heap)
        if gone[v] or f != fill[v]:
            continue
        if len(near[v]) > MAX_WIDTH:
            raise _too_wide(len(near[v]) + 1)
        gone[v] = True
        order.append(v)
        for u in _join_neighbours(near, v):
            fill[u] = _fill(near, u)
            heapq.heappush(heap, (fill[u], u))
    return order, near


def _join_neighbours(near: list[set[int]], v: int) -> list[int]:
    """Link all neighbours of v and take v away; the nodes whose fill may have changed."""
    touched = set(near[v])
    for u in near[v]:
        near[u].discard(v)
    for a, b in combinations(sorted(near[v]), 2):
        if b not in near[a]:
            touched |= near[a] & near[b]
            near[a].add(b)
            near[b].add(a)
    return sorted(touched)


def _fill(near: list[set[int]], v: int) -> int:
    """How many pairs of neighbours are not joined; hubs beyond the largest width come last."""
    if len(near[v]) > MAX_WIDTH:
        return MAX_WIDTH**2 + len(near[v])
    return sum(b not in near[a] for a, b in combinations(near[v], 2))


def _projection(entry: Sequence[int], part: Sequence[int]) -> IntArray:
    """For every code over `entry`, the code over `part`; the first node is the highest bit."""
    code = np.arange(1 << len(entry), dtype=np.int64)
    out = np.zeros_like(code)
    position = {v: len(entry) - 1 - i for i, v in enumerate(entry)}
    for v in part:
        out = 2 * out + ((code >> position[v]) & 1)
    return out


def _check_size(members: list[list[int]], parent: list[int], home: IntArray) -> None:
    size = [1 << len(m) for m in members]
    total = sum(size) + sum(size[p] for p in parent if p >= 0) + sum(size[t] for t in home)
    if total > MAX_ENTRIES:
        raise _too_wide(max(len(m) for m in members))


def _too_wide(clique: int) -> UserError:
    return UserError(
        f"The graph is too dense for exact inference: its junction tree has a clique of {clique} "
        f"nodes (treewidth {clique - 1} by the min-fill rule; tables of 2^{clique} entries, and "
        f"{MAX_WIDTH} is the largest width). Use 'loopy' or 'trp', or fewer edges."
    )


def _starts(lengths: list[int]) -> IntArray:
    return np.array([0, *accumulate(lengths)], dtype=np.int64)


def _joined(parts: Sequence[Any]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *(np.asarray(p, np.int64) for p in parts)])


# -- spanning trees -------------------------------------------------------------------------------


def spanning_trees(n_nodes: int, edges: Sequence[Any], n_trees: int, seed: int) -> Schedule:
    """So many trees; upper hyperedges first, each with the position of the node it hangs from."""
    rng = np.random.default_rng(seed)
    edge = np.full((n_trees, len(edges)), -1, dtype=np.int64)
    way = np.full_like(edge, -1)
    lists = [e.tolist() for e in edges]
    for row in range(n_trees):
        tree = _spanning(n_nodes, lists, rng.permutation(len(edges)).tolist())
        steps = _from_roots(n_nodes, lists, tree)
        edge[row, : len(steps)] = [e for e, _ in steps]
        way[row, : len(steps)] = [position for _, position in steps]
    return Schedule(edge, way)


def _spanning(n_nodes: int, edges: list[list[int]], order: list[int]) -> list[int]:
    """The hyperedges, in this order, whose members were not yet joined."""
    part = list(range(n_nodes))

    def find(v: int) -> int:
        while part[v] != v:
            part[v] = v = part[part[v]]
        return v

    kept = []
    for e in order:
        parts = {find(v) for v in edges[e]}
        if len(parts) == len(edges[e]):
            kept.append(e)
            for p in parts:
                part[p] = min(parts)
    return kept


def _from_roots(n_nodes: int, edges: list[list[int]], tree: list[int]) -> list[tuple[int, int]]:
    """The hyperedges of a tree, upper ones first, each with the position of its upper node."""
    at: list[list[int]] = [[] for _ in range(n_nodes)]
    for e in tree:
        for v in edges[e]:
            at[v].append(e)
    seen, used = [False] * n_nodes, set[int]()
    steps: list[tuple[int, int]] = []
    for root in range(n_nodes):
        queue = [] if seen[root] else [root]
        seen[root] = True
        for v in queue:  # which grows
            for e in at[v]:
                if e not in used:
                    used.add(e)
                    steps.append((e, edges[e].index(v)))
                    queue += [w for w in edges[e] if w != v]
                    for w in edges[e]:
                        seen[w] = True
    return steps
