"""RankingSVM: solved problems, famous special cases, label sets, kernels, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from linnaeus import MulticlassSVM, RankingSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.kernels import SpectrumKernel
from linnaeus.losses import class_attributes, class_kernel, class_loss, volume

TREE = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"), ("b", "b3")]
)
DAG = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("a", "y"), ("b", "z"), ("x", "p"), ("x", "q")]
)
TIGHT = {"tol": 1e-9, "max_iter": 20_000, "random_state": 0}


def groups(n=60, d=6, seed=0, labels=TREE.leaves, noise=1.0):
    """One label per row."""
    rng = np.random.default_rng(seed)
    label = np.resize(np.arange(len(labels)), n)
    X = rng.normal(size=(len(labels), d))[label] + noise * rng.normal(size=(n, d))
    return X, np.array(labels)[label]


def several(n=80, d=6, seed=0, taxonomy=TREE):
    """One to three leaves per row, as an indicator over the nodes."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(len(taxonomy.leaves), d))
    X = rng.normal(size=(n, d))
    top = np.argsort(-(X @ W.T), axis=1)
    lists = [[taxonomy.leaves[k] for k in row[: rng.integers(1, 4)]] for row in top]
    return X, taxonomy.encode(lists)


# -- solved problems -------------------------------------------------------------------------------


def model_of(cases, case, **more):
    tax = Taxonomy.from_edges(cases["taxonomies"][case["taxonomy"]]["edges"])
    attributes, kernel = case["attributes"], case.get("class_kernel")
    attributes = case.get("attribute_matrix", None if kernel else attributes)
    slack = {"instance": "example", "triplet": "pair"}[case["slack"]]
    loss = case["loss"]
    if loss == "volume":
        loss = volume(tax, case["volumes"], case["cminus"], case["cplus"])
    return RankingSVM(
        tax, C=case["C"], loss=loss, attributes=attributes, class_kernel=kernel, slack=slack,
        **{"tol": 1e-8, "max_iter": 20_000, "random_state": 0} | more,
    )  # fmt: skip


def check_golden(cases, case, model, X, X_test):
    model.fit(X, case["Y"])
    assert list(model.coef_names_) == cases["taxonomies"][case["taxonomy"]]["classes"]
    assert model.gap_ <= 1e-8
    assert_allclose(model.objective_, case["objective"], rtol=1e-6)
    assert_allclose(model.class_scores(X_test), case["scores_test"], atol=2e-6)
    assert_allclose(model.slack_, case["slacks"], atol=1e-5)
    if "class_weights" in case and model.kernel == "linear":
        assert_allclose(model.coef_, case["class_weights"], atol=1e-5)
        assert_allclose((model.node_coef_**2).sum(), case["w_norm2"], rtol=1e-6, atol=1e-6)


def test_golden(golden_file):
    cases = golden_file("ranking")
    for case in cases["svm"]:
        X, X_test = np.array(case["X"]), np.array(case["X_test"])
        if case["kernel"] == "linear":
            check_golden(cases, case, model_of(cases, case), X, X_test)
            check_golden(cases, case, model_of(cases, case), sp.csr_array(X), X_test)
            K, K_test = X @ X.T, X_test @ X.T
        else:
            gamma = case["kernel"]["rbf_gamma"]
            K, K_test = rbf_kernel(X, gamma=gamma), rbf_kernel(X_test, X, gamma=gamma)
        check_golden(cases, case, model_of(cases, case, kernel="precomputed"), K, K_test)


@pytest.mark.slow
def test_the_greedy_optimizer_counts_as_the_thesis_does(golden_file):
    cases = golden_file("ranking")
    for case in cases["svm"]:
        told = case["algorithm2"]
        if case["id"] not in ("svm01", "svm03", "svm07", "svm21"):
            continue
        model = model_of(cases, case, optimizer="greedy", tol=told["eps"])
        model.fit(np.array(case["X"]), case["Y"])
        assert (model.n_iter_, model.psi_ <= told["eps"]) == (told["iterations"], True)
        assert_allclose(model.objective_, told["primal"], rtol=1e-6)
        assert_allclose(model.dual_objective_, told["dual"], rtol=1e-6)


# -- special cases ---------------------------------------------------------------------------------


