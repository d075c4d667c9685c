"""Dividing examples: stratified folds for label sets, and the t-per-class protocols.

Stratification is iterative, after Sechidis, Tsoumakas and Vlahavas (2011): of the labels that still
have rows to give away take the rarest, and give each of its rows to the fold that wants the label
most. Fold j, which is to hold the share w_j / W of everything, wants

    w_j / W * n(label)  -  rows with the label that it already has.

Where only fractions of a row are still wanted, the fold that is emptiest for its size gets it: so
for single-label data every fold holds the floor or the ceiling of its share of every label, and
sizes stay balanced even when most labels are rare. Rows without labels count as one more label.

Rows of one group, such as copies of a text, stay together: a group counts for its number of rows
and for how often it has each label, and of a label's groups the largest are given away first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from linnaeus.errors import UserError
from linnaeus.labels import found

Split = tuple[np.ndarray, np.ndarray]


def train_test_split(
    Y: Any,
    test_size: float = 0.25,
    random_state: Any = None,
    stratify: bool = True,
    groups: Any = None,
) -> Split:
    """Row numbers of a training and of a test part.

    Parameters
    ----------
    Y : array-like, sparse matrix or list of lists
        Labels in any form (see `linnaeus.labels`).
    test_size : float or int, default=0.25
        A number of rows (int) or a fraction (float); with `stratify` it is met as nearly as the
        labels allow.
    random_state : int, RandomState instance or None, default=None
        Seed of everything that is drawn.
    stratify : bool, default=True
        Whether both parts have the same share of every label.
    groups : array-like of int of shape (n_rows,) or None, default=None
        Rows with the same number stay on one side; None lets every row go alone.

    Returns
    -------
    train : ndarray of int of shape (n_train,)
        Row numbers, ascending.
    test : ndarray of int of shape (n_test,)
        Row numbers, ascending.
    """
    labels = _sets(Y)
    n = labels.shape[0]
    n_test = int(test_size if isinstance(test_size, int | np.integer) else round(test_size * n))
    if not 1 <= n_test < n:
        raise UserError(
            f"test_size is {test_size}, which takes {n_test} of {n} rows. Use a number of rows, or "
            f"a fraction, that leaves rows on both sides."
        )
    rng = check_random_state(random_state)
    if stratify or groups is not None:
        used = labels if stratify else labels[:, :0]
        in_test = _assign_groups(used, groups, [n - n_test, n_test], rng) == 1
    else:
        in_test = np.zeros(n, dtype=bool)
        in_test[rng.permutation(n)[:n_test]] = True
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def k_folds(Y: Any, k: int = 10, random_state: Any = None, groups: Any = None) -> list[Split]:
    """Row numbers (train, test) of each of k stratified folds.

    Parameters
    ----------
    Y : array-like, sparse matrix or list of lists
        Labels in any form of `linnaeus.labels`.
    k : int, default=10
        Number of folds.
    random_state : int, RandomState instance or None, default=None
        Seed of everything that is drawn.
    groups : array-like of int of shape (n_rows,) or None, default=None
        Rows with the same number stay in one fold; None lets every row go alone.

    Returns
    -------
    list of tuple
        (train, test) row numbers of each fold, ascending.
    """
    fold = _folds(Y, k, check_random_state(random_state), groups)
    return [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(k)]


def t_per_class(
    Y: Any, t: int, repetitions: int = 10, random_state: Any = None, groups: Any = None
) -> Iterator[Split]:
    """Train on t rows of each class (all of them where there are fewer), test on all others.

    The protocol of [Cai2008] for small training sets: a row with several labels is first assigned
    to one of them at random, anew in each repetition. Rows without labels are only tested on.

    Parameters
    ----------
    Y : array-like, sparse matrix or list of lists
        Labels in any form of `linnaeus.labels`.
    t : int
        Rows of each class.
    repetitions : int, default=10
        How often to draw.
    random_state : int, RandomState instance or None, default=None
        Seed of everything that is drawn.
    groups : array-like of int of shape (n_rows,) or None, default=None
        Rows with the same number are copies: they are not tested on where one is trained on.

    Yields
    ------
    tuple
        (train, test) row numbers, ascending.
    """
    labels = _sets(Y)
    rng = check_random_state(random_state)
    for _ in range(repetitions):
        train = _draw(labels, t, rng)
        rest = np.setdiff1d(np.arange(labels.shape[0]), train, assume_unique=True)
        if groups is not None:
            rest = rest[~np.isin(np.asarray(groups)[rest], np.asarray(groups)[train])]
        yield train, rest


def at_most_per_class(Y: Any, t: int = 3, random_state: Any = None) -> np.ndarray:
    """Row numbers of a subsampled corpus with at most t rows per class, ascending.

    The small corpora of [Cai2008] are drawn so; rows are assigned to labels as in `t_per_class`.

    Parameters
    ----------
    Y : array-like, sparse matrix or list of lists
        Labels in any form of `linnaeus.labels`.
    t : int, default=3
        Rows of each class.
    random_state : int, RandomState instance or None, default=None
        Seed of everything that is drawn.

    Returns
    -------
    ndarray of int of shape (n_rows,)
    """
    return _draw(_sets(Y), t, check_random_state(random_state))


class MultilabelStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """`k_folds` as a splitter for `cross_val_score`, `GridSearchCV` and the like.

    It takes labels in any form of `linnaeus.labels`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=True
        Whether rows are drawn at random; without, they are dealt out in their order, and
        `random_state` is not used.
    random_state : int, RandomState instance or None, default=None
        Seed of everything that is drawn.
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : object, default=None
            Ignored.
        groups : object, default=None
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

    def _iter_test_indices(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[Any]:
        if y is None:
            raise UserError("Stratified folds need labels. Pass y.")
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = _folds(y, self.n_splits, rng)
        for j in range(self.n_splits):
            yield np.flatnonzero(fold == j)


def _sets(Y: Any) -> sp.csr_array:
    """The label sets as an indicator; what is one already, as `found` makes it, stays so."""
    tidy = isinstance(Y, sp.csr_array) and Y.dtype == np.int8 and Y.has_canonical_format
    return Y if tidy and (Y.data == 1).all() else found(Y)[1]


def _folds(Y: Any, k: int, rng: np.random.RandomState | None, groups: Any = None) -> np.ndarray:
    labels = _sets(Y)
    if not 2 <= k <= labels.shape[0]:
        raise UserError(
            f"{k} folds were asked for, of {labels.shape[0]} rows. Use at least 2, and at most one "
            f"per row."
        )
    return _assign_groups(labels, groups, [1] * k, rng)


def _assign_groups(
    labels: sp.csr_array, groups: Any, weights: list[int], rng: np.random.RandomState | None
) -> np.ndarray:
    """The fold of each row, the same for all rows of a group; None where each goes alone."""
    if groups is None:
        return _assign(labels, weights, rng)
    names, group, size = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    if group.shape != (labels.shape[0],):
        raise UserError(
            f"There are {labels.shape[0]} rows, but groups of {group.size}. Give one for each row."
        )
    if names.size < len(weights):
        raise UserError(
            f"{len(weights)} parts were asked for, but copies of a row stay in one part and only "
            f"{names.size} of the {group.size} rows are distinct. Use fewer parts."
        )
    member = sp.csr_array((np.ones(group.size, dtype=np.int64), (group, np.arange(group.size))))
    fold = _assign(sp.csr_array(member @ labels.astype(bool)), weights, rng, size)
    for j in np.flatnonzero(np.bincount(fold, minlength=len(weights)) == 0):
        fullest = np.flatnonzero(fold == np.bincount(fold).argmax())
        fold[fullest[size[fullest].argmin()]] = j
    return np.asarray(fold[group])


def _assign(
    labels: sp.csr_array,
    weights: list[int],
    rng: np.random.RandomState | None,
    sizes: np.ndarray | None = None,
) -> np.ndarray:
    """The fold of each row, by iterative stratification.

    weights : how much of everything each fold is to hold, as integers
    rng : for the order of rows and for ties; None takes rows in order and ties to the lower fold
    sizes : how many rows each stands for, where it is a group; its labels are then counts
    """
    n, n_folds = labels.shape[0], len(weights)
    order = np.arange(n) if rng is None else rng.permutation(n)
    ties = [list(range(n_folds))] * n
    if rng is not None:
        ties = rng.random_sample((n, n_folds)).argsort(axis=1).tolist()
    sizes = np.ones(n, dtype=np.int64) if sizes is None else sizes
    order = order[np.argsort(-sizes[order], kind="stable")]
    sets, rows_of, left = _by_row_and_label(labels, order, sizes)
    total, many = sum(weights), sizes.tolist()
    wanted = [[count * w for w in weights] for count in left]  # in units of 1/total rows
    size, fold = [0] * n_folds, [-1] * n
    queue = [(count, label) for label, count in enumerate(left) if count]
    heapq.heapify(queue)
    while queue:
        count, label = heapq.heappop(queue)
        if count != left[label]:
            continue  # an older entry: the label was pushed again with fewer rows
        for row in rows_of[label]:
            if fold[row] >= 0:
                continue
            j = _neediest(wanted[label], size, weights, total, ties[row])
            fold[row] = j
            size[j] += many[row]
            for other, times in sets[row]:
                wanted[other][j] -= total * times
                left[other] -= times
                if other != label and left[other]:
                    heapq.heappush(queue, (left[other], other))
    return np.array(fold)


def _neediest(
    wanted: list[int], size: list[int], weights: list[int], total: int, folds: list[int]
) -> int:
    """The fold that wants a label most; all wants below one row count alike."""
    best, best_key = -1, (0.0, 0.0)
    for j in folds:
        want = wanted[j]
        key = (total / 2 if 0 < want < total else want, -size[j] / weights[j])
        if best < 0 or key > best_key:
            best, best_key = j, key
    return best


def _by_row_and_label(
    labels: sp.csr_array, order: np.ndarray, sizes: np.ndarray
) -> tuple[list[list[tuple[int, int]]], list[list[int]], list[int]]:
    """The labels of each row with their counts, the rows of each label in the order given, and how
    often there is each label.

    Rows without labels get one of their own, the last.
    """
    column = sp.csr_array(np.where(np.diff(labels.indptr) == 0, sizes, 0)[:, None])
    full = sp.csr_array(sp.hstack([labels, column], format="csr"), dtype=np.int64)
    by_label = sp.csc_array(full[order])
    entries = list(zip(full.indices.tolist(), full.data.tolist(), strict=True))
    sets = [entries[a:b] for a, b in pairwise(full.indptr.tolist())]
    rows = order[by_label.indices]
    rows_of = [rows[a:b].tolist() for a, b in pairwise(by_label.indptr.tolist())]
    return sets, rows_of, np.asarray(full.sum(axis=0)).ravel().tolist()


def _draw(labels: sp.csr_array, t: int, rng: np.random.RandomState) -> np.ndarray:
    """At most t rows per class, each row assigned to one of its labels at random; ascending."""
    if t < 1:
        raise UserError(f"t is {t}. Draw at least one row per class.")
    count = np.diff(labels.indptr)
    rows = rng.permutation(np.flatnonzero(count))
    pick = (rng.random_sample(rows.size) * count[rows]).astype(np.int64)
    chosen = labels.indices[labels.indptr[rows] + pick]
    by_class = np.argsort(chosen, kind="stable")
    starts = np.flatnonzero(np.diff(chosen[by_class], prepend=-1))
    rank = np.arange(rows.size) - np.repeat(starts, np.diff(starts, append=rows.size))
    return np.sort(rows[by_class][rank < t])
