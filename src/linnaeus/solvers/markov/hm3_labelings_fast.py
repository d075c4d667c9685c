# mypy: ignore-errors
"""Pairwise steps between labelings of one example.

    maximise over alpha   sum_y alpha_y g(y) - 1/2 ||w - w_old||^2,     sum_y alpha_y = C

with g(y) = sum_e g[e, y_e] at w_old. Weight goes from the worst labeling that has any to the best
of all, by an exact line search that ends where the worst has none left. Features are of two sorts:
those of the example, in a block of weights for every edge and code, and rows phi_e^u(x_i) of an
additive map with one weight vector v. With d = onehot(y_worst) - onehot(y_best) a step of size 1
changes the squared norm of the weights by

    K_ii ||d||^2 + ||sum_{e,u} d[e,u] phi_e^u(x_i)||^2 .
"""

from __future__ import annotations

from typing import Any, NamedTuple

from linnaeus.compiled import loop, part
from linnaeus.inference.maxsum_fast import best, best_other
from linnaeus.solvers.markov.labelings_fast import appraise, has_room, prune, slot_of, worst
from linnaeus.solvers.numerics.scores_fast import add, score

SNAP = 1e-13


class LabelingsModel(NamedTuple):
    """The forest, the truth, and which labelings compete."""

    above: Any  # (n_edges,) int32
    below: Any  # (n_edges,) int32
    root: Any  # (n_roots,) int32
    start: Any  # (n_edges,) int64, 4 e
    consistent: Any  # bool
    others: Any  # bool, whether the truth is no competitor
    truth: Any  # (n, n_nodes) int8
    codes: Any  # (n, n_edges) int8
    tables: Any  # (n, n_edges, 4) float64
    cost: Any  # (n,) float64


class Additive(NamedTuple):
    """CSR rows of the additive map, row (i n_edges + e) 4 + u; no rows if there is none."""

    indptr: Any  # (4 n n_edges + 1,) int64
    indices: Any  # (nnz,) uint32
    data: Any  # (nnz,) float


class LabelingsWork(NamedTuple):
    """Scratch of a visit."""

    f: Any  # (4 n_edges,) float64, scores by the features of the example
    h: Any  # (4 n_edges,) float64, scores by the additive map
    s: Any  # (4 n_edges,) float64, both together
    g: Any  # (n_edges, 4) float64
    flat: Any  # (4 n_edges,) float64, the same in one piece
    d: Any  # (4 n_edges,) float64, direction
    step: Any  # (4 n_edges,) float64, sum of steps
    y: Any  # (n_nodes,) int8
    code: Any  # (n_edges,) int8, of y
    up: Any  # (n_nodes, 2) float64
    dev: Any  # (n_nodes, 2) float64
    take: Any  # (n_nodes,) int32
    sum: Any  # (n_additive,) float64, zero between uses


@part
def additive_score(additive, i, v, h):
    """h[q] = phi_q(x_i).v"""
    if additive.indptr.size == 1:
        return
    for q in range(h.size):
        row, total = i * h.size + q, 0.0
        for p in range(additive.indptr[row], additive.indptr[row + 1]):
            total += additive.data[p] * v[additive.indices[p]]
        h[q] = total


@part
def additive_norm(additive, i, d, total):
    """||sum_q d_q phi_q(x_i)||^2"""
    norm2 = 0.0
    if additive.indptr.size == 1:
        return norm2
    additive_add(additive, i, d, 1.0, total)
    for q in range(d.size):
        row = i * d.size + q
        if d[q] != 0.0:
            for p in range(additive.indptr[row], additive.indptr[row + 1]):
                value = total[additive.indices[p]]
                norm2 += value * value
                total[additive.indices[p]] = 0.0
    return norm2


@part
def additive_add(additive, i, d, tau, v):
    """v += tau sum_q d_q phi_q(x_i)"""
    if additive.indptr.size == 1:
        return
    for q in range(d.size):
        row = i * d.size + q
        if d[q] != 0.0:
            for p in range(additive.indptr[row], additive.indptr[row + 1]):
                v[additive.indices[p]] += tau * d[q] * additive.data[p]


