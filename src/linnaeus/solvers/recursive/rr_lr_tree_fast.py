# mypy: ignore-errors
"""Weights of all nodes of a grounded forest, and the increments in which the pull is a norm.

    tr(W' L W) = sum_e c_e ||w_v - w_p||^2 + sum_v g_v ||w_v||^2 = ||B||^2

Eliminating children before parents gives L = R' diag(pivots) R, R with ones on the diagonal and
edge_v / pivot_v at (v, parent of v), hence B = diag(pivots)^1/2 R W. Rows of the arrays here are
features, columns are nodes: parents before children, leaves last. See `tree_logistic.Tree`.
"""

from __future__ import annotations

import math

import numpy as np

from linnaeus.compiled import loop


@loop
def extend(tree, W, inner):
    """inner (rows, internal) = the internal nodes that minimise the energy given leaves W.

    Return that energy, sum_e c_e (w_v - w_p)^2 + sum_v g_v w_v^2: no term is negative.
    """
    w = np.empty(tree.parent.size)
    first, total = inner.shape[1], 0.0
    for j in range(W.shape[0]):
        for v in range(first):
            w[v] = 0.0
        for v in range(w.size - 1, -1, -1):
            step = tree.edge[v]
            if v >= first:
                w[v] = W[j, v - first]
            else:
                step *= tree.inner_inverse[v]
            if tree.parent[v] >= 0:
                w[tree.parent[v]] -= step * w[v]
        for v in range(w.size):
            p = tree.parent[v]
            if v < first:
                if p >= 0:
                    w[v] -= tree.edge[v] * w[p]
                w[v] *= tree.inner_inverse[v]
                inner[j, v] = w[v]
            if p >= 0:
                total -= tree.edge[v] * (w[v] - w[p]) ** 2
            total += tree.ground[v] * w[v] ** 2
    return total


@loop
def to_weights(tree, B, W):
    """W (rows, nodes): w_v = b_v sqrt(inverse_v) - edge_v inverse_v w_parent."""
    for j in range(B.shape[0]):
        for v in range(tree.parent.size):
            w = B[j, v] * math.sqrt(tree.inverse[v])
            if tree.parent[v] >= 0:
                w -= tree.edge[v] * tree.inverse[v] * W[j, tree.parent[v]]
            W[j, v] = w


@loop
def from_weights(tree, W, B):
    """The inverse of `to_weights`."""
    for j in range(W.shape[0]):
        for v in range(tree.parent.size):
            w = float(W[j, v])
            if tree.parent[v] >= 0:
                w += tree.edge[v] * tree.inverse[v] * W[j, tree.parent[v]]
            B[j, v] = w / math.sqrt(tree.inverse[v])


@loop
def add_gradient(tree, G, squared, out):
    """out (rows, nodes) += the gradient in B from that in W, G (rows, leaves).

    squared : with squared factors instead, which takes a diagonal of Hessians to another
    """
    total = np.empty(tree.parent.size)
    first = total.size - G.shape[1]
    for j in range(G.shape[0]):
        for v in range(first):
            total[v] = 0.0
        for v in range(total.size - 1, -1, -1):
            if v >= first:
                total[v] = G[j, v - first]
            if tree.parent[v] >= 0:
                factor = -tree.edge[v] * tree.inverse[v]
                total[tree.parent[v]] += total[v] * (factor * factor if squared else factor)
            inverse = tree.inverse[v]
            out[j, v] += total[v] * (inverse if squared else math.sqrt(inverse))
