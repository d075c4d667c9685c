# mypy: ignore-errors
"""Draws of features by their frequency, each at most once a class, for `bench_top_k`."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def draw(until, guide, u, n_draws, most, mark, first, indptr, indices):
    """Distinct features of some classes, ascending; `indptr` has room for one class more.

    until : (d,) float64, cumulated probabilities;   guide : where to look for k / (size - 1)
    u     : (n_classes * n_draws,) uniform;          most : features of a class at most
    mark  : (d,) int64, below `first`, which numbers the classes
    """
    at = 0
    for k in range(indptr.size - 1):
        m = 0
        for t in range(n_draws):
            x = u[k * n_draws + t]
            f = guide[int(x * (guide.size - 1))]
            while until[f] < x:
                f += 1
            if mark[f] != first + k and m < most:
                mark[f] = first + k
                indices[at + m] = f
                m += 1
        indices[at : at + m].sort()
        at += m
        indptr[k + 1] = at
