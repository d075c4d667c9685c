"""Scores ``X W' + b`` of sparse rows with many classes, without another copy of the weights.

Dense weights lie class by class, but a row needs all classes of a few features. So the weights of
a lane of classes are copied feature by feature, only features that these rows have, those of most
rows first; all rows are scored with them while they are in the cache. Sparse weights are
listed by feature (`postings`), and a row visits only the classes that its features list.

Every score is a sum in an order of its own, in float64: neither the number of lanes nor that of
threads changes a bit of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import local
from linnaeus.solvers.numerics import postings, postings_fast
from linnaeus.solvers.numerics.products_fast import pack, score_lanes

LARGE = 1 << 20  # weights from which compiled loops are worth their loading
LANES = 128
PACKED = 1 << 26  # bytes of weights that are copied at a time, at most
ROWS = 32  # of a task, with sparse weights


class _Rows(NamedTuple):
    """Sparse rows over the features that occur."""

    features: Any  # (n_used,) int64, ascending
    places: Any  # (n_used,) int64, where a feature comes by its frequency
    indptr: Any  # (n + 1,) int64
    indices: Any  # (nnz,) uint32, places
    data: Any  # (nnz,) float64


def linear_scores(X: Any, W: Any, bias: Any, n_jobs: int | None = None) -> npt.NDArray[Any]:
    """``X @ W.T + bias`` as a dense array.

    X : (n, d) array or csr_array
    W : (n_classes, d) array or csr_array
    """
    if not is_listed(W) and (not sp.issparse(X) or _is_small(W)):
        S = X @ W.T
        S = S.toarray() if sp.issparse(S) else np.asarray(S)
        return np.asarray(S + bias)
    out = np.empty((X.shape[0], W.shape[0]), np.result_type(X.dtype, W.dtype, bias.dtype))
    work, blocks = (_listed if is_listed(W) else _in_lanes)(X, W, bias.astype(np.float64), out)
    for _ in local(n_jobs).map(work, (), blocks):
        pass
    return out


def best_scores(
    X: Any, W: sp.csr_array, bias: Any, ranked: Any, k: int, n_jobs: int | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """The k best of some classes for each row: places in `ranked`, best first, and their scores.

    These are the scores of `linear_scores` bit by bit, and of equal ones the earlier in `ranked`
    comes first; but the scores of all other classes are forgotten with their row.

    W      : (n_classes, d) csr_array for which `is_listed` holds
    ranked : (m,) int64, classes, m >= k
    """
    dtype, n = np.result_type(X.dtype, W.dtype, bias.dtype), X.shape[0]
    best, value = np.empty((n, k), np.int64), np.empty((n, k), dtype)
    rows, lists, bias = _rows(X), postings.of(W), bias.astype(np.float64)

    def rank(first: int) -> None:
        postings.fetch(lists, _features(rows, first))
        s, rounded, part = np.empty(bias.size), np.empty(1, dtype), slice(first, first + ROWS)
        args = *rows, *lists, bias, s, first, ranked, rounded
        postings_fast.rank(*args, best[part], value[part])

    for _ in local(n_jobs).map(rank, (), list(range(0, n if k else 0, ROWS))):
        pass
    return best, value


def is_listed(W: Any) -> bool:
    """Whether weights are sparse, and many enough to be listed by feature."""
    return sp.issparse(W) and W.format == "csr" and not _is_small(W)


def _is_small(W: Any) -> bool:
    return bool(W.shape[0] * W.shape[1] < LARGE)


def _rows(X: Any) -> tuple[Any, Any, Any]:
    X = sp.csr_array(X)
    return X.indptr.astype(np.int64), X.indices.astype(np.uint32), X.data.astype(np.float64)


def _features(rows: tuple[Any, Any, Any], first: int) -> Any:
    """The features of the rows of a task."""
    indptr, features, _ = rows
    return features[indptr[first] : indptr[min(first + ROWS, indptr.size - 1)]]


def _compact(X: sp.csr_array) -> _Rows:
    counts = np.bincount(X.indices, minlength=X.shape[1])
    features = np.flatnonzero(counts)
    places = np.empty(features.size, dtype=np.int64)
    places[np.argsort(-counts[features], kind="stable")] = np.arange(features.size)
    number = np.zeros(X.shape[1], dtype=np.uint32)
    number[features] = places
    data = X.data.astype(np.float64, copy=False)
    return _Rows(features, places, X.indptr.astype(np.int64), number[X.indices], data)


def _in_lanes(X: sp.csr_array, W: Any, bias: Any, out: Any) -> tuple[Any, list[int]]:
    """What scores the lane of classes from a number on, and these numbers."""
    rows = _compact(X)
    if not (W.flags.c_contiguous or W.flags.f_contiguous):
        W = np.ascontiguousarray(W)
    by_class, by_feature = (step // W.itemsize for step in W.strides)
    flat, n_used = W.ravel(order="K"), max(1, rows.features.size)
    width = int(np.clip(PACKED // (n_used * W.itemsize), 8, LANES))
    free: list[Any] = []  # memory that a task has left for the next

    def score(first: int) -> None:
        memory = free.pop() if free else np.empty(n_used * width, W.dtype)
        lanes = min(width, W.shape[0] - first)
        packed = memory[: n_used * lanes].reshape(n_used, lanes)
        pack(flat, first, by_class, by_feature, rows.features, rows.places, packed)
        args = rows.indptr, rows.indices, rows.data
        score_lanes(*args, packed, bias, first, np.empty(lanes), out)
        free.append(memory)

    return score, list(range(0, W.shape[0], width))


def _listed(X: Any, W: sp.csr_array, bias: Any, out: Any) -> tuple[Any, list[int]]:
    """What scores the rows from a number on, and these numbers."""
    rows, lists = _rows(X), postings.of(W)

    def score(first: int) -> None:
        postings.fetch(lists, _features(rows, first))
        s, part = np.empty(bias.size), out[first : first + ROWS]
        postings_fast.score(*rows, *lists, bias, s, first, part)

    return score, list(range(0, len(out), ROWS))
