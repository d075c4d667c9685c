"""Kernel matrices, filled block by block.

    K[i, j] = k(a_i, b_j),      rows i in blocks, side by side in threads

A block is computed in float64 and stored in the type of the matrix, so the memory is the matrix
and a few blocks. Without `B` the matrix is symmetric: a block stops at its own last row, and its
part left of the diagonal block is mirrored. The blocks do not depend on how many threads there
are, so neither does a bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.execution import executor

Values = npt.NDArray[np.float64]
Callback = Callable[[int, int], None]

BLOCK_ENTRIES = 1 << 20  # 8 MB of float64
BLOCKS = 64  # so many at least, for threads and progress


@dataclass(frozen=True)
class Pairs:
    """All pairs of two prepared collections; every kernel answers with one.

    Attributes
    ----------
    shape : tuple of (int, int)
        (len(A), len(B)).
    block : callable
        From (rows, n) to the float64 kernel of A[rows] with the first n of B.
    diagonals : callable
        From nothing to the self-kernels of A and of B.
    """

    shape: tuple[int, int]
    block: Callable[[slice, int], Values]
    diagonals: Callable[[], tuple[Values, Values]]


def fill(
    pairs: Pairs, symmetric: bool, dtype: Any, n_jobs: int | None, callback: Callback | None
) -> npt.NDArray[Any]:
    """The kernel matrix of prepared pairs.

    callback : told how many entries are there, and how many there will be
    """
    K = np.empty(pairs.shape, dtype=_float_type(dtype))
    blocks = row_blocks(*pairs.shape)[::-1]  # the long ones of a triangle first
    done = 0
    for n_entries in executor(n_jobs).map(_fill_block, [pairs, symmetric, K], blocks):
        done += n_entries
        if callback is not None:
            callback(done, K.size)
    return K


def row_blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Slices over the rows of a matrix, of a bounded number of entries."""
    step = max(1, min(BLOCK_ENTRIES // n_columns, -(-n_rows // BLOCKS)))
    return [slice(i, min(i + step, n_rows)) for i in range(0, n_rows, step)]


def _fill_block(pairs: Pairs, symmetric: bool, K: npt.NDArray[Any], rows: slice) -> int:
    if not symmetric:
        K[rows] = pairs.block(rows, K.shape[1])
        return K[rows].size
    block = pairs.block(rows, rows.stop).astype(K.dtype)
    K[rows, : rows.stop] = block
    K[: rows.start, rows] = block[:, : rows.start].T
    lower = np.tril_indices(rows.stop - rows.start, -1)
    square = K[rows, rows]
    square.T[lower] = square[lower]  # the same bits on both sides
    return block.size + block[:, : rows.start].size


def _float_type(dtype: Any) -> np.dtype[Any]:
    out: np.dtype[Any] = np.dtype(dtype)
    if out not in (np.float32, np.float64):
        raise UserError(f"dtype is {out}. A kernel matrix is of float32 or float64.")
    return out
