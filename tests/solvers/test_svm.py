"""Block dual coordinate descent against scikit-learn, a generic optimiser, and its own gap."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from linnaeus.execution import Serial, executor
from linnaeus.solvers.linear import svm


def problem(n=60, d=8, K=5, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, d, density=density, random_state=seed, format="csr"))
    X.data = rng.normal(size=X.nnz)
    Y = sp.csr_array((rng.random((n, K)) < 0.3).astype(np.int8))
    return X, Y


def primal(X, y, w, C, loss, mean=0.0, S=1.0, cost=1.0):
    short = np.maximum(0, 1 - y * (X @ w))
    return S / 2 * np.sum((w - mean) ** 2) + C * np.sum(
        cost * (short**2 if loss == "squared_hinge" else short)
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_every_class_is_scikit_learns_svm(loss, C):
    X, Y = problem()
    ours, _ = svm.solve(X, Y, C=C, loss=loss, tol=1e-9, max_iter=200)
    assert ours.gap <= 1e-9
    for k in range(Y.shape[1]):
        theirs = LinearSVC(C=C, loss=loss, dual=True, fit_intercept=False, tol=1e-9, max_iter=10**6)
        theirs.fit(X, Y[:, [k]].toarray().ravel())
        np.testing.assert_allclose(ours.coef[k], theirs.coef_[0], atol=2e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_certificate_holds_and_is_attained(loss):
    X, Y = problem(seed=1)
    solution, _ = svm.solve(X, Y, C=2.0, loss=loss, bias=0.5, tol=1e-3)
    Xb = np.hstack([X.toarray(), np.full((X.shape[0], 1), 0.5)])
    best, _ = svm.solve(X, Y, C=2.0, loss=loss, bias=0.5, tol=1e-10, max_iter=300)
    for k in range(Y.shape[1]):
        y = 2.0 * Y[:, [k]].toarray().ravel() - 1
        w = np.append(solution.coef[k], solution.intercept[k] / 0.5)
        np.testing.assert_allclose(primal(Xb, y, w, 2.0, loss), solution.objective[k])
        assert solution.dual[k] <= best.objective[k] * (1 + 1e-9)
        assert solution.objective[k] >= best.objective[k] * (1 - 1e-9)


def test_a_prior_mean_and_a_strength_move_the_optimum():
    X, Y = problem(seed=2, K=3)
    rng = np.random.default_rng(0)
    mean = np.hstack([rng.normal(size=(3, X.shape[1])), np.zeros((3, 1))])
    S = np.array([1.0, 2.0, 5.0])
    ours, _ = svm.solve(X, Y, C=1.5, mean=mean, strength=S, tol=1e-10, max_iter=300)
    for k in range(3):
        y = 2.0 * Y[:, [k]].toarray().ravel() - 1

        def value(w, y=y, k=k):
            return primal(X, y, w, 1.5, "squared_hinge", mean[k, :-1], S[k])

        reference = minimize(value, mean[k, :-1], method="BFGS", options={"gtol": 1e-9})
        np.testing.assert_allclose(ours.objective[k], reference.fun, rtol=1e-7)
        np.testing.assert_allclose(ours.coef[k], reference.x, atol=1e-4)


def test_weights_of_examples_are_repetitions():
    X, Y = problem(n=30, seed=3)
    weight = np.random.default_rng(1).integers(0, 4, size=30)
    again = np.repeat(np.arange(30), weight)
    for loss in ("hinge", "squared_hinge"):
        a, _ = svm.solve(X, Y, loss=loss, sample_weight=weight.astype(float), tol=1e-11)
        b, _ = svm.solve(X[again], Y[again], loss=loss, tol=1e-11)
        np.testing.assert_allclose(a.coef, b.coef, atol=1e-5)


def test_class_weights_are_costs_of_positives_and_negatives():
    X, Y = problem(seed=4, K=2)
    factors = np.array([[1.0, 0.5], [3.0, 1.0]])
    ours, _ = svm.solve(X, Y, class_weight=factors, tol=1e-10, max_iter=300)
    for k in range(2):
        y = Y[:, [k]].toarray().ravel()
        theirs = LinearSVC(
            fit_intercept=False, tol=1e-10, max_iter=10**6, dual=True,
            class_weight={0: factors[0, k], 1: factors[1, k]},
        ).fit(X, y)  # fmt: skip
        np.testing.assert_allclose(ours.coef[k], theirs.coef_[0], atol=1e-4)


def test_a_warm_start_needs_no_work_and_helps_along_a_path():
    X, Y = problem(n=200, d=30, seed=5)
    first, blocks = svm.solve(X, Y, C=1.0, tol=1e-6, keep_duals=True, max_iter=200)
    start = svm.dual_variables(blocks, Y)
    again, repeated = svm.solve(X, Y, C=1.0, tol=1e-6, start=start)
    assert again.n_iter == 0 and repeated[0].n_visits == 0
    np.testing.assert_allclose(again.coef, first.coef, atol=1e-8)
    cold, cold_blocks = svm.solve(X, Y, C=1.2, tol=1e-6, max_iter=200)
    warm, warm_blocks = svm.solve(X, Y, C=1.2, tol=1e-6, start=start, max_iter=200)
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-5)
    assert warm_blocks[0].n_visits < cold_blocks[0].n_visits


def test_the_answer_does_not_depend_on_the_number_of_threads():
    X, Y = problem(n=100, d=20, K=70, seed=6)
    one, _ = svm.solve(X, Y, dtype=np.float32, executor=Serial(), seed=3)
    two, _ = svm.solve(X, Y, dtype=np.float32, executor=executor(2), seed=3)
    assert (one.coef == two.coef).all() and (one.objective == two.objective).all()


def test_pruning_reports_what_it_costs():
    X, Y = problem(n=80, d=20, seed=7)
    full, _ = svm.solve(X, Y, tol=1e-8)
    pruned, blocks = svm.solve(X, Y, tol=1e-8, prune=0.05)
    assert sp.issparse(pruned.coef) and pruned.coef.nnz < (full.coef != 0).sum()
    assert (np.abs(pruned.coef.data) >= 0.05).all()
    rise = 0.0
    for k in range(Y.shape[1]):
        y = 2.0 * Y[:, [k]].toarray().ravel() - 1
        rise += primal(X, y, pruned.coef[[k]].toarray().ravel(), 1.0, "squared_hinge")
        rise -= primal(X, y, full.coef[k], 1.0, "squared_hinge")
    np.testing.assert_allclose(sum(block.pruned for block in blocks), rise, rtol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_odd_examples_do_no_harm(loss, dtype):
    X, Y = problem(n=40, seed=8)
    X = X.toarray()
    X[3] = 0.0  # an all-zero row
    X[4] = X[5]  # duplicate rows
    X[:, 2] = 1.0  # a constant feature
    X[7] *= 1e4  # huge values
    Y = Y.toarray()
    Y[:, 0], Y[:, 1] = 0, 1  # nobody, and everybody
    solution, _ = svm.solve(
        sp.csr_array(X), sp.csr_array(Y), loss=loss, dtype=dtype, tol=1e-3, max_iter=60
    )
    assert np.isfinite(solution.coef).all() and np.isfinite(solution.objective).all()
    assert (solution.dual <= solution.objective * (1 + 1e-6)).all()


def test_one_example_one_feature_one_class():
    one = sp.csr_array(np.array([[2.0]]))
    solution, _ = svm.solve(one, sp.csr_array(np.array([[1]])), C=10.0, loss="hinge", tol=1e-9)
    np.testing.assert_allclose(solution.coef, [[0.5]], rtol=1e-6)


def test_the_trace_falls_to_the_gap():
    X, Y = problem(n=200, d=30, K=40, seed=9)
    solution, _ = svm.solve(X, Y, tol=1e-8, max_iter=200)
    gaps = [record["gap"] for record in solution.trace]
    assert gaps[-1] <= 1e-8 and gaps[0] > gaps[-1]
    assert all(record["seconds"] >= 0 for record in solution.trace)
