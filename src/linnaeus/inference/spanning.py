"""Random spanning trees of a hypergraph: along which messages of a reparametrisation go.

Hyperedges are taken in random order; one belongs to the tree if its members were not joined before,
so the bipartite graph of nodes and chosen hyperedges has no cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linnaeus.inference.graphs_fast import Schedule


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
