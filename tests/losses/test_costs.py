"""Node coefficients against their definitions."""

import numpy as np
import pytest
from hypothesis import given

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.losses import node_coefficients
from strategies import edge_lists, forests


def plain_sibl(tax):
    c = {}
    for v in tax.nodes:
        above = tax.parents(v)
        c[v] = sum(c[p] / len(tax.children(p)) for p in above) if above else 1 / len(tax.roots)
    return [c[v] for v in tax.nodes]


@given(edge_lists())
def test_coefficients_follow_their_definitions(lines):
    tax = Taxonomy.from_edges(lines)
    assert node_coefficients(tax, "unif").tolist() == [1.0] * len(tax)
    np.testing.assert_allclose(node_coefficients(tax, "sibl"), plain_sibl(tax), rtol=1e-12)
    below = [len(tax.descendants(v)) / len(tax) for v in tax.nodes]
    np.testing.assert_allclose(node_coefficients(tax, "subtree"), below, rtol=1e-12)


@given(forests())
def test_children_share_their_parents_cost(lines):
    tax = Taxonomy.from_edges(lines)
    c = node_coefficients(tax, "sibl")
    assert np.isclose(c[tax.root_numbers].sum(), 1.0)
    for v in tax.nodes:
        if tax.children(v):
            assert np.isclose(c[tax.numbers(tax.children(v))].sum(), c[tax.index(v)])


def test_coefficients_of_the_solved_problems(golden_file):
    names = {"H~-unif": "unif", "H~-sibl": "sibl", "H~-subtree": "subtree"}
    checked = 0
    for case in golden_file("hm3")["cases"]:
        if case["loss"] in names and case["c"]:
            parents = {j: None if p < 0 else p for j, p in enumerate(case["parent"])}
            c = node_coefficients(Taxonomy.from_parents(parents), names[case["loss"]])
            np.testing.assert_allclose(c, case["c"], rtol=1e-12)
            checked += 1
    assert checked


def test_a_diamond_shares_from_both_parents():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    assert node_coefficients(tax, "sibl").tolist() == [1.0, 0.5, 0.5, 0.75, 0.25]
    assert node_coefficients(tax, "subtree").tolist() == [1.0, 0.4, 0.6, 0.2, 0.2]


def test_an_unknown_scaling_is_named_with_the_remedy():
    with pytest.raises(UserError, match=r"'sibling' is not known.*unif, sibl, subtree"):
        node_coefficients(Taxonomy.flat("ab"), "sibling")
