"""Label sets and scores in any form, as sparse indicators and matrices over the same classes.

`linnaeus.labels` understands the forms. The classes are

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
from linnaeus.labels import (
    Labels,
    bare_names,
    by_kind,
    moved,
    names_of,
    parse,
    plain_names,
    two_columns,
)
from linnaeus.taxonomy import Taxonomy


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
    """Truth (CSR) and scores (dense, or CSR with -inf for what is absent) over the same classes."""

    true: sp.csr_array
    scores: Any
    classes: np.ndarray | None  # the node number of each column; None without a taxonomy


def label_pair(Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None) -> Pair:
    """Both label sets over their classes (see above), in any two forms."""
    (true, pred), classes = label_sets(taxonomy, Y_true=Y_true, Y_pred=Y_pred)
    return Pair(true, pred, classes)


def label_sets(
    taxonomy: Taxonomy | None, **given: Any
) -> tuple[list[sp.csr_array], np.ndarray | None]:
    """Label sets of the same rows over the same classes, and the node numbers of these."""
    understood = [parse(Y, _checked(taxonomy)) for Y in given.values()]
    if taxonomy is None:
        return _same_shape(given, _without_taxonomy(understood)), None
    sets = _same_shape(given, [taxonomy.encode(labels) for labels in understood])
    every_node = any(
        labels.form.kind in ("dense", "sparse") and labels.numbers is None for labels in understood
    )
    if every_node:
        return sets, np.arange(len(taxonomy))
    classes = taxonomy.class_numbers(np.concatenate([Y.indices for Y in sets]))
    return [Y if classes.size == len(taxonomy) else Y[:, classes] for Y in sets], classes


def node_pair(Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None, metric: str) -> NodePair:
    """Both label sets over all nodes of a taxonomy, which this metric needs."""
    taxonomy = needed(taxonomy, metric)
    given = {"Y_true": Y_true, "Y_pred": Y_pred}
    return NodePair(taxonomy, *_same_shape(given, [taxonomy.encode(Y) for Y in given.values()]))


def _checked(taxonomy: Any) -> Taxonomy | None:
    if taxonomy is not None and not isinstance(taxonomy, Taxonomy):
        raise UserError(
            f"{shorten(taxonomy)} is not a taxonomy. Give a linnaeus.Taxonomy as `taxonomy`, and "
            f"other options by name."
        )
    return taxonomy


def needed(taxonomy: Taxonomy | None, metric: str) -> Taxonomy:
    """The taxonomy, or an error that says who needs it."""
    if taxonomy is None:
        raise UserError(f"{metric} needs a taxonomy. Give it as `taxonomy`.")
    _checked(taxonomy)
    return taxonomy


def scored(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None,
    classes: Sequence[Any] | None = None,
    absent: float = -np.inf,
) -> Scored:
    """Truth and scores over the classes that the columns of the scores stand for.

    `linnaeus.labels` says which these are where `classes` does not. Where there is one label per
    row, those without a column get one of their own; else they are left out.

    absent : what such a column holds
    """
    given = parse(Y_true, _checked(taxonomy))
    S, names = named_columns(given, scores, taxonomy, classes)
    if given.form.kind == "one" and given.form.layout is None:
        known = set(names)
        new = tuple(name for name in given.form.names if name not in known)
        S, names = _widened(S, len(new), absent), names + new
    if taxonomy is None:
        return Scored(same_rows(_truth_alone(given, names), S), S, None)
    columns = taxonomy.numbers(names)
    return Scored(same_rows(taxonomy.encode(given)[:, columns], S), S, columns)


def _widened(S: Any, n_new: int, absent: float) -> Any:
    """Scores with so many more columns; sparse ones lack -inf anyway."""
    if sp.issparse(S):
        return sp.csr_array((S.data, S.indices, S.indptr), (S.shape[0], S.shape[1] + n_new))
    return np.column_stack([S, np.full((S.shape[0], n_new), absent)]) if n_new else S


def named_columns(
    given: Labels, scores: Any, taxonomy: Taxonomy | None, classes: Sequence[Any] | None
) -> tuple[Any, tuple[Any, ...]]:
    """Scores as a matrix, and the label of each column."""
    names = names_of(scores, taxonomy) if classes is None else tuple(plain_names(classes))
    if names is not None and np.ndim(scores) == 1 and len(names) == 2:
        S = score_matrix(two_columns(np.asarray(scores), classes is None))
    elif np.ndim(scores) == 1 and given.form.kind == "one" and _is_number(scores):
        S = score_matrix(two_columns(np.asarray(scores), known=False))
    else:
        S = score_matrix(scores)
    if names is None:
        return S, bare_names(S.shape[1], given, taxonomy)
    if len(names) != S.shape[1]:
        raise UserError(
            f"The scores have {S.shape[1]} columns, but `classes` names {len(names)}. "
            f"Give one name per column."
        )
    return S, names if taxonomy is None else _nodes(names, taxonomy)


def _is_number(scores: Any) -> bool:
    return np.asarray(scores).dtype.kind in "biuf"


def _nodes(names: tuple[Any, ...], taxonomy: Taxonomy) -> tuple[Any, ...]:
    """The nodes that names of columns mean; numbers 0, 1, ... may stand for the sorted leaves."""
    if any(type(name) is not int or name in taxonomy for name in names):
        return names
    codes = parse(list(names), taxonomy).form.codes
    return tuple(codes[name] for name in names) if codes else names


def score_matrix(scores: Any) -> Any:
    """Scores as a dense matrix, or as CSR with ascending columns, stored zeros kept."""
    S: Any = sp.csr_array(scores) if sp.issparse(scores) else np.asarray(scores)
    if S.ndim != 2 or S.dtype.kind not in "biuf":
        raise UserError(
            f"Scores must be numbers, a row per example and a column per class, but they have "
            f"the shape {S.shape} and the type {S.dtype}."
        )
    if sp.issparse(S) and not S.has_canonical_format:
        S = S.copy()
        S.sum_duplicates()
    return S


def same_rows(true: sp.csr_array, S: Any) -> sp.csr_array:
    """The truth, if it has as many rows as the scores."""
    if true.shape[0] != S.shape[0]:
        raise UserError(
            f"Y_true has {true.shape[0]} rows, but the scores have {S.shape[0]}. "
            f"Give one row of scores for every row of labels."
        )
    return true


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


def _without_taxonomy(sets: Sequence[Labels]) -> list[sp.csr_array]:
    one_each = [labels.form.kind == "one" for labels in sets]
    if not any(one_each):
        return _same_columns(sets)
    if not all(one_each):
        raise UserError(
            "The label sets have different forms: an indicator, and one label per row. "
            "Give them in one form, or with a taxonomy."
        )
    names = tuple(by_kind({name for labels in sets for name in labels.form.names}))
    return [moved(labels.Y, labels.form.names, names) for labels in sets]


def _same_columns(sets: Sequence[Labels]) -> list[sp.csr_array]:
    """Indicators over the same columns: by name where all are data frames, else by place."""
    if any(labels.form.table is None for labels in sets):
        return [labels.Y for labels in sets]
    names = sets[0].form.names
    for labels in sets[1:]:
        for name in set(names) ^ set(labels.form.names):
            raise UserError(
                f"The column {shorten(name)} is in one of the data frames of labels only. Give "
                f"them the same columns."
            )
    return [moved(labels.Y, labels.form.names, names) for labels in sets]


def _truth_alone(given: Labels, names: tuple[Any, ...]) -> sp.csr_array:
    """The truth beside scores, without a taxonomy: by name where it has names, else by place."""
    form = given.form
    if form.kind == "one" or (form.table is not None and set(form.names) <= set(names)):
        return moved(given.Y, form.names, names)
    if given.Y.shape[1] != len(names):
        raise UserError(
            f"Y_true has {given.Y.shape[1]} columns, but the scores have {len(names)}. "
            f"Both need one column per class, in the same order."
        )
    return given.Y
