# mypy: ignore-errors
"""Loops of the ranking machine with one slack per example: visits to one after the other.

H_p is the gradient of the dual in a_ip >= 0, with sum_p a_ip <= c_i; see `ranking_svm_pairs_fast`.
Each example keeps a list of its pairs with a > 0. A visit computes the scores s of the attributes,
which its steps then change by themselves: a step d along a direction u of attributes adds
d u ||x_i||^2 to s, and d u x_i' to the weights in the end,

    w = sum_ip a_ip reach_p (L(y) - L(z)) x_i'.

Weights W are (n_features, n_attributes); with another kernel than the linear one the state is the
scores of all examples, (n_attributes, n). [Cai2008] section 4.3, docs/maths/ranking_svm.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop, part
from linnaeus.solvers.numerics.scores_fast import score_all
from linnaeus.solvers.ranking.ranking_svm_pairs_fast import (
    add,
    class_score,
    class_scores,
    clear,
    most_violated,
    violation,
)

DUST = 1e-12  # multipliers below this part of the cost are 0
FULL = 1e-9  # and what is left of the cost below this part
NEAR = 0.1  # an example is quiet when its largest H lies below 0 by this part of the loss
EASE = 0.1  # violations below this part of the first one are left for the next visit
LOSS, GAP, NORM, MOVED, PSI, ACTIVE = range(6)  # sums over the examples of a pass


class RankingProblem(NamedTuple):
    """Examples, each with at least one label and one class that is none."""

    indptr: Any  # (n + 1,) int64, rows of features: linear kernel
    indices: Any  # uint32
    data: Any  # float
    K: Any  # (n, n) float, kernel matrix; (0, 0) for the linear kernel
    norm2: Any  # (n,) float64, ||x_i||^2
    cost: Any  # (n,) float64
    y_begin: Any  # (n + 1,) int64, labels
    y: Any  # int32
    L: Any  # Attributes
    margin: bool  # margin rescaling


class Lists(NamedTuple):
    """The pairs that each example holds."""

    begin: Any  # (n + 1,) int64, where the room of each example begins
    size: Any  # (n,) int64
    y: Any  # (room,) int32
    z: Any  # (room,) int32
    loss: Any  # (room,) float64
    a: Any  # (room,) float64
    wants: Any  # (n,) bool, whether a visit found no room
    quiet: Any  # (n,) int64, full visits in a row that found nothing near


class RankingWork(NamedTuple):
    """Scratch of a visit."""

    raw: Any  # (n_attributes,) float, of the type of the weights
    s: Any  # (n_attributes,) float64
    H: Any  # (most room,) float64
    step: Any  # Vector, the sum of all moves
    u: Any  # Vector, one direction
    found: Any  # Found


class Findings(NamedTuple):
    """What a pass over examples tells."""

    sums: Any  # (6,) float64, over the visits, added; of psi the largest
    slack: Any  # (n,) float64
    psi: Any  # (n,) float64
    pair: Any  # (n, 2) int32, the most violated pair


# -- scores and weights ----------------------------------------------------------------------------


@part
def score_few(W, ix, xs, nodes, count, s):
    """``s[v] = w_v.x`` for the first `count` nodes; four at a time, the last repeated."""
    for j in range(0, count, 4):
        j1, j2, j3 = min(j + 1, count - 1), min(j + 2, count - 1), min(j + 3, count - 1)
        k0, k1, k2, k3 = nodes[j], nodes[j1], nodes[j2], nodes[j3]
        s0 = s1 = s2 = s3 = W.dtype.type(0)
        for p in range(ix.size):
            w, x = W[ix[p]], xs[p]
            s0 += x * w[k0]
            s1 += x * w[k1]
            s2 += x * w[k2]
            s3 += x * w[k3]
        s[k3], s[k2], s[k1], s[k0] = s3, s2, s1, s0


@part
def attribute_scores(problem, W, i, wanted, work):
    """Fill `work.s` for example i: at the nodes of the vector `wanted`, at all if it is empty."""
    s, count, nodes = work.s, wanted.size[0], wanted.at
    if problem.K.size > 0:
        for j in range(count):
            s[nodes[j]] = W[nodes[j], i]
        if count == 0:
            for k in range(s.size):
                s[k] = W[k, i]
        return
    b, e = problem.indptr[i], problem.indptr[i + 1]
    ix, xs = problem.indices[b:e], problem.data[b:e]
    if 0 < 4 * count < s.size:  # else contiguous memory is faster than picking
        score_few(W, ix, xs, nodes, count, s)
    else:
        score_all(W, ix, xs, work.raw)
        for k in range(s.size):
            s[k] = work.raw[k]


@part
def move_weights(problem, W, i, step, raw):
    """Add the step times x_i to the weights, and clear it."""
    count, nodes = step.size[0], step.at
    if problem.K.size > 0:
        k = problem.K[i]
        for j in range(count):
            row, d = W[nodes[j]], W.dtype.type(step.value[nodes[j]])
            for r in range(k.size):
                row[r] += d * k[r]
    else:
        for j in range(count):
            raw[j] = step.value[nodes[j]]
        for p in range(problem.indptr[i], problem.indptr[i + 1]):
            w, x = W[problem.indices[p]], problem.data[p]
            for j in range(count):
                w[nodes[j]] += raw[j] * x
    clear(step)


@part
def add_pair(L, margin, y, z, loss, factor, vector):
    """Add the direction of a pair, `factor` reach (L(y) - L(z)), to a vector."""
    r = factor if margin else factor * loss
    add(L, y, r, vector)
    add(L, z, -r, vector)


@part
def curvature(u):
    total = 0.0
    for j in range(u.size[0]):
        value = u.value[u.at[j]]
        total += value * value
    return total


@part
def walk(u, d, norm2, s, step):
    """Go `d` along the direction u, and clear it."""
    for j in range(u.size[0]):
        v = u.at[j]
        s[v] += d * norm2 * u.value[v]
        step.value[v] += d * u.value[v]
        if not step.has[v]:
            step.has[v], step.at[step.size[0]] = True, v
            step.size[0] += 1
    clear(u)


# -- one example -----------------------------------------------------------------------------------


@part
def listed_violations(L, margin, lists, i, s, H):
    """Fill H for the list of example i, from the scores s."""
    b = lists.begin[i]
    for j in range(lists.size[i]):
        f, g = class_score(L, s, lists.y[b + j]), class_score(L, s, lists.z[b + j])
        H[j] = violation(margin, lists.loss[b + j], f, g)


@part
def settle(problem, lists, i, steps, least, work):
    """Pairwise steps on the list of example i, until none gains more than `least` per unit.

    Mass goes from the listed pair (or the unused rest, H = 0) with the lowest H to that with the
    highest; `work.H` is given.
    """
    b, m, cost, norm2 = lists.begin[i], lists.size[i], problem.cost[i], problem.norm2[i]
    L, margin, a, H, u = problem.L, problem.margin, lists.a, work.H, work.u
    rest = cost
    for j in range(b, b + m):
        rest -= a[j]
    for _ in range(steps):
        up, down, high, low = -1, -1, 0.0, np.inf
        if rest > DUST * cost:
            low = 0.0
        for j in range(m):
            if H[j] > high:
                up, high = j, H[j]
            if a[b + j] > 0.0 and H[j] < low:
                down, low = j, H[j]
        if not high - low > least:
            break
        for sign, at in ((1.0, up), (-1.0, down)):
            if at >= 0:
                at += b
                add_pair(L, margin, lists.y[at], lists.z[at], lists.loss[at], sign, u)
        d = rest if down < 0 else a[b + down]
        bend = norm2 * curvature(u)
        if bend * d > high - low:
            d = (high - low) / bend
        rest += d * ((up < 0) - (down < 0))
        if down >= 0:
            a[b + down] -= d
        if up >= 0:
            a[b + up] += d
        walk(u, d, norm2, work.s, work.step)
        listed_violations(L, margin, lists, i, work.s, H)


@part
def prune(lists, i):
    """Drop the pairs without mass."""
    b, kept = lists.begin[i], lists.begin[i]
    for j in range(b, b + lists.size[i]):
        if lists.a[j] > 0.0:
            lists.y[kept], lists.z[kept] = lists.y[j], lists.z[j]
            lists.loss[kept], lists.a[kept] = lists.loss[j], lists.a[j]
            kept += 1
    lists.size[i] = kept - b


@part
def enter(lists, i, y, z, loss):
    """Append a pair to the list of example i, unless it is there; whether it is new."""
    b, m = lists.begin[i], lists.size[i]
    for j in range(b, b + m):
        if lists.y[j] == y and lists.z[j] == z:
            return False
    if b + m == lists.begin[i + 1]:
        lists.wants[i] = True
        return False
    lists.y[b + m], lists.z[b + m] = y, z
    lists.loss[b + m], lists.a[b + m] = loss, 0.0
    lists.size[i] = m + 1
    return True


@part
def measure(lists, i, cost, top, H, out):
    """Add to `out` the sums of example i, whose largest H is `top`; its psi."""
    b, used, earned, lowest = lists.begin[i], 0.0, 0.0, np.inf
    for j in range(lists.size[i]):
        a = lists.a[b + j]
        used += a
        earned += a * H[j]
        out[NORM] += a * lists.loss[b + j]
        if a > DUST * cost:
            lowest = min(lowest, H[j])
            out[ACTIVE] += 1.0
    if cost - used > FULL * cost:
        lowest = min(lowest, 0.0)
    loss = max(0.0, top)
    out[LOSS] += cost * loss
    out[GAP] += cost * loss - earned
    out[NORM] -= earned
    out[PSI] = max(out[PSI], loss - lowest)
    return loss - lowest


@part
def leave(problem, lists, W, i, work, out):
    """After a visit: pairs without mass are dropped, the step goes into the weights."""
    prune(lists, i)
    if work.step.size[0] > 0:
        out[MOVED] += 1.0
        move_weights(problem, W, i, work.step, work.raw)


# -- passes ----------------------------------------------------------------------------------------


@part
def short_visit(problem, lists, W, i, steps, floor, work, out):
    """Visit example i over its listed pairs; `out` as in `Findings`."""
    b, m, u, H = lists.begin[i], lists.size[i], work.u, work.H
    for j in range(b, b + m):
        add_pair(problem.L, problem.margin, lists.y[j], lists.z[j], 1.0, 0.0, u)
    attribute_scores(problem, W, i, u, work)
    clear(u)
    listed_violations(problem.L, problem.margin, lists, i, work.s, H)
    top = 0.0
    for j in range(m):
        top = max(top, H[j])
    worst = measure(lists, i, problem.cost[i], top, H, out)
    settle(problem, lists, i, steps, max(floor[i], EASE * worst), work)
    leave(problem, lists, W, i, work, out)


@loop
def full_pass(order, problem, search, lists, W, work, told, settling, rounds, steps, floor):
    """Measure the examples in `order`; where asked for, settle each over all its pairs.

    The most violated pair joins the list in each round. Without rounds: `short_visit`, in the same
    function, as what both call takes long to compile.

    told  : Findings
    floor : (n,) float64  gains that are rounding
    """
    out, slack, psi, pair = told
    L, margin, found, H = problem.L, problem.margin, work.found, work.H
    for i in order:
        if rounds == 0:
            short_visit(problem, lists, W, i, steps, floor, work, out)
            continue
        attribute_scores(problem, W, i, work.u, work)
        labels = problem.y[problem.y_begin[i] : problem.y_begin[i + 1]]
        for t in range(rounds):
            class_scores(L, work.s, found.F)
            y, z, loss, top = most_violated(margin, search, labels, found)
            if t == 0:
                listed_violations(L, margin, lists, i, work.s, H)
                psi[i] = measure(lists, i, problem.cost[i], top, H, out)
                slack[i], pair[i, 0], pair[i, 1] = max(0.0, top), y, z
                if not settling:
                    break
                far = lists.size[i] == 0 and top < -NEAR * loss
                lists.quiet[i] = lists.quiet[i] + 1 if far else 0
            least = max(floor[i], EASE * psi[i])
            new = top > least and enter(lists, i, y, z, loss)
            if new:
                H[lists.size[i] - 1] = top
            if lists.size[i] == 0 or (t > 0 and not new):
                break
            settle(problem, lists, i, steps, least, work)
        leave(problem, lists, W, i, work, out)


@loop
def enter_one(lists, i, y, z, loss):
    """The same as `enter`, for a caller outside."""
    return enter(lists, i, y, z, loss)


@loop
def settle_one(problem, lists, W, i, steps, floor, work, out):
    """Make the listed pairs of example i optimal."""
    attribute_scores(problem, W, i, work.u, work)
    listed_violations(problem.L, problem.margin, lists, i, work.s, work.H)
    settle(problem, lists, i, steps, floor[i], work)
    leave(problem, lists, W, i, work, out)


@loop
def add_lists(problem, lists, W, work):
    """Add to W what the multipliers in the lists make of it."""
    L, margin = problem.L, problem.margin
    for i in range(problem.cost.size):
        for j in range(lists.begin[i], lists.begin[i] + lists.size[i]):
            add_pair(L, margin, lists.y[j], lists.z[j], lists.loss[j], lists.a[j], work.step)
        move_weights(problem, W, i, work.step, work.raw)
