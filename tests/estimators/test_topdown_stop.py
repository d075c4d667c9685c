"""Top-down models: inner labels, and where paths may stop."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from topdown_problems import DAG, DECODES, TREE, label_sets, points

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators import _topdown_decode as stopping
from linnaeus.estimators._topdown_decode import Decoder
from linnaeus.estimators.topdown import TopDown
from linnaeus.inference.paths import along, families
from linnaeus.metrics import hierarchical_f1
from strategies import edge_lists


def test_inner_nodes_that_carry_labels_are_classes():
    X, y = points(TREE, spread=0.2)
    y = np.where(y == "a3", "A", y)
    model = TopDown(TREE, C=10.0).fit(X, y)
    assert "A" in model.classes_
    assert ("A", "A/misc") in model.edges_
    found = model.predict(X)
    assert (found[y == "A"] == "A").mean() > 0.8
    assert model.predict_node_proba(X).shape[1] == len(TREE)


WIDE = Taxonomy.from_edges([(g, f"{g}{i}") for g in "PQ" for i in range(8)] + [("R", "r")])


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("decode", DECODES)
def test_stop_is_learned_where_leaves_cannot_be_told(decode, several):
    """The leaves of P and Q are anybody's guess, those of R are plain."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, size=400)
    X = np.eye(3)[group] + 0.1 * rng.normal(size=(400, 3))
    y = np.array([f"{'PQ'[g]}{rng.integers(8)}" if g < 2 else "r" for g in group])
    taught = [[name] for name in y] if several else y
    model = TopDown(WIDE, stop=True, decode=decode, random_state=0).fit(X[:300], taught[:300])
    found = model.predict(X[300:])
    if several:
        found = np.array([names[0] for names in found])
    assert_array_equal(found, np.array(["P", "Q", "r"])[group[300:]])
    plain = TopDown(WIDE, decode=decode, random_state=0).fit(X[:300], y[:300]).predict(X[300:])
    assert hierarchical_f1(y[300:], found, WIDE) > hierarchical_f1(y[300:], plain, WIDE)
    assert 0 < model.threshold_ < 1


def test_the_threshold_says_how_far_to_go():
    X, y = points(TREE, spread=1.0)
    plain = TopDown(TREE, decode="path", random_state=0).fit(X, y)
    far = TopDown(TREE, decode="path", stop=1e-12, random_state=0).fit(X, y)
    assert_array_equal(far.predict(X), plain.predict(X))
    near = TopDown(TREE, decode="path", stop=1 - 1e-12).fit(X, y)
    assert set(near.predict(X)) <= set(TREE.roots)
    half = TopDown(TREE, decode="path", stop=0.5, random_state=0).fit(X, y)
    P = half.predict_node_proba(X).toarray()
    for i, name in enumerate(half.predict(X)):
        v = TREE.index(name)
        assert P[i, v] >= 0.5 or TREE.depth[v] == 0
        assert name in TREE.ancestors(plain.predict(X[[i]])[0])


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("decode", DECODES)
@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
def test_thresholds_of_levels_are_never_worse_out_of_fold(tax, decode, several):
    X, y = points(tax, spread=1.2, seed=12)
    labels = label_sets(tax, y) if several else y
    one, levels = (
        TopDown(tax, decode=decode, stop=stop, random_state=0).fit(X, labels)
        for stop in (True, "levels")
    )
    assert levels.threshold_.shape == (tax.depth.max() + 1,)
    assert levels.threshold_f1_ >= one.threshold_f1_
    if levels.threshold_f1_ == one.threshold_f1_:
        assert_array_equal(levels.threshold_, one.threshold_)
    same = deepcopy(one)
    same.threshold_ = np.full(tax.depth.max() + 1, one.threshold_)
    found, expected = same.predict(X), one.predict(X)
    if several:
        assert (found != expected).nnz == 0
        assert (tax.closure(levels.predict(X)) != levels.predict(X)).nnz == 0
    else:
        assert_array_equal(found, expected)


def test_no_change_of_one_level_raises_the_f1():
    """Probabilities that are wrong by level: those of leaves are far too high."""
    rng = np.random.default_rng(0)
    tax, n = WIDE, 200
    leaf = rng.choice(tax.leaf_numbers, size=n)
    true = tax.closure(tax.encode([[tax.nodes[v]] for v in leaf]))
    for one in (True, False):
        decoder = Decoder(tax, families(tax), 1.0, one, one)
        P = np.where(tax.depth == 0, 0.5, 0.7) * rng.random((n, len(tax)))
        P = np.where(true.toarray() > 0, np.sqrt(P), P)
        offered = along(tax, P.T, rng.permutation(leaf)) if one else sp.csr_array(P)
        held = stopping.Held(decoder, offered, true, np.ones(len(tax), dtype=bool))
        values = stopping.candidates(decoder, "greedy")
        theta, f1 = stopping.one_threshold(held, values)
        assert (
            f1 == max(held.f1(np.full(2, value)) for value in values) == held.f1(np.full(2, theta))
        )
        level, best = stopping.level_thresholds(held, values, theta, f1)
        assert best == held.f1(level) >= f1
        assert best == max(held.f1(np.array([value, level[1]])) for value in values)
        assert best == max(held.f1(np.array([level[0], value])) for value in values)
    assert best > f1  # of label sets


def test_stops_that_make_no_sense():
    X, y = points(TREE)
    for stop in ("level", 1.5, -0.1, None):
        with pytest.raises(UserError, match="^stop.* True, False, 'levels' or a number"):
            TopDown(TREE, stop=stop).fit(X, y)
    with pytest.raises(UserError, match="stop='levels' needs 2 folds; cv=1"):
        TopDown(TREE, stop="levels", cv=1).fit(X, y)


def test_stop_without_a_taxonomy_changes_nothing():
    X, y = points(Taxonomy.flat("abc"))
    ours, plain = (TopDown(stop=stop, random_state=0).fit(X, y) for stop in (True, False))
    assert_array_equal(ours.predict(X), plain.predict(X))


@settings(max_examples=25)
@given(
    edge_lists(min_nodes=2),
    st.sampled_from(DECODES),
    st.sampled_from([False, True, "levels", 0.4]),
    st.booleans(),
    st.integers(0, 20),
)
def test_predictions_are_consistent(lines, decode, stop, sparse, seed):
    tax = Taxonomy.from_edges(lines)
    rng = np.random.default_rng(seed)
    some = rng.random((12, len(tax))) < 0.2
    some[np.arange(12), rng.integers(len(tax), size=12)] = True
    Y = sp.csr_array(tax.closure(some))
    X = rng.normal(size=(12, 3))
    model = TopDown(tax, decode=decode, stop=stop, beam=2, cv=2, tol=0.1, random_state=0)
    model.fit(X, Y if sparse else Y.toarray())
    found = model.predict(rng.normal(size=(9, 3)))
    found = sp.csr_array(found)
    assert found.shape == (9, len(tax))
    assert (tax.closure(found) != found).nnz == 0
    assert (np.diff(found.indptr) > 0).all()
