"""One-vs-rest logistic regression against plain formulas, SciPy and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq, minimize
from scipy.special import entr, expit
from sklearn.linear_model import LogisticRegression

from linnaeus.errors import UserError
from linnaeus.execution import Serial, Threads
from linnaeus.solvers.linear import logistic
from linnaeus.solvers.linear.logistic_fast import binary_step
from linnaeus.solvers.numerics import coordinate_ascent


def problem(seed=0, n=60, d=15, K=4, density=0.4):
    """Sparse random features, labels of a random linear model with noise."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, d, density, random_state=rng, data_rvs=rng.standard_normal))
    Y = (X @ rng.standard_normal((d, K)) + rng.standard_normal((n, K)) > 0.5).astype(np.int8)
    return X, sp.csr_array(Y)


def costs(Y, C, sample_weight=None, class_weight=None):
    """C c_ik, plainly."""
    Y = Y.toarray()
    c = np.ones(Y.shape) if sample_weight is None else np.tile(sample_weight, (Y.shape[1], 1)).T
    if class_weight is not None:
        c = c * np.where(Y, class_weight[:, 1], class_weight[:, 0])
    return C * c


def primal_and_dual(X, Y, W, U, M=0.0, S=1.0):
    """P at W, and D at alpha_ik = U_ik sigma(-y z), by the formulas of the documentation."""
    X, y = X.toarray().astype(float), 2.0 * Y.toarray() - 1
    W, M = np.asarray(W, float), np.broadcast_to(M, W.shape)
    z = y * (X @ W.T)
    P = 0.5 * S * ((W - M) ** 2).sum(1) + (U * np.logaddexp(0, -z)).sum(0)
    a = expit(-z)
    V = (U * a * y).T @ X
    D = (U * (entr(a) + entr(1 - a))).sum(0) - (V**2).sum(1) / (2 * S) - (V * M).sum(1)
    return P, D


def optimum(X, Y, U, M, S):
    """The same problem by a generic optimiser, class by class."""
    A, y, out = X.toarray(), 2.0 * Y.toarray() - 1, []
    for k in range(Y.shape[1]):

        def value(w, k=k):
            z = y[:, k] * (A @ w)
            g = S[k] * (w - M[k]) - A.T @ (U[:, k] * y[:, k] * expit(-z))
            return 0.5 * S[k] * ((w - M[k]) ** 2).sum() + U[:, k] @ np.logaddexp(0, -z), g

        options = {"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-11}
        out.append(minimize(value, M[k], jac=True, method="L-BFGS-B", options=options).x)
    return np.array(out)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_weights_are_those_of_scikit_learn(C, scale):
    X, Y = problem(1)
    X = X * scale
    solution = logistic.solve(X, Y, C=C, tol=1e-8, dtype=np.float64, max_iter=5000)
    for k in range(Y.shape[1]):
        theirs = LogisticRegression(
            C=C, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000
        ).fit(X, Y[:, [k]].toarray().ravel())
        assert_allclose(solution.coef[k], theirs.coef_[0], atol=1e-6)
    assert solution.gap <= 1e-8


def test_intercept_and_weights_are_those_of_liblinear():
    X, Y = problem(2)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, X.shape[0]).astype(float)
    solution = logistic.solve(
        X, Y, C=2.0, bias=1.5, sample_weight=weight, class_weight=np.tile([1.0, 3.0], (4, 1)),
        tol=1e-8, dtype=np.float64,
    )  # fmt: skip
    theirs = LogisticRegression(
        C=2.0, solver="liblinear", intercept_scaling=1.5, class_weight={0: 1.0, 1: 3.0},
        tol=1e-12, max_iter=5000,
    ).fit(X, Y[:, [1]].toarray().ravel(), sample_weight=weight)  # fmt: skip
    assert_allclose(solution.coef[1], theirs.coef_[0], atol=1e-6)
    assert_allclose(solution.intercept[1], theirs.intercept_[0], atol=1e-6)


