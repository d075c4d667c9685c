# mypy: ignore-errors
"""Scores closed upwards, row by row: those of true labels, and how many reach thresholds.

A row of scores (CSR) is spread over the nodes at or above its columns, each taking the largest:

    s_u = max of the scores at or below u, -inf where there is none.
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop, part


@part
def spread(begin, end, columns, scores, above_ptr, above, node_score, touched):
    """Write the closed scores of one row; `touched` lists its nodes, whose number is returned.

    above_ptr, above : CSR lists, the nodes at or above each column
    node_score       : (n_nodes,) -inf before; result
    """
    n = 0
    for e in range(begin, end):
        if scores[e] == -np.inf:
            continue
        for a in range(above_ptr[columns[e]], above_ptr[columns[e] + 1]):
            u = above[a]
            if node_score[u] == -np.inf:
                touched[n] = u
                n += 1
            node_score[u] = max(node_score[u], scores[e])
    return n


@loop(allocates=True)
def scores_of_labels(ptr, columns, scores, above_ptr, above, true_ptr, labels, node_score, out):
    """The closed score of every true label.

    node_score : (n_nodes,) work space, -inf
    out        : (n_labels,) result
    """
    touched = np.empty(node_score.size, dtype=np.int64)
    for i in range(ptr.size - 1):
        n = spread(ptr[i], ptr[i + 1], columns, scores, above_ptr, above, node_score, touched)
        for a in range(true_ptr[i], true_ptr[i + 1]):
            out[a] = node_score[labels[a]]
        for t in range(n):
            node_score[touched[t]] = -np.inf


@loop(allocates=True)
def gather(ptr, columns, scores, above_ptr, above, used, node_score, out):
    """Write the closed scores of all used nodes that have one; their number is returned.

    used       : (n_nodes,) bool
    node_score : (n_nodes,) work space, -inf
    out        : result, long enough
    """
    touched, size = np.empty(node_score.size, dtype=np.int64), 0
    for i in range(ptr.size - 1):
        n = spread(ptr[i], ptr[i + 1], columns, scores, above_ptr, above, node_score, touched)
        for t in range(n):
            if used[touched[t]]:
                out[size] = node_score[touched[t]]
                size += 1
            node_score[touched[t]] = -np.inf
    return size


@loop(allocates=True)
def count_between(ptr, columns, scores, above_ptr, above, group, start, cuts, node_score, out):
    """Add to `out` how many closed scores have each threshold as the highest that they reach.

    group      : (n_nodes,) the thresholds that a node is compared with; -1 for none
    start      : (n_groups + 1,) where the thresholds of each group begin
    cuts       : (n_cuts,) the thresholds, ascending in each group
    node_score : (n_nodes,) work space, -inf
    out        : (n_cuts,) result
    """
    touched = np.empty(node_score.size, dtype=np.int64)
    for i in range(ptr.size - 1):
        n = spread(ptr[i], ptr[i + 1], columns, scores, above_ptr, above, node_score, touched)
        for t in range(n):
            u = touched[t]
            score, node_score[u] = node_score[u], -np.inf
            if group[u] < 0:
                continue
            low, high = start[group[u]], start[group[u] + 1]
            first = low
            while low < high:  # the first threshold above the score
                middle = (low + high) // 2
                if cuts[middle] <= score:
                    low = middle + 1
                else:
                    high = middle
            if low > first:
                out[low - 1] += 1
