"""Multinomial logistic regression against plain formulas, SciPy and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import entr, log_softmax, logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from linnaeus.errors import UserError
from linnaeus.execution import Serial, Threads
from linnaeus.solvers.linear import logistic
from linnaeus.solvers.linear import mlr as solver
from linnaeus.solvers.linear.logistic_fast import simplex_step
from linnaeus.solvers.numerics import coordinate_ascent


def problem(seed=0, n=60, d=12, K=5, density=0.4):
    """Sparse random features, classes of a random linear model with noise."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, d, density, random_state=rng, data_rvs=rng.standard_normal))
    scores = X @ rng.standard_normal((d, K)) + rng.standard_normal((n, K))
    return X, scores.argmax(axis=1), K


def primal_and_dual(X, t, W, u, M=0.0):
    """P at W, and D at pi_i = softmax(W x_i), by the formulas of the documentation."""
    X, W = X.toarray().astype(float), np.asarray(W, float)
    M = np.broadcast_to(M, W.shape)
    Z, rows = X @ W.T, np.arange(t.size)
    P = 0.5 * ((W - M) ** 2).sum() + u @ (logsumexp(Z, axis=1) - Z[rows, t])
    pi = softmax(Z, axis=1)
    V = (u[:, None] * (np.eye(W.shape[0])[t] - pi)).T @ X
    D = u @ entr(pi).sum(1) - 0.5 * (V**2).sum() - (V * M).sum()
    return P, D


