"""Decisions around scikit-learn models: forms of labels, folds, pipelines, searches."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from linnaeus import FlatSVM, Taxonomy
from linnaeus.decisions import Argmax, InstanceCut, RCut, SCut, SetSize, Threshold
from linnaeus.errors import UserError
from linnaeus.inference import lift
from marks import slow

X, Y = make_multilabel_classification(120, 10, n_classes=5, random_state=0)
LEARNING = [RCut, SCut, InstanceCut, SetSize]
PLAIN = [Argmax, Threshold, *LEARNING]


def one_vs_rest():
    return OneVsRestClassifier(LinearSVC(random_state=0))


@pytest.mark.parametrize("rule", PLAIN)
@pytest.mark.parametrize("make_y", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("make_X", [np.asarray, sp.csr_matrix])
def test_indicators_in_and_out(rule, make_y, make_X):
    model = rule(one_vs_rest(), cv=3, random_state=0).fit(make_X(X), make_y(Y))
    answer = model.predict(make_X(X))
    assert type(answer) is type(make_y(Y)) and answer.shape == Y.shape
    assert answer.dtype == Y.dtype
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    dense = answer if isinstance(answer, np.ndarray) else answer.toarray()
    scores = model.decision_function(make_X(X))
    assert_array_equal(dense, model.decide(scores).toarray())
    assert 2 * (dense * Y).sum() / (dense.sum() + Y.sum()) > 0.4


@pytest.mark.parametrize("rule", LEARNING)
def test_the_rule_is_learnt_on_out_of_fold_scores(rule):
    folds = KFold(4, shuffle=True, random_state=3)
    model = rule(one_vs_rest(), cv=folds).fit(X, Y)
    scores = cross_val_predict(one_vs_rest(), X, Y, cv=folds, method="decision_function")
    by_hand = rule().fit_scores(scores, Y)
    final = one_vs_rest().fit(X, Y).decision_function(X)
    assert_array_equal(model.predict(X), by_hand.decide(final).toarray())
    masks = [(train, np.isin(np.arange(len(X)), test)) for train, test in folds.split(X)]
    listed = rule(one_vs_rest(), cv=masks).fit(X, Y)
    assert_array_equal(listed.predict(X), model.predict(X))


def test_a_seed_fixes_the_folds():
    fits = [SCut(one_vs_rest(), random_state=7).fit(X, Y).thresholds_ for _ in range(2)]
    assert_array_equal(*fits)
    other = SCut(one_vs_rest(), random_state=8).fit(X, Y).thresholds_
    assert not np.array_equal(fits[0], other)


def test_prefit_uses_the_data_as_held_out():
    fitted = one_vs_rest().fit(X[:60], Y[:60])
    model = SetSize(fitted, cv="prefit").fit(X[60:], Y[60:])
    by_hand = SetSize().fit_scores(fitted.decision_function(X[60:]), Y[60:])
    assert_allclose(model.coef_, by_hand.coef_)
    assert model.estimator_ is fitted
    with pytest.raises(NotFittedError):
        SetSize(one_vs_rest(), cv="prefit").fit(X, Y)


@pytest.mark.parametrize("rule", PLAIN)
@pytest.mark.parametrize(
    "estimator",
    [
        MultiOutputClassifier(GaussianNB()),
        KNeighborsClassifier(),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        OneVsRestClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)),
    ],
    ids=str,
)
def test_models_with_probabilities_only(rule, estimator):
    model = rule(estimator, cv=3, random_state=0).fit(X, Y)
    scores = model.decision_function(X)
    assert scores.shape == Y.shape and 0 <= scores.min() <= scores.max() <= 1
    assert_array_equal(model.predict(X), model.decide(scores).toarray())
    fitted = clone(estimator).fit(X, Y)
    p = fitted.predict_proba(X)
    assert_allclose(scores, np.column_stack([q[:, 1] for q in p]) if isinstance(p, list) else p)


def test_constant_labels_are_ranked_last_or_first():
    Z = np.column_stack([np.zeros(len(Y), int), Y, np.ones(len(Y), int)])
    with pytest.warns(UserWarning, match="Label"):
        model = RCut(one_vs_rest(), k=2).fit(X, Z)
    scores = model.decision_function(X)
    assert_array_equal(scores[:, 0], scores[:, 1:-1].min(axis=1))
    assert_array_equal(scores[:, -1], scores[:, 1:-1].max(axis=1))


def test_labels_that_a_fold_lacks_keep_their_column(recwarn):
    Z = np.column_stack([Y, np.zeros((len(Y), 1), int)])
    Z[3, -1] = 1  # one example only: lacking in one fold's training rows
    for rule in LEARNING:
        model = rule(one_vs_rest(), cv=3, random_state=0).fit(X, Z)
        assert model.predict(X).shape == Z.shape
    tree = OneVsRestClassifier(DecisionTreeClassifier(random_state=0))
    assert SCut(tree, cv=3, random_state=0).fit(X, Z[:, ::-1]).predict(X).shape == Z.shape
    assert SCut(DecisionTreeClassifier(), cv=3).fit(X, Z).thresholds_.shape == (6,)
    assert not [w for w in recwarn if "present in all" in str(w.message)]


# -- one label per example -------------------------------------------------------------------


@pytest.mark.parametrize("rule", PLAIN)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_label_per_example(rule, n_classes):
    A, codes = make_classification(
        150, 8, n_informative=6, n_classes=n_classes, class_sep=2.0, random_state=0
    )
    y = np.array(["ant", "bee", "cicada"])[codes]
    model = rule(LogisticRegression(), cv=3, random_state=0).fit(A, y)
    assert model.classes_.tolist() == sorted(set(y))
    assert model.score(A, y) > 0.85
    assert model.decision_function(A).shape == ((150,) if n_classes == 2 else (150, 3))
    if rule is Argmax:
        assert_array_equal(model.predict(A), LogisticRegression().fit(A, y).predict(A))


def test_a_class_too_rare_for_every_fold():
    A, codes = make_classification(60, 8, n_informative=6, n_classes=3, random_state=0)
    codes[0] = 3  # once
    model = SetSize(LinearSVC(), cv=3, random_state=0).fit(A, codes)
    assert model.coef_.shape == (4,)
    distinct = np.arange(6)
    assert SCut(KNeighborsClassifier(1), cv=2).fit(A[:6], distinct).predict(A[:6]).shape == (6,)


def test_names_of_a_taxonomy():
    tax = Taxonomy.from_edges([("insect", "bee"), ("insect", "ant"), ("plant", "oak")])
    A, codes = make_classification(
        120, 8, n_informative=6, n_classes=3, class_sep=2.0, random_state=0
    )
    lists = [[["ant", "bee", "oak"][c]] for c in codes]
    model = RCut(one_vs_rest(), taxonomy=tax, k=1)
    with pytest.warns(UserWarning, match="Label"):  # inner nodes carry no label here
        model.fit(A, lists)
    answer = model.predict(A)
    assert np.mean([a == b for a, b in zip(answer, lists, strict=True)]) > 0.85
    with pytest.raises(UserError, match=r"Row 0: 'wasp' is not a node of the taxonomy"):
        model.fit(A[:2], [["wasp"], ["ant"]])
    with pytest.raises(UserError, match=r"'wasp' is not a node of the taxonomy"):
        Argmax(LogisticRegression(), taxonomy=tax).fit(A[:2], ["wasp", "ant"])


class LeafScorer(ClassifierMixin, BaseEstimator):
    """Taught over nodes, scores leaves: like a hierarchical model."""

    def __init__(self, taxonomy=None):
        self.taxonomy = taxonomy

    def fit(self, X, y):
        self.classes_ = np.array(self.taxonomy.leaves)
        leaves = np.asarray(y)[:, self.taxonomy.leaf_numbers]
        self.coef_ = np.linalg.lstsq(X, 2.0 * leaves - 1, rcond=None)[0]
        return self

    def decision_function(self, X):
        return X @ self.coef_


def test_scores_over_leaves_and_labels_over_nodes():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("s", "c"), ("s", "d"), ("s", "e")])
    Z = np.zeros((len(Y), len(tax)), dtype=int)
    Z[:, tax.leaf_numbers] = Y
    model = SetSize(LeafScorer(tax), taxonomy=tax, cv=3, random_state=0).fit(X, Z)
    assert model.classes_.tolist() == list(tax.nodes) and model.columns_ == tax.leaves
    scores = model.class_scores(X)
    assert model.decide(scores).shape == (len(Y), 5)
    assert_allclose(model.decision_function(X), lift(tax, scores))
    answer = model.predict(X)
    assert answer.shape == Z.shape
    assert (answer[:, tax.root_numbers] == 0).all() and answer.sum() > 0
    for estimator, name in ((LeafScorer(tax), None), (one_vs_rest().fit(X, Y[:, :3]), tax)):
        model = SetSize(estimator, taxonomy=name, cv="prefit" if name else 3)
        with pytest.raises(
            UserError, match=r"y has 7 columns, but \w+ has \d classes that are not"
        ):
            model.fit(X, Z)


# -- with scikit-learn's tools ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "form"),
    [(rule, np.asarray) for rule in LEARNING]
    + [(SCut, sp.csr_matrix)]
    + [slow(rule, sp.csr_matrix) for rule in LEARNING if rule is not SCut],
)
def test_in_a_pipeline_and_a_grid_search(rule, form):
    pipeline = make_pipeline(MaxAbsScaler(), rule(one_vs_rest(), cv=3, random_state=0))
    name = f"{rule.__name__.lower()}__estimator__estimator__C"
    search = GridSearchCV(pipeline, {name: [0.1, 10.0]}, scoring="f1_micro", cv=2)
    search.fit(form(X), Y)
    assert search.best_score_ > 0.4
    assert search.predict(form(X)).shape == Y.shape


def test_around_a_pipeline_of_texts():
    texts = ["red apple", "green apple", "red car", "fast car"] * 6
    labels = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]] * 6)
    model = SCut(make_pipeline(TfidfVectorizer(), one_vs_rest()), cv=2, random_state=0)
    assert_array_equal(model.fit(texts, labels).predict(texts), labels)


def test_precomputed_kernels_are_split_on_both_sides():
    y = Y[:, 0]
    linear = SetSize(SVC(kernel="linear"), cv=3, random_state=0).fit(X, y)
    kernel = SetSize(SVC(kernel="precomputed"), cv=3, random_state=0).fit(X @ X.T, y)
    assert_allclose(kernel.coef_, linear.coef_, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("rule", PLAIN)
def test_scikit_learn_checks(rule):
    reason = "a label with a higher threshold of its own can lose to one with a lower score"
    failing = {"check_classifiers_train": reason} if rule is SCut else None
    model = rule(RidgeClassifier(), cv=2, random_state=0)
    check_estimator(model, expected_failed_checks=failing, on_skip=None)


def test_clone_keeps_parameters():
    tax = Taxonomy.flat(range(5))
    model = SetSize(one_vs_rest(), taxonomy=tax, top_k=3)
    copy = clone(model)
    assert copy.taxonomy is tax and copy.top_k == 3
    assert copy.estimator is not model.estimator


# -- refusals --------------------------------------------------------------------------------


class NoScores(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self


def test_what_fit_refuses():
    with pytest.raises(
        UserError, match=r"SCut has no estimator to fit. Give estimator=.*fit_scores"
    ):
        SCut().fit(X, Y)
    with pytest.raises(
        UserError, match=r"NoScores has neither decision_function nor predict_proba"
    ):
        SCut(NoScores()).fit(X, Y)
    with pytest.raises(UserError, match=r"cv=200 folds cannot be made of 120 samples"):
        SCut(one_vs_rest(), cv=200).fit(X, Y)
    with pytest.raises(UserError, match=r"cv='twice' is not known. Use a number of folds"):
        SCut(one_vs_rest(), cv="twice").fit(X, Y)
    with pytest.raises(UserError, match=r"Lists of labels .*'a'.* need a taxonomy"):
        SCut(one_vs_rest()).fit(X, [["a"], ["b", "c"]] * 60)
    with pytest.raises(UserError, match=r"indicator holds the value 2"):
        SCut(one_vs_rest()).fit(X, Y * 2)
    with pytest.raises(UserError, match=r"SVC.decision_function gives 6 columns, but there are 4"):
        y = np.arange(120) % 4
        SCut(SVC(decision_function_shape="ovo")).fit(X, y)
    with pytest.raises(NotFittedError):
        SCut(one_vs_rest()).predict(X)
    with pytest.raises(NotFittedError):
        SCut().decide(X)


def test_scores_with_nan_are_refused_when_learning():
    class Broken(Perceptron):
        def decision_function(self, X):
            return np.full((X.shape[0], 5), np.nan)

    with pytest.raises(UserError, match=r"label 0 in row 0 is nan"):
        RCut(Broken(), cv=2).fit(X, np.arange(120) % 5)


@pytest.mark.parametrize("edges", [[(5, 3), (5, 1), (4, 0), (4, 2)], [("e", "d"), ("f", "a")]])
@pytest.mark.parametrize("inner", [False, True], ids=["leaves", "all nodes"])
def test_columns_are_those_of_the_nodes(edges, inner):
    """Node names may be numbers, and classes in another order than the nodes."""
    tax = Taxonomy.from_edges(edges)
    pool = tax.nodes if inner else tax.leaves
    Y = tax.most_specific(tax.encode([[v] for v in pool * 20] + [list(pool)] * 20))
    X = Y.toarray() + 0.05 * np.random.default_rng(0).normal(size=Y.shape)
    model = Threshold(FlatSVM(tax, C=10, random_state=0), tax)
    assert (model.fit(X, Y).predict(X) != Y).nnz == 0
    model.set_params(taxonomy=None)  # the columns have no names, and are not the classes
    with pytest.raises(UserError, match="classes that are not named among them"):
        model.fit(X, Y)
    model.set_params(estimator__classes="nodes")
    closed = tax.closure(Y)
    assert (model.fit(X, closed).predict(X) != closed).nnz == 0
