"""Tests between methods, against plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from comparisons import made_up, small_taxonomy
from linnaeus.experiments import holm, stars
from linnaeus.experiments.pair_tests import RowCounts, group_tests, pair_tests, row_shares
from linnaeus.metrics import count_wins, hierarchical_f1, sign_test
from marks import slow

PVALUES = st.lists(st.floats(0, 1), max_size=8)


def holm_by_steps(pvalues):
    """Reject in ascending order while p (m - j) is at most alpha: the least such alpha, by p."""
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    out, highest = [0.0] * len(pvalues), 0.0
    for j, i in enumerate(order):
        highest = max(highest, min(1.0, pvalues[i] * (len(pvalues) - j)))
        out[i] = highest
    return out


@given(PVALUES)
def test_holm_is_the_step_down_procedure(pvalues):
    assert_allclose(holm(pvalues), holm_by_steps(pvalues))


@given(PVALUES)
def test_holm_lies_between_the_p_value_and_bonferroni(pvalues):
    adjusted, p = holm(pvalues), np.array(pvalues)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, p * max(1, p.size)) + 1e-12).all()


def test_stars_begin_below_five_and_one_percent():
    assert [stars(p) for p in (0.05, 0.049, 0.01, 0.0099)] == ["", "*", "*", "**"]


@pytest.mark.parametrize("seed", [0, 1, slow(2), slow(3), slow(4)])
def test_rows_share_out_the_difference_in_hierarchical_f1(seed):
    comparison = made_up(60, seed=seed)
    truth, tax = comparison.truth, comparison.taxonomy
    a, b = (comparison[name].predicted for name in ("good", "poor"))
    shares = row_shares(RowCounts.of(truth, a), RowCounts.of(truth, b))
    difference = hierarchical_f1(truth, a, tax) - hierarchical_f1(truth, b, tax)
    assert_allclose(shares.sum(), difference, atol=1e-12)
    same = (a != b).sum(axis=1) == 0
    assert (shares[same] == 0).all()


def test_every_pair_is_tested_and_the_better_one_comes_out():
    comparison = made_up(200)
    assert {(d.first, d.second) for d in comparison.pair_tests} == {
        ("good", "fair"), ("good", "poor"), ("fair", "poor"),
    }  # fmt: skip
    for pair in comparison.pair_tests:
        assert pair.differences["micro_f1"] > 0
        assert_allclose(pair.permutation.statistic, pair.differences["hierarchical_f1"])
        assert set(pair.bootstrap) == {
            "micro_f1", "macro_f1", "hierarchical_f1", "zero_one_loss",
        }  # fmt: skip
        assert all(pair.adjusted[figure] >= p for figure, p in pair.bootstrap.items())
    assert comparison.marks("micro_f1") == {"fair": "**", "poor": "**"}


def test_equal_methods_do_not_differ():
    comparison = made_up(40)
    good = comparison["good"]
    (pair,) = pair_tests(*(dict.fromkeys("ab", v) for v in (good.report, good.rows, good.draws)))
    assert pair.sign.pvalue == pair.wilcoxon.pvalue == pair.permutation.pvalue == 1.0
    assert set(pair.adjusted.values()) == {1.0}


def test_on_each_level_the_best_meets_the_others():
    comparison = made_up(150)
    found = comparison.level_tests
    depths = [str(d) for d in range(len(comparison.taxonomy.levels))]
    assert [d.group for d in found] == [depth for depth in depths for _ in range(2)]
    first = found[0]
    roots = comparison.taxonomy.root_numbers
    true, a, b = (
        Y[:, roots]
        for Y in (comparison.truth, comparison["good"].predicted, comparison["fair"].predicted)
    )
    assert (first.best, first.method) == ("good", "fair")
    assert first.sign == sign_test(*count_wins(true, a, b))
    assert first.adjusted_sign == holm([d.sign.pvalue for d in found[:2]])[0]


def test_sizes_are_those_of_the_report():
    comparison = made_up(150)
    report = comparison["good"].report
    known = {r["train"] for r in report.sizes if r["support"]}
    assert {d.group for d in comparison.size_tests} == known
    f1 = {r["train"]: r["f1"] for r in report.sizes}
    poor = {r["train"]: r["f1"] for r in comparison["poor"].report.sizes}
    for pair in comparison.size_tests:
        if (pair.best, pair.method) == ("good", "poor"):
            assert_allclose(pair.difference, f1[pair.group] - poor[pair.group])


def test_a_group_without_labels_is_passed_over():
    tax = small_taxonomy()
    Y = tax.closure(tax.encode([["u"], ["v"]]))
    nothing = {"below a": np.array([tax.index("x")])}
    assert group_tests(Y, {"one": Y, "two": Y}, nothing) == ()
