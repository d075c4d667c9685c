"""Scores and labels of many rows, block by block, so that memory stays bounded.

A metric of a ranking is a function from a `Block` to one value per row; `averages` takes the means
of several over the rows that have a label, in one pass over the scores. Dense scores become CSR
with all entries in every block, so that loops know one form only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.losses import ClassLoss
from linnaeus.losses.pairwise import LossParts
from linnaeus.metrics import ranking_fast as fast
from linnaeus.metrics.inputs import Scored

_CELLS = 1 << 22  # scores looked at together
_FIRST = 5  # ranks that are kept even if fewer are asked for

PerRow = Callable[["Block"], np.ndarray]


class Entries(NamedTuple):
    """Rows of a CSR matrix for loops, columns ascending."""

    ptr: np.ndarray  # int64
    columns: np.ndarray  # int32
    values: np.ndarray  # float64


class LossEntries(NamedTuple):
    """A class loss for loops, and how large the losses of each class are."""

    parts: tuple[np.ndarray, ...]
    bound: np.ndarray  # no loss is larger
    limit: np.ndarray  # the largest; NaN where not known yet

    @classmethod
    def of(cls, loss: ClassLoss) -> LossEntries:
        found = loss.parts()
        ptr, nodes, volumes = entries(found.volumes)
        others = (found.total, found.miss, found.false, found.table)
        parts = (ptr, nodes, volumes, *(np.array(part, dtype=np.float64) for part in others))
        return cls(parts, _bound(found), np.full(loss.n_classes, np.nan))


class Block:
    """Some rows, each with a label: scores, labels, and what several metrics need of them."""

    def __init__(self, true: sp.csr_array, scores: Entries, n_classes: int) -> None:
        ptr, self.label, _ = entries(true)  # entry by entry, with its row beside it
        self._given = (ptr, self.label, *scores)
        self.start, self.n_labels, self.n_classes = ptr[:-1], np.diff(ptr), n_classes
        self.row = np.repeat(np.arange(self.n_labels.size), self.n_labels)
        self._best: tuple[np.ndarray, np.ndarray] = (np.zeros((0, 0)), np.zeros((0, 0)))

    @cached_property
    def _ranks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = self.label.size
        found = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        fast.rank_labels(*self._given, self.n_classes, *found)
        return found

    @property
    def n_above(self) -> np.ndarray:
        """Per label y, how many classes z have F(z) >= F(y)."""
        return self._ranks[1]

    @property
    def n_wrong(self) -> np.ndarray:
        """Per label, how many of these are not true."""
        return self._ranks[2]

    def best(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k classes with the highest scores (-1: no more have one), and whether each is true.

        Ties go to the lower number.
        """
        if self._best[0].shape[1] < k:
            shape = (self.n_labels.size, max(k, min(_FIRST, self.n_classes)))
            self._best = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=bool)
            fast.highest(*self._given, *self._best)
        return self._best[0][:, :k], self._best[1][:, :k]

    @property
    def top(self) -> np.ndarray:
        """The class with the highest score in each row, or -1."""
        return self.best(1)[0][:, 0]

    @property
    def hit(self) -> np.ndarray:
        """Whether the top class is true."""
        return self.best(1)[1][:, 0]

    def largest(self, loss: LossEntries) -> np.ndarray:
        """Per label y, the largest loss(y, z) over the wrong z with F(z) >= F(y)."""
        out = np.empty(self.label.size)
        fast.largest_losses(*self._given, self._ranks[0], *loss, out)
        return out

    def summed(self, loss: LossEntries) -> np.ndarray:
        """The same with the sum in place of the largest."""
        out = np.empty(self.label.size)
        fast.summed_losses(*self._given, self._ranks[0], loss.parts, self.n_classes, out)
        return out

    def sum(self, per_label: np.ndarray) -> np.ndarray:
        """Values per label, summed in each row."""
        return np.add.reduceat(per_label, self.start)

    def max(self, per_label: np.ndarray) -> np.ndarray:
        """The largest of the values per label in each row."""
        return np.maximum.reduceat(per_label, self.start)


def _bound(parts: LossParts) -> np.ndarray:
    """What the losses of a class do not exceed: all but what all classes share is wrong."""
    if parts.table.size:
        return np.asarray(parts.table.max(axis=1))
    shared = np.bincount(parts.volumes.indices, minlength=parts.volumes.shape[1]) == len(
        parts.total
    )
    apart = parts.total - (parts.volumes[[0]] @ shared.astype(float))[0]
    return np.asarray(parts.miss * apart + (parts.false * apart).max())


def average(per_row: PerRow, given: Scored) -> float:
    """The mean over the rows with a label."""
    return averages({"": per_row}, given)[""]


def averages(per_row: dict[str, PerRow], given: Scored) -> dict[str, float]:
    """The means of several metrics over the rows with a label, in one pass over the scores."""
    values: dict[str, list[np.ndarray]] = {name: [] for name in per_row}
    for block in blocks(given):
        for name, function in per_row.items():
            values[name].append(function(block))
    if not any(values.values()):
        warnings.warn(
            "No row has a label among the columns of the scores, so metrics of the ranking are "
            "NaN. Check that labels and scores belong to the same classes.",
            stacklevel=3,
        )
        return dict.fromkeys(per_row, float("nan"))
    return {name: float(np.concatenate(parts).mean()) for name, parts in values.items()}


def blocks(given: Scored) -> Iterator[Block]:
    """The rows with labels, in blocks of bounded size; NaN scores are refused on the way."""
    labelled = np.flatnonzero(np.diff(given.true.indptr))
    for rows, scores in score_blocks(given.scores, labelled):
        yield Block(given.true[rows], scores, given.scores.shape[1])


def score_blocks(S: Any, rows: np.ndarray) -> Iterator[tuple[np.ndarray, Entries]]:
    """Some rows of dense or sparse scores, in blocks of bounded size."""
    sizes = np.diff(S.indptr)[rows] if sp.issparse(S) else np.full(rows.size, S.shape[1])
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes, dtype=np.int64) // _CELLS)) + 1
    for part in np.split(rows, cuts):
        if part.size:
            found = entries(S[part])
            _refuse_nan(found, part)
            yield part, found


def entries(matrix: Any) -> Entries:
    """A matrix for loops; of a dense one, all entries."""
    if sp.issparse(matrix):
        matrix = matrix.sorted_indices()
        indices, values = matrix.indices.astype(np.int32), matrix.data.astype(np.float64)
        return Entries(matrix.indptr.astype(np.int64), indices, values)
    n, width = matrix.shape
    columns = np.tile(np.arange(width, dtype=np.int32), n)
    ptr = np.arange(n + 1, dtype=np.int64) * width
    return Entries(ptr, columns, np.ascontiguousarray(matrix, dtype=np.float64).ravel())


def _refuse_nan(scores: Entries, rows: np.ndarray) -> None:
    bad = np.flatnonzero(np.isnan(scores.values))
    if bad.size:
        i = int(np.searchsorted(scores.ptr, bad[0], side="right")) - 1
        raise UserError(
            f"The score in row {rows[i]}, column {scores.columns[bad[0]]} is NaN, which has no "
            f"place in a ranking. Check the model, or replace it by -inf to rank it last."
        )
