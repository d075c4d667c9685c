"""GraphM3: the solved problems of the model on trees, graphs, hypergraphs, forms of labels."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators.graph_m3 import GraphM3
from linnaeus.kernels import SpectrumKernel

TAX = Taxonomy.from_edges([("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1")])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(3, 8)) * 2
    label = rng.integers(0, 3, size=60)
    return centre[label] + rng.normal(size=(60, 8)), np.array(TAX.leaves)[label]


def numbered(parent):
    """A taxonomy of numbers, and the column of each number."""
    tax = Taxonomy.from_parents({j: None if p < 0 else p for j, p in enumerate(parent)})
    return tax, tax.numbers(range(len(parent)))


def indicator(Y, columns):
    out = np.zeros(np.shape(Y), dtype=int)
    out[:, columns] = np.array(Y) > 0
    return out


def solved(golden_file, variant):
    """The solved problems of a variant; there are some."""
    cases = [c for c in golden_file("hm3_variants")["variants"] if c["variant"] == variant]
    assert cases, variant
    return cases


def test_on_trees_it_is_hm3(golden_file):
    for case in golden_file("hm3")["cases"]:
        tax, columns = numbered(case["parent"])
        linear = case["kernel"] == "linear"
        model = GraphM3(
            tax,
            edges=[(b,) if a < 0 else (a, b) for a, b in case["edges"]],
            C=case["C"],
            loss="hamming" if case["loss"] == "delta" else case["loss"].removeprefix("H~-"),
            kernel="linear" if linear else "precomputed",
            tol=1e-7,
            max_iter=2000,
            empty="none",
        )
        model.fit(case["X"] if linear else case["K"], indicator(case["Y"], columns))
        assert model.certified_
        assert model.objective_ == pytest.approx(case["primal_opt"], rel=1e-6)
        assert model.dual_objective_ == pytest.approx(case["primal_opt"], rel=1e-6)
        predicted = model.predict(case["X_test"] if linear else case["K_test"])[:, columns]
        for row in case["predict_consistent"]:
            assert (predicted[row["index"]] == (np.array(row["y"]) > 0)).all()


def test_consistent_competitors(golden_file):
    for case in solved(golden_file, "consistent_training"):
        tax, columns = numbered(case["parent"])
        model = GraphM3(tax, C=case["C"], consistent=True, tol=1e-7, max_iter=2000)
        model.fit(case["X"], indicator(case["Y"], columns))
        assert model.objective_ == pytest.approx(case["optimum"], rel=1e-6)


def test_graphs_with_loops(golden_file):
    for case in solved(golden_file, "graph"):
        Y = (np.array(case["Y"]) > 0).astype(int)
        model = GraphM3(edges=case["edges"], C=case["C"], tol=1e-7, max_iter=2000)
        model.fit(case["X"], Y)
        assert model.objective_ == pytest.approx(case["optimum"], rel=1e-6)
        related = Taxonomy.from_edges([], related=[tuple(map(str, e)) for e in case["edges"]])
        columns = related.numbers(map(str, range(case["k"])))
        other = GraphM3(related, C=case["C"], tol=1e-7, max_iter=2000)
        other.fit(case["X"], indicator(case["Y"], columns))
        assert other.objective_ == pytest.approx(case["optimum"], rel=1e-6)


def test_path_losses_equal_those_with_right_parents_on_closed_sets(data):
    """On closed label sets the two hierarchical losses are the same."""
    X, y = data
    values = []
    for loss in ("subtree", "path-subtree"):
        model = GraphM3(TAX, "paths", loss=loss, consistent=True, tol=1e-6, max_iter=2000)
        values.append(model.fit(X[:20], y[:20]).objective_)
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    assert sorted(model.edges_) == [("r", "A", "a1"), ("r", "A", "a2"), ("r", "B", "b1")]
    free = GraphM3(TAX, "paths", loss="path-subtree", tol=1e-5).fit(X[:20], y[:20])
    assert free.objective_ >= values[0] - 1e-4  # more competitors, never a smaller optimum


def test_without_edges_labels_are_independent():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(15, 4)), rng.integers(0, 2, size=(15, 3))
    joint = GraphM3(tol=1e-7, max_iter=3000).fit(X, Y)
    alone = [GraphM3(tol=1e-7, max_iter=3000).fit(X, Y[:, j]) for j in range(3)]
    assert joint.objective_ == pytest.approx(sum(m.objective_ for m in alone), rel=1e-6)
    scores = np.column_stack([m.decision_function(X) for m in alone])
    np.testing.assert_allclose(joint.decision_function(X), scores, atol=1e-2)
    assert joint.edges_ == [(0,), (1,), (2,)]


def test_predictions_and_scores_against_enumeration(data):
    X, y = data
    model = GraphM3(TAX, random_state=0).fit(X, TAX.closure(TAX.encode(y)))
    F = X @ model.coef_.T + model.intercept_
    every = np.array(list(product((0, 1), repeat=len(TAX))))
    closed = every[(TAX.closure(every) == every).all(axis=1)]
    values = F[:, model.graph_.start[:-1] + model.graph_.codes(closed)].sum(axis=2)
    np.testing.assert_array_equal(model.predict(X).toarray(), closed[values.argmax(axis=1)])
    D = model.decision_function(X)
    for v in range(len(TAX)):
        on, off = values[:, closed[:, v] == 1], values[:, closed[:, v] == 0]
        np.testing.assert_allclose(D[:, v], on.max(axis=1) - off.max(axis=1), atol=1e-9)


@pytest.mark.parametrize("inference", ["loopy", "trp"])
def test_approximate_inference_certifies_nothing(data, inference):
    X, y = data[0][:25], data[1][:25]
    Y = TAX.closure(TAX.encode(y)).toarray()
    edges = [*TAX.edges, ("A", "B"), ("a1", "b1"), ("a2", "b1")]
    exact = GraphM3(TAX, edges, tol=1e-2, random_state=0).fit(X, Y)
    model = GraphM3(TAX, edges, inference=inference, tol=1e-2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="lower estimates"):
        model.fit(X, Y)
    assert model.gap_ >= 0.0
    assert exact.certified_ and not model.certified_
    assert model.dual_objective_ <= exact.objective_ + 1e-9
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.97
    assert np.mean((model.decision_function(X) > 0) == (exact.decision_function(X) > 0)) > 0.95


def test_forms_of_labels(data):
    X, y = data
    model = GraphM3(TAX, random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.9
    assert list(model.classes_) == sorted(TAX.leaves)
    assert (model.predict(X) == model.classes_[model.decision_function(X).argmax(axis=1)]).all()
    closed = TAX.closure(TAX.encode(y)).toarray()
    predicted = GraphM3(TAX, random_state=0).fit(X, closed).predict(X)
    assert (TAX.closure(predicted) == predicted).all()
    sparse = GraphM3(TAX, random_state=0).fit(sp.csr_array(X), TAX.encode(y)).predict(X)
    lists = GraphM3(TAX, random_state=0).fit(X, [[label] for label in y]).predict(X)
    assert TAX.decode(sparse) == lists
    twice = GraphM3(TAX, random_state=3).fit(X, y).coef_
    assert (twice == GraphM3(TAX, random_state=3).fit(X, y).coef_).all()


def test_inner_nodes_may_be_the_one_label(data):
    X, y = data
    taught = np.where(y == "b1", "B", y)
    assert np.mean(GraphM3(TAX, random_state=0).fit(X, taught).predict(X) == taught) > 0.9


def test_weights_are_repetitions(data):
    X, y = data[0][:30], data[1][:30]
    weight = np.arange(30) % 3
    again = np.repeat(np.arange(30), weight)
    tight = {"random_state": 0, "tol": 1e-8, "max_iter": 3000}
    a = GraphM3(TAX, **tight).fit(X, y, sample_weight=weight)
    b = GraphM3(TAX, **tight).fit(X[again], y[again])
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-6)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-2)


def test_kernels_and_intercepts_agree(data):
    X, y = data
    tight = {"random_state": 0, "tol": 1e-6, "max_iter": 3000, "fit_intercept": True}
    a = GraphM3(TAX, **tight).fit(X[:30], y[:30])
    b = GraphM3(TAX, kernel="precomputed", **tight).fit(X[:30] @ X[:30].T, y[:30])
    c = GraphM3(TAX, tol=1e-6, max_iter=3000).fit(np.column_stack([X[:30], np.ones(30)]), y[:30])
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-5)
    assert a.objective_ == pytest.approx(c.objective_, rel=1e-5)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X @ X[:30].T), atol=0.05)


def test_strings_with_a_string_kernel():
    X = ["abab", "abba", "baba", "xyxy", "xyyx", "yxyx"]
    tax = Taxonomy.from_paths(["L/A", "L/X"])
    model = GraphM3(tax, kernel=SpectrumKernel(2)).fit(X, ["L/A"] * 3 + ["L/X"] * 3)
    assert model.predict(["ababab", "xyxyxy"]).tolist() == ["L/A", "L/X"]


def test_all_negative_labels_and_an_isolated_root(data):
    X, _ = data
    tax = Taxonomy.from_edges([("r", "a"), (None, "lone")])
    model = GraphM3(tax).fit(X, np.zeros((60, 3), dtype=int))
    assert not model.predict(X).any() and ("lone",) in model.edges_


def test_mistakes_are_named(data):
    X, y = data
    with pytest.raises(UserError, match=r"edges holds 'a3', which is not a node.* \['r', 'A'"):
        GraphM3(TAX, edges=[("r", "a3")]).fit(X, y)
    with pytest.raises(UserError, match="edges='paths' is not possible here"):
        GraphM3(edges="paths").fit(X, y)
    with pytest.raises(UserError, match="loss='hinge' is not known.*Use 'hamming', 'edges'"):
        GraphM3(TAX, loss="hinge").fit(X, y)
    with pytest.raises(UserError, match="loss='unif' needs a taxonomy"):
        GraphM3(loss="unif").fit(X, y)
    with pytest.raises(UserError, match="No hyperedge holds node"):
        GraphM3(TAX, loss="path-unif").fit(X, y)
    with pytest.raises(UserError, match="inference='lp' is not known. Use 'junction'"):
        GraphM3(TAX, inference="lp").fit(X, y)
    with pytest.raises(UserError, match="C is -1"):
        GraphM3(TAX, C=-1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="GraphM3 stopped at a relative duality gap"):
        GraphM3(TAX, max_iter=1, tol=1e-9).fit(X, y)
