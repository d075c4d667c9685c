# mypy: ignore-errors
"""Sums over features from which the precisions of HBLR follow (`hblr_precisions`).

Nodes are numbered parents first, leaves last (`hblr_model.Order`).
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop


@loop(allocates=True)
def summarise(parent, A, W, h, variance, slope, away, pull):
    """Sums over the rows of W, each (nodes,) and added to, for A (nodes,):

    variance, slope : of 1 / (h + A) and A / (h + A)^2, leaves only
    away, pull : of u^2 and 2 u^2 A / (load + A), the fall of u^2 with log A; load is what the data
        put on a node, h (rows, leaves) seen from there
    """
    load, first = np.empty(parent.size), parent.size - h.shape[1]
    for j in range(W.shape[0]):
        for v in range(first):
            load[v] = 0.0
        for v in range(parent.size - 1, -1, -1):
            above = 0.0
            if v >= first:
                load[v] = h[j, v - first]
            share = A[v] / (A[v] + load[v])
            if parent[v] >= 0:
                above = W[j, parent[v]]
                load[parent[v]] += load[v] * share
            if v >= first:
                variance[v] += share / A[v]
                slope[v] += share * share / A[v]
            u = float(W[j, v]) - above
            u2 = u * u
            away[v] += u2
            pull[v] += 2.0 * u2 * share


@loop(allocates=True)
def summarise_features(parent, owner, A, W, h, total, slope):
    """The same for A (rows, nodes): total (rows, owners) += Q, summed over the nodes of an owner;

    slope += its fall with the logarithm of the owner's precision, other precisions fixed.
    owner : (nodes,), -1 for the root
    """
    load, s = np.empty(parent.size), np.empty(parent.size)
    own, first = np.empty(parent.size), parent.size - h.shape[1]
    for j in range(W.shape[0]):
        a = A[j]
        for v in range(parent.size):
            s[v] = a[v]
            own[v] = 0.0  # the part of s that the owner of the edges below has
            load[v] = h[j, v - first] if v >= first else 0.0
        for v in range(parent.size - 1, 0, -1):
            s[parent[v]] += a[v]
            own[parent[v]] += a[v]
            load[parent[v]] += load[v] * a[v] / (a[v] + load[v])
        for v in range(1, parent.size):
            p, o = parent[v], owner[v]
            below = a[v] + load[v] if v >= first else s[v]
            u = float(W[j, v]) - W[j, p]
            u2 = u * u
            total[j, o] += 1.0 / below + 1.0 / s[p] + u2
            fall = a[v] / (below * below) + own[p] / (s[p] * s[p])
            slope[j, o] += fall + 2.0 * u2 * a[v] / (a[v] + load[v])
