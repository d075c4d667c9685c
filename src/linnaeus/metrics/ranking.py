"""Metrics of scores: ``metric(Y_true, scores, taxonomy=None, **options)``, [Cai2008] section 7.2.

Scores have a row per example and a column per class: with a taxonomy its leaves, when there are
as many columns, else its nodes; `classes` names the columns otherwise. F(y) is the score of
class y, Y the true classes of an example, top the class with the highest score, ties to the
lower number. A pair (y in Y, z not in Y) is misranked when F(y) <= F(z): ties are errors.

    one_accuracy       [top in Y]
    average_precision  mean over y in Y of  #{r in Y: F(r) >= F(y)} / #{r: F(r) >= F(y)}
    ranking_loss       misranked pairs / all pairs, or the sum of loss(y, z) over them   (3.15)
    maximal_loss       max of loss(y, z) over misranked pairs, 0 if there are none
    top_loss           0 if top in Y, else max over y in Y of loss(y, top)
    parent_accuracy    [top in Y, or shares a parent with some y in Y]
    precision_at       share of Y among the k classes with the highest scores

Values are means over the rows that have a label among the columns; with no such row the answer
is NaN, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.losses import ClassLoss, class_loss
from linnaeus.metrics.blocks import Block, PerRow, average
from linnaeus.metrics.inputs import Scored, needed, scored
from linnaeus.taxonomy import Taxonomy

Names = Sequence[Any] | None  # of the columns
Loss = str | ClassLoss | Any  # as in `linnaeus.losses.class_loss`


def one_accuracy(
    Y_true: Any, scores: Any, taxonomy: Taxonomy | None = None, *, classes: Names = None
) -> float:
    """The share of rows whose top class is true."""
    return average(accuracy_of, scored(Y_true, scores, taxonomy, classes))


def average_precision(
    Y_true: Any, scores: Any, taxonomy: Taxonomy | None = None, *, classes: Names = None
) -> float:
    """Of the classes ranked at least as high as a label, the share that is true."""
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

    loss : as in `linnaeus.losses.class_loss`; matters with normalize=False only
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
    """The largest class loss among the misranked pairs; the half distance if not said."""
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
    """How far the top class is from the farthest label, 0 if it is one."""
    given = scored(Y_true, scores, taxonomy, classes)
    return average(top_of(pair_loss(loss, given, taxonomy)), given)


def parent_accuracy(
    Y_true: Any, scores: Any, taxonomy: Taxonomy | None = None, *, classes: Names = None
) -> float:
    """The share of rows whose top class is true, or shares a parent with a true class.

    Several roots have a virtual parent in common.
    """
    taxonomy = needed(taxonomy, "parent_accuracy")
    given = scored(Y_true, scores, taxonomy, classes)
    return average(parent_of(taxonomy, given), given)


def precision_at(
    Y_true: Any, scores: Any, k: int = 1, taxonomy: Taxonomy | None = None, *, classes: Names = None
) -> float:
    """The share of true classes among the k with the highest scores, ties to the lower number."""
    given = scored(Y_true, scores, taxonomy, classes)
    if not 1 <= k <= given.scores.shape[1]:
        raise UserError(
            f"k is {k}, but there are {given.scores.shape[1]} classes. Use 1 to that number."
        )
    return average(at_top(k), given)


def accuracy_of(block: Block) -> np.ndarray:
    return block.hit


def precision_of(block: Block) -> np.ndarray:
    n_above = block.above.sum(axis=1)
    n_true_above = n_above - block.misranked.sum(axis=1)
    return np.asarray(block.sum(n_true_above / n_above) / block.n_labels)


def misranked_share_of(block: Block) -> np.ndarray:
    n_negative = block.scores.shape[1] - block.n_labels
    n_pairs = np.maximum(block.n_labels * n_negative, 1)
    return np.asarray(block.sum(block.misranked.sum(axis=1)) / n_pairs)


def misranked_loss_of(loss: ClassLoss) -> PerRow:
    return lambda block: block.sum((loss.rows(block.label) * block.misranked).sum(axis=1))


def maximal_of(loss: ClassLoss) -> PerRow:
    return lambda block: block.max((loss.rows(block.label) * block.misranked).max(axis=1))


def top_of(loss: ClassLoss) -> PerRow:
    def value(block: Block) -> np.ndarray:
        return np.asarray(block.max(loss.pairs(block.label, block.top[block.row])) * ~block.hit)

    return value


def parent_of(taxonomy: Taxonomy, given: Scored) -> PerRow:
    parents = _parent_sets(taxonomy)[given.classes]

    def value(block: Block) -> np.ndarray:
        common = parents[block.label].multiply(parents[block.top[block.row]]).sum(axis=1)
        return block.hit | (block.max(np.asarray(common)) > 0)

    return value


def at_top(k: int) -> PerRow:
    def value(block: Block) -> np.ndarray:
        S, q = block.scores, block.scores.shape[1]
        kth = np.partition(S, q - k, axis=1)[:, q - k, None]
        more, equal = kth < S, kth == S
        first = np.cumsum(equal, axis=1) <= k - more.sum(axis=1, keepdims=True)
        return np.asarray(((more | (equal & first)) & block.positive).sum(axis=1) / k)

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
