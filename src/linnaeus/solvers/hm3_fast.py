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

    xi_i = max_u sum_e h[e, u_e] - sum_e h[e, y_e],      gap_i = C_i max_u sum_e h[e, u_e] - <mu, h>.

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
def fold(model, p, work):
    """Marginals back into `p`; the changes of nu into `step`, their columns into `moved`.

    Returns how many columns changed.
    """
    step, moved, mu = work.step, work.moved, work.mu
    n_moved = 0
    for e in range(model.below.size):
        a, b, j = model.above[e], model.below[e], model.column[e]
        if a >= 0 and j != b:
            n_moved = put(p, j, mu[e, 3], step, moved, n_moved)
        n_moved = put(p, b, mu[e, 1] + mu[e, 3], step, moved, n_moved)
    for e in range(model.below.size - 1, -1, -1):
        a = model.above[e]
        if a >= 0 and work.part[a] != -2:  # marks the roots without a top edge: see `visit`
            continue
        if a >= 0:
            n_moved = put(p, a, mu[e, 2] + mu[e, 3], step, moved, n_moved)
            work.part[a] = -3
    return n_moved


@njit(cache=True, nogil=True)
def put(p, j, value, step, moved, n_moved):
    """Set one marginal."""
    change = p[j] - value
    if change == 0.0:
        return n_moved
    p[j] = value
    step[j] = change
    moved[n_moved] = j
    return n_moved + 1
