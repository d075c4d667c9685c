"""Metrics of scores: ``metric(Y_true, scores, taxonomy=None, **options)``, [Cai2008] section 7.2.

Scores have a row per example and a column per class; `linnaeus.labels.columns` says which these
are where `classes` does not. They may be sparse, such as the k best of every row: what is absent
has the score -inf (a zero that is stored is a score of 0). F(y) is the score of class y, Y the true
classes of an example, top the class with the highest score, ties to the lower number. A pair
(y in Y, z not in Y) is misranked when F(y) <= F(z): ties are errors.

    top1_accuracy      [top in Y]
    label_ranking_average_precision
                       mean over y in Y of  #{r in Y: F(r) >= F(y)} / #{r: F(r) >= F(y)}
    ranking_loss       misranked pairs / all pairs, or the sum of loss(y, z) over them   (3.15)
    maximal_loss       max of loss(y, z) over misranked pairs, 0 if there are none
    top_loss           0 if top in Y, else max over y in Y of loss(y, top)
    parent_accuracy    [top in Y, or shares a parent with some y in Y]

(`linnaeus.metrics.at_k` has those of the first k classes.) A class with the score -inf ranks last,
together with all others that have it, and is never the top one; in a row without any other score
nothing is right, and the top loss is the maximal loss.

Values are means over the rows that have a label among the columns; with no such row the answer
is NaN, and a warning says so. scikit-learn's label_ranking_average_precision_score and
label_ranking_loss count a row without labels as perfect (1 and 0); here it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.losses import ClassLoss, class_loss
from linnaeus.metrics.blocks import Block, LossEntries, PerRow, average
from linnaeus.metrics.inputs import Scored, needed, scored
from linnaeus.taxonomy import Taxonomy

Names = Sequence[Any] | None  # of the columns
Loss = str | ClassLoss | Any  # as in `linnaeus.losses.class_loss`


def top1_accuracy(
    Y_true: Any, scores: Any, taxonomy: Taxonomy | None = None, *, classes: Names = None
) -> float:
    """The share of rows whose top class is true.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float
    """
    return average(accuracy_of, scored(Y_true, scores, taxonomy, classes))


def label_ranking_average_precision(
    Y_true: Any, scores: Any, taxonomy: Taxonomy | None = None, *, classes: Names = None
) -> float:
    """Of the classes ranked at least as high as a label, the share that is true.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float
    """
    return average(precision_of, scored(Y_true, scores, taxonomy, classes))


def ranking_loss(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None = None,
    *,
    normalize: bool = True,
    loss: Loss = None,
    classes: Names = None,
) -> float:
    """The share of misranked pairs, or with normalize=False the sum of their class losses.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    normalize : bool, default=True
        Whether to give the share of misranked pairs; else the sum of their class losses.
    loss : str, ClassLoss, array-like or None, default=None
        Loss between classes, as in `linnaeus.losses.class_loss`; None for the half distance.
        Matters with normalize=False only.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float
    """
    given = scored(Y_true, scores, taxonomy, classes)
    if normalize:
        return average(misranked_share_of, given)
    return average(misranked_loss_of(pair_loss(loss, given, taxonomy)), given)


def maximal_loss(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None = None,
    *,
    loss: Loss = None,
    classes: Names = None,
) -> float:
    """The largest class loss among the misranked pairs; the half distance if not said.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    loss : str, ClassLoss, array-like or None, default=None
        Loss between classes, as in `linnaeus.losses.class_loss`; None for the half distance.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float
    """
    given = scored(Y_true, scores, taxonomy, classes)
    return average(maximal_of(pair_loss(loss, given, taxonomy)), given)


def top_loss(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None = None,
    *,
    loss: Loss = None,
    classes: Names = None,
) -> float:
    """How far the top class is from the farthest label, 0 if it is one.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    loss : str, ClassLoss, array-like or None, default=None
        Loss between classes, as in `linnaeus.losses.class_loss`; None for the half distance.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float
    """
    given = scored(Y_true, scores, taxonomy, classes)
    return average(top_of(pair_loss(loss, given, taxonomy)), given)


def parent_accuracy(
    Y_true: Any, scores: Any, taxonomy: Taxonomy | None = None, *, classes: Names = None
) -> float:
    """The share of rows whose top class is true, or shares a parent with a true class.

    Several roots have a virtual parent in common.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float
    """
    taxonomy = needed(taxonomy, "parent_accuracy")
    given = scored(Y_true, scores, taxonomy, classes)
    return average(parent_of(taxonomy, given), given)


def accuracy_of(block: Block) -> np.ndarray:
    return block.hit


def precision_of(block: Block) -> np.ndarray:
    share = (block.n_above - block.n_wrong) / block.n_above
    return np.asarray(block.sum(share) / block.n_labels)


def misranked_share_of(block: Block) -> np.ndarray:
    n_pairs = np.maximum(block.n_labels * (block.n_classes - block.n_labels), 1)
    return np.asarray(block.sum(block.n_wrong) / n_pairs)


def misranked_loss_of(loss: ClassLoss) -> PerRow:
    known = LossEntries.of(loss)
    return lambda block: block.sum(block.summed(known))


def maximal_of(loss: ClassLoss) -> PerRow:
    known = LossEntries.of(loss)
    return lambda block: block.max(block.largest(known))


def top_of(loss: ClassLoss) -> PerRow:
    known = LossEntries.of(loss)

    def value(block: Block) -> np.ndarray:
        top = block.top[block.row]
        per_label = loss.pairs(block.label, np.maximum(top, 0))
        if (top < 0).any():
            per_label = np.where(top < 0, block.largest(known), per_label)
        return np.asarray(block.max(per_label) * ~block.hit)

    return value


def parent_of(taxonomy: Taxonomy, given: Scored) -> PerRow:
    parents = _parent_sets(taxonomy)[given.classes]

    def value(block: Block) -> np.ndarray:
        top = block.top[block.row]
        common = parents[block.label].multiply(parents[np.maximum(top, 0)]).sum(axis=1)
        return block.hit | (block.max(np.where(top < 0, 0, np.asarray(common))) > 0)

    return value


def pair_loss(loss: Any, given: Scored, taxonomy: Taxonomy | None) -> ClassLoss:
    """The class loss over the columns; without a taxonomy the classes are flat."""
    if taxonomy is None:
        return class_loss(loss, Taxonomy.flat(range(given.scores.shape[1])))
    return class_loss(loss, taxonomy, given.classes)


def _parent_sets(taxonomy: Taxonomy) -> sp.csr_array:
    """The parents of every node; the last column is a virtual parent of several roots."""
    n, dag = len(taxonomy), taxonomy.dag
    child = np.repeat(np.arange(n), taxonomy.n_parents)
    roots = taxonomy.root_numbers if taxonomy.root_numbers.size > 1 else np.zeros(0, np.int32)
    rows = np.concatenate([child, roots])
    columns = np.concatenate([dag.parents, np.full(roots.size, n)])
    return sp.csr_array((np.ones(rows.size, np.int32), (rows, columns)), shape=(n, n + 1))
