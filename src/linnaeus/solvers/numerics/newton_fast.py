# mypy: ignore-errors
"""Small dense products for preconditioners.

A threaded BLAS spends more time on waiting than on matrices of this size, and its sums depend on
the number of threads.
"""

from __future__ import annotations

from linnaeus.compiled import loop


@loop
def product(A, B, out):
    """out = A B"""
    for i in range(A.shape[0]):
        row = out[i]
        for k in range(row.size):
            row[k] = 0.0
        for j in range(A.shape[1]):
            a, other = A[i, j], B[j]
            for k in range(row.size):
                row[k] += a * other[k]


@loop
def second_moments(rows, bias, h, step, Q):
    """Q (d + 1, d + 1) += sum h_i x_i x_i' over every `step`-th row, the constant feature last."""
    last = Q.shape[0] - 1
    for i in range(0, h.size, step):
        begin, end = rows.indptr[i], rows.indptr[i + 1]
        for j in range(begin, end):
            line, v = Q[rows.indices[j]], h[i] * rows.data[j]
            for k in range(begin, j + 1):
                line[rows.indices[k]] += v * rows.data[k]
            Q[last, rows.indices[j]] += v * bias
        Q[last, last] += h[i] * bias * bias
    for j in range(last + 1):  # indices rise, so only what is below the diagonal has been added up
        for k in range(j):
            Q[k, j] = Q[j, k]
