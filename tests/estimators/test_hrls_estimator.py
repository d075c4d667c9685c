"""HierarchicalRLS: stored margins, kernels, forms of labels."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators.hrls import HierarchicalRLS, way_leads
from linnaeus.kernels import LinearKernel, SpectrumKernel


@parametrize_with_checks([HierarchicalRLS(fit_intercept=True, margins=False)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


TAX = Taxonomy.from_edges([("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1")])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(3, 8)) * 2
    label = rng.integers(0, 3, size=90)
    return centre[label] + rng.normal(size=(90, 8)), np.array(TAX.leaves)[label]


def test_stored_margins_and_predictions(golden_file):
    for case in golden_file("hm3_variants")["hrls"]:
        parent = {j: None if p < 0 else p for j, p in enumerate(case["parent"])}
        tax = Taxonomy.from_parents(parent)
        assert tax.nodes == tuple(range(len(parent)))
        X, T = np.array(case["X"]), np.array(case["X_test"])
        Y = (np.array(case["Y"]) > 0).astype(int)
        predicted = np.array(case["predict"]) > 0
        model = HierarchicalRLS(tax).fit(X, Y)
        np.testing.assert_allclose(model.decision_function(T), case["margin"], atol=1e-12)
        assert (model.predict(T) == predicted).all()
        by_matrix = HierarchicalRLS(tax, kernel="precomputed").fit(X @ X.T, Y)
        margins = by_matrix.decision_function(T @ X.T, (T**2).sum(axis=1))
        np.testing.assert_allclose(margins, case["margin"], atol=1e-12)
        by_object = HierarchicalRLS(tax, kernel=LinearKernel()).fit(X, Y)
        np.testing.assert_allclose(by_object.decision_function(T), case["margin"], atol=1e-5)
        assert (by_object.predict(T) == predicted).all()


def test_without_a_hierarchy_it_is_ridge_regression(data):
    X, y = data
    model = HierarchicalRLS(C=0.5, margins=False).fit(X, y)
    signs = 2.0 * (y[:, None] == model.classes_) - 1
    theirs = Ridge(alpha=2.0, fit_intercept=False).fit(X, signs)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8)


def test_margins_have_the_signs_of_ridge_scores(data):
    X, y = data
    for intercept in (False, True):
        exact = HierarchicalRLS(TAX, fit_intercept=intercept).fit(X, y)
        plain = HierarchicalRLS(TAX, fit_intercept=intercept, margins=False).fit(X, y)
        assert all(f.factor is None for f in plain.families_)
        a, b = exact.decision_function(X), plain.decision_function(X)
        assert (np.sign(a) == np.sign(b)).all() and (abs(a) <= abs(b)).all()


@pytest.mark.parametrize("extra", [[], [("b", "a1")]])  # a tree, and a node with two parents
@pytest.mark.parametrize("kernel", ["linear", LinearKernel()])
def test_labels_are_those_of_the_margins(extra, kernel):
    rng = np.random.default_rng(1)
    edges = [("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"), ("a2", "c"), ("a2", "d")]
    tax = Taxonomy.from_edges(edges + extra)
    X, y = rng.normal(size=(60, 5)), rng.choice(["a1", "a2", "b1", "b2", "c", "d", "b"], 60)
    model = HierarchicalRLS(tax, kernel=kernel).fit(X, y)
    new = rng.normal(size=(200, 5))
    best = model._leads(model._margins(new)).argmax(axis=1)
    assert model.predict(new).tolist() == model.targets_.labels()[best].tolist()


def test_an_intercept_is_a_constant_feature(data):
    X, y = data
    wide = np.column_stack([X, np.full(len(X), 3.0)])
    a = HierarchicalRLS(TAX, fit_intercept=True, intercept_scaling=3.0).fit(X, y)
    b = HierarchicalRLS(TAX).fit(wide, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(wide))
    K = HierarchicalRLS(TAX, kernel="precomputed", fit_intercept=True, intercept_scaling=3.0)
    K.fit(X @ X.T, y)
    np.testing.assert_allclose(
        K.decision_function(X @ X.T, (X**2).sum(axis=1)), a.decision_function(X)
    )


def test_forms_of_labels_and_certificates(data):
    X, y = data
    model = HierarchicalRLS(TAX).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.9
    assert list(model.classes_) == sorted(TAX.leaves)
    assert model.decision_function(X).shape == (90, 3)
    assert model.class_scores(X).shape == (90, len(TAX)) == model.node_scores(X).shape
    assert 0 <= model.gap_ < 1e-12 and model.trace_[-1]["objective"] == model.objective_
    closed = TAX.closure(TAX.encode(y)).toarray()
    predicted = HierarchicalRLS(TAX).fit(X, closed).predict(X)
    assert (TAX.closure(predicted) == predicted).all()
    lists = HierarchicalRLS(TAX).fit(X, [[label] for label in y]).predict(X)
    assert np.mean([row == [label] for row, label in zip(lists, y, strict=True)]) > 0.8


def test_strings_with_a_string_kernel():
    X = ["abab", "abba", "baba", "xyxy", "xyyx", "yxyx"]
    tax = Taxonomy.from_paths(["L/A", "L/X"])
    model = HierarchicalRLS(tax, kernel=SpectrumKernel(2)).fit(X, ["L/A"] * 3 + ["L/X"] * 3)
    assert model.predict(["ababab", "xyxyxy"]).tolist() == ["L/A", "L/X"]


def test_descent_stops_where_labels_were_taught():
    dag = TAX.dag
    margins = np.zeros((3, len(TAX)))
    margins[0, TAX.numbers(["A", "a2"])] = 1.0
    margins[1, TAX.numbers(["B"])] = 1.0
    margins[1, TAX.numbers(["b1"])] = -1.0
    margins[2] = -1.0
    margins[2, TAX.index("A")] = -0.5
    taught = np.zeros(len(TAX), dtype=bool)
    taught[TAX.numbers(["a1", "a2", "B", "b1"])] = True
    leads = way_leads(dag, margins, taught)
    assert [TAX.nodes[v] for v in leads.argmax(axis=1)] == ["a2", "B", "a1"]


def walk(dag, margins, taught):
    """From the best root on to the best child, of nodes that lead to a label that was taught."""
    below = [dag.children[dag.child_ptr[v] : dag.child_ptr[v + 1]] for v in range(len(taught))]

    def leads(v):
        return taught[v] or any(leads(c) for c in below[v])

    v, nodes = None, [u for u in range(len(taught)) if dag.parent_ptr[u] == dag.parent_ptr[u + 1]]
    while nodes := [u for u in nodes if leads(u)]:
        best = max(nodes, key=lambda u: margins[u])
        if v is not None and taught[v] and margins[best] <= 0:
            break
        v, nodes = best, below[best]
    return v


@pytest.mark.parametrize("seed", range(30))
def test_the_largest_lead_is_where_a_walk_down_ends(seed):
    rng = np.random.default_rng(seed)
    edges = [(f"{rng.integers(0, j)}", f"{j}") for j in range(1, 12)]
    more = [(p, c) for p, c in zip("0123", "6789", strict=True) if seed % 2 and (p, c) not in edges]
    dag = Taxonomy.from_edges(edges + more).dag
    taught = rng.random(12) < 0.5
    taught[-1] = True
    margins = rng.normal(size=(20, 12))
    leads = way_leads(dag, margins, taught)
    assert (leads.max(axis=1) >= 0).all() and np.isneginf(leads[:, ~taught]).all()
    assert leads.argmax(axis=1).tolist() == [walk(dag, row, taught) for row in margins]


def test_a_node_without_examples_stays_off(data):
    X, _ = data
    Y = np.zeros((90, len(TAX)), dtype=int)
    model = HierarchicalRLS(TAX).fit(X, Y)
    assert not model.predict(X)[:, 1:].any()
    assert (model.decision_function(X)[:, 1:] == 0).all()


def test_mistakes_are_named(data):
    X, y = data
    with pytest.raises(UserError, match="C is -1"):
        HierarchicalRLS(TAX, C=-1).fit(X, y)
    with pytest.raises(UserError, match=r"kernel='rbf' is not known. Use 'linear', 'precomputed'"):
        HierarchicalRLS(TAX, kernel="rbf").fit(X, y)
    with pytest.raises(UserError, match=r"shape \(90, 8\). Give a square one"):
        HierarchicalRLS(TAX, kernel="precomputed").fit(X, y)
    model = HierarchicalRLS(TAX, kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(UserError, match=r"self_kernel has shape \(2,\), but X has 90 rows"):
        model.decision_function(X @ X.T, [1.0, 1.0])
