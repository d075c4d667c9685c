# mypy: ignore-errors
"""Loops of `ot_rda`: subgradients of the losses, example by example, and proximal steps.

The loss of example k is c_k max(0, h_p), h_p = 1 - w_i.x_k + w_j.x_k over its pairs p = (i, j).
With the greatest h_p > 0 it has the subgradient -c_k (e_i - e_j) x_k', which touches the nonzeros
of x_k in two columns of the weights. A step touches all weights once:

    R += (M(s) - sigma) W / B,    W <- (V - R) / (sigma tau + beta / B)

for B steps a pass, tau passes, V the sum of c_k (e_i - e_j) x_k' and R that of the subgradients of
the regulariser less sigma/2 ||W||^2. Arrays lie as in `ot_fast`: (d + 1, m), the constant
feature last.
"""

from __future__ import annotations

from linnaeus.compiled import loop, part
from linnaeus.solvers.recursive.ot_fast import families


@part
def worst(k, rows, bias, forest, W, local):
    """The pair with the greatest h, as places in `local.loc`, and h; 0 where none is positive."""
    n = families(k, forest, local)
    loc, g = local.loc, local.g
    for s in range(n):
        g[s] = bias * W[-1, loc[s]]
    for j in range(rows.indptr[k], rows.indptr[k + 1]):
        w, x = W[rows.indices[j]], rows.data[j]
        for s in range(n):
            g[s] += x * w[loc[s]]
    high, i, j = 0.0, 0, 0
    for s in range(n):
        own = local.own[local.level[s]]
        h = 1.0 - g[own] + g[s]
        if s != own and h > high:
            high, i, j = h, own, s
    return high, loc[i], loc[j]


@loop
def losses(rows, bias, forest, W, local):
    """sum_k c_k xi_k."""
    total = 0.0
    for k in range(forest.cls.size):
        total += forest.cost[k] * worst(k, rows, bias, forest, W, local)[0]
    return total


@part
def push(k, i, j, c, rows, bias, V):
    """V += c (e_i - e_j) x_k'."""
    for q in range(rows.indptr[k], rows.indptr[k + 1]):
        v, x = V[rows.indices[q]], c * rows.data[q]
        v[i] += x
        v[j] -= x
    V[-1, i] += c * bias
    V[-1, j] -= c * bias


@part
def proximal(forest, coupling, sigma, part, weight, mean):
    """Add to the sums what the regulariser has at W, with `part` of a pass, and step.

    weight : sigma tau + beta / B
    """
    ptr, above = forest.ptr, forest.above
    for e in range(above.size):
        if mean.dots[e] != 0.0:
            mean.signs[e] += part if mean.dots[e] > 0.0 else -part
    for j in range(mean.W.shape[0]):
        w, r = mean.W[j], mean.R[j]
        for f in range(w.size):
            value = part * w[f]
            mean.total[j, f] += value
            r[f] += (coupling.own[f] - sigma) * value
            for e in range(ptr[f], ptr[f + 1]):
                if mean.dots[e] != 0.0:
                    c = coupling.pairs[e] if mean.dots[e] > 0.0 else -coupling.pairs[e]
                    r[f] += part * c * w[above[e]]
                    r[above[e]] += c * value
    mean.dots[:] = 0.0
    for j in range(mean.W.shape[0]):
        w, v, r = mean.W[j], mean.V[j], mean.R[j]
        for f in range(w.size):
            w[f] = (v[f] - r[f]) / weight
            for e in range(ptr[f], ptr[f + 1]):
                mean.dots[e] += w[f] * w[above[e]]


@loop
def sweep(order, n_steps, done, sigma, beta, rows, bias, forest, coupling, local, mean):
    """A pass over the examples in `n_steps` steps, `done` passes after the start.

    Returns the sum of the costs c_k of the losses that were positive.
    """
    active, part, begin = 0.0, 1.0 / n_steps, 0
    for b in range(n_steps):
        end = (b + 1) * order.size // n_steps
        for q in range(begin, end):
            k = order[q]
            h, i, j = worst(k, rows, bias, forest, mean.W, local)
            if h > 0.0:
                active += forest.cost[k]
                push(k, i, j, forest.cost[k], rows, bias, mean.V)
        begin = end
        weight = sigma * (done + (b + 1) * part) + beta * part
        proximal(forest, coupling, sigma, part, weight, mean)
    return active
