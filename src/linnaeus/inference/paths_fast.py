# mypy: ignore-errors
"""The best nodes of every row, and where on its path a row stops; a beam over linear models.

Scores lie node by node, (n_nodes, n_rows), -inf where a node was not looked at; or row by row, as
CSR rows of the nodes that were looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop, part


@loop(allocates=True)
def best_nodes(score, nodes, best, value):
    """The best of some nodes for each row, best first; of equal ones the earlier in `nodes`.

    score : (n_nodes, m) float64;   nodes : (q,) int32
    best  : (m, width) int32, result, -1 where fewer have a score
    value : (m, width) float64, result, -inf there
    """
    m, width = best.shape
    best[:] = -1
    value[:] = -np.inf
    least = np.full(m, -np.inf)  # the last of `value`, in one piece
    for q in range(nodes.size):
        s = score[nodes[q]]
        for i in range(m):
            if s[i] > least[i]:
                v, t = value[i], width - 1
                while t > 0 and s[i] > v[t - 1]:
                    v[t] = v[t - 1]
                    best[i, t] = best[i, t - 1]
                    t -= 1
                v[t] = s[i]
                best[i, t] = nodes[q]
                least[i] = v[width - 1]


@loop
def reach(parent_ptr, parents, ptr, nodes, score, least, every, mark, keep):
    """Mark what is reached from the roots: nodes with enough score below nodes that are reached.

    Where no root has enough, the best root is marked alone.

    ptr, nodes, score : CSR rows of scored nodes; nodes ascend, so parents come first
    least : (n_nodes,) float64;   every : bool, all parents must be reached, else one of them
    mark  : (n_nodes,) int64, work space, -1 everywhere;   keep : (n_scored,) bool, result
    """
    for i in range(ptr.size - 1):
        root, none = -1, True
        for j in range(ptr[i], ptr[i + 1]):
            v = nodes[j]
            n_parents, n_reached = parent_ptr[v + 1] - parent_ptr[v], 0
            if n_parents == 0 and (root < 0 or score[j] > score[root]):
                root = j
            for e in range(parent_ptr[v], parent_ptr[v + 1]):
                n_reached += mark[parents[e]] == i
            below = n_reached == n_parents if every or n_parents == 0 else n_reached > 0
            keep[j] = below and score[j] >= least[v]
            if keep[j]:
                mark[v] = i
                none = False
        if none and root >= 0:
            keep[root] = True


@loop
def deepest(depth, ptr, nodes, score, out):
    """The deepest node of each row; of equally deep ones the better, then the lower.

    ptr, nodes, score : CSR rows of scored nodes, none empty;   out : (m,) int32, result
    """
    for i in range(out.size):
        best = ptr[i]
        for j in range(ptr[i] + 1, ptr[i + 1]):
            further = depth[nodes[j]] - depth[nodes[best]]
            if further > 0 or (further == 0 and score[j] > score[best]):
                best = j
        out[i] = nodes[best]


@loop
def nearest(parent_ptr, parents, score):
    """Give nodes without a score the best score of their parents, in place, parents first."""
    for v in range(score.shape[0]):
        for i in range(score.shape[1]):
            if score[v, i] == -np.inf:
                for e in range(parent_ptr[v], parent_ptr[v + 1]):
                    score[v, i] = max(score[v, i], score[parents[e], i])


# -- a beam over linear models --------------------------------------------------------------------


class Tree(NamedTuple):
    """Families as in `paths.Families`, and who is above whom."""

    parent: Any  # (n_families,) int32, -1 for the virtual node
    ptr: Any  # (n_families + 1,) int64
    child: Any  # (n_edges,) int32
    below: Any  # (n_nodes,) int32, the family of the children of each node, -1 for leaves
    depth: Any  # (n_nodes,) int32


class Local(NamedTuple):
    """Linear models of all families in one piece; no weight is read before its family is visited.

    z_c = b_c + sum_j x_j w_jc    for the children c of a family, over the features that it knows
    """

    starts: Any  # (n_families + 1,) int64, where the features of each family begin
    features: Any  # int32, ascending within a family
    place: Any  # int32, where the weights of each feature are, within its family
    weight_start: Any  # (n_families,) int64, where the weights of each family begin
    weights: Any  # feature by feature, one for each child
    intercept: Any  # (n_edges,)


class Work(NamedTuple):
    """Work space of a search."""

    best: Any  # (n_nodes,) float64, the score of the nodes seen, -inf elsewhere
    z: Any  # (largest family,) of the type of the weights
    s: Any  # (largest family,) float64
    chosen: Any  # (width,) int64


@loop
def beam(rows, tree, local, slope, exclusive, n_levels, first, work, ptr, nodes, scores):
    """Look below the best nodes of each level, as many as `work` chooses, from row `first` on.

    Rows are searched as long as `nodes` has room for one that sees every node; return how many.
    Of equal nodes the lower is followed.

    rows : (indptr, features, data), CSR rows, data of the type of the weights
    ptr, nodes, scores : CSR rows of what was seen, result, the children of the virtual node first
    """
    n, n_nodes, best = 0, tree.below.size, work.best
    while n < ptr.size - 1 and nodes.size - ptr[n] >= n_nodes:
        i, start = first + n, ptr[n]
        end = _visit(rows, i, tree, local, 0, slope, exclusive, work, start, nodes)
        for level in range(n_levels):
            for t in range(_choose(nodes, start, end, tree, level, work)):
                f = tree.below[work.chosen[t]]
                end = _visit(rows, i, tree, local, f, slope, exclusive, work, end, nodes)
        for q in range(start, end):
            scores[q] = best[nodes[q]]
            best[nodes[q]] = -np.inf
        n += 1
        ptr[n] = end
    return n


@part
def _choose(nodes, start, end, tree, level, work):
    """Choose the best inner nodes of a level that were seen; return how many."""
    best, chosen, m = work.best, work.chosen, 0
    for q in range(start, end):
        v = nodes[q]
        if tree.below[v] >= 0 and tree.depth[v] == level:
            t = m
            while t > 0 and _is_better(best, v, chosen[t - 1]):
                if t < chosen.size:
                    chosen[t] = chosen[t - 1]
                t -= 1
            if t < chosen.size:
                chosen[t] = v
                m = min(m + 1, chosen.size)
    return m


@part
def _is_better(score, v, other):
    return score[v] > score[other] or (score[v] == score[other] and v < other)


@part
def _visit(rows, i, tree, local, f, slope, exclusive, work, end, nodes):
    """Score the children of a family by the way through it; return the end of what was seen."""
    best, z, s = work.best, work.z, work.s
    begin = tree.ptr[f]
    k = tree.ptr[f + 1] - begin
    _local_scores(rows, i, local, f, begin, k, z)
    above, total = 0.0, 0.0
    if tree.parent[f] >= 0:
        above = best[tree.parent[f]]
    for b in range(k):
        s[b] = slope * np.float64(z[b])
    if exclusive and f > 0:
        total = _log_sum(s, k)
    for b in range(k):
        own = s[b] - total
        if not exclusive:
            own = min(s[b], 0.0) - np.log1p(np.exp(-abs(s[b])))
        v = tree.child[begin + b]
        if best[v] == -np.inf:
            nodes[end] = v
            end += 1
        best[v] = max(best[v], above + own)
    return end


@part
def _local_scores(rows, i, local, f, begin, k, z):
    """The local scores of a row, features in its order; begin : the first edge of the family."""
    indptr, indices, data = rows
    for b in range(k):
        z[b] = local.intercept[begin + b]
    stop = local.starts[f + 1]
    for e in range(indptr[i], indptr[i + 1]):
        j, low, high = indices[e], local.starts[f], stop
        while low < high:
            middle = (low + high) // 2
            if local.features[middle] < j:
                low = middle + 1
            else:
                high = middle
        if low < stop and local.features[low] == j:
            x, w = data[e], local.weight_start[f] + local.place[low] * k
            for b in range(k):
                z[b] += x * local.weights[w + b]


@part
def _log_sum(s, k):
    top = s[0]
    for b in range(1, k):
        top = max(top, s[b])
    total = 0.0
    for b in range(k):
        total += np.exp(s[b] - top)
    return top + np.log(total)


@loop
def best_seen(ptr, nodes, scores, place, best, value):
    """The best nodes that have a place, for each row; of equal ones the one with the lower place.

    ptr, nodes, scores : CSR rows;   place : (n_nodes,) int64, -1 for nodes that do not count
    best  : (m, width) int64, result: places, -1 where fewer were seen
    value : (m, width) float64, result, -inf there
    """
    width = best.shape[1]
    for i in range(best.shape[0]):
        m = 0
        for q in range(ptr[i], ptr[i + 1]):
            v, p = scores[q], place[nodes[q]]
            if p < 0:
                continue
            t = m
            while t > 0 and (v > value[i, t - 1] or (v == value[i, t - 1] and p < best[i, t - 1])):
                if t < width:
                    value[i, t] = value[i, t - 1]
                    best[i, t] = best[i, t - 1]
                t -= 1
            if t < width:
                value[i, t] = v
                best[i, t] = p
                m = min(m + 1, width)
        for t in range(m, width):
            value[i, t] = -np.inf
            best[i, t] = -1
