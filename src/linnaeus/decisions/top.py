"""The highest scores of each row; ties go to the lower column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linnaeus.inference.rows import BoolArray, FloatArray


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
