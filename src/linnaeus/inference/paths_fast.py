# mypy: ignore-errors
"""The best nodes of every row, and where on its path a row stops.

Scores lie node by node, (n_nodes, n_rows), -inf where a node was not looked at.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def back_off(ptr, ancestors, depth, score, leaf, least, out):
    """The deepest node above or at a leaf whose score is at least `least`.

    Of equally deep ones the better, then the lower; where no score is large enough, the best of the
    roots above the leaf.

    ptr, ancestors : CSR lists of ancestors, each node last in its own
    leaf  : (m,) int32;   least : (m,) float64;   out : (m,) int32, result
    """
    for i in range(leaf.size):
        best, root = -1, -1
        for e in range(ptr[leaf[i]], ptr[leaf[i] + 1]):
            v = ancestors[e]
            s = score[v, i]
            if depth[v] == 0 and (root < 0 or s > score[root, i]):
                root = v
            if s >= least[i]:
                deeper = best < 0 or depth[v] > depth[best]
                if deeper or (depth[v] == depth[best] and s > score[best, i]):
                    best = v
        out[i] = best if best >= 0 else root


@njit(cache=True, nogil=True)
def nearest(parent_ptr, parents, score):
    """Give nodes without a score the best score of their parents, in place, parents first."""
    for v in range(score.shape[0]):
        for i in range(score.shape[1]):
            if score[v, i] == -np.inf:
                for e in range(parent_ptr[v], parent_ptr[v + 1]):
                    score[v, i] = max(score[v, i], score[parents[e], i])
