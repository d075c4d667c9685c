"""Passes over the rows of examples in parts, side by side.

The parts depend on the data alone, and what they give is put together in their order: the result is
the same, bit for bit, for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from linnaeus.execution import Executor, over_blocks
from linnaeus.solvers.numerics.examples import FloatArray, Rows

LEAST = 1 << 20  # multiplications for which a part is worth while
MOST = 16  # parts, a power of two: as many for each worker where these are few
SUMS = 8  # multiplications that it must have for each number of its own sums


class RowParts:
    """The rows, cut where they have about as many nonzeros.

    shape : (n_features, n_columns) of the weights that a pass multiplies by the rows
    executor : where the parts run; None for this thread
    """

    def __init__(self, rows: Rows, shape: tuple[int, ...], executor: Executor | None) -> None:
        self.rows, self.executor = rows, executor
        nonzeros = rows.data.size
        most = nonzeros * shape[1] // LEAST
        self.parts = self._cut(_power(most))
        self.large = self._cut(_power(min(most, nonzeros // (SUMS * max(1, shape[0])))))
        self.sums: list[FloatArray] = []  # of all large parts but the first

    @property
    def is_far(self) -> bool:
        """Whether sums over rows are made elsewhere: in several parts, where memory is not one."""
        return len(self.large) > 1 and getattr(self.executor, "is_far", False)

    def _cut(self, n: int) -> list[slice]:
        """At most n parts; a row that is long may be all of one."""
        ends, indptr = np.arange(1, n) * (self.rows.data.size / n), self.rows.indptr
        at = np.unique(np.concatenate([[0], np.searchsorted(indptr, ends), [indptr.size - 1]]))
        cuts = at if at.size > 1 else np.zeros(2, np.int64)
        return [slice(int(a), int(b)) for a, b in pairwise(cuts)]

    def each(self, function: Callable[[slice, Rows], Any]) -> list[Any]:
        """What the function makes of every part: its place among all rows, and its rows."""
        return self._over(self.parts, function)

    def summed(self, function: Callable[[slice, Rows, FloatArray], Any], out: FloatArray) -> Any:
        """Let the function add sums over rows to `out`; the list of what it returns."""
        if [sums.shape for sums in self.sums] != [out.shape] * (len(self.large) - 1):
            self.sums = [np.empty_like(out) for _ in self.large[1:]]
        own = {part.start: sums for part, sums in zip(self.large[1:], self.sums, strict=True)}

        def add(part: slice, rows: Rows) -> Any:
            if part.start in own:
                own[part.start][:] = 0
            return function(part, rows, own.get(part.start, out))

        made = self._over(self.large, add)
        for sums in self.sums:
            out += sums
        return made

    def features(self, function: Callable[[slice], Any], n: int, width: int) -> None:
        """Let the function do what it does for every feature alone, for all of n."""
        k = _power(n * width // LEAST)
        blocks = [slice(n * i // k, n * (i + 1) // k) for i in range(k)]
        list(over_blocks(function, (), blocks, self.executor))

    def _over(self, parts: list[slice], function: Callable[[slice, Rows], Any]) -> list[Any]:
        def one(part: slice) -> Any:
            indptr = self.rows.indptr[part.start : part.stop + 1]
            return function(part, Rows(indptr, self.rows.indices, self.rows.data))

        return list(over_blocks(one, (), parts, self.executor))


def _power(n: int) -> int:
    """The largest power of two that is at most n and MOST; at least 1."""
    return min(MOST, 1 << max(0, n.bit_length() - 1))
