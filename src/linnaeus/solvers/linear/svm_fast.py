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
between passes each lane visits only those, with its own weights in one piece. Who they are is seen
from y w.x of the last visit: what changes most is the constant, which is added when it is asked.
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


@part
def _products(ix, xs, W, z):
    """z = w.x of one row in every lane, four features at a time."""
    for b in range(z.size):
        z[b] = 0
    whole = ix.size - ix.size % 4
    for k in range(0, whole, 4):
        p, q, r, s = W[ix[k]], W[ix[k + 1]], W[ix[k + 2]], W[ix[k + 3]]
        x, y, u, v = xs[k], xs[k + 1], xs[k + 2], xs[k + 3]
        for b in range(z.size):
            z[b] += (x * p[b] + y * q[b]) + (u * r[b] + v * s[b])
    for k in range(whole, ix.size):
        w, x = W[ix[k]], xs[k]
        for b in range(z.size):
            z[b] += x * w[b]


@loop
def impacts(indptr, indices, data, rows, cost, w, out):
    """Write twice what the objective rises by without a weight, others being kept: w^2 (1 + h).

    rows, cost : the examples that matter, and 2 C of each; h is the curvature of their losses
    out : (d,), of all features
    """
    for j in range(out.size):
        out[j] = 1.0 if w[j] != 0 else 0.0
    for r in range(rows.size):
        i, c = rows[r], cost[r]
        for p in range(indptr[i], indptr[i + 1]):
            out[indices[p]] += c * data[p] * data[p]
    for j in range(out.size):
        out[j] *= w[j] * w[j]


@loop
def sweep(machines, W, w_bias, alpha, stretch, loss, gap, needed, kept):
    """Score every example in every lane: the loss and the gap of each lane, and who matters.

    W : (d, lanes), w_bias : (lanes,), alpha : (n, lanes) float
    stretch  : (m,) float  factors of the weights, the first is 1
    loss : (m, lanes), gap : (lanes,) float64  results, added to: the loss of stretched weights
    needed   : (n, lanes) bool   result: a > 0, or the margin falls short
    kept     : (n, lanes) float  result: y w.x, the constant feature left out
    """
    indptr, indices, data, _, bias, sign, cost, row_cost, squared = machines
    lanes = w_bias.size  # not a constant: the compiler then vectorises the loops over lanes
    one, zero, quarter = W.dtype.type(1.0), W.dtype.type(0.0), W.dtype.type(0.25)
    for i in range(indptr.size - 1):
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        z = kept[i]
        _products(ix, xs, W, z)
        a, need, y, c = alpha[i], needed[i], sign[i], row_cost[i]
        for b in range(lanes):
            z[b] *= y[b]
            short = one - (z[b] + y[b] * (bias * w_bias[b]))  # by how much the margin falls short
            over = short if short > zero else zero
            u = c * (cost[1, b] if y[b] > 0 else cost[0, b])
            value = u * over * over if squared else u * over
            conj = quarter * a[b] * a[b] / u if squared else zero
            loss[0, b] += value
            gap[b] += value + conj - a[b] * short
            need[b] = (a[b] > zero) | (short > zero)
        for m in range(1, stretch.size):
            for b in range(lanes):
                short = one - stretch[m] * (z[b] + y[b] * (bias * w_bias[b]))
                over = short if short > zero else zero
                u = c * (cost[1, b] if y[b] > 0 else cost[0, b])
                loss[m, b] += u * over * over if squared else u * over


@loop
def epoch(order, machines, W, w_bias, alpha, kept, step):
    """Visit the rows in `order` once, each in all lanes.

    step : (lanes,) float  work space; the rest as in `sweep`
    """
    indptr, indices, data, norm2, bias, sign, cost, row_cost, squared = machines
    lanes = step.size
    one, zero, half = W.dtype.type(1.0), W.dtype.type(0.0), W.dtype.type(0.5)
    for t in range(order.size):
        i = order[t]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        z = kept[i]
        _products(ix, xs, W, z)
        a, y, c, q, n_moved = alpha[i], sign[i], row_cost[i], norm2[i], 0
        r = one / q if q > zero else W.dtype.type(np.inf)
        for b in range(lanes):
            z[b] *= y[b]
            short = one - (z[b] + y[b] * (bias * w_bias[b]))
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
            n_moved += step[b] != zero
        if n_moved > 0:
            for b in range(lanes):
                w_bias[b] += bias * step[b]
            for k in range(ix.size):
                w, x = W[ix[k]], xs[k]
                for b in range(lanes):
                    w[b] += x * step[b]


