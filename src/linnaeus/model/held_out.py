"""Scores of training rows by estimators that have not seen them, for rules to be learned from.

With k folds every row is scored by the estimator of the other folds. With one, a fifth of the rows
is held out once: for large data, where more fits would take long and a fifth is plenty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.scoring import out_of_fold
from linnaeus.splits import Split, k_folds, train_test_split
from linnaeus.taxonomy import Taxonomy

SHARE = 0.2
LARGE = 50_000  # rows from which on one split is enough
MOST = 20_000_000  # scores that are kept


@dataclass(frozen=True)
class HeldOut:
    """Held-out scores and the true label sets of the same rows.

    Attributes
    ----------
    rows : ndarray of int of shape (n_rows,)
        Numbers of the training rows.
    scores : ndarray of float32 of shape (n_rows, n_columns)
        Held-out scores.
    Y : csr_array of shape (n_rows, n_nodes)
        True label sets.
    own : csr_array of shape (n_rows, n_nodes) or None
        What the estimators themselves predicted.
    """

    rows: Any
    scores: Any
    Y: Any
    own: Any = None

    def thinned(self, seed: int, most: int = MOST) -> HeldOut:
        """No more rows than `most` scores allow.

        Parameters
        ----------
        seed : int
            Seed of the rows.
        most : int, default=20000000
            Most scores to keep.

        Returns
        -------
        HeldOut
        """
        keep = max(1, most // max(1, self.scores.shape[1]))
        if len(self.rows) <= keep:
            return self
        kept = np.sort(np.random.default_rng(seed).choice(len(self.rows), keep, replace=False))
        own = None if self.own is None else self.own[kept]
        return HeldOut(self.rows[kept], self.scores[kept], self.Y[kept], own)


def held_out_splits(
    y: Any, folds: int | None, seed: int, groups: np.ndarray | None = None
) -> list[Split]:
    """Rows to fit on and rows to score: k folds, or one fifth once; copies on one side."""
    n = y.shape[0] if sp.issparse(y) else len(y)
    distinct = n if groups is None else np.unique(groups).size
    folds = (3 if n < LARGE else 1) if folds is None else folds
    if folds == 1:
        return [train_test_split(y, SHARE, seed, groups=groups)]
    return k_folds(y, min(folds, distinct), seed, groups)


def hold_out(
    estimator: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    columns: tuple[Any, ...],
    splits: list[Split],
    *,
    own: bool = False,
    callback: Callable[[int, int], None] | None = None,
) -> HeldOut:
    """Scores over `columns` of all rows that are held out.

    own : whether to ask the estimators for their own predictions too
    callback : told how many fits are done, and how many there are
    """
    found = out_of_fold(
        estimator, X, y, splits, columns, lambda fitted: fitted.targets_.names,
        own=True, predict=own, dtype=np.float32, callback=callback,
    )  # fmt: skip
    sets = [taxonomy.encode(answers) for answers in found.predicted]
    Y = taxonomy.encode(y[found.rows])
    return HeldOut(found.rows, found.scores, Y, sp.vstack(sets, format="csr") if own else None)
