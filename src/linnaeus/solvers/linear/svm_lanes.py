"""The arrays of a block of classes, its lanes: in which order they lie, and what they list."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.solvers.numerics.examples import FloatArray

CACHED = 1 << 22  # bytes of weights whose order makes no difference, measured
TILE = 256  # features that are transposed at a time
FEW = 32  # squares that are added in single precision


def by_frequency(X: sp.csr_array) -> tuple[sp.csr_array, npt.NDArray[np.intp]]:
    """The same examples with the most frequent features first, and the old number of each.

    Text has few frequent words and many rare ones. Numbered like that, and each row ascending,
    what is visited all the time lies together.
    """
    old = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
    new = np.empty(old.size, dtype=X.indices.dtype)
    new[old] = np.arange(old.size, dtype=new.dtype)
    renamed = sp.csr_array((X.data.copy(), new[X.indices], X.indptr), shape=X.shape)
    renamed.sort_indices()
    return renamed, old


def class_rows(
    W: FloatArray, out: FloatArray | None = None, order: npt.NDArray[np.intp] | None = None
) -> FloatArray:
    """Weights (d, lanes) class by class: (lanes, d).

    out : where to; None for a new array
    order : which feature comes where; None for as they are
    """
    out = np.empty(W.shape[::-1], dtype=W.dtype) if out is None else out
    for j in range(0, W.shape[0], TILE):
        tile = slice(j, j + TILE)
        out[:, tile] = (W[tile] if order is None else W.take(order[tile], axis=0)).T
    return out


def squared_lengths(W: FloatArray, w_bias: FloatArray) -> npt.NDArray[np.float64]:
    """||w||^2 of every lane, the constant feature included."""
    lanes = w_bias.size
    whole = W.shape[0] - W.shape[0] % FEW
    some = W[:whole].reshape(-1, FEW, lanes)
    parts = np.vstack([np.einsum("cjb,cjb->cb", some, some), W[whole:] ** 2, w_bias[None] ** 2])
    return np.asarray(parts.sum(axis=0, dtype=np.float64))


def cheapest(impact: FloatArray, most: float) -> npt.NDArray[np.bool_]:
    """Which entries can be left out, the smallest first, while they add up to at most so much."""
    sizes = np.sort(impact[impact > 0])
    n = int(np.searchsorted(np.cumsum(sizes, dtype=np.float64), most, side="right"))
    return impact <= (sizes[n - 1] if n else 0.0)


def listed(needed: npt.NDArray[np.bool_]) -> tuple[Any, npt.NDArray[np.int32]]:
    """The rows that each lane needs, ascending: starts of the lists, and the rows."""
    lanes = needed.shape[1]
    at = np.flatnonzero(needed)
    row, lane = np.divmod(at, lanes)
    kind = np.uint8 if lanes <= 256 else np.int64  # small numbers are sorted in one pass
    order = np.argsort(lane.astype(kind), kind="stable")
    ptr = np.zeros(lanes + 1, dtype=np.int64)
    np.cumsum(np.bincount(lane, minlength=lanes), out=ptr[1:])
    return ptr, row[order].astype(np.int32)
