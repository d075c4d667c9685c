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

from numba import njit

REPEATS = 3  # visits of a lane to an example while its features are at hand
SURE = -0.3  # by how much a margin is kept that is not looked at until the next sweep


@njit(cache=True, nogil=True)
def epoch(order, indptr, indices, data, norm2, bias, sign, cost, row_cost, squared, relax, K,
          K_bias, W, w_bias, alpha, needed, work):  # fmt: skip
    """Visit the rows in `order` once, each in all lanes one after the other, and again.

    norm2    : (n,) float        squared norm of each row, without the constant feature
    sign     : (n, lanes) int8   +1 where positive, else -1
    cost     : (2, lanes) float  cost of negatives and of positives
    row_cost : (n,) float        weight of each example
    K, K_bias : (lanes, lanes) float, for features and for the constant
    W : (d, lanes), w_bias : (lanes,), alpha : (n, lanes) float   updated
    needed   : (n, lanes) bool   result: a > 0 now, or the margin fell short at the visit
    work     : (3, lanes) float  work space
    """
    z, move, move_bias = work[0], work[1], work[2]
    lanes = z.size
    kind = W.dtype.type
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
        a, need, y, c, q, n_moved = alpha[i], needed[i], sign[i], row_cost[i], norm2[i], 0
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
            for k in range(ix.size):
                w, x = W[ix[k]], xs[k]
                for b in range(lanes):
                    w[b] += x * move[b]


@njit(cache=True, nogil=True)
def _weights(rows, a, y, indptr, indices, data, bias, over_S, path, share, common, w):
    """The weights of a lane, the constant feature last: v / S and what it has in common."""
    w[:] = 0
    for p in range(path.size):
        c, row = share[p], common[path[p]]
        for j in range(w.size):
            w[j] += c * row[j]
    for t in range(rows.size):
        if a[t] != 0:
            i, f = rows[t], a[t] * y[t] * over_S
            ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
            for k in range(ix.size):
                w[ix[k]] += f * xs[k]
            w[w.size - 1] += f * bias


@njit(cache=True, nogil=True)
def _visit_lane(live, rows, a, y, before, draws, indptr, indices, data, norm2, bias, cost, row_cost,
                squared, relax, k, k_bias, w):  # fmt: skip
    """Visit the first `live` examples of a lane in random order; return how many stay, and the gap.

    An example with a = 0 whose margin is kept by far is put behind the others until the next
    sweep.
    """
    kind = w.dtype.type
    one, zero, half, last = kind(1.0), kind(0.0), kind(0.5), w.size - 1
    bias2 = bias * bias * k_bias
    measured, t = 0.0, 0
    while t < live:
        other = t + int(draws[t] * (live - t))
        rows[t], rows[other] = rows[other], rows[t]
        y[t], y[other] = y[other], y[t]
        a[t], a[other] = a[other], a[t]
        before[t], before[other] = before[other], before[t]
        i = rows[t]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        z = bias * w[last]
        for j in range(ix.size):
            z += xs[j] * w[ix[j]]
        short = one - y[t] * z
        loss = short if short > zero else zero
        u = row_cost[i] * (cost[1] if y[t] > 0 else cost[0])
        s = half / u if squared else zero
        if squared:
            measured += u * loss * loss + half * s * a[t] * a[t] - a[t] * short
        else:
            measured += u * loss - a[t] * short
        curve = k * norm2[i] + bias2 + s
        new = a[t] + relax * (short - s * a[t]) / curve if curve > zero else u
        new = new if new > zero else zero
        new = new if squared or new < u else u
        step = (new - a[t]) * y[t]
        if step != zero:
            a[t] = new
            w[last] += k_bias * bias * step
            f = k * step
            for j in range(ix.size):
                w[ix[j]] += f * xs[j]
        elif new == zero and short < kind(SURE):
            live -= 1
            rows[t], rows[live] = rows[live], rows[t]
            y[t], y[live] = y[live], y[t]
            a[t], a[live] = a[live], a[t]
            before[t], before[live] = before[live], before[t]
            continue
        t += 1
    return live, measured


@njit(cache=True, nogil=True)
def visit(lanes, ptr, live, rows, a, y, before, draws, indptr, indices, data, norm2, bias, cost,
          row_cost, squared, relax, over_S, k, k_bias, share_bias, path_ptr, path, share, common,
          work, measured):  # fmt: skip
    """Visit every lane once, in the order of `lanes`; return sum over lanes of ||dv||^2 / S.

    ptr, rows, a, y : CSR lists of examples, dual variables and labels of each lane; reordered
    before : dual variables of an earlier time, reordered likewise
    live   : (lanes,) int64         how many of each list are visited; updated
    draws  : (longest list,) float64  uniform in [0, 1)
    over_S, k, k_bias : (lanes,)    1 / S, K_bb, and the K_bb of the constant
    path_ptr, path, share : CSR rows of B, columns are rows of `common`
    common : (m, d + 1) float       D = B' V; updated
    work   : (2, d + 1) float; measured : (lanes,) float64  result: the gap seen
    """
    w, dv = work[0], work[1]
    last, size = w.size - 1, 0.0
    one = w.dtype.type(1.0)
    for q in range(lanes.size):
        b = lanes[q]
        here = slice(ptr[b], ptr[b + 1])
        mine = slice(path_ptr[b], path_ptr[b + 1])
        _weights(rows[here], a[here], y[here], indptr, indices, data, bias, over_S[b],
                 path[mine], share[mine], common, w)  # fmt: skip
        dv[:] = w
        live[b], measured[b] = _visit_lane(
            live[b], rows[here], a[here], y[here], before[here], draws, indptr, indices, data,
            norm2, bias, cost[:, b], row_cost, squared, relax, k[b], k_bias[b], w,
        )  # fmt: skip
        f = one / k[b]
        for j in range(last):
            dv[j] = (w[j] - dv[j]) * f
            size += dv[j] * dv[j] * over_S[b]
        dv[last] = (w[last] - dv[last]) / k_bias[b]
        size += dv[last] * dv[last] * over_S[b]
        if not share_bias:
            dv[last] = 0
        for p in range(path_ptr[b], path_ptr[b + 1]):
            c, row = share[p], common[path[p]]
            for j in range(w.size):
                row[j] += c * dv[j]
    return size
