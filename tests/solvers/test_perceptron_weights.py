"""Weights that go on learning: the mean from sums, and new attributes that keep old scores."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from linnaeus import Taxonomy
from linnaeus.losses import class_attributes
from linnaeus.solvers.online.perceptron_weights import Weights, growth
from strategies import edge_lists


@given(st.lists(st.sampled_from([-2, 0, 0, 1]), min_size=1, max_size=6), st.booleans())
def test_the_mean_of_all_weights_after_each_visit(steps, sparse):
    w, U, visited = 0.0, 0.0, []
    for number, u in enumerate(steps, start=1):
        w, U = w + u, U + number * u
        visited.append(w)
    make = sp.csr_array if sparse else np.array
    weights = Weights(make([[w]]), len(steps), moment=make([[U]]))
    mean = np.mean(visited)
    assert_allclose(weights.scores(np.array([[3.0]])), [[3 * mean]], atol=1e-12)
    there = weights.answer()
    assert_allclose(there.toarray() if sparse else there, [[mean]], atol=1e-12)


@pytest.mark.parametrize("sparse_last", [True, False])
@pytest.mark.parametrize("dense", [True, False])
def test_going_on_from_a_mean(sparse_last, dense):
    rng = np.random.default_rng(0)
    last, U = rng.integers(-3, 4, size=(4, 3)).astype(float), rng.normal(size=(4, 3))
    mean = (6 * last - U) / 5
    as_made = (lambda a: a.copy()) if dense else sp.csr_array
    weights = Weights(sp.csr_array(last) if sparse_last or not dense else last, 5, as_made(mean))
    weights.go_on(averaged=True, dense=dense)
    assert sp.issparse(weights.moment) != dense
    found = weights.moment if dense else weights.moment.toarray()
    assert_allclose(found, U, atol=1e-12)
    answer = weights.answer()
    assert_allclose(answer if dense else answer.toarray(), mean, atol=1e-12)
    weights.go_on(averaged=False, dense=dense)
    assert weights.moment is None and weights.mean is None


@st.composite
def growing(draw):
    """A taxonomy and a larger one that has all its nodes and edges; old leaves may be inner."""
    lines = draw(edge_lists(max_nodes=9, min_nodes=2))
    cut = draw(st.integers(1, len(lines)))
    whole = Taxonomy.from_edges(lines)
    kept = set(whole.nodes[:cut])
    old = [(p, v) for p, v in whole.edges if p in kept and v in kept]
    roots = [(None, v) for v in whole.roots if v in kept]
    return Taxonomy.from_edges([*roots, *old]), whole


def grown_with_misc(old, new):
    """The new taxonomy in which old classes that became inner nodes have a misc leaf."""
    inner = [v for v in old.leaves if new.n_children[new.index(v)]]
    return new.with_misc(inner), {v: f"{v}/misc" if v in inner else v for v in old.leaves}


@given(growing(), st.sampled_from(["ones", "flat", "depth", "perclass"]))
def test_scores_of_old_classes_do_not_change(pair, scheme):
    old, new = pair
    new, called = grown_with_misc(old, new)
    before, after = class_attributes(old, scheme), class_attributes(new, scheme)
    assume(before.nnz > 0)
    leaves = list(new.leaves)
    place = np.array([leaves.index(called[v]) for v in old.leaves])
    if scheme == "flat":
        column = own = place
    else:
        column, own = new.numbers(old.nodes), new.leaf_numbers[place]
    G = growth(before, after, place, column, own)
    w = np.random.default_rng(0).normal(size=(3, before.shape[1]))
    used = np.zeros(before.shape[1], bool)
    used[before.indices] = True
    w[:, ~used] = 0  # attributes that no class has are never learnt
    weights = Weights(w, 1, mean=2 * w)
    weights.grow(G, place, len(new.leaves))
    assert_allclose((weights.last @ after.T)[:, place], w @ before.T, atol=1e-10)
    assert_allclose(weights.mean, 2 * weights.last, atol=1e-10)
    assert weights.last.flags.c_contiguous


@pytest.mark.parametrize("scheme", ["ones", "depth", "perclass", "flat"])
def test_where_new_classes_start(scheme):
    """Below node B a new leaf starts from what the nodes above it have learnt; flat, from zero."""
    edges = [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")]
    old = Taxonomy.from_edges(edges)
    new = Taxonomy.from_edges([*edges, ("B", "b3"), ("b3x", "deep"), ("B", "b3x")])
    before, after = class_attributes(old, scheme), class_attributes(new, scheme)
    place = np.array([new.leaves.index(v) for v in old.leaves])
    flat = scheme == "flat"
    column = place if flat else new.numbers(old.nodes)
    G = growth(before, after, place, column, place if flat else new.leaf_numbers[place])
    w = np.random.default_rng(0).normal(size=(1, before.shape[1]))
    if scheme in ("depth", "perclass"):
        w[:, 0] = 0
    classes = (w @ G) @ after.T
    scores = dict(zip(new.leaves, classes[0], strict=True))
    if flat:
        assert scores["b3"] == scores["deep"] == 0
        return
    above = float(w[0, [old.index("r"), old.index("B")]] @ [1, 1])
    unit = {"ones": 1.0, "depth": 1 / np.sqrt(2), "perclass": 1 / np.sqrt(2)}[scheme]
    assert scores["b3"] == pytest.approx(unit * above)
    deeper = 1 / np.sqrt(3) if scheme == "perclass" else unit
    assert scores["deep"] == pytest.approx(deeper * above)


def test_nothing_new_changes_nothing():
    tax = Taxonomy.from_edges([("r", "A"), ("r", "b"), ("A", "a")])
    L, every = class_attributes(tax, "perclass"), np.arange(2)
    G = growth(L, L, every, np.arange(4), tax.leaf_numbers)
    assert_array_equal(G.toarray(), np.eye(4))
