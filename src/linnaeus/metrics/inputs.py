"""Label sets and scores in any form, as sparse indicators and dense blocks over the same classes.

The classes are

    * the columns, where an indicator is given: the nodes, or the leaves when there are as many
      columns as leaves; without a taxonomy any columns;
    * the leaves, and the inner nodes that occur, where names are given;
    * without a taxonomy, the sorted labels, where one label per row is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.labelsets import as_indicator, is_matrix, plain


class Pair(NamedTuple):
    """Truth and prediction as CSR indicators over the same rows and classes."""

    true: sp.csr_array
    pred: sp.csr_array
    classes: np.ndarray | None = None  # the node number of each column; None without a taxonomy


class NodePair(NamedTuple):
    """A taxonomy, with truth and prediction as CSR indicators over all its nodes."""

    taxonomy: Taxonomy
    true: sp.csr_array
    pred: sp.csr_array

    def closed(self) -> NodePair:
        """The same with all ancestors added."""
        tax = self.taxonomy
        return NodePair(tax, tax.closure(self.true), tax.closure(self.pred))


class Scored(NamedTuple):
    """Truth (CSR) and scores (dense) over the same rows and classes."""

    true: sp.csr_array
    scores: np.ndarray
    classes: np.ndarray | None  # the node number of each column; None without a taxonomy


def label_pair(Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None) -> Pair:
    """Both label sets over their classes (see above), in any two forms."""
    (true, pred), classes = label_sets(taxonomy, Y_true=Y_true, Y_pred=Y_pred)
    return Pair(true, pred, classes)


def label_sets(
    taxonomy: Taxonomy | None, **given: Any
) -> tuple[list[sp.csr_array], np.ndarray | None]:
    """Label sets of the same rows over the same classes, and the node numbers of these."""
    forms = [_plain(Y, taxonomy) for Y in given.values()]
    if taxonomy is None:
        return _same_shape(given, _without_taxonomy(forms)), None
    sets = _same_shape(given, [node_sets(taxonomy, Y) for Y in forms])
    every_node = any(is_matrix(Y) and Y.shape[1] == len(taxonomy) for Y in forms)
    used = np.full(len(taxonomy), every_node)
    for nodes in (taxonomy.leaf_numbers, *(Y.indices for Y in sets)):
        used[nodes] = True
    classes = np.flatnonzero(used)
    return [Y if used.all() else Y[:, classes] for Y in sets], classes


def node_pair(Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None, metric: str) -> NodePair:
    """Both label sets over all nodes of a taxonomy, which this metric needs."""
    taxonomy = needed(taxonomy, metric)
    given = {"Y_true": Y_true, "Y_pred": Y_pred}
    return NodePair(taxonomy, *_same_shape(given, [node_sets(taxonomy, Y) for Y in given.values()]))


def node_sets(taxonomy: Taxonomy, Y: Any) -> sp.csr_array:
    """Label sets over all nodes; an indicator over the leaves is taken too."""
    if not isinstance(taxonomy, Taxonomy):
        raise UserError(
            f"{shorten(taxonomy)} is not a taxonomy. Give a linnaeus.Taxonomy as `taxonomy`, and "
            f"other options by name."
        )
    Y = _plain(Y, taxonomy)
    leaves = taxonomy.leaf_numbers
    if is_matrix(Y) and Y.shape[1] == leaves.size < len(taxonomy):
        narrow = sp.csr_array(Y)
        wide = (narrow.data, leaves[narrow.indices], narrow.indptr)
        Y = sp.csr_array(wide, shape=(Y.shape[0], len(taxonomy)))
    return as_indicator(taxonomy, Y)


def needed(taxonomy: Taxonomy | None, metric: str) -> Taxonomy:
    """The taxonomy, or an error that says who needs it."""
    if taxonomy is None:
        raise UserError(f"{metric} needs a taxonomy. Give it as `taxonomy`.")
    return taxonomy


def scored(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None,
    classes: Sequence[Any] | None = None,
) -> Scored:
    """Truth and scores over the classes that the columns of the scores stand for.

    With a taxonomy these are its leaves when there are as many columns, else its nodes, else
    the names in `classes`. Labels that have no column are left out.
    """
    if sp.issparse(scores):
        raise UserError("Sparse scores leave open what the others are. Use scores.toarray().")
    S = np.asarray(scores)
    if S.ndim != 2 or S.dtype.kind not in "biuf":
        raise UserError(
            f"Scores must be numbers, a row per example and a column per class, but they have "
            f"the shape {S.shape} and the type {S.dtype}."
        )
    if taxonomy is None:
        true, columns = _truth_alone(_plain(Y_true), S.shape[1], classes), None
    else:
        labels = node_sets(taxonomy, Y_true)
        columns = score_columns(taxonomy, S.shape[1], classes)
        true = labels[:, columns]
    if true.shape[0] != S.shape[0]:
        raise UserError(
            f"Y_true has {true.shape[0]} rows, but the scores have {S.shape[0]}. "
            f"Give one row of scores for every row of labels."
        )
    return Scored(true, S, columns)


def score_columns(
    taxonomy: Taxonomy, n_columns: int, classes: Sequence[Any] | None = None
) -> np.ndarray:
    """The node number of each column of scores."""
    if classes is not None:
        if len(classes) != n_columns:
            raise UserError(
                f"The scores have {n_columns} columns, but `classes` names {len(classes)}. "
                f"Give one name per column."
            )
        return taxonomy.numbers(classes)
    if n_columns == taxonomy.leaf_numbers.size:
        return taxonomy.leaf_numbers
    if n_columns == len(taxonomy):
        return np.arange(len(taxonomy), dtype=np.int32)
    raise UserError(
        f"The scores have {n_columns} columns, but the taxonomy has {taxonomy.leaf_numbers.size} "
        f"leaves and {len(taxonomy)} nodes. Give a column per leaf or per node, or name the "
        f"columns with `classes`."
    )


def indicator(Y: Any) -> sp.csr_array:
    """An indicator over any columns, checked to hold 0 and 1 only."""
    return as_indicator(Taxonomy.flat(range(Y.shape[1])), Y)


def _plain(Y: Any, taxonomy: Taxonomy | None = None) -> Any:
    """Data frames, series and rows of 0 and 1 as arrays; the rest as it is."""
    return plain(Y, len(taxonomy) if isinstance(taxonomy, Taxonomy) else 0)


def _same_shape(given: Mapping[str, Any], sets: list[sp.csr_array]) -> list[sp.csr_array]:
    """The sets, if they have one shape and a row; the keys of `given` are for messages."""
    first, *others = given
    for name, Y in zip(others, sets[1:], strict=True):
        for axis, what in enumerate(("rows", "columns")):
            if sets[0].shape[axis] != Y.shape[axis]:
                raise UserError(
                    f"{first} has {sets[0].shape[axis]} {what}, but {name} has {Y.shape[axis]}. "
                    f"Both need one row per example and one column per class, in the same order."
                )
    if sets[0].shape[0] == 0:
        raise UserError("There are no rows to evaluate. Give at least one.")
    return sets


def _without_taxonomy(sets: Sequence[Any]) -> list[sp.csr_array]:
    sets = [_array(Y) for Y in sets]
    if all(map(is_matrix, sets)):
        return [indicator(Y) for Y in sets]
    if any(map(is_matrix, sets)):
        raise UserError(
            "The label sets have different forms: an indicator, and one label per row. "
            "Give them in one form, or with a taxonomy."
        )
    names = np.unique(np.concatenate(sets))
    return [_one_hot(Y, names) for Y in sets]


def _truth_alone(Y: Any, n_columns: int, classes: Sequence[Any] | None) -> sp.csr_array:
    """The truth beside scores, without a taxonomy."""
    Y = _array(Y)
    if is_matrix(Y):
        if Y.shape[1] != n_columns:
            raise UserError(
                f"Y_true has {Y.shape[1]} columns, but the scores have {n_columns}. "
                f"Both need one column per class, in the same order."
            )
        return indicator(Y)
    names = np.unique(Y) if classes is None else np.asarray(classes)
    if names.size != n_columns or not np.isin(Y, names).all():
        raise UserError(
            f"The labels do not match the {n_columns} columns of the scores. "
            f"Name the columns with `classes`, one name each."
        )
    order = np.argsort(names)
    return _one_hot(Y, names[order])[:, np.argsort(order)]


def _one_hot(y: np.ndarray, names: np.ndarray) -> sp.csr_array:
    ones, ptr = np.ones(y.size, np.int8), np.arange(y.size + 1)
    return sp.csr_array((ones, np.searchsorted(names, y), ptr), shape=(y.size, names.size))


def _array(Y: Any) -> Any:
    """An indicator or one label per row, without a taxonomy to read names with."""
    if sp.issparse(Y):
        return Y
    try:
        out = np.asarray(Y)
    except ValueError:  # rows of different lengths
        out = np.zeros((0, 0, 0))
    one_each = out.ndim == 1 and not any(isinstance(y, list | tuple | set) for y in out.tolist())
    if one_each or (out.ndim == 2 and out.dtype.kind in "biuf"):
        return out
    raise UserError(
        "Lists of labels need a taxonomy, which says what the labels are. Give it as the third "
        "argument, or make an indicator with taxonomy.encode(labels)."
    )
