"""Data frames of pandas and polars, which are imported only where one was given.

A frame of labels is an indicator, its columns called like labels, or has a column for each level.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.labels.names import is_missing, plain_names


class Table(NamedTuple):
    """A data frame: whose it is, what its columns are called, their type where they share one."""

    library: str
    columns: tuple[Any, ...]
    dtype: str = ""

    @classmethod
    def of(cls, frame: Any) -> Table:
        """What to know of a frame to make another like it."""
        kinds = {str(kind) for kind in frame.dtypes}
        dtype = kinds.pop() if len(kinds) == 1 else ""
        return cls(library_of(frame), tuple(plain_names(frame.columns)), dtype)

    def made(self, values: Any, X: Any) -> Any:
        """A frame of these values; its rows are called like those of X, if X is a pandas frame.

        values : a matrix, or lists with an entry for each column
        """
        if self.library == "polars":
            return self._polars(values)
        pandas = imported("pandas")
        index = X.index if library_of(X) == "pandas" else None
        columns: Any = self._widened(values)
        if sp.issparse(values):
            return pandas.DataFrame.sparse.from_spmatrix(values, index, columns)
        frame = pandas.DataFrame(values, index, columns)
        return frame.astype(self.dtype) if self.dtype else frame

    def _polars(self, values: Any) -> Any:
        polars = imported("polars")
        rows = values.toarray() if sp.issparse(values) else values
        frame = polars.DataFrame(rows, schema=self._widened(rows), orient="row")
        kind = getattr(polars, self.dtype, None) if self.dtype else None
        return frame if kind is None else frame.cast(kind)

    def _widened(self, values: Any) -> list[Any]:
        """The names of the columns, and of levels that the frame taught had no column for."""
        width = values.shape[1] if hasattr(values, "shape") else max(map(len, values), default=0)
        return [*self.columns, *(f"level {j + 1}" for j in range(len(self.columns), width))]


def library_of(value: Any) -> str:
    """The package that a value comes from."""
    return type(value).__module__.partition(".")[0]


def imported(library: str) -> Any:
    """pandas or polars."""
    try:
        return importlib.import_module(library)
    except ImportError:
        raise UserError(
            f"The model was taught a data frame of {library} and answers with one, but {library} "
            f"is not installed. Install it, or train on an array."
        ) from None


def is_frame(y: Any) -> bool:
    return hasattr(y, "columns") and hasattr(y, "to_numpy")


def matrix_of(frame: Any) -> Any:
    """The values of a frame: an array, or CSR where all columns are sparse."""
    if library_of(frame) == "pandas" and all(map(_is_sparse, frame.dtypes)) and frame.shape[1]:
        return sp.csr_array(frame.sparse.to_coo())
    return np.asarray(frame.to_numpy())


def _is_sparse(dtype: Any) -> bool:
    return str(dtype).startswith("Sparse[") and getattr(dtype, "fill_value", 0) in (0, False)


def numbers_of(values: Any) -> Any:
    """A matrix of numbers as such; None if it holds something else."""
    if sp.issparse(values) or values.dtype.kind in "biuf":
        return values
    if values.dtype != object or not all(
        isinstance(v, int | float | np.number | np.bool_) for v in values.ravel().tolist()
    ):
        return None
    return np.asarray(values, np.float64)


def check_filled(values: Any, columns: list[Any]) -> None:
    """Refuse missing values in an indicator."""
    if sp.issparse(values) or (values.dtype != object and not np.isnan(values).any()):
        return
    for row, entries in enumerate(values.tolist()):
        for column, value in zip(columns, entries, strict=True):
            if is_missing(value):
                raise UserError(
                    f"Row {row} has the missing value {value} in the column {shorten(column)} of "
                    f"the labels. Fill it with 0 or 1, or leave the row out."
                )
