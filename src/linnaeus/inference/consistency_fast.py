# mypy: ignore-errors
"""Scores of some nodes lifted to all, and the labels all of whose ancestors are labels too.

f(v)    = max(own score of v, max_{c child of v} f(c))
keep(v) = on(v) and keep(p) for every parent p of v,       roots first [Rousu2006]
"""

from __future__ import annotations

from linnaeus.compiled import loop


@loop
def lift_rows(parent_ptr, parents, scores):
    """Write the largest score at or below each node, in place.

    scores : (n_rows, n_nodes), the own scores, -inf where there is none
    """
    for i in range(scores.shape[0]):
        for v in range(scores.shape[1] - 1, -1, -1):  # children first
            for e in range(parent_ptr[v], parent_ptr[v + 1]):
                p = parents[e]
                scores[i, p] = max(scores[i, p], scores[i, v])


@loop
def keep_closed(parent_ptr, parents, ptr, labels, mark, keep):
    """Mark the labels to keep; every row of `labels` ascends, so parents come first.

    parent_ptr, parents : CSR lists of the parents
    ptr, labels : CSR label sets;   mark : (n_nodes,) int64, work space, -1 everywhere
    keep : (n_labels,) bool, result
    """
    for i in range(ptr.size - 1):
        for j in range(ptr[i], ptr[i + 1]):
            v = labels[j]
            keep[j] = True
            for e in range(parent_ptr[v], parent_ptr[v + 1]):
                if mark[parents[e]] != i:
                    keep[j] = False
                    break
            if keep[j]:
                mark[v] = i
