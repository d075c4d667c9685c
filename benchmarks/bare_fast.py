# mypy: ignore-errors
"""The least a solver must do with a sparse matrix, and nothing else: the limit of its speed.

For the rows in `order`, with weights of B lanes in W (d, B),

    z_b = sum_k x_ik W[k, b]              (gather)
    W[k, b] += x_ik step_b                (scatter, where moves[t] is set)

The same in one lane with weights (d,). No costs, no clipping, no certificate.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def lanes_visit(order, moves, indptr, indices, data, W, z, step):
    """z : (B,) float  the scores of all rows together, so that no work can be left out"""
    lanes = z.size
    for t in range(order.size):
        i = order[t]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for k in range(ix.size):
            w, x = W[ix[k]], xs[k]
            for b in range(lanes):
                z[b] += x * w[b]
        if moves[t]:
            for k in range(ix.size):
                w, x = W[ix[k]], xs[k]
                for b in range(lanes):
                    w[b] += x * step[b]


@njit(cache=True, nogil=True)
def lane_visit(order, moves, indptr, indices, data, w, step):
    """One lane; return the sum of all scores, so that no work can be left out."""
    total = w.dtype.type(0.0)
    for t in range(order.size):
        i = order[t]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        z = w.dtype.type(0.0)
        for k in range(ix.size):
            z += xs[k] * w[ix[k]]
        total += z
        if moves[t]:
            for k in range(ix.size):
                w[ix[k]] += xs[k] * step
    return total