@part
def _descend_lane(rows, draws, n_epochs, target, machines, u, w, w_bias, y, a, kept):
    """Visit the examples of one lane in random order, epoch after epoch; return the epochs needed.

    u : (2,) float  cost of negatives and of positives
    y, a, kept : (at least m,) float  label, dual variable and y w.x of each, reordered like `rows`
    """
    indptr, indices, data, norm2, bias, _, _, row_cost, squared = machines
    one, zero, half = w.dtype.type(1.0), w.dtype.type(0.0), w.dtype.type(0.5)
    for epoch in range(n_epochs):
        gap = objective = 0.0
        for t in range(rows.size):
            other = t + int(draws[t] * (rows.size - t))
            rows[t], rows[other] = rows[other], rows[t]
            y[t], y[other] = y[other], y[t]
            a[t], a[other] = a[other], a[t]
            i = rows[t]
            ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
            z, v, whole = zero, zero, ix.size - ix.size % 4
            for k in range(0, whole, 4):
                z += xs[k] * w[ix[k]] + xs[k + 1] * w[ix[k + 1]]
                v += xs[k + 2] * w[ix[k + 2]] + xs[k + 3] * w[ix[k + 3]]
            for k in range(whole, ix.size):
                z += xs[k] * w[ix[k]]
            z += v
            kept[t] = y[t] * z
            short = one - y[t] * (z + bias * w_bias[0])
            loss = short if short > zero else zero
            c, old = row_cost[i] * (u[1] if y[t] > zero else u[0]), a[t]
            if squared:
                s, loss = half / c, c * loss * loss
                gap += half * s * old * old
                new = old + (short - s * old) / (norm2[i] + s)
            else:
                loss *= c
                new = old + short / norm2[i] if norm2[i] > zero else c
                new = new if new < c else c
            new = new if new > zero else zero
            gap += loss - old * short
            objective += loss + half * old * (one - short)
            a[t], step = new, (new - old) * y[t]
            if step != zero:
                w_bias[0] += bias * step
                for k in range(ix.size):
                    w[ix[k]] += xs[k] * step
        if gap <= target[0] or gap <= target[1] * objective:
            return epoch + 1
    return n_epochs + 1


@loop
def descend(ptr, lists, draws, n_epochs, target, machines, WT, w_bias, alpha, kept, work, done):
    """Let every lane visit the examples in its list until its measured gap is small enough.

    ptr, lists : CSR lists of rows, one per lane; reordered
    draws    : (longest list,) float64  uniform in [0, 1): the permutation of every epoch
    target   : (lanes, 2) float64       a gap that is enough, and a share of the objective that is
    WT       : (lanes, d) float  the weights of each lane in one piece; updated
    w_bias   : (lanes,) float, alpha, kept : (n, lanes) float   updated
    work     : (3, longest list) float  work space
    done     : (lanes,) int64    result: epochs needed, one more than n_epochs if those did not do
    """
    sign, cost, y, a, s = machines.sign, machines.cost, work[0], work[1], work[2]
    for b in range(done.size):
        rows = lists[ptr[b] : ptr[b + 1]]
        for t in range(rows.size):
            y[t], a[t] = sign[rows[t], b], alpha[rows[t], b]
        done[b] = _descend_lane(
            rows, draws, n_epochs, target[b], machines, cost[:, b], WT[b], w_bias[b : b + 1],
            y, a, s,
        )  # fmt: skip
        for t in range(rows.size):
            alpha[rows[t], b], kept[rows[t], b] = a[t], s[t]


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
