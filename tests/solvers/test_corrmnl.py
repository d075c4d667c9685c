"""The correlated logit against plain formulas, quadrature and its own prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import digamma, expit, log_softmax, polygamma

from linnaeus.errors import UserError
from linnaeus.execution import Threads
from linnaeus.solvers.bayes import corrmnl
from linnaeus.solvers.bayes import corrmnl_fast as fast
from linnaeus.solvers.bayes.hblr_model import tree_of
from linnaeus.solvers.numerics import hmc

TREE = tree_of([-1, 0, 0, 1, 1, 2, 2, 2], [3, 4, 5, 6, 7])
PLAN = corrmnl.Plan(400, 600, 2, 0.8)


def points(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    t = np.resize(np.arange(5), n)
    return rng.normal(size=(5, d))[t] + rng.normal(size=(n, d)), t


def chain_of(X, t, tree=TREE, prior=(2.0, 1.5), seed=0, weight=None):
    data = corrmnl.reduce(X, t, 1.0, weight)
    return corrmnl._Chain(data, tree, prior, PLAN, np.random.default_rng(seed))


def by_hand(chain, B, level, tree=TREE):
    """The log density in B and log(alpha), from the definition."""
    owners = np.unique(tree.parent[tree.parent >= 0]).tolist()
    alpha = dict(zip(owners, np.exp(level), strict=True))
    below = [v for v in range(tree.n_nodes) if tree.parent[v] >= 0]
    phi = {v: B[i] / np.sqrt(alpha[tree.parent[v]]) for i, v in enumerate(below)}
    W = []
    for leaf in tree.leaves:
        w, v = 0.0, int(leaf)
        while tree.parent[v] >= 0:
            w, v = w + phi[v], int(tree.parent[v])
        W.append(w)
    data = chain.data
    P = log_softmax(data.X @ np.array(W).T, axis=1)
    fit = data.cost @ P[np.arange(data.t.size), data.t]
    a, b = chain.model.a, chain.model.b
    return fit - 0.5 * (B**2).sum() + (a * level - b * np.exp(level)).sum(), fit


def test_the_density_is_that_of_the_definition_and_its_gradient_that_of_differences():
    X, t = points()
    chain = chain_of(X, t, weight=np.linspace(0.5, 2, 40))
    rng = np.random.default_rng(1)
    chain.B, chain.level = rng.normal(size=chain.B.shape), rng.normal(size=3)
    chain._look()
    assert_allclose((chain.point.value, chain.fit), by_hand(chain, chain.B, chain.level))
    q, gradient = chain.point.q, chain.point.gradient
    work = np.empty_like(q)

    def value(at):
        return fast.trajectory(chain.model, chain.space, chain.work, at, work, at, 0.0, 0)[0]

    for j in rng.choice(q.size, 12, replace=False).tolist() + list(range(q.size - 3, q.size)):
        h = np.zeros_like(q)
        h[j] = 1e-5
        assert_allclose(gradient[j], (value(q + h) - value(q - h)) / 2e-5, atol=1e-5)


def test_the_compiled_trajectory_is_the_plain_one():
    chain = chain_of(*points())

    def density(q):
        gradient = np.empty_like(q)
        space = chain.space
        return fast.trajectory(chain.model, space, chain.work, q, gradient, q, 0.0, 0)[0], gradient

    p = np.random.default_rng(0).normal(size=chain.point.q.size)
    plain = hmc.leapfrog(density)(chain.point.q, chain.point.gradient, p, 0.1, 7)
    ours = chain._follow(chain.point.q, chain.point.gradient, p.copy(), 0.1, 7)
    for a, b in zip(plain, ours, strict=True):
        assert_allclose(a, b, rtol=1e-10)


def test_two_classes_and_one_feature_are_as_by_quadrature():
    """Without alpha the difference d of the weights has the prior (b + d^2/4)^-(a + 1/2)."""
    x, t = np.array([1.0, -0.5, 2.0, 0.3, 1.2]), np.array([1, 0, 1, 1, 0])
    a, b = 1.5, 0.7
    sign = 2 * t - 1

    def mass(d):
        return (b + d * d / 4) ** -(a + 0.5) * np.prod(expit(sign * x * d))

    z = quad(mass, -60, 60, limit=500)[0]
    mean = quad(lambda d: d * mass(d), -60, 60, limit=500)[0] / z
    chance = quad(lambda d: expit(1.5 * d) * mass(d), -60, 60, limit=500)[0] / z
    data = corrmnl.reduce(x[:, None], t)
    plan = corrmnl.Plan(500, 4000, 2, 0.8)
    found = corrmnl.sample(data, tree_of([2, 2, -1], [0, 1]), (a, b), plan, seed=0)
    W = found.watched["coef"] * data.basis[0, 0]
    d = W[:, :, 1] - W[:, :, 0]
    for draws, exact in ((d, mean), (expit(1.5 * d), chance)):
        error = draws.std() / np.sqrt(hmc.ess(draws))
        assert error < 0.05
        assert abs(draws.mean() - exact) < 4 * error


def test_the_chain_leaves_the_joint_distribution_as_it_is():
    """Labels drawn from the model between iterations: parameters must stay as under the prior."""
    rng = np.random.default_rng(0)
    X, t = points(n=12, d=2)
    chain = chain_of(X, t, prior=(3.0, 2.0))
    levels, norms = [], []
    for i in range(6000):
        chain._unpack()
        scores = chain.model.X @ (chain.paths @ chain.work.phi).T + rng.gumbel(size=(12, 5))
        chain.model.t[:] = scores.argmax(axis=1)
        chain._look()
        chain.move(0.35, warming=False)
        chain.draw_precisions()
        chain._unpack()
        if i >= 200:
            levels.append(chain.level)
            norms.append((chain.B**2).mean(axis=1))
    levels, norms = np.array(levels)[None], np.array(norms)[None]
    centre = digamma(3.0) - np.log(2.0)
    for draws, mean in (
        (levels, centre),
        ((levels - centre) ** 2, polygamma(1, 3.0)),
        (norms, 1.0),
    ):
        error = draws.std(axis=1)[0] / np.sqrt(hmc.ess(draws))
        assert (hmc.ess(draws) > 200).all()
        assert (np.abs(draws.mean(axis=1)[0] - mean) < 4 * error).all()


def test_directions_without_examples_are_left_out():
    X, t = points(n=6, d=3)
    wide = np.hstack([X, np.zeros((6, 50)), X])
    data = corrmnl.reduce(wide, t, 0.0)
    assert data.X.shape == (6, 3)
    assert_allclose(data.X @ data.basis.T, wide, atol=1e-12)
    assert_allclose(data.basis.T @ data.basis, np.eye(3), atol=1e-12)
    assert_allclose(data.X.T @ data.X, np.diag(data.spread), atol=1e-10)


def test_weights_are_repetitions():
    """The densities are the same; draws then differ by rounding only, which chains make large."""
    X, t = points(n=15)
    weight = np.resize([0, 1, 2], 15)
    again = np.repeat(np.arange(15), weight)
    one, other = chain_of(X, t, weight=weight), chain_of(X[again], t[again])
    assert_allclose(one.data.spread, other.data.spread)
    turn = one.data.basis.T @ other.data.basis  # columns may have other signs
    rng = np.random.default_rng(0)
    B, level = rng.normal(size=one.B.shape), rng.normal(size=3)
    assert_allclose(by_hand(one, B, level)[0], by_hand(other, B @ turn, level)[0])


def test_chains_agree_and_do_not_depend_on_threads():
    X, t = points()
    data = corrmnl.reduce(X, t, 1.0)
    told = []
    one = corrmnl.sample(
        data, TREE, (1.0, 1.0), PLAN, seed=3, callback=lambda *done: told.append(done)
    )
    two = corrmnl.sample(data, TREE, (1.0, 1.0), PLAN, seed=3, executor=Threads(2))
    assert_array_equal(one.mean, two.mean)
    assert_array_equal(one.draws, two.draws)
    assert told[-1] == (1000, 1000)
    assert one.divergences.sum() == 0 and (one.acceptance > 0.6).all()
    for draws in one.watched.values():
        assert hmc.rhat(draws).max() < 1.05
        assert hmc.ess(draws).min() > 150
    assert len(one.draws) == PLAN.n_chains * PLAN.n_samples
    assert_allclose(one.draws.mean(axis=0), one.mean, atol=0.25)


@pytest.mark.parametrize("n_samples", [8, 100, 333])
def test_draws_are_kept_within_bounds(n_samples, monkeypatch):
    monkeypatch.setattr(corrmnl, "NUMBERS", 60 * 15)  # a draw has 5 x 3 numbers
    data = corrmnl.reduce(*points(n=10))
    plan = corrmnl.Plan(5, n_samples, 3, 0.8)
    found = corrmnl.sample(data, TREE, (1.0, 1.0), plan)
    assert 24 <= len(found.draws) <= 60
    assert corrmnl.largest_error(data, found.draws, 3) < 0.5


def test_too_large_is_refused():
    with pytest.raises(UserError, match="1,000,000 weights .* it is for small data only; use HBLR"):
        corrmnl.check_size(10_000, 1000, 1000, 700)
    with pytest.raises(UserError, match="small data only"):
        corrmnl.check_size(100, 2, 5000, 4000)
    corrmnl.check_size(10_000, 81, 97, 63)
    corrmnl.check_size(12, 100_000, 8, 5)
