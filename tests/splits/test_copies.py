"""Copies of rows: known by what they say, kept on one side of every split."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.errors import UserError
from linnaeus.splits import k_folds, train_test_split
from linnaeus.splits.copies import Copies, digests


def test_texts_are_copies_whatever_their_case_blanks_and_punctuation_at_the_ends():
    same = ["The cat sat.", "the  cat\tsat", ' "THE CAT SAT!" ', "the cat\nsat ..."]
    assert len(set(digests(same).tolist())) == 1
    other = digests(["the cat, sat", "the cat sat on", "C++", "C", "!?", "?!", "Straße", "strasse"])
    assert len(set(other.tolist())) == 7  # ß is ss without regard to case


def test_rows_of_features_are_copies_whatever_their_form():
    X = np.array([[1.0, 0, np.nan], [1.0, -0.0, np.nan], [0, 1, 2]])
    dense, sparse = digests(X), digests(sp.csr_array(X))
    assert dense[0] == dense[1] != dense[2]
    assert (dense == sparse).all()
    assert (digests(sp.csr_array(X.astype(np.float32))) == dense).all()


def test_rows_that_say_nothing_are_nobodys_copies():
    found = Copies.of(["", " ", "a", "A"])
    assert found.n == 1 and (found.digests[:2] == 0).all() and found.kept().size == 1
    assert Copies.of(np.zeros((3, 2))).groups is None


def test_a_table_that_repeats_by_its_nature_has_no_copies():
    found = Copies.of(np.arange(20)[:, None] % 4)
    assert found.repeats and found.groups is None and found.kept() is None
    texts = Copies.of(["a", "b"] * 10)  # texts do not repeat by nature
    assert texts.n == 18 and texts.kept().size == 2


@given(
    st.lists(st.integers(0, 12), min_size=12, max_size=60),
    st.integers(2, 4),
    st.integers(0, 99),
)
def test_groups_are_never_divided_and_every_part_has_rows(groups, k, seed):
    y = [g % 3 for g in groups]
    distinct = len(set(groups))
    if distinct < k:
        with pytest.raises(UserError, match="only .* rows are distinct"):
            k_folds(y, k, seed, groups)
        return
    groups = np.array(groups)
    splits = [*k_folds(y, k, seed, groups), train_test_split(y, 0.2, seed, groups=groups)]
    splits.append(train_test_split(y, 0.2, seed, stratify=False, groups=groups))
    for train, test in splits:
        assert train.size and test.size and train.size + test.size == len(y)
        assert not set(groups[train]) & set(groups[test])


def test_groups_are_stratified_as_well_as_they_can_be():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 400, 1000)
    y = groups % 5
    for _, test in k_folds(y, 4, 0, groups):
        assert np.abs(np.bincount(y[test]) - np.bincount(y) / 4).max() <= 3
        assert abs(test.size - 250) <= 8
    alone = k_folds(y, 4, 0, np.arange(1000))
    assert all((a == b).all() for a, b in zip(alone[0], k_folds(y, 4, 0)[0], strict=True))


def test_a_group_for_every_row():
    with pytest.raises(UserError, match="groups of 2"):
        k_folds(["a", "b", "a"], 2, 0, [1, 2])
