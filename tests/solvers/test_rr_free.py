"""Roots left free and graphs without a ground: a generic optimum, small C, certificates."""

import numpy as np
import pytest
from scipy.optimize import minimize

from linnaeus import RecursiveLogistic, RecursiveSVM, Taxonomy
from linnaeus.solvers.recursive import rr_svm_newton
from linnaeus.solvers.recursive.rr_losses import LOSSES
from linnaeus.synthetic import make_text_like

LEAVES = [f"l{i}" for i in range(8)]
RING = [(LEAVES[i - 1], LEAVES[i]) for i in range(8)]
TAXONOMIES = {
    "tree": Taxonomy.from_edges(
        [("r", "A"), ("r", "B"), *(("AB"[i % 2], leaf) for i, leaf in enumerate(LEAVES))]
    ),
    "graph": Taxonomy.from_edges(
        [(None, leaf) for leaf in LEAVES], related=[*RING, (LEAVES[0], LEAVES[4])]
    ),
}


def examples(seed=0, n=50, d=4):
    rng = np.random.default_rng(seed)
    number = np.concatenate([np.arange(8), rng.integers(0, 8, n - 8)])
    X = rng.normal(size=(n, d)) + rng.normal(size=(8, d))[number] + 0.5
    return X, np.array(LEAVES)[number]


def fitted(kind, loss, C, **more):
    options = {"root": "free", "C": C, "random_state": 0, **more}
    if loss == "logistic":
        model = RecursiveLogistic(TAXONOMIES[kind], **options)
    else:
        model = RecursiveSVM(TAXONOMIES[kind], loss=loss, **options)
    return model.fit(*examples())


def optimum(kind, loss, C):
    """Bounds of the least value without any ground, over all nodes, by L-BFGS.

    The hinge is replaced by a smooth function below it, by at most mu / 2 an example and class.
    """
    X, y = examples()
    tax = TAXONOMIES[kind]
    L = tax.laplacian(None, None, "free").toarray()
    if kind == "graph":  # a node halves every edge between two classes
        L = 0.5 * L
    leaves, sign = tax.numbers(LEAVES), np.where(y == np.array(LEAVES)[:, None], 1.0, -1.0)

    def loss_of(z, mu):
        over = np.maximum(0.0, 1.0 - z)
        if loss == "logistic":
            return np.logaddexp(0, -z), -1 / (1 + np.exp(z))
        if loss == "squared_hinge":
            return over**2, -2 * over
        near = np.minimum(over, mu)
        return near**2 / (2 * mu) + over - near, -near / mu

    def value(flat, mu):
        W = flat.reshape(len(tax), -1)
        each, slope = loss_of(sign * (W[leaves] @ X.T), mu)
        G = L @ W
        out = 0.5 * np.sum(W * G) + C * each.sum()
        G[leaves] += C * (sign * slope) @ X
        return out, G.ravel()

    w = np.zeros(len(tax) * X.shape[1])
    for mu in (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3) if loss == "hinge" else (1.0,):
        options = {"maxiter": 20000, "maxfun": 40000, "maxcor": 50, "ftol": 1e-15, "gtol": 1e-9}
        w = minimize(value, w, args=(mu,), jac=True, method="L-BFGS-B", options=options).x
    low = value(w, mu)[0]
    return low, low + (C * sign.size * 1e-3 / 2 if loss == "hinge" else 0.0)


@pytest.mark.parametrize("C", [1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_free_roots_reach_the_optimum_and_prove_it(kind, loss, C):
    model = fitted(kind, loss, C, fit_intercept=False, tol=1e-3)
    low, high = optimum(kind, loss, C)
    P, D = model.objective_, model.dual_objective_
    assert P - D <= 1e-3 * P
    assert low * (1 - 1e-7) <= P <= high * (1 + 1e-3) + 1e-5
    assert high * (1 + 1e-5) >= D  # the ground that stands for none raises the objective a little


@pytest.mark.parametrize("sharing", ["own", "parent"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_free_roots_with_intercepts_at_a_tiny_cost(kind, loss, sharing):
    """The stop is relative: an objective of about 0.004 is as exact as one of 300."""
    model = fitted(kind, loss, 1e-5, intercept_sharing=sharing, tol=1e-4)
    assert 0 <= model.objective_ - model.dual_objective_ <= 1e-4 * model.objective_ < 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_second_fit_starts_from_the_first(loss):
    model = fitted("tree", loss, 1e-3, tol=1e-4, warm_start=True)
    before = model.objective_
    model.fit(*examples())
    assert model.n_iter_ <= 7
    np.testing.assert_allclose(model.objective_, before, rtol=2e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_multipliers_and_curvatures_are_derivatives(loss):
    kind, rng = LOSSES[loss], np.random.default_rng(0)
    z, c, h = rng.normal(size=(3, 4)), rng.uniform(0.5, 2.0, (3, 4)), 1e-6
    A = kind.multipliers(c, z)
    for i in np.ndindex(z.shape):
        step = np.zeros_like(z)
        step[i] = h
        slope = (kind.value(c, z + step) - kind.value(c, z - step)) / (2 * h)
        bend = (kind.multipliers(c, z + step) - kind.multipliers(c, z - step))[i] / (2 * h)
        np.testing.assert_allclose([A[i], kind.curvature(c, A)[i]], [-slope, -bend], atol=1e-7)
    np.testing.assert_allclose(kind.gain(c, A), kind.value(c, z) + np.vdot(A, z), rtol=1e-12)


def test_alternation_alone_where_second_order_steps_would_cost_too_much(monkeypatch):
    """Weights come close all the same, and the bound is one."""
    monkeypatch.setattr(rr_svm_newton, "work", lambda *_: np.inf)
    model = fitted("tree", "squared_hinge", 1.0, fit_intercept=False)
    low, _ = optimum("tree", "squared_hinge", 1.0)
    assert model.dual_objective_ <= low * (1 + 1e-5) <= model.objective_ * (1 + 2e-5)
    assert model.objective_ <= 1.001 * low


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_rows_and_features_too_many_for_blocks_have_certificates_too(loss):
    X, Y, tax = make_text_like(
        700, 1500, n_leaves=80, nonzeros=20, labels_per_sample=1.0, tfidf=True, random_state=0
    )
    y = np.array(tax.nodes)[Y.indices]
    options = {"root": "free", "C": 1e-3, "random_state": 0}
    model = (
        RecursiveLogistic(tax, **options)
        if loss == "logistic"
        else RecursiveSVM(tax, loss=loss, **options)
    )
    assert model.fit(X, y).gap_ <= 1e-3
