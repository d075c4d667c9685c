"""The Crammer-Singer machine against its certificate by hand, LIBLINEAR, and exact sub-problems."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from linnaeus.errors import UserError
from linnaeus.solvers.linear import msvm, msvm_fast
from marks import slow

TIGHT = {"dtype": np.float64, "tol": 1e-8, "max_iter": 20_000}


def problem(n=60, d=12, n_classes=5, density=0.5, seed=0):
    """Sparse rows around class centres, with some labels wrong."""
    rng = np.random.default_rng(seed)
    t = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n_classes, d))[t] + rng.normal(size=(n, d))
    X *= rng.random((n, d)) < density
    wrong = rng.random(n) < 0.1
    t[wrong] = rng.integers(0, n_classes, wrong.sum())
    return sp.csr_array(X), t


def primal(X, t, coef, cost, intercept=0.0, bias=0.0):
    """P by its definition."""
    scores = X @ coef.T + intercept
    margin = scores + 1.0 - scores[np.arange(t.size), t][:, None]
    margin[np.arange(t.size), t] = 0.0
    constant = np.asarray(intercept, float) / bias if bias else 0.0
    norm2 = (np.asarray(coef, float) ** 2).sum() + np.sum(constant**2)
    return 0.5 * norm2 + cost @ margin.max(axis=1)


def dual(X, t, U, cost, bias=0.0):
    """D by its definition, for multipliers that are feasible."""
    own = np.eye(U.shape[1])[t]
    assert (U >= 0).all() and (U * own == 0).all()
    assert (U.sum(axis=1) <= cost * (1 + 1e-12)).all()
    A = np.hstack([X.toarray(), np.full((t.size, 1), bias)])
    W = (own * U.sum(axis=1, keepdims=True) - U).T @ A
    return U.sum() - 0.5 * (W**2).sum()


def values(X, t, solution, C=1.0, bias=0.0, weight=1.0):
    """P of the weights and D of the multipliers."""
    t, cost = np.asarray(t), C * np.broadcast_to(weight, X.shape[0])
    P = primal(X, t, solution.coef, cost, solution.intercept, bias)
    return P, dual(X, t, solution.multipliers.toarray(), cost, bias)


def check(X, t, n_classes, rtol=1e-8, **options):
    """Solve to a tight tolerance and prove by hand that the answer is optimal."""
    solution = msvm.solve(X, t, n_classes, **{**TIGHT, **options})
    about = {k: v for k, v in options.items() if k in ("C", "bias")}
    P, D = values(X, t, solution, weight=options.get("sample_weight", 1.0), **about)
    assert np.isfinite(solution.coef).all() and np.isfinite(solution.intercept).all()
    assert solution.coef.shape == (n_classes, X.shape[1])
    assert solution.objective.shape == solution.dual.shape == (1,)
    assert_allclose(solution.objective[0], P, rtol=1e-9, atol=1e-12)
    assert_allclose(solution.dual[0], D, rtol=1e-8, atol=1e-12)
    assert solution.dual[0] <= solution.objective[0]
    assert 1.01 * rtol * P + 1e-12 >= P - D
    return solution


def block_by_bisection(h, u, q, c):
    """The optimal multipliers of one example, the level found by bisection with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        q, c = Decimal(q), Decimal(c)
        D = [Decimal(float(x)) + q * Decimal(float(y)) for x, y in zip(h, u, strict=True)]
        B = -q * sum(Decimal(float(y)) for y in u)
        low, high = min([B, *D]) - q * c - 1, max([B, *D]) + 1
        for _ in range(250):
            middle = (low + high) / 2
            excess = sum(max(x - middle, Decimal(0)) for x in D) - min(q * c, middle - B)
            low, high = (middle, high) if excess > 0 else (low, middle)
        return np.array([float(max(x - high, Decimal(0)) / q) for x in D])


# --- the sub-problem ---------------------------------------------------------------------------


