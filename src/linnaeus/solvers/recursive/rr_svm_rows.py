"""D = B' V, what classes have in common, as rows that are dense or sparse (`rr_svm_dual`).

A node's row of D has the features of the examples that matter below it: few far down, almost all
near the roots. `DenseRows` keeps everything in one array, (n_inner, d + 1); `SparseRows` keeps for
each row the features that it has, or all where it has most of them. A task gets the rows of
its own nodes (`part`, not a copy) and answers with a `Change`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import block_diag

from linnaeus.execution.engines import one_blas_thread
from linnaeus.solvers.numerics.examples import FloatArray, starts
from linnaeus.solvers.recursive import rr_svm_rows_fast as fast

FULL = 0.5  # the part of all features from which a row is kept dense: as many bytes either way

TOGETHER = 16  # rows that are made at a time where a block knows only sums of them

Row = Any  # (d + 1,) array; or ascending features (uint32) and their values


class Change(NamedTuple):
    """What is added to some rows of D."""

    features: npt.NDArray[np.uint32] | None  # ascending, of the columns; None for all
    values: FloatArray  # (m, n_columns)

    def square(self) -> float:
        """The sum of all squares."""
        return float(np.einsum("ij,ij", self.values, self.values))

    def compact(self) -> Change:
        """Without columns of zeros."""
        if self.features is not None:
            return self
        has = np.flatnonzero(self.values.any(axis=0))
        return Change(has.astype(np.uint32), np.ascontiguousarray(self.values[:, has]))

    def at(self, features: npt.NDArray[np.uint32] | None, width: int) -> FloatArray:
        """Its values at some features, ascending; None for all `width` of them."""
        if self.features is None:
            return self.values if features is None else self.values[:, features]
        wanted = np.arange(width, dtype=np.uint32) if features is None else features
        out = np.empty((len(self.values), wanted.size), self.values.dtype)
        for row, here in zip(self.values, out, strict=True):
            fast.read_at(self.features, row, wanted, here)
        return out


Turns = list[FloatArray | None]  # of blocks: of their last rows these sums are known alone


def changed_rows(change: Change, turn: FloatArray | None, share: Any) -> Iterator[FloatArray]:
    """A part of a change, some rows of D at a time; of a turn, ``turn.T`` times its last ones."""
    values = share * change.values
    if turn is None:
        yield values
        return
    yield values[: -len(turn)]
    for k in range(0, turn.shape[1], TOGETHER):
        with one_blas_thread():
            rows = turn[:, k : k + TOGETHER].T @ values[-len(turn) :]
        yield rows


def crossed_pairs(inner: list[Any], changes: list[Change], turns: Turns, width: int) -> float:
    """Twice the sum of the products of any two changes, without their rows being made."""
    total = 0.0
    for i, one in enumerate(changes):
        for j, other in enumerate(changes[:i]):
            _, here, there = np.intersect1d(inner[i], inner[j], return_indices=True)
            meet = (
                _columns(turns[i], here, len(one.values))
                @ _columns(turns[j], there, len(other.values)).T
            )  # (rows of one, rows of the other)
            with one_blas_thread():
                total += 2 * float(np.vdot(meet, one.values @ other.at(one.features, width).T))
    return total


def _columns(turn: FloatArray | None, nodes: Any, m: int) -> FloatArray:
    """Of a turn beside the identity, (m, n_nodes)."""
    if turn is None:
        return np.eye(m)[:, nodes]
    return np.asarray(block_diag(np.eye(m - len(turn)), turn)[:, nodes])


def stacked(part: list[Row], width: int, dtype: Any) -> FloatArray:
    """Rows as one array (m, width)."""
    out = np.zeros((len(part), width), dtype=dtype)
    for here, row in zip(out, part, strict=True):
        if isinstance(row, tuple):
            here[row[0]] = row[1]
        else:
            here[:] = row
    return out


def turned(
    part: list[Row], turn: FloatArray, width: int, wanted: npt.NDArray[np.uint32] | None = None
) -> FloatArray:
    """Rows of which the last are turned: ``turn`` (r, k) times them; or some of their columns."""
    n_own = len(part) - turn.shape[1]
    n_columns = width if wanted is None else wanted.size
    out = np.zeros((n_own + turn.shape[0], n_columns), dtype=turn.dtype)

    def rows(some: list[Row]) -> FloatArray:
        if wanted is None:
            return stacked(some, width, turn.dtype)
        return stacked_at(some, wanted, turn.dtype)

    out[:n_own] = rows(part[:n_own])
    for k in range(0, turn.shape[1], TOGETHER):
        some = part[n_own + k : min(n_own + k + TOGETHER, len(part))]
        out[n_own:] += turn[:, k : k + TOGETHER] @ rows(some)
    return out


def stacked_at(part: list[Row], wanted: npt.NDArray[np.uint32], dtype: Any) -> FloatArray:
    """Some columns of rows, ascending: (m, n_wanted)."""
    out = np.empty((len(part), wanted.size), dtype=dtype)
    for here, row in zip(out, part, strict=True):
        if isinstance(row, tuple):
            fast.read_at(*row, wanted, here)
        else:
            np.take(row, wanted, out=here)
    return out


class DenseRows:
    """All rows in one array."""

    compact = False

    def __init__(self, n_rows: int, width: int, dtype: Any) -> None:
        self.D = np.zeros((n_rows, width), dtype=dtype)
        self.width, self.dtype = width, self.D.dtype

    def take(self) -> Any:
        """All rows, as a plain value."""
        return self.D

    def restore(self, found: Any) -> None:
        """Take up such rows."""
        self.D = found

    def part(self, inner: Any) -> list[Row]:
        """The rows of some nodes."""
        return [self.D[v] for v in inner.tolist()]

    def add(self, inner: Any, change: Change, share: float = 1.0, turn: Any = None) -> None:
        """Add a part of a change to the rows of some nodes."""
        at = 0
        for rows in changed_rows(change, turn, self.dtype.type(share)):
            self.D[inner[at : at + len(rows)]] += rows
            at += len(rows)

    def clear(self) -> None:
        """Zero everywhere."""
        self.D = np.zeros_like(self.D)

    def square(self) -> float:
        """||D||^2"""
        return float(np.einsum("ij,ij->i", self.D, self.D).sum(dtype=np.float64))

    def crossed(self, inner: list[Any], changes: list[Change], turns: Turns) -> float:
        """Twice the sum of the products of any two changes, where they meet."""
        if any(turn is not None for turn in turns):
            return crossed_pairs(inner, changes, turns, self.width)
        total = 0.0
        for i, one in enumerate(changes):
            for j, other in enumerate(changes[:i]):
                _, here, there = np.intersect1d(inner[i], inner[j], return_indices=True)
                total += 2 * float(np.einsum("ij,ij", one.values[here], other.values[there]))
        return total


class SparseRows:
    """Every row by itself, with the features that it has."""

    compact = True

    def __init__(self, n_rows: int, width: int, dtype: Any) -> None:
        self.n_rows, self.width, self.dtype = n_rows, width, np.dtype(dtype)
        self.clear()

    def clear(self) -> None:
        """Zero everywhere."""
        none = np.zeros(0, np.uint32), np.zeros(0, self.dtype)
        self.rows: list[Row] = [none] * self.n_rows

    def take(self) -> Any:
        """All rows, as a plain value."""
        return self.rows

    def restore(self, found: Any) -> None:
        """Take up such rows."""
        self.rows = found

    def part(self, inner: Any) -> list[Row]:
        """The rows of some nodes."""
        return [self.rows[v] for v in inner.tolist()]

    def add(self, inner: Any, change: Change, share: float = 1.0, turn: Any = None) -> None:
        """Add a part of a change to the rows of some nodes."""
        change, nodes = change.compact(), iter(inner.tolist())
        for rows in changed_rows(change, turn, self.dtype.type(share)):
            for row in rows:
                v = next(nodes)
                self.rows[v] = self._sum(self.rows[v], change.features, row)

    def _sum(self, row: Row, features: Any, change: FloatArray) -> Row:
        if not isinstance(row, tuple):
            fast.add_at(row, features, change)
            return row
        n = int(fast.n_together(row[0], features, change))
        if n > FULL * self.width:
            whole = stacked([row], self.width, self.dtype)[0]
            whole[features] += change
            return whole
        if n == row[0].size:  # nothing new
            return row[0], row[1] + self._placed(row[0], features, change)
        out = np.empty(n, np.uint32), np.empty(n, self.dtype)
        fast.add_together(*row, features, change, *out)
        return out

    def _placed(self, features: Any, others: Any, change: FloatArray) -> FloatArray:
        """A change at the features of a row, which are ascending too."""
        out = np.empty(features.size, self.dtype)
        fast.read_at(others, change, features, out)
        return out

    def square(self) -> float:
        """||D||^2"""
        values = (row[1] if isinstance(row, tuple) else row for row in self.rows)
        return float(sum(np.einsum("i,i", v, v, dtype=np.float64) for v in values))

    def crossed(self, inner: list[Any], changes: list[Change], turns: Turns) -> float:
        """Twice the sum of the products of any two changes: ||sum||^2 less the squares of each.

        Node by node, so that one row at a time is whole.
        """
        if any(turn is not None for turn in turns):
            return crossed_pairs(inner, changes, turns, self.width)
        users: dict[int, list[tuple[int, int]]] = {}
        for i, nodes in enumerate(inner):
            for k, v in enumerate(nodes.tolist()):
                users.setdefault(v, []).append((i, k))
        total = 0.0
        for places in users.values():
            if len(places) > 1:
                total += self._crossed(changes, places)
        return total

    def _crossed(self, changes: list[Change], places: list[tuple[int, int]]) -> float:
        whole, single = np.zeros(self.width), 0.0
        for i, k in places:
            features, values = changes[i].compact()
            whole[features] += values[k]
            single += float(np.einsum("i,i", values[k], values[k], dtype=np.float64))
        return float(np.einsum("i,i", whole, whole)) - single  # no threads for so little

    def taken_out(self, factor: float) -> tuple[sp.csr_array, FloatArray]:
        """All rows times a factor, (n_rows, d), and their last column; rows are let go one by one.

        So that there is never more than about one copy of them.
        """
        last = np.zeros(self.n_rows, self.dtype)
        counts = np.zeros(self.n_rows, dtype=np.int64)
        for v, row in enumerate(self.rows):
            features, values = row if isinstance(row, tuple) else (None, row)
            at_end = values[-1:] if features is None else values[features == self.width - 1]
            last[v] = factor * at_end.sum()
            counts[v] = np.count_nonzero(values) - np.count_nonzero(at_end)
        ptr = starts(counts)
        indices, data = np.empty(ptr[-1], np.int32), np.empty(ptr[-1], self.dtype)
        for v in range(self.n_rows):
            whole = stacked([self.rows[v]], self.width, self.dtype)[0, :-1]
            self.rows[v] = ()
            has = np.flatnonzero(whole)
            indices[ptr[v] : ptr[v + 1]], data[ptr[v] : ptr[v + 1]] = has, factor * whole[has]
        return sp.csr_array((data, indices, ptr), (self.n_rows, self.width - 1)), last
