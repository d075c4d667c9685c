"""Rank, score, instance and size cuts on bare scores, against plain definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score

from linnaeus.decisions import (
    Argmax,
    InstanceCut,
    RCut,
    SCut,
    SetSize,
    Threshold,
    ideal_cuts,
)
from linnaeus.errors import UserError
from linnaeus.inference.rows import top_columns, top_mask


@st.composite
def scored(draw, max_rows=6, max_labels=6, min_labels=1):
    """Scores with ties, and label sets."""
    shape = draw(st.integers(1, max_rows)), draw(st.integers(min_labels, max_labels))
    scores = draw(hnp.arrays(float, shape, elements=st.integers(-6, 6).map(lambda x: x / 4)))
    return scores, draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1)))


def random_problem(seed=0, n=60, k=7):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, k)) < 0.3).astype(int)
    return Y + rng.normal(scale=0.7, size=(n, k)) + rng.normal(size=(n, 1)), Y


# -- the highest scores ----------------------------------------------------------------------


@given(scored(), st.integers(1, 7))
def test_top_scores_with_ties_to_the_lower_column(problem, k):
    scores, _ = problem
    k = min(k, scores.shape[1])
    expected = [sorted(range(len(s)), key=lambda j, s=s: (-s[j], j))[:k] for s in scores]
    assert top_columns(scores, k).tolist() == expected
    on = top_mask(scores, k)
    assert [sorted(e) for e in expected] == [np.flatnonzero(row).tolist() for row in on]


@pytest.mark.parametrize("k", [1, 5, 30])
def test_top_scores_of_many_rows_some_of_them_absent(k):
    rng = np.random.default_rng(0)
    scores = rng.integers(-9, 9, size=(3000, 40)).astype(float)  # more than one block
    scores[rng.random(scores.shape) < 0.5] = -np.inf
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    assert_array_equal(top_columns(scores, k), expected)


@given(scored(), st.integers(-3, 3))
def test_argmax_is_the_first_maximum_and_ignores_constants(problem, constant):
    scores, _ = problem
    on = Argmax().decide(scores)
    assert on.indices.tolist() == scores.argmax(axis=1).tolist()
    assert_array_equal(Argmax().decide(scores + constant).toarray(), on.toarray())


def test_threshold_and_at_least_one():
    scores = [[-1.0, 0.0, 2.0], [-3.0, -2.0, -2.0]]
    assert Threshold().decide(scores).toarray().tolist() == [[0, 0, 1], [0, 0, 0]]
    on = Threshold(threshold=[-2, -2, 5], at_least_one=True).decide(scores)
    assert on.toarray().tolist() == [[1, 1, 0], [0, 1, 0]]
    with pytest.raises(UserError, match=r"threshold has the shape \(2,\), but there are 3 labels"):
        Threshold(threshold=[0, 0]).decide(scores)


# -- RCut ------------------------------------------------------------------------------------


@given(scored())
def test_rcut_chooses_the_best_k_and_takes_exactly_k(problem):
    scores, Y = problem
    rcut = RCut().fit_scores(scores, sp.csr_array(Y))
    tries = range(1, scores.shape[1] + 1)
    f1 = [2 * (top_mask(scores, k) & (Y > 0)).sum() / (len(Y) * k + Y.sum()) for k in tries]
    assert rcut.k_ == int(np.argmax(f1)) + 1
    assert (rcut.decide(scores).sum(axis=1) == rcut.k_).all()


def test_rcut_finds_a_large_k():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20, 300))
    Y = np.zeros((20, 300), dtype=int)
    np.put_along_axis(Y, np.argsort(-scores, axis=1)[:, :150], 1, axis=1)
    assert RCut().fit_scores(scores, Y).k_ == 150


def test_rcut_refuses_impossible_k():
    with pytest.raises(UserError, match=r"k=4 labels cannot be taken of 3. Use 1 to 3."):
        RCut(k=4).decide(np.zeros((1, 3)))


# -- SCut ------------------------------------------------------------------------------------


def column_f1(on, Y):
    return f1_score(Y, on, average=None, zero_division=0.0)


@given(scored(min_labels=2))
def test_scut_beats_every_common_threshold(problem):
    scores, Y = problem
    scut = SCut().fit_scores(scores, Y)
    ours = column_f1(scut.decide(scores).toarray(), Y)
    assert_allclose(ours, scut.f1_)
    for t in np.unique(scores):
        assert (ours >= column_f1((scores >= t).astype(int), Y) - 1e-12).all()


def test_scut_thresholds_lie_midway_and_fall_back():
    scores = np.array([[4.0, 1.0, 3.0], [2.0, 2.0, 2.0], [1.0, 3.0, 1.0]])
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    scut = SCut().fit_scores(scores, Y)
    assert scut.thresholds_.tolist() == [1.5, np.inf, 1.0]
    assert_allclose(scut.f1_, [1.0, 0.0, 0.5])
    best = SCut(floor=0.6, fallback="best").fit_scores(scores, Y)
    assert best.thresholds_.tolist() == [1.5, 3.0, 3.0]
    with pytest.raises(UserError, match=r"fallback='zero' is not known. Use 'inf' or 'best'"):
        SCut(fallback="zero").fit_scores(scores, Y)


@given(scored(min_labels=2))
def test_the_common_threshold_has_the_best_pooled_f1(problem):
    scores, Y = problem
    rule = SCut(shrink="all").fit_scores(scores, Y)
    assert len(set(rule.thresholds_)) == 1
    best = [f1_score(Y, scores >= t, average="micro", zero_division=0.0) for t in np.unique(scores)]
    ours = f1_score(Y, rule.decide(scores).toarray(), average="micro", zero_division=0.0)
    assert_allclose(ours, max(best))


def test_thresholds_of_few_examples_shrink_towards_the_common_one():
    rng = np.random.default_rng(0)
    Y = np.zeros((200, 3), dtype=int)
    Y[:100, 0] = Y[:2, 1] = 1  # 100 examples, 2, none
    scores = rng.normal(size=Y.shape) + 2 * Y
    scores[:, 1] -= 5  # so that its own threshold is very low
    own, common = (SCut(shrink=s).fit_scores(scores, Y).thresholds_ for s in (0.0, "all"))
    for m in (1.0, 10.0):
        found = SCut(shrink=m).fit_scores(scores, Y).thresholds_
        n = np.array([100, 2])
        assert_allclose(found[:2], (n * own[:2] + m * common[:2]) / (n + m))
        assert found[2] == common[2]
    never = SCut(shrink=10.0, floor=2.0).fit_scores(scores, Y).thresholds_
    assert never.tolist() == [np.inf, np.inf, common[0]]  # the fallback says never


def test_labels_far_down_their_row_stay_off():
    """A rare label with a low threshold of its own, which has rank 5 in a row."""
    rng = np.random.default_rng(1)
    Y = np.zeros((60, 6), dtype=int)
    Y[np.arange(60), rng.integers(0, 5, 60)] = 1
    Y[:12, 5] = 1
    scores = 2.0 * Y + 0.1 * rng.normal(size=Y.shape)
    scores[:, 5] = Y[:, 5] - 5.0
    row = np.array([[0.1, 0.2, 0.3, 0.4, -9.0, -4.0]])
    assert SCut().fit_scores(scores, Y).decide(row).toarray()[0, 5] == 1
    guarded = SCut(top_k="fit").fit_scores(scores, Y)
    assert guarded.top_k_ == 3  # twice 72 labels in 60 rows
    assert guarded.decide(row).nnz == 0
    filled = SCut(top_k="fit", at_least_one=True).fit_scores(scores, Y)
    assert filled.decide(row).toarray().tolist() == [[0, 0, 0, 1, 0, 0]]
    assert SCut(top_k=5).fit_scores(scores, Y).decide(row).toarray()[0, 5] == 1


def test_scut_separates_neighbouring_floats():
    lower = 1.0
    scores = np.array([[lower], [np.nextafter(lower, 2)]])
    scut = SCut().fit_scores(scores, sp.csr_array([[0], [1]]))
    assert scut.decide(scores).toarray().ravel().tolist() == [0, 1]


# -- ideal cuts ------------------------------------------------------------------------------


def errors_at(scores, truth, t):
    """Of a threshold that is no score."""
    return int(((scores <= t) & (truth > 0)).sum() + ((scores >= t) & (truth == 0)).sum())


def intervals(scores):
    """Distinct scores, and a point in each interval between them, the lowest first."""
    s = np.unique(scores)
    return s, [s[0] - 1, *((s[:-1] + s[1:]) / 2), s[-1] + 1]


@given(scored())
def test_lowest_rule_by_definition(problem):
    scores, Y = problem
    cuts = ideal_cuts(scores, sp.csr_array(Y), "lowest")
    for i, (row, truth) in enumerate(zip(scores, Y, strict=True)):
        _, points = intervals(row)
        costs = [errors_at(row, truth, t) for t in points]
        assert cuts.errors[i] == min(costs)
        assert cuts.threshold[i] == pytest.approx(points[int(np.argmin(costs))])
        assert cuts.size[i] == (row > cuts.threshold[i]).sum()


@given(scored())
def test_widest_rule_by_definition(problem):
    scores, Y = problem
    cuts = ideal_cuts(scores, sp.csr_array(Y), "widest")
    for i, (row, truth) in enumerate(zip(scores, Y, strict=True)):
        s, points = intervals(row)
        gap = np.median(np.diff(s)) if len(s) > 1 else 1.0
        costs = [errors_at(row, truth, t) for t in points]
        widths = [gap, *np.diff(s), gap]
        points[0], points[-1] = s[0] - gap / 2, s[-1] + gap / 2
        best = min(range(len(points)), key=lambda j: (costs[j], -widths[j], j))
        assert cuts.errors[i] == costs[best]
        assert cuts.threshold[i] == pytest.approx(points[best])
        assert cuts.size[i] == (row > cuts.threshold[i]).sum()


def test_cutoff_target_golden_values(golden_file):
    for case in golden_file("recursive_and_bayes")["metrics"]["cutoff_target"]:
        scores = np.array([case["scores"]])
        Y = np.zeros(scores.shape, dtype=np.int8)
        Y[0, case["positives"]] = 1
        cuts = ideal_cuts(scores, sp.csr_array(Y), "widest")
        assert cuts.threshold[0] == pytest.approx(case["theta"], abs=1e-12)
        assert (cuts.size[0], cuts.errors[0]) == (case["k"], case["errors"])


# -- SetSize ---------------------------------------------------------------------------------


def test_set_size_golden_values(golden_file):
    case = golden_file("ranking")["set_size"]
    scores = np.array(case["scores"])
    Y = np.zeros(scores.shape, dtype=int)
    for i, labels in enumerate(case["Y"]):
        Y[i, labels] = 1
    rule = SetSize().fit_scores(scores, Y)
    assert_allclose(rule.thresholds_, case["ideal_thresholds"], atol=1e-12)
    assert rule.costs_.tolist() == case["ideal_costs"]
    assert_allclose([*rule.coef_, rule.intercept_], case["coef_with_intercept_last"], atol=1e-9)
    assert_allclose(rule.predicted_thresholds(scores), case["predicted_thresholds"], atol=1e-9)
    on = rule.decide(scores)
    assert np.split(on.indices, on.indptr[1:-1])[0].tolist() == case["predicted_sets"][0]
    assert [np.flatnonzero(row).tolist() for row in on.toarray()] == case["predicted_sets"]


def test_set_size_least_norm_when_labels_outnumber_examples():
    scores, Y = random_problem(n=4, k=9)
    rule = SetSize().fit_scores(scores, Y)
    A = np.hstack([scores, np.ones((4, 1))])
    assert_allclose([*rule.coef_, rule.intercept_], np.linalg.pinv(A) @ rule.thresholds_)


@pytest.mark.parametrize("top_k", [None, 3, 50])
def test_set_size_by_number_of_labels(top_k):
    scores, Y = random_problem()
    rule = SetSize(mode="size", top_k=top_k).fit_scores(scores, Y)
    expected = np.clip(np.rint(rule.predicted_thresholds(scores)), 1, 7).astype(int)
    on = rule.decide(scores).toarray()
    assert_array_equal(rule.thresholds_, Y.sum(axis=1))
    for row, s, size in zip(on, scores, expected, strict=True):
        assert np.flatnonzero(row).tolist() == sorted(np.argsort(-s)[:size].tolist())


def test_sorted_scores_make_set_size_blind_to_the_order_of_labels():
    scores, Y = random_problem()
    rule = SetSize(top_k=4).fit_scores(scores, Y)
    back = scores[:, ::-1]
    assert_allclose(rule.predicted_thresholds(back), rule.predicted_thresholds(scores))
    assert rule.coef_.shape == (4,)


# -- InstanceCut -----------------------------------------------------------------------------


def test_instance_cut_is_ridge_on_the_shape_of_the_scores():
    scores, Y = random_problem(k=60)
    rule = InstanceCut(alpha=0.3).fit_scores(scores, Y)
    s = -np.sort(-scores, axis=1)[:, :50]
    phi = np.column_stack([s, s[:, :-1] - s[:, 1:], s.mean(axis=1), s.std(axis=1)])
    centred, target = phi - phi.mean(axis=0), rule.thresholds_ - rule.thresholds_.mean()
    v = np.linalg.solve(centred.T @ centred + 0.3 * np.eye(phi.shape[1]), centred.T @ target)
    assert_allclose(rule.coef_, v, atol=1e-8)
    theta = rule.thresholds_.mean() + centred @ v
    assert_allclose(rule.predicted_thresholds(scores), theta, atol=1e-8)
    on = rule.decide(scores).toarray() > 0
    expected = scores >= theta[:, None]
    assert_array_equal(on, expected | (~expected.any(axis=1, keepdims=True) & top_mask(scores, 1)))
    assert on.any(axis=1).all()


@pytest.mark.parametrize("features", ["top", "full"])
def test_instance_cut_does_not_mind_a_constant(features):
    scores, Y = random_problem()
    rule = InstanceCut(features=features).fit_scores(scores, Y)
    shifted = InstanceCut(features=features).fit_scores(scores + 5, Y)
    assert_array_equal(shifted.decide(scores + 5).toarray(), rule.decide(scores).toarray())
    assert rule.coef_.shape == ((15,) if features == "top" else (9,))


def test_instance_cut_refusals():
    scores, Y = np.zeros((2, 1001)), np.zeros((2, 1001), dtype=int)
    with pytest.raises(UserError, match=r"up to 1000 labels, but there are 1001"):
        InstanceCut(features="full").fit_scores(scores, Y)
    with pytest.raises(UserError, match=r"features='most' is not known"):
        InstanceCut(features="most").fit_scores(scores, Y)
    with pytest.raises(UserError, match=r"mode='count' is not known"):
        SetSize(mode="count").fit_scores(scores, Y)
    with pytest.raises(UserError, match=r"top_k is 0. It must be a positive whole number or None"):
        SetSize(top_k=0).fit_scores(scores, Y)


# -- all of them -----------------------------------------------------------------------------

RULES = [
    Argmax(), Threshold(), RCut(), SCut(), InstanceCut(), InstanceCut(features="full"),
    SetSize(), SetSize(top_k=3), SetSize(mode="size"),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_blocks_and_types_of_scores_change_nothing(rule, monkeypatch):
    scores, Y = random_problem()
    scores = scores.astype(np.float32)
    whole = rule.fit_scores(scores, Y).decide(scores)
    monkeypatch.setattr("linnaeus.inference.rows.BLOCK_ENTRIES", 20)
    parts = rule.fit_scores(scores, sp.csr_matrix(Y)).decide(np.asfortranarray(scores))
    assert_array_equal(parts.toarray(), whole.toarray())
    assert whole.dtype == np.int8 and isinstance(whole, sp.csr_array)
    assert rule.decide(scores[:0]).shape == (0, 7)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_bad_scores_are_refused(rule):
    scores, Y = random_problem()
    rule.fit_scores(scores, Y)
    bad = scores.copy()
    bad[5, 2] = np.nan
    with pytest.raises(UserError, match=r"label 2 in row 5 is nan"):
        rule.decide(bad)
    with pytest.raises(UserError, match=r"scores have 6 columns, but \w+ was fitted on 7"):
        rule.decide(scores[:, 1:])
    with pytest.raises(UserError, match=r"60 rows of scores and 59 label sets"):
        rule.fit_scores(scores, Y[1:])
    with pytest.raises(UserError, match=r"scores have 6 columns, but Y_true has 7 labels"):
        rule.fit_scores(scores[:, 1:], Y)
    if rule._learns():
        with pytest.raises(UserError, match=r"label 2 in row 5 is nan"):
            rule.fit_scores(bad, Y)
