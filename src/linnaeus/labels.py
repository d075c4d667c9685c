"""Labels in every form in which they come, and answers in the form that was taught.

    one label per row   a list, an array or a series of names; also a single column of them
    lists of labels     a list, tuple, set or array of names for each row, empty for no label
    an indicator        0 and 1 (dense: or -1 and +1), a column for each node, or for each leaf;
                        dense or sparse; rows of 0 and 1 in plain lists too, if they are as wide as
                        there are nodes and neither 0 nor 1 is a label
    a data frame        of 0 and 1 whose columns are called like nodes, in any order; nodes that it
                        has no column for are off

Without a taxonomy an indicator has any columns, numbered from 0, and lists of labels are not
understood, since nothing says what the columns are (`found` takes the labels that occur).

Everything that takes labels asks here (`parse`), so that the same labels mean the same everywhere.
Inside, label sets are CSR 0/1 indicators over named columns. What this module knows of a taxonomy
is a numbered list of names (`Nodes`).

A new form is told apart in `_read`, and answered in `Form.answer`; labels that are no nodes but
stand for some are looked up in `_Entries.numbers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten


class Nodes(Protocol):
    """What is asked of a taxonomy."""

    @property
    def nodes(self) -> tuple[Any, ...]: ...

    @property
    def leaf_numbers(self) -> npt.NDArray[np.int32]: ...

    def names(self, numbers: Iterable[int]) -> tuple[Any, ...]: ...

    def index(self, name: Any) -> int: ...

    def __contains__(self, name: object) -> bool: ...


class Form(NamedTuple):
    """How label sets were given: "one" label each, a "dense" or "sparse" indicator, "lists"."""

    kind: str
    names: tuple[Any, ...]  # of the columns of the indicator
    like: Any = None  # an empty array of the same type as the labels or indicator given

    def answer(self, Y: sp.csr_array, columns: tuple[Any, ...]) -> Any:
        """Label sets over `columns` in this form (not for "one" label each)."""
        if self.kind == "lists":
            return to_lists(Y, columns)
        Y = moved(Y, columns, self.names).astype(self.like.dtype)
        if self.kind == "dense":
            return Y.toarray()
        return sp.csr_matrix(Y) if isinstance(self.like, sp.spmatrix) else Y


class Labels(NamedTuple):
    """Label sets that were understood."""

    form: Form
    Y: sp.csr_array  # (n, len(form.names)) 0/1, int8
    given: Any  # an array, a matrix or lists: as given, but can be read again
    numbers: Any = None  # the node of each column; None where these are all nodes, or no nodes
    column: bool = False  # whether one label each came as a matrix with one column


class _Read(NamedTuple):
    """The kind of a form, and its content as an array, a matrix or lists."""

    kind: str
    content: Any
    numbers: Any = None  # of the nodes that the columns are called after
    column: bool = False
    rows: Any = None  # of 0 and 1, where an indicator came in plain lists


# -- what a consumer calls ------------------------------------------------------------------------


def parse(y: Any, taxonomy: Nodes | None = None) -> Labels:
    """The form of labels, and their indicator over the names of the form.

    The names are the labels that occur, sorted, where there is one label per row; the nodes where
    there are lists; the nodes or the leaves, or without a taxonomy 0, 1, ..., for an indicator.
    """
    read = _read(y, taxonomy)
    if read.kind == "one":
        return _one_each(read, taxonomy)
    if read.kind == "lists":
        if taxonomy is None:
            raise UserError(
                f"Lists of labels (the first is {shorten(read.content[0])}) need a taxonomy, which "
                f"says what the labels are. Give one, or make an indicator of 0 and 1."
            )
        entries = _Entries.of(read)
        names = entries.distinct()
        numbers = dict(zip(names, entries.numbers(names, taxonomy), strict=True))
        Y = entries.indicator(numbers, len(taxonomy.nodes))
        return Labels(Form("lists", taxonomy.nodes), Y, read.content)
    return _indicator(read, taxonomy)


def found(y: Any) -> tuple[tuple[Any, ...], sp.csr_array]:
    """The labels that occur, by first occurrence, and the indicator over them.

    For consumers that know no taxonomy and need none: lists of labels are understood too, so rows
    of 0 and 1 are an indicator only if some row repeats one of them. The columns of an indicator
    are numbered.
    """
    read = _read(y, None)
    if read.rows is not None and all(len(set(row)) == len(row) for row in read.rows):
        read = _Read("lists", read.rows)
    if read.kind in ("dense", "sparse"):
        Y = zero_one(read.content)
        return tuple(range(Y.shape[1])), Y
    entries = _Entries.of(read)
    names = entries.distinct()
    return tuple(plain_names(names)), entries.indicator(_places(names), len(names))


def zero_one(Y: Any) -> sp.csr_array:
    """A matrix as a CSR 0/1 indicator, int8, sorted, no stored zeros.

    It holds 0 and 1, or is dense and holds -1 and +1.
    """
    Y = Y > 0 if has_signs(Y) else Y
    out = sp.csr_array(Y, copy=sp.issparse(Y))  # tidied in place below: never the caller's arrays
    out.sum_duplicates()
    odd = (out.data != 0) & (out.data != 1)
    if odd.any():
        bad = out.data[odd][0]
        raise UserError(
            f"The label indicator holds the value {bad!s}; only 0 and 1 mean something here. "
            f"Use (Y > 0) to turn scores into an indicator."
        )
    out.eliminate_zeros()
    return out.astype(np.int8)


def has_signs(Y: Any) -> bool:
    """Whether an indicator says -1 and +1 for off and on."""
    return isinstance(Y, np.ndarray) and bool((Y == -1).any() and (np.abs(Y) == 1).all())


def moved(Y: sp.csr_array, old: tuple[Any, ...], new: tuple[Any, ...]) -> sp.csr_array:
    """The columns named `new`, in that order; names that `old` lacks become empty columns."""
    if old == new:
        return Y
    position = _places(new)
    target = np.array([position.get(name, -1) for name in old], dtype=np.int64)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    columns = target[Y.indices]
    kept = columns >= 0
    ones = np.ones(int(kept.sum()), dtype=np.int8)
    return sp.csr_array((ones, (rows[kept], columns[kept])), shape=(Y.shape[0], len(new)))


def to_lists(Y: sp.csr_array, columns: Sequence[Any]) -> list[list[Any]]:
    """The names of the labels of each row, in the order of the columns."""
    Y.sort_indices()
    names = [columns[j] for j in Y.indices.tolist()]
    return [names[a:b] for a, b in pairwise(Y.indptr.tolist())]


def plain_names(values: Iterable[Any]) -> list[Any]:
    """A list of names with NumPy scalars turned into Python's."""
    names: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if any(issubclass(kind, np.generic) for kind in set(map(type, names))):
        names = [v.item() if isinstance(v, np.generic) else v for v in names]
    return names


