# mypy: ignore-errors
"""Pairwise steps in the order polytope of one example.

    maximise over mu   <g, mu> - 1/2 q ||mu - mu_old||^2,     0 <= mu_j <= mu_pa(j) <= C

The vertices are C z with z a closed set. A step goes from an away set to the best set,

    d = z_best - z_away,   z_best = argmax_z <g, z>,   z_away = argmin_z <g, z>  in the face of mu.

The face of mu holds the sets that meet with equality every constraint that mu so meets: z_j = 0
where mu_j = 0, z_j = z_pa(j) where mu_j = mu_pa(j), and z_r = 1 for a root with mu_r = C. Then a
positive step is feasible, and its largest size is a ratio test over the constraints that shrink:
no list of vertices is needed. Values within `SNAP` C of a bound are put on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from linnaeus.compiled import loop, part
from linnaeus.inference.closed_fast import closed_argmax
from linnaeus.solvers.numerics.scores_fast import add, score

SNAP = 1e-13


class PathsWork(NamedTuple):
    """Scratch of a visit, (n_nodes,) each."""

    f: Any  # float64
    g: Any  # float64
    gain: Any  # float64
    best: Any  # bool
    away: Any  # bool
    step: Any  # float64


@part
def upper(parent, mu, C, v):
    """The bound above mu_v."""
    return C if parent[v] < 0 else mu[parent[v]]


@part
def away_set(parent, g, mu, C, gain, on):
    """Write the worst closed set of the face of mu into `on`."""
    for v in range(parent.size):
        gain[v] = g[v]
    for v in range(parent.size - 1, -1, -1):
        p = parent[v]
        tied = mu[v] > 0.0 and mu[v] == upper(parent, mu, C, v)
        if p >= 0 and mu[v] > 0.0 and (tied or gain[v] < 0.0):
            gain[p] += gain[v]
    for v in range(parent.size):
        above = parent[v] < 0 or on[parent[v]]
        tied = mu[v] == upper(parent, mu, C, v)
        on[v] = above and mu[v] > 0.0 and (tied or gain[v] < 0.0)


@part
def room(parent, mu, C, best, away):
    """How far mu may go along best - away."""
    limit = C
    for v in range(parent.size):
        d = int(best[v]) - int(away[v])
        above = 0 if parent[v] < 0 else int(best[parent[v]]) - int(away[parent[v]])
        if d < 0:
            limit = min(limit, mu[v])
        if d > above:
            limit = min(limit, (upper(parent, mu, C, v) - mu[v]) / (d - above))
    return limit


@part
def move(parent, mu, C, tau, work):
    """mu += tau (best - away), put on bounds that it reaches; the step goes to `work.step`."""
    for v in range(parent.size):
        old = mu[v]
        new = old + tau * (int(work.best[v]) - int(work.away[v]))
        top = upper(parent, mu, C, v)
        if top - new <= SNAP * C:
            new = top
        if new <= SNAP * C:
            new = 0.0
        mu[v] = new
        work.step[v] += old - new


@part
def visit(inputs, parent, a, i, C, n_steps, mu, W, work):
    """A few steps of example i; mu (n_nodes,) and the weights W are changed."""
    score(inputs, i, W, work.f)
    work.step[:] = 0.0
    for v in range(parent.size):
        work.g[v] = a[v] + work.f[v]
    for _ in range(n_steps):
        closed_argmax(parent, work.g, False, work.gain, work.best)
        away_set(parent, work.g, mu, C, work.gain, work.away)
        slope, size = 0.0, 0
        for v in range(parent.size):
            d = int(work.best[v]) - int(work.away[v])
            slope += d * work.g[v]
            size += d * d
        if slope <= 0.0 or size == 0:
            break
        tau = room(parent, mu, C, work.best, work.away)
        if inputs.norm2[i] * size * tau > slope:
            tau = slope / (inputs.norm2[i] * size)
        move(parent, mu, C, tau, work)
        for v in range(parent.size):
            work.g[v] = a[v] + work.f[v] + inputs.norm2[i] * work.step[v]
    add(inputs, i, W, work.step)


@loop
def visits(inputs, parent, a, order, cost, n_steps, mu, W, work):
    """`visit` for the examples of `order`; a, mu : (n, n_nodes), cost : (n,)."""
    for i in order:
        visit(inputs, parent, a[i], i, cost[i], n_steps, mu[i], W, work)


@loop
def certify(parent, a, truth, F, cost, mu, work, slack, gaps):
    """Slack and gap of every row; a, truth, F, mu : (n_rows, n_nodes)."""
    for i in range(F.shape[0]):
        at_truth, at_mu = 0.0, 0.0
        for v in range(parent.size):
            work.g[v] = a[i, v] + F[i, v]
            at_truth += work.g[v] * truth[i, v]
            at_mu += work.g[v] * mu[i, v]
        best = closed_argmax(parent, work.g, False, work.gain, work.best)
        slack[i] = best - at_truth
        gaps[i] = cost[i] * best - at_mu
