"""Interior point methods against proofs by hand, generic minimisers, scikit-learn, descent."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.svm import SVC, LinearSVC

from linnaeus.solvers.linear import msvm, msvm_interior, svm, svm_newton
from linnaeus.solvers.numerics import gram, interior
from linnaeus.solvers.numerics.examples import Rows
from marks import slow


def data(n=60, d=6, span=0.0, noise=1.0, seed=0):
    """Rows with a constant feature, whose columns have sizes 10^-span to 10^span; labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    return np.hstack([X * 10 ** rng.uniform(-span, span, d), np.ones((n, 1))]), y


def values(X, y, u, m, squared, w, a):
    """P and D by their definitions; the dual variables must be feasible."""
    assert (a >= 0).all() and (squared or (a <= u).all())
    over = np.maximum(0.0, 1.0 - y * (X @ w))
    P = 0.5 * ((w - m) ** 2).sum() + (u * (over**2 if squared else over)).sum()
    used = a > 0
    conj = (a[used] ** 2 / (4 * u[used])).sum() if squared else 0.0
    D = (a * (1.0 - y * (X @ m))).sum() - conj - 0.5 * ((X.T @ (a * y)) ** 2).sum()
    return P, D


def check(X, y, u, m=None, squared=False, tol=1e-9, examples=None):
    """Solve and prove by hand that the answer is optimal."""
    u = np.broadcast_to(np.asarray(u, float), y.shape)
    m = np.zeros(X.shape[1]) if m is None else m
    done = svm_newton.polish(examples or gram.Examples(X), y, u, m, squared=squared, tol=tol)
    P, D = values(X, y, u, m, squared, done.w, done.alpha)
    assert_allclose([done.primal, done.dual], [P, D], rtol=1e-9, atol=1e-12)
    assert done.dual <= done.primal
    assert 1.01 * tol * P + 1e-14 >= P - D
    assert done.n_iter <= 60
    return done


both = pytest.mark.parametrize("squared", [False, True])


# --- one class ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    d=st.integers(1, 12),
    span=st.sampled_from([0.0, 1.0, 3.0]),
    noise=st.sampled_from([0.0, 1.0]),
    C=st.sampled_from([0.01, 1.0, 1000.0]),
    squared=st.booleans(),
)
def test_any_problem_is_solved_with_a_proof(seed, n, d, span, noise, C, squared):
    """Zero rows, equal rows with both labels, a prior mean, and costs of which some are 0."""
    X, y = data(n, d, span, noise, seed)
    rng = np.random.default_rng(seed)
    X[rng.random(n) < 0.2] = 0.0
    X[rng.random(n) < 0.2] = X[0]
    m = rng.integers(0, 2) * rng.normal(size=d + 1) / np.maximum(np.abs(X).max(axis=0), 1e-3)
    check(X, y, C * rng.choice([0.0, 0.1, 1.0], n), m, squared, tol=1e-8)


@both
def test_features_from_a_millionth_to_a_million(squared):
    X, y = data(300, 40, span=6.0)
    check(X, y, 100.0, squared=squared)


@both
def test_equals_a_generic_minimiser(squared):
    """SciPy's bounded L-BFGS on the dual, of a small problem."""
    X, y = data(30, 3)
    rng = np.random.default_rng(1)
    u, m = rng.uniform(0.2, 2.0, 30), rng.normal(size=4)
    A, bend = y[:, None] * X, 0.5 / u if squared else np.zeros(30)
    K, r = A @ A.T + np.diag(bend), 1.0 - A @ m
    theirs = minimize(
        lambda a: (0.5 * a @ K @ a - r @ a, K @ a - r), np.zeros(30), jac=True, method="L-BFGS-B",
        bounds=[(0.0, None if squared else c) for c in u],
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    ours = check(X, y, u, m, squared)
    assert_allclose(ours.dual, -theirs.fun, rtol=1e-7)
    assert_allclose(ours.w, m + A.T @ theirs.x, atol=1e-4)


def test_equals_scikit_learn():
    X, y = data(120, 5)
    kernel = SVC(kernel=lambda A, B: A @ B.T, C=2.0, tol=1e-10)
    # two copies of every row with opposite signs and labels leave no use for a free intercept
    kernel.fit(np.vstack([X, -X]), np.concatenate([y, -y]))
    assert abs(kernel.intercept_[0]) <= 1e-6
    w = (kernel.dual_coef_ @ np.vstack([X, -X])[kernel.support_])[0]
    assert_allclose(check(X, y, 4.0).w, w, atol=1e-4)
    for squared, loss in ((False, "hinge"), (True, "squared_hinge")):
        linear = LinearSVC(
            C=2.0, loss=loss, dual=True, fit_intercept=False, tol=1e-10, max_iter=10**6
        )
        ours = check(X, y, 2.0, squared=squared)
        assert_allclose(ours.w, linear.fit(X, y).coef_[0], atol=1e-4)


@both
def test_equals_coordinate_descent(squared):
    X, y = data(200, 10)
    m = np.random.default_rng(0).normal(size=11)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 200)
    descent, _ = svm.solve(
        sp.csr_array(X[:, :-1]), sp.csr_array((y[:, None] > 0).astype(float)), C=0.5, bias=1.0,
        loss="squared_hinge" if squared else "hinge", mean=m[None], sample_weight=weight,
        tol=1e-9, max_iter=1000,
    )  # fmt: skip
    ours = check(X, y, 0.5 * weight, m, squared)
    assert_allclose(ours.primal, descent.objective[0], rtol=1e-7)
    assert_allclose(ours.w[:-1], descent.coef[0], atol=1e-3)


