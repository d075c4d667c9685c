# mypy: ignore-errors
"""Scores of one example, and what a step of it does to them: linear or by a kernel matrix.

    linear   s = W'x_i,        a step by t adds  x_i t'  to W;
    kernel   s = N'k_i,        a step by t adds  t  to row i of N,    k_i row i of K.

So one array holds what the scores are made of: the weights, or the multipliers themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from linnaeus.compiled import part


class Inputs(NamedTuple):
    """The examples: CSR rows, or a kernel matrix and no rows."""

    indptr: Any  # (n + 1,) int64
    indices: Any  # (nnz,) uint32
    data: Any  # (nnz,) float
    K: Any  # (n, n) float, or (0, 0)
    norm2: Any  # (n,) float64, K_ii


@part
def score(inputs, i, W, s):
    """Write the scores of example i into s: (n_blocks,) float64."""
    s[:] = 0.0
    if inputs.K.shape[0] > 0:
        row = inputs.K[i]
        for j in range(row.size):
            x, w = row[j], W[j]
            for q in range(s.size):
                s[q] += x * w[q]
        return
    for p in range(inputs.indptr[i], inputs.indptr[i + 1]):
        x, w = inputs.data[p], W[inputs.indices[p]]
        for q in range(s.size):
            s[q] += x * w[q]


@part
def add(inputs, i, W, step):
    """Move example i by `step`: (n_blocks,) float64."""
    if inputs.K.shape[0] > 0:
        w = W[i]
        for q in range(step.size):
            w[q] += step[q]
        return
    for p in range(inputs.indptr[i], inputs.indptr[i + 1]):
        x, w = inputs.data[p], W[inputs.indices[p]]
        for q in range(step.size):
            w[q] += x * step[q]


@part
def score_all(W, ix, xs, s):
    """``s = W'x``, of the type of W; four features at a time, so that `s` is read less often."""
    width = s.size
    for k in range(width):  # assigning slices takes seconds to compile
        s[k] = 0
    whole = ix.size - ix.size % 4
    for p in range(0, whole, 4):
        w0, w1, w2, w3 = W[ix[p]], W[ix[p + 1]], W[ix[p + 2]], W[ix[p + 3]]
        x0, x1, x2, x3 = xs[p], xs[p + 1], xs[p + 2], xs[p + 3]
        for k in range(width):
            s[k] += (x0 * w0[k] + x1 * w1[k]) + (x2 * w2[k] + x3 * w3[k])
    for p in range(whole, ix.size):
        w0, x0 = W[ix[p]], xs[p]
        for k in range(width):
            s[k] += x0 * w0[k]
