# mypy: ignore-errors
"""Steps of the dual of max-margin learning on hypergraphs, one example at a time.

Example i divides its cost C_i over labellings, alpha_i(y) >= 0, sum_y alpha_i(y) = C_i, all of it
on its true labels y_i at first (which score 0 and cost nothing: the zero vertex). With marginals
mu_i[e, u] = sum_{y: y_e = u} alpha_i(y) and nu_i = C_i [u = y_ie] - mu_i,

    h_i[e, u] = loss_i[e, u] + f_i[e, u],     f_i = sum_j K_ij nu_j,

and a labelling y scores v(y) = sum_e h_i[e, y_e]. Moving tau from a to y changes nu by tau at the
codes of a and by -tau at those of y, and the dual by tau q - tau^2 r / 2,

    q = v(y) - v(a),     r = 2 K_ii (number of hyperedges on which a and y differ).

*Pairwise*: y the best labelling found, a the worst that carries weight; the labellings that carry
weight are stored, and between two searches steps go to and fro among them. *CSGA*: all weights
move towards the best labelling at once; only nu is stored. [Rousu2006] section 3, corrected.
"""

from typing import NamedTuple

import numpy as np

from linnaeus.compiled import loop, part
from linnaeus.inference.graphs_fast import (
    Cliques,
    Net,
    Schedule,
    SearchWork,
    code_of,
    find,
    penalise,
)
from linnaeus.solvers.markov.labelings_fast import Pool, appraise, prune, slot_of, worst, worth

ASCENT = 1e-9  # by which a labelling must beat what is known, to be worth a step
LOCAL = 20  # steps among stored labellings after each search


class GraphProblem(NamedTuple):
    """What stays the same."""

    net: Net
    cliques: Cliques
    schedule: Schedule
    forbidden: np.ndarray
    loss: np.ndarray  # (n, n_blocks)
    truth: np.ndarray  # (n, n_edges) codes of the true labels
    cost: np.ndarray  # (n,)
    norm: np.ndarray  # (n,) K_ii


class GraphState(NamedTuple):
    """What the steps change."""

    N: np.ndarray  # (n, n_blocks)
    pool: Pool  # labellings; slot i holds the true one of example i; of no examples for CSGA
    gaps: np.ndarray  # (n,) when last visited


class GraphSpace(NamedTuple):
    """Room for the example at hand."""

    h: np.ndarray  # (n_blocks,)
    change: np.ndarray  # (n_blocks,) of nu
    y: np.ndarray  # (n_nodes,) int8
    codes: np.ndarray  # (n_edges,) int32, of y
    work: SearchWork


@part
def highest(pool, i, new):
    """The best slot that may take weight: one that has some, the new one, or the true one."""
    high, slot = i, pool.head[i]
    while slot >= 0:
        if (pool.alpha[slot] > 0.0 or slot == new) and pool.worth[slot] > pool.worth[high]:
            high = slot
        slot = pool.next[slot]
    return high


@part
def move(start, norm, pool, i, h, change, new):
    """The best step from one stored labelling to another; whether it is worth anything."""
    high, low = highest(pool, i, new), worst(pool, i)
    if low < 0:
        return False
    to, by = pool.codes[high], pool.codes[low]
    q = pool.worth[high] - pool.worth[low]
    if q <= 1e-12 * (1.0 + abs(pool.worth[high])):
        return False
    differ = 0
    for e in range(to.size):
        differ += to[e] != by[e]
    r = 2.0 * norm * differ
    tau = pool.alpha[low]
    if q < r * tau:
        tau = q / r
    pool.alpha[high] += tau
    pool.alpha[low] -= tau
    for e in range(to.size):
        if to[e] != by[e]:
            a, b = start[e] + to[e], start[e] + by[e]
            change[a] -= tau
            change[b] += tau
            h[a] -= tau * norm
            h[b] += tau * norm
    appraise(pool, i, start, h)
    return True


@part
def step_pairwise(net, cost, norm, pool, i, value, space):
    """Pairwise steps after a search that found `space.y`; the gap before, and whether any moved."""
    h, new, moved = space.h, -1, False
    mean = appraise(pool, i, net.start, h)
    best = pool.worth[highest(pool, i, -1)]
    gap = max(0.0, cost * max(value, best) - mean)
    if value > best + 1e-12 * (1.0 + abs(best)):
        for e in range(space.codes.size):
            space.codes[e] = code_of(net, e, space.y)
        new = slot_of(pool, i, space.codes)
        pool.worth[new] = value
    for _ in range(LOCAL):
        if not move(net.start, norm, pool, i, h, space.change, new):
            break
        moved = True
    prune(pool, i, i)
    return gap, moved


