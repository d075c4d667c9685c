"""Columns that scorers can trust: as if they had been put in order by name, for every scorer.

The labels are such that their order in the taxonomy is not that of the alphabet.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import cross_val_score

import linnaeus
from linnaeus import FlatLogistic, FlatSVM, Taxonomy, TopDown
from linnaeus.errors import UserError
from marks import slow

TAX = Taxonomy.from_edges([("z", "q"), ("z", "bb"), ("y", "c"), ("y", "a"), ("y", "d"), ("d", "e")])
SEEN = ["a", "bb", "c", "d", "q"]  # "e" has no rows; "d" has labels of its own
ESTIMATORS = {
    kind.__name__: kind
    for kind in (getattr(linnaeus, name) for name in linnaeus.__all__)
    if isinstance(kind, type) and hasattr(kind, "fit")
}
MORE = {"CorrelatedMNL": {"n_burn_in": 20, "n_samples": 20}, "Blend": None, "KernelRLS": {}}
NODES = ("GraphM3", "HM3", "HierarchicalRLS")
PATHS = ("HM3",)  # predicts the best path, not the best column
pytestmark = pytest.mark.filterwarnings(
    "ignore:The chains of CorrelatedMNL", "ignore::sklearn.exceptions.ConvergenceWarning"
)


def made(name, taxonomy=None):
    kind, more = ESTIMATORS[name], MORE.get(name, {})
    known = kind().get_params() if more is not None else {}
    more = more if more is not None else {"estimators": [("a", FlatSVM(taxonomy))]}
    return kind(
        taxonomy=taxonomy, **more, **({"random_state": 0} if "random_state" in known else {})
    )


def takes_several(name):
    return made(name).__sklearn_tags__().classifier_tags.multi_label


def rows(labels, n=75):
    rng = np.random.default_rng(0)
    number = np.arange(n) % len(labels)
    X = rng.normal(size=(len(labels), 6))[number] * 2 + rng.normal(size=(n, 6))
    return X, np.array(labels)[number]


X, Y_ONE = rows(SEEN)
SETS = TAX.closure(TAX.encode([[a, b] for a, b in zip(Y_ONE, np.roll(Y_ONE, 1), strict=True)]))
SETS = SETS.toarray()
several = pytest.mark.parametrize("name", [name for name in ESTIMATORS if takes_several(name)])
every = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(scope="session")
def fitted():
    """Fitted estimators, each made once: by name, and by what it was taught."""
    kept = {}

    def fit(name, what):
        if (name, what) not in kept:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = made(name, None if what == "flat" else TAX)
                kept[name, what] = model.fit(X, SETS if what == "sets" else Y_ONE)
        return kept[name, what]

    return fit


class Named(ClassifierMixin, BaseEstimator):
    """Answers with columns that were put together by hand, one name at a time."""

    def __init__(self, classes, scores, predicted, proba=None):
        self.classes, self.scores, self.predicted, self.proba = classes, scores, predicted, proba
        self.classes_ = np.array(classes)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.predicted

    def decision_function(self, X):
        return self.scores


class Likely(Named):
    """The same with probabilities."""

    def predict_proba(self, X):
        return self.proba


def below(node):
    return set(TAX.descendants(node))


def by_name(model, classes, sets):
    """The columns of some labels, from the classes that were trained."""
    names, S = model.targets_.names, model.class_scores(X)

    def column(values, label, join):
        own = [j for j, name in enumerate(names) if name == label]
        under = [j for j, name in enumerate(names) if name in below(label)]
        return join(values[:, under if sets and names != TAX.nodes else own], axis=1)

    scores = np.column_stack([column(S, label, np.max) for label in classes])
    if not hasattr(model, "predict_proba"):
        return scores, None
    P = model.class_probabilities(X)
    P = np.column_stack([column(P, label, np.max) for label in classes])
    return scores, P if sets else P / P.sum(axis=1, keepdims=True)


def values(model, y):
    """What every scorer says of a model, where it applies."""
    found = {}
    for name in get_scorer_names():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = get_scorer(name)(model, X, y)
            except (ValueError, AttributeError, TypeError):
                continue
    return {name: value for name, value in found.items() if np.isfinite(value)}


def assert_alike(found, expected, at_least):
    assert found.keys() == expected.keys()
    assert len(found) >= at_least, sorted(found)
    for name, value in found.items():
        assert_allclose(value, expected[name], rtol=1e-6, atol=1e-9, err_msg=name)


@every
@pytest.mark.parametrize("what", ["tree", slow("flat")])
def test_every_scorer_for_one_label_per_row(fitted, name, what):
    model = fitted(name, what)
    assert list(model.classes_) == SEEN
    scores, proba = by_name(model, SEEN, sets=False)
    shown, found = model.decision_function(X), model.predict(X)
    assert shown.shape == (len(X), len(SEEN))
    if name in ("GraphM3", "HierarchicalRLS") and what == "tree":
        scores = shown  # scores of whole paths: see the tests of the two
    hand = (Likely if hasattr(model, "predict_proba") else Named)(SEEN, scores, found, proba)
    assert_alike(values(model, Y_ONE), values(hand, Y_ONE), 25 if proba is None else 33)


@every
def test_predictions_are_the_best_column(fitted, name):
    for what in ("tree", "flat"):
        model = fitted(name, what)
        found = model.predict(X)
        assert set(found) <= set(model.classes_) and found.dtype == model.classes_.dtype
        if name not in PATHS:
            assert_array_equal(found, model.classes_[model.decision_function(X).argmax(axis=1)])
        if hasattr(model, "predict_proba"):
            assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        if hasattr(model, "top_k") and name not in PATHS:
            best, score = model.top_k(X, 2)
            assert_array_equal(model.classes_[best[:, 0]], found)
            if name != "TopDown":  # whose values are log probabilities
                shown = model.decision_function(X)
                assert_allclose(np.take_along_axis(shown, best, axis=1), score)


@every
def test_the_classes_of_labels_are_known_before_a_fit(fitted, name):
    for what, y in (("tree", Y_ONE), ("flat", Y_ONE), ("sets", SETS)):
        if what != "sets" or takes_several(name):
            new = made(name, None if what == "flat" else TAX)
            assert new.classes_of(y) == tuple(fitted(name, what).targets_.names)
            assert not hasattr(new, "targets_")


@pytest.mark.slow
@several
def test_every_scorer_for_an_indicator(fitted, name):
    model = fitted(name, "sets")
    assert list(model.classes_) == list(TAX.nodes)
    scores, proba = by_name(model, TAX.nodes, sets=True)
    assert_allclose(model.decision_function(X), scores)
    assert_allclose(model.node_scores(X), scores)
    if name in ("HBLR", "TopDown"):  # the probability of any class below; of the path
        assert (model.predict_proba(X) >= proba - 1e-9).all()
        proba = proba if proba is None else model.predict_proba(X)
    predicted = model.predict(X)
    assert predicted.shape == SETS.shape
    assert predicted.any(axis=1).all() and (TAX.closure(predicted) == predicted).all()
    kind = Likely if hasattr(model, "predict_proba") else Named
    hand = kind(TAX.nodes, scores, predicted, proba)
    assert_alike(values(model, SETS), values(hand, SETS), 12)


@every
def test_a_leaf_without_rows_is_trained_and_not_shown(fitted, name):
    model = fitted(name, "tree")
    assert "e" not in model.classes_ and "e" in model.targets_.names
    assert "e" in str(model.coef_names_)
    scores = model.node_scores(X)
    assert scores.shape == (len(X), len(TAX))
    names, S = model.targets_.names, model.class_scores(X)
    for v, node in enumerate(TAX.nodes):
        own = [j for j, n in enumerate(names) if (n == node if name in NODES else n in below(node))]
        assert_allclose(scores[:, v], S[:, own].max(axis=1))
    assert_allclose(fitted(name, "flat").node_scores(X), fitted(name, "flat").class_scores(X))


@every
def test_two_labels_have_one_column(name):
    rest, kept = made(name, TAX), np.isin(Y_ONE, ["q", "a"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rest.fit(X[kept], Y_ONE[kept])
    assert list(model.classes_) == ["a", "q"]
    d = model.decision_function(X)
    assert d.shape == (len(X),)
    assert_array_equal(model.predict(X), model.classes_[(d > 0).astype(int)])
    assert model.node_scores(X).shape == (len(X), len(TAX))
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X)
        assert p.shape == (len(X), 2)
        assert_array_equal(p.argmax(axis=1), (d > 0).astype(int))
    assert get_scorer("roc_auc")(model, X[kept], Y_ONE[kept]) > 0.9


@several
def test_the_columns_of_leaves_alone_stay_the_columns(name):
    Y = TAX.encode([[label] for label in np.where(Y_ONE == "d", "e", Y_ONE)])[:, TAX.leaf_numbers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made(name, TAX).fit(X, Y.toarray())
    assert list(model.classes_) == list(TAX.leaves)
    assert model.decision_function(X).shape == Y.shape == model.predict(X).shape
    assert model.node_scores(X).shape == (len(X), len(TAX))


def test_rows_of_coefficients_have_names(fitted):
    for name in ESTIMATORS:
        for what in ("tree", "flat"):
            model = fitted(name, what)
            if hasattr(model, "coef_"):
                assert len(model.coef_names_) == model.coef_.shape[0], name
    two = np.isin(Y_ONE, ["q", "a"])
    model = FlatSVM().fit(X[two], Y_ONE[two])
    assert model.coef_.shape[0] == 1 and list(model.coef_names_) == ["q"]
    model = FlatSVM(TAX).fit(X, Y_ONE)
    assert_allclose(model.class_scores(X), X @ model.coef_.T + model.intercept_)
    assert list(model.coef_names_) == ["q", "bb", "c", "a", "e", "d"]


def test_scores_are_the_same_with_and_without_a_taxonomy():
    """As somebody found them who put a taxonomy in, and saw areas of one half."""
    leaves = Taxonomy.flat(["q", "bb", "c", "a", "d"])
    for scoring in ("roc_auc_ovr", "neg_log_loss", "top_k_accuracy"):
        with_it, without = (
            cross_val_score(FlatLogistic(tax, tol=1e-9), X, Y_ONE, scoring=scoring)
            for tax in (leaves, None)
        )
        assert_allclose(with_it, without, atol=1e-3)


# -- rows in which nothing scores above the threshold ----------------------------------------


def far_away():
    """Rows for which a linear model has no label."""
    return np.vstack([X, np.zeros((2, 6)), -3 * X[:10]])


@several
def test_empty_rows_get_their_best_label(name):
    kept = {}
    for empty in ("best", "none"):
        model = made(name, TAX).set_params(empty=empty)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept[empty] = model.fit(X, SETS).predict(far_away())
    empty = ~kept["none"].any(axis=1)
    assert_array_equal(kept["best"][~empty], kept["none"][~empty])
    assert kept["best"].any(axis=1).all()
    assert (TAX.closure(kept["best"]) == kept["best"]).all()


@pytest.mark.parametrize("kind", [FlatSVM, FlatLogistic])
def test_the_best_label_is_the_best_class_that_was_taught(kind):
    model = kind(TAX, C=1e-3).fit(X, [[label] for label in Y_ONE])
    names = np.array(model.targets_.names)
    S = model.class_scores(X)
    empty = (S <= 0).all(axis=1)
    S[:, names == "e"] = -np.inf
    found = model.predict(X)
    assert empty.any()
    assert [found[i] for i in np.flatnonzero(empty)] == [
        [n] for n in names[S[empty].argmax(axis=1)]
    ]


def test_rows_stay_empty_where_training_had_such_rows():
    Y = SETS.copy()
    Y[::5] = 0
    model = FlatSVM(TAX, C=1e-3).fit(X, Y)
    assert not model.predict(X).any(axis=1).all()
    assert FlatSVM(TAX, C=1e-3).fit(X, SETS).predict(X).any(axis=1).all()
    with pytest.raises(UserError, match="empty='never' is not known"):
        FlatSVM(TAX, empty="never").fit(X, SETS)


def test_signs_may_leave_a_row_empty():
    wild = far_away()
    none, best = (
        TopDown(TAX, decode="signs", empty=empty, random_state=0).fit(X, SETS).predict(wild)
        for empty in ("none", "best")
    )
    empty = ~none.any(axis=1)
    assert empty.any() and best.any(axis=1).all()
    assert_array_equal(none[~empty], best[~empty])


def test_names_of_nodes_above_are_whole():
    tax = Taxonomy.from_edges([("Mammal", "cat"), ("Mammal", "dog"), ("Bird", "owl")])
    Z, y = rows(["cat", "dog", "owl"])
    model = TopDown(tax, stop=0.999, random_state=0).fit(Z, y)
    assert "Mammal" in set(model.predict(0.1 * Z)) and list(model.classes_) == ["cat", "dog", "owl"]
