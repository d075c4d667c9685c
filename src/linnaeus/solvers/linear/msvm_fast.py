# mypy: ignore-errors
"""One example at a time in the dual of the Crammer-Singer machine.

Example i of class t has multipliers u_k >= 0, k != t, with sum_k u_k <= c; with a = sum_k u_k

    w_t = ... + a x,     w_k = ... - u_k x,     h_k = 1 + w_k.x - w_t.x,

its loss is max(0, max_k h_k), and its part of the duality gap is c loss - sum_k u_k h_k >= 0.
A visit makes all u_k of one example optimal. With q = ||x||^2, D_k = h_k + q u_k and B = -q a, all
at the old values, the minimum of the quadratic sub-problem is

    u_k = max(0, D_k - beta) / q,     sum_k max(0, D_k - beta) = min(q c, beta - B):

beta is the one root of a decreasing, piecewise linear function. Newton's method from the left finds
it exactly, after finitely many steps.

Few u_k are positive, and each example keeps a list of those classes. A full pass scores all classes
of an example; weights lie feature by feature, so that every feature reads contiguous memory. A
short pass scores and moves the listed classes only, and leaves out examples without any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop, part


class MulticlassProblem(NamedTuple):
    """The examples and their costs."""

    indptr: Any  # (n + 1,) int64
    indices: Any  # (nnz,) uint32
    data: Any  # (nnz,) float, the type of the weights
    bias: Any  # float of the same type: size of the constant feature
    target: Any  # (n,) uint32, class of each example
    cost: Any  # (n,) float64
    norm2: Any  # (n,) float64, squared norm with the constant feature
    n_classes: Any  # int


class Lists(NamedTuple):
    """The classes with positive multipliers: of example i at begin[i] : begin[i] + size[i]."""

    begin: Any  # (n + 1,) int64, where the room of each example begins
    size: Any  # (n,) int64
    classes: Any  # (room,) uint32
    u: Any  # (room,) float64
    wants: Any  # (n,) bool, whether a full pass found more classes than there was room for


class MulticlassWork(NamedTuple):
    """Scratch of a visit; slot 0 of `classes` and `step` is the example's own class."""

    scores: Any  # (width,) float
    classes: Any  # (n_classes + 1,) uint32
    step: Any  # (n_classes + 1,) float
    moved: Any  # (n_classes + 1,) uint32
    h: Any  # (n_classes,) float64
    D: Any  # (n_classes,) float64
    u: Any  # (n_classes,) float64
    new: Any  # (n_classes,) float64


@part
def score_all(W, bias, ix, xs, s):
    """``s = W'x`` for all classes; four features at a time, so that `s` is read less often."""
    width, constant = s.size, W[W.shape[0] - 1]
    for k in range(width):
        s[k] = bias * constant[k]
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


@part
def score_listed(W, bias, ix, xs, classes, m, s):
    """``s[j] = w_classes[j].x`` for j < m; four classes at a time, the last repeated."""
    constant = W[W.shape[0] - 1]
    for j in range(0, m, 4):
        j1, j2, j3 = min(j + 1, m - 1), min(j + 2, m - 1), min(j + 3, m - 1)
        k0, k1, k2, k3 = classes[j], classes[j1], classes[j2], classes[j3]
        s0, s1 = bias * constant[k0], bias * constant[k1]
        s2, s3 = bias * constant[k2], bias * constant[k3]
        for p in range(ix.size):
            w, x = W[ix[p]], xs[p]
            s0 += x * w[k0]
            s1 += x * w[k1]
            s2 += x * w[k2]
            s3 += x * w[k3]
        s[j3], s[j2], s[j1], s[j] = s3, s2, s1, s0


@part
def add_listed(W, bias, ix, xs, classes, step, m):
    """``w_classes[j] += step[j] x`` for j < m."""
    for p in range(ix.size):
        w, x = W[ix[p]], xs[p]
        for j in range(m):
            w[classes[j]] += step[j] * x
    w = W[W.shape[0] - 1]
    for j in range(m):
        w[classes[j]] += step[j] * bias