@part
def gradient(model, i, s, g):
    """g = l - (s_truth - s), and 0 in the slots that a top edge lacks."""
    for e in range(model.below.size):
        first = 2 if model.above[e] < 0 else 0
        at = s[4 * e + model.codes[i, e]]
        for u in range(first, 4):
            g[e, u] = model.tables[i, e, u] + s[4 * e + u] - at


@part
def find_best(model, i, work):
    """The best competitor at `work.g`, into `work.y` and `code`; returns what it is worth."""
    if model.others:
        best_other(model.above, model.below, model.root, work.g, model.consistent, model.truth[i],
                   work.up, work.dev, work.take, work.y)  # fmt: skip
    else:
        best(model.above, model.below, model.root, work.g, model.consistent, work.up, work.y)
    total = 0.0  # summed anew: a difference of sums would lose digits
    for e in range(model.below.size):
        p = model.above[e]
        on = 1 if p < 0 else work.y[p]
        work.code[e] = 2 * on + work.y[model.below[e]]
        total += work.g[e, work.code[e]]
    return total


@part
def direction(away, towards, d):
    """d = onehot(away) - onehot(towards); returns ||d||^2."""
    d[:] = 0.0
    size = 0.0
    for e in range(away.size):
        if away[e] != towards[e]:
            d[4 * e + away[e]], d[4 * e + towards[e]] = 1.0, -1.0
            size += 2.0
    return size


@part
def pairwise_step(model, additive, i, norm2, pool, v, work):
    """One step at the gradient `work.g`; returns its size, 0 at the optimum of the block."""
    top = find_best(model, i, work)
    appraise(pool, i, model.start, work.flat)
    slot = worst(pool, i)
    if slot < 0 or top <= pool.worth[slot]:
        return 0.0
    gain = top - pool.worth[slot]
    size = direction(pool.codes[slot], work.code, work.d)
    curvature = norm2 * size + additive_norm(additive, i, work.d, work.sum)
    tau = pool.alpha[slot]
    if curvature * (tau - SNAP * model.cost[i]) > gain:
        tau = gain / curvature
        pool.alpha[slot] -= tau
    else:
        pool.alpha[slot] = 0.0
    pool.alpha[slot_of(pool, i, work.code)] += tau
    prune(pool, i, -1)
    additive_add(additive, i, work.d, tau, v)
    return tau


@part
def visit(inputs, model, additive, i, n_steps, pool, W, v, work):
    """A few steps of example i; the pool and the weights W and v are changed."""
    score(inputs, i, W, work.f)
    work.step[:] = 0.0
    for _ in range(n_steps):
        additive_score(additive, i, v, work.h)
        for q in range(work.s.size):
            work.s[q] = work.f[q] + inputs.norm2[i] * work.step[q] + work.h[q]
        gradient(model, i, work.s, work.g)
        tau = pairwise_step(model, additive, i, inputs.norm2[i], pool, v, work)
        if tau == 0.0:
            break
        for q in range(work.step.size):
            work.step[q] += tau * work.d[q]
    add(inputs, i, W, work.step)


@loop
def visits(inputs, model, additive, order, n_steps, pool, W, v, work):
    """`visit` for the examples of `order`; returns how many, fewer if the pool has run out."""
    for done in range(order.size):
        if not has_room(pool, n_steps):
            return done
        visit(inputs, model, additive, order[done], n_steps, pool, W, v, work)
    return order.size


@loop
def certify(model, start, F, pool, work, slack, gaps):
    """Slack and gap of the examples from `start` on, one for each row of F (n_rows, 4 n_edges)."""
    for r in range(F.shape[0]):
        i = start + r
        gradient(model, i, F[r], work.g)
        slack[i] = find_best(model, i, work)
        gaps[i] = model.cost[i] * slack[i] - appraise(pool, i, model.start, work.flat)
