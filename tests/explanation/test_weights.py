"""The law of explanations: what is own, what is inherited and the intercept are the score."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import linnaeus
from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.explanation.sources import weights_of
from linnaeus.explanation.weights import TOP

TREE = Taxonomy.from_edges(
    [("animal", "cat"), ("animal", "dog"), ("dog", "poodle"), ("dog", "collie"), ("plant", "oak"),
     ("plant", "rose")]
)  # fmt: skip
DAG = Taxonomy.from_edges(
    [("pet", "cat"), ("pet", "dog"), ("guard", "dog"), ("guard", "goose"), ("bird", "goose"),
     ("dog", "poodle"), ("dog", "collie")]
)  # fmt: skip
ONE = {
    "tree": ["cat", "poodle", "collie", "oak", "rose", "dog", "plant"],  # dog, plant: misc leaves
    "dag": ["cat", "goose", "poodle", "collie", "dog", "guard"],
}
TAXONOMY = {"tree": TREE, "dag": DAG}


class Product:
    """A kernel object: the linear one."""

    def gram(self, A, B=None):
        return np.asarray(A) @ np.asarray(A if B is None else B).T + 1.0

    def diagonal(self, A):
        return (np.asarray(A) ** 2).sum(axis=1) + 1.0


def examples(shape, several, n=60, d=8):
    rng = np.random.default_rng(3)
    names = ONE[shape]
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    if not several:
        return X, np.array([names[i % len(names)] for i in range(n)])
    return X, [sorted({names[i % len(names)], names[(i * i) % len(names)]}) for i in range(n)]


def fitted(name, shape, several, **parameters):
    X, y = examples(shape, several)
    taxonomy = None if shape is None else TAXONOMY[shape]
    return getattr(linnaeus, name)(taxonomy, **parameters).fit(X, y), X


ADDITIVE = [
    ("FlatSVM", ("tree", "dag"), (False, True), {}),
    ("FlatSVM", ("tree", "dag"), (True,), {"classes": "nodes"}),
    ("FlatLogistic", ("tree", "dag"), (False, True), {}),
    ("MulticlassSVM", ("tree", "dag"), (False,), {}),
    ("MulticlassLogistic", ("tree", "dag"), (False,), {}),
    ("RecursiveSVM", ("tree", "dag"), (False, True), {}),
    ("RecursiveSVM", ("tree", "dag"), (True,), {"root": "pinned"}),
    ("RecursiveSVM", ("dag",), (True,), {"conductance": {("pet", "dog"): 5.0}}),
    ("RecursiveSVM", ("tree",), (False,), {"conductance": 4.0, "intercept_sharing": "parent"}),
    ("RecursiveLogistic", ("tree", "dag"), (False, True), {}),
    ("HBLR", ("tree",), (False,), {}),
    ("HBLR", ("tree",), (True,), {"link": "binary", "fit_intercept": False}),
    ("HBLR", ("tree",), (False,), {"inference": "flat"}),
    ("RankingSVM", ("tree", "dag"), (False, True), {}),
    ("RankingSVM", ("tree", "dag"), (False,), {"attributes": "ones", "fit_intercept": True}),
    ("RankingSVM", ("tree",), (False,), {"attributes": "flat"}),
    ("RankingSVM", ("tree",), (True,), {"kernel": Product(), "fit_intercept": True}),
    ("HierarchicalPerceptron", ("tree", "dag"), (False, True), {}),
    ("HierarchicalPerceptron", ("tree",), (True,), {"kernel": Product(), "fit_intercept": True}),
    ("HierarchicalPerceptron", ("dag",), (True,), {"variant": "online", "fit_intercept": True}),
    ("Hieron", ("tree", "dag"), (False,), {}),
    ("HierarchicalRLS", ("tree", "dag"), (False, True), {}),
    ("HierarchicalRLS", ("tree",), (True,), {"margins": False, "fit_intercept": True}),
    ("HierarchicalRLS", ("tree",), (True,), {"kernel": Product(), "fit_intercept": True}),
    ("HM3", ("tree",), (False, True), {}),
    ("HM3", ("tree",), (True,), {"root_edges": "all", "fit_intercept": True}),
    ("HM3", ("tree",), (True,), {"features": "path"}),
    ("HM3", ("tree",), (True,), {"kernel": Product(), "fit_intercept": True}),
]
CASES = [
    (name, shape, several, parameters)
    for name, shapes, kinds, parameters in ADDITIVE
    for shape in shapes
    for several in kinds
]


def total(share, row):
    return share.weights @ row.values + share.intercepts


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "shape", "several", "parameters"), CASES)
def test_own_and_inherited_parts_are_the_score(name, shape, several, parameters):
    estimator, X = fitted(name, shape, several, **parameters)
    weights = weights_of(estimator)
    scores = estimator.class_scores(X[:4])
    for i in range(4):
        row = weights.row(X[i : i + 1])
        for j, node in enumerate(estimator.targets_.names):
            (share,) = weights.shares(node, row)
            assert share.sources[0] == node
            np.testing.assert_allclose(
                total(share, row).sum(), scores[i, j], rtol=1e-5, atol=1e-6, err_msg=f"{node} {i}"
            )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "parameters"),
    [(name, {}) for name in (
        "FlatSVM", "FlatLogistic", "MulticlassSVM", "RecursiveSVM", "HBLR", "RankingSVM",
        "HierarchicalPerceptron", "HierarchicalRLS", "HM3", "TopDown",
    )] + [("HM3", {"kernel": "precomputed"}), ("RankingSVM", {"kernel": "precomputed"})],
)  # fmt: skip
def test_two_classes_without_a_taxonomy(name, parameters):
    X = np.random.default_rng(0).normal(size=(30, 4))
    y = np.where(X[:, 0] + 0.1 * X[:, 1] > 0, "yes", "no")
    X = X @ X.T if parameters else X
    estimator = getattr(linnaeus, name)(**parameters).fit(X, y)
    weights = weights_of(estimator)
    scores = estimator.decision_function(X[:3])
    for i in range(3):
        row = weights.row(X[i : i + 1])
        for node, sign in (("no", -1), ("yes", 1)):
            (share,) = weights.shares(node, row)
            np.testing.assert_allclose(total(share, row).sum(), sign * scores[i], atol=1e-6)
    assert weights.kind == ("examples" if parameters else "features")


@pytest.mark.parametrize("shape", ["tree", "dag"])
def test_inner_nodes_of_recursive_models_have_their_own_weights(shape):
    estimator, _ = fitted("RecursiveSVM", shape, True)
    weights = weights_of(estimator)
    for node, w in zip(estimator.inner_nodes_, estimator.inner_coef_, strict=True):
        (share,) = weights.shares(node, inner=True)
        np.testing.assert_allclose(share.weights.sum(axis=0), w, atol=1e-12)


def test_a_child_of_two_parents_inherits_their_mean_by_conductance():
    estimator, _ = fitted("RecursiveSVM", "dag", True, conductance={("pet", "dog"): 3.0})
    (share,) = weights_of(estimator).shares("dog", inner=True)
    w = dict(zip(estimator.inner_nodes_, estimator.inner_coef_, strict=True))
    parts = dict(zip(share.sources, share.weights, strict=True))
    np.testing.assert_allclose(parts["pet"], 0.75 * w["pet"], atol=1e-12)
    np.testing.assert_allclose(parts["guard"], 0.25 * w["guard"], atol=1e-12)
    np.testing.assert_allclose(parts["dog"], w["dog"] - parts["pet"] - parts["guard"], atol=1e-12)


def test_misc_leaves_have_the_name_of_their_node():
    estimator, _ = fitted("RecursiveSVM", "tree", True)
    (share,) = weights_of(estimator).shares("dog")
    assert share.sources == ("dog", "animal")


def test_hblr_inherits_from_a_common_root():
    estimator, _ = fitted("HBLR", "tree", False)
    (share,) = weights_of(estimator).shares("cat")
    assert share.sources == ("cat", "animal", TOP)
    mu = dict(zip(TREE.nodes, estimator.mu_, strict=True))
    np.testing.assert_allclose(share.weights[0], mu["cat"] - mu["animal"], atol=1e-12)


def test_ranking_attributes_given_as_a_matrix_are_shared_or_own():
    classes = 7
    table = np.hstack([np.eye(classes), np.ones((classes, 1))])
    estimator, _ = fitted("RankingSVM", "tree", False, attributes=table)
    weights = weights_of(estimator)
    (share,) = weights.shares("cat")
    assert share.sources == ("cat", "attribute 8")


def test_inner_nodes_of_ranking_models_have_the_sum_above_their_classes():
    single = Taxonomy.from_edges([("all", v) for v in TREE.roots] + list(TREE.edges))
    X, y = examples("tree", False)
    estimator = linnaeus.RankingSVM(single).fit(X, y)
    weights = weights_of(estimator)
    row = weights.row(X[:1])
    (cat,), (animal,), (top,) = (
        weights.shares(v, row, inner=True) for v in ("cat", "animal", "all")
    )
    parts = dict(zip(cat.sources, total(cat, row), strict=True))
    assert parts["animal"] == pytest.approx(total(animal, row).sum())
    assert total(top, row).tolist() == [0.0]  # above all classes: it has no say


@pytest.mark.parametrize("shape", ["tree", "dag"])
@pytest.mark.parametrize("several", [False, True])
def test_top_down_steps_are_the_local_scores(shape, several):
    estimator, X = fitted("TopDown", shape, several)
    weights = weights_of(estimator)
    row = weights.row(X[:1])
    local = (sp.csr_array(X[:1]) @ estimator.coef_.T).toarray()[0] + estimator.intercept_
    for (parent, child), score in zip(estimator.edges_, local, strict=True):
        node = estimator.targets_.taxonomy.misc.get(child, child)
        shares = [s for s in weights.shares(node, row) if s.given == parent]
        (share,) = shares
        assert share.sources == (node,)
        np.testing.assert_allclose(total(share, row).sum(), score, atol=1e-6)


def test_choices_of_multiclass_steps_are_against_the_best_sibling():
    estimator, X = fitted("TopDown", "tree", False, local="multiclass")
    weights = weights_of(estimator)
    row = weights.row(X[:1])
    local = (X[:1] @ estimator.coef_.toarray().T)[0] + estimator.intercept_
    scores = {child: s for (parent, child), s in zip(estimator.edges_, local, strict=True)
              if parent == "dog"}  # fmt: skip
    (share,) = weights.shares("poodle", row)
    rival = max((s, c) for c, s in scores.items() if c != "poodle")
    assert share.against == estimator.targets_.taxonomy.misc.get(rival[1], rival[1])
    np.testing.assert_allclose(total(share, row).sum(), scores["poodle"] - rival[0], atol=1e-6)


def test_the_least_step_of_orthogonal_transfer_is_the_score():
    estimator, X = fitted("OrthogonalTransfer", "tree", False)
    weights = weights_of(estimator)
    scores = estimator.class_scores(X[:5])
    for i in range(5):
        row = weights.row(X[i : i + 1])
        for j, node in enumerate(estimator.targets_.names):
            above = [s for v in TREE.ancestors(node)[:-1] for s in weights.shares(v, row, True)]
            steps = above + weights.shares(node, row)
            margins = [total(s, row).sum() for s in steps if s.against is not None]
            np.testing.assert_allclose(min(margins), scores[i, j], atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_correlated_sums_are_the_linear_predictor():
    X, y = examples("tree", False)
    estimator = linnaeus.CorrelatedMNL(TREE, n_samples=20, n_burn_in=20, random_state=0).fit(X, y)
    weights = weights_of(estimator)
    row = weights.row(X[:1])
    expected = (X[:1] @ estimator.coef_.T + estimator.intercept_)[0]
    for node, value in zip(estimator.targets_.names, expected, strict=True):
        (share,) = weights.shares(node, row)
        np.testing.assert_allclose(total(share, row).sum(), value, atol=1e-9)
    (share,) = weights.shares("cat")
    assert share.sources[:2] == ("cat", "animal")
    assert weights.note.startswith("the score is the logarithm")


def test_hm3_alone_is_what_switching_on_adds():
    estimator, _ = fitted("HM3", "tree", True)
    (share,) = weights_of(estimator).shares("cat")
    e = int(np.flatnonzero(estimator.edges_.child == TREE.index("cat"))[0])
    expected = estimator.coef_[4 * e + 3] - estimator.coef_[4 * e + 2]
    np.testing.assert_allclose(share.weights.sum(axis=0), expected, atol=1e-12)


def test_what_cannot_be_explained_says_why():
    X, y = examples("tree", True)
    with pytest.raises(UserError, match="GraphM3 cannot be explained .* Use one of: .*FlatSVM"):
        weights_of(linnaeus.GraphM3(TREE).fit(X, y))
    with pytest.raises(UserError, match="local models are LogisticRegressions.*without estimator"):
        weights_of(linnaeus.TopDown(TREE, estimator=LogisticRegression()).fit(X, y))
    weights = weights_of(linnaeus.FlatSVM(TREE).fit(X, y))
    with pytest.raises(UserError, match="no weights for 'rosé'.*did you mean 'rose'"):
        weights.shares("rosé")
    with pytest.raises(UserError, match="There are 2 rows. Explain one at a time"):
        weights.row(X[:2])
