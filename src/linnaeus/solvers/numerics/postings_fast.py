# mypy: ignore-errors
"""Weights listed by feature: making the lists, and scoring rows by them.

Feature f has the weights from ``weight_ptr[f]`` to ``weight_ptr[f + 1]``, of the classes from
``class_ptr[f]`` on; a feature without classes of its own has a weight for each of them.
"""

from __future__ import annotations

from linnaeus.compiled import loop, part


@loop
def count(indptr, indices, first, stop, counts):
    """Add the number of weights that classes `first` to `stop` have of every feature to `counts`.

    Return whether the features of each class ascend.
    """
    ascending = True
    for k in range(first, stop):
        last = -1
        for q in range(indptr[k], indptr[k + 1]):
            f = indices[q]
            counts[f] += 1
            ascending = ascending and f >= last
            last = f
    return ascending


@loop
def fill(indptr, indices, data, begin, end, ascending, class_ptr, weight_ptr, at, classes, weights):
    """List the weights of features `begin` to `end`, the classes of each in order.

    at      : (end - begin,) int64, work space, 0 everywhere
    classes : uint32, result: those from ``class_ptr[begin]`` on
    weights : result, 0 everywhere: those from ``weight_ptr[begin]`` on
    """
    for k in range(indptr.size - 1):
        q, stop = indptr[k], indptr[k + 1]
        if ascending:
            q = _first_from(indices, q, stop, begin)
        while q < stop:
            f = indices[q]
            if f >= end and ascending:
                break
            if begin <= f < end:
                w = weight_ptr[f] - weight_ptr[begin]
                if class_ptr[f] == class_ptr[f + 1]:
                    weights[w + k] += data[q]
                else:
                    t = at[f - begin]
                    weights[w + t] = data[q]
                    classes[class_ptr[f] - class_ptr[begin] + t] = k
                    at[f - begin] = t + 1
            q += 1


@part
def _first_from(indices, low, high, least):
    """The first place from `low` to `high` with an index that is not below `least`."""
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@part
def add_row(features, data, begin, end, class_ptr, classes, weight_ptr, weights, s):
    """Write the products of a row with all classes into s, features in the order of the row."""
    for k in range(s.size):
        s[k] = 0.0
    for p in range(begin, end):
        f, x = features[p], data[p]
        w, c = weight_ptr[f], class_ptr[f]
        n = class_ptr[f + 1] - c
        if n > 0:
            for q in range(n):
                s[classes[c + q]] += x * weights[w + q]
        elif weight_ptr[f + 1] > w:
            for k in range(s.size):
                s[k] += x * weights[w + k]


@loop
def score(indptr, features, data, class_ptr, classes, weight_ptr, weights, bias, s, start, out):
    """Write the scores of the rows from `start` on into `out`.

    s : (n_classes,) float64, work space
    """
    for i in range(out.shape[0]):
        begin, end = indptr[start + i], indptr[start + i + 1]
        add_row(features, data, begin, end, class_ptr, classes, weight_ptr, weights, s)
        for k in range(s.size):
            out[i, k] = s[k] + bias[k]


@loop
def rank(
    indptr, features, data, class_ptr, classes, weight_ptr, weights, bias, s, start, ranked,
    rounded, best, value,
):  # fmt: skip
    """The best of some classes for the rows from `start` on; of equal ones the earlier in `ranked`.

    ranked  : (m,) int64, classes, at least as many as are asked for
    rounded : (1,) of the type of `value`: scores are compared as they are told
    best    : (n_rows, width) int64, result: places in `ranked`, the best first
    value   : (n_rows, width), result: their scores
    """
    width = best.shape[1]
    for i in range(best.shape[0]):
        begin, end = indptr[start + i], indptr[start + i + 1]
        add_row(features, data, begin, end, class_ptr, classes, weight_ptr, weights, s)
        for j in range(ranked.size):
            k = ranked[j]
            exact = s[k] + bias[k]
            if j >= width and exact <= value[i, width - 1]:
                continue
            rounded[0] = exact
            v = rounded[0]
            t = min(j, width)
            while t > 0 and v > value[i, t - 1]:
                if t < width:
                    value[i, t] = value[i, t - 1]
                    best[i, t] = best[i, t - 1]
                t -= 1
            if t < width:
                value[i, t] = v
                best[i, t] = j
