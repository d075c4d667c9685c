# mypy: ignore-errors
"""Loops of the ranking machine with one slack per pair: 0 <= a_ip <= c_i.

    maximise_a  sum_ip a_ip D(p) - 1/2 ||w||^2,      dual gradient H_ip

Each multiplier in turn goes to the best value in its interval; see `ranking_fast` for the rest.
Pairs whose H is positive join the list of their example, those without mass leave it.
"""

from __future__ import annotations

from linnaeus.compiled import loop, part
from linnaeus.solvers.ranking.ranking_svm_fast import (
    ACTIVE,
    DUST,
    EASE,
    FULL,
    GAP,
    LOSS,
    NORM,
    PSI,
    add_pair,
    attribute_scores,
    curvature,
    leave,
    walk,
)
from linnaeus.solvers.ranking.ranking_svm_pairs_fast import (
    CONSTANT,
    class_score,
    class_scores,
    violation,
)


@part
def settle(problem, lists, i, sweeps, least, work):
    """Sweeps over the list of example i, until no gradient in it is larger than `least`."""
    L, margin, a = problem.L, problem.margin, lists.a
    cost, norm2 = problem.cost[i], problem.norm2[i]
    for _ in range(sweeps):
        still = True
        for j in range(lists.begin[i], lists.begin[i] + lists.size[i]):
            y, z, loss = lists.y[j], lists.z[j], lists.loss[j]
            f, g = class_score(L, work.s, y), class_score(L, work.s, z)
            H = violation(margin, loss, f, g)
            end = cost if H > 0.0 else 0.0
            if end == a[j] or abs(H) <= least:
                continue
            still = False
            add_pair(L, margin, y, z, loss, 1.0, work.u)
            bend = norm2 * curvature(work.u)
            d = end - a[j]
            if bend * abs(d) > abs(H):
                d = H / bend
                a[j] += d
            else:
                a[j] = end
            walk(work.u, d, norm2, work.s, work.step)
        if still:
            break


@part
def join(lists, i, y, z, loss):
    at = lists.begin[i] + lists.size[i]
    if at == lists.begin[i + 1]:
        lists.wants[i] = True
        return
    lists.y[at], lists.z[at], lists.loss[at], lists.a[at] = y, z, loss, 0.0
    lists.size[i] += 1


@part
def measure(problem, search, lists, i, joining, found, out, best):
    """Add to `out` the sums of example i by the scores `found.F`; its psi and slack.

    joining : whether violated pairs join the list
    best    : (2,) int32  the pair with the largest psi
    """
    F, on, listed, cost = found.F, found.on, found.listed, problem.cost[i]
    labels = problem.y[problem.y_begin[i] : problem.y_begin[i + 1]]
    psi, slack, end = -1.0, 0.0, lists.begin[i] + lists.size[i]
    for k in labels:
        on[k] = True
    for y in labels:
        for j in range(lists.begin[i], end):
            if lists.y[j] == y:
                listed[lists.z[j]] = j + 1
        for z in range(F.size):
            if on[z]:
                continue
            loss = (
                search.high[0, 0] if search.kind == CONSTANT else search.table[search.place[y], z]
            )
            H = violation(problem.margin, loss, F[y], F[z])
            at, listed[z] = listed[z] - 1, 0
            a = lists.a[at] if at >= 0 else 0.0
            slack += max(0.0, H)
            out[GAP] += cost * max(0.0, H) - a * H
            out[NORM] += a * (loss - H)
            out[ACTIVE] += a > DUST * cost
            off = max(-H if a > DUST * cost else 0.0, H if cost - a > FULL * cost else 0.0)
            if off > psi:
                psi, best[0], best[1] = off, y, z
            if joining and at < 0 and H > 0.0:
                join(lists, i, y, z, loss)
    for k in labels:
        on[k] = False
    out[LOSS] += cost * slack
    out[PSI] = max(out[PSI], psi)
    return psi, slack


@loop
def full_pass(order, problem, search, lists, W, work, told, settling, sweeps, floor):
    """Measure the examples in `order`, and settle each where that is asked for.

    told : Findings; the pair of an example is that with the largest psi
    """
    out, slack, psi, pair = told
    for i in order:
        attribute_scores(problem, W, i, work.u, work)
        class_scores(problem.L, work.s, work.found.F)
        found = measure(problem, search, lists, i, settling, work.found, out, pair[i])
        psi[i], slack[i] = found
        if not settling:
            continue
        settle(problem, lists, i, sweeps, max(floor[i], EASE * psi[i]), work)
        leave(problem, lists, W, i, work, out)
        lists.quiet[i] = lists.quiet[i] + 1 if lists.size[i] == 0 else 0


@loop
def settle_one(problem, lists, W, i, sweeps, floor, work, out):
    """Make the listed pairs of example i optimal."""
    attribute_scores(problem, W, i, work.u, work)
    settle(problem, lists, i, sweeps, floor[i], work)
    leave(problem, lists, W, i, work, out)
