"""Taxonomies made from others."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.taxonomy.reshape import random_surjection
from strategies import edge_lists, forests

TREE = [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1")]


@given(edge_lists(min_nodes=2))
def test_a_subtree_holds_the_descendants_and_the_edges_among_them(lines):
    tax = Taxonomy.from_edges(lines)
    for v in tax:
        part = tax.subtree(v)
        inside = set(tax.descendants(v))
        assert set(part.nodes) == inside
        assert set(part.edges) == {(p, c) for p, c in tax.edges if p in inside and c in inside}


@given(edge_lists(), st.data())
def test_restrict_holds_the_labels_and_what_is_above(lines, data):
    tax = Taxonomy.from_edges(lines, related=[(lines[0][1], lines[-1][1])])
    labels = data.draw(st.lists(st.sampled_from(tax.nodes), max_size=4))
    part = tax.restrict(labels)
    assert set(part.nodes) == set().union(*(tax.ancestors(v) for v in labels))
    assert list(part.nodes) == [v for v in tax.nodes if v in part]
    assert part == tax.restrict(tax.encode([labels]))
    assert part == tax.restrict([labels, labels])


def test_misc_leaves_stand_for_inner_nodes_that_carry_labels():
    tax = Taxonomy.from_edges(TREE)
    assert tax.with_misc(["A"]).leaves == ("a1", "a2", "b1", "A/misc")
    assert tax.with_misc().leaves == ("a1", "a2", "b1", "r/misc", "A/misc", "B/misc")
    assert tax.with_misc().misc == {"r/misc": "r", "A/misc": "A", "B/misc": "B"}
    closed = tax.closure(tax.encode([["b1"], ["B"], ["a1"]]))
    assert tax.with_misc(closed).misc == {"B/misc": "B"}
    assert tax.with_misc([["B", "b1"], ["a1", "A"]]) == tax
    taken = Taxonomy.from_edges([*TREE, ("A", "A/misc")])
    assert taken.with_misc(["A"]).misc == {"A/misc'": "A"}


def test_misc_golden(golden_file):
    case = golden_file("ranking")["misc"]
    tax = Taxonomy.from_edges(case["edges"]).with_misc(case["misc_for"])
    assert list(tax.leaves) == case["classes"]
    distances = [[tax.distance(a, b) / 2 for b in tax.leaves] for a in tax.leaves]
    np.testing.assert_allclose(distances, case["half_distance"])


@given(forests())
def test_collapsed_trees_have_no_single_children_and_the_same_leaves(lines):
    tax = Taxonomy.from_edges(lines)
    small = tax.collapsed()
    assert small.leaves == tax.leaves
    assert not (small.n_children == 1).any()
    for v in small:  # ancestors are the old ones, less those contracted
        assert set(small.ancestors(v)) == set(tax.ancestors(v)) & set(small.nodes)
    assert small.collapsed() == small


def test_collapsed_keeps_what_it_is_told_and_joins_of_a_dag():
    chain = Taxonomy.from_edges([("r", "a"), ("a", "b"), ("b", "c"), ("r", "d")])
    assert chain.collapsed().nodes == ("r", "c", "d")
    assert chain.collapsed(keep=["a"]).nodes == ("r", "a", "c", "d")
    dag = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    assert dag.collapsed() == dag  # c has two parents: no chain


def test_collapsed_equals_the_collapsed_file(shared):
    folder = shared("data", "lshtc-small-val")
    edges, collapsed = (
        [tuple(line.split("\t")) for line in (folder / name).read_text().splitlines()]
        for name in ("taxonomy.tsv", "taxonomy_collapsed.tsv")
    )
    assert set(Taxonomy.from_edges(edges).collapsed().edges) == set(collapsed)


@given(edge_lists(min_nodes=2), st.integers(0, 1000))
def test_shuffled_keeps_shape_and_leaves(lines, seed):
    tax = Taxonomy.from_edges(lines)
    other = tax.shuffled(seed)
    assert set(other.nodes) == set(tax.nodes)
    assert set(other.leaves) == set(tax.leaves)
    assert [len(level) for level in other.levels] == [len(level) for level in tax.levels]
    assert len(other.edges) == len(tax.edges)
    assert other == tax.shuffled(seed)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "k"), [(1, 1), (3, 3), (4, 2), (5, 3)])
def test_random_surjections_are_uniform(m, k):
    onto = [f for f in product(range(k), repeat=m) if len(set(f)) == k]
    rng = np.random.default_rng(0)
    n = 200 * len(onto)
    counts = Counter(tuple(random_surjection(m, k, rng).tolist()) for _ in range(n))
    assert set(counts) == set(onto)
    chi2 = sum((counts[f] - 200) ** 2 / 200 for f in onto)
    assert chi2 < len(onto) + 5 * np.sqrt(2 * len(onto))


def test_a_large_surjection_close_to_a_bijection_ends():
    drawn = random_surjection(20_000, 19_000, np.random.default_rng(1))
    assert drawn.size == 20_000 and np.unique(drawn).size == 19_000
