# mypy: ignore-errors
"""Steps of the marginal dual of the max-margin Markov forest.

    maximise  D(mu) = <mu, l> - 1/2 sum_{e,u} |sum_i nu_i[e, u] phi(x_i)|^2,   nu_i = C_i A_i - mu_i

mu_i are C_i times the edge marginals of a distribution over labelings, A_i[e, u] = [u is the true
code]; they start at C_i A_i, nu at 0. A node has one marginal, whatever the edge that shows it, so
nu_i is known from z_i: a number for each node, and one for "both on" of each edge,

    nu[3] = z_e,  nu[2] = z_parent - z_e,  nu[1] = z_child - z_e,  nu[0] = z_e - z_parent - z_child.

Weights and scores follow the same pattern: half the columns are enough. (Those of the nodes alone,
where code 1 does not exist or above a root, since then z_e = z_child.)

With h = l + f (f_i[e, u] the score of code u on edge e) example i has

    xi_i = max_u sum_e h[e, u_e] - sum_e h[e, y_e],
    gap_i = C_i max_u sum_e h[e, u_e] - <mu, h>.

[Rousu2006] section 3; docs/maths/hm3.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from linnaeus.compiled import loop, part
from linnaeus.inference.maxsum_fast import best, climb
from linnaeus.solvers.markov.hm3_pairs_fast import code_of, pairwise
from linnaeus.solvers.numerics.scores_fast import score_all


class ForestModel(NamedTuple):
    """The forest, the losses, the columns."""

    above: Any  # (n_edges,) int32, -1 above a root
    below: Any  # (n_edges,) int32
    root: Any  # (n_roots,) int32
    column: Any  # (n_edges,) int32, where "both on" is kept: n_nodes + ..., or the child's own
    opening: Any  # (n_open,) int32, one edge below each root that has no top edge
    loss: Any  # (n_edges, 4, 4) float64, by true code and code
    consistent: bool  # whether code 1 does not exist


class Examples(NamedTuple):
    """The examples, and the columns of nu that the steps change."""

    Y: Any  # (n, n_nodes) int8
    cost: Any  # (n,) float64
    square: Any  # (n,) float64, K_ii
    Z: Any  # (n, n_columns) float64, of nu


class ForestWork(NamedTuple):
    """Room for one visit."""

    h: Any  # (n_edges, 4) float64
    mu: Any  # (n_edges, 4) float64
    code: Any  # (n_edges,) int8, the true codes
    up: Any  # (n_nodes, 2) float64
    ends: Any  # (n_nodes, 4) float64, of the best labeling and of the least
    pick: Any  # (n_edges,) int8, labels of the child by those of the parent, as bits
    to: Any  # (n_nodes,) int8, the labeling to move to
    away: Any  # (n_nodes,) int8, the labeling to move from
    changed: Any  # (n_edges,) int32, edges whose codes differ in `to` and `away`
    part: Any  # (n_nodes,) int32, which connected part of the difference a node is in
    gain: Any  # (n_nodes,) float64, of each part
    room: Any  # (n_nodes,) float64, of each part
    size: Any  # (n_nodes,) int32, of each part
    score: Any  # (n_columns,) float64
    step: Any  # (n_columns,) float64, change of the columns of nu
    moved: Any  # (n_columns,) int32, the columns that changed


FLOOR = 1e-12  # of the largest of nu: what is below is rounding


@part
def unfold(model, y, score, z, cost, work):
    """Fill `h`, `mu` and `code` of one example from its scores and nu.

    Returns the mass below which there is nothing but rounding.
    """
    h, mu = work.h, work.mu
    floor = 0.0
    for j in range(z.size):
        floor = max(floor, abs(z[j]))
    floor *= FLOOR
    for e in range(model.below.size):
        a, b, j = model.above[e], model.below[e], model.column[e]
        if a < 0:
            t = 2 + y[b]
            h[e, 0], h[e, 1], h[e, 2], h[e, 3] = 0.0, 0.0, -score[b], score[b]
            mu[e, 0], mu[e, 1], mu[e, 2], mu[e, 3] = 0.0, 0.0, z[b], -z[b]
        else:
            t = 2 * y[a] + y[b]
            fa, fb, fj = score[a], score[b], score[j]
            h[e, 0], h[e, 1], h[e, 2], h[e, 3] = fj - fa - fb, fb - fj, fa - fj, fj
            mu[e, 0], mu[e, 1] = z[a] + z[b] - z[j], z[j] - z[b]
            mu[e, 2], mu[e, 3] = z[j] - z[a], -z[j]
        work.code[e] = t
        mu[e, t] = 0.0
        for u in range(4):
            h[e, u] += model.loss[e, t, u]
            if mu[e, u] <= floor:
                mu[e, u] = 0.0
        mu[e, t] = cost - (mu[e, 0] + mu[e, 1] + mu[e, 2] + mu[e, 3])
    return floor


@part
def held(mu, h):
    """<mu, h>"""
    total = 0.0
    for e in range(h.shape[0]):
        total += (mu[e, 0] * h[e, 0] + mu[e, 1] * h[e, 1]) + (
            mu[e, 2] * h[e, 2] + mu[e, 3] * h[e, 3]
        )
    return total


@part
def true_score(h, code):
    """The score of the true labeling."""
    total = 0.0
    for e in range(code.size):
        total += h[e, code[e]]
    return total


@part
def conditional(model, square, cost, limit, work):
    """Up to `limit` steps of the conditional gradient; returns as `pairwise` does.

    Towards C times the best labeling, by exact line search: [Rousu2006] section 3.5, corrected.
    Where nothing beats the truth the step is towards the truth, which is their zero vertex.
    """
    first, rise, h, mu = 0.0, 0.0, work.h, work.mu
    for step in range(limit):
        value = best(model.above, model.below, model.root, h, model.consistent, work.up, work.to)
        to_truth = not value > true_score(h, work.code)
        gap = size = norm = 0.0  # <d, h>, of the direction d: nothing where there is none
        for e in range(h.shape[0]):
            u = work.code[e] if to_truth else code_of(work.to, model.above[e], model.below[e])
            for v in range(4):
                d = (cost if u == v else 0.0) - mu[e, v]
                gap += d * h[e, v]
                size += abs(d * h[e, v])
                norm += d * d
        if step == 0:
            first = gap
        if gap <= 1e-15 * size:
            break
        curve = square * norm
        tau = gap / curve if gap < curve else 1.0
        for e in range(h.shape[0]):
            u = work.code[e] if to_truth else code_of(work.to, model.above[e], model.below[e])
            for v in range(4):
                d = (cost if u == v else 0.0) - mu[e, v]
                mu[e, v] += tau * d
                h[e, v] -= tau * square * d
        rise += tau * (gap - 0.5 * tau * curve)
    return first, rise


@part
def fold(model, z, floor, work):
    """nu back into `z`; its changes into `step`, the columns that changed into `moved`.

    Returns how many columns changed. What the truth has lost the other codes have gained.
    """
    mu, n_moved = work.mu, 0
    work.step[:] = 0.0
    for e in range(model.below.size):
        b, j, t = model.below[e], model.column[e], work.code[e]
        mu[e, t] = 0.0
        mu[e, t] = -(mu[e, 0] + mu[e, 1] + mu[e, 2] + mu[e, 3])  # mu is now -nu
        n_moved = put(z, b, -mu[e, 1] - mu[e, 3], floor, work, n_moved)
        if j != b:
            n_moved = put(z, j, -mu[e, 3], floor, work, n_moved)
    for e in model.opening:
        n_moved = put(z, model.above[e], -mu[e, 2] - mu[e, 3], floor, work, n_moved)
    return n_moved


@part
def put(z, j, value, floor, work, n_moved):
    """Set one number of nu."""
    change = value - z[j]
    if abs(change) <= floor:
        return n_moved
    z[j] = value
    work.step[j] = change
    work.moved[n_moved] = j
    return n_moved + 1


@part
def visit(model, y, score, z, cost, square, limit, enough, work):
    """Steps for one example, given its scores.

    limit : steps at most, negative for the conditional gradient
    Returns its gap before, what D gained, and how many columns moved.
    """
    floor = unfold(model, y, score, z, cost, work)
    if limit < 0:
        gap, rise = conditional(model, square, cost, -limit, work)
    else:
        gap, rise = pairwise(model, square, cost, floor, limit, enough, work)
    return gap, rise, fold(model, z, floor, work)


@part
def add_step(V, ix, xs, s, moved, n_moved):
    """``V += x s'``, column by column where few changed."""
    if 6 * n_moved > s.size:
        for t in range(ix.size):
            v, x = V[ix[t]], xs[t]
            for j in range(s.size):
                v[j] += x * s[j]
    else:
        for t in range(ix.size):
            v, x = V[ix[t]], xs[t]
            for k in range(n_moved):
                v[moved[k]] += x * s[moved[k]]


