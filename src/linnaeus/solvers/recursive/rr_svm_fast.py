# mypy: ignore-errors
"""Dual coordinate descent for support vector machines whose weights lean on each other.

Every lane b of a block is one class. With a symmetric positive matrix K over the classes,

    w_b = sum_c K_bc v_c,      v_c = sum_i a_ic y_ic x_i,      K = diag(1 / S) + B B',

and a step makes one a_ib optimal while all others are kept; over-relaxed by a factor in (0, 2) it
still ascends. With s = 0 (hinge) or 1/(2 u) (squared hinge)

    a <- clip(a + relax (1 - y w_b.x - s a) / (K_bb ||x||^2 + s), 0, u or infinity).

What classes have in common is kept in D = B' V, one row per column of B: a lane reads its weights
as w_b = v_b / S_b + B_b D, and writes B_b (new v_b - old v_b) back. The constant feature may have
a matrix of its own: its share is `own` instead of K (then rows of D hold zero there).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop, part

REPEATS = 3  # visits of a lane to an example while its features are at hand
SURE = -0.3  # by how much a margin is kept that is not looked at until the next sweep


class JointRows(NamedTuple):
    """The examples; norm2 without the constant feature."""

    indptr: Any
    indices: Any
    data: Any
    norm2: Any  # (n,)
    weight: Any  # (n,)


class JointLoss(NamedTuple):
    """What a step needs besides the examples."""

    cost: Any  # (2, lanes) of negatives and of positives
    squared: bool
    relax: Any
    bias: Any
    share_bias: bool


class JointLanes(NamedTuple):
    """What each lane has in common with others: CSR rows of B, and its diagonals."""

    ptr: Any
    path: Any  # columns of B: rows of D
    share: Any
    over_S: Any  # (lanes,) 1 / S
    k: Any  # (lanes,) K_bb
    k_bias: Any  # (lanes,) that of the constant


class JointDuals(NamedTuple):
    """CSR lists of examples, dual variables and labels of each lane, and of its features."""

    ptr: Any
    live: Any  # (lanes,) how many are visited
    order: Any  # those that are come first
    rows: Any
    a: Any
    y: Any
    numbered: Any  # from here on see `number_features`
    feature_ptr: Any
    at: Any
    ids: Any
    feature: Any


@part
def _add_row(ix, xs, move, W):
    """W += (features of a row) (move)': one number for every lane."""
    for k in range(ix.size):
        w, x = W[ix[k]], xs[k]
        for b in range(move.size):
            w[b] += x * move[b]


@loop(allocates=True)
def epoch(order, rows, sign, loss, K, K_bias, W, w_bias, alpha, needed):
    """Visit the rows in `order` once, each in all lanes one after the other, and again.

    rows : `JointRows`;  loss : `JointLoss`
    sign     : (n, lanes) int8   +1 where positive, else -1
    K, K_bias : (lanes, lanes) float, for features and for the constant
    W : (d, lanes), w_bias : (lanes,), alpha : (n, lanes) float   updated
    needed   : (n, lanes) bool   result: a > 0 now, or the margin fell short at the visit
    """
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    cost, squared, relax, bias = loss.cost, loss.squared, loss.relax, loss.bias
    lanes, kind = w_bias.size, W.dtype.type
    z, move, move_bias = (
        np.empty(lanes, W.dtype),
        np.empty(lanes, W.dtype),
        np.empty(lanes, W.dtype),
    )
    one, zero, half, bias2 = kind(1.0), kind(0.0), kind(0.5), bias * bias
    for t in range(order.size):
        i = order[t]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for b in range(lanes):
            z[b] = bias * w_bias[b]
            move[b] = zero
            move_bias[b] = zero
        for k in range(ix.size):
            w, x = W[ix[k]], xs[k]
            for b in range(lanes):
                z[b] += x * w[b]
        a, need, y, n_moved = alpha[i], needed[i], sign[i], 0
        c, q = rows.weight[i], rows.norm2[i]
        need[:] = False
        for _ in range(REPEATS):
            for b in range(lanes):
                short = one - y[b] * (z[b] + q * move[b] + bias2 * move_bias[b])
                u = c * (cost[1, b] if y[b] > 0 else cost[0, b])
                s = half / u if squared else zero
                curve = K[b, b] * q + K_bias[b, b] * bias2 + s
                new = a[b] + relax * (short - s * a[b]) / curve if curve > zero else u
                new = new if new > zero else zero
                new = new if squared or new < u else u
                step = (new - a[b]) * y[b]
                a[b] = new
                need[b] |= (new > zero) | (short > zero)
                if step != zero:
                    n_moved += 1
                    for c2 in range(lanes):
                        move[c2] += K[b, c2] * step
                        move_bias[c2] += K_bias[b, c2] * step
        if n_moved > 0:
            for b in range(lanes):
                w_bias[b] += bias * move_bias[b]
            _add_row(ix, xs, move, W)


