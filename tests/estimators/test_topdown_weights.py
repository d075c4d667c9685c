"""Top-down models: pruned weights, and weights of classes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from topdown_problems import TIGHT, TREE, label_sets, local_scores, points

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators.svm import FlatSVM
from linnaeus.estimators.topdown import TopDown

METHODS = [
    {"loss": "squared_hinge"},
    {"loss": "hinge"},
    {"loss": "logistic"},
    {"local": "multiclass"},
    {"local": "multiclass", "loss": "logistic"},
]


def plain_objective(model: TopDown, X, y) -> float:
    """The sum of the local objectives at the weights of a model of one label per row."""
    C, total = model.C, 0.0
    coef, b = model.coef_.toarray(), model.intercept_
    closed = TREE.closure(TREE.encode(y)).toarray().astype(bool)
    for p in {p for p, _ in model.edges_}:
        e = [i for i, (above, _) in enumerate(model.edges_) if above == p]
        rows = closed[:, TREE.index(p)] if p is not None else np.ones(len(X), dtype=bool)
        Y = closed[np.ix_(rows, [TREE.index(model.edges_[i][1]) for i in e])]
        Z = X[rows] @ coef[e].T + b[e]
        M, own = np.where(Y, Z, -Z), Z[Y][:, None]
        loss = {
            "squared_hinge": np.maximum(0, 1 - M) ** 2,
            "hinge": np.maximum(0, 1 - M),
            "logistic": np.log1p(np.exp(-M)),
        }.get(model.loss, np.max(Z - own + ~Y, axis=1))
        if model.local == "multiclass" and model.loss == "logistic":
            loss = np.log(np.exp(Z - own).sum(axis=1))
        total += 0.5 * (coef[e] ** 2).sum() + 0.5 * (b[e] ** 2).sum() + C * loss.sum()
    return total


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_pruned_weights(options):
    X, y = points(TREE)
    model = TopDown(TREE, prune=0.1, **options, **TIGHT).fit(sp.csr_array(X), y)
    full = TopDown(TREE, **options, **TIGHT).fit(sp.csr_array(X), y)
    assert np.abs(model.coef_.data).min() >= 0.1
    assert model.coef_.nnz < full.coef_.nnz
    assert (model.predict(X) == full.predict(X)).mean() > 0.9
    assert_allclose(model.objective_, plain_objective(full, X, y))
    rise = plain_objective(model, X, y) / model.objective_ - 1
    assert_allclose(model.prune_loss_, rise, rtol=1e-4)
    assert 0 < model.prune_loss_ < 0.2


# -- class weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("class_weight", ["balanced", {"q": 3.0, "s": 0.2}])
def test_class_weights_of_one_level_are_those_of_the_flat_model(class_weight, loss):
    flat = Taxonomy.flat(["p", "q", "r", "s"])
    X, y = points(flat)
    X, y = X[20:][y[20:] != "p"], y[20:][y[20:] != "p"]
    for labels, taxonomy in ((y, flat), (y, None), (label_sets(flat, y), flat)):
        options = {"loss": loss, "class_weight": class_weight, **TIGHT}
        ours = TopDown(taxonomy, 0.7, **options).fit(X, labels)
        theirs = FlatSVM(taxonomy, 0.7, **options).fit(X, labels)
        assert_allclose(ours.coef_.toarray(), theirs.coef_, atol=1e-6)
    two = np.where(y == "q", "q", "s")
    ours, theirs = (m(class_weight=class_weight, **TIGHT).fit(X, two) for m in (TopDown, FlatSVM))
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_the_weight_of_a_node_is_a_cost_among_its_siblings_only(options):
    X, y = points(TREE, seed=11)
    options = {**options, **TIGHT, "tol": 1e-6}
    weighted = TopDown(TREE, class_weight={"b2": 2.0}, **options).fit(X, y)
    plain = TopDown(TREE, **options).fit(X, y)
    rows = np.isin(y, ["b1", "b21", "b22"])
    group = np.where(y[rows] == "b1", "b1", "b2")
    alone = TopDown(Taxonomy.flat(["b1", "b2"]), class_weight={"b2": 2.0}, **options)
    alone.fit(X[rows], group)
    s, t, u = (local_scores(model, X) for model in (weighted, alone, plain))
    assert_allclose(s["B", "b2"], t[None, "b2"], atol=3e-3)
    assert_allclose(s["B", "b1"], t[None, "b1"], atol=3e-3)
    assert abs(s["B", "b2"] - u["B", "b2"]).max() > 0.02
    for edge in ((None, "B"), ("b2", "b21"), ("A", "a1")):
        assert_array_equal(s[edge], u[edge])


def test_a_base_estimator_is_given_the_weights_of_classes():
    X, y = points(TREE, seed=11)
    base = LogisticRegression(tol=1e-9)
    for local in ("binary", "multiclass"):
        model = TopDown(TREE, local=local, estimator=base, class_weight={"b2": 2.0}).fit(X, y)
        rows = np.isin(y, ["b1", "b21", "b22"])
        group = np.where(y[rows] == "b1", "b1", "b2")
        theirs = clone(base).set_params(class_weight={"b2": 2.0}).fit(X[rows], group)
        f = [model.decoder_.taxonomy.nodes[p] for p in model.decoder_.fam.parent[1:]].index("B")
        ours = model.models_.parts[f + 1][-1]
        assert_allclose(abs(ours.coef_), abs(theirs.coef_), atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"local": "multiclass"}, {"estimator": GaussianNB()}])
def test_balanced_families(options):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.06, "a1", "a2")
    X = (y == "a1")[:, None] + 0.8 * rng.normal(size=(400, 2))
    recall = {}
    for weight in (None, "balanced"):
        model = TopDown(TREE, class_weight=weight, random_state=0, **options).fit(X, y)
        recall[weight] = (model.predict(X)[y == "a1"] == "a1").mean()
    if "estimator" not in options:
        assert recall["balanced"] > recall[None] + 0.2
    weight = rng.integers(0, 3, size=400)
    model = TopDown(TREE, class_weight="balanced", **options, **TIGHT)
    again = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    model.fit(X, y, sample_weight=weight)
    assert_allclose(model.decision_function(X), again.decision_function(X), atol=3e-3)


def test_the_weight_of_an_inner_label_is_that_of_its_misc_leaf_too():
    X, y = points(TREE)
    y = np.where(y == "a3", "A", y)
    plain = TopDown(TREE, **TIGHT).fit(X, y)
    heavy = TopDown(TREE, class_weight={"A": 9.0}, **TIGHT).fit(X, y)
    for edge in ((None, "A"), ("A", "A/misc")):
        assert local_scores(heavy, X)[edge].mean() > local_scores(plain, X)[edge].mean()
    a, b = (local_scores(model, X)["A", "a1"] for model in (heavy, plain))
    assert_allclose(a, b, atol=1e-3)  # each within its gap


def test_class_weights_that_make_no_sense():
    X, y = points(TREE)
    with pytest.raises(UserError, match=r"class_weight names 'zebra'.*The classes are \['A'"):
        TopDown(TREE, class_weight={"zebra": 2.0}).fit(X, y)
    with pytest.raises(UserError, match="class weight of 'A' is -1"):
        TopDown(TREE, class_weight={"A": -1}).fit(X, y)
    with pytest.raises(UserError, match="class_weight='even' is not known. Use 'balanced'"):
        TopDown(TREE, class_weight="even").fit(X, y)
    neighbours = TopDown(TREE, estimator=KNeighborsClassifier(), class_weight="balanced")
    with pytest.raises(UserError, match="takes no sample_weight"):
        neighbours.fit(X, y)
