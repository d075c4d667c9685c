"""Consistency repair and lifted scores against plain definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.inference import lift, repair

TAX = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")])


@st.composite
def label_sets(draw):
    n = draw(st.integers(1, 9))
    edges = [
        (p, v)
        for v in range(n)
        for p in (draw(st.sets(st.integers(0, v - 1), max_size=2)) if v else []) or [None]
    ]
    tax = Taxonomy.from_edges(edges)
    rows = draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), max_size=3))
    return tax, np.array(rows, dtype=np.int8).reshape(-1, n)


@given(label_sets())
def test_down_keeps_the_labels_whose_ancestors_are_all_on(problem):
    tax, Y = problem
    repaired = repair(tax, Y).toarray()
    for given_row, row in zip(Y, repaired, strict=True):
        for v, name in enumerate(tax.nodes):
            assert row[v] == all(given_row[tax.index(a)] for a in tax.ancestors(name))


@given(label_sets(), st.sampled_from(["down", "up"]))
def test_repaired_sets_are_closed_and_repair_is_idempotent(problem, mode):
    tax, Y = problem
    repaired = repair(tax, Y, mode)
    assert_array_equal(tax.closure(repaired).toarray(), repaired.toarray())
    assert_array_equal(repair(tax, repaired, mode).toarray(), repaired.toarray())
    assert (repaired.toarray() <= Y).all() if mode == "down" else (repaired.toarray() >= Y).all()


def test_a_dag_node_needs_all_its_parents():
    assert TAX.decode(repair(TAX, [["a", "b", "d", "e"]])) == [["a", "b"]]
    assert TAX.decode(repair(TAX, [["e"]], "up")) == [["a", "b", "c", "d", "e"]]
    with pytest.raises(UserError, match=r"mode='sideways' is not known. Use 'down'"):
        repair(TAX, [["a"]], "sideways")


@given(label_sets(), st.randoms(use_true_random=False))
def test_lifted_score_is_the_best_below(problem, random):
    tax, _ = problem
    scores = np.array([[random.randint(-5, 5) for _ in tax.leaves] for _ in range(2)], dtype=float)
    lifted = lift(tax, scores)
    own = [dict(zip(tax.leaves, row, strict=True)) for row in scores]
    for i, row in enumerate(lifted):
        for v, name in enumerate(tax.nodes):
            assert row[v] == max(own[i][d] for d in tax.descendants(name) if d in own[i])


def test_lift_from_some_nodes():
    tax = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("x", "y")])
    numbers = tax.numbers(["c", "a"])
    assert lift(tax, [[3.0, 1.0]], numbers).tolist() == [[3.0, 1.0, 3.0, 1.0, 1.0]]
    with pytest.raises(UserError, match=r"scores have 1 columns, but 3 nodes.*per leaf"):
        lift(tax, [[1.0]])
