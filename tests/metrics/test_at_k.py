"""Metrics of the first k classes against their definitions and scikit-learn."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from linnaeus import Taxonomy, metrics
from linnaeus.errors import UserError

METRICS = {
    "precision": metrics.precision_at,
    "recall": metrics.recall_at,
    "ndcg": metrics.ndcg_at,
    "propensity": metrics.propensity_precision_at,
}


@st.composite
def cases(draw):
    """Label sets, scores with ties and absent ones, and a number of ranks."""
    n, q = draw(st.integers(1, 5)), draw(st.integers(2, 6))
    sets = draw(st.lists(st.sets(st.integers(0, q - 1)), min_size=n, max_size=n))
    score = st.one_of(st.integers(-2, 2).map(float), st.just(-math.inf))
    rows = draw(st.lists(st.lists(score, min_size=q, max_size=q), min_size=n, max_size=n))
    assume(any(sets))
    return sets, np.array(rows), draw(st.integers(1, q))


def indicator(sets, q):
    return np.array([[int(j in labels) for j in range(q)] for labels in sets])


def first(scores, k):
    """The k classes with the highest scores, by sorting."""
    order = sorted((-s, j) for j, s in enumerate(scores) if s > -math.inf)
    return [j for _, j in order[:k]]


def weights(sets, q, counts=None, n=None):
    """One over the propensity of each class."""
    counts = [sum(j in labels for labels in sets) for j in range(q)] if counts is None else counts
    n = len(sets) if n is None else n
    c = max(0.0, math.log(n) - 1) * 2.5**0.55
    return [1 + c * math.exp(-0.55 * math.log(count + 1.5)) for count in counts]


def plain(name, sets, S, k):
    rows = [(labels, first(s, k)) for labels, s in zip(sets, S, strict=True) if labels]
    if name == "precision":
        return np.mean([len(labels & set(got)) / k for labels, got in rows])
    if name == "recall":
        return np.mean([len(labels & set(got)) / len(labels) for labels, got in rows])
    if name == "ndcg":
        values = []
        for labels, got in rows:
            gain = sum(1 / math.log2(r + 2) for r, j in enumerate(got) if j in labels)
            values.append(gain / sum(1 / math.log2(r + 2) for r in range(min(k, len(labels)))))
        return np.mean(values)
    w = weights(sets, S.shape[1])
    got = sum(w[j] for labels, found in rows for j in found if j in labels)
    return got / sum(sum(sorted((w[j] for j in labels), reverse=True)[:k]) for labels, _ in rows)


@settings(max_examples=100)
@given(cases())
def test_metrics_follow_their_definitions(case):
    sets, S, k = case
    Y = indicator(sets, S.shape[1])
    rows, columns = np.nonzero(-math.inf < S)
    sparse = sp.csr_array((S[rows, columns], (rows, columns)), shape=S.shape)
    for name, metric in METRICS.items():
        expected = plain(name, sets, S, k)
        for form in (S, sparse, S.astype(np.float32)):
            np.testing.assert_allclose(metric(Y, form, k=k), expected, atol=1e-12, err_msg=name)


@given(cases())
def test_the_truth_scores_best_and_only_the_order_counts(case):
    sets, S, k = case
    Y = indicator(sets, S.shape[1])
    truth = Y * weights(sets, S.shape[1])  # of several labels, the rare ones first
    for name, metric in METRICS.items():
        value, best = metric(Y, S, k=k), metric(Y, truth, k=k)
        assert value <= best + 1e-12
        assert name in ("precision", "recall") or np.isclose(best, 1)
        np.testing.assert_allclose(metric(Y, np.exp(S) + np.where(S > -9, 0, -np.inf), k=k), value)
        np.testing.assert_allclose(metric(Y[::-1], S[::-1], k=k), value)


@given(st.integers(0, 1000))
def test_the_order_of_columns_does_not_matter_without_ties(seed):
    rng = np.random.default_rng(seed)
    Y, S, order = rng.integers(0, 2, (6, 5)), rng.normal(size=(6, 5)), rng.permutation(5)
    Y[0, 0] = 1
    for metric in METRICS.values():
        assert np.isclose(metric(Y, S, k=3), metric(Y[:, order], S[:, order], k=3))


@given(st.integers(0, 1000))
def test_without_ties_the_gain_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    Y, S = rng.integers(0, 2, (5, 6)), rng.permuted(np.tile(np.arange(6.0), (5, 1)), axis=1)
    Y[:, 0] |= Y.sum(axis=1) == 0
    for k in (1, 3, 6):
        assert np.isclose(metrics.ndcg_at(Y, S, k=k), ndcg_score(Y, S, k=k))


def test_precision_at_k_counts_the_first_k_and_breaks_ties_by_number():
    Y = np.array([[1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    S = np.array([[1.0, 5, 4, 1], [2, 2, 2, 2], [1, 2, 3, 4]])
    assert metrics.precision_at(Y, S) == 0
    assert metrics.precision_at(Y, S, k=2) == (1 / 2 + 0) / 2
    assert metrics.precision_at(Y, S, k=3) == (2 / 3 + 0) / 2
    assert metrics.precision_at(Y, S, k=4) == (2 / 4 + 1 / 4) / 2
    assert metrics.recall_at(Y, S, k=4) == 1


def test_propensities_may_come_from_the_training_labels():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("r", "c")])
    y, S = ["a", "b", "c", "a"], np.array([[3.0, 2, 1], [3, 2, 1], [1, 2, 3], [3, 1, 2]])
    w = weights([], 3, [500, 30, 2], 1000)
    for counts in ([500, 30, 2], {"c": 2, "a": 500, "b": 30}, [0, 500, 30, 2]):
        got = metrics.propensity_precision_at(y, S, tax, counts=counts, n_train=1000)
        assert np.isclose(got, (2 * w[0] + w[2]) / (2 * w[0] + w[1] + w[2]))
    raw = metrics.propensity_precision_at(y, S, tax, counts=counts, n_train=1000, normalize=False)
    assert np.isclose(raw, (2 * w[0] + w[2]) / 4)
    names = {"a": 500, "b": 30, "c": 2}
    got = metrics.propensity_precision_at(y, S, classes=["a", "b", "c"], counts=names, n_train=1000)
    assert np.isclose(got, (2 * w[0] + w[2]) / (2 * w[0] + w[1] + w[2]))


def test_rows_without_labels_are_left_out():
    Y, S = np.array([[0, 0], [1, 0]]), np.array([[1.0, 2], [2, 1]])
    for metric in METRICS.values():
        assert metric(Y, S) == 1
        with pytest.warns(UserWarning, match="No row has a label"):
            assert np.isnan(metric(Y[:1], S[:1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 3}, "k is 3, but there are 2 classes. Use a whole number from 1 to 2"),
        ({"k": 0}, "k is 0"),
        ({"k": 1.0}, "k is 1.0"),
        ({"counts": [1, 2]}, "counts is given without n_train"),
        ({"n_train": 3}, "n_train is given without counts"),
        ({"counts": [1, 2], "n_train": 0}, "n_train is 0"),
        ({"counts": [1], "n_train": 5}, "1 counts for 2 columns"),
    ],
)
def test_errors_name_the_thing_the_value_and_the_remedy(options, message):
    with pytest.raises(UserError, match=message):
        metrics.propensity_precision_at(np.eye(2), np.zeros((2, 2)), **options)