@both
@pytest.mark.parametrize("C", [10.0, 1000.0])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_real_data_as_they_come(load, C, squared):
    X, t = load(return_X_y=True)
    check(np.hstack([X, np.ones((t.size, 1))]), np.where(t == 1, 1.0, -1.0), C, squared=squared)


def test_a_problem_solved_on_paper():
    """One example x = 2 with u = 1: w = 1/2 for the hinge, and w = 4 (1 - 2 w) for its square."""
    x, y = np.array([[2.0]]), np.ones(1)
    assert_allclose(check(x, y, 1.0).w, [0.5], atol=1e-8)
    assert_allclose(check(x, y, 1.0, squared=True).w, [4.0 / 9.0], atol=1e-8)


@both
def test_nothing_to_do(squared):
    X, y = data(10, 3)
    m = 1e3 * np.linalg.lstsq(X, y, rcond=None)[0]
    keeps = y * (X @ m) >= 1.0
    done = check(X[keeps], y[keeps], 1.0, m, squared)
    assert_array_equal(done.w, m)
    assert done.primal == done.dual == done.n_iter == 0
    without = check(X, y, np.zeros(10), None, squared)
    assert not without.w.any() and not without.alpha.any()


@both
def test_float32_is_measured_after_rounding(squared):
    X, y = data(100, 8)
    u, m = np.full(100, np.float32(0.7), float), np.zeros(9)
    done = svm_newton.polish(gram.Examples(X), y, u, m, squared=squared, tol=1e-4, dtype=np.float32)
    assert_array_equal(done.w, done.w.astype(np.float32))
    assert_array_equal(done.alpha, done.alpha.astype(np.float32))
    P, D = values(X, y, u, m, squared, done.w, done.alpha)
    assert_allclose([P, D], [done.primal, done.dual], rtol=1e-10)
    assert P - D <= 1e-4 * P


