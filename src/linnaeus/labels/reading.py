"""Telling the forms of labels apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.labels import frames, paths
from linnaeus.labels.indicators import has_signs
from linnaeus.labels.names import is_missing, missing, plain_names

INFER = (
    "taxonomy='infer' makes the taxonomy from rows that are paths (a 2-D array or a data frame of "
    "levels, lists of names from a root down, or lists of such paths)"
)


class Nodes(paths.Hierarchy, Protocol):
    """What is asked of a taxonomy."""

    @property
    def nodes(self) -> tuple[Any, ...]: ...

    @property
    def leaf_numbers(self) -> npt.NDArray[np.int32]: ...

    def names(self, numbers: Iterable[int]) -> tuple[Any, ...]: ...

    def index(self, name: Any) -> int: ...

    def numbers(self, names: Iterable[Any]) -> npt.NDArray[np.int32]: ...


class Read(NamedTuple):
    """The kind of a form, and its content as an array, a matrix, lists, or rows of paths."""

    kind: str
    content: Any
    names: tuple[Any, ...] | None = None  # of the columns, where a data frame or the user says them
    column: bool = False
    rows: Any = None  # of 0 and 1, where an indicator came in plain lists
    table: frames.Table | None = None


def read(y: Any, taxonomy: Nodes | None) -> Read:
    """Which form labels have."""
    if sp.issparse(y):
        return Read("sparse", _two_dimensional(y))
    if frames.is_frame(y):
        return _frame(y, taxonomy)
    y = entries_of(y)
    if isinstance(y, np.ndarray) and y.ndim == 3 and y.dtype.kind in "UO":
        return Read("paths", paths.read_array(y))
    if isinstance(y, np.ndarray) and y.ndim != 1:
        return _matrix(_two_dimensional(y), taxonomy)
    if isinstance(y, np.ndarray) and y.dtype != object:
        return Read("one", y)
    kinds = set(map(type, y))
    nested = {kind for kind in kinds if is_collection(kind)}
    if not nested:
        return Read("one", y)
    if nested != kinds:
        raise _mixed(y)
    return _lists(_sized(y), taxonomy)


def read_paths(y: Any) -> Read:
    """Labels that are to be paths, whatever else they could be."""
    if frames.is_frame(y):
        values = np.asarray(y.to_numpy())
        if values.shape[1] > 1 and not _is_bits_only(values):
            return _levels(y)
    elif not sp.issparse(y):
        y = entries_of(y)
        if isinstance(y, np.ndarray) and y.ndim in (2, 3) and not _is_bits_only(y):
            return Read("paths", paths.read_array(y))
        if not isinstance(y, np.ndarray) or (y.dtype == object and y.ndim == 1):
            kinds = set(map(type, y))
            if kinds and all(map(is_collection, kinds)):
                rows = _sized(y)
                return Read("paths", paths.read_lists(rows, paths.hold_paths(rows, is_collection)))
    raise UserError(f"{INFER}, but the labels are {_described(y)}. Give such rows, or a taxonomy.")


def _described(y: Any) -> str:
    if sp.issparse(y) or np.ndim(y) > 1 or frames.is_frame(y):
        return "an indicator"
    first = plain_names(y[:1])
    return f"one label per row (the first is {shorten(first[0])})" if first else "none"


def _is_bits_only(values: npt.NDArray[Any]) -> bool:
    """Whether a matrix holds 0 and 1 alone, as indicators do."""
    numbers = frames.numbers_of(values)
    return numbers is not None and bool(np.isin(numbers, (0, 1)).all())


def entries_of(y: Any) -> Any:
    """A list, a tuple or an array of what is one entry per row."""
    if isinstance(y, list | tuple):
        return y
    array = np.asarray(y) if hasattr(y, "__array__") else np.zeros(())
    if array.ndim:
        return array
    unordered = isinstance(y, str | bytes | Mapping | set | frozenset)
    if unordered or hasattr(y, "__array__") or not hasattr(y, "__iter__"):
        raise UserError(
            f"The labels are {shorten(y)}. Give one entry per row: a label, or a list of labels."
        )
    return list(y)


def _sized(y: Sequence[Any]) -> list[Any]:
    return [row if hasattr(row, "__len__") else list(row) for row in y]


def _two_dimensional(Y: Any) -> Any:
    if Y.ndim != 2:
        raise UserError(
            f"The labels have the shape {Y.shape}. Give one label, or one list of labels, per row; "
            f"or an indicator with a column for each label."
        )
    return Y


# -- matrices and data frames ----------------------------------------------------------------------


def _matrix(Y: npt.NDArray[Any], taxonomy: Nodes | None) -> Read:
    """A dense matrix: an indicator, one column of labels, or rows of paths."""
    numbers = frames.numbers_of(Y)
    if Y.shape[1] == 1 and (numbers is None or not _is_one_node(taxonomy)):
        return read(Y.ravel(), taxonomy)._replace(column=True)
    if _are_levels(Y, taxonomy):
        return Read("paths", paths.read_array(Y))
    frames.check_filled(Y, list(range(Y.shape[1])))
    return Read("dense", numbers)


def _are_levels(values: npt.NDArray[Any], taxonomy: Nodes | None) -> bool:
    """Whether a matrix holds names of nodes: texts, or numbers other than 0 and 1."""
    if values.dtype.kind in "biuf":
        other = values[(values != 0) & (values != 1) & ~np.isnan(values)]
        if not other.size or taxonomy is None or has_signs(values) or other[0] not in taxonomy:
            return False
        return all(v in taxonomy for v in np.unique(other).tolist())
    entries = values.ravel().tolist()
    if any(isinstance(v, str) for v in entries):
        return True
    seen = {v for v in entries if not is_missing(v)}
    return taxonomy is not None and not seen <= {0, 1} and all(v in taxonomy for v in seen)


def _frame(frame: Any, taxonomy: Nodes | None) -> Read:
    """A data frame: an indicator by the names of its columns, a column of labels, or levels."""
    values, names = frames.matrix_of(frame), plain_names(frame.columns)
    if len(names) == 1 and (taxonomy is None or names[0] not in taxonomy):
        values = values.toarray() if sp.issparse(values) else values
        return _matrix(values, taxonomy)
    named = taxonomy is not None and any(name in taxonomy for name in names)
    if not sp.issparse(values) and _are_levels(values, None if named else taxonomy):
        return _levels(frame)
    for j, name in enumerate(names):
        if name in names[:j]:
            raise UserError(f"Two columns of labels are named {shorten(name)}. Name each once.")
    frames.check_filled(values, names)
    kind = "sparse" if sp.issparse(values) else "dense"
    return Read(kind, frames.numbers_of(values), tuple(names), table=frames.Table.of(frame))


def _levels(frame: Any) -> Read:
    """A data frame with a column for each level."""
    rows = paths.read_array(np.asarray(frame.to_numpy()), is_table=True)
    return Read("paths", rows, table=frames.Table.of(frame))


def _is_one_node(taxonomy: Nodes | None) -> bool:
    """Whether one column of 0 and 1 can be an indicator."""
    if taxonomy is None or len(taxonomy.nodes) == 1:
        return taxonomy is not None
    return taxonomy.leaf_numbers.size == 1 and 0 not in taxonomy and 1 not in taxonomy


# -- lists -----------------------------------------------------------------------------------------


def is_collection(kind: type) -> bool:
    """Whether an entry of this type is a list of labels, not a label."""
    return hasattr(kind, "__iter__") and not issubclass(kind, str | bytes | Mapping)


def _lists(rows: list[Any], taxonomy: Nodes | None) -> Read:
    """Lists of labels, rows of 0 and 1, or paths: padded ones, or lists of them."""
    if paths.are_padded(rows):
        return Read("paths", paths.read_lists(rows, several=False))
    if paths.hold_paths(rows, is_collection):
        return Read("paths", paths.read_lists(rows, several=True))
    bits = _bits(rows, taxonomy)
    return Read("lists", rows) if bits is None else Read("dense", bits, rows=rows)


def _mixed(y: Sequence[Any]) -> UserError:
    """What is wrong with labels among lists of labels."""
    nested = [is_collection(type(v)) for v in y]
    row, other = nested.index(False), nested.index(True)
    if is_missing(y[row]):
        return missing(y[row], row)
    return UserError(
        f"Row {row} is the label {shorten(y[row])}, but row {other} is a list of labels. Give "
        f"lists for all rows ([{shorten(y[row])}] for this one), or one label for each."
    )


def _bits(rows: list[Any], taxonomy: Nodes | None) -> npt.NDArray[Any] | None:
    """Rows of 0 and 1 as a matrix; None where they are lists of labels."""
    width = len(rows[0])
    if width == 0 or (taxonomy is not None and (0 in taxonomy or 1 in taxonomy)):
        return None
    if not all(len(row) == width and _is_bits(row) for row in rows):
        return None
    if taxonomy is not None and width != len(taxonomy.nodes):
        raise UserError(
            f"Row 0 is {shorten(list(rows[0]))}, but neither 0 nor 1 is a node of the taxonomy. "
            f"Rows of 0 and 1 need a column for each of the {len(taxonomy.nodes)} nodes; these "
            f"have {width}."
        )
    return np.array([list(row) for row in rows])


def _is_bits(row: Any) -> bool:
    if isinstance(row, set | frozenset):
        return False
    return all(isinstance(v, int | float | np.generic) and v in (0, 1) for v in row)
