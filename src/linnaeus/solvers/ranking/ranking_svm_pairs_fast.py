# mypy: ignore-errors
"""Scores of classes from those of attributes, and the pair that violates its margin most.

    F_y = sum_r l_r(y) s_r,
    H(y, z) = D (1 - F_y + F_z)   slack rescaling, reach D = D(y, z);
    H(y, z) = D - F_y + F_z       margin rescaling, reach 1.

The pair of a label y and another class z with the largest H is found by one of three ways, as the
loss D is: a constant (lowest label, highest other class); in a tree D depends on the node where y
and z meet, and on their depths: then one pass from the leaves to the root; or else a table.
[Cai2008] section 4.3, docs/maths/ranking_svm.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import part

CONSTANT, TREE, TABLE = range(3)


class Attributes(NamedTuple):
    """Rows l(y) of all classes."""

    begin: Any  # (n_classes + 1,) int64
    node: Any  # int32
    value: Any  # float64


class Vector(NamedTuple):
    """A vector over the attributes with few entries."""

    value: Any  # (n_attributes,) float64
    has: Any  # (n_attributes,) bool
    at: Any  # (n_attributes,) uint32, the first `size` entries are in use
    size: Any  # (1,) int64


class Search(NamedTuple):
    """Losses in the form in which pairs are searched.

    In a tree D(y, z) = high[g, h] - fall[g, h] above[u] for classes of groups g and h that meet at
    node u. Row place[y] of the table holds D(y, .).
    """

    kind: int
    parent: Any  # (n_nodes,) int64, the root first
    leaf: Any  # (n_nodes,) int32, the class of a leaf, else -1
    group: Any  # (n_classes,) int32
    above: Any  # (n_nodes,) float64, nodes above, itself included
    high: Any  # (n_groups, n_groups) float64; the constant
    fall: Any  # (n_groups, n_groups) float64
    table: Any  # (n_rows, n_classes) float64
    place: Any  # (n_classes,) int64


class Found(NamedTuple):
    """Scratch of a search: the best below each node, by group."""

    F: Any  # (n_classes,) float64
    on: Any  # (n_classes,) bool, the labels
    listed: Any  # (n_classes,) int64, slots of pairs plus 1
    low: Any  # (n_nodes, n_groups) float64, lowest score of a label
    low_at: Any  # (n_nodes, n_groups) int32
    top: Any  # (n_nodes, n_groups) float64, highest score of another class
    top_at: Any  # (n_nodes, n_groups) int32


@part
def class_score(L, s, y):
    total = 0.0
    for p in range(L.begin[y], L.begin[y + 1]):
        total += L.value[p] * s[L.node[p]]
    return total


@part
def class_scores(L, s, F):
    for y in range(F.size):
        F[y] = class_score(L, s, y)


@part
def add(L, y, factor, vector):
    """Add `factor` l(y) to a vector."""
    for p in range(L.begin[y], L.begin[y + 1]):
        v = L.node[p]
        if not vector.has[v]:
            vector.has[v], vector.at[vector.size[0]] = True, v
            vector.size[0] += 1
        vector.value[v] += factor * L.value[p]


@part
def clear(vector):
    for j in range(vector.size[0]):
        v = vector.at[j]
        vector.value[v], vector.has[v] = 0.0, False
    vector.size[0] = 0


@part
def violation(margin, loss, y_score, z_score):
    if margin:
        return loss - y_score + z_score
    return loss * (1.0 - y_score + z_score)


@part
def best_constant(labels, F, on):
    """The lowest label and the highest other class."""
    y, z = labels[0], -1
    for k in labels:
        if F[k] < F[y]:
            y = k
    for k in range(F.size):
        if not on[k] and (z < 0 or F[k] > F[z]):
            z = k
    return y, z


@part
def best_in_tree(margin, search, found):
    """The best pair and its loss.

    A node knows the lowest label and the highest other class below it, of each group. Each child
    is compared with what its parent has from the children before: so the two meet at the parent.
    Groups have one loss at one node, so no other members of them can be better.
    """
    low, low_at, top, top_at = found.low, found.low_at, found.top, found.top_at
    n_groups, best, y, z, loss = search.high.shape[0], -np.inf, -1, -1, 0.0
    for v in range(search.parent.size):
        for g in range(n_groups):
            low[v, g], top[v, g] = np.inf, -np.inf
        k = search.leaf[v]
        if k >= 0:
            g = search.group[k]
            if found.on[k]:
                low[v, g], low_at[v, g] = found.F[k], k
            else:
                top[v, g], top_at[v, g] = found.F[k], k
    for v in range(search.parent.size - 1, 0, -1):
        u = search.parent[v]
        for g in range(n_groups):
            if low[v, g] < np.inf or low[u, g] < np.inf:
                for h in range(n_groups):
                    D = search.high[g, h] - search.fall[g, h] * search.above[u]
                    if D <= 0.0:  # no class of such a depth is below u
                        continue
                    here = violation(margin, D, low[v, g], top[u, h])
                    if here > best:
                        best, y, z, loss = here, low_at[v, g], top_at[u, h], D
                    here = violation(margin, D, low[u, g], top[v, h])
                    if here > best:
                        best, y, z, loss = here, low_at[u, g], top_at[v, h], D
        for g in range(n_groups):
            if low[v, g] < low[u, g]:
                low[u, g], low_at[u, g] = low[v, g], low_at[v, g]
            if top[v, g] > top[u, g]:
                top[u, g], top_at[u, g] = top[v, g], top_at[v, g]
    return y, z, loss


@part
def best_in_table(margin, search, labels, F, on):
    """The best pair, the first in the order of the classes."""
    best, y, z = -np.inf, -1, -1
    for k in labels:
        row = search.table[search.place[k]]
        for r in range(F.size):
            if not on[r]:
                here = violation(margin, row[r], F[k], F[r])
                if here > best:
                    best, y, z = here, k, r
    return y, z


@part
def most_violated(margin, search, labels, found):
    """The pair of a label and another class with the largest H by `found.F`; its loss and H."""
    F, on = found.F, found.on
    for k in labels:
        on[k] = True
    if search.kind == TREE:
        y, z, loss = best_in_tree(margin, search, found)
    elif search.kind == TABLE:
        y, z = best_in_table(margin, search, labels, F, on)
        loss = search.table[search.place[y], z]
    else:
        y, z = best_constant(labels, F, on)
        loss = search.high[0, 0]
    for k in labels:
        on[k] = False
    return y, z, loss, violation(margin, loss, F[y], F[z])
