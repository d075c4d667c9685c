"""Inference on graphs and hypergraphs, against all labellings."""

from itertools import combinations, product

import numpy as np
import pytest

from linnaeus.errors import UserError
from linnaeus.inference.graphs import Graph, graph_argmax, prepare
from linnaeus.inference.junction import eliminate


def score(graph, s, y):
    """sum_e s[e, y_e], plainly."""
    total, at = 0.0, 0
    for members in graph.edges:
        code = int("".join(str(int(y[v])) for v in members), 2)
        total += s[at + code]
        at += 2 ** len(members)
    return total


def labellings(k):
    return list(product((0, 1), repeat=k))


def grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    across = zip(at[:, :-1].ravel(), at[:, 1:].ravel(), strict=True)
    down = zip(at[:-1].ravel(), at[1:].ravel(), strict=True)
    return [*across, *down]


def random_hypergraph(rng):
    k = int(rng.integers(1, 9))
    edges = []
    for _ in range(rng.integers(1, 9)):
        size = int(rng.integers(1, min(4, k) + 1))
        edges.append(tuple(rng.choice(k, size=size, replace=False)))
    return Graph.of(k, edges)


SHAPES = {
    "square": Graph.of(4, [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "grid": Graph.of(9, grid(3, 3)),
    "K5": Graph.of(5, list(combinations(range(5), 2))),
}


@pytest.mark.parametrize("seed", range(300))
def test_junction_tree_is_exact_on_hypergraphs(seed):
    rng = np.random.default_rng(seed)
    graph = random_hypergraph(rng)
    S = rng.normal(size=(2, graph.n_blocks))
    Y, value = graph_argmax(graph, S)
    for s, y, v in zip(S, Y, value, strict=True):
        best = max(score(graph, s, u) for u in labellings(graph.n_nodes))
        assert v == pytest.approx(best) and score(graph, s, y) == pytest.approx(best)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", ["junction", "loopy", "trp"])
def test_methods_against_enumeration(shape, method):
    graph = SHAPES[shape]
    S = np.random.default_rng(1).normal(size=(200, graph.n_blocks))
    exact = graph_argmax(graph, S, "enumerate")[1]
    Y, value = graph_argmax(graph, S, method)
    np.testing.assert_allclose(value, [score(graph, s, y) for s, y in zip(S, Y, strict=True)])
    assert (value <= exact + 1e-9).all()
    found = np.mean(value >= exact - 1e-9)
    assert found == 1 if method == "junction" else found >= 0.95, (shape, method, found)


@pytest.mark.parametrize("method", ["loopy", "trp"])
def test_messages_on_hypergraphs(method):
    found = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        graph = random_hypergraph(rng)
        S = rng.normal(size=(2, graph.n_blocks))
        exact, value = graph_argmax(graph, S)[1], graph_argmax(graph, S, method)[1]
        assert (value <= exact + 1e-9).all()
        found += (value >= exact - 1e-9).tolist()
    assert np.mean(found) >= 0.95


@pytest.mark.parametrize("seed", range(30))
def test_messages_are_exact_on_trees(seed):
    rng = np.random.default_rng(seed)
    parent = [int(rng.integers(0, v)) for v in range(1, 9)]
    graph = Graph.of(9, [(p, v) for v, p in enumerate(parent, 1)] + [(3,)])
    S = rng.normal(size=(5, graph.n_blocks))
    exact = graph_argmax(graph, S, "enumerate")
    for method in ("junction", "loopy", "trp"):
        Y, value = graph_argmax(graph, S, method)
        np.testing.assert_allclose(value, exact[1])
        np.testing.assert_array_equal(Y, exact[0])


@pytest.mark.parametrize("seed", range(60))
def test_differences_of_the_best_with_and_without(seed):
    rng = np.random.default_rng(seed)
    graph = random_hypergraph(rng)
    S = rng.normal(size=(2, graph.n_blocks))
    D = prepare(graph).differences(S)
    for s, d in zip(S, D, strict=True):
        values = {y: score(graph, s, y) for y in labellings(graph.n_nodes)}
        for v in range(graph.n_nodes):
            on = max(x for y, x in values.items() if y[v])
            off = max(x for y, x in values.items() if not y[v])
            assert d[v] == pytest.approx(on - off, abs=1e-9)


@pytest.mark.parametrize("method", ["junction", "loopy", "trp", "enumerate"])
def test_minus_infinity_forbids(method):
    graph = SHAPES["square"]
    S = np.random.default_rng(0).normal(size=(100, 16))
    S[:, [1, 5, 9]] = -np.inf  # a node is on only if the one before it is
    Y, value = graph_argmax(graph, S, method)
    assert np.isfinite(value).all() and not ((Y[:, 1:] == 1) & (Y[:, :-1] == 0)).any()


def test_forbidden_codes_and_scores_that_are_kept():
    graph = SHAPES["square"]
    S = np.random.default_rng(0).normal(size=(50, 16))
    given = S.copy()
    mask = np.zeros(16, dtype=bool)
    mask[[1, 5, 9]] = True
    Y, value = prepare(graph, forbidden=mask).argmax(S)
    np.testing.assert_array_equal(S, given)
    exact = graph_argmax(graph, np.where(mask, -np.inf, S), "enumerate")
    np.testing.assert_allclose(value, exact[1])
    np.testing.assert_array_equal(Y, exact[0])


def test_long_chains_stars_and_ladders_are_cheap():
    rng = np.random.default_rng(0)
    for edges in (
        [(i, i + 1) for i in range(2000)],
        [(0, i) for i in range(1, 2001)],
        [(i, i + 2) for i in range(1999)] + [(2 * i, 2 * i + 1) for i in range(1000)],
    ):
        graph = Graph.of(2001, edges)
        S = rng.normal(size=(2, graph.n_blocks))
        order, above = eliminate(2001, graph.edges)
        assert sorted(order) == list(range(2001)) and max(map(len, above)) <= 2
        exact = graph_argmax(graph, S)[1]
        assert (graph_argmax(graph, S, "loopy")[1] <= exact + 1e-6).all()


def test_nodes_without_edges_are_off():
    Y, value = graph_argmax(Graph.of(3, [(1,)]), [[-1.0, 2.0]])
    assert Y.tolist() == [[0, 1, 0]] and value.tolist() == [2.0]


def test_dense_graphs_are_refused_with_their_width():
    graph = Graph.of(30, list(combinations(range(30), 2)))
    S = np.zeros((1, graph.n_blocks))
    with pytest.raises(UserError, match=r"a clique of 30 nodes \(treewidth 29.*'loopy' or 'trp'"):
        graph_argmax(graph, S)
    assert graph_argmax(graph, S, "trp")[1] == [0.0]
    with pytest.raises(UserError, match=r"30 nodes and 2\^30 labellings"):
        graph_argmax(graph, S, "enumerate")


def test_mistakes_are_named():
    with pytest.raises(UserError, match="holds node 5, but the graph has the nodes 0 to 2"):
        Graph.of(3, [(0, 5)])
    with pytest.raises(UserError, match=r"hyperedge \(1, 1\) must hold each of its nodes once"):
        Graph.of(3, [(1, 1)])
    with pytest.raises(UserError, match="holds 25 nodes"):
        Graph.of(30, [range(25)])
    graph = Graph.of(2, [(0, 1)])
    with pytest.raises(UserError, match=r"shape \(1, 3\), but the graph has 4 codes"):
        graph_argmax(graph, np.zeros((1, 3)))
    with pytest.raises(UserError, match="NaN or plus infinity"):
        graph_argmax(graph, [[0.0, np.nan, 0.0, 0.0]])
    with pytest.raises(UserError, match="method 'guess' is not known"):
        graph_argmax(graph, np.zeros((1, 4)), "guess")


@pytest.mark.parametrize("method", ["loopy", "trp"])
def test_ties_are_decoded_together(method):
    assert graph_argmax(Graph.of(2, [(0, 1)]), [[0.0, 1.0, 1.0, 1.0]], method)[1] == [1.0]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        parent = [int(rng.integers(0, v)) for v in range(1, 8)]
        order = rng.permutation(7)
        graph = Graph.of(8, [(parent[v], v + 1) for v in order])
        S = rng.integers(0, 2, size=(5, graph.n_blocks)).astype(float)  # nearly all is ties
        exact = graph_argmax(graph, S, "enumerate")[1]
        np.testing.assert_allclose(graph_argmax(graph, S, method)[1], exact)
