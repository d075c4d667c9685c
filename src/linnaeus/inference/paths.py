"""Ways down a taxonomy, when every node only says which of its children to take.

The children of one node are a family; the roots are the family of a virtual node above them. A
model gives log scores of the children of a family, l(c | p). The score of a node is the sum of them
along the path to it, best over the paths where there are several:

    f(v) = max_{p parent of v} f(p) + l(v | p).

`all_paths` computes f everywhere (or with log-sum-exp in place of max: the probability that a walk
down passes v). `greedy` follows only the best child, or every child with l > log 1/2. `beam` looks
below the best few nodes of every level; leaves that it has seen are never dropped.

Arrays lie node by node, (n_nodes, n_rows), so that a family is read and written in one piece. Where
local models are linear, `linear_beam` does the same row by row, and keeps only what a row has seen:
neither time nor memory grow with the number of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.compiled import read_only
from linnaeus.inference import paths_fast
from linnaeus.inference.paths_fast import Local as Local
from linnaeus.taxonomy import Taxonomy

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
Expand = Callable[[int, Any], npt.NDArray[Any]]  # (family, row numbers) -> (n_rows, n_children)


ROOM = 1 << 18  # nodes seen that are collected at a time


class Families(NamedTuple):
    """Who chooses among whom: the virtual node above the roots first, then the inner nodes."""

    parent: IntArray  # (n_families,), -1 for the virtual node
    ptr: npt.NDArray[np.int64]  # (n_families + 1,)
    child: IntArray  # (n_edges,) grouped by family
    levels: tuple[IntArray, ...]  # the families whose parents have depth 0, 1, ...
    n_nodes: int

    def children(self, f: int) -> IntArray:
        """The nodes among whom family f chooses."""
        return self.child[self.ptr[f] : self.ptr[f + 1]]


class Ways(NamedTuple):
    """What a search has seen, node by node."""

    score: FloatArray  # (n_nodes, m), -inf where it has not looked
    taken: npt.NDArray[np.bool_] | None  # (n_nodes, m) where `greedy` went; None: everything seen


class Seen(NamedTuple):
    """What a search has seen, row by row; the children of the virtual node first."""

    ptr: npt.NDArray[np.int64]  # (m + 1,)
    nodes: IntArray
    scores: FloatArray

    def ways(self, n_nodes: int) -> Ways:
        """The same node by node."""
        m = self.ptr.size - 1
        score = np.full((n_nodes, m), -np.inf)
        score[self.nodes, np.repeat(np.arange(m), np.diff(self.ptr))] = self.scores
        return Ways(score, None)

    def best(self, nodes: Any, n_nodes: int, k: int) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """The k best of `nodes` as places there, -1 where fewer were seen, and their scores."""
        place = np.full(n_nodes, -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        best = np.empty((self.ptr.size - 1, k), dtype=np.int64)
        value = np.empty(best.shape)
        paths_fast.best_seen(*self, place, best, value)
        return best, value

    def first(self, n: int) -> FloatArray:
        """The scores of the n nodes that every row has seen first, (m, n)."""
        found: FloatArray = self.scores[self.ptr[:-1, None] + np.arange(n)]
        return found


def families(taxonomy: Taxonomy) -> Families:
    """The families of a taxonomy."""
    inner = np.flatnonzero(taxonomy.n_children > 0).astype(np.int32)
    roots = taxonomy.root_numbers
    sizes = np.concatenate([[roots.size], taxonomy.n_children[inner]])
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    child = np.concatenate([roots, taxonomy.dag.children]).astype(np.int32)
    depth = taxonomy.depth[inner]
    levels = tuple(
        (1 + np.flatnonzero(depth == d)).astype(np.int32) for d in range(depth.max(initial=-1) + 1)
    )
    return Families(
        np.concatenate([[-1], inner]).astype(np.int32), ptr, child, levels, len(taxonomy)
    )


def all_paths(fam: Families, n_rows: int, expand: Expand, total: bool = False) -> Ways:
    """The score of every node; `total` adds the probabilities of all paths to a node."""
    score = np.full((fam.n_nodes, n_rows), -np.inf)
    rows = np.arange(n_rows, dtype=np.int32)
    for f in range(fam.parent.size):  # parents first
        _visit(fam, f, rows, score, expand, np.logaddexp if total else np.maximum)
    return Ways(score, None)


def beam(fam: Families, n_rows: int, expand: Expand, width: int) -> Ways:
    """Look below the `width` best nodes of each level."""
    score = np.full((fam.n_nodes, n_rows), -np.inf)
    _visit(fam, 0, np.arange(n_rows, dtype=np.int32), score, expand)
    for level in fam.levels:
        nodes = fam.parent[level]
        best, _ = best_nodes(score, nodes, min(width, nodes.size))
        for f, rows in _grouped(best, nodes, level):
            _visit(fam, f, rows, score, expand)
    return Ways(score, None)


def linear_beam(
    taxonomy: Taxonomy, fam: Families, X: sp.csr_array, local: Local, slope: float,
    exclusive: bool, width: int,
) -> Seen:  # fmt: skip
    """Look below the `width` best nodes of each level; for a local score s the log score is

    log sigma(slope s), or with `exclusive` slope s - log sum exp(slope s) but at the roots.
    """
    dtype, n, n_nodes = local.weights.dtype, X.shape[0], fam.n_nodes
    below = np.full(n_nodes, -1, dtype=np.int32)
    below[fam.parent[1:]] = np.arange(1, fam.parent.size)
    ways = fam.parent, fam.ptr, fam.child, below, taxonomy.depth
    tree = paths_fast.Tree(*map(read_only, ways))
    rows = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(dtype)
    z = np.empty(int(np.diff(fam.ptr).max()), dtype)
    best, s, chosen = np.full(n_nodes, -np.inf), np.empty(z.size), np.empty(width, np.int64)
    work = paths_fast.Work(best, z, s, chosen)
    how, parts, done = (slope, exclusive, len(fam.levels)), [], 0
    nodes, scores = np.empty(ROOM + n_nodes, np.int32), np.empty(ROOM + n_nodes)
    while done < n:
        ptr = np.zeros(n - done + 1, dtype=np.int64)
        m = paths_fast.beam(rows, tree, local, *how, done, work, ptr, nodes, scores)
        parts.append((ptr[: m + 1], nodes[: ptr[m]].copy(), scores[: ptr[m]].copy()))
        done += m
    return _joined(parts)


def _joined(parts: list[tuple[Any, Any, Any]]) -> Seen:
    sizes = np.concatenate([[0], *(np.diff(ptr) for ptr, _, _ in parts)])
    nodes = np.concatenate([np.zeros(0, np.int32), *(part[1] for part in parts)])
    scores = np.concatenate([np.zeros(0), *(part[2] for part in parts)])
    return Seen(np.cumsum(sizes), nodes, scores)


def greedy(fam: Families, n_rows: int, expand: Expand, several: bool, least: bool = True) -> Ways:
    """Follow the best child to a leaf; with `several` every child that is more likely than not.

    least : whether the best child is followed where `several` would follow none
    """
    score = np.full((fam.n_nodes, n_rows), -np.inf)
    taken = np.zeros((fam.n_nodes, n_rows), dtype=bool)
    for f, p in enumerate(fam.parent.tolist()):  # parents first
        rows = np.arange(n_rows) if p < 0 else np.flatnonzero(taken[p])
        if rows.size:
            local = _visit(fam, f, rows.astype(np.int32), score, expand)
            on = local > np.log(0.5) if several else np.zeros_like(local, dtype=bool)
            best, none = local.argmax(axis=0), ~on.any(axis=0)
            if least or not several:
                on[best[none], np.flatnonzero(none)] = True
            taken[np.ix_(fam.children(f), rows)] |= on
    return Ways(score, taken)


def best_nodes(score: FloatArray, nodes: IntArray, width: int) -> tuple[IntArray, FloatArray]:
    """The best of `nodes` for every row, (m, width), and their scores; -1 where there are fewer."""
    best = np.empty((score.shape[1], max(1, width)), dtype=np.int32)
    value = np.empty(best.shape)
    paths_fast.best_nodes(score, np.ascontiguousarray(nodes, dtype=np.int32), best, value)
    return best, value


def along(taxonomy: Taxonomy, score: FloatArray, leaf: IntArray) -> sp.csr_array:
    """The scores of the nodes above and at one leaf of each row, (m, n_nodes)."""
    lists = taxonomy.ancestor_lists
    size = np.diff(lists.ptr)[leaf]
    ptr = np.concatenate([[0], np.cumsum(size)])
    row = np.repeat(np.arange(leaf.size), size)
    nodes = lists.nodes[np.arange(ptr[-1]) + (lists.ptr[leaf] - ptr[:-1])[row]]
    out = sp.csr_array((score[nodes, row], nodes, ptr), shape=(leaf.size, len(taxonomy)))
    out.sort_indices()
    return out


def reached(
    taxonomy: Taxonomy, offered: sp.csr_array, least: npt.ArrayLike, every: bool
) -> sp.csr_array:
    """What is left of the nodes offered when every step down needs enough score.

    A node stays if its score is at least `least` (a number, or one per node) and its parents stay:
    `every` one of them, or one. Where no root has enough, the best root stays.
    """
    ptr, nodes = offered.indptr.astype(np.int64), offered.indices.astype(np.int32)
    keep, mark = np.empty(nodes.size, dtype=bool), np.full(len(taxonomy), -1, dtype=np.int64)
    enough = np.ascontiguousarray(np.broadcast_to(np.asarray(least, float), len(taxonomy)))
    dag = taxonomy.dag
    paths_fast.reach(
        dag.parent_ptr, dag.parents, ptr, nodes, offered.data, enough, every, mark, keep
    )
    ends = np.concatenate([[0], np.cumsum(keep)])[ptr]
    return sp.csr_array((offered.data[keep], nodes[keep], ends), shape=offered.shape)


def back_off(taxonomy: Taxonomy, offered: sp.csr_array, least: npt.ArrayLike) -> IntArray:
    """For every row the deepest node offered that can be reached with enough score."""
    kept, out = reached(taxonomy, offered, least, every=False), np.empty(offered.shape[0], np.int32)
    paths_fast.deepest(
        taxonomy.depth, kept.indptr.astype(np.int64), kept.indices.astype(np.int32), kept.data, out
    )
    return out


def leaf_scores(taxonomy: Taxonomy, ways: Ways, leaves: IntArray) -> FloatArray:
    """Finite scores (n_leaves, m): leaves that the search passed by lie below those it reached.

    Such a leaf has its own score, or that of the nearest node above it that was seen. Where one of
    them is not below the leaves reached, all of them are lowered together, to 1 below.
    """
    own = ways.score[leaves]
    reached = np.isfinite(own) if ways.taken is None else ways.taken[leaves]
    if reached.all():
        return own
    known = ways.score.copy()
    paths_fast.nearest(taxonomy.dag.parent_ptr, taxonomy.dag.parents, known)
    lowest = np.where(reached, own, np.inf).min(axis=0)
    others = known[leaves]
    over = np.where(reached, -np.inf, others).max(axis=0) - lowest
    return np.where(reached, own, others - np.where(over >= 0, over + 1.0, 0.0))


def _visit(
    fam: Families, f: int, rows: IntArray, score: FloatArray, expand: Expand, join: Any = np.maximum
) -> Any:
    """Score the children of a family by the way through it; return the local scores (k, m)."""
    local = expand(f, rows).T
    p, at = fam.parent[f], np.ix_(fam.children(f), rows)
    score[at] = join(score[at], local if p < 0 else score[p, rows] + local)
    return local


def _grouped(best: IntArray, nodes: IntArray, level: IntArray) -> Iterator[tuple[int, IntArray]]:
    """The rows that want each node, as (family, rows)."""
    row = np.repeat(np.arange(best.shape[0], dtype=np.int32), best.shape[1])
    node = best.ravel()
    order = np.argsort(node, kind="stable")
    order = order[np.searchsorted(node[order], 0) :]  # without -1
    ends = np.searchsorted(node[order], nodes, side="right").tolist()
    begin = 0
    for f, end in zip(level.tolist(), ends, strict=True):  # nodes ascend
        if end > begin:
            yield f, row[order[begin:end]]
        begin = end
