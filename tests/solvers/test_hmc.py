"""The sampler on densities that are known, diagnostics on chains whose answer is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnaeus.solvers.numerics import hmc

PRECISION = np.array([[2.0, 0.6], [0.6, 0.5]])


def gaussian(q):
    return -0.5 * float(q @ PRECISION @ q), -PRECISION @ q


def autoregressive(rho, n_chains, n, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_chains, n)) * np.sqrt(1 - rho**2)
    out = np.empty((n_chains, n))
    out[:, 0] = rng.normal(size=n_chains)
    for i in range(1, n):
        out[:, i] = rho * out[:, i - 1] + noise[:, i]
    return out


def test_independent_draws_count_in_full():
    draws = np.random.default_rng(0).normal(size=(4, 2500, 5))
    assert_allclose(hmc.ess(draws), 10_000, rtol=0.1)
    assert_allclose(hmc.rhat(draws), 1.0, atol=0.003)


@pytest.mark.parametrize("rho", [-0.3, 0.5, 0.9])
def test_autoregressive_draws_count_as_theory_says(rho):
    found = [hmc.ess(autoregressive(rho, 4, 10_000, seed)) for seed in range(5)]
    assert_allclose(np.mean(found), 40_000 * (1 - rho) / (1 + rho), rtol=0.1)


def test_heavy_tails_do_not_matter():
    """Ranks of Cauchy draws are as good as any."""
    draws = np.random.default_rng(0).standard_cauchy(size=(4, 2500))
    assert_allclose(hmc.ess(draws), 10_000, rtol=0.1)
    assert hmc.rhat(draws) < 1.005


def test_chains_that_differ_are_found_out():
    draws = np.random.default_rng(0).normal(size=(4, 1000))
    assert hmc.rhat(draws + np.array([0, 0, 0, 1.0])[:, None]) > 1.05  # in place
    assert hmc.rhat(draws * np.array([1, 1, 1, 3.0])[:, None]) > 1.05  # in spread
    assert hmc.rhat(draws[:1] + np.linspace(0, 2, 1000)) > 1.05  # halves of one chain
    assert hmc.ess(draws + np.array([0, 0, 0, 3.0])[:, None]) < 50


def test_constant_chains_have_no_answer():
    assert np.isnan(hmc.ess(np.ones((2, 10))))
    assert np.isnan(hmc.rhat(np.ones((2, 10))))


def test_autocovariances_are_those_of_the_definition():
    draws = np.random.default_rng(0).normal(size=(2, 9)).cumsum(axis=1)
    centred = draws - draws.mean(axis=1, keepdims=True)
    plain = [[c[: 9 - lag] @ c[lag:] / 9 for lag in range(9)] for c in centred]
    assert_allclose(hmc.autocovariances(draws), plain, atol=1e-12)


def test_a_trajectory_can_be_gone_back():
    follow = hmc.leapfrog(gaussian)
    q, p = np.array([0.3, -1.0]), np.array([1.0, 0.5])
    q1, g1, p1, value = follow(q, gaussian(q)[1], p, 0.1, 25)
    assert_allclose(value, gaussian(q1)[0])
    back = follow(q1, g1, -p1, 0.1, 25)
    assert_allclose(back[0], q, atol=1e-12)
    assert_allclose(-back[2], p, atol=1e-12)


def test_the_energy_error_falls_with_the_square_of_the_step():
    q, p = np.array([0.3, -1.0]), np.array([1.0, 0.5])
    start, errors = gaussian(q)[0] - 0.5 * p @ p, []
    for step, n in ((0.1, 10), (0.05, 20)):
        _, _, p1, value = hmc.leapfrog(gaussian)(q, gaussian(q)[1], p, step, n)
        errors.append(abs(value - 0.5 * p1 @ p1 - start))
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_hmc_samples_a_gaussian_and_tunes_its_step():
    rng, q = np.random.default_rng(0), np.zeros(2)
    point, follow, size = hmc.Point(q, *gaussian(q)), hmc.leapfrog(gaussian), hmc.StepSize(0.1)
    draws, accepted = [], []
    for i in range(3500):
        step = size.now if i < 500 else size.final
        found = hmc.hmc_step(rng, point, follow, step, 3)
        point = found.point
        assert not found.divergent or i < 500
        if i < 500:
            size.learn(found.acceptance)
        else:
            draws.append(point.q)
            accepted.append(found.acceptance)
    assert 0.7 < np.mean(accepted) < 0.95
    draws = np.array(draws)[None]
    covariance = np.linalg.inv(PRECISION)
    se = np.sqrt(np.diag(covariance) / hmc.ess(draws))
    assert (np.abs(draws[0].mean(axis=0)) < 4 * se).all()
    assert_allclose(np.cov(draws[0].T), covariance, atol=0.3)


def test_a_trajectory_that_flies_off_is_divergent_and_stays():
    q = np.array([1.0, 1.0])
    point = hmc.Point(q, *gaussian(q))
    rng = np.random.default_rng(0)
    for n_steps in (50, 5000):  # a large number, or none at all
        found = hmc.hmc_step(rng, point, hmc.leapfrog(gaussian), 5.0, n_steps)
        assert found.divergent and found.acceptance == 0.0
        assert found.point is point