@part
def root(D, m, beta, shift, extra):
    """The beta with ``sum_j max(0, D_j - beta) = extra beta - shift``, from one not above it."""
    count = m + 2
    while True:
        total, above = shift, extra
        for j in range(m):
            if D[j] > beta:
                total += D[j]
                above += 1
        if above >= count or above == 0:
            return beta
        count, beta = above, total / above


@part
def level(h, u, m, q, c, D):
    """The level beta of one example over m classes, and what to add to it and to D.

    h, u : (m,) float64  h_k and the multipliers before;   q, c : ||x||^2 > 0 and the cost
    D    : (m,) float64  result, relative to its largest entry: exact also for tiny q c
    """
    if m == 0:
        return 0.0, 0.0
    a, top = 0.0, -np.inf
    for j in range(m):
        a += u[j]
        D[j] = h[j] + q * u[j]
        top = max(top, D[j])
    for j in range(m):
        D[j] -= top
    B = -q * a - top
    beta = root(D, m, -np.inf, B, 1)
    if beta - B > q * c:  # the multipliers use up the whole cost
        beta = root(D, m, beta, -q * c, 0)
    return beta, top


@loop
def solve_block(h, u, m, q, c, D, new):
    """Write the optimal multipliers of one example over m classes into `new`; see `level`."""
    beta, _ = level(h, u, m, q, c, D)
    for j in range(m):
        new[j] = max(0.0, D[j] - beta) / q


@part
def visit(problem, W, i, m, still, work):
    """Settle example i over ``work.classes[1 : m + 1]``; whether any weight moved.

    `work.h` and `work.u` are given, `work.new` is the result. Changes that are no larger than
    `still` times the multipliers are not worth making.
    """
    u, new, classes, step = work.u, work.new, work.classes, work.step
    solve_block(work.h, u, m, problem.norm2[i], problem.cost[i], work.D, new)
    size, largest, change = 0.0, 0.0, 0.0
    for j in range(m):
        size += max(u[j], new[j])
        largest = max(largest, abs(new[j] - u[j]))
        change += new[j] - u[j]
    if largest <= still * size:
        for j in range(m):
            new[j] = u[j]
        return False
    moved, count = work.moved, 1
    moved[0], step[0] = classes[0], change
    for j in range(m):
        if new[j] != u[j]:
            moved[count], step[count] = classes[j + 1], u[j] - new[j]
            count += 1
    b, e = problem.indptr[i], problem.indptr[i + 1]
    add_listed(W, problem.bias, problem.indices[b:e], problem.data[b:e], moved, step, count)
    return True


@part
def read_list(problem, lists, i, work):
    """Copy the list of example i into the scratch; its length."""
    b, m = lists.begin[i], lists.size[i]
    work.classes[0] = problem.target[i]
    for j in range(m):
        work.classes[j + 1] = lists.classes[b + j]
        work.u[j] = lists.u[b + j]
    return m


@loop
def add_lists(problem, lists, W, work):
    """Add to W what the multipliers in the lists make of it."""
    for i in range(problem.target.size):
        m = read_list(problem, lists, i, work)
        a = 0.0
        for j in range(m):
            a += work.u[j]
            work.step[j + 1] = -work.u[j]
        work.step[0] = a
        b, e = problem.indptr[i], problem.indptr[i + 1]
        ix, xs = problem.indices[b:e], problem.data[b:e]
        add_listed(W, problem.bias, ix, xs, work.classes, work.step, m + 1)


@part
def measure_all(problem, W, i, m, work):
    """Score all classes of example i: `work.scores` becomes h. Its loss, and sum_k u_k h_k."""
    b, e = problem.indptr[i], problem.indptr[i + 1]
    s, t = work.scores, problem.target[i]
    score_all(W, problem.bias, problem.indices[b:e], problem.data[b:e], s)
    shift = s[t] - W.dtype.type(1.0)
    s[t] = -np.inf
    top = s[0]
    for k in range(1, problem.n_classes):
        top = max(top, s[k])
    earned = 0.0
    for j in range(m):
        work.h[j] = s[work.classes[j + 1]] - shift
        earned += work.u[j] * work.h[j]
    for k in range(problem.n_classes):
        s[k] -= shift
    return max(0.0, top - shift), earned


