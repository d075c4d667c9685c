# mypy: ignore-errors
"""Steps of the marginal dual of the max-margin Markov forest.

    maximise  D(mu) = <mu, l> - 1/2 sum_{e,u} |sum_i nu_i[e, u] phi(x_i)|^2,   nu_i = C_i A_i - mu_i

mu_i are C_i times the edge marginals of a distribution over labelings, A_i[e, u] = [u is the true
code]; they start at C_i A_i. Every node has one marginal, whatever the edge that shows it, so mu_i
is known from p_i = (marginal of each node, weight of "both on" for each edge):

    mu[3] = p_e,   mu[2] = p_parent - p_e,   mu[1] = p_child - p_e,   mu[0] = C - the others

nu, the weights and the scores follow the same pattern with 0 for C: half the columns are enough
(and the columns of the nodes alone where code 1 does not exist, since then p_e = p_child).

With h = l + f (f_i[e, u] the score of code u on edge e) example i has

    xi_i = max_u sum_e h[e, u_e] - sum_e h[e, y_e],
    gap_i = C_i max_u sum_e h[e, u_e] - <mu, h>.

[Rousu2006] section 3; docs/maths/hm3.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from linnaeus.inference.maxsum_fast import best, least


class Model(NamedTuple):
    """The forest, the losses, the columns."""

    above: Any  # (n_edges,) int32, -1 above a root
    below: Any  # (n_edges,) int32
    root: Any  # (n_roots,) int32
    column: Any  # (n_edges,) int32, where "both on" is kept: n_nodes + ..., or the child's own
    opening: Any  # (n_open,) int32, one edge below each root that has no top edge
    loss: Any  # (n_edges, 4, 4) float64, by true code and code
    consistent: bool  # whether code 1 does not exist


class Work(NamedTuple):
    """Room for one visit."""

    h: Any  # (n_edges, 4) float64
    mu: Any  # (n_edges, 4) float64
    code: Any  # (n_edges,) int8, the true codes
    up: Any  # (n_nodes, 2) float64
    to: Any  # (n_nodes,) int8, the labeling to move to
    away: Any  # (n_nodes,) int8, the labeling to move from
    part: Any  # (n_nodes,) int32, which connected part of the difference a node is in
    gain: Any  # (n_nodes,) float64, of each part
    room: Any  # (n_nodes,) float64, of each part
    size: Any  # (n_nodes,) int32, of each part
    score: Any  # (n_columns,) scores
    step: Any  # (n_columns,) change of the columns of nu
    moved: Any  # (n_columns,) int32, the columns that changed


FLOOR = 1e-12  # of C: marginals below are rounding


@njit(cache=True, nogil=True)
def unfold(model, y, score, p, cost, work):
    """Fill `h`, `mu` and `code` of one example from its scores and marginals."""
    h, mu, code = work.h, work.mu, work.code
    floor = FLOOR * cost
    for e in range(model.below.size):
        a, b, j = model.above[e], model.below[e], model.column[e]
        if a < 0:
            t = 2 + y[b]
            loss = model.loss[e, t]
            h[e, 0], h[e, 1] = 0.0, 0.0
            h[e, 2], h[e, 3] = loss[2] - score[b], loss[3] + score[b]
            mu[e, 0], mu[e, 1] = 0.0, 0.0
            mu[e, 2], mu[e, 3] = cost - p[b], p[b]
        else:
            t = 2 * y[a] + y[b]
            loss = model.loss[e, t]
            va, vb, vj = score[a], score[b], score[j]
            h[e, 0], h[e, 1] = loss[0] + vj - va - vb, loss[1] + vb - vj
            h[e, 2], h[e, 3] = loss[2] + va - vj, loss[3] + vj
            mu[e, 0], mu[e, 1] = cost - p[a] - p[b] + p[j], p[b] - p[j]
            mu[e, 2], mu[e, 3] = p[a] - p[j], p[j]
        code[e] = t
        for u in range(4):
            if mu[e, u] < floor:
                mu[e, u] = 0.0


@njit(cache=True, nogil=True)
def held(mu, h):
    """<mu, h>"""
    total = 0.0
    for e in range(h.shape[0]):
        total += (mu[e, 0] * h[e, 0] + mu[e, 1] * h[e, 1]) + (
            mu[e, 2] * h[e, 2] + mu[e, 3] * h[e, 3]
        )
    return total


@njit(cache=True, nogil=True)
def true_score(h, code):
    """The score of the true labeling."""
    total = 0.0
    for e in range(code.size):
        total += h[e, code[e]]
    return total


@njit(cache=True, nogil=True)
def code_of(labels, a, b):
    """The code of an edge."""
    return 2 + labels[b] if a < 0 else 2 * labels[a] + labels[b]


@njit(cache=True, nogil=True)
def split(model, work):
    """Number the connected parts of {nodes where `to` and `away` differ}; returns how many.

    Measure for each: what a unit moved gains, how much there is to move, how many edges change.
    An edge changes if an end does, and lies in one part only.
    """
    to, away, part = work.to, work.away, work.part
    n_parts = 0
    for r in model.root:
        part[r] = -1
        if to[r] != away[r]:
            part[r] = n_parts
            work.gain[n_parts], work.room[n_parts], work.size[n_parts] = 0.0, np.inf, 0
            n_parts += 1
    for e in range(model.below.size):
        a, b = model.above[e], model.below[e]
        if a >= 0:
            part[b] = -1
            if to[b] != away[b]:
                part[b] = part[a]
                if part[b] < 0:
                    part[b] = n_parts
                    work.gain[n_parts], work.room[n_parts], work.size[n_parts] = 0.0, np.inf, 0
                    n_parts += 1
        k = part[b]
        if k < 0 and a >= 0:
            k = part[a]
        if k >= 0:
            u, v = code_of(to, a, b), code_of(away, a, b)
            work.gain[k] += work.h[e, u] - work.h[e, v]
            work.room[k] = min(work.room[k], work.mu[e, v])
            work.size[k] += 1
    return n_parts


@njit(cache=True, nogil=True)
def swap(model, square, work):
    """Move mass from `away` to `to`, every part as far as pays."""
    n_parts = split(model, work)
    for k in range(n_parts):  # gain becomes the step
        if work.gain[k] <= 0.0:
            work.gain[k] = 0.0
        elif square > 0.0:
            work.gain[k] = min(work.gain[k] / (2.0 * square * work.size[k]), work.room[k])
        else:
            work.gain[k] = work.room[k]
    for e in range(model.below.size):
        a, b = model.above[e], model.below[e]
        k = work.part[b]
        if k < 0 and a >= 0:
            k = work.part[a]
        if k >= 0 and work.gain[k] > 0.0:
            u, v, tau = code_of(work.to, a, b), code_of(work.away, a, b), work.gain[k]
            work.mu[e, u] += tau
            work.mu[e, v] = work.mu[e, v] - tau if tau < work.mu[e, v] else 0.0
            work.h[e, u] -= square * tau
            work.h[e, v] += square * tau


@njit(cache=True, nogil=True)
def pairwise(model, square, cost, limit, enough, work):
    """Up to `limit` pairwise steps, or until the gap is `enough` of what it was; returns that.

    Away from the supported labeling with the smallest score, [GarberMeshi2016]. Where the two
    labelings differ in several connected parts, each is a direction of its own, and since the
    block of D is diagonal in the edges the best steps are independent.
    """
    first = 0.0
    for step in range(limit):
        value = best(
            model.above, model.below, model.root, work.h, model.consistent, work.up, work.to
        )
        gap = cost * value - held(work.mu, work.h)
        if step == 0:
            first = gap
        if gap <= enough * first or gap <= 0.0:
            break
        low = least(
            model.above, model.below, model.root, work.h, work.mu, FLOOR * cost, work.up, work.away
        )
        if not low < value:
            break
        swap(model, square, work)
    return first


@njit(cache=True, nogil=True)
def conditional(model, square, cost, limit, work):
    """Up to `limit` steps of the conditional gradient; returns the gap before the first.

    Towards C times the best labeling, by exact line search: [Rousu2006] section 3.5, corrected.
    Where nothing beats the truth the step is towards the truth, which is their zero vertex.
    """
    first, h, mu = 0.0, work.h, work.mu
    for step in range(limit):
        value = best(model.above, model.below, model.root, h, model.consistent, work.up, work.to)
        true = true_score(h, work.code)
        to_truth = not value > true
        gap = cost * max(value, true) - held(mu, h)
        if step == 0:
            first = gap
        if gap <= 1e-15 * cost * abs(value) or gap <= 0.0:
            break
        norm = 0.0
        for e in range(h.shape[0]):
            u = work.code[e] if to_truth else code_of(work.to, model.above[e], model.below[e])
            for v in range(4):
                d = (cost if u == v else 0.0) - mu[e, v]
                norm += d * d
        tau = min(1.0, gap / (square * norm)) if square > 0.0 else 1.0
        for e in range(h.shape[0]):
            u = work.code[e] if to_truth else code_of(work.to, model.above[e], model.below[e])
            for v in range(4):
                d = (cost if u == v else 0.0) - mu[e, v]
                mu[e, v] += tau * d
                h[e, v] -= tau * square * d
    return first


@njit(cache=True, nogil=True)
def fold(model, p, least_change, work):
    """Marginals back into `p`; the changes of nu into `step`, their columns into `moved`.

    Returns how many columns changed.
    """
    mu, n_moved = work.mu, 0
    work.step[:] = 0.0
    for e in range(model.below.size):
        b, j = model.below[e], model.column[e]
        n_moved = put(p, b, mu[e, 1] + mu[e, 3], least_change, work, n_moved)
        if j != b:
            n_moved = put(p, j, mu[e, 3], least_change, work, n_moved)
    for e in model.opening:
        n_moved = put(p, model.above[e], mu[e, 2] + mu[e, 3], least_change, work, n_moved)
    return n_moved


@njit(cache=True, nogil=True)
def put(p, j, value, least_change, work, n_moved):
    """Set one marginal."""
    change = p[j] - value
    if abs(change) <= least_change:
        return n_moved
    p[j] = value
    work.step[j] = change
    work.moved[n_moved] = j
    return n_moved + 1


@njit(cache=True, nogil=True)
def visit(model, y, score, p, cost, square, limit, enough, work):
    """Steps for one example, given its scores; returns its gap before, and the columns moved.

    limit : steps at most, negative for the conditional gradient
    """
    unfold(model, y, score, p, cost, work)
    if limit < 0:
        gap = conditional(model, square, cost, -limit, work)
    else:
        gap = pairwise(model, square, cost, limit, enough, work)
    return gap, fold(model, p, FLOOR * cost, work)


@njit(cache=True, nogil=True)
def add_scores(V, ix, xs, s):
    """``s = V'x``; four features at a time, so that `s` is read less often."""
    width = s.size
    s[:] = 0.0
    whole = ix.size - ix.size % 4
    for t in range(0, whole, 4):
        v0, v1, v2, v3 = V[ix[t]], V[ix[t + 1]], V[ix[t + 2]], V[ix[t + 3]]
        x0, x1, x2, x3 = xs[t], xs[t + 1], xs[t + 2], xs[t + 3]
        for j in range(width):
            s[j] += (x0 * v0[j] + x1 * v1[j]) + (x2 * v2[j] + x3 * v3[j])
    for t in range(whole, ix.size):
        v0, x0 = V[ix[t]], xs[t]
        for j in range(width):
            s[j] += x0 * v0[j]


