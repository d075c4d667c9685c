# mypy: ignore-errors
"""Sparse rows as two lists, ascending features and their values: read, and added to."""

from __future__ import annotations

from linnaeus.compiled import loop


@loop
def read_at(features, values, wanted, out):
    """The values of a sparse row at some features, 0 where it has none.

    features, wanted : ascending;  out : (wanted.size,) result
    """
    i = 0
    for t in range(wanted.size):
        while i < features.size and features[i] < wanted[t]:
            i += 1
        if i < features.size and features[i] == wanted[t]:
            out[t] = values[i]
        else:
            out[t] = 0


@loop
def n_together(features, others, change):
    """How many features a row has once `change` is added; a change of 0 brings none.

    features, others : ascending;  change : (others.size,)
    """
    i, n = 0, features.size
    for t in range(others.size):
        while i < features.size and features[i] < others[t]:
            i += 1
        if change[t] != 0 and not (i < features.size and features[i] == others[t]):
            n += 1
    return n


@loop
def add_together(features, values, others, change, out, total):
    """The features of both, and the sums of their values.

    out, total : (n_together,) results
    """
    i, n = 0, 0
    for t in range(others.size):
        while i < features.size and features[i] < others[t]:
            out[n], total[n] = features[i], values[i]
            i, n = i + 1, n + 1
        if i < features.size and features[i] == others[t]:
            out[n], total[n] = features[i], values[i] + change[t]
            i, n = i + 1, n + 1
        elif change[t] != 0:
            out[n], total[n] = others[t], change[t]
            n += 1
    while i < features.size:
        out[n], total[n] = features[i], values[i]
        i, n = i + 1, n + 1


@loop
def add_at(row, features, change):
    """row[features] += change, for different features."""
    for t in range(features.size):
        row[features[t]] += change[t]
