"""Scores ``X W' + b`` of sparse rows with many classes, without another copy of the weights.

Dense weights lie class by class, but a row needs all classes of a few features. So the weights of
a lane of classes are copied feature by feature, only features that these rows have, those of most
rows first; all rows are scored with them while they are in the cache. Sparse weights are
listed by feature, and a row visits only the classes that its features list.

Every score is a sum in an order of its own, in float64: neither the number of lanes nor that of
threads changes a bit of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import executor
from linnaeus.solvers.numerics.products_fast import pack, score_lanes, score_listed

LARGE = 1 << 20  # weights from which compiled loops are worth their loading
LANES = 128
PACKED = 1 << 26  # bytes of weights that are copied at a time, at most
ROWS = 256  # of a task, with sparse weights


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
    if not sp.issparse(X) or W.shape[0] * W.shape[1] < LARGE:
        S = X @ W.T
        S = S.toarray() if sp.issparse(S) else np.asarray(S)
        return np.asarray(S + bias)
    out = np.empty((X.shape[0], W.shape[0]), np.result_type(X.dtype, W.dtype, bias.dtype))
    rows = _compact(X)
    bias = np.ascontiguousarray(bias, dtype=np.float64)
    tasks = _listed(rows, W, bias, out) if sp.issparse(W) else _in_lanes(rows, W, bias, out)
    work, blocks = tasks
    for _ in executor(n_jobs).map(work, (), blocks):
        pass
    return out


def _compact(X: sp.csr_array) -> _Rows:
    counts = np.bincount(X.indices, minlength=X.shape[1])
    features = np.flatnonzero(counts)
    places = np.empty(features.size, dtype=np.int64)
    places[np.argsort(-counts[features], kind="stable")] = np.arange(features.size)
    number = np.zeros(X.shape[1], dtype=np.uint32)
    number[features] = places
    data = X.data.astype(np.float64, copy=False)
    return _Rows(features, places, X.indptr.astype(np.int64), number[X.indices], data)


def _in_lanes(rows: _Rows, W: Any, bias: Any, out: Any) -> tuple[Any, list[int]]:
    """What scores the lane of classes from a number on, and these numbers."""
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


def _listed(rows: _Rows, W: sp.csr_array, bias: Any, out: Any) -> tuple[Any, list[int]]:
    """What scores the rows from a number on, and these numbers."""
    by_place = np.empty_like(rows.features)
    by_place[rows.places] = rows.features
    lists = sp.csc_array(W[:, by_place])
    lists = lists.indptr.astype(np.int64), lists.indices.astype(np.uint32), lists.data

    def score(first: int) -> None:
        args = rows.indptr, rows.indices, rows.data
        stop = min(first + ROWS, len(out))
        score_listed(*args, *lists, bias, np.empty(out.shape[1]), first, stop, out)

    return score, list(range(0, len(out), ROWS))
