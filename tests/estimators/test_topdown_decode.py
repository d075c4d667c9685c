"""Top-down models: paths and probabilities, and the labels made of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from topdown_problems import DAG, DECODES, TREE, label_sets, local_scores, points, sigmoid

from linnaeus.estimators.topdown import TopDown
from linnaeus.inference import repair


def test_probabilities_of_one_label_are_a_walk_down():
    X, y = points(TREE, seed=3)
    model = TopDown(TREE, decode="path").fit(X, y)
    s = local_scores(model, X)

    def share(p, c):
        total = sum(np.exp(4 * z) for (above, _), z in s.items() if above == p)
        return np.exp(4 * s[p, c]) / total

    P = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    assert_allclose(P["C"], share(None, "C"))
    assert_allclose(P["b1"], share(None, "B") * share("B", "b1"))
    assert_allclose(P["b21"], share(None, "B") * share("B", "b2") * share("b2", "b21"))
    assert_allclose(sum(P.values()), 1.0)
    nodes = model.predict_node_proba(X).toarray()
    assert_allclose(nodes[:, TREE.index("b2")], share(None, "B") * share("B", "b2"))


def test_probabilities_of_label_sets_are_products():
    X, y = points(TREE, seed=4)
    model = TopDown(TREE, decode="path", slope=2.5).fit(X, label_sets(TREE, y))
    s = local_scores(model, X)
    P = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    p = sigmoid(2.5 * s[None, "B"]) * sigmoid(2.5 * s["B", "b2"]) * sigmoid(2.5 * s["b2", "b22"])
    assert_allclose(P["b22"], p)
    column = list(model.classes_).index("b22")
    assert_allclose(
        2.5 * model.decision_function(X)[:, column], np.log(p) - np.log1p(-p), rtol=1e-6
    )


def test_leaves_of_a_dag_share_all_the_probability():
    X, y = points(DAG)
    model = TopDown(DAG, decode="path").fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.predict(X) == y).mean() > 0.6
    s = local_scores(model, X)
    assert {p for p, c in s if c == "x"} == {"A", "B"}  # a model for each parent


@pytest.mark.parametrize("local", ["binary", "multiclass"])
@pytest.mark.parametrize("decode", DECODES)
@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
def test_predict_is_the_best_of_the_decision_function(tax, decode, local):
    X, y = points(tax, seed=5)
    model = TopDown(tax, local=local, decode=decode, beam=2).fit(X, y)
    found = model.predict(X)
    scores = model.decision_function(X)
    assert scores.shape == (len(X), len(model.classes_))
    assert np.isfinite(scores).all()
    assert_array_equal(found, model.classes_[scores.argmax(axis=1)])
    best, value = model.top_k(X, 2)
    assert_array_equal(model.classes_[best[:, 0]], found)
    assert (value[:, 0] <= 1e-12).all()
    if decode == "path":
        assert_array_equal(found, model.classes_[model.predict_proba(X).argmax(axis=1)])


def test_greedy_follows_the_best_child():
    X, y = points(TREE, seed=6, spread=1.5)
    model = TopDown(TREE).fit(X, y)
    s = local_scores(model, X)
    for i, found in enumerate(model.predict(X)):
        v = None
        while v is None or TREE.children(v):
            children = TREE.children(v) if v is not None else TREE.roots
            v = max(children, key=lambda c, v=v, i=i: s[v, c][i])
        assert found == v


def test_greedy_on_label_sets_follows_positive_scores():
    X, y = points(TREE, seed=7)
    model = TopDown(TREE).fit(X, TREE.decode(TREE.most_specific(label_sets(TREE, y))))
    s = local_scores(model, X)

    def below(v, i):
        children = TREE.children(v) if v is not None else TREE.roots
        if not children:
            return {v}
        on = [c for c in children if s[v, c][i] > 0] or [max(children, key=lambda c: s[v, c][i])]
        return set().union(*(below(c, i) for c in on))

    for i, found in enumerate(model.predict(X)):
        assert set(found) == below(None, i)


def test_label_sets_by_beam_and_path_are_the_likely_ones():
    X, y = points(TREE, seed=8)
    Y = label_sets(TREE, y)
    model = TopDown(TREE, decode="path").fit(X, Y)
    P, leaves = model.class_probabilities(X), model.predict(X).toarray()[:, TREE.leaf_numbers]
    for p, on in zip(P, leaves, strict=True):
        expected = p > 0.5 if (p > 0.5).any() else p == p.max()
        assert_array_equal(on.astype(bool), expected)
    assert_array_equal(model.set_params(decode="beam", beam=99).predict(X).toarray(),
                       TREE.closure(model.predict(X)).toarray())  # fmt: skip


def test_node_probabilities_fall_along_the_path_and_show_where_the_search_went():
    X, y = points(TREE, seed=9)
    model = TopDown(TREE, decode="greedy").fit(X, y)
    nodes = model.predict_node_proba(X)
    assert nodes.shape == (len(X), len(TREE))
    dense = nodes.toarray()
    for p, c in TREE.edges:
        assert (dense[:, TREE.index(c)] <= dense[:, TREE.index(p)] + 1e-12).all()
    assert nodes.nnz < dense.size
    assert (dense[np.arange(len(X)), TREE.numbers(model.predict(X))] > 0).all()


def test_blocks_of_rows_do_not_matter(monkeypatch):
    X, y = points(TREE)
    model = TopDown(TREE, decode="beam", beam=2).fit(X, y)
    whole = model.decision_function(X), model.predict(X), model.predict_node_proba(X).toarray()
    monkeypatch.setattr("linnaeus.inference.rows.SCORE_ENTRIES", len(TREE) * 7)
    assert_array_equal(model.decision_function(X), whole[0])
    assert_array_equal(model.predict(X), whole[1])
    assert_array_equal(model.predict_node_proba(X).toarray(), whole[2])


def test_signs_are_local_machines_with_repair():
    """H-SVM of [Rousu2006]: a node is on when its machine says so and its parent is on."""
    X, y = points(TREE)
    Y = TREE.closure(TREE.encode(y)).toarray()
    Y[:10] = 0  # rows without labels
    model = TopDown(TREE, loss="hinge", decode="signs", random_state=0).fit(X, Y)
    edge = {child: e for e, (_, child) in enumerate(model.edges_)}
    rows = [edge[node] for node in TREE.nodes]
    scores = X @ model.coef_[rows].T.toarray() + model.intercept_[rows]
    expected = repair(TREE, sp.csr_array(scores > 0))
    predicted = model.predict(X)
    assert (predicted == expected.toarray()).all()
    assert (predicted.sum(axis=1) == 0).any()
