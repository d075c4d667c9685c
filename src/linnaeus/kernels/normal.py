"""Kernels of unit self-similarity.

    k~(s, t) = k(s, t) / sqrt(k(s, s) k(t, t)),     0 where a self-kernel is 0

A string shorter than the substrings a kernel counts has self-kernel 0; its row is then 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.kernels.base import Kernel
from linnaeus.kernels.gram import Pairs, Values, row_blocks


@dataclass
class Normalized(Kernel):
    """A kernel divided by the lengths of its feature vectors.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    """

    kernel: Kernel

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        inner = self.kernel.pairs(A, B)
        left, right = inner.diagonals()
        a, b = _lengths(left), _lengths(right)

        def block(rows: slice, n: int) -> Values:
            out = inner.block(rows, n)
            out /= a[rows, None]
            out /= b[:n]
            return out

        def diagonals() -> tuple[Values, Values]:
            return (left > 0).astype(float), (right > 0).astype(float)

        return Pairs(inner.shape, block, diagonals)


@overload
def normalize(kernel: Kernel) -> Normalized: ...
@overload
def normalize(kernel: npt.ArrayLike, left: Any = None, right: Any = None) -> npt.NDArray[Any]: ...
def normalize(kernel: Any, left: Any = None, right: Any = None) -> Any:
    """A kernel, or a kernel matrix, divided by the square roots of the self-kernels.

    Parameters
    ----------
    kernel : Kernel or array-like of shape (n_A, n_B)
        The kernel, or a kernel matrix.
    left, right : array-like of shape (n_A,) and (n_B,), or None, default=None
        Self-kernels of the rows and of the columns of a matrix; without them the matrix is square,
        and they are its diagonal.

    Returns
    -------
    Normalized or ndarray of shape (n_A, n_B)

    Examples
    --------
    >>> normalize([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])
    """
    if isinstance(kernel, Kernel):
        if left is not None or right is not None:
            raise UserError(
                "Self-kernels were given with a kernel, which computes them itself. Leave them "
                "out, or give a kernel matrix."
            )
        return Normalized(kernel)
    K = np.asarray(kernel)
    if K.ndim != 2:
        raise UserError(f"The kernel matrix has the shape {K.shape}. Give a matrix, or a kernel.")
    if left is None and right is None:
        if K.shape[0] != K.shape[1]:
            raise UserError(
                f"The kernel matrix has the shape {K.shape}, so its diagonal does not hold the "
                f"self-kernels. Give them: normalize(K, kernel.diagonal(A), kernel.diagonal(B))."
            )
        left = right = np.diagonal(K)
    a, b = _self_kernels(left, K.shape[0], "rows"), _self_kernels(right, K.shape[1], "columns")
    out = np.empty(K.shape, K.dtype if K.dtype == np.float32 else np.float64)
    for rows in row_blocks(*K.shape) if K.size else []:
        out[rows] = K[rows] / _lengths(a)[rows, None] / _lengths(b)
    return out


def _lengths(diagonal: Values) -> Values:
    """sqrt(k(s, s)); infinite for 0, so that dividing by it gives 0."""
    return np.sqrt(np.where(diagonal > 0, diagonal, np.inf))


def _self_kernels(given: Any, n: int, what: str) -> Values:
    out = np.asarray([] if given is None else given, dtype=np.float64)
    if out.shape != (n,):
        raise UserError(
            f"The self-kernels of the {what} have the shape {out.shape}, but there are {n} "
            f"{what}. Give one number for each: kernel.diagonal(...)."
        )
    if not (out >= 0).all():
        at = int(np.flatnonzero(~(out >= 0))[0])
        raise UserError(
            f"Self-kernel {at} of the {what} is {out[at]}. A kernel of an input with itself is "
            f"never negative: check that the matrix is a kernel matrix."
        )
    return out
