"""Counts and findings, on small taxonomies where both can be seen."""

import json

import pytest
from hypothesis import given

from linnaeus import Taxonomy
from linnaeus.taxonomy.diagnose import findings, stats
from strategies import edge_lists


def found(tax, code):
    """The nodes of a finding, or None when there is no such finding."""
    return next((set(f.nodes) for f in findings(tax) if f.code == code), None)


def test_stats():
    tax = Taxonomy.from_edges(
        [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), (None, "e")],
        related=[("e", "d")],
        titles={"a": "Ay"},
    )
    assert stats(tax) == {
        "kind": "DAG",
        "nodes": 5,
        "edges": 4,
        "roots": 2,
        "leaves": 2,
        "depth": 2,
        "multi_parent": 1,
        "isolated": 1,
        "related": 1,
        "titles": 1,
        "max_children": 2,
        "mean_children": pytest.approx(4 / 3),
        "single_child": 2,
        "nodes_per_level": [2, 2, 1],
    }
    json.dumps(stats(tax))  # plain numbers throughout


def test_kinds():
    assert stats(Taxonomy.from_edges([("a", "b")]))["kind"] == "tree"
    assert stats(Taxonomy.from_edges([("a", "b"), ("c", "d")]))["kind"] == "forest"
    assert stats(Taxonomy.flat(["a", "b"]))["kind"] == "flat"
    assert stats(Taxonomy.from_edges([], related=[("a", "b")]))["kind"] == "graph"
    empty = stats(Taxonomy.flat([]))
    assert (empty["kind"], empty["depth"], empty["mean_children"]) == ("flat", 0, 0.0)


def test_nothing_to_find():
    assert findings(Taxonomy.from_edges([("a", "b"), ("a", "c")])) == []
    assert findings(Taxonomy.flat(["a", "b"])) == []
    assert findings(Taxonomy.flat([])) == []


def test_redundant_edges():
    tax = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("b", "d"), ("x", "d")])
    [finding] = [f for f in findings(tax) if f.code == "redundant_edge"]
    assert finding.level == "warning"
    assert finding.nodes == ("c",)
    assert finding.message.endswith("is already below this one: 1 ('a' -> 'c').")


@given(edge_lists())
def test_redundant_edges_are_those_above_another_parent(lines):
    tax = Taxonomy.from_edges(lines)
    expected = set()
    for p, c in tax.edges:
        rest = [edge for edge in tax.edges if edge != (p, c)]
        if any(p in tax.ancestors(q) for q, child in rest if child == c):
            expected.add(c)
    assert (found(tax, "redundant_edge") or set()) == expected


def test_related_links_along_the_hierarchy():
    tax = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("b", "d")], [("c", "a"), ("c", "d")])
    assert found(tax, "related_ancestor") == {"c"}


def test_names_that_look_alike():
    tax = Taxonomy.from_edges([("x", "Cat"), ("x", "cat "), ("x", "c at"), ("x", "dog")])
    assert found(tax, "similar_names") == {"Cat", "cat ", "c at"}


def test_siblings_with_the_same_title():
    titles = {"b": "Other", "c": "OTHER", "e": "Other", "x": "Top", "a": "top"}
    tax = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("a", "d"), ("d", "e"), (None, "x")])
    assert found(tax, "same_title") is None
    tax = Taxonomy.from_edges(tax.edges + ((None, "x"),), titles=titles)
    assert found(tax, "same_title") == {"b", "c", "a", "x"}  # roots are siblings too
    assert found(tax, "missing_title") == {"d"}


def test_isolated_single_and_wide():
    tax = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("b", "d"), (None, "e"), (None, "f")])
    assert found(tax, "isolated") == {"e", "f"}
    assert found(tax, "single_child") == {"a"}
    wide = Taxonomy.from_edges([("a", f"n{i}") for i in range(1001)])
    assert found(wide, "wide") == {"a"}
    assert found(wide.subtree("n1"), "wide") is None


def test_warnings_come_first_and_messages_are_short():
    tax = Taxonomy.from_edges([(f"p{i}", f"c{i}") for i in range(50)] + [(None, "lone" * 99)])
    levels = [f.level for f in findings(tax)]
    assert levels == ["warning", "note"]
    for finding in findings(tax):
        assert len(finding.message) < 300
    assert "(a chain, which could be one node): 50 ('p0', 'p1', 'p2', 47 more)." in finding.message


def test_tops_of_paths_lack_no_title():
    """Where ids are paths, their last names are titles; the top has its name as its id."""
    tax = Taxonomy.from_paths(["Home/Lamps", "Home/Other", "Garden/Other"])
    assert tax.titles and not found(tax, "missing_title")
