"""The taxonomy as an undirected graph: colours and Laplacian."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from strategies import edge_lists, forests


@given(edge_lists(), st.data())
def test_no_edge_or_link_lies_within_a_colour(lines, data):
    names = sorted({c for _, c in lines})
    pair = st.tuples(st.sampled_from(names), st.sampled_from(names))
    tax = Taxonomy.from_edges(lines, related=data.draw(st.lists(pair, max_size=5)))
    color = tax.coloring()
    for a, b in [*tax.edges, *tax.related]:
        assert color[tax.index(a)] != color[tax.index(b)]
    assert color.min() == 0


@given(forests())
def test_trees_need_two_colours(lines):
    assert Taxonomy.from_edges(lines).coloring().max() <= 1


@given(edge_lists(), st.integers(0, 1000))
def test_the_laplacian_is_the_regulariser(lines, seed):
    tax = Taxonomy.from_edges(lines, related=[(lines[0][1], lines[-1][1])])
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(len(tax), 3))
    pairs = {frozenset(e) for e in [*tax.edges, *tax.related]}
    conductance = {tuple(sorted(e)): rng.uniform(0.5, 2) for e in pairs}
    value = 0.0
    for (a, b), c in conductance.items():
        value += c * np.sum((W[tax.index(a)] - W[tax.index(b)]) ** 2)
    value += 0.3 * np.sum(W**2) + sum(np.sum(W[tax.index(r)] ** 2) for r in tax.roots)
    L = tax.laplacian(conductance=conductance, ground=0.3)
    np.testing.assert_allclose(np.trace(W.T @ (L @ W)), value)


@given(forests())
def test_the_inverse_on_a_unit_tree_counts_shared_path_nodes(lines):
    """K(a, b) = 1 + depth(lca): the number of nodes on both paths, root included."""
    tax = Taxonomy.from_edges(lines)
    K = np.linalg.inv(tax.laplacian().toarray())
    shared = tax.ancestor_matrix @ tax.ancestor_matrix.T
    np.testing.assert_allclose(K, shared.toarray(), atol=1e-9)


def test_free_roots_and_grounds_by_name():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b")])
    free = tax.laplacian(root="free").toarray()
    np.testing.assert_allclose(free.sum(axis=1), 0)
    ground = tax.laplacian(root="free", ground={"a": 2.0}).toarray()
    np.testing.assert_allclose((ground - free).diagonal(), [0, 2, 0])


def test_laplacian_refuses_what_it_does_not_know():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b")])
    with pytest.raises(UserError, match=r"\('a', 'b'\), but there is no such edge"):
        tax.laplacian(conductance={("a", "b"): 1.0})
    with pytest.raises(UserError, match="is -1.0; it must be positive"):
        tax.laplacian(conductance={("r", "b"): -1.0})
    with pytest.raises(UserError, match="root='nailed' is not known"):
        tax.laplacian(root="nailed")


def test_a_graph_has_links_and_no_hierarchy():
    graph = Taxonomy.from_edges([(None, "d")], related=[("a", "b"), ("b", "a"), ("c", "c")])
    assert graph.is_graph and graph.nodes == ("d", "a", "b", "c")
    assert repr(graph) == "<Taxonomy: graph of 4 nodes, 1 related link>"
    assert not Taxonomy.flat(["a", "b"]).is_graph
    assert not Taxonomy.from_edges([("a", "b")], related=[("a", "b")]).is_graph


@given(edge_lists(), st.data())
def test_classes_are_the_leaves_and_what_carries_labels(lines, data):
    tax = Taxonomy.from_edges(lines)
    carried = data.draw(st.lists(st.sampled_from(range(len(tax)))))
    ours = tax.class_numbers(np.array(carried, dtype=int)).tolist()
    assert ours == sorted({*tax.leaf_numbers.tolist(), *carried})
    if len(tax) > 1:
        links = [(tax.nodes[0], v) for v in tax.nodes[1:]]
        graph = Taxonomy.from_edges([(None, v) for v in tax.nodes], related=links)
        assert graph.class_numbers(np.array(carried, dtype=int)).tolist() == sorted({*carried})
