# mypy: ignore-errors
"""Dual coordinate descent for many support vector machines over one matrix.

Every lane b of a block is one class, with its weights around a prior mean m_b:

    minimise_w  1/2 ||w - m_b||^2 + sum_i u_i loss(y_i w.x_i),      w = m_b + sum_i a_i y_i x_i

    hinge          loss(z) = max(0, 1 - z),    0 <= a_i <= u_i
    squared hinge  loss(z) = max(0, 1 - z)^2,  0 <= a_i

A step makes one a_i optimal [Hsieh2008]; with s = 0 (hinge) or 1/(2 u_i) (squared hinge)

    a_i <- clip(a_i - (y_i w.x_i - 1 + s a_i) / (||x_i||^2 + s), 0, u_i or infinity).

The duality gap is a sum over examples of terms that are never negative,

    u loss(z) + conj(a) - a (1 - z),      conj(a) = a^2 / (4 u) or 0,

so every visit measures its part of it, and a pass over all examples certifies the whole. In such a
pass the weights lie feature by feature, (n_features, lanes): a row of X then serves all lanes with
one or two cache lines. Few examples matter to a lane (for most, a = 0 and the margin is kept), so
between passes each lane visits only those, with its own weights in one piece.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop, part


class Machines(NamedTuple):
    """The problems of a block, one in each lane."""

    indptr: Any  # (n + 1,) int64, the examples
    indices: Any  # uint32
    data: Any  # float
    norm2: Any  # (n,) float, squared norm of each row, the constant feature included
    bias: Any  # float, size of the constant feature
    sign: Any  # (n, lanes) int8, +1 where positive, else -1
    cost: Any  # (2, lanes) float, cost of negatives and of positives
    row_cost: Any  # (n,) float, weight of each example
    squared: Any  # bool, whether the hinge is squared


@loop
def sweep(machines, W, w_bias, alpha, stretch, loss, gap, needed, z):
    """Score every example in every lane: the loss and the gap of each lane, and who matters.

    W : (d, lanes), w_bias : (lanes,), alpha : (n, lanes) float
    stretch  : (m,) float  factors of the weights, the first is 1
    loss : (m, lanes), gap : (lanes,) float64  results, added to: the loss of stretched weights
    needed   : (n, lanes) bool   result: a > 0, or the margin falls short
    z        : (lanes,) float    work space
    """
    indptr, indices, data, _, bias, sign, cost, row_cost, squared = machines
    lanes = z.size  # not a constant: the compiler then vectorises the loops over lanes
    one, zero, quarter = W.dtype.type(1.0), W.dtype.type(0.0), W.dtype.type(0.25)
    for i in range(indptr.size - 1):
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for b in range(lanes):
            z[b] = bias * w_bias[b]
        for k in range(ix.size):
            w, x = W[ix[k]], xs[k]
            for b in range(lanes):
                z[b] += x * w[b]
        a, need, y, c = alpha[i], needed[i], sign[i], row_cost[i]
        for b in range(lanes):
            short = one - y[b] * z[b]  # by how much the margin falls short
            over = short if short > zero else zero
            u = c * (cost[1, b] if y[b] > 0 else cost[0, b])
            value = u * over * over if squared else u * over
            conj = quarter * a[b] * a[b] / u if squared else zero
            loss[0, b] += value
            gap[b] += value + conj - a[b] * short
            need[b] = (a[b] > zero) | (short > zero)
        for m in range(1, stretch.size):
            for b in range(lanes):
                short = one - stretch[m] * y[b] * z[b]
                over = short if short > zero else zero
                u = c * (cost[1, b] if y[b] > 0 else cost[0, b])
                loss[m, b] += u * over * over if squared else u * over


@loop
def epoch(order, machines, W, w_bias, alpha, needed, work):
    """Visit the rows in `order` once, each in all lanes.

    needed : (n, lanes) bool   result: a > 0 now, or the margin fell short at the visit
    work   : (2, lanes) float  work space; the rest as in `sweep`
    """
    indptr, indices, data, norm2, bias, sign, cost, row_cost, squared = machines
    z, step = work[0], work[1]
    lanes = z.size
    one, zero, half = W.dtype.type(1.0), W.dtype.type(0.0), W.dtype.type(0.5)
    for t in range(order.size):
        i = order[t]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for b in range(lanes):
            z[b] = bias * w_bias[b]
        for k in range(ix.size):
            w, x = W[ix[k]], xs[k]
            for b in range(lanes):
                z[b] += x * w[b]
        a, need, y, c, q, n_moved = alpha[i], needed[i], sign[i], row_cost[i], norm2[i], 0
        r = one / q if q > zero else W.dtype.type(np.inf)
        for b in range(lanes):
            short = one - y[b] * z[b]
            u = c * (cost[1, b] if y[b] > 0 else cost[0, b])
            if squared:
                s = half / u
                new = a[b] + (short - s * a[b]) / (q + s)
                new = new if new > zero else zero
            else:
                new = a[b] + short * r
                new = new if new > zero else zero
                new = new if new < u else u
            step[b] = (new - a[b]) * y[b]
            a[b] = new
            need[b] = (new > zero) | (short > zero)
            n_moved += step[b] != zero
        if n_moved > 0:
            for b in range(lanes):
                w_bias[b] += bias * step[b]
            for k in range(ix.size):
                w, x = W[ix[k]], xs[k]
                for b in range(lanes):
                    w[b] += x * step[b]


@loop(allocates=True)
def list_needed(needed, ptr, rows):
    """The rows that each lane needs, ascending, as CSR lists.

    ptr  : (lanes + 1,) int64  starts of the lists, known beforehand
    rows : (ptr[lanes],) int32  result
    """
    at = ptr[:-1].copy()
    for i in range(needed.shape[0]):
        for b in range(needed.shape[1]):
            if needed[i, b]:
                rows[at[b]] = i
                at[b] += 1


@loop
def transpose(source, target):
    """Copy a tall matrix into a wide one, or back, row by row of the tall one."""
    if source.shape[0] > source.shape[1]:
        for j in range(source.shape[0]):
            for b in range(source.shape[1]):
                target[b, j] = source[j, b]
    else:
        for j in range(target.shape[0]):
            for b in range(target.shape[1]):
                target[j, b] = source[b, j]


@part
def _descend_lane(rows, draws, n_epochs, target, machines, y, u, w, w_bias, a):
    """Visit the examples of one lane in random order, epoch after epoch; return the epochs.

    y, u, a : (m,) float  label, cost and dual variable of each example, reordered like `rows`
    target  : float       stop after an epoch whose measured gap is below this
    """
    indptr, indices, data, norm2, bias, _, _, _, squared = machines
    one, zero, half = w.dtype.type(1.0), w.dtype.type(0.0), w.dtype.type(0.5)
    for epoch in range(n_epochs):
        measured = 0.0
        for t in range(rows.size):
            other = t + int(draws[t] * (rows.size - t))
            rows[t], rows[other] = rows[other], rows[t]
            y[t], y[other] = y[other], y[t]
            u[t], u[other] = u[other], u[t]
            a[t], a[other] = a[other], a[t]
            i = rows[t]
            ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
            z = bias * w_bias[0]
            for k in range(ix.size):
                z += xs[k] * w[ix[k]]
            short = one - y[t] * z
            loss = short if short > zero else zero
            if squared:
                s = half / u[t]
                measured += u[t] * loss * loss + half * s * a[t] * a[t] - a[t] * short
                new = a[t] + (short - s * a[t]) / (norm2[i] + s)
                new = new if new > zero else zero
            else:
                measured += u[t] * loss - a[t] * short
                new = a[t] + short / norm2[i] if norm2[i] > zero else u[t]
                new = new if new > zero else zero
                new = new if new < u[t] else u[t]
            step = (new - a[t]) * y[t]
            a[t] = new
            if step != zero:
                w_bias[0] += bias * step
                for k in range(ix.size):
                    w[ix[k]] += xs[k] * step
        if measured <= target:
            return epoch + 1
    return n_epochs


@loop(allocates=True)
def descend(list_ptr, list_rows, draws, n_epochs, target, machines, WT, w_bias, alpha, n_visits):
    """Let every lane visit the examples in its list until its measured gap is below its target.

    list_ptr, list_rows : CSR lists of rows, one per lane; reordered
    draws    : (longest list,) float64  uniform in [0, 1): the permutation of every epoch
    target   : (lanes,) float64
    WT       : (lanes, d) float  the weights of each lane in one piece; updated
    w_bias   : (lanes,) float, alpha : (n, lanes) float   updated
    n_visits : (lanes,) int64    result: visits made
    """
    sign, cost, row_cost = machines.sign, machines.cost, machines.row_cost
    for b in range(target.size):
        rows = list_rows[list_ptr[b] : list_ptr[b + 1]]
        y = np.empty(rows.size, WT.dtype)
        u, a = np.empty_like(y), np.empty_like(y)
        for t in range(rows.size):
            i = rows[t]
            y[t], a[t] = sign[i, b], alpha[i, b]
            u[t] = cost[1 if sign[i, b] > 0 else 0, b] * row_cost[i]
        n_visits[b] = rows.size * _descend_lane(
            rows, draws, n_epochs, target[b], machines, y, u, WT[b], w_bias[b : b + 1], a
        )
        for t in range(rows.size):
            alpha[rows[t], b] = a[t]


@loop(allocates=True)
def add_examples(indptr, indices, data, bias, sign, alpha, W, w_bias):
    """Add ``sum_i alpha_i y_i x_i`` to the weights of every lane; rows of zeros are passed over.

    sign : (n, lanes) int8, alpha : (n, lanes) float, W : (d, lanes), w_bias : (lanes,)  updated
    """
    lanes = W.shape[1]
    step = np.empty(lanes, W.dtype)
    for i in range(indptr.size - 1):
        n_moved = 0
        for b in range(lanes):
            step[b] = alpha[i, b] * sign[i, b]
            n_moved += step[b] != 0
        if n_moved == 0:
            continue
        for b in range(lanes):
            w_bias[b] += bias * step[b]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for k in range(ix.size):
            w, x = W[ix[k]], xs[k]
            for b in range(lanes):
                w[b] += x * step[b]


@loop
def distances(W, w_bias, mean, away2, along):
    """||w - m||^2 and <w - m, m> of every lane, the constant feature included.

    W : (d, lanes), w_bias : (lanes,), mean : (lanes, d + 1) float
    away2, along : (lanes,) float64  results, zero beforehand
    """
    d, lanes = W.shape
    for j in range(d):
        for b in range(lanes):
            u = W[j, b] - mean[b, j]
            away2[b] += u * u
            along[b] += u * mean[b, j]
    for b in range(lanes):
        u = w_bias[b] - mean[b, d]
        away2[b] += u * u
        along[b] += u * mean[b, d]


@loop
def norms(W, w_bias, norm2):
    """||w||^2 of every lane, the constant feature included.

    W : (d, lanes), w_bias : (lanes,) float; norm2 : (lanes,) float64  result, zero beforehand
    """
    for j in range(W.shape[0]):
        for b in range(W.shape[1]):
            norm2[b] += W[j, b] * W[j, b]
    for b in range(W.shape[1]):
        norm2[b] += w_bias[b] * w_bias[b]