@loop
def count_features(ptr, rows, indptr, indices, stamp, n_tokens, n_features):
    """The nonzeros of the rows of each lane, and how many features they have.

    stamp : (d,) int64, zero beforehand; n_tokens, n_features : (lanes,) int64  results
    """
    for b in range(n_tokens.size):
        n_tokens[b] = n_features[b] = 0
        for t in range(ptr[b], ptr[b + 1]):
            for k in range(indptr[rows[t]], indptr[rows[t] + 1]):
                n_features[b] += stamp[indices[k]] != b + 1
                stamp[indices[k]] = b + 1
            n_tokens[b] += indptr[rows[t] + 1] - indptr[rows[t]]


@loop
def number_features(
    ptr, rows, indptr, indices, numbered, feature_ptr, among, at, ids, feature, place
):
    """Number the features of each lane anew, in ascending order, the constant feature last.

    numbered    : (lanes,) bool   whether a lane has numbers of its own
    feature_ptr : (lanes + 1,)    starts of the lists of features, known beforehand
    among       : ascending features, all that there are
    at, ids     : result: ids[at[t] : ] are the numbers of the features of rows[t]; those in
        `indices` for a lane that has no numbers of its own
    feature     : result: number -> feature
    place       : (d,) int64, zero beforehand
    """
    d, done = place.size, 0
    for b in range(numbered.size):
        if not numbered[b]:
            for t in range(ptr[b], ptr[b + 1]):
                at[t] = indptr[rows[t]]
            continue
        for t in range(ptr[b], ptr[b + 1]):
            for k in range(indptr[rows[t]], indptr[rows[t] + 1]):
                place[indices[k]] = -1
        mine, n = feature[feature_ptr[b] : feature_ptr[b + 1]], 0
        for q in range(among.size):
            j = among[q]
            if place[j] == -1:
                place[j], mine[n] = n, j
                n += 1
        mine[n] = d
        for t in range(ptr[b], ptr[b + 1]):
            at[t] = done
            for k in range(indptr[rows[t]], indptr[rows[t] + 1]):
                ids[done] = place[indices[k]]
                done += 1


@part
def _weights(b, here, rows, duals, bias, node, common, names, ids, w):
    """The weights of lane b at its features: v / S and what it has in common."""
    w[:] = 0
    for p in range(node.ptr[b], node.ptr[b + 1]):
        c, row = node.share[p], common[node.path[p]]
        for t in range(w.size):
            w[t] += c * row[names[t]]
    last, own, at = w.size - 1, duals.rows[here], duals.at[here]
    a, y, over_S = duals.a[here], duals.y[here], node.over_S[b]
    for t in range(own.size):
        if a[t] != 0:
            x = rows.data[rows.indptr[own[t]] : rows.indptr[own[t] + 1]]
            ix, f = ids[at[t] : at[t] + x.size], a[t] * y[t] * over_S
            for k in range(x.size):
                w[ix[k]] += f * x[k]
            w[last] += f * bias


