"""From labels in any form to indicators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, listed, shorten
from linnaeus.labels.form import Form
from linnaeus.labels.indicators import moved, zero_one
from linnaeus.labels.names import by_kind, is_missing, missing, name_array, places, plain_names
from linnaeus.labels.paths import read_lists, walked
from linnaeus.labels.reading import Nodes, Read, read, read_paths


class Labels(NamedTuple):
    """Label sets that were understood."""

    form: Form
    Y: sp.csr_array  # (n, len(form.names)) 0/1, int8
    given: Any  # an array, a matrix or lists: as given, but can be read again
    numbers: Any = None  # the node of each column; None where these are all nodes, or no nodes
    column: bool = False  # whether one label each came as a matrix with one column


def parse(y: Any, taxonomy: Nodes | None = None, paths: bool = False) -> Labels:
    """The form of labels, and their indicator over the names of the form.

    The names are the labels that occur, sorted, where there is one label per row; the nodes where
    there are lists or columns by name; the nodes or the leaves, or without a taxonomy 0, 1, ...,
    for an indicator. What was understood already stays as it is.

    paths : lists of names are paths, not lists of labels
    """
    if isinstance(y, Labels):
        return y
    found = read_paths(y) if paths else read(y, taxonomy)
    if found.kind == "one":
        return _one_each(found, taxonomy)
    if found.kind in ("lists", "paths"):
        if taxonomy is None:
            raise _needs_taxonomy(found)
        return _nested(found, taxonomy) if found.kind == "lists" else _paths(found, taxonomy)
    return _indicator(found, taxonomy)


def named(Y: Any, names: Sequence[Any], taxonomy: Nodes) -> Labels:
    """A matrix of 0 and 1 whose columns are called like these nodes."""
    matrix, names = (Y if sp.issparse(Y) else np.asarray(Y)), tuple(plain_names(names))
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise UserError(
            f"The labels have the shape {matrix.shape}, but `classes` has {len(names)} names. "
            f"Give an indicator with a column for each of them."
        )
    return _indicator(Read("sparse" if sp.issparse(Y) else "dense", matrix, names), taxonomy)


def found(y: Any) -> tuple[tuple[Any, ...], sp.csr_array]:
    """The labels that occur, by first occurrence, and the indicator over them.

    For consumers that know no taxonomy and need none: lists of labels are understood too, so rows
    of 0 and 1 are an indicator only if some row repeats one of them. The columns of an indicator
    are numbered, unless they have names. A path is a label as a whole.
    """
    it = read(y, None)
    if it.rows is not None and all(len(set(row)) == len(row) for row in it.rows):
        it = Read("lists", it.rows)
    if it.kind in ("dense", "sparse"):
        Y = zero_one(it.content)
        return it.names or tuple(range(Y.shape[1])), Y
    if it.kind == "paths":
        it = Read("lists", [list(map(_joined, row)) for row in it.content.paths])
    entries = _Entries.of(it)
    names = entries.distinct()
    return tuple(plain_names(names)), entries.indicator(places(names), len(names))


def _joined(path: tuple[Any, ...]) -> str:
    return "/".join(map(str, path))


# -- indicators -----------------------------------------------------------------------------------


def _indicator(found: Read, taxonomy: Nodes | None) -> Labels:
    """An indicator over the nodes, over the leaves, or over columns with or without names."""
    Y, given = zero_one(found.content), found.content
    like: Any = given.tocsr()[:0] if sp.issparse(given) else given[:0]
    if found.names is not None and taxonomy is not None:
        Y = moved(Y, _nodes(found.names, taxonomy), taxonomy.nodes)
        given = Y.toarray().astype(like.dtype) if found.kind == "dense" else Y
        return Labels(Form(found.kind, taxonomy.nodes, like, found.table), Y, given)
    names, numbers = (found.names, None) if found.names else _columns(Y.shape[1], taxonomy)
    return Labels(Form(found.kind, names, like, found.table), Y, given, numbers)


def _nodes(names: tuple[Any, ...], taxonomy: Nodes) -> tuple[Any, ...]:
    """The nodes that columns are called after."""
    try:
        return taxonomy.names([taxonomy.index(name) for name in names])
    except UserError as error:
        raise UserError(
            f"A column of labels has an unknown name: {error} A data frame of labels has columns "
            f"that are called like nodes."
        ) from None


def _columns(width: int, taxonomy: Nodes | None) -> tuple[tuple[Any, ...], Any]:
    """The names of the columns of an indicator, and their numbers if they are not all nodes."""
    if taxonomy is None:
        return tuple(range(width)), None
    leaves = taxonomy.leaf_numbers
    if width == len(taxonomy.nodes):
        return taxonomy.nodes, None
    if width == leaves.size:
        names = taxonomy.names(leaves.tolist())
        _warn_unless_sorted(names)
        return names, leaves
    raise UserError(
        f"The label indicator has {width} columns, but the taxonomy has {len(taxonomy.nodes)} "
        f"nodes and {leaves.size} leaves. Make it with taxonomy.encode(labels)."
    )


def _warn_unless_sorted(leaves: tuple[Any, ...]) -> None:
    """Say how the columns of an indicator of the leaves are read: others sort them by name."""
    if list(leaves) != by_kind(leaves):
        warnings.warn(
            f"The {len(leaves)} columns of the label indicator have no names. They are taken for "
            f"the leaves in the order of the taxonomy: {listed(leaves)}. If they are sorted, as "
            f"by MultiLabelBinarizer, use taxonomy.encode(Y, classes=...) or a data frame.",
            stacklevel=5,
        )


# -- lists and paths -------------------------------------------------------------------------------


def _needs_taxonomy(found: Read) -> UserError:
    if found.kind == "paths":
        first = next((row[0] for row in found.content.paths if row), ())
        return UserError(
            f"Labels that are paths (the first is {shorten(list(first))}) need a taxonomy. Give "
            f"one, or taxonomy='infer' to make it from the paths."
        )
    return UserError(
        f"Lists of labels (the first is {shorten(found.content[0])}) need a taxonomy, which says "
        f"what the labels are. Give one, or make an indicator of 0 and 1."
    )


def _nested(found: Read, taxonomy: Nodes) -> Labels:
    """Lists of labels; or paths, if some label is a title only, and all rows are paths."""
    try:
        return _lists(found, taxonomy)
    except UserError as error:
        rows = found.content
        if not taxonomy.titles or any(isinstance(row, set | frozenset) for row in rows):
            raise
        try:
            return _paths(Read("paths", read_lists(rows, several=False)), taxonomy)
        except UserError:
            raise error from None


def _lists(found: Read, taxonomy: Nodes) -> Labels:
    """The indicator over all nodes of lists of labels."""
    entries = _Entries.of(found)
    names = entries.distinct()
    numbers = dict(zip(names, entries.numbers(names, taxonomy), strict=True))
    Y = entries.indicator(numbers, len(taxonomy.nodes))
    return Labels(Form("lists", taxonomy.nodes), Y, found.content)


def _paths(found: Read, taxonomy: Nodes) -> Labels:
    """Paths as the nodes in which they end."""
    ends, layout = walked(found.content, taxonomy)
    if layout.several:
        labels = _lists(Read("lists", ends), taxonomy)
    else:
        labels = _one_each(Read("one", name_array([row[0] for row in ends])), taxonomy)
    return labels._replace(form=labels.form._replace(table=found.table, layout=layout))


# -- one label per row -----------------------------------------------------------------------------


def _one_each(found: Read, taxonomy: Nodes | None) -> Labels:
    """The indicator over the labels that occur, sorted."""
    entries = _Entries.of(found)
    seen = entries.distinct()
    if taxonomy is None:
        _check_discrete(seen, entries)
    plain = plain_names(seen)
    like = found.content[:0]
    if not isinstance(like, np.ndarray):
        like = name_array(plain)[:0]
    if codes := () if taxonomy is None else _code_nodes(plain, taxonomy):
        nodes = name_array(codes)[np.array(entries.flat, dtype=np.int64)]
        labels = _one_each(Read("one", nodes, column=found.column), taxonomy)
        return labels._replace(form=labels.form._replace(like=like, codes=codes))
    names, numbers = tuple(by_kind(plain)), None
    Y = entries.indicator(places(names), len(names))
    if taxonomy is not None:
        number = dict(zip(plain, entries.numbers(seen, taxonomy), strict=True))
        numbers = np.array([number[name] for name in names], dtype=np.int64)
    return Labels(Form("one", names, like), Y, found.content, numbers, found.column)


def _code_nodes(names: list[Any], taxonomy: Nodes) -> tuple[Any, ...]:
    """The sorted leaves, where labels are their numbers 0, 1, ...; a warning says so. Else ()."""
    k = int(taxonomy.leaf_numbers.size)
    if not names or any(type(v) is not int or v < 0 or v in taxonomy for v in names):
        return ()
    if max(names) != k - 1:
        return ()
    leaves = tuple(by_kind(taxonomy.names(taxonomy.leaf_numbers.tolist())))
    shown = ", ".join(f"{i} = {shorten(v)}" for i, v in enumerate(leaves[:20]))
    warnings.warn(
        f"The labels are the numbers 0 to {k - 1}, which are no nodes of the taxonomy. They are "
        f"taken for its {k} leaves, sorted: {shown}{', ...' if k > 20 else ''}. If they mean "
        f"others, name the nodes by their numbers with taxonomy.renamed.",
        stacklevel=4,
    )
    return leaves


class _Entries(NamedTuple):
    """The labels of all rows behind one another, and where each row begins."""

    flat: list[Any]
    ptr: npt.NDArray[np.int64]

    @classmethod
    def of(cls, read: Read) -> Self:
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
            if is_missing(name):
                raise missing(name, self.row(name))
        return names

    def numbers(self, names: list[Any], taxonomy: Nodes) -> list[int]:
        """The nodes of labels; of an unknown one the error says the row."""
        try:
            return list(map(int, taxonomy.numbers(names)))
        except UserError as error:
            name = next(each for each in names if each not in taxonomy)
            raise self._unknown(name, taxonomy, error) from None

    def _unknown(self, name: Any, taxonomy: Nodes, error: UserError) -> UserError:
        """What is wrong with a label that is no node, and what may have been meant."""
        said = f"Row {self.row(name)}: {error}"
        if isinstance(name, str) and name.strip() in taxonomy:
            said = (
                f"Row {self.row(name)}: {shorten(name)} is not a node of the taxonomy, but "
                f"{shorten(name.strip())} is. Strip the blanks around the label."
            )
        elif isinstance(name, str) and not name.strip():
            said = (
                f"Row {self.row(name)}: {shorten(name)} is an empty text, no label. Leave it out; "
                f"what fills up paths to one width comes at their ends."
            )
        elif type(name) is int:
            k = taxonomy.leaf_numbers.size
            said += (
                f" The numbers 0 to {k - 1} would stand for its {k} leaves, sorted, if they were "
                f"all there; for others use taxonomy.renamed({{name: number}})."
            )
            if set(self.flat) <= {0, 1}:
                said += (
                    " If OneVsRestClassifier, MultiOutputClassifier or ClassifierChain hands them "
                    "on, which learn every label by itself, leave the taxonomy out."
                )
        elif alike := [v for v, title in taxonomy.titles.items() if title == name]:
            said += (
                f" It is the title of {shorten(alike)}: give one of these, or whole paths from a "
                f"root down."
            )
        return UserError(said)

    def indicator(self, column: Mapping[Any, int], width: int) -> sp.csr_array:
        """The indicator of labels with these columns; repeated labels count once."""
        kind = sp.get_index_dtype(maxval=max(len(self.flat), width))
        indices = np.fromiter(map(column.__getitem__, self.flat), kind, len(self.flat))
        ones = np.ones(len(self.flat), dtype=np.int8)
        Y = sp.csr_array((ones, indices, self.ptr.astype(kind)), (len(self.ptr) - 1, width))
        Y.sum_duplicates()
        Y.data[:] = 1
        return Y


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