@njit(cache=True, nogil=True)
def add_step(V, ix, xs, step, moved, n_moved):
    """``V += x step'``, column by column where few changed."""
    if 6 * n_moved > step.size:
        for t in range(ix.size):
            v, x = V[ix[t]], xs[t]
            for j in range(step.size):
                v[j] += x * step[j]
    else:
        for t in range(ix.size):
            v, x = V[ix[t]], xs[t]
            for k in range(n_moved):
                v[moved[k]] += x * step[moved[k]]


@njit(cache=True, nogil=True)
def linear_pass(
    order, limits, enough, model, indptr, indices, data, Y, costs, squares, V, P, gaps, work
):
    """Visit the examples of `order` one after the other, the weights V always current.

    V : (n_features, n_columns) columns of the weights;   P : (n, n_columns) float64 marginals
    gaps : (n,) float64, the gap of each example before its visit
    """
    for k in range(order.size):
        i = order[k]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        add_scores(V, ix, xs, work.score)
        gap, n_moved = visit(
            model, Y[i], work.score, P[i], costs[i], squares[i], limits[k], enough, work
        )
        gaps[i] = gap
        if n_moved > 0:
            add_step(V, ix, xs, work.step, work.moved, n_moved)


@njit(cache=True, nogil=True)
def kernel_block(block, limits, enough, sweeps, model, G, Y, costs, squares, F, P, Z, gaps, work):
    """Visit the examples of one block, their scores F kept current inside the block.

    G : (b, b) kernel of the block;   F : (b, n_columns) scores;   Z : (n, n_columns) columns of nu
    """
    for sweep in range(sweeps):
        for k in range(block.size):
            i = block[k]
            gap, n_moved = visit(
                model, Y[i], F[k], P[i], costs[i], squares[i], limits[k], enough, work
            )
            if sweep == 0:
                gaps[i] = gap
            if n_moved == 0:
                continue
            for t in range(n_moved):
                Z[i, work.moved[t]] += work.step[work.moved[t]]
            for m in range(block.size):
                g = G[k, m]
                if g != 0.0:
                    f = F[m]
                    for j in range(f.size):
                        f[j] += g * work.step[j]


