# mypy: ignore-errors
"""Loops of `corrmnl`: the log density of increments and precisions, and trajectories in it.

    f(B, l) = sum_i c_i log softmax(W x_i)_{t_i} - 1/2 ||B||^2 + sum_o (a l_o - b exp l_o)

W of a leaf is the sum of phi_n over its path, phi_n = exp(-l_o(n) / 2) B_n, l the log precision of
the owner o(n). Coordinates are q = (S o Q'B, c o l), Q orthogonal, S and c scales.
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop, part


@part(allocates=True, error_model="numpy")
def increments(model, space, work, q):
    """`work.phi` (m, r) of the point q; returns -1/2 ||B||^2, the prior of B."""
    phi, B, scaled = work.phi, work.A, work.V
    m, r = phi.shape
    for n in range(m):
        for j in range(r):
            scaled[n, j] = q[n * r + j] / space.S[n, j]
    np.dot(space.Q, scaled, B)
    prior = 0.0
    for n in range(m):
        o = model.owner[n]
        size = np.exp(-0.5 * q[m * r + o] / space.c[o])
        for j in range(r):
            prior -= 0.5 * B[n, j] * B[n, j]
            phi[n, j] = size * B[n, j]
    return prior


@part(error_model="numpy")
def path_sums(model, phi, A, WT):
    """WT (r, K), the weights of the leaves; A (m, r) is work space."""
    m, r = phi.shape
    for n in range(m):
        p = model.parent[n]
        for j in range(r):
            A[n, j] = phi[n, j] + (A[p, j] if p >= 0 else 0.0)
    for k in range(model.leaf.size):
        for j in range(r):
            WT[j, k] = A[model.leaf[k], j]


@part(allocates=True, error_model="numpy")
def likelihood(model, WT, P):
    """The log likelihood; P (n, K) becomes c_i ([t_i = k] - p_ik)."""
    np.dot(model.X, WT, P)
    total = 0.0
    K = P.shape[1]
    for i in range(P.shape[0]):
        row, c, t = P[i], model.cost[i], model.t[i]
        top = row[0]
        for k in range(1, K):
            top = max(top, row[k])
        own, z = row[t] - top, 0.0
        for k in range(K):
            row[k] = np.exp(row[k] - top)
            z += row[k]
        total += c * (own - np.log(z))
        for k in range(K):
            row[k] *= -c / z
        row[t] += c
    return total


@part(allocates=True, error_model="numpy")
def density(model, space, work, q, gradient):
    """f at q, and its gradient; returns f and the log likelihood."""
    phi, A, P, G = work.phi, work.A, work.P, work.G
    m, r = phi.shape
    value = increments(model, space, work, q)
    path_sums(model, phi, A, work.WT)
    fit = likelihood(model, work.WT, P)
    np.dot(P.T, model.X, G)
    for n in range(m):
        for j in range(r):
            A[n, j] = 0.0
    for k in range(model.leaf.size):
        for j in range(r):
            A[model.leaf[k], j] += G[k, j]
    for o in range(space.c.size):
        level = q[m * r + o] / space.c[o]
        rate = model.b[o] * np.exp(level)
        value += model.a[o] * level - rate
        gradient[m * r + o] = (model.a[o] - rate) / space.c[o]
    for n in range(m - 1, -1, -1):  # children first
        o, p = model.owner[n], model.parent[n]
        size = np.exp(-0.5 * q[m * r + o] / space.c[o])
        dot = 0.0
        for j in range(r):
            if p >= 0:
                A[p, j] += A[n, j]
            dot += phi[n, j] * A[n, j]
            A[n, j] = size * A[n, j] - phi[n, j] / size
        gradient[m * r + o] -= 0.5 * dot / space.c[o]
    inner = work.V
    np.dot(space.Q.T, A, inner)
    for n in range(m):
        for j in range(r):
            gradient[n * r + j] = inner[n, j] / space.S[n, j]
    return value + fit, fit


@loop(error_model="numpy")
def trajectory(model, space, work, q, gradient, p, step, n_steps):
    """Leapfrog steps, in place; returns f and the log likelihood at the end.

    Without steps, the gradient at q. One function, as `density` takes long to compile.
    """
    if n_steps == 0:
        return density(model, space, work, q, gradient)
    value, fit = -np.inf, -np.inf
    for _ in range(n_steps):
        for j in range(q.size):
            p[j] += 0.5 * step * gradient[j]
            q[j] += step * p[j]
        value, fit = density(model, space, work, q, gradient)
        for j in range(q.size):
            p[j] += 0.5 * step * gradient[j]
        if not np.isfinite(value):
            break
    return value, fit


@loop(allocates=True, error_model="numpy")
def draw_precisions(model, space, work, gamma, q):
    """`work.phi` of the point q, and a Gibbs draw of the precisions given phi, in place.

    gamma : (n_owners,) draws of Gamma(shape, 1) with the shapes of the posterior, then log alpha;
        or empty: phi only
    """
    phi, B, inner = work.phi, work.A, work.V
    m, r = phi.shape
    increments(model, space, work, q)
    if gamma.size == 0:
        return
    for o in range(gamma.size):
        work.rate[o] = model.b[o]
    for n in range(m):
        for j in range(r):
            work.rate[model.owner[n]] += 0.5 * phi[n, j] * phi[n, j]
    for o in range(gamma.size):
        gamma[o] = np.log(max(gamma[o], 1e-300)) - np.log(work.rate[o])
        q[m * r + o] = gamma[o] * space.c[o]
    for n in range(m):
        size = np.exp(0.5 * gamma[model.owner[n]])
        for j in range(r):
            B[n, j] = size * phi[n, j]
    np.dot(space.Q.T, B, inner)
    for n in range(m):
        for j in range(r):
            q[n * r + j] = inner[n, j] * space.S[n, j]
