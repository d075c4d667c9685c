"""Figures of rows drawn again, against evaluating those rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from comparisons import made_up, small_taxonomy
from linnaeus.experiments import (
    area_interval,
    draw_figures,
    evaluation_verdict,
    paired_pvalue,
    verdict,
)
from linnaeus.experiments.method_result import FIGURES
from linnaeus.metrics import au_prc, evaluate
from linnaeus.metrics.inputs import Pair


@pytest.fixture(scope="module")
def comparison():
    return made_up(80, noise={"good": 0.2, "bad": 0.9})


def drawn(comparison, name, **own):
    result = comparison[name]
    return draw_figures(result.report.own, Pair(comparison.truth, result.predicted), 3, **own)


def test_each_draw_is_the_evaluation_of_its_rows(comparison):
    result, tax = comparison["good"], small_taxonomy()
    found = drawn(comparison, "good", n_draws=4)
    rng, n = np.random.default_rng(3), 80
    for b in range(4):
        rows = rng.integers(n, size=n, dtype=np.int32)
        report = evaluate(comparison.truth[rows], result.predicted[rows], tax)
        for figure in FIGURES:
            assert_allclose(found.drawn[figure][b], report[figure])
    for figure in FIGURES:
        assert_allclose(found.values[figure], result.report[figure])


def test_the_standard_error_of_a_share_is_the_binomial_one(comparison):
    found = drawn(comparison, "good")
    p = found.values["zero_one_loss"]
    assert_allclose(found.error("zero_one_loss"), np.sqrt(p * (1 - p) / 80), rtol=0.05)
    low, high = found.interval("zero_one_loss")
    assert low < p < high


def test_the_same_draws_make_pairs_and_the_same_seed_the_same_numbers(comparison):
    good, bad = (drawn(comparison, name, n_draws=500) for name in ("good", "bad"))
    assert paired_pvalue(good, bad, "micro_f1") == paired_pvalue(bad, good, "micro_f1") == 2 / 501
    assert paired_pvalue(good, good, "micro_f1") == 1.0
    again = drawn(comparison, "good", n_draws=500)
    assert (again.drawn["macro_f1"] == good.drawn["macro_f1"]).all()


def test_the_bootstrap_does_not_punish_more_answers():
    """Two methods of equal F1, one with far more labels: the sign test calls the other better."""
    tax = small_taxonomy()
    rng = np.random.default_rng(0)
    n = 400
    true = [[tax.leaves[j]] for j in rng.integers(0, 6, n)]
    few = [row if rng.random() < 0.5 else [] for row in true]
    many = [sorted({*row, *(tax.leaves[j] for j in rng.permutation(6)[:2])}) for row in true]
    reports = [evaluate(true, sets, tax) for sets in (few, many)]
    truth = tax.closure(tax.encode(true))
    draws = [
        draw_figures(r.own, Pair(truth, tax.closure(tax.encode(sets))), 0, 1000)
        for r, sets in zip(reports, (few, many), strict=True)
    ]
    assert abs(reports[0]["micro_f1"] - reports[1]["micro_f1"]) < 0.1
    assert reports[0].compare(reports[1]).micro.pvalue < 1e-6
    assert paired_pvalue(*draws, "micro_f1") > 1e-3


def test_verdicts_say_what_was_counted(comparison):
    first, *rest = verdict(comparison)
    assert "good is best in micro F1" in first and "more than chance" in first
    assert any("Always giving the most common labels" in text for text in rest)
    report = comparison["good"].report
    said = evaluation_verdict(report, comparison.baseline)
    right = round(report["micro_f1"] * 80)
    assert said.startswith(f"{right} of 80 rows get the right label")
    assert f"would get {comparison.baseline.right} of 80 right" in said


def test_the_interval_of_the_area_holds_it_and_is_that_of_exact_draws(comparison):
    tax, rng = small_taxonomy(), np.random.default_rng(0)
    scores = comparison.truth[:, tax.leaf_numbers].toarray() + rng.normal(size=(80, 6))
    low, high = area_interval(comparison.truth, scores, tax, tax.leaves)
    assert low < au_prc(comparison.truth, scores, tax) < high
    exact = []
    for _ in range(300):
        rows = rng.integers(80, size=80)
        exact.append(au_prc(comparison.truth[rows], scores[rows], tax))
    assert_allclose([low, high], np.quantile(exact, [0.025, 0.975]), atol=0.03)
