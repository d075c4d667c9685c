"""What a kernel is, and how kernels make new ones.

    (k + l)(s, t) = k(s, t) + l(s, t),   (k l)(s, t) = k(s, t) l(s, t),   (c k)(s, t) = c k(s, t)

with c >= 0: sums, products and multiples of kernels are kernels again [ShaweTaylor2004].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError, shorten
from linnaeus.kernels.gram import Callback, Pairs, Values, fill


class Kernel(ABC):
    """A similarity of inputs that is an inner product of features.

    A kernel of one's own overrides `pairs`. Kernels add and multiply with each other, and are
    multiplied with numbers: ``SpectrumKernel(3) + 0.5 * WordSequenceKernel(2, 0.8)``.
    """

    @abstractmethod
    def pairs(self, A: Any, B: Any = None) -> Pairs:
        """The inputs, checked and prepared; without `B`, those of `A` with each other.

        Parameters
        ----------
        A : array-like, sparse matrix or list
            Inputs of the rows: what the kernel takes.
        B : array-like, sparse matrix, list or None, default=None
            Inputs of the columns; None for those of `A`.

        Returns
        -------
        Pairs
            What `gram` computes blocks from.
        """

    def gram(
        self,
        A: Any,
        B: Any = None,
        *,
        dtype: Any = np.float32,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> npt.NDArray[Any]:
        """The kernel matrix of `A` and `B`; without `B`, that of `A` with itself.

        Parameters
        ----------
        A : array-like, sparse matrix or list
            Inputs of the rows: what the kernel takes.
        B : array-like, sparse matrix, list or None, default=None
            Inputs of the columns; None for those of `A`.
        dtype : dtype, default=float32
            Type of the matrix, float32 or float64; every entry is computed in float64.
        n_jobs : int or None, default=None
            Threads; None for one, -1 for one per core.
        callback : callable or None, default=None
            Told how many entries are there, and how many there will be.

        Returns
        -------
        ndarray of shape (n_A, n_B)
        """
        return fill(self.pairs(A, B), B is None, dtype, n_jobs, callback)

    def diagonal(self, A: Any) -> Values:
        """The self-kernels k(a, a).

        Parameters
        ----------
        A : array-like, sparse matrix or list
            Inputs of the rows: what the kernel takes.

        Returns
        -------
        ndarray of shape (n_A,)
        """
        return self.pairs(A).diagonals()[0]

    def __add__(self, other: Any) -> Sum:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Product | Multiple:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Multiple(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


@dataclass
class Sum(Kernel):
    """The sum of two kernels of the same inputs: their features side by side.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.
    """

    left: Kernel
    right: Kernel

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        return _joined(np.add, self.left.pairs(A, B), self.right.pairs(A, B))


@dataclass
class Product(Kernel):
    """The product of two kernels of the same inputs: a feature for each pair of features.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.
    """

    left: Kernel
    right: Kernel

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        return _joined(np.multiply, self.left.pairs(A, B), self.right.pairs(A, B))


@dataclass
class Multiple(Kernel):
    """A kernel times a number that is not negative.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    factor : float
        The number.
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not 0 <= self.factor < float("inf"):
            raise UserError(
                f"The factor of a kernel is {shorten(self.factor)}. Use a finite number from 0 "
                f"up; with another the product is no kernel."
            )

    def pairs(self, A: Any, B: Any = None) -> Pairs:
        inner, c = self.kernel.pairs(A, B), self.factor

        def diagonals() -> tuple[Values, Values]:
            left, right = inner.diagonals()
            return c * left, c * right

        return Pairs(inner.shape, lambda rows, n: c * inner.block(rows, n), diagonals)


def _joined(operation: Callable[..., Values], one: Pairs, two: Pairs) -> Pairs:
    def block(rows: slice, n: int) -> Values:
        return operation(one.block(rows, n), two.block(rows, n))

    def diagonals() -> tuple[Values, Values]:
        (a, b), (c, d) = one.diagonals(), two.diagonals()
        return operation(a, c), operation(b, d)

    return Pairs(one.shape, block, diagonals)