def optimum(X, t, u, M):
    """The same problem by a generic optimiser."""
    A, E = X.toarray(), np.eye(M.shape[0])[t]

    def value(w):
        W = w.reshape(M.shape)
        Z = A @ W.T
        P = 0.5 * ((W - M) ** 2).sum() - u @ (E * log_softmax(Z, axis=1)).sum(1)
        return P, (W - M + (u[:, None] * (softmax(Z, axis=1) - E)).T @ A).ravel()

    options = {"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-11}
    found = minimize(value, M.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(M.shape)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_weights_are_those_of_scikit_learn(C, scale):
    X, t, K = problem(1)
    X = X * scale
    solution = solver.solve(X, t, K, C=C, tol=1e-8, dtype=np.float64, max_iter=5000)
    theirs = LogisticRegression(
        C=C, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(X, t)
    assert_allclose(solution.coef, theirs.coef_, atol=1e-6)
    assert solution.objective.shape == solution.dual.shape == (1,)
    assert solution.gap <= 1e-8


def test_mean_bias_and_sample_weights_against_a_generic_optimiser():
    X, t, K = problem(2)
    rng = np.random.default_rng(0)
    M, m, c = rng.standard_normal((K, 12)), rng.standard_normal(K), rng.integers(0, 3, 60)
    solution = solver.solve(
        X, t, K, C=1.7, mean=M, mean_intercept=m, bias=2.0, sample_weight=c, tol=1e-9,
        dtype=np.float64,
    )  # fmt: skip
    wide = sp.csr_array(sp.hstack([X, np.full((60, 1), 2.0)]))
    centre = np.c_[M, m / 2]
    W = optimum(wide, t, 1.7 * c, centre)
    assert_allclose(solution.coef, W[:, :-1], atol=1e-5)
    assert_allclose(solution.intercept, 2 * W[:, -1], atol=1e-5)
    assert_allclose(solution.objective, primal_and_dual(wide, t, W, 1.7 * c, centre)[0], rtol=1e-9)


def test_two_classes_are_one_binary_problem_of_twice_the_strength():
    X, t, _ = problem(3, K=2)
    both = solver.solve(X, t, 2, C=3.0, tol=1e-9, dtype=np.float64)
    one = logistic.solve(
        X, sp.csr_array(t[:, None]), C=3.0, strength=0.5, tol=1e-9, dtype=np.float64
    )
    assert_allclose(both.coef[1] - both.coef[0], one.coef[0], atol=1e-6)
    assert_allclose(both.objective, one.objective, rtol=1e-9)


@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_the_gap_at_any_weights_is_half_the_squared_gradient(seed, C):
    X, t, K = problem(seed, n=12, d=5, K=3)
    rng = np.random.default_rng(seed)
    W, M = rng.standard_normal((2, K, 5))
    P, D = primal_and_dual(X, t, W, np.full(12, C), M)
    g = W - M + C * (softmax(X @ W.T, axis=1) - np.eye(K)[t]).T @ X.toarray()
    assert_allclose(P - D, 0.5 * (g**2).sum(), rtol=1e-8, atol=1e-9 * abs(P))


@pytest.mark.parametrize("dtype, rtol", [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-5])
def test_the_certificate_is_true(dtype, rtol, tol):
    X, t, K = problem(4, n=200, d=40, K=20)
    X = X.astype(np.float32).astype(np.float64)  # the same problem for both
    M = np.random.default_rng(3).standard_normal((K, 40))
    best = solver.solve(X, t, K, mean=M, tol=1e-9, dtype=np.float64)
    loose = solver.solve(X, t, K, mean=M, tol=tol, dtype=dtype)
    P, _ = primal_and_dual(X, t, loose.coef, np.ones(200), M)
    assert_allclose(loose.objective, P, rtol=rtol)
    assert loose.dual <= best.objective * (1 + rtol)
    assert loose.objective >= best.dual * (1 - rtol)
    assert loose.gap <= tol
    assert_allclose(loose.trace[-1]["gap"], loose.gap, rtol=1e-6)


@given(st.integers(0, 10**6), st.floats(0, 1e6), st.floats(0.1, 30))
def test_a_step_nearly_maximises_the_dual_over_the_simplex(seed, q, spread):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 7))
    z, r = spread * rng.standard_normal(K), log_softmax(spread * rng.standard_normal(K))
    pi, (c, p, ell) = np.exp(r), np.empty((3, K))
    simplex_step(z, q, r, pi, c, p, ell)
    assert_allclose(p.sum(), 1.0, rtol=1e-12)
    assert_allclose(np.exp(ell), p, rtol=1e-9, atol=1e-300)

    def dual(p):
        return entr(p).sum() + p @ z - 0.5 * q * ((p - pi) ** 2).sum()

    after, before = dual(p), dual(pi)
    assert after >= before - 1e-9 * (1 + spread + q)
    slope = z - q * (p - pi) - ell  # of the dual; equal in all classes at the best p
    left = p @ (slope - p @ slope) ** 2 / 2  # about what further steps could gain
    assert left <= 0.05 * (after - before) + 1e-3


def test_newton_finishes_what_coordinate_ascent_leaves(monkeypatch):
    X, t, K = problem(5)
    M = np.random.default_rng(4).standard_normal((K, 12))
    ascended = solver.solve(X, t, K, C=3.0, mean=M, tol=1e-9, dtype=np.float64)
    monkeypatch.setattr(coordinate_ascent, "next_look", lambda history, target, limit: 0)
    newton = solver.solve(X, t, K, C=3.0, mean=M, tol=1e-9, dtype=np.float64)
    assert newton.n_iter > coordinate_ascent.FIRST_LOOK
    assert_allclose(newton.coef, ascended.coef, atol=1e-6)
    assert_allclose(newton.objective, ascended.objective, rtol=1e-12)
    assert newton.gap < 1e-12
    assert solver.solve(X, t, K, C=3.0, mean=M, tol=1e-5).gap <= 1e-5


def test_badly_scaled_features_converge():
    X, t, K = problem(6, n=100, d=5, K=3, density=1.0)
    X = sp.csr_array(X * np.array([1e-2, 1.0, 10.0, 100.0, 1e3]))
    assert solver.solve(X, t, K, C=10.0, bias=1.0, tol=1e-6, dtype=np.float64).gap <= 1e-6


def test_any_executor_gives_the_same_bits():
    X, t, K = problem(7)
    one, two = (solver.solve(X, t, K, executor=where) for where in (Serial(), Threads(2)))
    assert_array_equal(one.coef, two.coef)
    assert_array_equal(one.dual, two.dual)


def test_a_warm_start_saves_passes():
    X, t, K = problem(8, n=300, d=50)
    M = 0.01 * np.random.default_rng(5).standard_normal((K, 50))
    options = {"bias": 1.0, "tol": 1e-5, "dtype": np.float64}
    first = solver.solve(X, t, K, **options)
    assert solver.solve(X, t, K, start=first, **options).n_iter < first.n_iter / 2
    moved = solver.solve(X, t, K, mean=M, **options)
    warm = solver.solve(X, t, K, mean=M, start=first, **options)
    assert warm.n_iter < moved.n_iter
    assert_allclose(warm.objective, moved.objective, rtol=2e-5)
    more = solver.solve(X, t, K, C=1.5, start=first, **options)
    assert_allclose(more.objective, solver.solve(X, t, K, C=1.5, **options).objective, rtol=2e-5)
    useless = first._replace(coef=np.full((K, 50), 1e4))
    assert solver.solve(X, t, K, start=useless, **options).gap <= 1e-5


EDGES = {
    "zero rows": (np.zeros((4, 3)), [1, 0, 2, 0], 3),
    "unseen classes": (np.eye(4), [1, 1, 3, 1], 5),
    "one class seen": (np.eye(4), [0, 0, 0, 0], 2),
    "one class": (np.eye(3), [0, 0, 0], 1),
    "constant feature": (np.ones((5, 2)), [1, 0, 1, 2, 0], 3),
    "duplicate rows": (np.tile([[1.0, 2.0]], (6, 1)), [1, 0, 1, 0, 2, 1], 3),
    "huge values": (1e6 * np.array([[1.0, -2.0], [3.0, 1.0], [-2.0, 2.0]]), [1, 0, 2], 3),
    "huge and small": (np.array([[1e6, 1.0], [2e6, -1.0], [-1e6, 1e-6]]), [1, 2, 0], 3),
    "one row": (np.array([[2.0, 1.0]]), [1], 2),
    "one feature": (np.array([[1.0], [2.0], [-1.0]]), [1, 1, 0], 2),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edge_cases_stay_finite_and_converge(name, bias, dtype):
    A, t, K = EDGES[name]
    solution = solver.solve(sp.csr_array(A), t, K, C=10.0, bias=bias, tol=1e-4, dtype=dtype)
    for part in (solution.coef, solution.intercept, solution.objective, solution.dual):
        assert np.isfinite(part).all()
    assert solution.gap >= 0
    if dtype == np.float64 or "huge" not in name:
        assert solution.gap <= 1e-4


@pytest.mark.filterwarnings("error")
def test_no_weight_at_all_leaves_the_mean():
    X, t, K = problem(9)
    M = np.random.default_rng(6).standard_normal((K, 12))
    solution = solver.solve(X, t, K, mean=M, sample_weight=np.zeros(60), dtype=np.float64)
    assert_allclose(solution.coef, M)
    assert solution.gap == 0


def test_the_limit_of_passes_holds():
    X, t, K = problem(10, n=100)
    for limit in (0, 1, 3):
        solution = solver.solve(X, t, K, C=1e4, tol=1e-12, dtype=np.float64, max_iter=limit)
        assert solution.n_iter <= limit
        assert np.isfinite(solution.objective).all() and solution.gap > 0


@pytest.mark.parametrize("t, shown", [([0, 1, 5], "5"), ([0, -1, 1], "-1")])
def test_a_class_out_of_range_is_refused(t, shown):
    with pytest.raises(UserError, match=f"t holds the class {shown}, but there are 3. Number"):
        solver.solve(sp.csr_array(np.eye(3)), t, 3)