def name_array(names: Iterable[Any], like: Any = None) -> npt.NDArray[Any]:
    """Names as an array that leaves them as they are, the one way from names to arrays.

    NumPy would turn 1 beside "cat" into "1", cut "Mammal" to the width of "Cow", and drop a NUL at
    the end: what no type of its own holds is an array of objects.

    like : the type that labels came in, taken if it holds them all
    """
    names = plain_names(names)
    if len(set(map(type, names))) <= 1 and not isinstance(next(iter(names), None), tuple):
        plain = np.array(names)
        wanted = like is not None and np.can_cast(plain.dtype, like, "same_kind")
        for array in (plain.astype(like) if wanted else plain, plain):
            if array.tolist() == names:
                return array
    return np.fromiter(names, dtype=object, count=len(names))


def _places(names: Sequence[Any]) -> dict[Any, int]:
    return {name: j for j, name in enumerate(names)}


def by_kind(names: Iterable[Any]) -> list[Any]:
    """Names sorted, numbers before texts."""
    names = list(names)
    try:
        return sorted(names, key=lambda v: (isinstance(v, str), v))
    except TypeError:
        kinds = ", ".join(sorted({type(v).__name__ for v in names}))
        raise UserError(
            f"The labels are of types that cannot be sorted: {kinds}. Use texts and numbers only."
        ) from None


# -- telling forms apart --------------------------------------------------------------------------


def _read(y: Any, taxonomy: Nodes | None) -> _Read:
    """Which form labels have."""
    if sp.issparse(y):
        return _Read("sparse", _two_dimensional(y))
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        return _frame(y, taxonomy)
    y = _rows(y)
    if isinstance(y, np.ndarray) and y.ndim != 1:
        return _table(_two_dimensional(y), taxonomy)
    if isinstance(y, np.ndarray) and y.dtype != object:
        return _Read("one", y)
    kinds = set(map(type, y))
    nested = {kind for kind in kinds if _is_collection(kind)}
    if not nested:
        return _Read("one", y)
    if nested != kinds:
        raise _mixed(y)
    rows = [row if hasattr(row, "__len__") else list(row) for row in y]
    bits = _bits(rows, taxonomy)
    return _Read("lists", rows) if bits is None else _Read("dense", bits, rows=rows)


