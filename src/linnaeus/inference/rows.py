"""Score matrices in blocks of rows, so that temporaries stay small; the highest of each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError

FloatArray = npt.NDArray[np.floating[Any]]
BoolArray = npt.NDArray[np.bool_]

BLOCK_ENTRIES = 1 << 21  # 16 MB of float64
CACHED = 1 << 16  # entries of a block that is gone through several times
FEW = 20  # highest scores that are found one after the other
SCORE_ENTRIES = 1 << 23  # 64 MB: a product with all weights has its price for each block


def as_matrix(scores: Any) -> FloatArray:
    """Scores as a dense float matrix, one row per example; float32 and float64 are not copied."""
    if sp.issparse(scores):
        raise UserError(
            "The scores are a sparse matrix, but every label needs a score. Use scores.toarray()."
        )
    matrix = np.asarray(scores)
    if matrix.ndim != 2:
        raise UserError(
            f"The scores have the shape {matrix.shape}; expected (n_examples, n_labels). "
            f"Use np.atleast_2d(scores) for one example."
        )
    if matrix.dtype.kind not in "fiub":
        raise UserError(f"The scores are of type {matrix.dtype}; expected numbers.")
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


def row_blocks(n_rows: int, n_columns: int, entries: int = BLOCK_ENTRIES) -> Iterator[slice]:
    """Slices over the rows, each with about so many entries."""
    step = max(1, entries // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def score_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """The same for scores that a model is about to make, with about `SCORE_ENTRIES` entries."""
    return row_blocks(n_rows, n_columns, SCORE_ENTRIES)


def finite_blocks(scores: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """The blocks of a score matrix; an error that names the first score that is not finite."""
    for rows in row_blocks(*scores.shape):
        block = scores[rows]
        finite = np.isfinite(block)
        if not finite.all():
            i, j = (int(at[0]) for at in np.nonzero(~finite))
            raise UserError(
                f"The score of label {j} in row {rows.start + i} is {block[i, j]}. "
                f"Scores must be finite: fix the model, or use np.nan_to_num(scores)."
            )
        yield rows, block


def stack(blocks: Iterable[BoolArray], n_columns: int) -> sp.csr_array:
    """Boolean blocks, one below the other, as one CSR 0/1 indicator (int8)."""
    counts, columns = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
    for on in blocks:
        counts.append(np.count_nonzero(on, axis=1).astype(np.int64))
        starts = np.repeat(np.arange(len(on)) * n_columns, counts[-1])
        columns.append((np.flatnonzero(on) - starts).astype(np.int32))
    indptr, indices = np.cumsum(np.concatenate(counts)), np.concatenate(columns)
    ones = np.ones(indices.size, dtype=np.int8)
    return sp.csr_array((ones, indices, indptr), shape=(indptr.size - 1, n_columns))


# -- highest scores -------------------------------------------------------------------------------


def top_mask(block: FloatArray, k: int) -> BoolArray:
    """Exactly the `k` highest scores of each row (all, where there are no more columns)."""
    n_columns = block.shape[1]
    if k >= n_columns:
        return np.ones(block.shape, dtype=bool)
    if k == 1:
        on = np.zeros(block.shape, dtype=bool)
        on[np.arange(len(block)), block.argmax(axis=1)] = True
        return on
    lowest = np.partition(block, n_columns - k, axis=1)[:, n_columns - k, None]
    on, tied = block > lowest, block == lowest
    missing = k - np.count_nonzero(on, axis=1)[:, None]
    on |= tied & (np.cumsum(tied, axis=1, dtype=np.int32) <= missing)
    return on


def top_columns(block: FloatArray, k: int) -> npt.NDArray[np.intp]:
    """The columns of the `k` highest scores of each row, the highest first."""
    k = min(k, block.shape[1])
    best = np.empty((len(block), k), dtype=np.intp)
    for rows in row_blocks(len(block), block.shape[1], CACHED):
        best[rows] = _top_of(block[rows], k)
    return best


def _top_of(block: FloatArray, k: int) -> npt.NDArray[np.intp]:
    """The same for rows that fit into the cache: one after the other, where they are few."""
    if k <= FEW:
        left, at = block.copy(), np.arange(len(block))
        best = np.empty((len(block), k), dtype=np.intp)
        for j in range(k):
            best[:, j] = left.argmax(axis=1)
            last = left[at, best[:, j]]
            left[at, best[:, j]] = -np.inf
        if k == 0 or (last > -np.inf).all():
            return best
    columns = np.nonzero(top_mask(block, k))[1].reshape(len(block), k)
    order = np.argsort(-np.take_along_axis(block, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def top_scores(block: FloatArray, k: int) -> FloatArray:
    """The `k` highest scores of each row, the highest first."""
    return np.take_along_axis(block, top_columns(block, k), axis=1)


def with_top(on: BoolArray, block: FloatArray) -> BoolArray:
    """Switch on the highest score of the rows that have no label."""
    empty = np.flatnonzero(~on.any(axis=1))
    if empty.size and block.shape[1]:
        on[empty, block[empty].argmax(axis=1)] = True
    return on
