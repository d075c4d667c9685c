"""Label sets in the form in which they were taught, and back.

Inside the decisions label sets are CSR indicators over named columns. Outside they are labels
(one per example), indicators (dense or sparse) or lists of labels; `predict` answers in the form
that `fit` was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d

from linnaeus.errors import UserError, shorten
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.labelsets import as_indicator, is_matrix
from linnaeus.taxonomy.naming import plain_names


class Form(NamedTuple):
    """How label sets were given: "one" label each, a "dense" or "sparse" indicator, "lists"."""

    kind: str
    names: tuple[Any, ...]  # of the columns of the indicator
    like: Any = None  # an empty array of the same type as the labels or indicator given


def learn(y: Any, taxonomy: Taxonomy | None) -> tuple[Form, sp.csr_array]:
    """The form of `y`, and `y` as a CSR 0/1 indicator over the names of the form."""
    y = y if sp.issparse(y) or isinstance(y, list | tuple) else np.asarray(y)
    if is_matrix(y) and (sp.issparse(y) or y.shape[1] > 1):
        return _indicator(y, taxonomy)
    if _is_lists(y):
        if taxonomy is None:
            return _plain_lists(y)
        return Form("lists", taxonomy.nodes), taxonomy.encode(y)
    labels = one_each(y)
    if taxonomy is not None:
        taxonomy.encode(labels.tolist())  # an unknown label is an error that names it
    names, column = distinct(labels)
    ones = np.ones(labels.size, dtype=np.int8)
    Y = sp.csr_array((ones, column, np.arange(labels.size + 1)), (labels.size, len(names)))
    return Form("one", names, labels[:0]), Y


def one_each(y: Any) -> np.ndarray:
    """One label per example, as an array that leaves numbers among texts as they are."""
    if isinstance(y, list | tuple) and len({isinstance(v, str) for v in y}) > 1:
        y = np.array(y, dtype=object)
    return np.asarray(column_or_1d(y, warn=True))


def distinct(labels: np.ndarray) -> tuple[tuple[Any, ...], np.ndarray]:
    """The names that occur, sorted (numbers before texts), and the place of each label in them."""
    try:
        names, place = np.unique(labels, return_inverse=True)
        return tuple(plain_names(names)), place
    except TypeError:  # numbers and texts cannot be compared
        values = plain_names(labels)
    try:
        ordered = sorted(set(values), key=lambda v: (isinstance(v, str), v))
    except TypeError:
        kinds = ", ".join(sorted({type(v).__name__ for v in values}))
        raise UserError(
            f"The labels are of types that cannot be sorted: {kinds}. Use texts and numbers only."
        ) from None
    number = {name: j for j, name in enumerate(ordered)}
    return tuple(ordered), np.array([number[v] for v in values])


def checked_columns(
    columns: Iterable[Any], n_columns: int, taxonomy: Taxonomy | None
) -> tuple[Any, ...]:
    """The names of the columns of scores, if there are as many, all known, and none twice."""
    names = tuple(plain_names(columns))
    if len(names) != n_columns:
        raise UserError(
            f"The scores have {n_columns} columns, but {len(names)} are named. "
            f"Give one name per column."
        )
    if taxonomy is not None:
        taxonomy.numbers(names)  # an unknown node is an error that names it
    if len(set(names)) < len(names):
        twice = next(name for j, name in enumerate(names) if name in names[:j])
        raise UserError(f"Two columns of scores are named {shorten(twice)}. Name each label once.")
    return names


def over(form: Form, Y: sp.csr_array, columns: tuple[Any, ...]) -> sp.csr_array:
    """Label sets over the names of the form as label sets over `columns`."""
    return Y if columns == form.names else _moved(Y, form.names, columns)


def restore(form: Form, Y: sp.csr_array, columns: tuple[Any, ...]) -> Any:
    """Label sets over `columns` in the form that was taught ("one" label each: see `Decision`)."""
    if form.kind == "lists":
        Y.sort_indices()
        names = [columns[j] for j in Y.indices.tolist()]
        return [names[a:b] for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)]
    Y = over(Form(form.kind, columns), Y, form.names).astype(form.like.dtype)
    if form.kind == "dense":
        return Y.toarray()
    return sp.csr_matrix(Y) if isinstance(form.like, sp.spmatrix) else Y


def _is_lists(y: Any) -> bool:
    if isinstance(y, np.ndarray) and y.dtype != object:
        return False
    return len(y) > 0 and all(
        isinstance(row, list | tuple | set | frozenset | np.ndarray) for row in y
    )


def _indicator(y: Any, taxonomy: Taxonomy | None) -> tuple[Form, sp.csr_array]:
    k = y.shape[1]
    kind = "sparse" if sp.issparse(y) else "dense"
    if taxonomy is None:
        columns = Taxonomy.flat(range(k))
    elif k == len(taxonomy):
        columns = taxonomy
    elif k == len(taxonomy.leaves):
        columns = Taxonomy.flat(taxonomy.leaves)
    else:
        raise UserError(
            f"The label indicator has {k} columns, but the taxonomy has {len(taxonomy)} nodes "
            f"and {len(taxonomy.leaves)} leaves. Make it with taxonomy.encode(labels)."
        )
    return Form(kind, columns.nodes, y[:0]), as_indicator(columns, y)


def _plain_lists(y: Any) -> tuple[Form, sp.csr_array]:
    """Lists of 0 and 1 are an indicator; lists of names need to know the names."""
    try:
        matrix = np.asarray(y)
    except ValueError:  # rows of different lengths
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise UserError(
            f"y is a list of label lists (the first is {shorten(y[0])}), which needs a taxonomy. "
            f"Give taxonomy=, or make an indicator with sklearn's MultiLabelBinarizer."
        )
    return _indicator(matrix, None)


def _moved(Y: sp.csr_array, old: tuple[Any, ...], new: tuple[Any, ...]) -> sp.csr_array:
    """The columns named `new`, in that order; names that `old` lacks become empty columns."""
    position = {name: j for j, name in enumerate(new)}
    target = np.array([position.get(name, -1) for name in old], dtype=np.int64)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    columns = target[Y.indices]
    kept = columns >= 0
    ones = np.ones(int(kept.sum()), dtype=np.int8)
    return sp.csr_array((ones, (rows[kept], columns[kept])), shape=(Y.shape[0], len(new)))