@part
def copy(source, target):
    """Number by number: assigning slices takes seconds to compile."""
    for j in range(target.size):
        target[j] = source[j]


@loop
def linear_pass(order, limits, enough, model, rows, examples, V, gaps, s, work):
    """Visit the examples of `order` one after the other, the weights V always current.

    rows : indptr, indices and data of their features
    V : (n_features, n_columns) columns of the weights
    gaps : (n,) float64, the gap of each example before its visit
    s : (n_columns,) work space of the type of V
    Returns what D gained.
    """
    (indptr, indices, data), (Y, costs, squares, Z), total = rows, examples, 0.0
    for k in range(order.size):
        i = order[k]
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        score_all(V, ix, xs, s)
        copy(s, work.score)
        gaps[i], rise, n_moved = visit(
            model, Y[i], work.score, Z[i], costs[i], squares[i], limits[k], enough, work
        )
        total += rise
        if n_moved > 0:
            copy(work.step, s)
            add_step(V, ix, xs, s, work.moved, n_moved)
    return total


@loop
def kernel_block(block, limits, enough, sweeps, model, G, examples, F, N, gaps, s, work):
    """Visit the examples of one block, their scores F kept current inside the block.

    G : (b, b) kernel of the block;   F : (b, n_columns) scores;   N : Z as the kernel takes it
    Returns what D gained.
    """
    (Y, costs, squares, Z), total = examples, 0.0
    for sweep in range(sweeps):
        for k in range(block.size):
            i = block[k]
            copy(F[k], work.score)
            gap, rise, n_moved = visit(
                model, Y[i], work.score, Z[i], costs[i], squares[i], limits[k], enough, work
            )
            total += rise
            if sweep == 0:
                gaps[i] = gap
            if n_moved > 0:
                copy(work.step, s)
                copy(Z[i], N[i])
                add_to_block(F, G[k], s)
    return total