@njit(cache=True, nogil=True)
def measure(model, y, score, p, cost, work):
    """xi, gap, <mu, l> and <nu, f> of one example."""
    unfold(model, y, score, p, cost, work)
    h, mu = work.h, work.mu
    value = best(model.above, model.below, model.root, h, model.consistent, work.up, work.to)
    loss, norm = 0.0, 0.0
    for e in range(h.shape[0]):
        t = work.code[e]
        for u in range(4):
            cut = model.loss[e, t, u]
            loss += mu[e, u] * cut
            norm += ((cost if u == t else 0.0) - mu[e, u]) * (h[e, u] - cut)
    true = true_score(h, work.code)
    return max(0.0, value - true), cost * max(value, true) - held(mu, h), loss, norm


@njit(cache=True, nogil=True)
def measure_linear(rows, model, indptr, indices, data, Y, costs, V, P, slack, gaps, sums, work):
    """`measure` for the examples of `rows`; adds up <mu, l> and <nu, f> in `sums`."""
    for i in rows:
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        add_scores(V, ix, xs, work.score)
        slack[i], gaps[i], loss, norm = measure(model, Y[i], work.score, P[i], costs[i], work)
        sums[0] += loss
        sums[1] += norm


@njit(cache=True, nogil=True)
def measure_scored(rows, model, F, Y, costs, P, slack, gaps, sums, work):
    """The same, with the scores F of the examples of `rows` at hand."""
    for k in range(rows.size):
        i = rows[k]
        slack[i], gaps[i], loss, norm = measure(model, Y[i], F[k], P[i], costs[i], work)
        sums[0] += loss
        sums[1] += norm
