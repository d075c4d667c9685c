"""What the variants of H-M3 share: the examples, their scores, and when to stop.

    F = X W  with  W = X'N   (linear),      F = K N   (any kernel).

A solver starts anew from exact weights W = X'N after every pass, so that no rounding piles up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.solvers.hm3_rows_fast import Inputs
from linnaeus.solvers.problem import Rows, squared_norms
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.labelsets import as_indicator

Values = npt.NDArray[np.float64]
Array = npt.NDArray[np.floating[Any]]

BLOCK = 1 << 22  # numbers in a block of scores
PASSES = 4  # over the examples between two certificates


class Source(NamedTuple):
    """The examples in the form of the loops, and the matrix that multiplies the weights."""

    inputs: Inputs
    matrix: Any  # X or K
    linear: bool
    dtype: Any

    def weights(self, N: Array) -> Array:
        """What scores are made of: W = X'N, or N itself."""
        made = self.matrix.T @ N if self.linear else N.copy()
        return np.ascontiguousarray(made, dtype=self.dtype)

    def squared_norm(self, N: Array, W: Array) -> float:
        """||w||^2 = sum W^2, or <N, K N>."""
        if self.linear:
            return float(np.vdot(W, W))
        return sum(float(np.vdot(N[rows], F)) for rows, F in self.scores(W))

    def scores(self, W: Array) -> Iterator[tuple[slice, Values]]:
        """F block by block, as float64."""
        n, size = self.matrix.shape[0], max(1, BLOCK // max(1, W.shape[1]))
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            yield rows, np.ascontiguousarray(self.matrix[rows] @ W, dtype=np.float64)


def source(X: Any, K: Any, n_rows: int, dtype: Any) -> Source:
    """The examples, given either by their features or by their kernel matrix."""
    if (X is None) == (K is None):
        given = "neither" if X is None else "both"
        raise UserError(f"Of X and K, {given} is given. Give the features or the kernel matrix.")
    if K is not None:
        K = np.ascontiguousarray(K, dtype=dtype)
        if K.shape != (n_rows, n_rows):
            raise UserError(
                f"The kernel matrix has shape {K.shape}, but there are {n_rows:,} label sets. "
                "Give a row and a column for each."
            )
        none = Rows.of(sp.csr_array((0, 0)), dtype)
        return Source(Inputs(*none, K, np.diag(K).astype(np.float64)), K, False, dtype)
    X = sp.csr_array(X, dtype=dtype)
    if X.shape[0] != n_rows:
        raise UserError(
            f"X has {X.shape[0]:,} rows, but there are {n_rows:,} label sets. Give one for each."
        )
    norm2 = squared_norms(X.astype(np.float64), 0.0)
    return Source(Inputs(*Rows.of(X, dtype), np.zeros((0, 0), dtype), norm2), X, True, dtype)


def labels(taxonomy: Taxonomy, Y: Any) -> npt.NDArray[np.int8]:
    """Label sets as a dense 0/1 matrix over the nodes."""
    return np.ascontiguousarray(as_indicator(taxonomy, Y).toarray(), dtype=np.int8)


def check_options(C: float, tol: float, max_iter: int) -> None:
    """C, tolerance and limit of passes that make no sense are refused."""
    if not (C > 0 and math.isfinite(C)):
        raise UserError(f"C is {C}. Use a positive number.")
    if not tol > 0:
        raise UserError(f"tol is {tol}. Use a positive number, such as 1e-3.")
    if max_iter < 1:
        raise UserError(f"max_iter is {max_iter}. Use 1 or more passes.")


class Certificate(NamedTuple):
    """Values of the primal and the dual, and the part of every example in the gap."""

    objective: float
    dual: float
    slack: Values  # (n,)
    gaps: Values  # (n,)


class Outcome(NamedTuple):
    """The last certificate, and how it was reached."""

    certificate: Certificate
    n_iter: int
    trace: list[dict[str, float]]


def run(
    certify: Callable[[], Certificate],
    visit: Callable[[npt.NDArray[np.int64]], None],
    *,
    tol: float,
    max_iter: int,
    seed: int,
    floor: float = 1.0,
) -> Outcome:
    """Visit the examples in random order until the gap is at most tol max(floor, |objective|).

    An example whose gap is too small to matter waits for the next certificate.
    """
    rng, began = np.random.default_rng(seed), time.perf_counter()
    trace: list[dict[str, float]] = []
    for n_iter in range(max_iter + 1):
        at = certify()
        gap, enough = at.objective - at.dual, tol * max(floor, abs(at.objective))
        seconds = time.perf_counter() - began
        trace.append({"seconds": seconds, "objective": at.objective, "gap": gap})
        if gap <= enough or n_iter == max_iter:
            break
        busy = np.flatnonzero(at.gaps > 0.5 * enough / at.gaps.size)
        for _ in range(PASSES):
            visit(rng.permutation(busy))
    return Outcome(at, n_iter, trace)
