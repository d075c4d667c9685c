"""Rank cut: the k highest scores of every row [GopalYang2015] section 5.2.

k is given, or the one with the best micro-averaged F1 on held-out data,

    F1(k) = 2 TP(k) / (n k + P),      TP(k) = true labels among the k highest, P = true labels.

No k beyond m can be better than 2 P / (n (m + 1) + P), so only the m highest scores are ordered,
with m raised until that bound is reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.errors import UserError
from linnaeus.inference.rows import FloatArray, row_blocks, top_columns, top_mask
from linnaeus.parameters import COUNT, NONE, Limits
from linnaeus.taxonomy import Taxonomy


class RCut(Decision):
    """The `k` labels with the highest scores.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    k : int or None, default=None
        Number of labels; None chooses by micro-F1 on held-out scores (ties: the smallest).
    cv : int, splitter, iterable or 'prefit', default=5
        Folds for held-out scores: their number, a splitter, (train, test) row numbers, or
        'prefit': the estimator is fitted already, and `fit` is given held-out data.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    k_ : int
        The number of labels.
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.

    Examples
    --------
    >>> RCut(k=2).decide([[0.1, 0.7, 0.6]]).toarray().tolist()
    [[0, 1, 1]]
    """

    limits = Limits(k=COUNT | NONE)

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        k: int | None = None,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.k = k
        self.cv = cv
        self.random_state = random_state

    def _learns(self) -> bool:
        return self.k is None

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        self.k_ = best_k(scores, Y)

    def _decide_block(self, block: FloatArray) -> BoolArray:
        k = self.k_ if self.k is None else self.k
        if k > block.shape[1]:
            raise UserError(
                f"k={k!r} labels cannot be taken of {block.shape[1]}. Use 1 to {block.shape[1]}."
            )
        return top_mask(block, int(k))


def best_k(scores: FloatArray, Y: sp.csr_array) -> int:
    """The number of labels with the best micro-F1."""
    (n, n_columns), P = scores.shape, Y.sum()
    m = min(32, n_columns)
    while True:
        tp = true_positives(scores, Y, m)
        f1 = 2 * tp / np.maximum(n * np.arange(1, m + 1) + P, 1)
        if m == n_columns or f1.max(initial=0.0) >= 2 * P / (n * (m + 1) + P):
            return int(f1.argmax()) + 1
        m = min(4 * m, n_columns)


def true_positives(scores: FloatArray, Y: sp.csr_array, m: int) -> npt.NDArray[np.int64]:
    """How many true labels are among the k highest scores of all rows, for k = 1..m."""
    tp = np.zeros(m, dtype=np.int64)
    for at in row_blocks(*scores.shape):
        truth = Y[at].toarray()
        tp += np.take_along_axis(truth, top_columns(scores[at], m), axis=1).sum(
            axis=0, dtype=np.int64
        )
    return np.cumsum(tp)
