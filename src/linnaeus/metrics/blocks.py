"""Scores and labels of many rows, block by block, so that memory stays bounded.

A metric of a ranking is a function from a `Block` to one value per row; `averages` takes the means
of several over the rows that have a label, in one pass over the scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.metrics.inputs import Scored

_CELLS = 1 << 22  # label-by-class comparisons made at once

PerRow = Callable[["Block"], np.ndarray]


class Block:
    """Some rows, each with a label: scores, labels, and what several metrics need of them."""

    def __init__(self, true: sp.csr_array, scores: np.ndarray) -> None:
        self.scores, self.positive = scores, true.toarray().astype(bool)
        self.row = np.repeat(np.arange(true.shape[0]), np.diff(true.indptr))
        self.label = true.indices  # entry by entry, with its row beside it
        self.start, self.n_labels = true.indptr[:-1], np.diff(true.indptr)

    @cached_property
    def top(self) -> np.ndarray:
        """The class with the highest score in each row; the first of several."""
        return np.asarray(self.scores.argmax(axis=1))

    @cached_property
    def hit(self) -> np.ndarray:
        """Whether the top class is true."""
        return np.asarray(self.positive[np.arange(self.top.size), self.top])

    @cached_property
    def above(self) -> np.ndarray:
        """Per label y and class z, whether F(z) >= F(y)."""
        return np.asarray(self.scores[self.row] >= self.scores[self.row, self.label][:, None])

    @cached_property
    def misranked(self) -> np.ndarray:
        """Per label y and class z, whether z is not true and not below y."""
        return np.asarray(self.above & ~self.positive[self.row])

    def sum(self, per_label: np.ndarray) -> np.ndarray:
        """Values per label, summed in each row."""
        return np.add.reduceat(per_label, self.start)

    def max(self, per_label: np.ndarray) -> np.ndarray:
        """The largest of the values per label in each row."""
        return np.maximum.reduceat(per_label, self.start)


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
    true, S = given.true, given.scores
    rows = np.flatnonzero(np.diff(true.indptr))
    cost = np.cumsum(np.diff(true.indptr)[rows] * S.shape[1])
    cuts = np.flatnonzero(np.diff(cost // _CELLS)) + 1
    for part in np.split(rows, cuts):
        if part.size:
            scores = np.asarray(S[part], dtype=np.result_type(S.dtype, np.float32))
            _refuse_nan(scores, part)
            yield Block(true[part], scores)


def _refuse_nan(scores: np.ndarray, rows: np.ndarray) -> None:
    bad = np.isnan(scores)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise UserError(
            f"The score in row {rows[i]}, column {j} is NaN, which has no place in a ranking. "
            f"Check the model, or replace it by -inf to rank it last."
        )
