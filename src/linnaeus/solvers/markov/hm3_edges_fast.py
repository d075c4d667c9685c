# mypy: ignore-errors
"""The multiclass machine of one edge, one example at a time.

    maximise over mu   <g, mu> - 1/2 q ||mu - mu_old||^2,     mu_u >= 0,  sum_u mu_u = C

over the codes u that the edge has: all four, or 2 and 3 on a top edge. With g the gradient at
mu_old and q = K_ii, the maximum is the projection of mu_old + g / q onto the simplex,

    mu_u = max(0, mu_old,u + g_u / q - beta),     beta such that they sum to C;

for q = 0 it is the vertex with the largest g_u, the truth if that is among several.
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop, part
from linnaeus.solvers.linear.msvm_fast import root
from linnaeus.solvers.numerics.scores_fast import add, score


@part
def gradient(table, truth, first, s):
    """Turn scores into g = l - (s_truth - s), and say where it is largest."""
    at, best = s[truth], truth
    for u in range(first, 4):
        s[u] += table[u] - at
    for u in range(first, 4):
        if s[u] > s[best]:
            best = u
    return best


@part
def project(D, C):
    """Replace D by its nearest point of the simplex of size C."""
    top = D[0]
    for u in range(1, D.size):
        top = max(top, D[u])
    for u in range(D.size):
        D[u] -= top
    beta = root(D, D.size, -np.inf, -C, 0)
    for u in range(D.size):
        D[u] = max(0.0, D[u] - beta)


@loop
def visits(inputs, table, truth, first, order, cost, mu, W, s, step):
    """Make the multipliers of the examples of `order` optimal, one after the other.

    table, mu : (n, 4) float64;   truth : (n,) int8;   cost : (n,) float64
    s, step   : (4,) float64, work space
    """
    for i in order:
        score(inputs, i, W, s)
        best = gradient(table[i], truth[i], first, s)
        q = inputs.norm2[i]
        for u in range(4):
            step[u] = mu[i, u]
        if q > 0.0:
            for u in range(first, 4):
                mu[i, u] += s[u] / q
            project(mu[i, first:], cost[i])
        else:
            mu[i] = 0.0
            mu[i, best] = cost[i]
        for u in range(4):
            step[u] -= mu[i, u]
        add(inputs, i, W, step)


@loop
def certify(table, truth, first, F, cost, mu, slack, gaps):
    """Slack and gap of every row; table, F, mu : (n_rows, 4); F is overwritten."""
    for i in range(F.shape[0]):
        slack[i] = F[i, gradient(table[i], truth[i], first, F[i])]
        gaps[i] = cost[i] * slack[i]
        for u in range(first, 4):
            gaps[i] -= mu[i, u] * F[i, u]
