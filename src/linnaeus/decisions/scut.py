"""Score cut: one threshold per label, with the best F1 of that label on held-out data.

For a threshold t that takes r(t) examples, TP(t) of them rightly, a label with P true examples
has F1(t) = 2 TP(t) / (r(t) + P). The best t lies just below the score of a true example, so only
those are tried, from sorted scores: O(n log n) per label. A label whose best F1 is below a floor
gets the threshold infinity (FBR.0) or its best score (FBR.1) [GopalYang2015] section 5.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.inference.rows import FloatArray, row_blocks
from linnaeus.parameters import FINITE, Limits, choice
from linnaeus.taxonomy import Taxonomy


class SCut(Decision):
    """A threshold per label; a label is on where its score reaches it.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with `decision_function` or `predict_proba`; not needed for `fit_scores` and
        `decide`.
    taxonomy : Taxonomy or None, default=None
        The taxonomy, where labels are its nodes.
    floor : float, default=0.0
        A label whose best held-out F1 is lower (or zero) gets the fallback.
    fallback : {'inf', 'best'}, default='inf'
        Never on; or on from its highest held-out score upwards.
    cv : int, splitter, iterable or 'prefit', default=5
        Folds for held-out scores: their number, a splitter, (train, test) row numbers, or
        'prefit': the estimator is fitted already, and `fit` is given held-out data.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_classes,)
        Midway between the lowest score on and the highest score off.
    f1_ : ndarray of shape (n_classes,)
        The F1 reached on the held-out data before the floor.
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.
    """

    limits = Limits(floor=FINITE, fallback=choice("inf", "best"))

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        floor: float = 0.0,
        fallback: str = "inf",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.floor = floor
        self.fallback = fallback
        self.cv = cv
        self.random_state = random_state

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        thresholds, self.f1_ = best_thresholds(scores, Y)
        weak = (self.f1_ < self.floor) | (self.f1_ == 0)
        spare = scores.max(axis=0, initial=-np.inf) if self.fallback == "best" else np.inf
        self.thresholds_ = np.where(weak, spare, thresholds)

    def _decide_block(self, block: FloatArray) -> BoolArray:
        return block >= self.thresholds_


def best_thresholds(
    scores: FloatArray, Y: sp.csr_array
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Per label the threshold with the best F1 (ties: the highest), and that F1."""
    n, n_labels = scores.shape
    truth = sp.csc_array(Y)
    thresholds, f1 = np.full(n_labels, np.inf), np.zeros(n_labels)
    for at in row_blocks(n_labels, n):  # blocks of labels
        columns = np.sort(scores[:, at].T, axis=1)
        for j, column in enumerate(columns, start=at.start):
            true = truth.indices[truth.indptr[j] : truth.indptr[j + 1]]
            if true.size:
                thresholds[j], f1[j] = _best_threshold(column, np.sort(scores[true, j])[::-1])
    return thresholds, f1


def _best_threshold(column: FloatArray, true: FloatArray) -> tuple[float, float]:
    """From the ascending scores of all and the descending scores of the true examples."""
    first = np.searchsorted(column, true, side="left")  # equal scores are taken together
    tp = np.searchsorted(-true, -true, side="right")
    f1 = 2 * tp / (column.size - first + true.size)
    best = int(f1.argmax())
    upper = float(true[best])
    lower = float(column[first[best] - 1]) if first[best] else upper
    middle = lower + (upper - lower) / 2
    return (middle if middle > lower else upper), float(f1[best])
