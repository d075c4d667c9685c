"""The ideal cut of each row: where a threshold separates its true labels best from the others.

With the scores of a row in descending order, a cut takes the k highest and makes

    errors(k) = #{true labels below} + #{other labels above} = P + k - 2 TP(k)

errors. It lies in the open interval between the k-th score and the next; equal scores cannot be
cut. Of the intervals with the fewest errors two rules choose differently:

    `lowest`  [ElisseeffWeston2001]: the lowest interval; midpoint; max + 1, min - 1 at the ends;
    `widest`  [GopalYang2015]: the widest interval, then the one with more labels; centre; at the
              ends the width is the median gap between distinct scores (1 where there is no gap).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.inference.rows import BoolArray, FloatArray, row_blocks

IntRow = npt.NDArray[np.int64]


class Cuts(NamedTuple):
    """The ideal cut of each row.

    Attributes
    ----------
    threshold : ndarray of shape (n_samples,)
        The threshold.
    size : ndarray of int of shape (n,)
        Number of labels above.
    errors : ndarray of int of shape (n_samples,)
        Labels wrong with it.
    """

    threshold: npt.NDArray[np.float64]
    size: IntRow
    errors: IntRow


def ideal_cuts(scores: FloatArray, Y: sp.csr_array, rule: str) -> Cuts:
    """The ideal cuts of all rows.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        A score for every sample and class.
    Y : csr_array of shape (n_samples, n_classes)
        True label sets.
    rule : {'lowest', 'widest'}
        Which of the best thresholds is taken.

    Returns
    -------
    Cuts
    """
    n = scores.shape[0]
    cuts = Cuts(np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64))
    choose = {"lowest": _lowest, "widest": _widest}[rule]
    for at in row_blocks(*scores.shape):
        block = scores[at].astype(np.float64)
        order = np.argsort(-block, axis=1)  # equal scores in any order: they cannot be cut
        s = np.take_along_axis(block, order, axis=1)
        truth = np.take_along_axis(Y[at].toarray(), order, axis=1)
        errors = _errors(s, truth)
        least = errors.min(axis=1, keepdims=True)
        cuts.threshold[at], cuts.size[at] = choose(s, errors == least)
        cuts.errors[at] = least[:, 0]
    return cuts


def _errors(s: FloatArray, truth: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """(b, K + 1) errors of every cut; more than possible where equal scores forbid it."""
    b, n_labels = s.shape
    errors = np.zeros((b, n_labels + 1), dtype=np.int64)
    np.cumsum(1 - 2 * truth.astype(np.int64), axis=1, out=errors[:, 1:])
    errors += truth.sum(axis=1, dtype=np.int64, keepdims=True)
    errors[:, 1:-1][s[:, :-1] == s[:, 1:]] = n_labels + 1
    return errors


def _last(mask: BoolArray) -> IntRow:
    """The last true column of each row."""
    last: IntRow = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1).astype(np.int64)
    return last


def _lowest(s: FloatArray, best: BoolArray) -> tuple[FloatArray, IntRow]:
    k = _last(best)
    ends = np.hstack([s[:, :1] + 2, s, s[:, -1:] - 2])  # so that midpoints are max + 1, min - 1
    return _middle(ends, k), k


def _widest(s: FloatArray, best: BoolArray) -> tuple[FloatArray, IntRow]:
    gap = _median_gap(s)[:, None]
    ends = np.hstack([s[:, :1] + gap, s, s[:, -1:] - gap])
    width = np.where(best, ends[:, :-1] - ends[:, 1:], -np.inf)
    width[:, [0, -1]] = np.where(best[:, [0, -1]], gap, -np.inf)  # free of rounding
    k = _last(width == width.max(axis=1, keepdims=True))
    return _middle(ends, k), k


def _middle(ends: FloatArray, k: IntRow) -> FloatArray:
    row = np.arange(len(ends))
    return (ends[row, k] + ends[row, k + 1]) / 2


def _median_gap(s: FloatArray) -> FloatArray:
    """The median of the gaps between distinct scores; 1 where all scores are equal."""
    gaps = np.sort(s[:, :-1] - s[:, 1:], axis=1)  # equal scores first, with gap 0
    zeros = np.count_nonzero(gaps == 0, axis=1)
    count = gaps.shape[1] - zeros
    gaps = np.hstack([gaps, np.ones((len(s), 1))])
    row = np.arange(len(s))
    low, high = zeros + np.maximum(count - 1, 0) // 2, zeros + count // 2
    median: FloatArray = (gaps[row, low] + gaps[row, high]) / 2
    return median