def _rows(y: Any) -> Any:
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


def _two_dimensional(Y: Any) -> Any:
    if Y.ndim != 2:
        raise UserError(
            f"The labels have the shape {Y.shape}. Give one label, or one list of labels, per row; "
            f"or an indicator with a column for each label."
        )
    return Y


def _table(Y: npt.NDArray[Any], taxonomy: Nodes | None) -> _Read:
    """A dense matrix: an indicator, or one column of labels."""
    numbers = _as_numbers(Y)
    if Y.shape[1] == 1 and (numbers is None or not _is_one_node(taxonomy)):
        return _read(Y.ravel(), taxonomy)._replace(column=True)
    if numbers is None:
        bad = next(v for v in Y.ravel().tolist() if not isinstance(v, int | float | np.number))
        raise UserError(
            f"The labels are a matrix that holds {shorten(bad)}; only 0 and 1 mean something here. "
            f"Give lists of labels, for example with .tolist()."
        )
    return _Read("dense", numbers)


def _frame(frame: Any, taxonomy: Nodes | None) -> _Read:
    """A data frame: an indicator by the names of its columns, or one column of labels."""
    Y, names = np.asarray(frame.to_numpy()), plain_names(frame.columns)
    if taxonomy is None or (len(names) == 1 and names[0] not in taxonomy):
        return _table(Y, taxonomy)
    for j, name in enumerate(names):
        if name in names[:j]:
            raise UserError(f"Two columns of labels are named {shorten(name)}. Name each once.")
    try:
        numbers = np.array([taxonomy.index(name) for name in names], dtype=np.int64)
    except UserError as error:
        raise UserError(
            f"A column of labels has an unknown name: {error} A data frame of labels has columns "
            f"that are called like nodes."
        ) from None
    values = _as_numbers(Y)
    if values is None:
        values = _table(Y, None).content  # refuses it
    return _Read("dense", values, numbers)


