import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.inference.predictive import METHODS, node_probabilities, probabilities

TAX = Taxonomy.from_edges([("A", "a"), ("A", "b"), ("B", "c"), ("B", "d"), ("B", "e")])
LINKS = ("softmax", "binary", "shares")


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    return rng.normal(size=(6, 5)) * 2, rng.uniform(0.0, 2.0, size=(6, 5))


@pytest.mark.parametrize("link", LINKS)
def test_certain_scores_need_no_correction(scores, link):
    m, s = scores[0], np.zeros((6, 5))
    found = [probabilities(m, s, link, method, n_draws=3) for method in METHODS]
    for p, deviation in found:
        np.testing.assert_allclose(p, found[0][0])
        np.testing.assert_allclose(deviation, 0, atol=1e-7)


def test_monte_carlo_is_the_integral(scores):
    m, s = scores
    p, deviation = probabilities(m, s, "binary", "monte_carlo", np.random.default_rng(1), 40_000)
    for i, k in ((0, 0), (3, 2), (5, 4)):
        density = norm(m[i, k], np.sqrt(s[i, k])).pdf
        mean = quad(lambda g, f=density: expit(g) * f(g), -30, 30, limit=200)[0]
        square = quad(lambda g, f=density: expit(g) ** 2 * f(g), -30, 30, limit=200)[0]
        assert p[i, k] == pytest.approx(mean, abs=0.01)
        assert deviation[i, k] == pytest.approx(np.sqrt(square - mean**2), abs=0.01)


@pytest.mark.parametrize("link", LINKS)
def test_probit_lies_closer_to_the_truth_than_the_means(scores, link):
    m, s = scores
    truth, _ = probabilities(m, s, link, "monte_carlo", np.random.default_rng(2), 20_000)
    error = [np.abs(probabilities(m, s, link, way)[0] - truth).mean() for way in METHODS[:2]]
    assert error[1] < error[0]


@pytest.mark.parametrize("link", LINKS)
def test_deviations_are_right_to_first_order(scores, link):
    m, s = scores[0], 1e-4 * scores[1]
    _, found = probabilities(m, s, link)
    _, drawn = probabilities(m, s, link, "monte_carlo", np.random.default_rng(3), 20_000)
    np.testing.assert_allclose(found, drawn, rtol=0.05, atol=1e-6)


@given(st.integers(0, 2**31), st.sampled_from(LINKS))
@settings(max_examples=30, deadline=None)
def test_probabilities_never_fall_on_the_way_up(seed, link):
    rng = np.random.default_rng(seed)
    p, _ = probabilities(rng.normal(size=(4, 5)) * 5, np.zeros((4, 5)), link)
    above = TAX.ancestor_rows(TAX.leaf_numbers)
    nodes = node_probabilities(p, above, link)
    assert (nodes >= 0).all() and (nodes <= 1).all()
    for parent, child in TAX.edges:
        assert (nodes[:, TAX.index(parent)] >= nodes[:, TAX.index(child)] - 1e-12).all()
    np.testing.assert_allclose(nodes[:, TAX.leaf_numbers], p, atol=1e-12)
    A = nodes[:, TAX.index("A")]
    both = p[:, 0] + p[:, 1]
    np.testing.assert_allclose(A, both - p[:, 0] * p[:, 1] if link == "binary" else both)


def test_a_certain_label_is_certain_above():
    nodes = node_probabilities(np.array([[1.0, 0, 0, 0, 0]]), TAX.ancestor_rows(TAX.leaf_numbers),
                               "binary")  # fmt: skip
    assert nodes[0, TAX.index("A")] == 1 and nodes[0, TAX.index("B")] == 0


def test_what_is_not_known_is_refused(scores):
    with pytest.raises(UserError, match="method='laplace' is not known. Use one of plugin"):
        probabilities(*scores, "softmax", "laplace")
    with pytest.raises(UserError, match="n_draws is 1. Use 2 or more"):
        probabilities(*scores, "softmax", "monte_carlo", n_draws=1)


def test_shares_are_sigmoids_over_their_sum(scores):
    p = expit(scores[0])
    found, _ = probabilities(*scores, "shares")
    np.testing.assert_allclose(found, p / p.sum(axis=1, keepdims=True))
    far, deviation = probabilities(scores[0] - 2000, scores[1], "shares")  # where sigmoids are 0
    np.testing.assert_allclose(far.sum(axis=1), 1)
    assert np.isfinite(deviation).all()
    sure, deviation = probabilities(scores[0][:, :1], scores[1][:, :1], "shares")
    np.testing.assert_allclose(sure, 1)
    np.testing.assert_allclose(deviation, 0, atol=1e-12)
