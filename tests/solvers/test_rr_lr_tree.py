"""All classes of a forest at once: dense twins of the tree's algebra, and the alternation."""

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from linnaeus import RecursiveLogistic, Taxonomy
from linnaeus.solvers.numerics import coordinate_ascent, newton
from linnaeus.solvers.numerics.examples import Rows
from linnaeus.solvers.recursive import rr_lr, rr_lr_span, rr_lr_tree
from linnaeus.solvers.recursive import rr_lr_tree_fast as fast
from linnaeus.solvers.recursive.alternation import Structure

EDGES = [(0, 1, 1.0), (0, 2, 0.5), (1, 3, 2.0), (1, 4, 1.0), (2, 5, 1.5), (2, 6, 1.0)]
INNER = 3


@numba.njit
def tree_step(softmax, tree, c, u, z, pi, work, nodes):
    fast.tree_step(softmax, tree, c, u, z, pi, work, nodes)


def structure(ground=(1.0, 0.0, 0.2, 0.0, 0.3, 0.0, 0.0)):
    L = np.diag(ground).astype(float)
    for a, b, c in EDGES:
        L[[a, b], [a, b]] += c
        L[a, b] -= c
        L[b, a] -= c
    return L, Structure.of(sp.csr_array(L), np.arange(INNER, 7), np.zeros(7))


