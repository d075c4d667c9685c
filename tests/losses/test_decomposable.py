"""Edge tables against the losses they divide: every label vector of small trees."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from linnaeus import Taxonomy
from linnaeus.errors import TaxonomyError, UserError
from linnaeus.losses import edge_losses, markov_edges, node_coefficients
from strategies import forests

PARENTS = {
    "chain5": [-1, 0, 1, 2, 3],
    "star4": [-1, 0, 0, 0],
    "two6": [-1, 0, 0, 1, 1, 2],
    "mix5": [-1, 0, 1, 1, 0],
    "forest5": [-1, -1, 0, 0, 1],
    "lone4": [-1, 0, 0, -1],
    "one": [-1],
}
LOSSES = ["delta", "unif", "sibl", "subtree"]


def tree_of(parent):
    return Taxonomy.from_parents({j: None if p < 0 else p for j, p in enumerate(parent)})


def plain_loss(parent, c, y, u, loss):
    wrong = [a != b for a, b in zip(y, u, strict=True)]
    if loss == "delta":
        return sum(wrong)
    return sum(c[j] for j, p in enumerate(parent) if wrong[j] and (p < 0 or not wrong[p]))


def codes(edges, U):
    """The code of every row of U on every edge."""
    U = np.asarray(U)
    above = np.where(edges.parent < 0, 1, U[:, edges.parent])
    return 2 * above + U[:, edges.child]


@pytest.mark.parametrize("tree", PARENTS)
@pytest.mark.parametrize("root_edges", ["none", "all"])
@pytest.mark.parametrize("share", ["neighbours", "parent"])
@pytest.mark.parametrize("loss", LOSSES)
def test_tables_sum_to_the_loss_for_every_candidate(tree, root_edges, share, loss):
    parent = PARENTS[tree]
    tax = tree_of(parent)
    c = node_coefficients(tax, "unif" if loss == "delta" else loss)
    everything = np.array(list(product([0, 1], repeat=len(parent))))
    edges = markov_edges(tax.tree, root_edges)
    tables = edge_losses(tax, everything, loss, root_edges, share)
    assert tables.shape == (len(everything), edges.child.size, 4)
    at = codes(edges, everything)
    for y, table in zip(everything, tables, strict=True):
        got = table[np.arange(edges.child.size), at].sum(axis=1)
        expected = [plain_loss(parent, c, y, u, loss) for u in everything]
        np.testing.assert_allclose(got, expected, atol=1e-12)
    assert (tables >= 0).all()
    assert (tables[:, edges.parent < 0, :2] == 0).all()


@settings(max_examples=30)
@given(forests(max_nodes=6))
def test_tables_sum_to_the_loss_on_drawn_forests(lines):
    tax = Taxonomy.from_edges(lines)
    parent = tax.tree.parent.tolist()
    everything = np.array(list(product([0, 1], repeat=len(tax))))
    for loss, root_edges in product(LOSSES, ["none", "all"]):
        c = node_coefficients(tax, "unif" if loss == "delta" else loss)
        edges = markov_edges(tax.tree, root_edges)
        table = edge_losses(tax, everything[:1], loss, root_edges)[0]
        got = table[np.arange(edges.child.size), codes(edges, everything)].sum(axis=1)
        expected = [plain_loss(parent, c, everything[0], u, loss) for u in everything]
        np.testing.assert_allclose(got, expected, atol=1e-12)


def test_edges_are_those_of_the_solved_problems(golden_file):
    for case in golden_file("hm3")["cases"]:
        edges = markov_edges(tree_of(case["parent"]).tree, case["root_edges"])
        assert np.column_stack(edges).tolist() == case["edges"]


def test_only_the_edge_above_carries_a_node_when_the_parent_has_it_all():
    tax = tree_of(PARENTS["two6"])
    tables = edge_losses(tax, np.ones((1, 6), int), "delta", "none", "parent")[0]
    # edges 0-1, 0-2, 1-3, 1-4, 2-5; the root's loss is halved between the first two
    assert tables.tolist() == [[1.5, 0.5, 1, 0]] * 2 + [[1, 0, 1, 0]] * 3


def test_label_lists_and_sparse_indicators_give_the_same_tables():
    tax = Taxonomy.from_edges([("a", "b"), ("a", "c"), (None, "lone")])
    labels = [["a", "b"], [], ["lone"]]
    dense = edge_losses(tax, tax.encode(labels).toarray(), "sibl")
    np.testing.assert_array_equal(edge_losses(tax, labels, "sibl"), dense)
    np.testing.assert_array_equal(edge_losses(tax, tax.encode(labels), "sibl"), dense)


def test_errors_name_the_value_and_the_remedy():
    tax = tree_of([-1, 0])
    with pytest.raises(UserError, match="root_edges='some' is not known. Use 'none' or 'all'"):
        markov_edges(tax.tree, "some")
    with pytest.raises(UserError, match="share='all' is not known. Use 'neighbours' or 'parent'"):
        edge_losses(tax, [[0]], share="all")
    with pytest.raises(UserError, match="'H' is not known. Use one of: delta, unif, sibl, subtree"):
        edge_losses(tax, [[0]], "H")
    diamond = Taxonomy.from_edges([("a", "c"), ("b", "c")])
    with pytest.raises(TaxonomyError, match="'c' has 2 parents"):
        edge_losses(diamond, [["c"]])
