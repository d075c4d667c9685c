# mypy: ignore-errors
"""The least a solver must do with a sparse matrix, and nothing else: the limit of its speed.

For the rows in `order`, with weights of B lanes in W (d, B),

    z_b = sum_k x_ik W[k, b]              (gather)
    W[k, b] += x_ik step_b                (scatter, where moves[t] is set)

The same in one lane with weights (d,). No costs, no clipping, no certificate. `scores_visit` only
gathers, four features at a time, and forgets the scores of a row when the next one comes.
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


@njit(cache=True, nogil=True)
def scores_visit(order, indptr, indices, data, W, z):
    """z : (B,) float  the scores of the last row; return a sum over all of them"""
    total = 0.0
    for t in range(order.size):
        i = order[t]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        z[:] = 0
        whole = ix.size - ix.size % 4
        for k in range(0, whole, 4):
            a, b, c, d = W[ix[k]], W[ix[k + 1]], W[ix[k + 2]], W[ix[k + 3]]
            x, y, u, v = xs[k], xs[k + 1], xs[k + 2], xs[k + 3]
            for j in range(z.size):
                z[j] += (x * a[j] + y * b[j]) + (u * c[j] + v * d[j])
        for k in range(whole, ix.size):
            a, x = W[ix[k]], xs[k]
            for j in range(z.size):
                z[j] += x * a[j]
        total += z[t % z.size]
    return total
