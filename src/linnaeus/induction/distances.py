"""Distances of every two classes, condensed as SciPy wants them: (0,1), (0,2), ..., (1,2), ...

Few classes are compared coordinate by coordinate, which loses nothing. For many the distances come
from inner products,

    |a - b|^2 = <a,a> + <b,b> - 2 <a,b>,

block by block, and what rounding leaves of equal classes is taken for 0. Average linkage keeps the
distances twice: 16 bytes for every two classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from linnaeus.errors import UserError

Callback = Callable[[int, int], None]

DIRECT = 1 << 32  # so many coordinates are compared at most
DENSE = 1 << 24  # so many entries are made dense at most: 128 MB
BLOCK = 1 << 21  # entries of a block of inner products: 16 MB
DIGITS = 13  # of squared distances, relative to the largest squared length


def linkage_bytes(n_classes: int) -> int:
    """What average linkage of so many classes takes."""
    return 8 * n_classes * (n_classes - 1)


def check_memory(n_classes: int, memory: float) -> None:
    """Refuse what would not fit."""
    if linkage_bytes(n_classes) > memory:
        raise UserError(
            f"Average linkage of {n_classes:,} classes takes {linkage_bytes(n_classes) / 1e9:.1f} "
            f"GB, more than memory={memory:.3g} bytes. Use method='kmeans', or raise memory."
        )


def of_points(C: Any, callback: Callback | None = None) -> np.ndarray:
    """Euclidean distances of the rows of C, dense or CSR."""
    n, d = C.shape
    if n * n // 2 * d <= DIRECT and n * d <= DENSE:
        out = np.asarray(pdist(C.toarray() if sp.issparse(C) else C, "euclidean"))
        if callback is not None:
            callback(n, n)
        return out
    if sp.issparse(C):
        squares = np.asarray(C.multiply(C).sum(axis=1)).ravel()
        across = sp.csr_array(C.T)
    else:
        squares, across = np.einsum("ij,ij->i", C, C), C.T
    return _from_products(squares, lambda rows: C[rows] @ across, callback)


def of_products(B: np.ndarray, callback: Callback | None = None) -> np.ndarray:
    """Distances of points of which all inner products are known."""
    return _from_products(np.diag(B), lambda rows: B[rows], callback)


def _from_products(
    squares: np.ndarray, products: Callable[[slice], Any], callback: Callback | None
) -> np.ndarray:
    n = squares.size
    out, scale = np.empty(n * (n - 1) // 2), float(squares.max(initial=0.0)) or 1.0
    step, at = max(1, BLOCK // max(n, 1)), 0
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        block = products(rows)
        block = block.toarray() if sp.issparse(block) else block
        square = (squares[rows, None] + squares - 2.0 * block) / scale
        length = np.sqrt(np.maximum(np.round(square, DIGITS), 0.0) * scale)
        for i in range(start, rows.stop):
            out[at : at + n - 1 - i] = length[i - start, i + 1 :]
            at += n - 1 - i
        if callback is not None:
            callback(rows.stop, n)
    return out
