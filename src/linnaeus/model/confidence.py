"""How sure a model is of a row: the share of such rows whose best label is right.

The scores of a row are first made one number, the one of these that orders right rows before wrong
ones best on held-out rows (the largest area under the ROC curve; of equals the first):

    top       the highest score
    margin    the highest score less the second
    softmax   the highest score less log sum exp of all

Held-out rows are put into bins of about equal size by that number. The share of right rows in the
bins is made to rise with the number (isotonic regression), which joins some of them; one right and
one wrong row are added to each that is left. What lies between the bins is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import rankdata
from sklearn.isotonic import isotonic_regression

from linnaeus.inference.rows import row_blocks
from linnaeus.splits.held_out import HeldOut
from linnaeus.taxonomy import Taxonomy

ROWS, BINS = 20, 100  # rows in a bin at least, and bins at most


def _second(S: np.ndarray) -> Any:
    return np.partition(S, -2, axis=1)[:, -2] if S.shape[1] > 1 else 0.0


def _best(S: np.ndarray) -> np.ndarray:
    return np.asarray(S.argmax(axis=1))


STATISTICS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "top": lambda S: S.max(axis=1),
    "margin": lambda S: S.max(axis=1) - _second(S),
    "softmax": lambda S: S.max(axis=1) - logsumexp(S, axis=1),
}


@dataclass(frozen=True)
class Confidence:
    """From scores of rows to the share of such rows whose best label is right.

    Attributes
    ----------
    statistic : {'top', 'margin', 'softmax'}
        What the scores of a row are made.
    columns : ndarray of int of shape (n_used,)
        The columns of scores among which the best label is found.
    knots : ndarray of shape (n_knots,)
        Values of the statistic, ascending.
    shares : ndarray of shape (n_knots,)
        The share of right rows at each, ascending.
    best : ndarray of int of shape (n_used,) or None
        How many held-out rows had each of the columns as their best; None where that was not kept.
    """

    statistic: str
    columns: Any
    knots: Any
    shares: Any
    best: Any = None

    def __call__(self, scores: Any) -> np.ndarray:
        """The confidence of each row, from 0 to 1.

        Parameters
        ----------
        scores : array-like of shape (n_rows, n_columns)
            A score for every column of the model.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        x = _of_rows(STATISTICS[self.statistic], scores, self.columns)
        return np.asarray(np.interp(x, self.knots, self.shares))

    def best_columns(self, scores: Any) -> np.ndarray:
        """The place of each row's best label among `columns`.

        Parameters
        ----------
        scores : array-like of shape (n_rows, n_columns)
            A score for every column of the model.

        Returns
        -------
        ndarray of int of shape (n_rows,)
        """
        return _of_rows(_best, scores, self.columns)


def _of_rows(
    function: Callable[[np.ndarray], np.ndarray], scores: Any, columns: np.ndarray
) -> np.ndarray:
    """What a function says of each row of some columns; a block of rows is copied at a time."""
    scores = np.asarray(scores)
    blocks = list(row_blocks(scores.shape[0], columns.size)) or [slice(0)]
    return np.concatenate([function(scores[b][:, columns].astype(float)) for b in blocks])


def label_columns(taxonomy: Taxonomy, columns: tuple[Any, ...], closed: bool) -> np.ndarray:
    """The columns that may be a row's best label: the leaves where all nodes are scored."""
    if not closed:
        return np.arange(len(columns))
    return np.flatnonzero(taxonomy.n_children[taxonomy.numbers(columns)] == 0)


def right_rows(
    taxonomy: Taxonomy, columns: tuple[Any, ...], used: np.ndarray, scores: Any, Y: Any
) -> np.ndarray:
    """Whether the best label of each row is one of its most specific true labels."""
    best = taxonomy.numbers(columns)[used[_of_rows(_best, scores, used)]]
    own = taxonomy.most_specific(Y)
    rows = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
    return np.bincount(rows[own.indices == best[rows]], minlength=own.shape[0]) > 0


def learn_confidence(
    held_out: HeldOut, taxonomy: Taxonomy, columns: tuple[Any, ...], closed: bool
) -> Confidence:
    """What confidence means, from held-out scores and the true labels of the same rows.

    Parameters
    ----------
    held_out : HeldOut
        Scores of rows that the scoring models have not seen, with their labels.
    taxonomy : Taxonomy
        The taxonomy.
    columns : tuple
        The nodes that are scored.
    closed : bool
        Whether every node is scored, as a member of closed label sets.

    Returns
    -------
    Confidence
    """
    used = label_columns(taxonomy, columns, closed)
    right = right_rows(taxonomy, columns, used, held_out.scores, held_out.Y)
    scores = held_out.scores
    values = {name: _of_rows(statistic, scores, used) for name, statistic in STATISTICS.items()}
    name = max(values, key=lambda name: _area(values[name], right))
    order = np.argsort(values[name], kind="stable")
    bins = np.array_split(order, np.clip(order.size // ROWS, 1, BINS))
    sizes = np.array([rows.size for rows in bins], dtype=float)
    shares = _rising(np.array([right[rows].mean() for rows in bins]), sizes)
    knots = np.array([values[name][rows].mean() for rows in bins])
    best = np.bincount(_of_rows(_best, scores, used), minlength=used.size)
    return Confidence(name, used, knots, shares, best)


def _rising(shares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Shares that never fall, with one right and one wrong row added to each step."""
    risen = isotonic_regression(shares, sample_weight=sizes)
    step = np.cumsum(np.diff(risen, prepend=risen[0]) > 1e-12)
    n = np.bincount(step, sizes)[step]
    return np.asarray(isotonic_regression((risen * n + 1) / (n + 2), sample_weight=sizes))


def _area(x: np.ndarray, right: np.ndarray) -> float:
    """How often a right row has a higher value than a wrong one; a half where all are one kind."""
    n, m = int(right.sum()), int((~right).sum())
    if not n or not m:
        return 0.5
    return float((rankdata(x)[right].sum() - n * (n + 1) / 2) / (n * m))
