"""Score cut: one threshold per label, with the best F1 of that label on held-out data.

For a threshold t that takes r(t) examples, TP(t) of them rightly, a label with P true examples
has F1(t) = 2 TP(t) / (r(t) + P). The best t lies just below the score of a true example, so only
those are tried, from sorted scores: O(n log n) per label. A label whose best F1 is below a floor
gets the threshold infinity (FBR.0) or its best score (FBR.1) [GopalYang2015] section 5.2.

What few examples teach is drawn towards the threshold t_0 with the best F1 of all labels pooled,

    t_j <- (P_j t_j + m t_0) / (P_j + m),

with m = `shrink` examples' worth of it; a label without any example gets t_0 itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.decisions.base import BoolArray, Decision
from linnaeus.inference.rows import FloatArray, row_blocks, top_mask, with_top
from linnaeus.parameters import COUNT, FINITE, FLAG, NONE, NOT_NEGATIVE, Limits, choice
from linnaeus.taxonomy import Taxonomy

LEAST_TOP = 3  # of the ranks that top_k="fit" allows


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
    shrink : float or 'all', default=0.0
        How many examples the common threshold counts as, in the mean with that of each label;
        'all' takes the common one for all labels.
    top_k : int, 'fit' or None, default=None
        A label is on only where it is among so many of the highest scores of its row; 'fit' takes
        twice the mean number of labels of a row, at least 3; None for any.
    at_least_one : bool, default=False
        Whether a row without labels gets the one with the highest score.
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
    top_k_ : int or None
        The ranks that may be on.
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decide` and `decision_function`.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.
    """

    limits = Limits(
        floor=FINITE,
        fallback=choice("inf", "best"),
        shrink=NOT_NEGATIVE | choice("all"),
        top_k=COUNT | choice("fit") | NONE,
        at_least_one=FLAG,
    )
    shrink: float | str = 0.0  # these for rules that were saved before there were any
    top_k: int | str | None = None
    at_least_one: bool = False
    top_k_: int | None = None

    def __init__(
        self,
        estimator: Any = None,
        taxonomy: Taxonomy | str | None = None,
        floor: float = 0.0,
        fallback: str = "inf",
        shrink: float | str = 0.0,
        top_k: int | str | None = None,
        at_least_one: bool = False,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.taxonomy = taxonomy
        self.floor = floor
        self.fallback = fallback
        self.shrink = shrink
        self.top_k = top_k
        self.at_least_one = at_least_one
        self.cv = cv
        self.random_state = random_state

    def _learn(self, scores: FloatArray, Y: sp.csr_array) -> None:
        thresholds, self.f1_ = best_thresholds(scores, Y)
        weak = (self.f1_ < self.floor) | (self.f1_ == 0)
        spare = scores.max(axis=0, initial=-np.inf) if self.fallback == "best" else np.inf
        thresholds = np.where(weak, spare, thresholds)
        self.thresholds_ = self._shrunk(thresholds, scores, Y) if self.shrink else thresholds
        usual = 2 * Y.nnz / max(1, Y.shape[0])
        fitted = max(LEAST_TOP, int(np.ceil(usual)))
        self.top_k_ = fitted if self.top_k == "fit" else self.top_k  # type: ignore[assignment]

    def _shrunk(
        self, thresholds: npt.NDArray[np.float64], scores: FloatArray, Y: sp.csr_array
    ) -> npt.NDArray[np.float64]:
        common = common_threshold(scores, Y)
        if self.shrink == "all" or np.isinf(common):
            return np.full(thresholds.size, common)
        n = np.bincount(Y.indices, minlength=thresholds.size)
        own = np.where(n > 0, thresholds, common)
        return common + n / (n + float(self.shrink)) * (own - common)

    def _decide_block(self, block: FloatArray) -> BoolArray:
        on = block >= self.thresholds_
        if self.top_k_ is not None:
            on &= top_mask(block, self.top_k_)
        return with_top(on, block) if self.at_least_one else on


def common_threshold(scores: FloatArray, Y: sp.csr_array) -> float:
    """The threshold with the best F1 of all labels pooled (ties: the highest); infinity if none."""
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    true = np.sort(scores[row, Y.indices])
    if not true.size:
        return np.inf
    above = np.zeros(true.size + 1, dtype=np.int64)  # [j]: scores with j true ones at or below
    for at in row_blocks(*scores.shape):
        places = np.searchsorted(true, scores[at].ravel(), side="right")
        above += np.bincount(places, minlength=above.size)
    first = np.searchsorted(true, true, side="left")  # equal scores are taken together
    taken = np.cumsum(above[::-1])[::-1][first + 1]
    f1 = 2 * (true.size - first) / (taken + true.size)
    best = true.size - 1 - int(f1[::-1].argmax())
    return _middle(float(true[best]), _next_below(scores, float(true[best])))


def _next_below(scores: FloatArray, value: float) -> float:
    """The highest score below a value; the value where there is none."""
    below = (block[block < value] for block in (scores[at] for at in row_blocks(*scores.shape)))
    return max((float(part.max()) for part in below if part.size), default=value)


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
    return _middle(upper, lower), float(f1[best])


def _middle(upper: float, lower: float) -> float:
    middle = lower + (upper - lower) / 2
    return middle if middle > lower else upper