def test_mean_and_strength_against_a_generic_optimiser():
    X, Y = problem(3)
    rng = np.random.default_rng(1)
    M, S = rng.standard_normal((4, 15)), np.array([0.3, 1.0, 2.0, 5.0])
    U = costs(Y, 1.7)
    solution = logistic.solve(X, Y, C=1.7, mean=M, strength=S, tol=1e-9, dtype=np.float64)
    W = optimum(X, Y, U, M, S)
    assert_allclose(solution.coef, W, atol=1e-5)
    assert_allclose(solution.objective, primal_and_dual(X, Y, W, U, M, S)[0], rtol=1e-9)
    assert_allclose(solution.dual, solution.objective, rtol=1e-8)


def test_a_mean_of_the_intercept_is_one_of_the_constant_feature():
    X, Y = problem(4)
    M, m = np.random.default_rng(2).standard_normal((4, 15)), np.array([1.0, -2.0, 0.0, 3.0])
    ours = logistic.solve(X, Y, mean=M, mean_intercept=m, bias=2.0, tol=1e-9, dtype=np.float64)
    wide = sp.csr_array(sp.hstack([X, np.full((X.shape[0], 1), 2.0)]))
    same = logistic.solve(wide, Y, mean=np.c_[M, m / 2], tol=1e-9, dtype=np.float64)
    assert_allclose(ours.coef, same.coef[:, :-1], atol=1e-6)
    assert_allclose(ours.intercept, 2.0 * same.coef[:, -1], atol=1e-6)
    alone = logistic.solve(X, Y, mean_intercept=m, bias=2.0, tol=1e-9, dtype=np.float64)
    none = logistic.solve(
        X, Y, mean=np.zeros_like(M), mean_intercept=m, bias=2.0, tol=1e-9, dtype=np.float64
    )
    assert_array_equal(alone.coef, none.coef)


@given(st.integers(0, 10**6), st.floats(0.01, 100), st.floats(0.1, 10))
def test_the_gap_at_any_weights_is_half_the_squared_gradient_over_the_strength(seed, C, S):
    X, Y = problem(seed, n=12, d=5, K=2)
    rng = np.random.default_rng(seed)
    W, M = rng.standard_normal((2, 2, 5))
    P, D = primal_and_dual(X, Y, W, costs(Y, C), M, S)
    z = X @ W.T
    g = S * (W - M) + C * (expit(z) - Y.toarray()).T @ X.toarray()
    assert_allclose(P - D, (g**2).sum(1) / (2 * S), rtol=1e-8, atol=1e-9 * abs(P).max())


@pytest.mark.parametrize("dtype, rtol", [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-5])
def test_the_certificate_is_true(dtype, rtol, tol):
    X, Y = problem(5, n=200, d=40, K=40)
    X = X.astype(np.float32).astype(np.float64)  # the same problem for both
    rng = np.random.default_rng(3)
    M, S = rng.standard_normal((40, 40)), rng.uniform(0.5, 3, 40)
    best = logistic.solve(X, Y, mean=M, strength=S, tol=1e-9, dtype=np.float64)
    loose = logistic.solve(X, Y, mean=M, strength=S, tol=tol, dtype=dtype)
    P, _ = primal_and_dual(X, Y, loose.coef, costs(Y, 1.0), M, S)
    assert_allclose(loose.objective, P, rtol=rtol)
    assert (loose.dual <= best.objective * (1 + rtol)).all()
    assert (loose.objective >= best.dual * (1 - rtol)).all()
    assert loose.gap <= tol
    assert_allclose(loose.trace[-1]["gap"], loose.gap, rtol=1e-6)
    assert loose.coef.dtype == dtype


@given(st.floats(-30, 30), st.floats(0, 1e6), st.floats(-30, 30))
def test_a_step_nearly_solves_its_equation_and_never_lowers_the_dual(z, q, r):
    pi = expit(r)
    new, p = binary_step(z, q, r, pi)
    assert_allclose(p, expit(new), rtol=1e-12)
    low, high = z + q * (pi - 1) - 1, z + q * pi + 1
    root = brentq(lambda s: s - z + q * (expit(s) - pi), low, high, xtol=1e-12)
    assert abs(new - root) < 0.05

    def dual(s):
        return entr(expit(s)) + entr(expit(-s)) + expit(s) * z - 0.5 * q * (expit(s) - pi) ** 2

    assert dual(new) >= dual(r) - 1e-9 * (1 + abs(z) + q)