def _as_numbers(Y: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """A matrix of numbers as such; None if it holds something else."""
    if Y.dtype.kind in "biuf":
        return Y
    if Y.dtype != object or not all(
        isinstance(v, int | float | np.number | np.bool_) for v in Y.ravel().tolist()
    ):
        return None
    return Y.astype(np.float64)


def _is_one_node(taxonomy: Nodes | None) -> bool:
    """Whether one column of 0 and 1 can be an indicator."""
    if taxonomy is None or len(taxonomy.nodes) == 1:
        return taxonomy is not None
    return taxonomy.leaf_numbers.size == 1 and 0 not in taxonomy and 1 not in taxonomy


def _is_collection(kind: type) -> bool:
    """Whether an entry of this type is a list of labels, not a label."""
    return hasattr(kind, "__iter__") and not issubclass(kind, str | bytes | Mapping)


def _mixed(y: Sequence[Any]) -> UserError:
    """What is wrong with labels among lists of labels."""
    nested = [_is_collection(type(v)) for v in y]
    row, other = nested.index(False), nested.index(True)
    if _is_missing(y[row]):
        return _missing(y[row], row)
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


# -- from forms to indicators ---------------------------------------------------------------------


def _indicator(read: _Read, taxonomy: Nodes | None) -> Labels:
    """An indicator over the nodes, over the leaves, or over columns without names."""
    Y, given = zero_one(read.content), read.content
    if read.numbers is not None and taxonomy is not None:
        names = taxonomy.names(read.numbers.tolist())
        Y = given = moved(Y, names, taxonomy.nodes)
        like: Any = np.zeros((0, Y.shape[1]), dtype=read.content.dtype)
        return Labels(Form("dense", taxonomy.nodes, like), Y, given)
    names, numbers = _columns(Y.shape[1], taxonomy)
    like = given.tocsr()[:0] if sp.issparse(given) else given[:0]
    return Labels(Form(read.kind, names, like), Y, given, numbers)


def _columns(width: int, taxonomy: Nodes | None) -> tuple[tuple[Any, ...], Any]:
    """The names of the columns of an indicator, and their numbers if they are not all nodes."""
    if taxonomy is None:
        return tuple(range(width)), None
    leaves = taxonomy.leaf_numbers
    if width == len(taxonomy.nodes):
        return taxonomy.nodes, None
    if width == leaves.size:
        return taxonomy.names(leaves.tolist()), leaves
    raise UserError(
        f"The label indicator has {width} columns, but the taxonomy has {len(taxonomy.nodes)} "
        f"nodes and {leaves.size} leaves. Make it with taxonomy.encode(labels)."
    )


def _one_each(read: _Read, taxonomy: Nodes | None) -> Labels:
    """The indicator over the labels that occur, sorted."""
    entries, numbers = _Entries.of(read), None
    seen = entries.distinct()
    if taxonomy is None:
        _check_discrete(seen, entries)
    plain = plain_names(seen)
    names = tuple(by_kind(plain))
    like = read.content[:0]
    if not isinstance(like, np.ndarray):
        like = name_array(names)[:0]
    Y = entries.indicator(_places(names), len(names))
    if taxonomy is not None:
        number = dict(zip(plain, entries.numbers(seen, taxonomy), strict=True))
        numbers = np.array([number[name] for name in names], dtype=np.int64)
    return Labels(Form("one", names, like), Y, read.content, numbers, read.column)


class _Entries(NamedTuple):
    """The labels of all rows behind one another, and where each row begins."""

    flat: list[Any]
    ptr: npt.NDArray[np.int64]

    @classmethod
    def of(cls, read: _Read) -> Self:
        if read.kind == "one":
            y = read.content
            flat = y.tolist() if isinstance(y, np.ndarray) else list(y)
            return cls(flat, np.arange(len(flat) + 1))
        flat, ptr = [], [0]
        for row in read.content:
            # A set has no order of its own: take that of the names.
            row = sorted(row, key=repr) if isinstance(row, set | frozenset) else row
            flat.extend(row.tolist() if isinstance(row, np.ndarray) else row)
            ptr.append(len(flat))
        return cls(flat, np.array(ptr))

    def row(self, name: Any) -> int:
        """The first row that holds this very label."""
        place = next(i for i, v in enumerate(self.flat) if v is name)
        return int(np.searchsorted(self.ptr, place, side="right")) - 1

    def distinct(self) -> list[Any]:
        """The labels that occur, by first occurrence; what is no label is an error."""
        try:
            names = list(dict.fromkeys(self.flat))
        except TypeError:
            bad = next(v for v in self.flat if type(v).__hash__ is None)
            raise UserError(
                f"Row {self.row(bad)}: {shorten(bad)} is no label. Labels are texts or whole "
                f"numbers; give one of them, or a list of them, per row."
            ) from None
        for name in names:
            if _is_missing(name):
                raise _missing(name, self.row(name))
        return names

    def numbers(self, names: list[Any], taxonomy: Nodes) -> list[int]:
        """The nodes of labels; of an unknown one the error says the row."""
        name = None
        try:
            return [taxonomy.index(name := each) for each in names]
        except UserError as error:
            raise UserError(f"Row {self.row(name)}: {error}") from None

    def indicator(self, column: Mapping[Any, int], width: int) -> sp.csr_array:
        """The indicator of labels with these columns; repeated labels count once."""
        kind = sp.get_index_dtype(maxval=max(len(self.flat), width))
        indices = np.fromiter(map(column.__getitem__, self.flat), kind, len(self.flat))
        ones = np.ones(len(self.flat), dtype=np.int8)
        Y = sp.csr_array((ones, indices, self.ptr.astype(kind)), (len(self.ptr) - 1, width))
        Y.sum_duplicates()
        Y.data[:] = 1
        return Y


# -- what is no label -----------------------------------------------------------------------------


def _check_discrete(names: list[Any], entries: _Entries) -> None:
    """Without a taxonomy numbers are labels too, but only whole ones."""
    for name in names:  # in the words by which scikit-learn's checks know a refusal
        why = "Complex data not supported" if isinstance(name, complex) else ""
        if isinstance(name, float | np.floating) and not float(name).is_integer():
            why = "Unknown label type: continuous"
        if why:
            raise UserError(
                f"Row {entries.row(name)}: {name} is no label. {why}. Use texts or whole numbers."
            )


def _is_missing(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _missing(value: Any, row: int) -> UserError:
    return UserError(
        f"Row {row}: {value} is a missing value, no label. Leave the row out, or give lists of "
        f"labels with [] for a row that has none."
    )
