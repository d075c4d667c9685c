"""What the linear solvers share: rows of examples, costs, and what a solution is."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.solvers.numerics.rounds import relative

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int32]
BLOCK = 1 << 20  # numbers that are squared at a time


class Rows(NamedTuple):
    """Examples as CSR arrays, the one form that loops accept."""

    indptr: npt.NDArray[np.int64]  # (n_rows + 1,)
    indices: npt.NDArray[np.uint32]  # (n_nonzeros,) unsigned: no code for negative indices
    data: FloatArray  # (n_nonzeros,)

    @classmethod
    def of(cls, X: sp.csr_array, dtype: Any) -> Rows:
        """The arrays of a CSR matrix in the types of the loops; shared where they fit."""
        return cls(
            X.indptr.astype(np.int64, copy=False),
            np.ascontiguousarray(X.indices).astype(np.int32, copy=False).view(np.uint32),
            X.data.astype(dtype, copy=False),
        )


def example_weights(C: float, sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """The weight of every example, 1 if not given; C and weights that make no sense are refused."""
    if not (C > 0 and math.isfinite(C)):
        raise UserError(f"C is {C}. Use a positive number.")
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise UserError(
            f"sample_weight has shape {weight.shape}, but there are {n_rows:,} samples. "
            "Give one weight for each."
        )
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise UserError(f"sample_weight holds {weight.min()}. Use finite weights of 0 or more.")
    return weight


def weighted_examples(
    X: sp.csr_array, Y: Any, C: float, sample_weight: Any
) -> tuple[sp.csr_array, Any, npt.NDArray[np.float64]]:
    """Examples, targets and weights; an example without weight is no example."""
    weight = example_weights(C, sample_weight, X.shape[0])
    if (weight == 0).any():
        X, Y, weight = X[weight > 0], Y[weight > 0], weight[weight > 0]
    return X, Y, weight


def squared_norms(X: sp.csr_array, bias: float) -> npt.NDArray[np.float64]:
    """||x||^2 of every row, the constant feature included; some rows at a time."""
    cuts = np.searchsorted(X.indptr, np.arange(BLOCK, X.nnz, BLOCK))
    out = np.empty(X.shape[0])
    for i, j in pairwise(np.unique([0, *cuts, X.shape[0]]).tolist()):
        part = slice(X.indptr[i], X.indptr[j])
        arrays = np.square(X.data[part]), X.indices[part], X.indptr[i : j + 1] - X.indptr[i]
        out[i:j] = sp.csr_array(arrays, shape=(j - i, X.shape[1])).sum(axis=1)
    return out + bias**2


def unit_scale(largest: float, what: str) -> float:
    """A power of two by which features far from 1 are divided, one that can be squared; else 1.

    With x = scale x', w' = scale w and u' = scale^2 u, for multipliers u, the problem is the same,
    with scale^2 C.

    largest : the size of the largest feature; what : its name, should it not be finite
    """
    if not np.isfinite(largest):
        raise UserError(f"{what} is {largest}. Replace it by a finite number.")
    exponent = int(np.frexp(largest)[1])
    return 1.0 if abs(exponent) <= 16 else float(np.ldexp(1.0, max(exponent - 1, -450)))


def starts(room: Any) -> npt.NDArray[np.int64]:
    """Where lists with so much room begin, one after the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(room)]).astype(np.int64)


def with_more_room(lists: Any, names: tuple[str, ...], most: float = np.inf) -> Any:
    """Lists of examples with twice the room for those that want more, at most `most`.

    lists : a named tuple with `begin`, `wants` and the arrays `names`, in which the lists lie
    """
    if not lists.wants.any():
        return lists
    room = np.diff(lists.begin)
    begin = starts(np.where(lists.wants, np.minimum(2 * room, most), room))
    at = np.repeat(begin[:-1] - lists.begin[:-1], room) + np.arange(lists.begin[-1])
    moved = {name: np.zeros(begin[-1], getattr(lists, name).dtype) for name in names}
    for name, array in moved.items():
        array[at] = getattr(lists, name)
    return lists._replace(begin=begin, wants=np.zeros_like(lists.wants), **moved)


class Solution(NamedTuple):
    """Weights of every class, with the certificate of every class.

    The intercept is what is added to the scores: the weight of the constant feature times its
    size. `objective` is the primal value; `dual` never lies above it.
    """

    coef: Any  # (n_classes, n_features), an array or csr_array
    intercept: FloatArray  # (n_classes,)
    objective: npt.NDArray[np.float64]  # (n_classes,), or (1,) for a joint problem
    dual: npt.NDArray[np.float64]  # likewise
    n_iter: int  # passes over the data, the largest of all classes
    trace: list[dict[str, float]]  # seconds, objective, gap

    @property
    def gap(self) -> float:
        """The relative duality gap of all classes together: (P - D) / |P|."""
        total = float(self.objective.sum())
        return relative(total - float(self.dual.sum()), total)


class Joint(NamedTuple):
    """The answer of a problem that joins classes and other nodes."""

    solution: Solution
    W_I: FloatArray  # (n_internal, d + 1), the constant feature last
    duals: Any = (
        None  # (n, n_classes) csr_array, signed: a start for the next solve, if there is one
    )
