"""Splits: partitions, the same for a seed, in proportion."""

import time
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

from linnaeus.errors import UserError
from linnaeus.splits import (
    MultilabelStratifiedKFold,
    at_most_per_class,
    k_folds,
    t_per_class,
    train_test_split,
)

single = st.lists(st.integers(0, 6), min_size=2, max_size=60)
several = st.lists(st.lists(st.integers(0, 6), max_size=4, unique=True), min_size=2, max_size=60)
seeds = st.integers(0, 5)


def assert_partition(n, *parts):
    assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n))
    assert all((np.diff(part) > 0).all() for part in parts)


@given(several, st.integers(2, 5), seeds)
def test_folds_partition_the_rows(labels, k, seed):
    n = len(labels)
    if k > n:
        return
    folds = k_folds(labels, k, seed)
    assert len(folds) == k
    assert_partition(n, *(test for _, test in folds))
    for train, test in folds:
        assert_partition(n, train, test)
    again = k_folds(labels, k, seed)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))


@given(single, st.integers(2, 5), seeds)
def test_folds_hold_their_share_of_every_label(y, k, seed):
    if k > len(y):
        return
    y = np.array(y)
    folds = k_folds(y, k, seed)
    for label in np.unique(y):
        counts = [int((y[test] == label).sum()) for _, test in folds]
        assert max(counts) - min(counts) <= 1
    sizes = [test.size for _, test in folds]
    assert max(sizes) - min(sizes) <= 1


@given(single, st.floats(0.05, 0.95), seeds)
def test_train_test_split_holds_its_share_of_every_label(y, share, seed):
    y = np.array(y)
    n_test = round(share * y.size)
    if not 1 <= n_test < y.size:
        return
    train, test = train_test_split(y, share, seed)
    assert_partition(y.size, train, test)
    assert abs(test.size - n_test) <= 1
    for label, n in zip(*np.unique(y, return_counts=True), strict=True):
        ideal = n * n_test / y.size
        assert abs((y[test] == label).sum() - ideal) < 1
    assert_array_equal(train_test_split(y, share, seed)[1], test)


def test_rare_labels_do_not_all_go_to_training():
    y = np.arange(1000)  # every label once
    train, test = train_test_split(y, 0.2, random_state=0)
    assert (train.size, test.size) == (800, 200)


def test_train_test_split_takes_a_number_of_rows():
    y = np.repeat([0, 1], [90, 10])
    _, test = train_test_split(y, 30, random_state=1)
    assert (test.size, (y[test] == 1).sum()) == (30, 3)
    _, plain = train_test_split(y, 30, random_state=1, stratify=False)
    assert plain.size == 30


def test_multilabel_folds_are_nearer_to_ideal_than_random_ones():
    rng = np.random.default_rng(0)
    Y = rng.random((600, 40)) < np.linspace(0.005, 0.3, 40)
    ours = np.array([Y[test].sum(axis=0) for _, test in k_folds(Y, 5, 0)])
    drawn = rng.permutation(600).reshape(5, -1)
    random = np.array([Y[test].sum(axis=0) for test in drawn])
    ideal = Y.sum(axis=0) / 5
    assert np.abs(ours - ideal).mean() < 0.6 * np.abs(random - ideal).mean()
    sizes = [test.size for _, test in k_folds(Y, 5, 0)]
    assert max(sizes) - min(sizes) <= 12


@given(several, st.integers(2, 4))
def test_rows_without_labels_are_spread_evenly(labels, k):
    labels = [*labels, [], [], [], []]
    empty = np.array([not row for row in labels])
    counts = [int(empty[test].sum()) for _, test in k_folds(labels, k, 0)]
    assert max(counts) - min(counts) <= 1


def test_all_forms_of_labels_give_the_same_folds():
    rng = np.random.default_rng(3)
    Y = (rng.random((50, 6)) < 0.3).astype(int)
    lists = [["abcdef"[j] for j in np.flatnonzero(row)] for row in Y]
    expected = k_folds(Y, 3, 7)
    for form in (sp.csr_array(Y), sp.csc_matrix(Y), Y.astype(bool)):
        for a, b in zip(expected, k_folds(form, 3, 7), strict=True):
            assert_array_equal(a[1], b[1])
    assert_partition(50, *(test for _, test in k_folds(lists, 3, 7)))
    y = rng.integers(0, 3, 50)
    for a, b in zip(k_folds(y, 3, 1), k_folds([[v] for v in y.tolist()], 3, 1), strict=True):
        assert_array_equal(a[1], b[1])


