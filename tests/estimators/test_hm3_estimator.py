"""HM3: forms of labels, kernels, variants, answers."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators.hm3 import HM3
from linnaeus.inference.maxsum import max_sum
from linnaeus.kernels import LinearKernel, SpectrumKernel
from linnaeus.losses import markov_edges

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), (None, "lone")]
)
LOSSES = {"delta": "delta", "H~-unif": "unif", "H~-sibl": "sibl", "H~-subtree": "subtree"}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    leaves = np.array(TAX.leaves)
    centre = rng.normal(size=(leaves.size, 10)) * 2
    label = rng.integers(0, leaves.size, size=100)
    return centre[label] + rng.normal(size=(100, 10)), leaves[label]


@pytest.fixture(scope="module")
def closed(data):
    return TAX.closure(TAX.encode(data[1]))


def forest_of(parent):
    return Taxonomy.from_parents({j: None if p < 0 else int(p) for j, p in enumerate(parent)})


def test_solved_problems(golden_file):
    for case in golden_file("hm3")["cases"]:
        kernel = "precomputed" if "K" in case else "linear"
        model = HM3(
            forest_of(case["parent"]), C=case["C"], loss=LOSSES[case["loss"]], kernel=kernel,
            root_edges=case["root_edges"], tol=1e-7, max_iter=20_000, empty="none",
        )  # fmt: skip
        train, test = ("K", "K_test") if "K" in case else ("X", "X_test")
        Y = (np.array(case["Y"]) > 0).astype(int)
        model.fit(np.array(case[train]), Y)
        assert model.objective_ == pytest.approx(case["primal_opt"], rel=1e-6)
        np.testing.assert_allclose(model.slack_, case["slack"], atol=1e-4)
        predicted = model.predict(np.array(case[test]))
        margins = model.decision_function(np.array(case[test]))
        for record in case["predict_consistent"]:
            expected = np.array(record["y"]) > 0
            assert (predicted[record["index"]] == expected).all()
            assert ((margins[record["index"]] > 0) == expected).all()
            nearest = np.abs(margins[record["index"]]).min()
            assert nearest == pytest.approx(record["margin"], abs=1e-3)


def test_solved_variants(golden_file):
    choices = {
        "negative_slack": {"slack": "negative"},
        "edge_slack": {"slack": "edge"},
        "consistent_training": {"competitors": "consistent"},
        "path_model": {"features": "path"},
    }
    cases = [c for c in golden_file("hm3_variants")["variants"] if c["variant"] in choices]
    assert {case["variant"] for case in cases} == set(choices)
    for case in cases:
        loss = case["loss"].replace("H~-", "").replace("H-", "")
        model = HM3(forest_of(case["parent"]), C=case["C"], loss=loss, tol=1e-7, max_iter=20_000)
        model.set_params(share=case.get("share", "neighbours"), **choices[case["variant"]])
        model.fit(np.array(case["X"]), (np.array(case["Y"]) > 0).astype(int))
        assert model.objective_ == pytest.approx(case["optimum"], rel=1e-6, abs=1e-6)
        predicted = model.predict(np.array(case["X_test"]))
        for record in case["predict_consistent"]:
            assert (predicted[record["index"]] == (np.array(record["y"]) > 0)).all()


def test_the_answer_is_the_best_consistent_labeling(data, closed):
    X, _ = data
    model = HM3(TAX, tol=1e-4, empty="none").fit(X, closed)
    assert list(model.classes_) == list(TAX.nodes)
    blocks = X @ model.coef_.T
    best = max_sum(markov_edges(TAX.tree), blocks).labels
    assert (model.predict(X).toarray() == best).all()
    margins = model.decision_function(X)
    assert ((margins > 0) == best).all()
    parent = TAX.tree.parent
    for j in np.flatnonzero(parent >= 0):  # a node is on only where its parent is
        assert (margins[:, parent[j]] >= margins[:, j] - 1e-9).all()


def test_forms_of_labels_and_missing_ancestors(data, closed):
    X, y = data
    sets = HM3(TAX, tol=1e-4).fit(X, closed).predict(X)
    open_sets = HM3(TAX, tol=1e-4).fit(X, TAX.encode(y)).predict(X)
    assert (TAX.most_specific(sets) != open_sets).nnz == 0
    lists = HM3(TAX, tol=1e-4).fit(X, [[v] for v in y]).predict(X)
    assert lists == TAX.decode(open_sets)
    names = HM3(TAX, tol=1e-4).fit(X, y).predict(X)
    assert names.dtype == y.dtype and np.mean(names == y) > 0.9
    model = HM3(TAX, random_state=0)
    signs = model.fit(X, closed.toarray() * 2 - 1).decision_function(X)
    assert (signs == model.fit(X, closed).decision_function(X)).all()


def test_one_label_may_be_an_inner_node(data):
    X, y = data
    y = np.where(np.isin(y, ["a1", "a2"]), "A", y)
    predicted = HM3(TAX).fit(X, y).predict(X)
    assert np.mean(predicted == y) > 0.9 and "A" in set(predicted)


def test_without_a_taxonomy(data):
    X, y = data
    model = HM3(tol=1e-4).fit(X, y)
    assert list(model.classes_) == sorted(set(y))
    assert (model.predict(X) == model.classes_[model.decision_function(X).argmax(axis=1)]).all()
    two = HM3().fit(X, y == "a1")
    assert two.decision_function(X).shape == (100,)
    assert (two.predict(X) == (two.decision_function(X) > 0)).all()
    Y = TAX.encode(y).toarray()
    several = HM3(tol=1e-4).fit(X, Y)
    assert several.predict(X).shape == Y.shape


def test_kernels_agree_with_features(data, closed):
    X, _ = data
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    options = {"tol": 1e-8, "fit_intercept": True, "intercept_scaling": 0.5}
    linear = HM3(TAX, **options).fit(X, closed).decision_function(X)
    gram = HM3(TAX, kernel="precomputed", **options).fit(X @ X.T, closed)
    np.testing.assert_allclose(gram.decision_function(X @ X.T), linear, atol=1e-3)
    assert not hasattr(gram, "coef_") and not hasattr(gram, "sparsify")
    own = HM3(TAX, kernel=LinearKernel(), dtype="float64", **options).fit(X, closed)
    np.testing.assert_allclose(own.decision_function(X), linear, atol=1e-3)


def test_sequences_as_they_are():
    tax = Taxonomy.from_edges([("r", "ab"), ("r", "cd"), ("r", "x")])
    texts = ["ababab", "abab", "cdcdcd", "cdcd", "xxxx", "xxx", ""]
    labels = [["ab"], ["ab"], ["cd"], ["cd"], ["x"], ["x"], []]
    model = HM3(tax, C=10.0, kernel=SpectrumKernel(2)).fit(texts, labels)
    assert model.predict(["bababa", "dcdc", "xx"]) == [["ab"], ["cd"], ["x"]]
    assert model.decision_function(texts).shape == (7, 4)


def test_csga_and_pairwise_agree(data, closed):
    X, _ = data
    a = HM3(TAX, optimizer="csga", tol=1e-3, freq=10, max_iter=5000).fit(X, closed)
    b = HM3(TAX, tol=1e-3).fit(X, closed)
    assert a.objective_ == pytest.approx(b.objective_, rel=2e-3)
    assert a.gap_ <= 1e-3 and b.gap_ <= 1e-3


def test_a_sparse_model_predicts_the_same(data, closed):
    X, _ = data
    model = HM3(TAX, fit_intercept=True).fit(X, closed)
    before = model.decision_function(X)
    np.testing.assert_allclose(model.sparsify().decision_function(sp.csr_array(X)), before)
    best, score = model.top_k(X, 2)
    assert best.shape == score.shape == (100, 2)


def test_mistakes_are_named(data, closed):
    X, _ = data
    cases = {
        "kernel='rbf' is not known": {"kernel": "rbf"},
        "kernel is 3. It must be .*a kernel of": {"kernel": 3},
        "features='word' is not known. Use 'edge' or 'path'": {"features": "word"},
        "features='path' with slack='edge' is not known": {"features": "path", "slack": "edge"},
        "loss='hamming'|'hamming' is not known": {"loss": "hamming"},
        "tol is 0": {"tol": 0},
        "shape \\(100, 10\\). Give a square one": {"kernel": "precomputed"},
    }
    for message, parameters in cases.items():
        with pytest.raises(ValueError, match=message):
            HM3(TAX, **parameters).fit(X, closed)
    dag = Taxonomy.from_edges([("a", "c"), ("b", "c")])
    with pytest.raises(ValueError, match="c"):
        HM3(dag).fit(X, ["c"] * 100)


@pytest.mark.parametrize("slack", ["example", "edge", "negative"])
def test_features_given_to_every_edge_are_features_of_the_example(data, closed, slack):
    X, _ = data
    n_edges = markov_edges(TAX.tree, "none").child.size
    options = {"slack": slack, "C": 0.01, "tol": 1e-7, "random_state": 0}
    whole = HM3(TAX, **options).fit(X, closed)
    model = HM3(TAX, **options).fit(X[:, :6], closed, local=[X[:, 6:]] * n_edges)
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    together = np.hstack([model.coef_, np.vstack([v.T for v in model.local_coef_])])
    np.testing.assert_allclose(together, whole.coef_, atol=1e-3)
    for rows in (slice(None), slice(0, 7)):
        own = [sp.csr_array(X[rows, 6:])] * n_edges
        margins = model.decision_function(X[rows, :6], local=own)
        np.testing.assert_allclose(margins, whole.decision_function(X[rows]), atol=1e-3)
        assert (model.predict(X[rows, :6], local=own) != whole.predict(X[rows])).nnz == 0


def test_features_of_one_edge_alone(data, closed):
    X, _ = data
    edges = markov_edges(TAX.tree, "none")
    e = int(np.flatnonzero(edges.child == TAX.index("a1"))[0])
    local = [None] * edges.child.size
    local[e] = closed.toarray()[:, [TAX.index("a1")]]
    model = HM3(TAX, random_state=0).fit(0 * X, closed, local=local)
    assert [v is None for v in model.local_coef_] == [j != e for j in range(edges.child.size)]
    margins = model.decision_function(0 * X, local=local)
    assert margins[:, TAX.index("a1")] @ (2.0 * local[e][:, 0] - 1) > 0


def test_local_features_that_do_not_fit_are_refused(data, closed):
    X, _ = data
    n_edges = markov_edges(TAX.tree, "none").child.size
    model = HM3(TAX, C=0.01, random_state=0)
    with pytest.raises(UserError, match="1 blocks of local features, but .* edges"):
        model.fit(X, closed, local=[X])
    with pytest.raises(UserError, match="is not known beside local features. Use one of: feat"):
        HM3(TAX, features="path").fit(X, closed, local=[X] * n_edges)
    with pytest.raises(UserError, match="local is given, but needs kernel='linear'"):
        HM3(TAX, kernel=LinearKernel()).fit(X, closed, local=[X] * n_edges)
    with pytest.raises(ValueError, match="Input local contains NaN"):
        model.fit(X, closed, local=[np.nan * X] * n_edges)
    with pytest.raises(UserError, match="local is given, but none was given to fit"):
        model.fit(X, closed).predict(X, local=[X] * n_edges)
    model.fit(X, closed, local=[X[:, :2]] * n_edges)
    with pytest.raises(UserError, match="There are no blocks of local features, but"):
        model.predict(X)
    with pytest.raises(UserError, match=r"edge 0 have shape \(100, 3\). Give \(100, 2\): the rows"):
        model.predict(X, local=[X[:, :3]] * n_edges)
