"""Everything worth knowing about predictions, in one report.

Truth and predictions are closed upwards first. The values of a report are

    micro_f1, macro_f1 and their precision and recall, over the leaves and the inner nodes that
        carry labels of their own in the truth; a label is one's own when no descendant of it is
        in the same set; in a graph without a hierarchy over the nodes that have labels in the
        truth, in predictions or, where their counts are given, in training
    hierarchical_f1, precision and recall, losses, levels and the table of nodes: on closures
    metrics of the ranking, and au_prc, the area under the pooled precision-recall curve, where
        scores are given

The area leaves out, as the literature does, nodes that everything has: GO0003674, GO0005575,
GO0008150, and an artificial top called root. The first level below such a top counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus import losses
from linnaeus.labels import parse
from linnaeus.metrics import at_k, ranking
from linnaeus.metrics.au_prc import ScoredRows, counted
from linnaeus.metrics.blocks import PerRow, averages
from linnaeus.metrics.counts import PRF, count, macro, micro, prf
from linnaeus.metrics.inputs import NodePair, Pair, Scored, named_columns, node_pair, scored
from linnaeus.metrics.report import Report
from linnaeus.metrics.sets import by_level, by_size, node_counts
from linnaeus.taxonomy import Taxonomy


def evaluate(
    Y_true: Any,
    Y_pred: Any,
    taxonomy: Taxonomy,
    scores: Any = None,
    *,
    train_counts: Any = None,
    classes: Sequence[Any] | None = None,
) -> Report:
    """Compare predicted label sets, and scores where given, with the truth.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy
        The taxonomy.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes) or None, default=None
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf. None for none.
    train_counts : dict, array-like of shape (n_nodes,) or None, default=None
        Training examples per node, an array or {name: count}; gives the values by size of the
        classes.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    Report

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> report = evaluate([["cat"], ["poodle"]], [["cat"], ["dog"]], tax)
    >>> report["micro_f1"], report["hierarchical_f1"]
    (0.666..., 0.888...)
    """
    given = node_pair(Y_true, Y_pred, taxonomy, "evaluate")
    n_train = None if train_counts is None else node_counts(taxonomy, train_counts)
    closed, own = given.closed(), _own_labels(given, n_train)
    own_counts, closed_counts = count(own), count(closed)
    metrics = {
        **_named(micro(own_counts), "micro"),
        "macro_f1": macro(own_counts),
        **_named(micro(closed_counts), "hierarchical"),
        **_losses(closed),
        **_sizes(given, closed, own),
    }
    if scores is not None:
        scores, classes = named_columns(parse(Y_true, taxonomy), scores, taxonomy, classes)
        metrics.update(_ranking(_own_truth(given, closed, scores, classes), taxonomy))
        rows = ScoredRows.of(closed.true, scores, taxonomy, classes)
        metrics["au_prc"] = rows.area(counted(taxonomy))
    nodes = prf(closed_counts)
    return Report(
        taxonomy=taxonomy,
        metrics=metrics,
        levels=by_level(taxonomy, closed_counts),
        sizes=None if n_train is None else by_size(own_counts, n_train[own.classes]),
        nodes=PRF(*map(np.asarray, nodes)),
        predicted=closed_counts.tp + closed_counts.fp,
        n_train=n_train,
        own=own,
    )


def _own_labels(given: NodePair, n_train: np.ndarray | None) -> Pair:
    """The most specific labels, over the leaves and the inner nodes that carry some."""
    tax = given.taxonomy
    true, pred = tax.most_specific(given.true), tax.most_specific(given.pred)
    carried = [true.indices]
    if tax.is_graph:
        carried += [pred.indices, np.flatnonzero(0 if n_train is None else n_train)]
    classes = tax.class_numbers(np.concatenate(carried))
    return Pair(true[:, classes], pred[:, classes], classes)


def _named(values: PRF, name: str) -> dict[str, float]:
    return {
        f"{name}_f1": values.f1,
        f"{name}_precision": values.precision,
        f"{name}_recall": values.recall,
    }


def _losses(closed: NodePair) -> dict[str, float]:
    """The losses over microlabels; on closed sets H and H~ are the same."""
    tax, n = closed.taxonomy, closed.true.shape[0]
    wrong = losses.difference(closed.true, closed.pred)
    first = losses.first_errors(wrong, tax)
    out = {
        "zero_one_loss": float(np.mean(np.diff(wrong.indptr) > 0)),
        "symmetric_difference_loss": wrong.nnz / n,
    }
    for scaling in losses.SCALINGS:
        c = losses.node_coefficients(tax, scaling)
        out[f"hierarchical_loss_{scaling}"] = float(c[first.indices].sum() / n)
    return out


def _sizes(given: NodePair, closed: NodePair, own: Pair) -> dict[str, float]:
    """How many rows, classes and labels there are, and what is odd about the rows."""
    n = given.true.shape[0]
    return {
        "rows": n,
        "nodes": len(given.taxonomy),
        "classes": own.true.shape[1],
        "labels_per_row": own.true.nnz / n,
        "predicted_per_row": own.pred.nnz / n,
        "empty_rows": _n_empty(given.true),
        "empty_predictions": _n_empty(given.pred),
        "rows_not_closed": _n_grown(given.true, closed.true),
        "predictions_not_closed": _n_grown(given.pred, closed.pred),
    }


def _n_empty(Y: sp.csr_array) -> int:
    return int((np.diff(Y.indptr) == 0).sum())


def _n_grown(given: sp.csr_array, closed: sp.csr_array) -> int:
    return int((np.diff(given.indptr) < np.diff(closed.indptr)).sum())


def _own_truth(
    given: NodePair, closed: NodePair, scores: Any, classes: Sequence[Any] | None
) -> Scored:
    """The truth beside the scores: closed when all nodes have scores, else one's own labels."""
    tax = given.taxonomy
    every_node = np.ndim(scores) == 2 and np.shape(scores)[1] == len(tax)
    true = closed.true if every_node else tax.most_specific(given.true)
    return scored(true, scores, tax, classes)


def _ranking(given: Scored, taxonomy: Taxonomy) -> dict[str, float]:
    """All metrics of the scores, in one pass."""
    loss = losses.class_loss(None, taxonomy, given.classes)
    per_row: dict[str, PerRow] = {
        "top1_accuracy": ranking.accuracy_of,
        "label_ranking_average_precision": ranking.precision_of,
        "ranking_loss": ranking.misranked_share_of,
        "maximal_loss": ranking.maximal_of(loss),
        "top_loss": ranking.top_of(loss),
        "parent_accuracy": ranking.parent_of(taxonomy, given),
    }
    for k in (3, 5):
        if k <= given.scores.shape[1]:
            per_row[f"precision_at_{k}"] = at_k.precision_of(k)
    return averages(per_row, given)
