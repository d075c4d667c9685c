# mypy: ignore-errors
"""A sparse triangular factor of a graph: which node follows which, and its inverse by paths.

Nodes are eliminated from last to first. What is left of a node's neighbours then lies on one path,
from its parent up to a root, so row v of the inverse has an entry for each node of its path.
"""

from __future__ import annotations

from linnaeus.compiled import loop


@loop
def parents(indptr, indices, parent, above):
    """The parent of each node: the last of its neighbours when it is eliminated; -1 for roots.

    indptr, indices : CSR of a symmetric matrix
    parent, above   : (n,) int64  result, and work space
    """
    n = parent.size
    for v in range(n - 1, -1, -1):
        parent[v] = above[v] = -1
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            while u > v:  # climb to the root of its tree so far, which v follows
                up = above[u]
                above[u] = v
                if up == -1:
                    parent[u] = v
                    break
                u = up


@loop
def inverse_rows(parent, depth, ptr, lower_ptr, lower, values, nodes, out):
    """Rows of F^-T for F'w = s: w_v = (s_v - sum_u F_uv w_u) / F_vv, parents first.

    depth : (n,) int64, 0 for roots;  ptr : starts of the rows, depth + 1 numbers each
    lower_ptr, lower, values : CSR of F', the diagonal last
    nodes, out : result: the path of each node, from the root, and its row
    """
    for v in range(parent.size):
        start, n = ptr[v], depth[v] + 1
        if parent[v] >= 0:
            for k in range(n - 1):
                nodes[start + k] = nodes[ptr[parent[v]] + k]
        nodes[start + n - 1] = v
        for k in range(n):
            out[start + k] = 0.0
        last = lower_ptr[v + 1] - 1
        for e in range(lower_ptr[v], last):
            u, f = lower[e], values[e]
            for k in range(depth[u] + 1):
                out[start + k] -= f * out[ptr[u] + k]
        out[start + n - 1] += 1.0
        for k in range(n):
            out[start + k] /= values[last]
