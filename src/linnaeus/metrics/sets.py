"""Metrics of predicted label sets: ``metric(Y_true, Y_pred, taxonomy=None, **options)``.

Label sets come in any form (see `linnaeus.labels`); `linnaeus.metrics.inputs` says what the classes
then are. Sets are taken as they are given; only what is said to work on closures adds ancestors
first.

Data-set values are means over the rows. [Rousu2006] section 5 and [GopalYang2015] section 5.3 for
F1 and the losses over microlabels, [Cai2008] (3.11) for the subscription loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linnaeus import losses
from linnaeus.errors import UserError
from linnaeus.labels import parse
from linnaeus.metrics.counts import PRF, Counts, count, macro, micro, prf
from linnaeus.metrics.inputs import Pair, label_pair, node_pair
from linnaeus.taxonomy import Taxonomy

BINS = ((1, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))


def micro_f1(
    Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None = None, *, zero: float = 0.0
) -> float:
    """F1 of the pooled counts of all classes.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    zero : float, default=0.0
        The value where nothing is true and nothing predicted.

    Returns
    -------
    float

    Examples
    --------
    >>> micro_f1(["cat", "dog", "cat"], ["cat", "cat", "cat"])
    0.666...
    """
    return float(micro(count(label_pair(Y_true, Y_pred, taxonomy)), zero).f1)


def macro_f1(
    Y_true: Any,
    Y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    over: str = "all",
    zero: float = 0.0,
) -> float:
    """The mean of the F1 of the classes.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    over : {'all', 'support', 'union'}, default='all'
        All classes, those with a true label, or those that are true or predicted somewhere.
    zero : float, default=0.0
        The F1 of a class that is neither true nor predicted.

    Returns
    -------
    float

    Examples
    --------
    >>> macro_f1(["cat", "dog", "cat"], ["cat", "cat", "cat"])
    0.4
    """
    return macro(count(label_pair(Y_true, Y_pred, taxonomy)), over, zero)


def precision_recall_f1(
    Y_true: Any,
    Y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    by: str | None = None,
    train_counts: Any = None,
    Y_train: Any = None,
    zero: float = 0.0,
) -> Any:
    """Precision, recall and F1, pooled or in parts.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    by : {'node', 'level', 'support'} or None, default=None
        None, the pooled values; 'node', one value per class; 'level', a dict per depth of the
        taxonomy, on closures: micro values and macro F1; 'support', a dict per number of training
        positives: 1-5, 6-10, 11-20, 21-50, 51-100 and more.
    train_counts : dict, array-like of shape (n_classes,) or None, default=None
        For 'support', training positives per class.
    Y_train : array-like, sparse matrix, list of lists or None, default=None
        For 'support', the training labels instead.
    zero : float, default=0.0
        The value where nothing is true and nothing predicted.

    Returns
    -------
    PRF or list of dict
    """
    if by == "level":
        closed = node_pair(Y_true, Y_pred, taxonomy, 'precision_recall_f1(by="level")').closed()
        return by_level(closed.taxonomy, count(closed), zero)
    pair = label_pair(Y_true, Y_pred, taxonomy)
    counts = count(pair)
    if by is None:
        return micro(counts, zero)
    if by == "node":
        return prf(counts, zero)
    if by == "support":
        return by_size(counts, _train_counts(train_counts, Y_train, taxonomy, pair), zero)
    raise UserError(f"by={by!r} is not known. Use None, 'level', 'node' or 'support'.")


def zero_one_loss(Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None = None) -> float:
    """The share of rows with any wrong label.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.

    Returns
    -------
    float
    """
    pair = label_pair(Y_true, Y_pred, taxonomy)
    wrong = losses.difference(pair.true, pair.pred)
    return float(np.mean(np.diff(wrong.indptr) > 0))


def symmetric_difference_loss(Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None = None) -> float:
    """The mean number of labels that are missing or too many.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.

    Returns
    -------
    float
    """
    pair = label_pair(Y_true, Y_pred, taxonomy)
    wrong = losses.difference(pair.true, pair.pred)
    return float(wrong.nnz / wrong.shape[0])


def hierarchical_loss(
    Y_true: Any,
    Y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    scaling: str = "unif",
    ancestors: str = "parent",
) -> float:
    """The mean loss that counts a wrong label only where what is above it is right.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    scaling : {'unif', 'sibl', 'subtree'}, default='unif'
        The weight of a node.
    ancestors : {'parent', 'all'}, default='parent'
        H~ or H; the same where the sets are closed upwards.

    Returns
    -------
    float
    """
    tax, true, pred = node_pair(Y_true, Y_pred, taxonomy, "hierarchical_loss")
    first = losses.first_errors(losses.difference(true, pred), tax, ancestors)
    return float(losses.row_sums(first, losses.node_coefficients(tax, scaling)).mean())


def subscription_loss(
    Y_true: Any,
    Y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    volumes: Any = None,
    c_miss: float = 1.0,
    c_false: float = 1.0,
) -> float:
    """The mean volume of what is missed and added, labels and everything above them.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    volumes : dict, array-like of shape (n_nodes,) or None, default=None
        Volume of each node, {name: s} (0 for a node not named); None for 1 each.
    c_miss : float, default=1.0
        What missing a unit of volume costs.
    c_false : float, default=1.0
        What wrongly assigning a unit of volume costs.

    Returns
    -------
    float
    """
    tax, true, pred = node_pair(Y_true, Y_pred, taxonomy, "subscription_loss")
    return float(losses.set_loss(true, pred, tax, volumes, c_miss, c_false).mean())


def hierarchical_f1(
    Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None = None, *, zero: float = 0.0
) -> float:
    """Micro F1 of the label sets closed upwards, roots included.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    zero : float, default=0.0
        The value where nothing is true and nothing predicted.

    Returns
    -------
    float
    """
    return float(_closed(Y_true, Y_pred, taxonomy, "hierarchical_f1", zero).f1)


def hierarchical_precision(
    Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None = None, *, zero: float = 0.0
) -> float:
    """Of all predicted labels and the nodes above them, the share that is true.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    zero : float, default=0.0
        The value where nothing is true and nothing predicted.

    Returns
    -------
    float

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> hierarchical_precision(["poodle"], ["dog"], tax)
    1.0
    """
    return float(_closed(Y_true, Y_pred, taxonomy, "hierarchical_precision", zero).precision)


def hierarchical_recall(
    Y_true: Any, Y_pred: Any, taxonomy: Taxonomy | None = None, *, zero: float = 0.0
) -> float:
    """Of all true labels and the nodes above them, the share that is predicted.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : array-like, sparse matrix or list of lists
        Predicted labels, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    zero : float, default=0.0
        The value where nothing is true and nothing predicted.

    Returns
    -------
    float

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> hierarchical_recall(["poodle"], ["dog"], tax)
    0.666...
    """
    return float(_closed(Y_true, Y_pred, taxonomy, "hierarchical_recall", zero).recall)


def by_level(taxonomy: Taxonomy, counts: Counts, zero: float = 0.0) -> list[dict[str, Any]]:
    """One record per depth (roots 0) from counts over all nodes."""
    return [
        {"depth": depth, "nodes": nodes.size, **_record(counts.take(nodes), zero)}
        for depth, nodes in enumerate(taxonomy.level_numbers)
    ]


def by_size(counts: Counts, n_train: np.ndarray, zero: float = 0.0) -> list[dict[str, Any]]:
    """One record per bin of training positives; classes without any are in no bin."""
    out = []
    for low, high in BINS:
        inside = (n_train >= low) & (n_train <= (np.inf if high is None else high))
        name = f">{low - 1}" if high is None else f"{low}-{high}"
        record = {"train": name, "classes": int(inside.sum())}
        out.append({**record, **_record(counts.take(inside), zero)})
    return out


def _closed(Y_true: Any, Y_pred: Any, taxonomy: Any, metric: str, zero: float) -> PRF:
    """The pooled values of the label sets closed upwards."""
    return micro(count(node_pair(Y_true, Y_pred, taxonomy, metric).closed()), zero)


def _record(counts: Counts, zero: float) -> dict[str, Any]:
    p, r, f, support = micro(counts, zero)
    values = {"support": support, "precision": p, "recall": r, "f1": f}
    return {**values, "macro_f1": macro(counts, "all", zero)}


def _train_counts(
    train_counts: Any, Y_train: Any, taxonomy: Taxonomy | None, pair: Pair
) -> np.ndarray:
    """Training positives per class of the pair."""
    if train_counts is None and Y_train is None:
        raise UserError('by="support" needs `train_counts`, one number per class, or `Y_train`.')
    if train_counts is None:
        Y = parse(Y_train).Y if taxonomy is None else taxonomy.encode(Y_train)
        train_counts = np.bincount(Y.indices, minlength=Y.shape[1])
    n = np.asarray(train_counts)
    if taxonomy is not None and pair.classes is not None and n.size != pair.classes.size:
        n = node_counts(taxonomy, train_counts)[pair.classes]
    if n.shape != (pair.true.shape[1],):
        raise UserError(
            f"There are {n.size} training counts for {pair.true.shape[1]} classes. "
            f"Give one number per class."
        )
    return n


def node_counts(taxonomy: Taxonomy, counts: Any) -> np.ndarray:
    """Counts per node, from {name: count} or an array over the nodes."""
    if isinstance(counts, Mapping):
        out = np.zeros(len(taxonomy), dtype=int)
        out[taxonomy.numbers(counts)] = list(counts.values())
        return out
    out = np.asarray(counts)
    if out.shape != (len(taxonomy),):
        raise UserError(
            f"The training counts have the shape {out.shape}, but the taxonomy has "
            f"{len(taxonomy)} nodes. Give one number per node, or {{name: count}}."
        )
    return out
