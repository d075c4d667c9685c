# mypy: ignore-errors
"""Scores of some nodes lifted to all: a node's score is the largest at or below it.

f(v) = max(own score of v, max_{c child of v} f(c))
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