@both
def test_sparse_rows_pieces_and_few_rows_are_the_same_problem(squared, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = data(90, 30)
    X *= rng.random(X.shape) < 0.04
    whole = check(X, y, 5.0, squared=squared)
    sparse = gram.Examples(sp.csr_array(X))
    assert sparse.sparse
    assert_allclose(check(X, y, 5.0, squared=squared, examples=sparse).w, whole.w, atol=1e-4)
    monkeypatch.setattr(gram, "CHUNK", 100)
    assert_allclose(check(X, y, 5.0, squared=squared).w, whole.w, atol=1e-4)
    monkeypatch.setattr(gram, "FEW", 0)
    few = check(X[:20], y[:20], 5.0, squared=squared)  # 20 rows, 31 features
    monkeypatch.undo()
    assert_allclose(check(X[:20], y[:20], 5.0, squared=squared).w, few.w, atol=1e-4)


def test_rows_become_examples_with_the_constant_last():
    X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    examples = gram.Examples.of(Rows.of(X, np.float32), 2, 3.0)
    assert_array_equal(examples.X, [[1, 0, 3], [0, 2, 3]])
    assert_array_equal(
        np.tril(examples.gram(np.array([4.0, 1.0]))), [[4, 0, 0], [0, 4, 0], [12, 6, 45]]
    )


def test_the_estimate_of_work_grows_with_all_and_ends():
    base = gram.work(1000, 50, 50_000)
    assert base < gram.work(2000, 50, 100_000) < gram.work(2000, 100, 200_000)
    assert gram.work(2000, 100, 200_000) < gram.work(2000, 100, 200_000, n_classes=5)
    assert gram.work(10**6, 10**5, 10**8) == np.inf


def test_a_singular_system_still_has_a_solution():
    H = 1e20 * np.ones((3, 3))
    x = interior.factorised(H)(np.ones(3))
    assert_allclose(x.sum(), 1e-20, rtol=1e-6)


@both
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid", "ignore:divide")
def test_numbers_out_of_range_are_not_called_optimal(squared):
    X, y = data(20, 3)
    done = svm_newton.polish(
        gram.Examples(1e200 * X), y, np.ones(20), np.zeros(4), squared=squared, tol=1e-3
    )
    assert not done.primal - done.dual <= 1e-3 * done.primal


def test_the_same_bits_again():
    X, y = data(100, 8, span=2.0)
    first, second = (check(X, y, 10.0) for _ in range(2))
    assert_array_equal(first.w, second.w)
    assert_array_equal(first.alpha, second.alpha)


# --- all classes together ----------------------------------------------------------------------


def multiclass(X, t, K, C, tol=1e-9):
    """Solve and prove by hand that the answer is optimal."""
    cost = np.broadcast_to(np.asarray(C, float), t.shape)
    done = msvm_interior.polish(gram.Examples(X), t, K, cost, tol=tol)
    own, U = np.eye(K)[t].T, done.U
    assert (U >= 0).all() and (U * own == 0).all() and (U.sum(axis=0) <= cost * (1 + 1e-12)).all()
    h = 1.0 - own + done.W @ X.T - (own * (done.W @ X.T)).sum(axis=0)
    P = 0.5 * (done.W**2).sum() + cost @ h.max(axis=0)
    D = U.sum() - 0.5 * (((own * U.sum(axis=0) - U) @ X) ** 2).sum()
    assert_allclose([done.primal, done.dual], [P, D], rtol=1e-9)
    assert 1.01 * tol * P >= P - D and done.n_iter <= 60
    return done


@pytest.mark.parametrize("C", [1.0, 1000.0])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_all_classes_of_real_data_as_they_come(load, C):
    X, t = load(return_X_y=True)
    multiclass(np.hstack([X, np.ones((t.size, 1))]), t, 3, C)


def test_all_classes_equal_coordinate_descent():
    X, t = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    descent = msvm.solve(sp.csr_array(X), t, 4, C=0.1, dtype=np.float64, tol=1e-9)
    ours = multiclass(X, t, 4, 0.1)  # the fourth class has no examples
    assert_allclose(ours.primal, descent.objective[0], rtol=1e-7)
    assert_allclose(ours.W, descent.coef, atol=1e-4)


def test_few_rows_of_all_classes(monkeypatch):
    X, _ = data(12, 20)
    t = np.arange(12) % 3
    whole = multiclass(X, t, 3, 2.0)
    monkeypatch.setattr(gram, "FEW", 0)
    assert_allclose(multiclass(X, t, 3, 2.0).W, whole.W, atol=1e-4)


@pytest.mark.parametrize("dtype", [slow(np.float32), np.float64])
def test_the_machine_finishes_where_descent_crawls(dtype):
    """Descent alone has a relative gap of 1 here after 1000 passes."""
    X, t = load_wine(return_X_y=True)
    solution = msvm.solve(sp.csr_array(X), t, 3, C=10.0, bias=1.0, tol=1e-3, dtype=dtype)
    assert solution.gap <= 1e-3
    assert_allclose(solution.objective, 31.027294, rtol=1e-3)
    again = msvm.solve(
        sp.csr_array(X), t, 3, C=10.0, bias=1.0, tol=2e-3, dtype=dtype, start=solution
    )
    assert again.gap <= 2e-3


def test_costs_of_zero_do_not_stop_the_finish():
    X, t = load_wine(return_X_y=True)
    weight = np.arange(t.size) % 3 / 2.0
    solution = msvm.solve(
        sp.csr_array(X), t, 3, C=10.0, sample_weight=weight, dtype=np.float64, tol=1e-6
    )
    assert solution.gap <= 1e-6
    kept = weight > 0
    part = multiclass(X[kept], t[kept], 3, 10.0 * weight[kept])
    assert_allclose(solution.objective[0], part.primal, rtol=1e-5)
