# mypy: ignore-errors
"""The loop of `newcomers`: dual coordinate descent over pairs of classes.

    minimise_d  1/2 ||d||^2 + sum_p xi_p^2 / (2 soft_p)
    subject to  sum_v u_pv d_v.x_i(p) >= gap_p - xi_p

d = sum_p alpha_p u_p x_i(p)' with alpha >= 0; a step is exact in one alpha. The state is as in
`perceptron_fast`: d, or with another kernel the scores d_v.x of all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from linnaeus.compiled import loop, part
from linnaeus.solvers.online.perceptron_fast import move


class Lines(NamedTuple):
    """What is to hold, one line for each pair."""

    row: Any  # (n_pairs,) int32
    begin: Any  # (n_pairs + 1,) int64
    node: Any  # int32
    u: Any  # float64
    gap: Any  # (n_pairs,) float64
    norm2: Any  # (n_pairs,) float64, ||u||^2 ||x||^2
    soft: Any  # (n_pairs,) float64


@part
def pair_score(inputs, W, i, node, u):
    """``sum_v u_v d_v.x_i``"""
    total = 0.0
    if inputs.K.size > 0:
        for j in range(node.size):
            total += u[j] * W[node[j], i]
        return total
    for p in range(inputs.indptr[i], inputs.indptr[i + 1]):
        w, x = W[inputs.indices[p]], inputs.data[p]
        for j in range(node.size):
            total += x * u[j] * w[node[j]]
    return total


@loop
def descend(inputs, lines, alpha, W):
    """A step for every pair, in order; return the largest violation of optimality."""
    worst = 0.0
    for p in range(alpha.size):
        b, e = lines.begin[p], lines.begin[p + 1]
        i, node, u = lines.row[p], lines.node[b:e], lines.u[b:e]
        soft = lines.soft[p]
        slope = lines.gap[p] - soft * alpha[p] - pair_score(inputs, W, i, node, u)
        step = max(slope / (lines.norm2[p] + soft), -alpha[p])
        if step != 0.0:
            worst = max(worst, abs(slope))
            alpha[p] += step
            move(inputs, W, i, step, node, u, e - b)
    return worst
