# mypy: ignore-errors
"""Scores of sparse rows with dense weights, classes in lanes."""

from __future__ import annotations

from linnaeus.compiled import loop

TILE = 256  # features that are copied at a time: some cache lines of each class


@loop
def pack(weights, first, by_class, by_feature, features, places, out):
    """Copy the weights of classes `first`, ... to ``out[place, lane]``.

    weights : all of them, flat; class k and feature f are at k * by_class + f * by_feature
    features, places : the features that are used, ascending, and their rows of `out`
    """
    for start in range(0, features.size, TILE):
        stop = min(start + TILE, features.size)
        for k in range(out.shape[1]):
            base = (first + k) * by_class
            for j in range(start, stop):
                out[places[j], k] = weights[base + features[j] * by_feature]


@loop
def score_lanes(indptr, places, data, W, bias, first, s, out):
    """Write the scores of all rows with the classes in W into columns `first`, ... of `out`.

    Products of a row are added by eights and in order, so the number of lanes changes no bit.
    """
    for i in range(indptr.size - 1):
        for k in range(s.size):
            s[k] = 0.0
        p, end = indptr[i], indptr[i + 1]
        while p + 8 <= end:
            a, b, c, d = places[p], places[p + 1], places[p + 2], places[p + 3]
            e, f, g, h = places[p + 4], places[p + 5], places[p + 6], places[p + 7]
            xa, xb, xc, xd = data[p], data[p + 1], data[p + 2], data[p + 3]
            xe, xf, xg, xh = data[p + 4], data[p + 5], data[p + 6], data[p + 7]
            for k in range(s.size):
                left = (xa * W[a, k] + xb * W[b, k]) + (xc * W[c, k] + xd * W[d, k])
                right = (xe * W[e, k] + xf * W[f, k]) + (xg * W[g, k] + xh * W[h, k])
                s[k] += left + right
            p += 8
        while p < end:
            a, xa = places[p], data[p]
            for k in range(s.size):
                s[k] += xa * W[a, k]
            p += 1
        for k in range(s.size):
            out[i, first + k] = s[k] + bias[first + k]
