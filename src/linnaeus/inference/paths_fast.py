# mypy: ignore-errors
"""The best nodes of every row, and where on its path a row stops.

Scores lie node by node, (n_nodes, n_rows), -inf where a node was not looked at.
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop


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
