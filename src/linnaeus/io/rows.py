"""What every format is read into: one example after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class SparseRow(NamedTuple):
    """The features of one example that are not zero; `indices` ascend from 0.

    Attributes
    ----------
    indices : ndarray of int32 of shape (n_nonzero,)
        Columns, from 0.
    values : ndarray of shape (n_nonzero,)
        Their values.
    """

    indices: NDArray[np.int32]
    values: NDArray[Any]


class Example(NamedTuple):
    """One row of a collection: a `text`, or features `x` (an array, or a `SparseRow`).

    Attributes
    ----------
    id : str
        Its name.
    labels : list
        Its labels.
    text : str or None
        Its text.
    x : ndarray of shape (n_features,), SparseRow or None
        Its features.
    metadata : dict or None
        What else the row held.
    """

    id: str
    labels: list[Any]
    text: str | None = None
    x: NDArray[Any] | SparseRow | None = None
    metadata: dict[str, Any] | None = None


class BadRowError(ValueError):
    """One row cannot be read; the rest of the file can. Never leaves `linnaeus.io`.

    `kind` is what is wrong in a word, `value` what was found there.
    """

    def __init__(self, message: str, kind: str = "bad_row", value: str = "") -> None:
        super().__init__(message)
        self.kind, self.value = kind, value


class Skipped(str):
    """The message about a row that was left out; knows its number and what is wrong with it."""

    kind: str
    value: str
    row: int  # from 1

    @classmethod
    def of(cls, message: str, kind: str, value: str, row: int) -> Skipped:
        """The message with all that is known of the row."""
        made = cls(message)
        made.kind, made.value, made.row = kind, value, row
        return made