@given(
    h=hnp.arrays(
        float, st.integers(1, 8), elements=st.floats(-10, 10) | st.sampled_from([0.0, 1.0])
    ),
    share=hnp.arrays(float, 8, elements=st.floats(0, 1)),
    q=st.sampled_from([1e-6, 0.3, 1.0, 2.0, 1e6]),
    c=st.sampled_from([1e-9, 0.1, 1.0, 50.0, 1e9]),
)
def test_a_block_is_solved_exactly(h, share, q, c):
    m = h.size
    u = np.minimum(share[:m] * c / m, 1 / q)
    new = np.empty(m)
    msvm_fast.solve_block(h, u, m, q, c, np.empty(m), new)
    largest = (np.abs(h).max() + 1) / q
    atol = 1e-9 * min(c, largest) + 1e-14 * largest
    assert_allclose(new, block_by_bisection(h, u, q, c), rtol=1e-9, atol=atol)
    assert (new >= 0).all() and new.sum() <= c * (1 + 1e-12)


# --- the whole problem -------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    n_classes=st.integers(1, 5),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    bias=st.sampled_from([0.0, 1.0]),
    values_=st.sampled_from(["real", "binary"]),
)
def test_any_small_problem_is_solved_with_a_proof(seed, n, n_classes, C, bias, values_):
    """Zero rows, duplicates with different labels and classes without examples all occur."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) if values_ == "real" else rng.integers(0, 2, (n, 3)).astype(float)
    X *= rng.random((n, 1)) < 0.8
    weight = rng.integers(0, 3, n) * rng.choice([1.0, 0.3])
    t = rng.integers(0, n_classes, n)
    check(sp.csr_array(X), t, n_classes, C=C, bias=bias, sample_weight=weight, random_state=seed)


@pytest.mark.parametrize("C", [0.05, 1.0, 5.0])
@pytest.mark.parametrize("n_classes", [3, 30])
def test_equals_liblinear(C, n_classes):
    X, t = problem(n=80, d=15, n_classes=n_classes)
    t[:n_classes] = np.arange(n_classes)  # LIBLINEAR knows only classes that occur
    ours = check(X, t, n_classes, C=C, tol=1e-10, rtol=1e-10)
    theirs = LinearSVC(
        multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-9, max_iter=10**6
    ).fit(X, t)
    P = primal(X, t, theirs.coef_, np.full(80, C))
    assert_allclose(ours.objective[0], P, rtol=1e-6)
    assert_allclose(ours.coef, theirs.coef_, atol=1e-4)


def test_the_constant_feature_is_a_feature():
    X, t = problem()
    ours = check(X, t, 5, bias=2.0, tol=1e-10)
    column = sp.csr_array(sp.hstack([X, np.full((X.shape[0], 1), 2.0)]))
    appended = check(column, t, 5, tol=1e-10)
    assert_allclose(ours.objective, appended.objective, rtol=1e-9)
    assert_allclose(ours.coef, appended.coef[:, :-1], atol=1e-4)
    assert_allclose(ours.intercept, 2.0 * appended.coef[:, -1], atol=1e-4)


def test_two_classes_are_a_binary_machine_with_twice_the_cost():
    """With v = w_1 - w_0 and w_0 = -w_1 the objective is half of 1/2 ||v||^2 + 2 C sum hinge."""
    X, t = problem(n=100, n_classes=2)
    ours = check(X, t, 2, C=0.7, tol=1e-10)
    binary = LinearSVC(loss="hinge", fit_intercept=False, C=1.4, tol=1e-10, max_iter=10**6)
    v = binary.fit(X, t).coef_[0]
    P = 0.5 * v @ v + 1.4 * np.maximum(0.0, 1.0 - (2 * t - 1) * (X @ v)).sum()
    assert_allclose(ours.coef[1] - ours.coef[0], v, atol=1e-4)
    assert_allclose(ours.coef[0], -ours.coef[1], atol=1e-12)
    assert_allclose(2 * ours.objective[0], P, rtol=1e-6)


def test_a_problem_solved_on_paper():
    """K orthogonal unit rows, large C: u = 1/K each, w_k = e_k - 1/K, P = (K - 1) / 2."""
    for K in (2, 3, 40):
        solution = check(sp.csr_array(np.eye(K)), np.arange(K), K, C=10.0)
        assert_allclose(solution.coef, np.eye(K) - 1 / K, atol=1e-4)
        assert_allclose(solution.objective, (K - 1) / 2, rtol=1e-8)


def test_more_positive_multipliers_than_the_first_room():
    K = 3 * msvm.ROOM
    solution = check(sp.csr_array(np.eye(K)), np.arange(K), K)
    assert solution.multipliers.nnz == K * (K - 1)


def test_weights_of_examples_count_copies():
    X, t = problem(n=30)
    weight = np.arange(30) % 3
    weighted = check(X, t, 5, sample_weight=weight, tol=1e-11)
    copied = check(X[np.repeat(np.arange(30), weight)], np.repeat(t, weight), 5, tol=1e-11)
    assert_allclose(weighted.objective, copied.objective, rtol=1e-8)
    assert_allclose(weighted.coef, copied.coef, atol=1e-4)


@pytest.mark.parametrize("dtype", [slow(np.float32), np.float64])
def test_float32_reaches_the_same_objective(dtype):
    X, t = problem(n=300, d=40, n_classes=20)
    exact = msvm.solve(X, t, 20, **TIGHT)
    ours = msvm.solve(X, t, 20, tol=1e-4, dtype=dtype)
    assert ours.coef.dtype == ours.intercept.dtype == dtype
    assert ours.gap <= 1e-4
    P, D = values(X, t, ours)
    assert_allclose([P, D], [ours.objective[0], ours.dual[0]], rtol=1e-5)
    assert exact.objective[0] * (1 - 1e-7) <= ours.objective[0] <= exact.objective[0] * 1.0001


@pytest.mark.slow
def test_float32_gives_up_where_rounding_hides_the_rest():
    X, t = problem(n=100, d=200, n_classes=4)
    solution = msvm.solve(X, t, 4, C=100.0, tol=1e-14, max_iter=10**6)
    assert solution.n_iter < 1000
    rounding = np.finfo(np.float32).eps * 100 * 100.0  # in all losses together
    assert solution.objective[0] - solution.dual[0] <= 10 * rounding


def test_the_same_seed_gives_the_same_bits():
    X, t = problem(n=200)
    first, second = (msvm.solve(X, t, 5, random_state=3) for _ in range(2))
    assert_array_equal(first.coef, second.coef)
    assert_array_equal(first.multipliers.toarray(), second.multipliers.toarray())
    assert first.n_iter == second.n_iter
    assert not np.array_equal(first.coef, msvm.solve(X, t, 5, random_state=4).coef)


def test_the_trace_ends_with_the_certificate():
    X, t = problem(n=200)
    solution = msvm.solve(X, t, 5, tol=1e-3)
    last = solution.trace[-1]
    assert last["objective"] == solution.objective[0]
    assert_allclose(last["gap"], solution.gap)
    assert solution.gap <= 1e-3
    assert (np.diff([record["seconds"] for record in solution.trace]) >= 0).all()


def test_the_number_of_passes_is_bounded_and_certified():
    X, t = problem(n=200)
    for limit in (0, 1, 2, 7):
        solution = msvm.solve(X, t, 5, tol=0.0, max_iter=limit, dtype=np.float64)
        assert solution.n_iter == limit
        assert_allclose(values(X, t, solution)[0], solution.objective[0])
        assert_allclose(values(X, t, solution)[1], solution.dual[0], atol=1e-9)


def test_an_earlier_solution_is_a_start():
    X, t = problem(n=300, d=30)
    cold = msvm.solve(X, t, 5, C=2.0, **TIGHT)
    again = msvm.solve(X, t, 5, C=2.0, start=cold, **TIGHT)
    assert again.n_iter == 0 and again.gap <= 1e-8
    smaller = check(X, t, 5, C=1.0, start=cold)  # its multipliers are too large: scaled down
    assert_allclose(smaller.objective, check(X, t, 5, C=1.0).objective, rtol=1e-7)


# --- edges -------------------------------------------------------------------------------------


def test_rows_without_features_lose_one_each():
    X = sp.csr_array(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    solution = check(X, [0, 1, 2, 1], 3, C=0.5)
    without = check(X[1:3], [1, 2], 3, C=0.5)
    assert_allclose(solution.objective, without.objective + 2 * 0.5)


def test_all_rows_are_empty():
    solution = check(sp.csr_array((4, 3)), [0, 1, 0, 1], 2, C=2.0)
    assert not solution.coef.any() and solution.objective[0] == solution.dual[0] == 8.0


def test_one_class_needs_no_weights():
    solution = check(problem()[0], np.zeros(60, dtype=int), 1, bias=1.0)
    assert not solution.coef.any() and solution.objective[0] == solution.dual[0] == 0.0


def test_no_rows_and_one_row():
    none = msvm.solve(sp.csr_array((0, 3)), np.zeros(0, dtype=int), 4)
    assert none.coef.shape == (4, 3) and none.objective[0] == 0.0
    one = check(sp.csr_array([[3.0, 4.0]]), [2], 4, C=1.0)
    assert one.coef[2] @ [3.0, 4.0] - one.coef[0] @ [3.0, 4.0] == pytest.approx(1.0)


def test_a_class_without_examples_is_pushed_away():
    X, t = problem(n_classes=3)
    solution = check(X, t, 6, bias=1.0)
    assert solution.coef[5].any() and solution.intercept[5] < 0


def test_equal_rows_with_different_labels():
    X = sp.csr_array(np.ones((4, 2)))
    solution = check(X, [0, 1, 2, 0], 3)
    assert_allclose(solution.coef[1], solution.coef[2], atol=1e-4)


def test_a_feature_given_twice_counts_once():
    twice = sp.csr_array(([1.0, 2.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    once = msvm.solve(sp.csr_array([[3.0, 0.0], [0.0, 1.0]]), [0, 1], 2, **TIGHT)
    assert_array_equal(msvm.solve(twice, [0, 1], 2, **TIGHT).coef, once.coef)
    assert twice.nnz == 3  # what was given is left as it was


def test_no_example_has_any_weight():
    solution = check(*problem(), 5, sample_weight=np.zeros(60))
    assert not solution.coef.any() and solution.objective[0] == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-25, 1e-9, 1e9, 1e25])
def test_units_of_the_features_do_not_matter(size, dtype):
    """Rows times s with C / s^2 have weights over s: far from 1 the problem is rescaled."""
    X, t = problem()
    unit = msvm.solve(X, t, 5, bias=1.0, tol=1e-4, dtype=dtype)
    scaled = msvm.solve(X * size, t, 5, C=size**-2, bias=size, tol=1e-4, dtype=dtype)
    assert np.isfinite(scaled.coef).all()
    assert_allclose(scaled.objective * size**2, unit.objective, rtol=1e-3)
    assert_allclose(scaled.coef * size, unit.coef, atol=0.05)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_features_in_some_rows(dtype):
    X, t = problem()
    X = sp.csr_array(sp.diags_array(np.where(np.arange(60) % 7 == 0, 1e12, 1.0)) @ X)
    solution = msvm.solve(X, t, 5, bias=1.0, max_iter=300, dtype=dtype)
    assert np.isfinite(solution.coef).all() and np.isfinite(solution.objective).all()
    assert 0.0 <= solution.dual[0] <= solution.objective[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t": [0, 1]}, "t has shape (2,), but there are 3 rows. Give one class for each."),
        ({"t": [0, 1, 7]}, "t has classes 0 to 7, but n_classes is 2. Number the classes from 0"),
        ({"t": [0, -1, 1]}, "t has classes -1 to 1"),
        ({"C": 0.0}, "C is 0.0. Use a positive number."),
        ({"sample_weight": [1, -2, 1]}, "sample_weight holds -2.0. Use finite weights"),
        ({"sample_weight": [1.0]}, "sample_weight has shape (1,), but there are 3"),
        ({"bias": np.nan}, "A feature or the bias is nan. Replace it by a finite number."),
        ({"X": [[1.0], [np.inf], [0.0]]}, "A feature or the bias is inf"),
        ({"X": [[1.0], [1e200], [0.0]]}, "whose square is out of range. Scale the rows"),
    ],
)
def test_bad_input_is_named(options, message):
    options = {"X": np.eye(3), "t": [0, 1, 1], **options}
    X, t = sp.csr_array(options.pop("X")), options.pop("t")
    with pytest.raises(UserError) as error:
        msvm.solve(X, t, 2, **options)
    assert message in str(error.value)


def test_a_start_of_another_problem_is_refused():
    X, t = problem()
    earlier = msvm.solve(X[:10], t[:10], 5)
    with pytest.raises(UserError, match="start has 10 rows and 5 classes, this problem has 60 and"):
        msvm.solve(X, t, 5, start=earlier)
