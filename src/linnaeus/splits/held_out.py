"""Scores of training rows by estimators that have not seen them, for rules to be learned from.

With k folds every row is scored by the estimator of the other folds. With one, a fifth of the rows
is held out once: for large data, where more fits would take long and a fifth is plenty. Where there
are very many classes, only some of these rows are scored: a row has a score for each of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _num_samples

from linnaeus.splits.folds import Split, k_folds, train_test_split
from linnaeus.storage.sparse_files import taken
from linnaeus.taxonomy import Taxonomy

SHARE = 0.2
LARGE = 50_000  # rows from which on one split is enough
FEW = 20  # rows below which none are held out where nothing but confidence is learned from them
MOST = 20_000_000  # scores that are made


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


def splits_of(
    y: Any, n_train: int, folds: int | None, seed: int, groups: np.ndarray | None = None
) -> list[Split]:
    """Rows to fit on and rows to score: what comes after `n_train` rows, else folds.

    groups : copies of a row, which stay together; where all rows are copies there are no splits
    """
    n = y.shape[0]
    if n_train < n:
        return [(np.arange(n_train), np.arange(n_train, n))]
    distinct = n if groups is None else np.unique(groups).size
    return held_out_splits(y, folds, seed, groups) if distinct > 1 else []


def held_out_splits(
    y: Any, folds: int | None, seed: int, groups: np.ndarray | None = None
) -> list[Split]:
    """Rows to fit on and rows to score: k folds, or one fifth once; copies on one side."""
    n = y.shape[0] if sp.issparse(y) else len(y)
    distinct = n if groups is None else np.unique(groups).size
    enough = n >= LARGE or (sp.issparse(y) and SHARE * n * y.shape[1] >= MOST)
    folds = (1 if enough else 3) if folds is None else folds
    if folds == 1:
        return [train_test_split(y, SHARE, seed, groups=groups)]
    return k_folds(y, min(folds, distinct), seed, groups)


def fewer_scored(splits: list[Split], n_columns: int, seed: int, most: int = MOST) -> list[Split]:
    """The splits with so many rows to score that there are at most `most` scores, one row at least.

    The rows are drawn from those of all splits; a split that is left with none is dropped.
    """
    ends = np.cumsum([len(test) for _, test in splits])
    keep = max(1, most // max(1, n_columns))
    if not splits or ends[-1] <= keep:
        return splits
    kept = np.sort(np.random.default_rng(seed).choice(ends[-1], keep, replace=False))
    some = [(fit, test[kept[(kept >= end - len(test)) & (kept < end)] - (end - len(test))])
            for (fit, test), end in zip(splits, ends.tolist(), strict=True)]  # fmt: skip
    return [split for split in some if len(split[1])]


def one_split(y: Any, splits: Sequence[Split]) -> list[Split]:
    """The first split, if rows with one label each are enough to learn how sure a model is."""
    enough = len(y) >= FEW and all(len(set(y[fit])) > 1 for fit, _ in splits[:1])
    return list(splits[:1]) if enough else []


class OutOfFold(NamedTuple):
    """Scores of rows by estimators that have not seen them, fold after fold."""

    rows: npt.NDArray[np.intp]  # their numbers
    scores: npt.NDArray[np.floating[Any]]  # (n, n_columns)
    predicted: list[Any]  # what the estimator of each fold itself predicts, where asked for


def out_of_fold(
    make: Callable[[], Any],
    X: Any,
    y: Any,
    splits: Sequence[Split],
    columns: tuple[Any, ...] | None,
    score: Callable[[Any, Any], tuple[Sequence[Any], Any]],
    *,
    params: Mapping[str, Any] | None = None,
    predict: bool = False,
    dtype: Any = np.float64,
    callback: Callable[[int, int], None] | None = None,
) -> OutOfFold:
    """Fit on one side of every split, and score the other side over `columns`.

    A label that a fold lacks gets the lowest score of its row.

    make : gives a new estimator
    columns : None for those that an estimator of linnaeus has which is fitted on all rows
    score : of a fitted estimator and rows, the labels that it scores, and their scores
    params : for `fit`, of all rows
    predict : whether to ask the estimators for their own predictions too
    callback : told how many fits are done, and how many there are
    """
    columns = make().classes_of(y) if columns is None else columns
    split = _split_on_disk if hasattr(X, "folder") else _safe_split
    position = {name: j for j, name in enumerate(columns)}
    every = np.arange(_num_samples(X))
    at = [every[test] for _, test in splits]  # row numbers, where masks were given
    scores, predicted = np.empty((sum(map(len, at)), len(columns)), dtype), []
    parts = np.split(scores, np.cumsum([len(test) for test in at])[:-1])
    for done, ((train, _), test, part) in enumerate(zip(splits, at, parts, strict=True)):
        if callback is not None:
            callback(done, len(splits))
        fitted = make()
        X_train, y_train = split(fitted, X, y, train)
        X_test, _ = split(fitted, X, y, test, train)
        with warnings.catch_warnings():
            # A label that a fold lacks is no news to the user: it does not lack in the data.
            warnings.filterwarnings("ignore", message="Label .* is present in all training")
            more = _check_method_params(X, dict(params or {}), train)
            fitted = fitted.fit(X_train, y_train, **more)
        names, found = score(fitted, X_test)
        known = [j for j, name in enumerate(names) if name in position]
        part[:] = found.min(axis=1, keepdims=True)
        part[:, [position[names[j]] for j in known]] = found[:, known]
        predicted += [fitted.predict(X_test)] if predict else []
    return OutOfFold(np.concatenate(at), scores, predicted)


def _split_on_disk(
    estimator: Any, X: Any, y: Any, rows: Any, others: Any = None
) -> tuple[Any, Any]:
    """What `_safe_split` gives, of a matrix on disk: some of its rows, on disk too, and labels."""
    rows = np.arange(X.shape[0])[rows]
    return taken(X, rows), _safe_indexing(y, rows)


def hold_out(
    make: Callable[[], Any],
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    splits: Sequence[Split],
    *,
    own: bool = False,
    callback: Callable[[int, int], None] | None = None,
) -> HeldOut:
    """Scores of all rows that are held out, by estimators of linnaeus.

    The columns are those of an estimator that is fitted on all rows.

    make : gives a new estimator
    own : whether to ask the estimators for their own predictions too
    callback : told how many fits are done, and how many there are
    """

    def score(fitted: Any, X: Any) -> tuple[Sequence[Any], Any]:
        return fitted.targets_.names, fitted.class_scores(X)

    found = out_of_fold(
        make, X, y, splits, None, score, predict=own, dtype=np.float32, callback=callback
    )
    sets = [taxonomy.encode(answers) for answers in found.predicted]
    Y = taxonomy.encode(y[found.rows])
    return HeldOut(found.rows, found.scores, Y, sp.vstack(sets, format="csr") if own else None)
