"""Orthogonal transfer: both optimisers, a generic one, dense algebra, the famous special case."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from linnaeus.errors import UserError
from linnaeus.solvers.linear import msvm
from linnaeus.solvers.recursive import ot, ot_nodes, ot_rda
from linnaeus.solvers.recursive import ot_fast as fast

PARENT = [-1, 0, 0, 1, 1, 2, 2, 2]  # a root, two inner nodes, five leaves
LEAVES = [3, 4, 5, 6, 7]
DEEP = [-1, -1, 0, 0, 1, 1, 2, 2, 6, 6]  # two roots; paths of up to four nodes
DEEP_LEAVES = [3, 4, 5, 7, 8, 9]


def problem(parent, leaves, n=12, d=3, seed=0):
    rng = np.random.default_rng(seed)
    t = np.resize(np.arange(len(leaves)), n)
    X = rng.normal(size=(len(leaves), d))[t] + 0.7 * rng.normal(size=(n, d))
    return X, t, ot_nodes.forest_of(parent, leaves)


def dense(forest, own, pairs):
    """The symmetric matrix over the nodes of a forest."""
    M = np.diag(own)
    for f in range(forest.size):
        for e in range(forest.ptr[f], forest.ptr[f + 1]):
            M[f, forest.above[e]] = M[forest.above[e], f] = pairs[e]
    return M


def constraints(forest, t):
    """(i, j) of every constraint of a class."""
    path = forest.path[forest.path_ptr[t] : forest.path_ptr[t + 1]]
    return [(i, j) for i in path for j in range(forest.first[i], forest.last[i]) if j != i]


def losses(W, X, t, forest):
    return np.array([
        max(0.0, max(1.0 - (W[i] - W[j]) @ x for i, j in constraints(forest, k)))
        for x, k in zip(X, t, strict=True)
    ])  # fmt: skip


def objective(W, X, t, forest, K, C):
    M = dense(forest, K.own, K.pairs)
    return 0.5 * float((M * np.abs(W @ W.T)).sum()) + C * losses(W, X, t, forest).mean()


def by_slsqp(X, t, forest, K, C):
    """Epigraph form: a_e >= |w_f.w_a|, one slack an example."""
    m, d, n, E = forest.size, X.shape[1], len(X), forest.above.size
    node = np.repeat(np.arange(m), np.diff(forest.ptr))

    def parts(v):
        return v[: m * d].reshape(m, d), v[m * d : m * d + E], v[m * d + E :]

    def value(v):
        W, a, xi = parts(v)
        return 0.5 * K.own @ (W**2).sum(axis=1) + K.pairs @ a + C * xi.mean()

    def inequalities(v):
        W, a, xi = parts(v)
        dots = (W[node] * W[forest.above]).sum(axis=1)
        kept = [
            (W[i] - W[j]) @ x - 1 + xi[k]
            for k, x in enumerate(X)
            for i, j in constraints(forest, t[k])
        ]
        return np.concatenate([a - dots, a + dots, xi, kept])

    start = np.concatenate([0.1 * np.random.default_rng(0).normal(size=m * d), np.ones(E + n)])
    found = minimize(
        value, start, method="SLSQP", constraints={"type": "ineq", "fun": inequalities},
        options={"maxiter": 300, "ftol": 1e-10},
    )  # fmt: skip
    return objective(parts(found.x)[0], X, t, forest, K, C)


@pytest.mark.parametrize(("parent", "leaves"), [(PARENT, LEAVES), (DEEP, DEEP_LEAVES)])
@pytest.mark.parametrize(("C", "off"), [(1.0, 1.0), (10.0, 0.5)])
def test_the_optimum_is_that_of_a_generic_method(parent, leaves, C, off):
    X, t, forest = problem(parent, leaves)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, off), off)
    found = ot.solve(sp.csr_array(X), t, forest, K, C=C, tol=1e-8)
    assert found.gap <= 1e-8
    assert_allclose(found.objective[0], objective(found.coef, X, t, forest, K, C), rtol=1e-10)
    assert_allclose(found.objective[0], by_slsqp(X, t, forest, K, C), rtol=1e-4)


@pytest.mark.parametrize(("parent", "leaves"), [(PARENT, LEAVES), (DEEP, DEEP_LEAVES)])
@pytest.mark.parametrize(("C", "off", "tol"), [(1.0, 1.0, 1e-3), (10.0, 0.5, 1e-2)])
def test_dual_averaging_closes_in_on_the_optimum(parent, leaves, C, off, tol):
    X, t, forest = problem(parent, leaves)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, off), off)
    best = ot.solve(sp.csr_array(X), t, forest, K, C=C, tol=1e-8)
    found = ot_rda.solve(sp.csr_array(X), t, forest, K, C=C, tol=tol, max_iter=2000)
    assert found.gap <= tol and found.n_iter < 2000
    assert_allclose(found.objective[0], objective(found.coef, X, t, forest, K, C), rtol=1e-10)
    assert found.dual[0] <= best.objective[0] and best.dual[0] <= found.objective[0]
    assert found.dual[0] <= by_slsqp(X, t, forest, K, C)
    sigma = ot_rda.convexity(forest, K)  # P(W) - P* >= sigma/2 ||W - W*||^2
    far = 0.5 * sigma * ((found.coef - best.coef) ** 2).sum()
    assert far <= found.objective[0] - best.dual[0] + 1e-6


def plain_dual_averaging(X, t, forest, K, C, passes, n_steps):
    """W after passes over examples in the given orders, as the formula says; the mean of W too."""
    M = dense(forest, K.own, K.pairs)
    sigma = np.linalg.eigvalsh(2 * np.diag(K.own) - M)[0]
    beta = M.sum(axis=1).max() - sigma
    W = np.zeros((forest.size, X.shape[1]))
    G, mean, step = np.zeros_like(W), np.zeros_like(W), 0
    for order in passes:
        bounds = [b * len(order) // n_steps for b in range(n_steps + 1)]
        for part in np.split(order, bounds[1:-1]):
            g = (M * np.sign(W @ W.T)) @ W - sigma * W
            for k in part:
                scores = W @ X[k]
                i, j = max(constraints(forest, t[k]), key=lambda p, s=scores: s[p[1]] - s[p[0]])
                if 1.0 - scores[i] + scores[j] > 0:
                    g[i] -= n_steps * C / len(X) * X[k]
                    g[j] += n_steps * C / len(X) * X[k]
            step += 1
            G, mean = G + (g - G) / step, mean + (W - mean) / step
            W = -step * G / (sigma * step + beta)
    return W, mean


@pytest.mark.parametrize("seed", range(20))
def test_multipliers_that_suit_old_signs_are_not_the_end(seed):
    """With one example the multipliers are soon as good as they can be until the signs turn."""
    X, t, forest = problem([-1, -1, 0, 0, 1, 1], [2, 3, 4, 5], n=1, d=2, seed=seed)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 1.0), 1.0)
    found = ot.solve(sp.csr_array(X), t, forest, K, C=8.0, tol=1e-9)
    assert found.objective[0] - found.dual[0] <= 1e-9 * found.objective[0]


@pytest.mark.parametrize("n_steps", [1, 5])
def test_steps_are_those_of_the_formula(monkeypatch, n_steps):
    monkeypatch.setattr(ot_rda, "steps", lambda _: n_steps)
    X, t, forest = problem(DEEP, DEEP_LEAVES, n=18)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 1.0), 1.0)
    ours = ot_nodes.TransferProblem.of(sp.csr_array(X), t, forest, K, 4.0, 0.0, None, np.float64)
    run = ot_rda.Averaging(ours, 3, ot_nodes.Looks(4, 1e-9))
    run.run()
    rng = np.random.default_rng(3)
    passes = [rng.permutation(18) for _ in range(4)]
    W, mean = plain_dual_averaging(X, t, forest, K, 4.0, passes, n_steps)
    assert_allclose(run.mean.W[:-1].T / ours.scale, W, atol=1e-10)
    assert_allclose(run.mean.total[:-1].T / 4 / ours.scale, mean, atol=1e-10)


def test_dual_averaging_keeps_what_is_best_and_repeats():
    X, t, forest = problem(DEEP, DEEP_LEAVES, n=60, d=8)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 1.0), 1.0)

    def solve(seed, max_iter=60):
        return ot_rda.solve(
            sp.csr_array(X), t, forest, K, C=20.0, bias=1.0, tol=1e-9, max_iter=max_iter, seed=seed
        )

    one, same, other = solve(0), solve(0), solve(1)
    gaps = [look["gap"] for look in one.trace]
    assert one.n_iter == 60 and (np.diff(gaps) <= 0).all() and gaps[-1] < 0.2 * gaps[0]
    assert (np.diff([look["objective"] for look in one.trace]) <= 0).all()
    assert one.gap == gaps[-1] < solve(0, max_iter=6).gap
    assert (one.coef == same.coef).all() and (one.intercept == same.intercept).all()
    assert (one.objective, one.dual) == (same.objective, same.dual)
    assert (one.coef != other.coef).any()


def test_a_star_without_pairs_is_the_machine_of_crammer_and_singer():
    X, t, forest = problem([-1] * 4, range(4), n=30)
    K = ot_nodes.coupling(forest, 1.0, 1.0)
    ours = ot.solve(sp.csr_array(X), t, forest, K, C=30 * 0.3, bias=1.0, tol=1e-8)
    theirs = msvm.solve(
        sp.csr_array(X), t, 4, C=0.3, bias=1.0, tol=1e-9, dtype=np.float64, max_iter=5000
    )
    assert_allclose(ours.objective, theirs.objective, rtol=1e-7)
    assert_allclose(ours.coef, theirs.coef, atol=1e-3)
    assert_allclose(ours.intercept, theirs.intercept, atol=1e-3)


def test_children_become_orthogonal_to_their_parents():
    X, t, forest = problem(PARENT, LEAVES, n=40, d=5)

    def cosines(off):
        K = ot_nodes.coupling(forest, 6.0, off)
        W = ot.solve(sp.csr_array(X), t, forest, K, C=3.0, tol=1e-8).coef
        W = W / np.linalg.norm(W, axis=1, keepdims=True)
        node = np.repeat(np.arange(forest.size), np.diff(forest.ptr))
        return np.abs((W[node] * W[forest.above]).sum(axis=1))

    free, some, most = cosines(0.0), cosines(1.0), cosines(3.0)
    assert most.sum() < some.sum() < 0.5 * free.sum()
    assert (most < 1e-4).all()  # orthogonal, up to the gap


@pytest.mark.parametrize("solver", [ot, ot_rda])
def test_units_do_not_matter(solver):
    X, t, forest = problem(DEEP, DEEP_LEAVES, n=30)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 1.0), 1.0)
    one = solver.solve(sp.csr_array(X), t, forest, K, C=1.0, max_iter=30)
    again = solver.solve(sp.csr_array(X * 4.0), t, forest, ot_nodes.Coupling(
        K.own * 16, K.pairs * 16), C=1.0, max_iter=30)  # fmt: skip
    assert_allclose(again.coef * 4.0, one.coef, rtol=1e-9)
    assert_allclose(again.objective, one.objective, rtol=1e-12)


@st.composite
def forests(draw):
    n = draw(st.integers(2, 12))
    parent = [-1] + [draw(st.integers(-1, v - 1)) for v in range(1, n)]
    leaves = sorted(set(range(n)) - set(parent))
    return ot_nodes.forest_of(parent, leaves), parent, leaves


@given(forests(), st.integers(0, 100))
def test_the_factorisation_is_that_of_the_dense_matrix(drawn, seed):
    forest, _, _ = drawn
    rng = np.random.default_rng(seed)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 0.7), 0.7)
    signs = rng.uniform(-1, 1, size=K.pairs.size)
    M, V = dense(forest, K.own, K.pairs * signs), rng.normal(size=(4, forest.size))
    assert np.linalg.eigvalsh(M).min(initial=1.0) > 0.99
    D, L = ot_nodes.factors(forest, K, signs)
    lower = np.eye(forest.size)
    for f in range(forest.size):
        lower[forest.above[forest.ptr[f] : forest.ptr[f + 1]], f] = L[
            forest.ptr[f] : forest.ptr[f + 1]
        ]
    assert_allclose(lower @ np.diag(D) @ lower.T, M, atol=1e-12)
    W = V.copy()
    fast.up(forest.ptr, forest.above, D, L, W)
    fast.down(forest.ptr, forest.above, L, W)
    assert_allclose(W @ M, V, atol=1e-10)


@given(forests(), st.integers(0, 100), st.sampled_from([0.3, 3.0, 30.0]), st.integers(1, 5))
def test_the_bound_of_dual_averaging_is_never_above_the_optimum(drawn, seed, C, max_iter):
    forest, _, leaves = drawn
    rng = np.random.default_rng(seed)
    t = rng.integers(len(leaves), size=15)
    X = sp.csr_array(rng.normal(size=(15, 3)) * (rng.random((15, 3)) < 0.7))
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 1.0), 1.0)
    best = ot.solve(X, t, forest, K, C=C, bias=0.5, tol=1e-6)
    found = ot_rda.solve(X, t, forest, K, C=C, bias=0.5, tol=1e-6, max_iter=max_iter, seed=seed)
    assert found.dual[0] <= best.objective[0] + 1e-12
    assert found.objective[0] >= best.dual[0] - 1e-12


@given(forests(), st.integers(0, 100))
def test_eigenvalues_lie_between_convexity_and_curvature(drawn, seed):
    forest, _, _ = drawn
    rng = np.random.default_rng(seed)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 0.7) + rng.random(forest.size), 0.7)
    values = np.linalg.eigvalsh(dense(forest, K.own, -K.pairs))
    sigma, top = ot_rda.convexity(forest, K), ot_rda.curvature(forest, K)
    assert_allclose(sigma, values[0] if forest.size else 1.0, rtol=1e-9)
    signs = rng.uniform(-1, 1, size=K.pairs.size)
    values = np.linalg.eigvalsh(dense(forest, K.own, K.pairs * signs))
    assert ((values >= sigma - 1e-9) & (values <= top + 1e-9)).all()


@given(forests())
def test_paths_and_families_are_those_of_the_tree(drawn):
    forest, parent, leaves = drawn
    siblings = [[u for u in range(len(parent)) if parent[u] == p] for p in parent]
    assert sorted(forest.node) == [v for v, all_ in enumerate(siblings) if len(all_) > 1]
    for f, v in enumerate(forest.node):
        assert sorted(forest.node[forest.first[f] : forest.last[f]]) == siblings[v]
    for k, leaf in enumerate(leaves):
        way, v = [], leaf
        while v >= 0:
            way, v = [v, *way], parent[v]
        path = forest.node[forest.path[forest.path_ptr[k] : forest.path_ptr[k + 1]]]
        assert list(path) == [v for v in way if len(siblings[v]) > 1]


def test_the_signs_are_the_best():
    _, _, forest = problem(DEEP, DEEP_LEAVES)
    rng = np.random.default_rng(0)
    K = ot_nodes.coupling(forest, ot_nodes.dominant(forest, 1.0), 1.0)
    V = rng.normal(size=(30, forest.size)) + rng.normal(size=(30, 1))
    signs = ot.best_signs(forest, K, V, np.zeros(K.pairs.size))

    def value(s):
        M = dense(forest, K.own, K.pairs * s)
        return np.trace(V @ np.linalg.solve(M, V.T))

    best = value(signs)
    for _ in range(200):
        nearby = np.clip(signs + 0.1 * rng.normal(size=signs.size), -1, 1)
        assert value(nearby) >= best - 1e-9


def test_what_is_not_convex_is_refused():
    _, _, forest = problem(PARENT, LEAVES)
    message = "offdiagonal=1.0 and a diagonal of 1 at node number .* not positive definite. Lower"
    with pytest.raises(UserError, match=message):
        ot_nodes.coupling(forest, 1.0, 1.0)
    ot_nodes.coupling(forest, 1.0, 0.5)  # two or three children: 3 x 0.25 < 1
