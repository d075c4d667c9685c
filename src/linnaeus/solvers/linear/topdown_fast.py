# mypy: ignore-errors
"""Part of a sparse matrix with its own numbers for the features that occur in it.

A local problem sees few rows, and few features occur in them. Numbered 0, 1, ... in the order of
their appearance, the weights of all its classes lie side by side in a small array (d, k):

    z_c = sum_j x_j w_{place(j), c},      place(j) = -1 where feature j does not occur.
"""

from __future__ import annotations

from linnaeus.compiled import loop


@loop
def gather(indptr, indices, data, rows, place, out_indptr, out_indices, out_data, features):
    """Copy some rows of a CSR matrix, features renumbered; return how many features occur.

    rows     : (m,) int32     rows to copy
    place    : (d,) int32     work space, -1 everywhere before and after
    out_*    : CSR arrays of the part, results
    features : (largest number of features,) int32, result: the old numbers
    """
    at, d = 0, 0
    out_indptr[0] = 0
    for r in range(rows.size):
        i = rows[r]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if place[j] < 0:
                place[j] = d
                features[d] = j
                d += 1
            out_indices[at] = place[j]
            out_data[at] = data[e]
            at += 1
        out_indptr[r + 1] = at
    for t in range(d):
        place[features[t]] = -1
    return d


@loop
def scores(indptr, indices, data, rows, features, W, intercept, place, out):
    """The scores of some rows for the classes of one local problem.

    features : (d,) int32, W : (d, k) float, intercept : (k,) float
    place    : (all features,) int32, work space as in `gather`
    out      : (m, k) float, result
    """
    k = intercept.size
    for t in range(features.size):
        place[features[t]] = t
    for r in range(rows.size):
        i, z = rows[r], out[r]
        for b in range(k):
            z[b] = intercept[b]
        for e in range(indptr[i], indptr[i + 1]):
            t = place[indices[e]]
            if t >= 0:
                w, x = W[t], data[e]
                for b in range(k):
                    z[b] += x * w[b]
    for t in range(features.size):
        place[features[t]] = -1
