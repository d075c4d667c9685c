# mypy: ignore-errors
"""Pairwise steps between the labelings of one example, given scores h and marginals mu.

    maximise over mu   <mu, h> - 1/2 K ||mu - mu_old||^2

Mass goes from the worst labeling all of whose codes have some to the best one, [GarberMeshi2016].
Where the two differ in several connected parts, each is a direction of its own; the block of D is
diagonal in the edges, so that the best steps are independent: docs/maths/hm3.md. `model` and
`work` are those of `hm3_fast`.
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import part


@part
def code_of(labels, a, b):
    """The code of an edge."""
    return 2 + labels[b] if a < 0 else 2 * labels[a] + labels[b]


@part
def extremes(model, floor, work):
    """Scores of the best labeling and of the least one that has mass above `floor`, and <mu, h>.

    What `maxsum_fast.best` and `least` find, in one pass upwards. Labels: of the roots in `to` and
    `away`; of others in `pick`, bits 0 and 1 (best), 2 and 3 (least), by the parent's label.
    """
    h, mu, up = work.h, work.mu, work.ends
    up[:] = 0.0
    inner = 0.0
    for e in range(h.shape[0] - 1, -1, -1):
        a, b = model.above[e], model.below[e]
        h0, h1, h2, h3 = h[e, 0], h[e, 1], h[e, 2], h[e, 3]
        m0, m1, m2, m3 = mu[e, 0], mu[e, 1], mu[e, 2], mu[e, 3]
        inner += (m0 * h0 + m1 * h1) + (m2 * h2 + m3 * h3)
        off, on = up[b, 0], up[b, 1]
        lose2 = h2 + up[b, 2] if m2 > floor else np.inf
        lose3 = h3 + up[b, 3] if m3 > floor else np.inf
        if a < 0:
            up[b, 0], up[b, 1] = off + h2, on + h3
            up[b, 2], up[b, 3] = lose2, lose3
            continue
        lose0 = h0 + up[b, 2] if m0 > floor else np.inf
        lose1 = h1 + up[b, 3] if m1 > floor else np.inf
        win0, win1, win2, win3 = h0 + off, h1 + on, h2 + off, h3 + on
        if model.consistent:
            win1 = -np.inf
        best_on = (win1 > win0) + 2 * (win3 > win2)
        work.pick[e] = best_on + 4 * (lose1 < lose0) + 8 * (lose3 < lose2)
        up[a, 0] += max(win0, win1)
        up[a, 1] += max(win2, win3)
        up[a, 2] += min(lose0, lose1)
        up[a, 3] += min(lose2, lose3)
    value, least = 0.0, 0.0
    for r in model.root:
        work.to[r], work.away[r] = up[r, 1] > up[r, 0], up[r, 3] < up[r, 2]
        value += max(up[r, 0], up[r, 1])
        least += min(up[r, 2], up[r, 3])
    return value, least, inner


@part
def open_part(k, work):
    """Part k has no edge yet; returns k + 1."""
    work.gain[k], work.room[k], work.size[k] = 0.0, np.inf, 0
    return k + 1


@part
def split(model, work):
    """The labels of `extremes`, and the connected parts of {nodes where they differ}.

    Measures for each part: what a unit moved gains, how much there is to move, how many edges
    change. An edge changes if an end does, and lies in one part only. Returns how many parts there
    are, and how many edges change.
    """
    to, away, part = work.to, work.away, work.part
    n_parts = n_changed = 0
    for r in model.root:
        part[r] = -1
        if to[r] != away[r]:
            part[r] = n_parts
            n_parts = open_part(n_parts, work)
    for e in range(model.below.size):
        a, b = model.above[e], model.below[e]
        if a >= 0:
            to[b] = (work.pick[e] >> to[a]) & 1
            away[b] = (work.pick[e] >> (2 + away[a])) & 1
            part[b] = -1
            if to[b] != away[b]:
                part[b] = part[a]
                if part[b] < 0:
                    part[b] = n_parts
                    n_parts = open_part(n_parts, work)
        k = max(part[b], part[a]) if a >= 0 else part[b]
        if k >= 0:
            u, v = code_of(to, a, b), code_of(away, a, b)
            work.gain[k] += work.h[e, u] - work.h[e, v]
            work.room[k] = min(work.room[k], work.mu[e, v])
            work.size[k] += 1
            work.changed[n_changed] = e
            n_changed += 1
    return n_parts, n_changed


@part
def swap(model, square, work):
    """Move mass from `away` to `to`, every part as far as pays; returns what D gains."""
    n_parts, n_changed = split(model, work)
    rise = 0.0
    for k in range(n_parts):  # gain becomes the step
        gain, curve, tau = work.gain[k], square * work.size[k], 0.0
        if gain > 0.0:
            tau = work.room[k]
            if 2.0 * curve * tau > gain:
                tau = gain / (2.0 * curve)
        work.gain[k] = tau
        rise += tau * (gain - tau * curve)
    for m in range(n_changed):
        e = work.changed[m]
        a, b = model.above[e], model.below[e]
        k = max(work.part[b], work.part[a]) if a >= 0 else work.part[b]
        tau = work.gain[k]
        if tau > 0.0:
            u, v = code_of(work.to, a, b), code_of(work.away, a, b)
            work.mu[e, u] += tau
            work.mu[e, v] = max(0.0, work.mu[e, v] - tau)
            work.h[e, u] -= square * tau
            work.h[e, v] += square * tau
    return rise


@part
def pairwise(model, square, cost, floor, limit, enough, work):
    """Up to `limit` pairwise steps, or until the gap is `enough` of what it was.

    Returns the gap before the first step, and what D gained.
    """
    first, rise = 0.0, 0.0
    for step in range(limit):
        value, low, inner = extremes(model, floor, work)
        gap = cost * value - inner
        if step == 0:
            first = gap
        if gap <= enough * first or gap <= 0.0 or not low < value:
            break
        rise += swap(model, square, work)
    return first, rise