def test_one_label_and_no_taxonomy_is_the_machine_of_crammer_and_singer():
    X, y = groups()
    model = RankingSVM(C=0.7, **TIGHT).fit(X, y)
    other = MulticlassSVM(C=0.7, fit_intercept=False, **TIGHT).fit(X, y)
    assert_allclose(model.objective_, other.objective_, rtol=1e-7)
    assert_allclose(model.coef_, other.coef_, atol=1e-4)
    theirs = LinearSVC(
        C=0.7, multi_class="crammer_singer", fit_intercept=False, tol=1e-10, max_iter=100_000
    ).fit(X, y)
    assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_two_classes_are_a_binary_machine_with_twice_the_cost():
    X, y = groups(labels=("no", "yes"))
    model = RankingSVM(C=0.5, **TIGHT).fit(X, y)
    assert model.coef_.shape == (1, 6) and model.decision_function(X).shape == (60,)
    binary = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=100_000)
    binary.fit(X, y)
    assert_allclose(model.coef_, binary.coef_, atol=1e-4)
    kernel = RankingSVM(C=0.5, kernel="precomputed", **TIGHT).fit(X @ X.T, y)
    assert_allclose(kernel.decision_function(X @ X.T), model.decision_function(X), atol=1e-4)
    assert_array_equal(kernel.predict(X @ X.T), model.predict(X))


def test_flat_attributes_and_zero_one_loss_are_the_flat_machine():
    X, y = groups()
    flat = RankingSVM(**TIGHT).fit(X, y)
    tree = RankingSVM(TREE, loss="zero_one", attributes="flat", **TIGHT).fit(X, y)
    order = [list(flat.coef_names_).index(c) for c in tree.coef_names_]
    assert_allclose(tree.coef_, flat.coef_[order], atol=1e-5)


@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
@pytest.mark.parametrize("slack", ["example", "pair"])
@pytest.mark.parametrize("rescale", ["slack", "margin"])
def test_class_kernels_and_kernel_matrices(taxonomy, slack, rescale):
    X, Y = several(n=30, taxonomy=taxonomy)
    options = {"slack": slack, "rescale": rescale, "fit_intercept": True, **TIGHT}
    model = RankingSVM(taxonomy, **options).fit(X, Y)
    scores = model.decision_function(X)
    L = class_attributes(taxonomy, "depth" if taxonomy.is_tree else "perclass")
    other = RankingSVM(taxonomy, class_kernel=class_kernel(L), **options).fit(X, Y)
    assert_allclose(other.decision_function(X), scores, atol=2e-4)
    K = X @ X.T
    gram = RankingSVM(taxonomy, kernel="precomputed", **options).fit(K, Y)
    assert_allclose(gram.decision_function(K), scores, atol=2e-4)
    assert_allclose(gram.objective_, model.objective_, rtol=1e-7)
    assert not hasattr(gram, "coef_") and not hasattr(gram, "sparsify")


def test_the_intercept_is_a_constant_feature():
    X, y = groups(n=40)
    model = RankingSVM(TREE, fit_intercept=True, intercept_scaling=2.0, **TIGHT).fit(X, y)
    wide = np.hstack([X, np.full((40, 1), 2.0)])
    other = RankingSVM(TREE, **TIGHT).fit(wide, y)
    assert_allclose(model.decision_function(X), other.decision_function(wide), atol=1e-5)
    assert_allclose(model.intercept_, 2 * other.coef_[:, -1], atol=1e-5)
    assert_allclose(model.attributes_ @ model.node_coef_, model.coef_)
    assert_allclose(model.attributes_ @ model.node_intercept_, model.intercept_)


def test_string_kernels():
    texts = ["abab", "abba", "baba", "cdcd", "cddc", "dcdc"] * 3
    y = ["x", "y", "x", "z", "z", "z"] * 3
    tax = Taxonomy.from_edges([("r", "s"), ("s", "x"), ("s", "y"), ("r", "z")])
    model = RankingSVM(tax, kernel=SpectrumKernel(2)).fit(texts, y)
    assert list(model.predict(["cdcdc", "ababab"])) == ["z", "x"]


# -- label sets ------------------------------------------------------------------------------------


def test_label_sets_by_a_learnt_threshold():
    X, Y = several()
    model = RankingSVM(TREE).fit(X, Y)
    predicted = model.predict(X)
    assert sp.issparse(predicted) and predicted.shape == Y.shape
    F = model.class_scores(X)
    t = model.set_size_.predicted_thresholds(F)
    for f, threshold, row in zip(F, t, predicted.toarray(), strict=True):
        on = f > threshold if (f > threshold).any() else np.arange(f.size) == f.argmax()
        assert_array_equal(row[TREE.leaf_numbers] > 0, on)
    wrong = np.mean(predicted.toarray() != Y.toarray())
    assert wrong < 0.5 * Y.mean()


def test_closed_label_sets_and_lists_come_back_as_they_were_taught():
    X, Y = several()
    closed = TREE.closure(Y).toarray()
    predicted = RankingSVM(TREE, random_state=0).fit(X, closed).predict(X)
    assert_array_equal(TREE.closure(predicted), predicted)
    lists = RankingSVM(TREE, random_state=0).fit(X, TREE.decode(Y)).predict(X)
    assert_array_equal(TREE.closure(TREE.encode(lists)).toarray(), predicted)
    assert all(lists)


