"""Which rows are scored by estimators that have not seen them."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.splits import held_out
from linnaeus.splits.held_out import fewer_scored, held_out_splits, splits_of


def folds(n=12, k=3):
    rows = np.random.default_rng(0).permutation(n)
    return [(np.setdiff1d(rows, test), test) for test in np.array_split(rows, k)]


@pytest.mark.parametrize("most", [1, 5, 35, 59])
def test_so_many_rows_are_scored_as_scores_are_allowed(most):
    splits = folds()
    few = fewer_scored(splits, n_columns=5, seed=1, most=most)
    kept = np.concatenate([test for _, test in few])
    assert len(kept) == max(1, most // 5) == len(set(kept.tolist()))
    assert all(len(test) for _, test in few)
    before = {tuple(fit): test.tolist() for fit, test in splits}
    for fit, test in few:
        whole = before[tuple(fit)]
        assert [whole.index(row) for row in test.tolist()] == sorted(map(whole.index, test))
    again = fewer_scored(splits, n_columns=5, seed=1, most=most)
    assert all((a[1] == b[1]).all() for a, b in zip(few, again, strict=True))


def test_all_rows_are_scored_where_there_is_room():
    splits = folds()
    assert fewer_scored(splits, n_columns=5, seed=1, most=60) is splits
    assert fewer_scored([], n_columns=5, seed=1) == []


def test_every_split_may_give_rows():
    drawn = [fewer_scored(folds(), 5, seed, most=10) for seed in range(20)]
    assert {tuple(fit) for splits in drawn for fit, _ in splits} == {tuple(f) for f, _ in folds()}


def test_one_split_is_enough_for_many_scores(monkeypatch):
    """A fifth of 30 rows over 4 labels are 24 scores."""
    Y = sp.csr_array(np.eye(4, dtype=np.int8)[np.arange(30) % 4])
    monkeypatch.setattr(held_out, "MOST", 25)
    assert len(held_out_splits(Y, None, 0)) == 3
    monkeypatch.setattr(held_out, "MOST", 24)
    ((fit, test),) = splits_of(Y, 30, None, 0)
    assert len(test) == 6 and not set(fit) & set(test)
    assert len(held_out_splits(Y, 2, 0)) == 2  # as asked