@part
def _visit_lane(b, here, examples, duals, loss, node, draws, ids, w):
    """Visit the first `live` examples of lane b in `order`, at random.

    Return how many stay, and the gap and the objective as far as they were seen.

    An example with a = 0 whose margin is kept by far is put behind the others until the next
    sweep.
    """
    order, rows, at = duals.order[here], duals.rows[here], duals.at[here]
    a, y, live = duals.a[here], duals.y[here], duals.live[b]
    indptr, data, norm2 = examples.indptr, examples.data, examples.norm2
    row_cost, cost, squared, bias = examples.weight, loss.cost, loss.squared, loss.bias
    relax, k, k_bias = loss.relax, node.k[b], node.k_bias[b]
    kind = w.dtype.type
    one, zero, half, last = kind(1.0), kind(0.0), kind(0.5), w.size - 1
    bias2 = bias * bias * k_bias
    gap, value, t = 0.0, 0.0, 0
    while t < live:
        other = t + int(draws[t] * (live - t))
        order[t], order[other] = order[other], order[t]
        e = order[t]
        i = rows[e]
        x = data[indptr[i] : indptr[i + 1]]
        ix = ids[at[e] : at[e] + x.size]
        z = bias * w[last]
        for j in range(x.size):
            z += x[j] * w[ix[j]]
        short = one - y[e] * z
        over = short if short > zero else zero
        u = row_cost[i] * (cost[1, b] if y[e] > 0 else cost[0, b])
        s = half / u if squared else zero
        lost = u * over * over if squared else u * over
        gap += lost + half * s * a[e] * a[e] - a[e] * short
        value += lost + half * a[e] * (one - short)
        curve = k * norm2[i] + bias2 + s
        new = a[e] + relax * (short - s * a[e]) / curve if curve > zero else u
        new = new if new > zero else zero
        new = new if squared or new < u else u
        step = (new - a[e]) * y[e]
        if step != zero:
            a[e] = new
            w[last] += k_bias * bias * step
            f = k * step
            for j in range(x.size):
                w[ix[j]] += f * x[j]
        elif new == zero and short < kind(SURE):
            live -= 1
            order[t], order[live] = order[live], order[t]
            continue
        t += 1
    return live, gap, value


@loop(allocates=True)
def visit(lanes, rows, duals, loss, node, draws, common, measured):
    """Visit every lane once, in the order of `lanes`; return sum over lanes of ||dv||^2 / S.

    rows : `JointRows`;  loss : `JointLoss`;  node : `JointLanes`
    duals  : `JointDuals`, of which a, order and live are updated
    draws  : (longest list,) float64  uniform in [0, 1)
    common : (m, d + 1) float       D = B' V; updated
    measured : (2, lanes) float64   result: the gap and the objective seen
    """
    d, size = common.shape[1] - 1, 0.0
    every = np.arange(d + 1).astype(np.uint32)
    w_all, dv = np.empty(d + 1, rows.data.dtype), np.empty(d + 1, rows.data.dtype)
    for q in range(lanes.size):
        b = lanes[q]
        here = slice(duals.ptr[b], duals.ptr[b + 1])
        mine = slice(duals.feature_ptr[b], duals.feature_ptr[b + 1])
        names = duals.feature[mine] if duals.numbered[b] else every
        ids = duals.ids if duals.numbered[b] else rows.indices
        n, k, k_bias = names.size, node.k[b], node.k_bias[b]
        w = w_all[:n]
        _weights(b, here, rows, duals, loss.bias, node, common, names, ids, w)
        for t in range(n):
            dv[t] = w[t]
        duals.live[b], measured[0, b], measured[1, b] = _visit_lane(
            b, here, rows, duals, loss, node, draws, ids, w
        )
        for t in range(n):
            dv[t] = (w[t] - dv[t]) / (k if t < n - 1 else k_bias)
            size += dv[t] * dv[t] * node.over_S[b]
        if not loss.share_bias:
            dv[n - 1] = 0
        for p in range(node.ptr[b], node.ptr[b + 1]):
            c, row = node.share[p], common[node.path[p]]
            for t in range(n):
                row[names[t]] += c * dv[t]
    return size