def test_many_classes_learn_thresholds_from_the_highest_scores():
    rng = np.random.default_rng(0)
    on = rng.random((150, 120)) < 0.02
    on[np.arange(150), np.arange(150) % 120] = True
    Y = sp.csr_array(on, dtype=np.int8)
    X = Y @ rng.normal(size=(120, 50))
    model = RankingSVM(random_state=0).fit(X, Y)
    assert model.set_size_.coef_.shape == (20,)
    assert np.diff(model.predict(X).indptr).min() >= 1


def test_rows_with_all_labels_or_none_take_no_part():
    X, Y = several()
    Y = TREE.encode([list(TREE.leaves), [], *TREE.decode(Y[2:])])
    model = RankingSVM(TREE, **TIGHT).fit(X, Y)
    other = RankingSVM(TREE, **TIGHT).fit(X[2:], Y[2:])
    assert_allclose(model.coef_, other.coef_, atol=1e-5)
    assert_array_equal(model.slack_[:2], 0)


def test_labels_of_inner_nodes():
    X, y = groups(labels=("a1", "a2", "b", "b1"))
    model = RankingSVM(TREE).fit(X, y)
    assert "b" in model.classes_ and len(model.coef_names_) == 6
    assert np.mean(model.predict(X) == y) > 0.7


# -- parameters ------------------------------------------------------------------------------------


def test_losses_of_all_kinds():
    X, y = groups(n=40)
    usual = RankingSVM(TREE, **TIGHT).fit(X, y)
    half = class_loss("half_distance", TREE)
    for loss in ("half_distance", half, half.matrix()):
        other = RankingSVM(TREE, loss=loss, **TIGHT).fit(X, y)
        assert_allclose(other.coef_, usual.coef_, atol=1e-5)
    double = RankingSVM(TREE, C=0.5, loss=volume(TREE), **TIGHT).fit(X, y)
    assert_allclose(double.coef_, usual.coef_, atol=1e-5)
    foreign = Taxonomy.from_edges(
        [("r", "a"), ("r", "b"), ("a", "b1"), ("a", "b2"), ("b", "a1"), ("b", "a2"), ("b", "b3")]
    )
    given = class_loss("half_distance", foreign)  # a loss of another tree of the same size
    a = RankingSVM(TREE, loss=given, **TIGHT).fit(X, y)
    b = RankingSVM(TREE, loss=given.matrix(), **TIGHT).fit(X, y)
    assert_allclose(a.coef_, b.coef_, atol=1e-5)


def test_warm_start():
    X, y = groups(n=100)
    model = RankingSVM(TREE, warm_start=True, tol=1e-6, random_state=0).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < cold
    model.set_params(C=1.5).fit(X, y)
    other = RankingSVM(TREE, C=1.5, tol=1e-6, random_state=0).fit(X, y)
    assert_allclose(model.objective_, other.objective_, rtol=3e-6)
    assert 0 < model.active_ratio_ < 1


@pytest.mark.slow
def test_what_tol_bounds():
    X, y = groups(n=100)
    model = RankingSVM(TREE, stop="psi", tol=1e-3).fit(X, y)
    assert model.psi_ <= 1e-3
    with pytest.warns(ConvergenceWarning, match=r"stopped at a psi of .*above tol=1e-09"):
        RankingSVM(TREE, stop="psi", tol=1e-9, max_iter=1).fit(X[:, :2], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RankingSVM(TREE, optimizer="greedy", tol=0.05).fit(X, y).psi_ <= 0.05


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"optimizer": "best"}, "optimizer='best' is not known. Use 'blocks' or 'greedy'"),
        ({"slack": "none"}, "slack='none' is not known"),
        ({"attributes": "deep"}, "attributes='deep' is not known"),
        ({"loss": "squared"}, "loss='squared' is not known"),
        ({"kernel": "rbf"}, "kernel='rbf' is not known"),
        ({"attributes": "ones", "class_kernel": np.eye(5)}, "Both attributes and class_kernel"),
        ({"class_kernel": np.eye(4)}, r"class_kernel has the shape \(4, 4\), but there are 5"),
        ({"class_kernel": np.triu(np.ones((5, 5)))}, r"not symmetric: \[0, 1\] is 1.0, but \[1, 0"),
        ({"class_kernel": np.eye(5) - 1}, "class_kernel has the negative eigenvalue -4"),
        ({"class_kernel": np.full((5, 5), np.nan)}, r"class_kernel\[0, 0\] is nan"),
    ],
)
def test_refusals(parameters, message):
    X, y = groups(n=20)
    with pytest.raises(UserError, match=message):
        RankingSVM(TREE, **parameters).fit(X, y)