def problem(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    Y = sp.csr_array((rng.random((n, 4)) < 0.4).astype(np.int8))
    return sp.csr_array(rng.normal(size=(n, d))), Y


def test_products_with_the_inverse():
    L, s = structure()
    V, W = np.random.default_rng(0).normal(size=(5, 4)), np.zeros((5, 7))
    K, tree = np.linalg.inv(L), rr_lr_tree.tree_of(s)
    change, largest = fast.move(tree, V, W)
    np.testing.assert_allclose(W, V @ K[INNER:], rtol=1e-12)
    assert change == largest == np.abs(W).max()
    size = np.trace(V @ K[INNER:, INNER:] @ V.T)
    np.testing.assert_allclose(fast.energy(tree, V), size, rtol=1e-12)


def test_internal_nodes_follow_the_leaves():
    L, s = structure()
    V, W = np.random.default_rng(1).normal(size=(5, 4)), np.zeros((5, 7))
    fast.move(rr_lr_tree.tree_of(s), V, W)
    expected = np.linalg.solve(L[:INNER, :INNER], -L[:INNER, INNER:] @ W[:, INNER:].T).T
    np.testing.assert_allclose(W[:, :INNER], expected, rtol=1e-12)
    energy = fast.energy(rr_lr_tree.tree_of(s), V)
    np.testing.assert_allclose(energy, np.trace(W @ L @ W.T), rtol=1e-12)


def test_increments_are_weights_in_which_the_pull_is_a_norm():
    L, s = structure()
    tree = rr_lr_tree.tree_of(s)
    W = np.random.default_rng(2).normal(size=(5, 7))
    B, back, G = np.empty_like(W), np.empty_like(W), np.zeros((4, 7))
    fast.from_weights(tree, W, B)
    fast.to_weights(tree, B, back)
    np.testing.assert_allclose(back, W, rtol=1e-12)
    np.testing.assert_allclose(np.sum(B**2), np.trace(W @ L @ W.T), rtol=1e-12)
    F = np.empty((7, 7))
    fast.to_weights(tree, np.eye(7), F)
    fast.add_gradient(tree, np.eye(4), False, G)
    np.testing.assert_allclose(G, F[:, INNER:].T, atol=1e-12)
    G[:] = 0
    fast.add_gradient(tree, np.eye(4), True, G)
    np.testing.assert_allclose(G, F[:, INNER:].T ** 2, atol=1e-12)


@pytest.mark.parametrize("cost", [0.1, 5.0, 1000.0])
def test_a_step_solves_the_problem_of_one_example(cost):
    L, s = structure()
    rng = np.random.default_rng(3)
    z, pi, u, a = 5 * rng.normal(size=4), rng.random(4), np.full(4, cost), 2.0
    work, nodes, tree = np.empty((6, 4)), np.empty((3, 7)), rr_lr_tree.tree_of(s)
    tree_step(False, tree, 1 / (a * tree.inverse[0]), u, z, pi, work, nodes)
    logit, new = z + work[1], work[0]
    needed = np.linalg.solve(np.linalg.inv(L)[INNER:, INNER:], logit - z) / (a * u)
    np.testing.assert_allclose(new, 1 / (1 + np.exp(-logit)), rtol=1e-12)
    np.testing.assert_allclose(pi - new, needed, atol=1e-3)


def test_a_graph_with_a_cycle_is_no_tree():
    L, _ = structure()
    L[[1, 5], [1, 5]] += 1.0
    L[1, 5] = L[5, 1] = -1.0
    s = Structure.of(sp.csr_array(L), np.arange(INNER, 7), np.zeros(7))
    assert rr_lr_tree.tree_of(s) is None


@pytest.mark.parametrize("slow", [coordinate_ascent.TOO_SLOW, -1])
@pytest.mark.parametrize("n", [20, 150])
def test_all_ways_agree(n, slow, monkeypatch):
    """Coordinate ascent, Newton's method and alternation; weights of examples and classes too."""
    monkeypatch.setattr(coordinate_ascent, "TOO_SLOW", slow)
    _, s = structure()
    X, Y = problem(n)
    options = {"C": 2.0, "bias": 0.7, "tol": 1e-9, "max_iter": 300}
    options["sample_weight"] = np.random.default_rng(1).integers(0, 3, size=n).astype(float)
    options["class_weight"] = np.array([[1.0, 2.0, 1.0, 1.0], [3.0, 1.0, 1.0, 0.5]])
    joint = rr_lr.solve(X, Y, s, **options)
    monkeypatch.setattr(rr_lr, "PAIRS", 0)
    other = rr_lr.solve(X, Y, s, **options)
    assert joint.solution.gap <= 1e-9 and other.solution.gap <= 1e-9
    np.testing.assert_allclose(joint.solution.objective, other.solution.objective, rtol=1e-8)
    np.testing.assert_allclose(joint.solution.coef, other.solution.coef, atol=1e-4)
    np.testing.assert_allclose(joint.W_I, other.W_I, atol=1e-4)


def test_any_number_of_threads_gives_the_same_weights():
    rng = np.random.default_rng(0)
    tax = Taxonomy.from_edges([("r", "A"), ("r", "b"), ("A", "a1"), ("A", "a2")])
    X, y = rng.normal(size=(60, 4)), np.array(tax.leaves)[rng.integers(0, 3, 60)]
    for schedule in ("two-block", "jacobi"):
        one, two = (
            RecursiveLogistic(tax, schedule=schedule, n_jobs=k, random_state=0).fit(X, y)
            for k in (1, 2)
        )
        np.testing.assert_array_equal(one.coef_, two.coef_)


def test_second_moments_and_their_preconditioner():
    X, _ = problem(30, 3)
    h = np.random.default_rng(5).random(30)
    wide = np.hstack([X.toarray(), np.full((30, 1), 0.5)])
    Q = newton.second_moments(Rows.of(X, np.float64), 0.5, 3, h)
    np.testing.assert_allclose(Q, (wide.T * h) @ wide / h.sum(), rtol=1e-12)
    R, s = np.random.default_rng(6).normal(size=(4, 2)), np.array([0.5, 3.0])
    expected = [np.linalg.solve(np.eye(4) + c * Q, r) for c, r in zip(s, R.T, strict=True)]
    np.testing.assert_allclose(newton.correlated(Q, s)(R).T, expected, rtol=1e-10)


@pytest.mark.parametrize("bias", [0.0, 10.0])
def test_newton_in_the_space_of_few_examples_finds_the_same(bias, monkeypatch):
    _, s = structure()
    X, Y = problem(n=12, d=60)
    tree, cost = rr_lr_tree.tree_of(s), np.random.default_rng(1).uniform(0.5, 30.0, (2, 4))
    examples = rr_lr_tree.TreeExamples.of(X, Y, np.ones(12), cost, bias, False, np.float64)
    assert rr_lr_span.suits(examples, tree, 1e-5)
    assert not rr_lr_span.suits(examples, tree, 1e-9)
    runs = [rr_lr_tree.TreeNewton(examples, tree), rr_lr_tree.TreeNewton(examples, tree)]
    runs[0].improve(1e-5, 500)
    rr_lr_span.improve(runs[1], 1e-5, 500)
    for run in runs:
        assert 0 <= run.gap <= 1e-5 * run.objective
    assert_allclose(runs[0].objective, runs[1].objective, rtol=2e-5)
    assert_allclose(runs[0].W, runs[1].W, atol=0.05)
    assert_allclose(runs[1].distance(), runs[1].gap, rtol=1e-3)
    monkeypatch.setattr(coordinate_ascent, "next_look", lambda *_: 0)  # ascent gives up
    answer = rr_lr_tree.solve(examples, tree, tol=1e-5, max_passes=500, seed=0)
    assert_allclose(answer.objective, runs[0].objective, rtol=2e-5)
    assert answer.dual <= runs[0].objective
