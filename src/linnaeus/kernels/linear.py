"""Inner products of vectors.

    k(x, z) = x . z

Of sparse rows through the lists of rows that share a feature (`products_fast`), of dense rows
through the matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.kernels.base import Kernel
from linnaeus.kernels.gram import Pairs, Values
from linnaeus.kernels.products_fast import sparse_block


@dataclass
class LinearKernel(Kernel):
    """Inner products of the rows of matrices, dense or sparse.

    Examples
    --------
    >>> LinearKernel().gram([[1, 2], [0, 3]])
    array([[5., 6.],
           [6., 9.]], dtype=float32)
    """

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        A = _matrix(A, "A")
        B = A if B is None else _matrix(B, "B")
        if A.shape[1] != B.shape[1]:
            raise UserError(
                f"A has {A.shape[1]} columns and B has {B.shape[1]}. Give vectors of the same "
                f"features."
            )
        return sparse_pairs(A, B) if sp.issparse(A) and sp.issparse(B) else _dense_pairs(A, B)


def sparse_pairs(A: sp.csr_array, B: sp.csr_array) -> Pairs:
    """The pairs of sparse rows; `B` may be `A` itself."""
    by_feature = B.tocsc()
    by_feature.sort_indices()
    columns = _arrays(by_feature)
    rows_of_A = _arrays(A)

    def block(rows: slice, n: int) -> Values:
        out = np.zeros((rows.stop - rows.start, n))
        sparse_block(rows.start, *rows_of_A, *columns, out)
        return out

    return Pairs((A.shape[0], B.shape[0]), block, lambda: (_squares(A), _squares(B)))


def _dense_pairs(A: Any, B: Any) -> Pairs:
    def block(rows: slice, n: int) -> Values:
        return np.asarray(A[rows] @ B[:n].T)

    return Pairs((A.shape[0], B.shape[0]), block, lambda: (_squares(A), _squares(B)))


def _arrays(X: Any) -> tuple[Any, Any, Any]:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float64)


def _squares(X: Any) -> Values:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _matrix(X: Any, name: str) -> Any:
    """As float64, dense or CSR without duplicate entries."""
    if sp.issparse(X):
        out = sp.csr_array(X, dtype=np.float64)
        if not out.has_canonical_format:
            out = out.copy()  # it may share its arrays with X
            out.sum_duplicates()
    else:
        try:
            out = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise UserError(
                f"{name} does not hold vectors of numbers. Give a matrix, dense or sparse; for "
                f"texts use a string kernel, or a vectoriser before this one."
            ) from None
    if out.ndim != 2 or 0 in out.shape:
        raise UserError(
            f"{name} has the shape {out.shape}. Give a matrix with a row for each input, and at "
            f"least one row and column."
        )
    return out
