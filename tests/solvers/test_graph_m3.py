"""Max-margin learning on hypergraphs: solved problems, and certificates by enumeration."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from linnaeus.errors import UserError
from linnaeus.inference.graphs import Graph, prepare
from linnaeus.solvers.markov import graph_m3


def hamming(graph, Y):
    return graph_m3.local_losses(graph, Y, [(v, [], 1.0) for v in range(graph.n_nodes)])


def learn(graph, X, Y, method="junction", loss=None, **options):
    tables = hamming(graph, Y) if loss is None else loss
    return graph_m3.solve(graph, prepare(graph, method), Y, tables, X=sp.csr_array(X), **options)


@pytest.fixture
def loops(golden_file):
    """The solved problems on graphs with loops: a triangle and a square."""
    out = []
    for case in golden_file("hm3_variants")["variants"]:
        if case["variant"] == "graph":
            Y = (np.array(case["Y"]) > 0).astype(np.int8)
            out.append((Graph.of(case["k"], case["edges"]), np.array(case["X"]), Y, case))
    assert out
    return out


def test_optimum_on_loops_is_exact(loops):
    for graph, X, Y, case in loops:
        found = learn(graph, X, Y, C=case["C"], tol=1e-7, max_iter=2000)
        assert found.objective == pytest.approx(case["optimum"], rel=1e-6)
        assert found.dual <= case["optimum"] * (1 + 1e-9)
        by_kernel = graph_m3.solve(
            graph, prepare(graph), Y, hamming(graph, Y), K=X @ X.T, C=case["C"], tol=1e-6
        )
        assert by_kernel.objective == pytest.approx(case["optimum"], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["loopy", "trp"])
def test_approximate_inference_comes_close(loops, method):
    for graph, X, Y, case in loops:
        found = learn(graph, X, Y, method, C=case["C"], tol=1e-4, max_iter=500)
        assert found.dual == pytest.approx(case["optimum"], rel=1e-3)
        assert found.dual <= case["optimum"] * (1 + 1e-9)


def test_conditional_gradient_comes_close(loops):
    for graph, X, Y, case in loops:
        found = learn(graph, X, Y, C=case["C"], optimizer="csga", tol=3e-3, max_iter=3000)
        assert found.dual <= case["optimum"] * (1 + 1e-9) <= found.objective * (1 + 2e-9)
        assert found.objective == pytest.approx(case["optimum"], rel=3e-3)


def local_maximum(graph, h):
    """The best of marginals that agree on shared nodes, a relaxation: by linear programming."""
    rows, rhs = [], []
    for e in range(graph.n_edges):
        row = np.zeros(graph.n_blocks)
        row[graph.start[e] : graph.start[e + 1]] = 1
        rows.append(row)
        rhs.append(1.0)
    first = {}
    for e, members in enumerate(graph.edges):
        for j, v in enumerate(members.tolist()):
            row = np.zeros(graph.n_blocks)
            row[graph.start[e] : graph.start[e + 1]] = graph.bits(e)[:, j]
            if v in first:
                rows.append(row - first[v])
                rhs.append(0.0)
            first.setdefault(v, row)
    return -linprog(-h, A_eq=np.array(rows), b_eq=rhs).fun


def test_consistency_along_edges_is_a_relaxation_on_a_square(loops):
    graph, X, Y, case = loops[1]
    assert case["relaxed_dual"] == pytest.approx(88.757708)
    found = learn(graph, X, Y, C=case["C"], tol=1e-6, max_iter=2000)
    H = X @ found.W + hamming(graph, Y)
    true = np.take_along_axis(H, graph.start[:-1] + graph.codes(Y), axis=1).sum(axis=1)
    relaxed = np.array([local_maximum(graph, h) for h in H]) - true
    assert (relaxed >= found.slack - 1e-7).all() and (relaxed > found.slack + 0.01).any()
    primal = 0.5 * (found.W**2).sum() + case["C"] * relaxed.sum()
    assert primal >= case["relaxed_dual"] > found.objective


@pytest.mark.parametrize("seed", range(12))
def test_certificates_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    edges = [
        tuple(rng.choice(k, size=rng.integers(1, min(3, k) + 1), replace=False)) for _ in "abcd"
    ]
    edges += [(v,) for v in range(k)]
    graph = Graph.of(k, edges)
    X, Y = rng.normal(size=(7, 3)), rng.integers(0, 2, size=(7, k)).astype(np.int8)
    weight = rng.uniform(0.5, 2, size=7)
    loss = graph_m3.edge_count_losses(graph, Y) if seed % 2 else hamming(graph, Y)
    found = learn(graph, X, Y, loss=loss, sample_weight=weight, C=0.7, tol=1e-6, max_iter=3000)
    np.testing.assert_allclose(found.W, X.T @ found.N, atol=1e-10)
    every = np.array(list(product((0, 1), repeat=k)), dtype=np.int8)
    at, true = graph.start[:-1] + graph.codes(every), graph.start[:-1] + graph.codes(Y)
    H = X @ found.W + loss
    slack = [h[at].sum(axis=1).max() - h[t].sum() for h, t in zip(H, true, strict=True)]
    np.testing.assert_allclose(found.slack, slack, atol=1e-9)
    primal = 0.5 * (found.W**2).sum() + 0.7 * weight @ slack
    assert found.objective == pytest.approx(primal)
    assert found.objective - found.dual == pytest.approx(found.gaps.sum(), abs=1e-9)
    assert 0 <= found.objective - found.dual <= 1e-6 * primal


def test_losses_are_those_of_whole_labellings():
    graph = Graph.of(4, [(0, 1), (1, 2), (0, 2, 3)])
    every = np.array(list(product((0, 1), repeat=4)), dtype=np.int8)
    at = graph.start[:-1] + graph.codes(every)
    terms = [(0, [], 1.0), (1, [0], 0.5), (3, [0, 2], 2.0)]
    shared, chained = hamming(graph, every), graph_m3.local_losses(graph, every, terms)
    wrong = graph_m3.edge_count_losses(graph, every)
    for i, y in enumerate(every):
        np.testing.assert_allclose(shared[i][at].sum(axis=1), (every != y).sum(axis=1))
        expected = [
            (u[0] != y[0])
            + 0.5 * (u[1] != y[1] and u[0] == y[0])
            + 2.0 * (u[3] != y[3] and u[0] == y[0] and u[2] == y[2])
            for u in every
        ]
        np.testing.assert_allclose(chained[i][at].sum(axis=1), expected)
        codes = graph.codes(every)
        np.testing.assert_allclose(wrong[i][at].sum(axis=1), (codes != codes[i]).sum(axis=1))
    with pytest.raises(UserError, match=r"No hyperedge holds node 3 together .* \[1\]"):
        graph_m3.local_losses(graph, every, [(3, [1], 1.0)])


@pytest.mark.parametrize("optimizer", ["pairwise", "csga"])
def test_zero_rows_and_extreme_costs(optimizer):
    rng = np.random.default_rng(0)
    graph = Graph.of(3, [(0, 1), (1, 2), (2, 0)])
    X, Y = rng.normal(size=(6, 4)), rng.integers(0, 2, size=(6, 3)).astype(np.int8)
    X[2] = 0.0  # K_ii = 0: its slack is the largest loss whatever the weights
    tiny = learn(graph, X, Y, C=1e-8, optimizer=optimizer)
    assert tiny.objective == pytest.approx(1e-8 * 6 * 3, rel=1e-5)
    assert tiny.slack[2] == pytest.approx(3.0)
    huge = learn(graph, X[[0, 1]], Y[[0, 1]], C=1e6, optimizer=optimizer, tol=1e-6, max_iter=5000)
    assert huge.slack.max() < 1e-3 and np.isfinite(huge.objective)


def test_slots_grow_with_the_labellings_in_use(monkeypatch):
    monkeypatch.setattr(graph_m3, "SLOTS", 2)
    rng = np.random.default_rng(1)
    graph = Graph.of(6, [(v, (v + 1) % 6) for v in range(6)])
    X, Y = rng.normal(size=(10, 5)), rng.integers(0, 2, size=(10, 6)).astype(np.int8)
    narrow = learn(graph, X, Y, tol=1e-6, max_iter=3000)
    monkeypatch.setattr(graph_m3, "SLOTS", 16)
    wide = learn(graph, X, Y, tol=1e-6, max_iter=3000)
    assert narrow.objective == pytest.approx(wide.objective, rel=3e-6)


def test_mistakes_are_named():
    graph = Graph.of(1, [(0,)])
    Y = np.array([[0], [1]], dtype=np.int8)
    with pytest.raises(UserError, match="optimizer='newton' is not known"):
        learn(graph, np.eye(2), Y, optimizer="newton")
    with pytest.raises(UserError, match="either X .* or K"):
        graph_m3.solve(graph, prepare(graph), Y, hamming(graph, Y))


@pytest.mark.parametrize("optimizer", ["pairwise", "csga"])
@pytest.mark.parametrize("method", ["loopy", "trp"])
def test_ties_at_the_start_do_not_stall_approximate_search(method, optimizer):
    graph = Graph.of(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    rng = np.random.default_rng(3)
    X, Y = sp.csr_array(rng.normal(size=(20, 3))), (rng.random((20, 4)) < 0.3).astype(np.int8)
    loss = graph_m3.edge_count_losses(graph, Y)
    exact = graph_m3.solve(graph, prepare(graph), Y, loss, X=X, tol=1e-4)
    found = graph_m3.solve(
        graph, prepare(graph, method), Y, loss, X=X, optimizer=optimizer, tol=1e-3, max_iter=200
    )
    assert all(entry["gap"] >= 0.0 for entry in found.trace)
    assert found.dual <= exact.objective * (1 + 1e-9)
    assert found.dual == pytest.approx(exact.objective, rel=0.02)
