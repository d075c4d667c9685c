"""Second-order steps for recursive regularisation: generic minimisers, alternation, bad scales."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from linnaeus import RecursiveSVM, Taxonomy
from linnaeus.solvers.numerics import elimination
from linnaeus.solvers.numerics.gram import Examples
from linnaeus.solvers.recursive import rr_machine, rr_rows, rr_svm_newton
from linnaeus.solvers.recursive.alternation import Structure
from linnaeus.solvers.recursive.rr_losses import LOSSES

TREE = [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
DAG = [*TREE, ("A", "b1"), ("r", "a2"), ("B", "C"), ("A", "C"), ("C", "c1"), ("C", "b2")]
both = pytest.mark.parametrize("squared", [False, True])


def problem(edges=TREE, n=80, d=5, seed=0):
    """Examples, 0/1 targets, the coupling of the classes, and weights of examples and classes."""
    rng = np.random.default_rng(seed)
    tax = Taxonomy.from_edges(edges)
    leaves = tax.leaf_numbers
    structure = Structure.of(sp.csr_array(tax.laplacian()), leaves, np.zeros(len(tax)))
    found = rr_machine.coupling(structure.S, structure.mix, structure.reduced())
    assert found is not None
    y = rng.integers(0, leaves.size, size=n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(leaves.size, d))[y]
    Y = sp.csr_array(np.eye(leaves.size)[y])
    return X, Y, found, rng.uniform(0.5, 2.0, n), rng.uniform(0.2, 3.0, (2, leaves.size))


def finish(X, Y, found, weight, cost, *, squared, share_bias=True, tol=1e-8, dtype=float, A=None):
    """Solve, and prove by hand that the answer is optimal."""
    A = np.zeros(Y.T.shape) if A is None else A
    done = rr_svm_newton.finish(
        sp.csr_array(X), Y, found, weight, cost, A,
        loss="squared_hinge" if squared else "hinge", bias=1.0, share_bias=share_bias, tol=tol,
        dtype=dtype,
    )  # fmt: skip
    P = primal(X, Y, found, weight, cost, squared, share_bias)(done.W, done.W_I)
    assert_allclose(done.primal, P, rtol=1e-9)
    assert done.dual <= done.primal
    assert tol * max(1.0, P) >= P - done.dual
    return done


def primal(X, Y, found, weight, cost, squared, share_bias):
    """P of weights by its definition, node by node."""
    wide = np.hstack([X, np.ones((len(X), 1))])
    sign = np.where(Y.toarray() > 0, 1.0, -1.0)
    u = np.where(sign > 0, cost[1], cost[0]) * weight[:, None]

    def value(W, W_I):
        mean = found.mix.toarray() @ W_I
        if not share_bias:
            mean[:, -1] = 0.0
        over = np.maximum(0.0, 1.0 - sign * (wide @ W.T))
        size = (found.S[:, None] * (W - mean) ** 2).sum()
        size += np.trace(W_I.T @ (found.reduced.toarray() @ W_I))
        return 0.5 * size + (u * (over**2 if squared else over)).sum()

    return value


@pytest.mark.parametrize("edges", [TREE, DAG, [("r", "a"), ("r", "b")]])
@pytest.mark.parametrize("share_bias", [False, True])
@both
def test_every_answer_has_a_proof(edges, share_bias, squared):
    finish(*problem(edges), squared=squared, share_bias=share_bias)


@pytest.mark.parametrize("share_bias", [False, True])
def test_a_generic_minimiser_finds_the_same(share_bias):
    case = problem(DAG, n=40, d=2)
    done = finish(*case, squared=True, share_bias=share_bias)
    value, K = primal(*case, True, share_bias), done.W.shape[0]

    def of(flat):
        W = flat.reshape(-1, 3)
        return value(W[:K], W[K:])

    reference = minimize(of, np.zeros(done.W.size + done.W_I.size), options={"gtol": 1e-7})
    assert_allclose(done.primal, reference.fun, rtol=1e-7)
    assert_allclose(done.W.ravel(), reference.x[: done.W.size], atol=1e-4)


@pytest.mark.parametrize("edges", [TREE, DAG])
@pytest.mark.parametrize("scale", [1e4, 1e-4, np.logspace(-4, 4, 5)])
@both
def test_the_scale_of_features_does_not_matter(edges, scale, squared):
    X, *rest = problem(edges)
    finish(X * scale, *rest, squared=squared, share_bias=False, tol=1e-6)


@both
def test_fewer_examples_than_features(squared):
    rng = np.random.default_rng(0)
    _, Y, found, weight, cost = problem(n=30)
    wide = rng.normal(size=(30, 400)) * np.logspace(-2, 2, 400)
    finish(wide, Y, found, weight, cost, squared=squared)
    thin = sp.random(30, 3000, 0.02, random_state=rng).toarray()
    finish(thin, Y, found, weight, cost, squared=squared, share_bias=False)


@both
def test_examples_that_are_equal_or_zero(squared):
    X, *rest = problem(n=60)
    X[::3], X[1::3] = X[0], 0.0
    X[:, 1] = X[:, 0]
    finish(X, *rest, squared=squared)


@both
def test_any_start_and_rounded_weights(squared):
    X, Y, found, weight, cost = problem()
    zero = finish(X, Y, found, weight, cost, squared=squared)
    A = np.random.default_rng(1).uniform(0.0, 5.0, Y.T.shape)  # beyond the costs
    warm = finish(X, Y, found, weight, cost, squared=squared, A=A)
    assert_allclose(zero.W, warm.W, atol=2e-3)
    done = finish(X, Y, found, weight, cost, squared=squared, tol=1e-4, dtype=np.float32)
    assert done.W.dtype == done.W_I.dtype == np.float32


def test_blocks_are_solved_as_one_matrix():
    rng = np.random.default_rng(0)
    pattern = np.array([[4, 1, 0, 1], [1, 5, 1, 0], [0, 1, 6, 1], [1, 0, 1, 5.0]])
    blocks = elimination.Blocks.of(sp.csr_array(pattern), 3)
    whole = np.kron(pattern, np.eye(3))
    part = rng.normal(size=(3, 3))
    part = part @ part.T / 10
    for v, u in [(1, 1), (0, 3), (2, 0)]:  # an edge, and one that was not there
        blocks.add(v, u, part)
        for a, b in {(v, u), (u, v)}:
            whole[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += part
    right = rng.normal(size=(4, 3))
    x = elimination.eliminated(blocks)(right)
    assert_allclose(whole @ x.ravel(), right.ravel(), atol=1e-10)


def test_a_tree_needs_no_further_blocks():
    chain = sp.csr_array(np.diag(np.full(6, 2.0)) + np.diag([1] * 5, 1) + np.diag([1] * 5, -1))
    assert elimination.n_products(chain) == 6 + 5 * 2
    assert elimination.n_products(sp.csr_array(np.ones((3, 3)))) == (1 + 5) + (1 + 2) + 1


def test_work_is_refused_where_memory_would_not_do():
    *_, found, _, _ = problem()
    assert rr_svm_newton.work(sp.csr_array(np.ones((80, 5))), found) < np.inf
    assert rr_svm_newton.work(sp.csr_array((10**7, 5)), found) == np.inf
    assert rr_svm_newton.work(sp.csr_array((9000, 10**6)), found) == np.inf
    dense = sp.csr_array(np.ones((80, 5)))
    assert rr_svm_newton.work(dense, found, "squared_hinge") < rr_svm_newton.work(dense, found)


# --- as the last step of the estimator ---------------------------------------------------------


def table(scale):
    """A table as it comes: few columns, of very different sizes."""
    rng = np.random.default_rng(0)
    tax = Taxonomy.from_edges(TREE)
    y = np.array(tax.leaves)[rng.integers(0, 5, size=400)]
    X = rng.normal(size=(400, 6)) + 2 * rng.normal(size=(len(tax), 6))[tax.numbers(y)]
    return tax, X * scale, y


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e4, np.logspace(-2, 3, 6)])
@pytest.mark.parametrize("sharing", ["own", "parent"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_estimator_takes_it_where_coordinates_crawl(monkeypatch, loss, sharing, scale):
    calls = []
    real = rr_svm_newton.finish
    monkeypatch.setattr(
        rr_svm_newton, "finish", lambda *a, **k: calls.append(real(*a, **k)) or calls[-1]
    )
    tax, X, y = table(scale)
    model = RecursiveSVM(
        tax, C=10.0, loss=loss, tol=1e-6, intercept_sharing=sharing, random_state=0,
        class_weight="balanced",
    ).fit(X, y)  # fmt: skip
    assert model.gap_ <= 1e-6
    assert len(calls) == 1
    assert_allclose(model.objective_, calls[0].primal)
    assert_allclose(model.trace_[-1]["objective"], model.objective_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_alternation_meets_it(monkeypatch, loss):
    tax, X, y = table(1.0)
    turns = RecursiveSVM(tax, loss=loss, schedule="parity", tol=1e-5, max_iter=1000).fit(X, y)
    monkeypatch.setattr(rr_svm_newton, "work", lambda *_: 1.0)
    here = RecursiveSVM(tax, loss=loss, tol=1e-8, random_state=0).fit(X, y)
    assert here.gap_ <= 1e-8
    assert_allclose(here.objective_, turns.objective_, rtol=2e-5)
    assert_allclose(here.coef_, turns.coef_, atol=3e-2)
    assert_allclose(here.inner_coef_, turns.inner_coef_, atol=3e-2)


@pytest.mark.parametrize("bias", [0.0, 10.0])
@pytest.mark.parametrize("share_bias", [False, True])
@pytest.mark.parametrize("edges", [TREE, DAG, [("r", "a"), ("r", "b"), ("s", "c"), ("s", "d")]])
def test_systems_over_the_examples_are_those_of_the_weights(edges, share_bias, bias):
    X, Y, found, weight, _ = problem(edges, n=25)
    sign, rng = np.where(Y.T.toarray() > 0, 1.0, -1.0), np.random.default_rng(1)
    rest = sign, np.ones_like(sign) * weight, found, LOSSES["hinge"], share_bias
    rows = rr_rows.RowMachine(Examples(sp.csr_array(X)), bias, *rest)
    wide = Examples(np.hstack([X, np.full((len(X), 1), bias)]))
    blocks = rr_machine.JointMachine(wide, *rest)
    A, t = rng.random(sign.shape), 3.0 * rng.random(sign.shape) * (rng.random(sign.shape) < 0.5)
    v, w = rows.lift(A), blocks.lift(A)
    assert_allclose(rows.dot(v, v), blocks.dot(w, w))
    assert_allclose(rows.reached(v), blocks.reached(w))
    v, w = rows.solver(t, 1e-9)(v), blocks.solver(t, 0.0)(w)
    assert_allclose(rows.reached(v), blocks.reached(w), atol=1e-6)
    for one, other in zip(rows.weights(v), blocks.weights(w), strict=True):
        assert_allclose(one, other, atol=1e-6)


@both
def test_both_kinds_of_systems_lead_to_the_optimum(squared, monkeypatch):
    case = problem(DAG)
    by_blocks = finish(*case, squared=squared)
    monkeypatch.setattr(rr_svm_newton, "MOST_BLOCKS", 0)
    by_rows = finish(*case, squared=squared)
    assert_allclose(by_rows.primal, by_blocks.primal, rtol=1e-7)
