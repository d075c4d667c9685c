"""A probability between 0 and 1 with mean p cannot deviate by more than sqrt(p (1 - p))."""

import numpy as np
import pytest

from linnaeus.inference.predictive import probabilities


@pytest.mark.parametrize("link", ["softmax", "binary", "shares"])
@pytest.mark.parametrize("method", ["plugin", "probit", "monte_carlo"])
def test_deviations_stay_possible(link, method):
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(size=(50, 4)), rng.uniform(0, 400, size=(50, 4))
    p, deviation = probabilities(mean, variance, link, method, rng, n_draws=50)
    slack = 1.02 if method == "monte_carlo" else 1 + 1e-12  # n - 1 in the divisor
    assert (deviation <= slack * np.sqrt(p * (1 - p)) + 1e-12).all()


def test_small_deviations_are_first_order():
    p, deviation = probabilities(np.array([[0.3]]), np.array([[0.01]]), "binary")
    assert deviation[0, 0] == pytest.approx(p[0, 0] * (1 - p[0, 0]) * 0.1)