@pytest.mark.slow
def test_large_sparse_labels_are_divided_in_seconds():
    rng = np.random.default_rng(0)
    n, n_labels, per_row = 100_000, 10_000, 5
    columns = rng.zipf(1.4, n * per_row) % n_labels
    ptr = np.arange(n + 1) * per_row
    Y = sp.csr_array((np.ones(n * per_row, np.int8), columns, ptr), (n, n_labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    start = time.perf_counter()
    folds = k_folds(Y, 5, 0)
    assert time.perf_counter() - start < 30
    counts = np.array([np.asarray(Y[test].sum(axis=0)).ravel() for _, test in folds])
    total = counts.sum(axis=0)
    off = np.abs(counts - total / 5).max(axis=0)
    assert (off[total < 50] <= 4).all()
    assert (off <= np.maximum(4, 0.02 * total)).all()


@given(single, st.integers(1, 4), seeds)
def test_t_per_class_counts_are_exact(y, t, seed):
    y = np.array(y)
    runs = list(t_per_class(y, t, 3, seed))
    assert len(runs) == 3
    for train, test in runs:
        assert_partition(y.size, train, test)
        for label, n in zip(*np.unique(y, return_counts=True), strict=True):
            assert (y[train] == label).sum() == min(t, n)
    for a, b in zip(runs, t_per_class(y, t, 3, seed), strict=True):
        assert_array_equal(a[0], b[0])


@given(several, st.integers(1, 3), seeds)
def test_t_per_class_with_several_labels(labels, t, seed):
    train, test = next(t_per_class(labels, t, 1, seed))
    assert_partition(len(labels), train, test)
    classes = {label for row in labels for label in row}
    assert len(train) <= t * len(classes)
    assert all(labels[i] for i in train)  # rows without labels are only tested on
    assert_array_equal(at_most_per_class(labels, t, seed), train)
    # rows left out have only classes that are full, if each row counts for one of its labels
    full = {c for c in classes if sum(c in labels[i] for i in train) >= t}
    assert all(set(labels[i]) & full or not labels[i] for i in test)


def test_repetitions_differ():
    y = np.repeat(np.arange(5), 40)
    runs = [train for train, _ in t_per_class(y, 3, 10, 0)]
    assert all(not np.array_equal(a, b) for a, b in combinations(runs, 2))


def test_a_row_of_several_labels_is_assigned_to_each_of_them_at_times():
    labels = [["a", "b"]] * 2
    sizes = {t[0].size for t in t_per_class(labels, 1, 50, 0)}
    assert sizes == {1, 2}  # both rows assigned to one label, or one to each


def test_at_most_per_class():
    y = np.repeat(np.arange(4), [1, 2, 3, 50])
    rows = at_most_per_class(y, 3, random_state=0)
    assert np.bincount(y[rows]).tolist() == [1, 2, 3, 3]


@pytest.mark.parametrize("form", ["dense", "sparse", "one"])
def test_the_splitter_works_in_cross_validation(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    splitter = MultilabelStratifiedKFold(3, random_state=0)
    assert splitter.get_n_splits() == 3
    if form == "one":
        assert cross_val_score(LogisticRegression(), X, y, cv=splitter).min() > 0.8
        grid = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=splitter).fit(X, y)
        assert grid.best_score_ > 0.8
        return
    Y = np.column_stack([y, 1 - y, X[:, 1] > 0]).astype(int)
    given = sp.csr_array(Y) if form == "sparse" else Y
    folds = list(splitter.split(X, given))
    assert_partition(60, *(test for _, test in folds))
    for _, test in folds:
        assert abs(Y[test].sum(axis=0) - Y.sum(axis=0) / 3).max() <= 2
    if form == "dense":
        assert cross_val_score(RidgeClassifier(), X, Y, cv=splitter).size == 3


def test_the_splitter_without_shuffling_uses_no_chance():
    y = np.repeat([0, 1], 6)
    folds = list(MultilabelStratifiedKFold(3, shuffle=False).split(np.zeros((12, 1)), y))
    assert [test.tolist() for _, test in folds] == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
    assert "n_splits=3" in repr(MultilabelStratifiedKFold(3))


def test_bad_requests_are_refused():
    y = [0, 1, 0, 1]
    for size in (0, 1.0, 4, 0.01, -2):
        with pytest.raises(UserError, match=f"test_size is {size}.*of 4 rows. Use"):
            train_test_split(y, size)
    for k in (1, 5):
        with pytest.raises(UserError, match=f"{k} folds were asked for, of 4 rows. Use"):
            k_folds(y, k)
    with pytest.raises(UserError, match="t is 0. Draw at least one"):
        at_most_per_class(y, 0)
    with pytest.raises(UserError, match="Pass y"):
        list(MultilabelStratifiedKFold(2).split(np.zeros((4, 1))))


def test_copies_of_training_rows_are_not_tested_on():
    y, groups = ["a", "a", "a", "b", "b"], [0, 0, 1, 2, 3]
    for train, test in t_per_class(y, 1, 8, 0, groups):
        taken = {groups[i] for i in train}
        assert set(test) == {i for i in range(5) if i not in train and groups[i] not in taken}
