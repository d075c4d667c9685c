"""Metrics of the k classes with the highest scores: ``metric(Y_true, scores, taxonomy, k=1)``.

What extreme classification reports. Y is the set of the true classes of a row, y_(r) is 1 if the
class at rank r is true (ties in score go to the lower number), else 0; p_l is the propensity of l.

    precision_at             (1 / k)  sum_{r <= k} y_(r)
    recall_at                (1/|Y|)  sum_{r <= k} y_(r)
    ndcg_at                  sum_{r <= k} y_(r) / log2(r + 1), over that of the best ranking
    propensity_precision_at  (1 / k)  sum_{r <= k} y_(r) / p_(r), over the best that is possible

The propensity of a label, the chance that it is noted where it applies, grows with the number N_l
of its training rows among N [JainPrabhuVarma2016]:

    p_l = 1 / (1 + C exp(-A log(N_l + B))),      C = (log N - 1) (B + 1)^A,      A = 0.55, B = 1.5

(C is 0 where N < e). Scores may be sparse, with the k best of every row: a class that is absent,
or whose score is -inf, is never among the first, even where fewer than k have a score. Rows that
have no label among the columns are left out; where all are, the answer is NaN, with a warning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.labels import plain_names
from linnaeus.metrics.blocks import Block, PerRow, average, averages
from linnaeus.metrics.inputs import Scored, scored
from linnaeus.metrics.ranking import Names
from linnaeus.metrics.sets import node_counts
from linnaeus.taxonomy import Taxonomy


def precision_at(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None = None,
    *,
    k: int = 1,
    classes: Names = None,
) -> float:
    """The share of true classes among the k with the highest scores.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    k : int, default=1
        How many of the best classes count.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float

    Examples
    --------
    >>> precision_at([[1, 0, 1]], [[3.0, 2.0, 1.0]], k=2)
    0.5
    """
    return average(precision_of(k), _given(Y_true, scores, taxonomy, k, classes))


def recall_at(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None = None,
    *,
    k: int = 1,
    classes: Names = None,
) -> float:
    """The share of the true classes that are among the k with the highest scores.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    k : int, default=1
        How many of the best classes count.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float

    Examples
    --------
    >>> recall_at([[1, 0, 1]], [[3.0, 2.0, 1.0]], k=1)
    0.5
    """
    return average(recall_of(k), _given(Y_true, scores, taxonomy, k, classes))


def ndcg_at(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None = None,
    *,
    k: int = 1,
    classes: Names = None,
) -> float:
    """The discounted gain of the first k classes, 1 for the best ranking.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    k : int, default=1
        How many of the best classes count.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float

    Examples
    --------
    >>> round(ndcg_at([[0, 1, 1]], [[3.0, 2.0, 1.0]], k=3), 4)
    0.6934
    """
    return average(gain_of(k), _given(Y_true, scores, taxonomy, k, classes))


def propensity_precision_at(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy | None = None,
    *,
    k: int = 1,
    counts: Any = None,
    n_train: int | None = None,
    normalize: bool = True,
    classes: Names = None,
) -> float:
    """Precision at k in which a label weighs 1 over its propensity: rare labels count for more.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; what a sparse matrix lacks has
        -inf.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    k : int, default=1
        How many of the best classes count.
    counts : dict, array-like or None, default=None
        Training rows of each label: an array over the columns of the scores or over the nodes, or
        {name: count}; None for those of `Y_true`.
    n_train : int or None, default=None
        How many training rows there were; needed with `counts`.
    normalize : bool, default=True
        Whether to divide by the sum that the best ranking of every row reaches, as is usual in
        tables; False gives the plain mean.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float

    Examples
    --------
    >>> Y, S = [[1, 0], [0, 1], [1, 0]], [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0]]
    >>> propensity_precision_at(Y, S) < precision_at(Y, S)
    True
    """
    given = _given(Y_true, scores, taxonomy, k, classes)
    weight = 1 / propensities(*_training(given, taxonomy, counts, n_train, classes))
    found = averages({"got": weighted_of(k, weight), "best": best_of(k, weight)}, given)
    return found["got"] / found["best"] if normalize else found["got"]


def propensities(counts: Any, n_train: int, a: float = 0.55, b: float = 1.5) -> np.ndarray:
    """The propensity of labels with so many training rows, see above."""
    c = max(0.0, math.log(n_train) - 1) * (b + 1) ** a
    return np.asarray(1 / (1 + c * (np.asarray(counts) + b) ** -a))


def precision_of(k: int) -> PerRow:
    return lambda block: block.best(k)[1].sum(axis=1) / k


def recall_of(k: int) -> PerRow:
    return lambda block: block.best(k)[1].sum(axis=1) / block.n_labels


def gain_of(k: int) -> PerRow:
    discount = 1 / np.log2(np.arange(2, k + 2))
    ideal = np.cumsum(discount)
    return lambda block: block.best(k)[1] @ discount / ideal[np.minimum(block.n_labels, k) - 1]


def weighted_of(k: int, weight: np.ndarray) -> PerRow:
    def value(block: Block) -> np.ndarray:
        classes, hits = block.best(k)
        return np.asarray((weight[classes] * hits).sum(axis=1) / k)

    return value


def best_of(k: int, weight: np.ndarray) -> PerRow:
    """What the labels with the k largest weights of a row give."""

    def value(block: Block) -> np.ndarray:
        own = weight[block.label]
        order = np.lexsort((-own, block.row))
        rank = np.arange(order.size) - block.start[block.row]
        return np.asarray(block.sum(np.where(rank < k, own[order], 0.0)) / k)

    return value


def _given(Y_true: Any, scores: Any, taxonomy: Any, k: Any, classes: Names) -> Scored:
    given = scored(Y_true, scores, taxonomy, classes)
    n = given.scores.shape[1]
    if not isinstance(k, int | np.integer) or not 1 <= k <= n:
        raise UserError(f"k is {k!r}, but there are {n} classes. Use a whole number from 1 to {n}.")
    return given


def _training(
    given: Scored, taxonomy: Taxonomy | None, counts: Any, n_train: int | None, classes: Names
) -> tuple[np.ndarray, int]:
    """Training rows of the label of each column, and of all."""
    n_columns = given.scores.shape[1]
    if counts is None and n_train is None:
        return np.bincount(given.true.indices, minlength=n_columns), given.true.shape[0]
    if counts is None or n_train is None:
        missing, there = ("counts", "n_train") if counts is None else ("n_train", "counts")
        raise UserError(f"{there} is given without {missing}. Give both, of the training labels.")
    if n_train < 1:
        raise UserError(f"n_train is {n_train}. Give the number of training rows, 1 or more.")
    if taxonomy is not None and (isinstance(counts, Mapping) or len(counts) != n_columns):
        return node_counts(taxonomy, counts)[given.classes], n_train
    if isinstance(counts, Mapping):
        names = range(n_columns) if classes is None else plain_names(classes)
        return np.array([counts.get(name, 0) for name in names]), n_train
    if len(counts) != n_columns:
        raise UserError(f"There are {len(counts)} counts for {n_columns} columns. Give one each.")
    return np.asarray(counts), n_train
