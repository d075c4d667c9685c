# mypy: ignore-errors
"""Best set of leaves of a forest, when the nodes above them have a price too.

    maximise  sum_{leaf y in U} F(y) + sum_{v in anc U} g_v      over sets U of leaves

best(leaf) = g + F; best(inner) = g + the sum of the positive values of its children, or the best
child if none is positive. Children report upwards, then nodes are switched on downwards:
O(n_nodes) per row. A value of 0 is not taken, so of several best sets the smallest is found.
"""

from __future__ import annotations

from linnaeus.compiled import loop, part


@part
def best_leaf_set(parent, n_children, g, nonempty, value, gain, best, on):
    """Write the best set of one row into `on` (leaves and all above them) and return its value.

    parent     : (n,) int32    parent[v] < v, roots -1
    n_children : (n,) int32
    g          : (n,) float64  prices of the nodes, scores of the leaves included
    nonempty   : bool          whether the set must hold a leaf
    value      : (n,) float64  work space: the best value at or below each node
    gain       : (n + 1,) float64  work space: the sum of the positive values of the children
    best       : (n + 1,) int64    work space: the best child; the last place is for the roots
    on         : (n,) bool     result
    """
    n = parent.size
    gain[:] = 0.0
    best[:] = -1
    for v in range(n - 1, -1, -1):  # children first
        below = 0.0
        if n_children[v] > 0:
            below = gain[v] if gain[v] > 0.0 else value[best[v]]
        value[v] = g[v] + below
        p = parent[v] if parent[v] >= 0 else n
        if value[v] > 0.0:
            gain[p] += value[v]
        if best[p] < 0 or value[v] >= value[best[p]]:  # ties to the lower number
            best[p] = v
    for v in range(n):  # parents first
        p = parent[v] if parent[v] >= 0 else n
        forced = gain[p] <= 0.0 and best[p] == v and (p < n or nonempty)
        on[v] = (p == n or on[p]) and (value[v] > 0.0 or forced)
    if gain[n] > 0.0 or n == 0 or not nonempty:
        return gain[n]
    return value[best[n]]


@loop
def best_leaf_sets(
    parent, n_children, leaves, scores, outside, inside, ptr, above, nonempty, g, value, gain,
    best, on, total,
):  # fmt: skip
    """`best_leaf_set` for every row.

    leaves : (n_leaves,) int32;  scores : (n_rows, n_leaves) float64
    outside, inside : (n,) float64  prices of nodes outside and inside the closed true set
    ptr, above : closed true sets as lists, (n_rows + 1,) and (ptr[-1],)
    on : (n_rows, n) bool;  total : (n_rows,) float64, results
    """
    for i in range(scores.shape[0]):
        for v in range(g.size):
            g[v] = outside[v]
        for k in range(ptr[i], ptr[i + 1]):
            g[above[k]] = inside[above[k]]
        for j in range(leaves.size):
            g[leaves[j]] += scores[i, j]
        total[i] = best_leaf_set(parent, n_children, g, nonempty, value, gain, best, on[i])
        for v in range(parent.size):
            on[i, v] = on[i, v] and n_children[v] == 0