@part
def enter(n_classes, m, room, beta, work):
    """Append the classes with h_k > beta to the m listed ones; how many are wanted in all.

    Where there is no room for all, the first `room` are the listed ones and the best of the rest.
    """
    s, h, classes = work.scores, work.h, work.classes
    for j in range(m):
        s[classes[j + 1]] = -np.inf
    wanted = m
    for k in range(n_classes):
        if s[k] > beta:
            h[wanted], classes[wanted + 1] = s[k], k
            wanted += 1
    if wanted > room:
        for j in range(m, room):
            best = j
            for r in range(j + 1, wanted):
                if h[r] > h[best]:
                    best = r
            h[j], h[best] = h[best], h[j]
            classes[j + 1], classes[best + 1] = classes[best + 1], classes[j + 1]
    for j in range(m, min(wanted, room)):
        work.u[j] = 0.0
    return wanted


@loop
def full_pass(order, problem, lists, W, still, work, out):
    """Visit the examples in `order`, each over all classes; lists keep what is positive.

    out : (4,) float64  sums over the visits: loss, gap, squared norm of W; number that moved
    """
    out[:] = 0.0
    for i in order:
        m, c, q = read_list(problem, lists, i, work), problem.cost[i], problem.norm2[i]
        room = lists.begin[i + 1] - lists.begin[i]
        loss, earned = measure_all(problem, W, i, m, work)
        out[0] += c * loss
        out[1] += c * loss - earned
        for j in range(m):
            out[2] += work.u[j]
        out[2] -= earned
        beta, top = level(work.h, work.u, m, q, c, work.D)  # of the listed classes
        wanted = enter(problem.n_classes, m, room, beta + top, work)
        lists.wants[i] = wanted > room
        m = min(wanted, room)
        if m > 0:
            out[3] += visit(problem, W, i, m, still, work)
        b, size = lists.begin[i], 0
        for j in range(m):
            if work.new[j] > 0.0:
                lists.classes[b + size], lists.u[b + size] = work.classes[j + 1], work.new[j]
                size += 1
        lists.size[i] = size


@loop
def short_pass(order, problem, lists, W, still, work, out):
    """Visit the examples in `order`, each over its listed classes; `out` as in `full_pass`."""
    out[:] = 0.0
    for i in order:
        m, c = read_list(problem, lists, i, work), problem.cost[i]
        if m == 0:
            continue
        b, e = problem.indptr[i], problem.indptr[i + 1]
        ix, xs, s = problem.indices[b:e], problem.data[b:e], work.scores
        if 8 * m > s.size:  # then contiguous memory is faster than picking
            score_all(W, problem.bias, ix, xs, s)
            for j in range(m + 1):
                work.step[j] = s[work.classes[j]]
        else:
            score_listed(W, problem.bias, ix, xs, work.classes, m + 1, work.step)
        loss, earned = 0.0, 0.0
        for j in range(m):
            h = 1.0 + work.step[j + 1] - work.step[0]
            work.h[j] = h
            loss = max(loss, h)
            earned += work.u[j] * h
        out[1] += c * loss - earned
        if visit(problem, W, i, m, still, work):
            out[3] += 1.0
            b = lists.begin[i]
            for j in range(m):
                lists.u[b + j] = work.new[j]


@loop
def certificate(problem, lists, W, work, out):
    """Sums over all examples at the present weights; `out` as in `full_pass`."""
    out[:] = 0.0
    for i in range(problem.target.size):
        m = read_list(problem, lists, i, work)
        loss, earned = measure_all(problem, W, i, m, work)
        out[0] += problem.cost[i] * loss
        out[1] += problem.cost[i] * loss - earned
    for j in range(W.shape[0]):
        total = 0.0
        for k in range(problem.n_classes):
            total += W[j, k] * W[j, k]
        out[2] += total
