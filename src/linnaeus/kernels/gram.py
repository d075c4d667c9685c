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
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from linnaeus.errors import UserError
from linnaeus.execution import local

Values = npt.NDArray[np.float64]
Callback = Callable[[int, int], None]

BLOCK_ENTRIES = 1 << 20  # 8 MB of float64
BLOCKS = 64  # so many at least, for threads and progress
DECOMPOSED = 4000  # rows of a matrix whose eigenvalues are known exactly
ASYMMETRY, ROUNDING = 1e-5, 1e-6  # by the largest entry


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
    for n_entries in local(n_jobs).map(_fill_block, [pairs, symmetric, K], blocks):
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


def check_inner_products(K: npt.NDArray[Any]) -> None:
    """Refuse a square matrix that no inner products make: one with a negative eigenvalue.

    Small ones are decomposed; in larger ones Lanczos' method looks for such an eigenvalue, which
    finds all but those that hardly matter.
    """
    largest = float(np.abs(K).max(initial=0.0))
    if not np.isfinite(largest):
        raise UserError(f"The kernel matrix holds {largest}. Replace it by finite numbers.")
    if np.abs(K - K.T).max(initial=0.0) > ASYMMETRY * largest:
        i, j = np.unravel_index(np.abs(K - K.T).argmax(), K.shape)
        raise UserError(
            f"The kernel matrix is not symmetric: {K[i, j]:g} in row {i}, column {j}, and "
            f"{K[j, i]:g} the other way round. Give the kernel of the examples with each other."
        )
    rounding = ROUNDING * largest * len(K) ** 0.5
    if largest == 0.0 or (len(K) <= DECOMPOSED and _has_root(K, rounding)):
        return
    lowest = _lowest(K)
    if lowest < -rounding:
        raise UserError(
            f"The kernel matrix has the eigenvalue {lowest:.3g}, so it holds no inner products, "
            f"and no solution could be certified. Use a kernel, or add "
            f"{-lowest:.3g} to the diagonal."
        )


def _has_root(K: npt.NDArray[Any], rounding: float) -> bool:
    try:
        np.linalg.cholesky(K.astype(np.float64) + rounding * np.eye(len(K)))
    except np.linalg.LinAlgError:
        return False
    return True


def _lowest(K: npt.NDArray[Any]) -> float:
    """The lowest eigenvalue; of a large matrix about, and 0 where it is hard to tell from that."""
    if len(K) <= DECOMPOSED:
        return float(np.linalg.eigvalsh(K.astype(np.float64))[0])
    try:
        found = eigsh(K, 1, which="SA", tol=0.1, return_eigenvectors=False, v0=np.ones(len(K)))
    except ArpackNoConvergence as failure:  # it is hard to tell from 0
        found = failure.eigenvalues
    return float(found.min(initial=0.0))
