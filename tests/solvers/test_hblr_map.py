"""Partial MAP of HBLR: golden values, a plain twin, and the models it becomes in special cases."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from linnaeus.errors import UserError
from linnaeus.execution import executor
from linnaeus.solvers.bayes import hblr_map
from linnaeus.solvers.bayes.hblr_model import (
    Gamma,
    Order,
    expected_precisions,
    model_of,
    tree_of,
)
from linnaeus.solvers.linear import mlr
from linnaeus.solvers.numerics import coordinate_ascent, newton
from linnaeus.solvers.recursive import rr_lr, rr_lr_tree
from linnaeus.solvers.recursive import rr_lr_tree_fast as fast
from linnaeus.solvers.recursive.alternation import Structure
from marks import slow

PARENT = [-1, 0, 0, 1, 1, 2, 2, 0]  # leaves 3, 4, 5, 6, 7: of different depths
LEAVES = [3, 4, 5, 6, 7]
COMBINATIONS = [(kind, link) for kind in ("M1", "M2", "M3") for link in ("softmax", "binary")]


def labels(rng, n, K, link):
    if link == "binary":
        return sp.csr_array((rng.random((n, K)) < 0.4).astype(float))
    return sp.csr_array(np.eye(K)[rng.integers(0, K, n)])


def problem(kind="M3", link="softmax", n=30, d=4, seed=0, parent=PARENT, leaves=LEAVES):
    rng = np.random.default_rng(seed)
    model = model_of(tree_of(parent, leaves), kind)
    width = d if kind == "M2" else 1
    a, b = 1 + rng.random((model.owners.size, 1)), 0.5 + rng.random((model.owners.size, width))
    X, Y = sp.csr_array(rng.normal(size=(n, d))), labels(rng, n, len(leaves), link)
    return X, Y, model, Gamma(a, b)


# -- a plain twin --------------------------------------------------------------------------------


def log_posterior(mu, X, Y, tree, A, link, weight=1.0):
    Z = X @ mu[tree.leaves].T
    if link == "softmax":
        fit = (weight * (np.sum(Y * Z, axis=1) - logsumexp(Z, axis=1))).sum()
    else:
        fit = (np.reshape(weight, (-1, 1)) * (Y * Z - np.logaddexp(0, Z))).sum()
    above = np.array([mu[p] if p >= 0 else np.zeros(mu.shape[1]) for p in tree.parent])
    return fit - 0.5 * np.sum(A * (mu - above) ** 2)


def gradient(mu, X, Y, tree, A, link):
    Z = X @ mu[tree.leaves].T
    P = expit(Z) if link == "binary" else np.exp(Z - logsumexp(Z, axis=1, keepdims=True))
    G = np.zeros_like(mu)
    G[tree.leaves] = (Y - P).T @ X
    for v, p in enumerate(tree.parent):
        away = A[v] * (mu[v] - (mu[p] if p >= 0 else 0))
        G[v] -= away
        if p >= 0:
            G[p] += away
    return G


def plain_round(mu, q, X, Y, model, prior, link):
    """Steps 1 to 4, from the answer of the last round."""
    tree, A = model.tree, expected_precisions(model, q)
    A = np.broadcast_to(A, mu.shape)
    found = minimize(
        lambda x: -log_posterior(x.reshape(mu.shape), X, Y, tree, A, link), mu.ravel(),
        jac=lambda x: -gradient(x.reshape(mu.shape), X, Y, tree, A, link).ravel(),
        method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000, "maxcor": 30},
    )  # fmt: skip
    mu = found.x.reshape(mu.shape)
    Z = X @ mu[tree.leaves].T
    P = expit(Z) if link == "binary" else np.exp(Z - logsumexp(Z, axis=1, keepdims=True))
    variance = np.empty_like(mu)
    children = [np.flatnonzero(tree.parent == v) for v in range(tree.n_nodes)]
    for v in range(tree.n_nodes):
        variance[v] = 1 / (A[v] + A[children[v]].sum(axis=0))
    variance[tree.leaves] = 1 / ((P * (1 - P)).T @ X**2 + A[tree.leaves])
    shape, rate = prior.shape.copy(), np.broadcast_to(prior.rate, q.rate.shape).copy()
    for v in range(tree.n_nodes):
        p, o = tree.parent[v], model.owner[v]
        if p < 0:
            continue
        Q = variance[v] + variance[p] + (mu[v] - mu[p]) ** 2
        shape[o] += 0.5 * (1 if model.by_feature else Q.size)
        rate[o] += 0.5 * (Q if model.by_feature else Q.sum())
    return mu, variance, Gamma(shape, rate), -found.fun


def assert_fixed_point(answer, X, Y, model, prior, link, atol):
    dense = X.toarray(), Y.toarray()
    mu, variance, q, J = plain_round(answer.mu, answer.precisions, *dense, model, prior, link)
    np.testing.assert_allclose(answer.mu, mu, atol=atol)
    np.testing.assert_allclose(answer.variance, variance, rtol=10 * atol)
    np.testing.assert_allclose(answer.precisions.mean, q.mean, rtol=10 * atol)
    np.testing.assert_allclose(answer.precisions.shape, q.shape)
    np.testing.assert_allclose(answer.objective, J, rtol=10 * atol)


# -- the answer ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["joint", slow("paper"), slow("parity")])
def test_golden_values(golden_file, mode):
    cases = [c for c in golden_file("recursive_and_bayes")["hblr"] if "MAP" in c["inference"]]
    assert cases
    for case in cases:
        parent = np.full(len(case["mu"]), -1)
        for p, c in case["edges"]:
            parent[c] = p
        model = model_of(tree_of(parent, case["leaves"]), case["model"])
        prior = Gamma(
            *(np.array([case[name][str(o)] for o in model.owners.tolist()]) for name in "ab")
        )
        Y = sp.csr_array([[float(v in own) for v in case["leaves"]] for own in case["Y"]])
        answer = hblr_map.solve(
            sp.csr_array(np.array(case["X"])), Y, model, prior, link=case["link"], mode=mode,
            tol=1e-10, max_iter=1000,
        )  # fmt: skip
        assert answer.converged
        expected = [case["E_alpha"][str(o)] for o in model.owners.tolist()]
        np.testing.assert_allclose(answer.mu, case["mu"], atol=2e-6)
        np.testing.assert_allclose(answer.variance, case["Psi_diag"], atol=2e-6)
        np.testing.assert_allclose(answer.precisions.mean, expected, atol=2e-6)
        np.testing.assert_allclose(answer.objective, case["J"], atol=1e-7)


@pytest.mark.parametrize("mode", ["joint", slow("paper"), slow("parity")])
@pytest.mark.parametrize(("kind", "link"), COMBINATIONS)
def test_the_answer_stays_where_it_is_in_a_plain_round(kind, link, mode):
    X, Y, model, prior = problem(kind, link)
    answer = hblr_map.solve(X, Y, model, prior, link=link, mode=mode, tol=1e-9, max_iter=2000)
    assert answer.converged
    assert_fixed_point(answer, X, Y, model, prior, link, 1e-5)


@pytest.mark.parametrize("link", ["softmax", "binary"])
@pytest.mark.parametrize("by_feature", [False, True])
def test_coordinate_ascent_and_newton_find_the_same_weights(link, by_feature, monkeypatch):
    monkeypatch.setattr(coordinate_ascent, "TOO_SLOW", np.inf)
    X, Y, model, _ = problem(link=link, n=25)
    rng = np.random.default_rng(4)
    weight = 1 + rng.random(25)
    data = rr_lr_tree.TreeExamples.of(X, Y, weight, None, 0.5, link == "softmax", np.float64)
    A = 0.5 + rng.random((5 if by_feature else 1, 8))
    tree = rr_lr_tree.plain_tree(Order.of(model.tree).parent).with_precisions(A, np.float64)
    ways = rr_lr_tree.TreeAscent(data, tree, None, 0), rr_lr_tree.TreeNewton(data, tree)
    for means in ways:
        means.set_precisions(A)
        assert means.improve(5e-12, 10_000)
    one, two = ways
    np.testing.assert_allclose(one.W, two.W, atol=1e-4)
    np.testing.assert_allclose(one.objective, two.objective, rtol=1e-9)
    np.testing.assert_allclose(one.curvature(), two.curvature(), rtol=1e-3)
    assert 0 <= one.gap <= 1e-9


@pytest.mark.parametrize("kind", ["M1", "M2", "M3"])
def test_slow_ascent_gives_way_to_newton(kind, monkeypatch):
    monkeypatch.setattr(newton, "FEW", 0)
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    monkeypatch.setattr(coordinate_ascent, "next_look", lambda history, target, limit: 0)
    X, Y, model, prior = problem(kind)
    answer = hblr_map.solve(X, Y, model, prior, tol=1e-5)
    exact = hblr_map.solve(X, Y, model, prior, tol=1e-9)
    assert answer.converged
    np.testing.assert_allclose(answer.precisions.mean, exact.precisions.mean, rtol=0.1)


@st.composite
def trees(draw):
    """A parent for every node but the first; leaves are the nodes without children."""
    n = draw(st.integers(2, 9))
    parent = [-1, *(draw(st.integers(0, v - 1)) for v in range(1, n))]
    return parent, [v for v in range(n) if v not in parent]


@pytest.mark.slow
@settings(max_examples=25)
@given(trees(), st.sampled_from(COMBINATIONS), st.integers(0, 1000))
def test_fixed_points_on_all_trees(tree, combination, seed):
    parent, leaves = tree
    kind, link = combination
    X, Y, model, prior = problem(kind, link, 12, 2, seed, parent, leaves)
    answer = hblr_map.solve(X, Y, model, prior, link=link, tol=1e-9, max_iter=1000)
    assert_fixed_point(answer, X, Y, model, prior, link, 1e-5)


def test_the_gap_bounds_the_distance_to_the_maximum(monkeypatch):
    monkeypatch.setattr(newton, "FEW", 0)
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    X, Y, model, prior = problem(n=40)
    best = []
    for tol in (1e-2, 1e-9):
        answer = hblr_map.solve(X, Y, model, prior, tol=tol, max_iter=1)
        best.append((answer.objective, answer.objective + answer.trace[-1]["gap"]))
    (low, high), (exact, _) = best
    assert low < exact <= high


# -- its parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["softmax", "binary"])
@pytest.mark.parametrize("by_feature", [False, True])
def test_gradients_products_and_preconditioner(link, by_feature):
    X, Y, model, _ = problem(link=link, n=15, d=3)
    tree = rr_lr_tree.plain_tree(Order.of(model.tree).parent)
    rng = np.random.default_rng(0)
    weight = 1 + rng.random(15)
    data = rr_lr_tree.TreeExamples.of(X, Y, weight, None, 0.5, link == "softmax", np.float64)
    means = rr_lr_tree.TreeNewton(data, tree)
    means.set_precisions(0.5 + rng.random((4 if by_feature else 1, 8)))
    B, D = rng.normal(size=(2, 4, 8))
    t = 1e-5
    up, g_up = means.evaluate(B + t * D)
    down, g_down = means.evaluate(B - t * D)
    _, g = means.evaluate(B)
    np.testing.assert_allclose(means.dot(g, D), (up - down) / (2 * t), rtol=1e-7)
    np.testing.assert_allclose(means.product(D), (g_up - g_down) / (2 * t), rtol=1e-5, atol=1e-7)
    if link == "binary":  # where classes do not meet, the preconditioner is the inverse
        monkey = rr_lr_tree.LEAST
        rr_lr_tree.LEAST = 0.0
        try:
            np.testing.assert_allclose(means.preconditioner()(means.product(D)), D, atol=1e-9)
        finally:
            rr_lr_tree.LEAST = monkey


@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("cost", [0.1, 5.0, 1e4])
def test_a_step_solves_the_problem_of_one_example(soft, cost):
    parent = np.array([-1, 0, 0, 1, 1, 2, 2])
    rng = np.random.default_rng(1)
    c, z, pi = 0.5 + rng.random(7), 5 * rng.normal(size=4), rng.random(4)
    pi /= pi.sum()
    L = np.diag(np.where(parent < 0, c, 0.0))
    for v in range(1, 7):
        L[[v, parent[v]], [v, parent[v]]] += c[v]
        L[v, parent[v]] -= c[v]
        L[parent[v], v] -= c[v]
    work, nodes = np.empty((6, 4)), np.empty((3, 7))
    fast.tree_step(soft, rr_lr_tree.plain_tree(parent), c, np.full(4, cost), z, pi, work, nodes)
    p, s = work[0], work[1]
    np.testing.assert_allclose(p, np.exp(z + s - logsumexp(z + s)) if soft
                               else expit(z + s), atol=1e-12)  # fmt: skip
    rhs = np.zeros(7)
    rhs[3:] = cost * (pi - p)
    np.testing.assert_allclose(np.linalg.solve(L, rhs)[3:], s, atol=2e-2 * max(1, cost / 100))


def test_far_steps_arrive():
    """Scores on the wrong side, a weak prior: a probability must go from 0 to 1 and stay."""
    parent, c = np.array([-1, 0, 0, 0]), np.array([1.0, 1e-4, 1e-4, 1e-4])
    z, pi = np.array([-20.0, 20.0, 0.0]), np.array([1.0, 0.0, 0.0])
    work, nodes = np.empty((6, 3)), np.empty((3, 4))
    fast.tree_step(True, rr_lr_tree.plain_tree(parent), c, np.ones(3), z, pi, work, nodes)
    s = work[1]
    away = c[1:] * (s - c[1:] @ s / c.sum())  # the root lies where its own pull is the children's
    np.testing.assert_allclose(away, pi - work[0], atol=1e-4)


# -- special cases -------------------------------------------------------------------------------


def certain(model, alpha):
    """A prior that leaves no doubt about the precisions."""
    return Gamma(1e12 * np.reshape(alpha, (-1, 1)), np.full((model.owners.size, 1), 1e12))


def test_known_precisions_make_it_recursive_logistic_regression():
    X, Y, model, _ = problem(link="binary", n=40)
    alpha = np.random.default_rng(2).uniform(0.5, 2, size=model.owners.size)
    answer = hblr_map.solve(X, Y, model, certain(model, alpha), link="binary", tol=1e-9)
    tree, L = model.tree, np.zeros((8, 8))
    L[0, 0] = 1.0
    for v in range(1, 8):
        p, a = tree.parent[v], alpha[model.owner[v]]
        L[[v, p], [v, p]] += a
        L[v, p] -= a
        L[p, v] -= a
    s = Structure.of(sp.csr_array(L), tree.leaves, np.zeros(8))
    joint = rr_lr.solve(X, Y, s, tol=1e-10, max_iter=300)
    np.testing.assert_allclose(answer.mu[tree.leaves], joint.solution.coef, atol=1e-5)
    np.testing.assert_allclose(answer.objective, -joint.solution.objective[0], rtol=1e-9)


def test_a_star_with_known_precision_is_ridge_softmax():
    """The root stays at zero: a shift of all classes costs there and gains nothing."""
    X, Y, model, _ = problem("M1", n=40, parent=[-1, 0, 0, 0], leaves=[1, 2, 3])
    answer = hblr_map.solve(X, Y, model, certain(model, 0.7), bias=0.8, tol=1e-9)
    flat = mlr.solve(X, Y.indices, 3, C=1 / 0.7, bias=0.8, tol=1e-9, dtype=np.float64)
    np.testing.assert_allclose(answer.mu[1:, :-1], flat.coef, atol=1e-6)
    np.testing.assert_allclose(0.8 * answer.mu[1:, -1], flat.intercept, atol=1e-6)
    np.testing.assert_allclose(answer.mu[0], 0, atol=1e-6)


@pytest.mark.parametrize("few", [0, 200])
def test_weights_are_repetitions_and_workers_do_not_matter(few, monkeypatch):
    monkeypatch.setattr(newton, "FEW", few)
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    X, Y, model, prior = problem(n=30, d=6)
    weight = np.random.default_rng(0).integers(0, 3, 30)
    rows = np.repeat(np.arange(30), weight)
    one = hblr_map.solve(X, Y, model, prior, sample_weight=weight, tol=1e-9)
    two = hblr_map.solve(X[rows], Y[rows], model, prior, tol=1e-9)
    np.testing.assert_allclose(one.mu, two.mu, atol=1e-6)
    again = [hblr_map.solve(X, Y, model, prior, executor=executor(k)) for k in (1, 2)]
    np.testing.assert_array_equal(again[0].mu, again[1].mu)
    np.testing.assert_array_equal(again[0].precisions.rate, again[1].precisions.rate)


@pytest.mark.parametrize("few", [0, 200])
@pytest.mark.parametrize(("kind", "link"), COMBINATIONS)
@pytest.mark.parametrize("mode", ["joint", slow("paper"), slow("parity")])
def test_nothing_breaks_on_odd_data(kind, link, mode, few, monkeypatch):
    """Separable, a class without examples, rows of zeros, a constant and an empty feature."""
    monkeypatch.setattr(newton, "FEW", few)
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    X, _, model, prior = problem(kind, link, n=20)
    x = X.toarray()
    x[:, 0], x[:, 1] = 1.0, 0.0
    x[3] = 0.0
    t = np.where(x[:, 2] > 0, 0, np.where(x[:, 3] > 0, 1, 2))
    Y = sp.csr_array(np.eye(5)[t])
    answer = hblr_map.solve(sp.csr_array(x), Y, model, prior, link=link, mode=mode, max_iter=50)
    for values in (answer.mu, answer.variance, answer.precisions.mean):
        assert np.isfinite(values).all()
    assert (answer.variance > 0).all() and (answer.precisions.mean > 0).all()


@pytest.mark.parametrize("few", [0, 200])
@pytest.mark.parametrize("link", ["softmax", "binary"])
def test_one_class_only(link, few, monkeypatch):
    monkeypatch.setattr(newton, "FEW", few)
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    X, _, model, prior = problem("M1", link, n=10, parent=[-1, 0], leaves=[1])
    answer = hblr_map.solve(X, sp.csr_array(np.ones((10, 1))), model, prior, link=link)
    assert answer.converged and np.isfinite(answer.mu).all()


@pytest.mark.slow
def test_float32_and_progress(monkeypatch):
    monkeypatch.setattr(hblr_map, "LITTLE", 0)
    X, Y, model, prior = problem(d=300)
    seen = []
    answer = hblr_map.solve(X, Y, model, prior, dtype=np.float32, progress=seen.append)
    exact = hblr_map.solve(X, Y, model, prior, tol=1e-8)
    assert answer.mu.dtype == answer.variance.dtype == np.float32
    assert len(seen) == answer.n_iter == len(answer.bounds)
    assert set(seen[0]) == {"seconds", "objective", "gap", "change"}
    np.testing.assert_allclose(answer.precisions.mean, exact.precisions.mean, rtol=0.2)


def test_errors_name_the_remedy():
    X, Y, model, prior = problem()
    solve = hblr_map.solve
    with pytest.raises(UserError, match="link='probit' is not known. Use one of softmax, binary"):
        solve(X, Y, model, prior, link="probit")
    with pytest.raises(UserError, match="mode='fast' is not known. Use one of joint, paper"):
        solve(X, Y, model, prior, mode="fast")
    with pytest.raises(UserError, match="Y has 4 columns, but the tree has 5 leaves"):
        solve(X, Y[:, :4], model, prior)
    with pytest.raises(UserError, match='Row 0 of Y has 5 classes.*Use link="binary"'):
        solve(X, sp.csr_array(np.ones(Y.shape)), model, prior)
    with pytest.raises(UserError, match="The prior has rates for 2 features. Use 1."):
        solve(X, Y, model, Gamma(prior.shape, np.ones((7, 2))))
    root = model_of(tree_of([-1], [0]), "M3")
    with pytest.raises(UserError, match="The root 0 is a class. Put a node above it"):
        solve(X, sp.csr_array(np.ones((30, 1))), root, Gamma(np.ones((0, 1)), np.ones((0, 1))))


@pytest.mark.parametrize("link", ["softmax", "binary"])
def test_odd_and_even_depths_in_turn(link):
    """Leaves of two depths, which move in turn."""
    tree = tree_of(np.array([-1, 0, 0, 1, 1]), [2, 3, 4])
    assert {*tree.depth[tree.leaves].tolist()} == {1, 2}
    model = model_of(tree, "M1")
    rng = np.random.default_rng(0)
    X, t = sp.csr_array(rng.normal(size=(30, 3))), rng.integers(0, 3, 30)
    Y, prior = sp.csr_array(np.eye(3)[t]), Gamma(np.ones((2, 1)), np.ones((2, 1)))
    both = [
        hblr_map.solve(X, Y, model, prior, link=link, mode=mode, tol=1e-8, max_iter=3000)
        for mode in ("joint", "parity")
    ]
    assert both[1].converged
    np.testing.assert_allclose(both[1].mu, both[0].mu, atol=1e-5)
    np.testing.assert_allclose(both[1].variance, both[0].variance, rtol=1e-4)
    np.testing.assert_allclose(both[1].objective, both[0].objective, rtol=1e-6)
    one = hblr_map.solve(X, Y, model, prior, link=link, mode="parity", max_iter=1)
    np.testing.assert_allclose(one.mu[0], (one.mu[1] + one.mu[2]) / 3, atol=1e-12)
    np.testing.assert_array_equal(one.mu[1], 0.0)  # of depth 1, moved before its children did
    assert (np.abs(one.mu[[2, 3, 4]]).max(axis=1) > 0).all()
