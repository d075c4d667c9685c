"""Decisions around other people's classifiers, with weights of rows, and in meta-estimators."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from linnaeus import FlatLogistic, FlatSVM, Taxonomy
from linnaeus.decisions import Argmax, ClosedArgmax, InstanceCut, RCut, SCut, Threshold
from linnaeus.errors import UserError
from linnaeus.inference import lift

X, Y = make_multilabel_classification(90, 8, n_classes=4, random_state=0)
X = X / 10
TAX = Taxonomy.from_edges([("z", "q"), ("z", "b"), ("y", "c"), ("y", "a")])
NODES = TAX.closure(
    TAX.encode([[leaf for leaf, on in zip(TAX.leaves, row, strict=True) if on] for row in Y])
)
ONE = np.array(["a", "b", "c", "q"])[np.arange(90) % 4]
X_ONE = X + 20 * np.eye(4, 8)[np.arange(90) % 4]


def boosted():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    return xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1)


OTHERS = {
    "RandomForest": lambda: RandomForestClassifier(5, random_state=0),
    "KNN": KNeighborsClassifier,
    "MultiOutput": lambda: MultiOutputClassifier(LogisticRegression()),
    "ClassifierChain": lambda: ClassifierChain(LogisticRegression()),
    "XGBoost": boosted,
}


@pytest.mark.parametrize("make_y", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", OTHERS)
def test_other_classifiers_with_dense_and_sparse_indicators(name, make_y):
    for rule in (RCut, SCut):
        model = rule(OTHERS[name](), cv=2, random_state=0).fit(X, make_y(Y))
        answer = model.predict(X)
        assert type(answer) is type(make_y(Y)) and answer.shape == Y.shape
        assert model.decision_function(X).shape == Y.shape and list(model.classes_) == [0, 1, 2, 3]
    with_tree = ClosedArgmax(OTHERS[name](), TAX, cv=2, random_state=0).fit(
        X, make_y(NODES.toarray())
    )
    assert list(with_tree.classes_) == list(TAX.nodes)
    assert with_tree.predict(X).shape == NODES.shape == with_tree.decision_function(X).shape


# -- columns ---------------------------------------------------------------------------------------


def test_columns_of_one_label_per_row():
    model = Argmax(FlatLogistic(TAX, random_state=0), TAX).fit(X_ONE, ONE)
    assert list(model.classes_) == ["a", "b", "c", "q"] and model.columns_ == TAX.leaves
    scores = model.decision_function(X_ONE)
    assert_allclose(scores, model.estimator_.decision_function(X_ONE))
    assert_array_equal(model.predict(X_ONE), model.classes_[scores.argmax(axis=1)])
    few = np.isin(ONE, ["a", "q"])
    two = Argmax(FlatLogistic(TAX, random_state=0), TAX).fit(X_ONE[few], ONE[few])
    assert list(two.classes_) == ["a", "q"]
    d = two.decision_function(X_ONE)
    assert d.shape == (90,)
    assert_array_equal(two.predict(X_ONE), two.classes_[(d > 0).astype(int)])


@pytest.mark.filterwarnings("ignore:The 4 columns of the label indicator have no names")
def test_columns_of_label_sets():
    model = RCut(FlatSVM(TAX, random_state=0), TAX, cv=2, random_state=0).fit(X, NODES)
    scores = model.class_scores(X)
    assert scores.shape == (90, 4) and list(model.classes_) == list(TAX.nodes)
    assert_allclose(model.decision_function(X), lift(TAX, scores))
    assert_array_equal(model.decide(scores).sum(axis=1), model.k_)
    bare = Threshold(FlatSVM(TAX, random_state=0)).fit(X, Y)  # the rule knows no taxonomy
    assert_allclose(bare.decision_function(X), scores, atol=1e-9)
    with pytest.raises(UserError, match="y has 6 columns, but FlatSVM has 4 classes"):
        bare.fit(X, NODES)


def test_a_pipeline_scores_the_classes_trained():
    pipe = make_pipeline(MaxAbsScaler(), FlatSVM(TAX, random_state=0))
    model = RCut(pipe, TAX, k=1).fit(X, NODES)
    assert model.columns_ == TAX.leaves
    inner = model.estimator_[-1].class_scores(model.estimator_[:-1].transform(X))
    assert_allclose(model.class_scores(X), inner)


# -- weights of rows -------------------------------------------------------------------------------


class Noting(LogisticRegression):
    """Keeps the weights that it was fitted with."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        Noting.seen.append(None if sample_weight is None else np.asarray(sample_weight))
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("rule", [Argmax, InstanceCut])
def test_weights_are_handed_on(rule):
    weight = np.linspace(0.5, 1.5, 90)
    Noting.seen = []
    model = rule(Noting(), cv=3, random_state=0).fit(X_ONE, ONE, sample_weight=weight)
    assert_array_equal(Noting.seen[0], weight)
    parts = Noting.seen[1:]
    assert len(parts) == (3 if model._learns() else 0)
    assert sum(len(part) for part in parts) == 180 * bool(parts)
    alone = LogisticRegression().fit(X_ONE, ONE, weight)
    assert_allclose(model.estimator_.coef_, alone.coef_)


def test_weights_by_metadata_routing():
    weight = np.linspace(0.5, 1.5, 90)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = FlatSVM(TAX, random_state=0).set_fit_request(sample_weight=True)
        model = RCut(asked, TAX, k=1).fit(X_ONE, ONE, sample_weight=weight)
        alone = FlatSVM(TAX, random_state=0).fit(X_ONE, ONE, sample_weight=weight)
        assert_allclose(model.estimator_.coef_, alone.coef_)
        search = GridSearchCV(RCut(asked, TAX, k=1), {"estimator__C": [0.1, 1.0]}, cv=2)
        search.fit(X_ONE, ONE, sample_weight=weight)
        plain = RCut(FlatSVM(TAX, random_state=0), TAX, k=1)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            plain.fit(X_ONE, ONE, sample_weight=weight)


# -- in meta-estimators ----------------------------------------------------------------------------


def test_cross_validation_of_probabilities():
    with pytest.warns(UserWarning, match="The labels are the numbers 0 to 3"):  # scikit-learn's
        p = cross_val_predict(FlatLogistic(TAX), X_ONE, ONE, cv=3, method="predict_proba")
    assert p.shape == (90, 4) and (np.array(["a", "b", "c", "q"])[p.argmax(axis=1)] == ONE).all()

    sets = cross_val_score(
        RCut(FlatSVM(TAX), TAX, k=2), X, NODES.toarray(), scoring="average_precision"
    )
    assert (sets > 0.3).all()


@pytest.mark.filterwarnings("ignore:The labels are the numbers")
def test_rules_about_paths_answer_numbers_too():
    model = VotingClassifier([("closed", ClosedArgmax(FlatLogistic(TAX), TAX))]).fit(X_ONE, ONE)
    assert (model.predict(X_ONE) == ONE).mean() > 0.9


def test_parts_that_know_one_label_know_no_taxonomy():
    with pytest.raises(UserError, match=r"OneVsRestClassifier.*leave the taxonomy out"):
        OneVsRestClassifier(FlatSVM(TAX)).fit(X_ONE, ONE)
    assert OneVsRestClassifier(FlatSVM()).fit(X_ONE, ONE).score(X_ONE, ONE) > 0.9
