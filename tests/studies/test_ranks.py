"""Ranks over collections against plain loops, and against an example worked out by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chi2

from linnaeus.errors import UserError
from studies.rank_plot import draw_ranks
from studies.ranks import (
    cliques,
    critical_difference,
    friedman,
    mean_ranks,
    rank_methods,
    ranks_of,
)

TABLE = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.one_of(st.integers(0, 4), st.just(math.nan)), min_size=k + 2, max_size=k + 2),
        min_size=2,
        max_size=6,
    )
)


def plain_rank(row, j):
    """One more than there are better values, and half of those that are equal."""
    value = [-math.inf if math.isnan(v) else v for v in row]
    better = sum(v > value[j] for v in value)
    equal = sum(v == value[j] for v in value) - 1
    return 1 + better + equal / 2


@given(TABLE)
def test_ranks_count_what_is_better(table):
    expected = [[plain_rank(row, j) for j in range(len(row))] for row in table]
    assert_allclose(ranks_of(table), expected)
    assert_allclose(mean_ranks(table), np.mean(expected, axis=0))


@given(TABLE)
def test_ranks_of_a_row_have_the_same_sum(table):
    k = len(table[0])
    assert_allclose(ranks_of(table).sum(axis=1), k * (k + 1) / 2)


def test_what_has_no_result_is_last():
    assert ranks_of([[0.1, np.nan, 0.2, np.nan]]).tolist() == [[2, 3.5, 1, 3.5]]


def test_the_example_worked_out_by_hand():
    """Four collections, three methods. Ranks

        a 1 2 3,  b 1 2 3,  c 1 3 2,  d 1 2 3      sums 4, 9, 11

    chi2 = 12 / (4 * 3 * 4) (16 + 81 + 121) - 3 * 4 * 4 = 54.5 - 48 = 6.5, two degrees of freedom,
    so p = exp(-6.5 / 2).
    """
    values = [[0.9, 0.8, 0.7], [0.5, 0.4, 0.3], [0.6, 0.1, 0.2], [0.8, 0.7, 0.1]]
    ranking = rank_methods("by hand", ("x", "y", "z"), "abcd", values)
    assert ranking.methods == ("x", "y", "z")
    assert_allclose(ranking.ranks, [1, 9 / 4, 11 / 4])
    assert_allclose(ranking.friedman, [6.5, math.exp(-3.25)])
    assert_allclose(ranking.difference, 2.343 * math.sqrt(3 * 4 / (6 * 4)), atol=1e-3)
    assert ranking.cliques == [("x", "y"), ("y", "z")]


@given(TABLE)
def test_friedman_by_its_formula_with_ties(table):
    ranks = ranks_of(table)
    n, k = ranks.shape
    total = 12 * n / (k * (k + 1)) * ((ranks.mean(axis=0) ** 2).sum() - k * (k + 1) ** 2 / 4)
    ties = sum(count**3 - count for row in ranks for count in np.unique(row, return_counts=True)[1])
    share = 1 - ties / (n * (k**3 - k))
    found = friedman(table)
    if share == 0:
        assert found == (0, 1)
    else:
        assert_allclose(found.statistic, total / share, atol=1e-9)
        assert_allclose(found.pvalue, chi2.sf(total / share, k - 1), atol=1e-9)


def test_two_methods_are_refused():
    with pytest.raises(UserError, match=r"There are 2 methods.*at least 3.*Wilcoxon"):
        friedman([[1, 2], [2, 1]])


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (10, 3.164)]
)
def test_the_quantiles_of_the_textbook(k, q):
    """[Demsar2006] Table 5 (a), at 5 %."""
    assert_allclose(critical_difference(k, 7) / math.sqrt(k * (k + 1) / 42), q, atol=1e-3)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(0, 8))
def test_cliques_are_the_largest_runs_within_the_difference(ranks, difference):
    ranks = sorted(ranks)
    runs = [
        (a, b)
        for a, b in itertools.combinations(range(len(ranks) + 1), 2)
        if b - a > 1 and ranks[b - 1] - ranks[a] <= difference
    ]
    largest = [
        (a, b) for a, b in runs if not any((c, d) != (a, b) and c <= a and b <= d for c, d in runs)
    ]
    assert cliques(ranks, difference) == largest


def test_equal_rankings_give_equal_plots(tmp_path):
    values = np.random.default_rng(0).normal(size=(5, 6)) + np.arange(6)
    ranking = rank_methods("six", [f"method{j}" for j in range(6)], "abcde", values)
    for name in ("one.svg", "two.svg"):
        draw_ranks(ranking, tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    assert all(f"method{j}" in text for j in range(6))
    assert f"critical difference {ranking.difference:.2f} (5% level)" in text
