"""Tests of significance against enumeration, SciPy and the golden values."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.metrics import count_wins, permutation_test, sign_test, wilcoxon_test

ALTERNATIVES = ["two-sided", "greater", "less"]


def test_golden_sign_tests(golden_file):
    for case in golden_file("recursive_and_bayes")["metrics"]["sign_test"]:
        wins, losses = case["wins"], case["losses"]
        assert np.isclose(sign_test(wins, losses).pvalue, case["p_two_sided"])
        got = sign_test(wins, losses, "greater").pvalue
        assert np.isclose(got, case["p_one_sided_A_better"])


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from(ALTERNATIVES))
def test_the_sign_test_is_the_binomial_test(wins, losses, alternative):
    got = sign_test(wins, losses, alternative)
    assert (got.wins, got.losses) == (wins, losses)
    if wins + losses:
        expected = stats.binomtest(wins, wins + losses, 0.5, alternative).pvalue
        assert np.isclose(got.pvalue, expected, rtol=1e-9)


def test_golden_wilcoxon_tests(golden_file):
    for case in golden_file("recursive_and_bayes")["metrics"]["wilcoxon"]:
        got = wilcoxon_test(case["x"], case["y"])
        assert (got.statistic, got.w_minus) == (case["W_plus"], case["W_minus"])
        assert got.n == case["n_nonzero"]
        assert np.isclose(got.z, case["z"])
        expected = case["p_normal"] if case["p_exact"] is None else case["p_exact"]
        assert np.isclose(got.pvalue, expected)
        assert got.exact == (case["p_exact"] is not None)
        normal = wilcoxon_test(case["x"], case["y"], method="normal")
        assert np.isclose(normal.pvalue, case["p_normal"])


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9), st.sampled_from(ALTERNATIVES))
def test_the_exact_wilcoxon_test_tries_all_signs(d, alternative):
    d = np.array(d)
    kept = d[d != 0]
    ranks = stats.rankdata(np.abs(kept))
    w = ranks[kept > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product([0, 1], repeat=kept.size)]
    at_least, at_most = np.mean(np.array(sums) >= w), np.mean(np.array(sums) <= w)
    expected = {
        "greater": at_least,
        "less": at_most,
        "two-sided": min(1.0, 2 * min(at_least, at_most)),
    }[alternative]
    got = wilcoxon_test(d, alternative=alternative)
    assert got.exact
    assert np.isclose(got.pvalue, expected)


@given(st.integers(0, 1000), st.sampled_from(ALTERNATIVES))
def test_the_normal_wilcoxon_test_is_scipys(seed, alternative):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 9, (2, 40))
    got = wilcoxon_test(x, y, alternative)
    theirs = stats.wilcoxon(x, y, alternative=alternative, method="asymptotic", correction=False)
    assert not got.exact
    assert np.isclose(got.pvalue, theirs.pvalue)


def test_rounding_errors_do_not_break_ties():
    x, y = np.array([0.3, 0.5, 0.9]), np.array([0.2, 0.4, 1.0])
    got = wilcoxon_test(x, y)
    assert (got.statistic, got.w_minus) == (4.0, 2.0)
    assert wilcoxon_test([0.1 + 0.2], [0.3]).n == 0
    assert wilcoxon_test([0.1 + 0.2], [0.3]).pvalue == 1.0


def test_golden_permutation_tests(golden_file):
    for case in golden_file("ranking")["permutation"]:
        got = permutation_test(case["diff"])
        assert got.exact
        assert np.isclose(got.pvalue, case["two_sided"])
        assert np.isclose(permutation_test(case["diff"], None, "greater").pvalue, case["greater"])


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8), st.sampled_from(ALTERNATIVES))
def test_the_exact_permutation_test_tries_all_signs(d, alternative):
    sums = np.array([np.dot(s, d) for s in product([-1, 1], repeat=len(d))])
    expected = {
        "two-sided": np.mean(np.abs(sums) >= abs(sum(d))),
        "greater": np.mean(sums >= sum(d)),
        "less": np.mean(sums <= sum(d)),
    }[alternative]
    assert np.isclose(permutation_test(d, alternative=alternative).pvalue, expected)


def test_many_differences_are_sampled_and_the_seed_repeats():
    rng = np.random.default_rng(3)
    x = rng.normal(0.4, 1, 30)
    first, again = (permutation_test(x, n_permutations=4000, random_state=1) for _ in range(2))
    assert first == again
    assert not first.exact
    assert first.n_permutations == 4000
    reference = stats.permutation_test(
        (x,), np.mean, permutation_type="samples", n_resamples=4000, rng=2
    )
    assert abs(first.pvalue - reference.pvalue) < 0.02
    assert permutation_test(np.ones(40), n_permutations=99, random_state=0).pvalue == 1 / 100


def test_wins_are_counted_by_row_or_by_decision():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("r", "c")])
    Y = [["a", "b"], ["c"]]
    A = [["a"], ["c"]]  # misses b
    B = [["a", "b", "c"], ["b"]]  # adds c; b for c
    assert count_wins(Y, A, B, tax) == (3, 1)
    assert count_wins(Y, A, B, tax, unit="row") == (1, 0)
    y, a, b = ["a", "b", "c"], ["a", "c", "c"], ["b", "b", "b"]
    assert count_wins(y, a, b, tax) == count_wins(y, a, b) == (2, 1)
    assert count_wins(y, a, b, unit="decision") == (4, 2)
    assert count_wins(y, a, a) == (0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_test(-1, 2), "wins is -1 and losses is 2. Both must be counts"),
        (lambda: sign_test(1, 2, "better"), "'better' is not known.*two-sided, greater, less"),
        (lambda: wilcoxon_test([1, 2], [1]), r"shapes are \(2,\) and \(1,\)"),
        (lambda: wilcoxon_test([1, np.nan]), "must be finite"),
        (lambda: wilcoxon_test([1], method="table"), "'table' is not known"),
        (lambda: permutation_test([]), "two lists of one length"),
        (lambda: permutation_test([1.0], n_permutations=0), "n_permutations is 0"),
        (lambda: count_wins(["a"], ["a"], ["a"], unit="x"), "unit='x' is not known"),
        (lambda: count_wins(["a"], ["a"], ["a", "b"]), "Y_true has 1 rows, but B has 2"),
    ],
)
def test_errors_name_the_thing_the_value_and_the_remedy(call, message):
    with pytest.raises(UserError, match=message):
        call()