@part
def step_csga(net, C, norm, truth, nu, value, space):
    """A conditional gradient step after a search; the gap before, and whether it moved."""
    h, change = space.h, space.change
    true = worth(net.start, h, truth)
    q = C * (max(value, true) - true)
    for a in range(h.size):
        q += (nu[a] + change[a]) * h[a]
    if q <= 1e-12 * C * (1.0 + abs(true)):
        return max(0.0, q), False
    r = 0.0  # of the whole direction, from nu to C (the true codes - those found)
    tau = 0.0
    for measuring in (True, False):
        for e in range(truth.size):
            found = truth[e] if value <= true else code_of(net, e, space.y)
            for a in range(net.start[e], net.start[e + 1]):
                u = a - net.start[e]
                d = C * (int(u == truth[e]) - int(u == found)) - nu[a] - change[a]
                if measuring:
                    r += norm * d * d
                else:
                    change[a] += tau * d
                    h[a] += tau * norm * d
        tau = 1.0 if q >= r else q / r
    return q, True


@part
def known(problem, state, i, space):
    """The score of the best labelling that example i has stored, or of their mean for CSGA.

    A labelling that scores more is a direction of ascent. [Rousu2007] 1.3.4
    """
    start, pool, C = problem.net.start, state.pool, problem.cost[i]
    if pool.head.size > 1:
        appraise(pool, i, start, space.h)
        return pool.worth[highest(pool, i, -1)]
    if not C > 0.0:
        return -np.inf
    total = worth(start, space.h, problem.truth[i])
    for a in range(space.h.size):
        total -= (state.N[i, a] + space.change[a]) / C * space.h[a]
    return total


@loop
def at_least_known(problem, state, first, H, space, value):
    """Raise the values found for rows H, of the examples from `first` on, to what is known."""
    for a in range(space.change.size):
        space.change[a] = 0.0
    for k in range(H.shape[0]):
        for a in range(space.h.size):
            space.h[a] = H[k, a]
        value[k] = max(value[k], known(problem, state, first + k, space))


@part
def add(factor, row, out):
    """out += factor row."""
    for a in range(out.size):
        out[a] += factor * row[a]


@part
def visit(problem, state, i, space, limit):
    """Steps for example i, whose scores f are in `space.h`; nu is brought up to date.

    The one place where labellings are searched: compiling the search takes long.
    """
    net, cost, norm = problem.net, problem.cost[i], problem.norm[i]
    add(1.0, problem.loss[i], space.h)
    for a in range(space.change.size):
        space.change[a] = 0.0
    for turn in range(limit):
        penalise(net, problem.forbidden, space.h)
        enough = known(problem, state, i, space)
        enough += ASCENT * (1.0 + abs(enough))
        value = find(net, problem.cliques, problem.schedule, space.h, space.work, space.y, enough)
        if state.pool.head.size > 1:
            gap, moved = step_pairwise(net, cost, norm, state.pool, i, value, space)
        else:
            gap, moved = step_csga(net, cost, norm, problem.truth[i], state.N[i], value, space)
        if turn == 0:
            state.gaps[i] = gap
        if not moved:
            break
    add(1.0, space.change, state.N[i])


@loop
def linear_sweep(problem, state, order, rows, W, space, limit):
    """Visit examples in turn; W (n_features, n_blocks) follows."""
    for i in order:
        for a in range(space.h.size):
            space.h[a] = 0.0
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            add(rows.data[j], W[rows.indices[j]], space.h)
        visit(problem, state, i, space, limit)
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            add(rows.data[j], space.change, W[rows.indices[j]])


@loop
def kernel_sweep(problem, state, order, F, K, space, limit):
    """Visit a block of examples in turn; F, (block, n_blocks), are their scores, kept up to date.

    K : (block, block) the kernel among them
    """
    for i in range(order.size):
        for a in range(space.h.size):
            space.h[a] = F[i, a]
        visit(problem, state, order[i], space, limit)
        for j in range(i + 1, order.size):
            if K[i, j] != 0.0:
                add(K[i, j], space.change, F[j])
