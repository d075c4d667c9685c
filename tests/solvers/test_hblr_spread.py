"""Variances for probabilities: secants, sparse data, and what long chains say."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, softmax

from linnaeus import HBLR, CorrelatedMNL, Taxonomy
from linnaeus.inference import predictive
from linnaeus.solvers.bayes.hblr_spread import secant_curvature, secant_variances


def test_the_secant_parabola_lies_above_the_loss():
    p = np.array([1e-12, 1e-3, 0.2, 0.5, 0.50001, 0.9, 1 - 1e-9])
    c = secant_curvature(p)
    assert c[3] == 0.25 and (c >= p * (1 - p) - 1e-12).all()
    z, x = np.log(p / (1 - p))[:, None], np.linspace(-40, 40, 401)
    touching = np.logaddexp(0, z) + 0.5 * (x - z) + 0.5 * c[:, None] * (x**2 - z**2)
    assert (touching >= np.logaddexp(0, x) - 1e-9).all()
    assert np.isfinite(secant_curvature([0.0, 1.0])).all()


@pytest.mark.parametrize("link", ["softmax", "binary"])
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_variances_are_sums_over_rows(link, share):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < share)
    mu, A, weight = rng.normal(size=(3, 5)), rng.uniform(1, 2, (3, 1)), rng.uniform(1, 2, 30)
    Z = np.hstack([X, np.full((30, 1), 2.0)])
    p = softmax(Z @ mu.T, axis=1) if link == "softmax" else expit(Z @ mu.T)
    h = (weight[:, None] * secant_curvature(p)).T @ Z**2 + A
    noise = (weight[:, None] * p * (1 - p)).T @ Z**2
    want = 1 / h if share == 1.0 else noise / h**2
    found = secant_variances(sp.csr_array(X), mu, A, link, weight, 2.0)
    np.testing.assert_allclose(found, want)


def test_joint_probabilities_do_not_depend_on_a_common_shift(monkeypatch):
    rng = np.random.default_rng(0)
    m, s = 3 * rng.normal(size=(20, 9)), rng.uniform(0, 5, (20, 9))
    p = predictive.joint_softmax(m, s)
    np.testing.assert_allclose(predictive.joint_softmax(m + 7.0, s), p)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    two = predictive.joint_softmax(m[:, :2], s[:, :2])
    away = (m[:, 0] - m[:, 1]) / np.sqrt(1 + np.pi / 8 * s[:, :2].sum(axis=1))
    np.testing.assert_allclose(two[:, 0], expit(away))
    monkeypatch.setattr(predictive, "RIVALS", 6)
    np.testing.assert_allclose(predictive.joint_softmax(m, s), p, atol=0.03)


@pytest.mark.slow
def test_joint_probabilities_are_nearest_to_those_of_long_chains():
    rng = np.random.default_rng(8)
    tax = Taxonomy.from_edges([(f"F{k % 2}", f"c{k}") for k in range(8)])
    t = np.resize(np.arange(8), 150)
    centre = 3 * rng.normal(size=(8, 10)) / np.sqrt(10)
    X, X_test = (centre[t] + rng.normal(size=(150, 10)) for _ in range(2))
    y = np.array([f"c{k}" for k in t])
    chains = CorrelatedMNL(tax, a=5e5, b=1e6, n_samples=3000, random_state=0).fit(X, y)
    assert max(np.max(chains.rhat_[k]) for k in ("coef", "log_likelihood")) < 1.01
    truth = chains.predict_proba(X_test)
    model = HBLR(tax, "M1", prior=(5e11, 1e12)).fit(X, y)
    mean, wide = (v[:, tax.numbers(list(model.classes_))] for v in model.score_moments(X_test))

    def away(p):
        return np.abs(p - truth).sum(axis=1).mean()

    joint = away(model.predict_proba(X_test, method="joint"))
    assert joint < away(model.predict_proba(X_test))
    assert joint < 0.8 * away(predictive.probabilities(mean, wide, "softmax", "probit")[0])