def test_newton_finishes_what_coordinate_ascent_leaves(monkeypatch):
    X, Y = problem(6, K=6)
    M = np.random.default_rng(4).standard_normal((6, 15))
    ascended = logistic.solve(X, Y, C=3.0, mean=M, tol=1e-9, dtype=np.float64)
    monkeypatch.setattr(coordinate_ascent, "next_look", lambda history, target, limit: 0)
    newton = logistic.solve(X, Y, C=3.0, mean=M, tol=1e-9, dtype=np.float64)
    assert newton.n_iter > coordinate_ascent.FIRST_LOOK
    assert_allclose(newton.coef, ascended.coef, atol=1e-6)
    assert_allclose(newton.objective, ascended.objective, rtol=1e-12)
    assert newton.gap < 1e-12
    assert logistic.solve(X, Y, C=3.0, mean=M, tol=1e-5).gap <= 1e-5


def test_badly_scaled_features_converge():
    X, Y = problem(7, n=100, d=6, density=1.0)
    X = sp.csr_array(X * np.array([1e-3, 1.0, 10.0, 100.0, 1e3, 1e4]))
    solution = logistic.solve(X, Y, C=100.0, bias=1.0, tol=1e-6, dtype=np.float64)
    assert solution.gap <= 1e-6


def test_classes_that_have_converged_leave_the_block(monkeypatch):
    X, Y = problem(8, n=100, K=9)
    weight = np.ones((9, 2))
    weight[6:] = 100.0  # the last three are hard
    widths = []

    class Watched(logistic._LogisticRun):
        def sweep(self, order):
            widths.append(self.W.shape[1])
            super().sweep(order)

    monkeypatch.setattr(logistic, "_LogisticRun", Watched)
    monkeypatch.setattr(coordinate_ascent, "TOO_SLOW", np.inf)
    together = logistic.solve(X, Y, class_weight=weight, tol=1e-9, dtype=np.float64)
    assert widths[0] == 9 and widths[-1] == 3
    for k in (0, 8):
        alone = logistic.solve(X, Y[:, [k]], class_weight=weight[[k]], tol=1e-9, dtype=np.float64)
        assert_allclose(together.coef[k], alone.coef[0], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(dtype):
    X, Y = problem(9, n=100, d=30, K=100)
    runs = [
        logistic.solve(X, Y, bias=1.0, tol=1e-4, dtype=dtype, executor=where)
        for where in (Serial(), Threads(2), Threads(5))
    ]
    for other in runs[1:]:
        for name in ("coef", "intercept", "objective", "dual", "n_iter"):
            assert_array_equal(getattr(runs[0], name), getattr(other, name))


def test_a_warm_start_saves_passes():
    X, Y = problem(10, n=300, d=50, K=5)
    M = 0.01 * np.random.default_rng(5).standard_normal((5, 50))
    options = {"bias": 1.0, "tol": 1e-5, "dtype": np.float64}
    first = logistic.solve(X, Y, **options)
    again = logistic.solve(X, Y, start=first, **options)
    assert again.n_iter < first.n_iter / 2
    moved = logistic.solve(X, Y, mean=M, **options)
    warm = logistic.solve(X, Y, mean=M, start=first, **options)
    assert warm.n_iter < moved.n_iter
    assert_allclose(warm.objective, moved.objective, rtol=2e-5)
    sparse = first._replace(coef=sp.csr_array(first.coef))
    assert_array_equal(logistic.solve(X, Y, mean=M, start=sparse, **options).coef, warm.coef)
    more = logistic.solve(X, Y, C=1.5, start=first, **options)
    assert_allclose(more.objective, logistic.solve(X, Y, C=1.5, **options).objective, rtol=2e-5)


def test_useless_starts_do_no_harm():
    X, Y = problem(11)
    for start in (0.0, 1e4):
        given_ = logistic.solve(X, Y)._replace(coef=np.full((4, 15), start))
        assert logistic.solve(X, Y, start=given_, tol=1e-6, dtype=np.float64).gap <= 1e-6


EDGES = {
    "zero rows": (np.zeros((4, 3)), [1, 0, 1, 0]),
    "some zero rows": (np.vstack([np.zeros((2, 3)), np.eye(3)]), [1, 0, 1, 0, 0]),
    "no positives": (np.eye(4), [0, 0, 0, 0]),
    "no negatives": (np.eye(4), [1, 1, 1, 1]),
    "constant feature": (np.ones((5, 2)), [1, 0, 1, 1, 0]),
    "duplicate rows": (np.tile([[1.0, 2.0]], (6, 1)), [1, 0, 1, 0, 1, 1]),
    "huge values": (1e6 * np.array([[1.0, -2.0], [3.0, 1.0], [-2.0, 2.0]]), [1, 0, 1]),
    "huge and small": (np.array([[1e6, 1.0], [2e6, -1.0], [-1e6, 1e-6]]), [1, 1, 0]),
    "one row": (np.array([[2.0, 1.0]]), [1]),
    "one feature": (np.array([[1.0], [2.0], [-1.0]]), [1, 1, 0]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edge_cases_stay_finite_and_converge(name, bias, dtype):
    A, y = EDGES[name]
    X, Y = sp.csr_array(A), sp.csr_array(np.array(y)[:, None])
    solution = logistic.solve(X, Y, C=10.0, bias=bias, tol=1e-4, dtype=dtype)
    for part in (solution.coef, solution.intercept, solution.objective, solution.dual):
        assert np.isfinite(part).all()
    assert solution.gap >= 0
    if dtype == np.float64 or "huge" not in name:
        assert solution.gap <= 1e-4


@pytest.mark.filterwarnings("error")
def test_no_weight_at_all_leaves_the_mean():
    X, Y = problem(12)
    M = np.random.default_rng(6).standard_normal((4, 15))
    solution = logistic.solve(X, Y, mean=M, sample_weight=np.zeros(60), dtype=np.float64)
    assert_allclose(solution.coef, M)
    assert solution.gap == 0
    solution = logistic.solve(X, Y, mean=M, class_weight=np.zeros((4, 2)), dtype=np.float64)
    assert_allclose(solution.coef, M)


def test_zero_weights_are_missing_rows_and_integer_weights_are_copies():
    X, Y = problem(13)
    weight = np.random.default_rng(7).integers(0, 3, 60)
    copies = np.repeat(np.arange(60), weight)
    options = {"tol": 1e-9, "dtype": np.float64}
    assert_allclose(
        logistic.solve(X, Y, sample_weight=weight, **options).coef,
        logistic.solve(X[copies], Y[copies], **options).coef,
        atol=1e-6,
    )


def test_the_limit_of_passes_holds():
    X, Y = problem(14, n=100)
    for limit in (0, 1, 3):
        solution = logistic.solve(X, Y, C=1e4, tol=1e-12, dtype=np.float64, max_iter=limit)
        assert solution.n_iter <= limit
        assert np.isfinite(solution.objective).all() and solution.gap > 0


@pytest.mark.parametrize(
    "options, message",
    [
        ({"C": 0.0}, "C is 0.0. Use a positive number."),
        ({"strength": [1.0, 0.0, 1.0, 1.0]}, "strength holds 0.0. Use positive numbers."),
        ({"sample_weight": np.ones(3)}, r"shape \(3,\), but there are 60 samples"),
        ({"sample_weight": -np.ones(60)}, "sample_weight holds -1.0. Use finite weights"),
        ({"mean_intercept": np.ones(4)}, "mean_intercept is given, but bias is 0"),
    ],
)
def test_wrong_numbers_are_refused(options, message):
    X, Y = problem(15)
    with pytest.raises(UserError, match=message):
        logistic.solve(X, Y, **options)