@part
def add_to_block(F, g, s):
    """``F += g s'``"""
    for m in range(g.size):
        if g[m] != 0.0:
            f, x = F[m], g[m]
            for j in range(s.size):
                f[j] += x * s[j]


@part
def top(model, h, up):
    """The score of the best labeling."""
    climb(model.above, model.below, h, model.consistent, up)
    value = 0.0
    for r in model.root:
        value += max(up[r, 0], up[r, 1])
    return value


@part
def measure(model, y, score, z, cost, stretches, slack, work):
    """gap and <nu, f> of one example; xi at its scores times each of `stretches` into `slack`.

    The first stretch is 1.
    """
    unfold(model, y, score, z, cost, work)
    h, mu, up, norm, part = work.h, work.mu, work.up, 0.0, 0.0
    value, true = top(model, h, up), true_score(h, work.code)
    gap = cost * max(value, true) - held(mu, h)
    slack[0] = max(0.0, value - true)
    for e in range(h.shape[0]):  # from here on mu holds the scores without losses
        t = work.code[e]
        loss = model.loss[e, t]
        for u in range(4):
            f = h[e, u] - loss[u]
            norm += mu[e, u] * (h[e, t] - f)
            mu[e, u] = f
        part += h[e, t] - loss[t]
    for k in range(1, stretches.size):
        more = stretches[k] - stretches[k - 1]
        for e in range(h.shape[0]):
            for u in range(4):
                h[e, u] += more * mu[e, u]
        true += more * part
        slack[k] = max(0.0, top(model, h, up) - true)
    return gap, norm


@loop
def measure_linear(model, rows, examples, V, stretches, slacks, gaps, s, work):
    """`measure` for all examples, slacks (n, n_stretches); returns the sum of <nu, f>."""
    (indptr, indices, data), (Y, costs, _, Z), total = rows, examples, 0.0
    for i in range(Y.shape[0]):
        ix, xs = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        score_all(V, ix, xs, s)
        copy(s, work.score)
        gaps[i], norm = measure(model, Y[i], work.score, Z[i], costs[i], stretches, slacks[i], work)
        total += norm
    return total


@loop
def measure_scored(first, model, F, examples, stretches, slacks, gaps, work):
    """The same for the examples from number `first` on, whose scores F are at hand."""
    (Y, costs, _, Z), total = examples, 0.0
    for k in range(F.shape[0]):
        i = first + k
        copy(F[k], work.score)
        gaps[i], norm = measure(model, Y[i], work.score, Z[i], costs[i], stretches, slacks[i], work)
        total += norm
    return total


@loop
def expand(above, below, column, V, out):
    """Columns to blocks: out (rows, n_edges, 4) from V (rows, n_columns)."""
    for i in range(V.shape[0]):
        v = V[i]
        for e in range(below.size):
            a, b, both = above[e], v[below[e]], v[column[e]]
            if a < 0:
                out[i, e, 0], out[i, e, 1], out[i, e, 2], out[i, e, 3] = (0, 0, -both, both)
            else:
                out[i, e, 0], out[i, e, 1] = both - v[a] - b, b - both
                out[i, e, 2], out[i, e, 3] = v[a] - both, both
