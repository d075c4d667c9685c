"""Metrics as scorers: against calling the metric by hand, in scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linnaeus import FlatLogistic, FlatSVM, Taxonomy, metrics
from linnaeus.errors import UserError
from linnaeus.metrics import scorer
from linnaeus.metrics.scorers import OF_SCORES, OF_SETS

TAX = Taxonomy.from_edges([("zoo", "mammal"), ("mammal", "yak"), ("mammal", "bat"), ("zoo", "ant")])
LEAVES = ("yak", "bat", "ant")  # in the order of the nodes, which is not that of names
NEEDS_NO_TAXONOMY = {
    *OF_SETS, *OF_SCORES
} - {"hierarchical_f1", "hierarchical_precision", "hierarchical_recall", "hierarchical_loss",
     "subscription_loss", "parent_accuracy", "au_prc"}  # fmt: skip


def data(n=60):
    rng = np.random.default_rng(0)
    y = rng.choice(LEAVES, n)
    X = np.eye(3)[[LEAVES.index(v) for v in y]] + 0.6 * rng.normal(size=(n, 3))
    return X, y


def by_name(estimator, X, names):
    """Scores in the order of some names."""
    S = estimator.decision_function(X)
    at = {name: j for j, name in enumerate(estimator.classes_)}
    return S[:, [at[name] for name in names]]


def test_every_metric_with_one_number_has_a_scorer():
    scalar = {
        "calibration",
        "evaluate",
        "operating_point",
        "precision_recall_f1",
        "scorer",
        "sweep",
    }
    scalar |= {name for name in metrics.__all__ if name.endswith("_test") or name == "count_wins"}
    others = {name for name in metrics.__all__ if name[0].islower()} - scalar
    assert others == {*OF_SETS, *OF_SCORES}


@pytest.mark.parametrize("name", [*OF_SETS, *OF_SCORES])
def test_a_scorer_is_its_metric_by_names_and_losses_are_negated(name):
    X, y = data()
    fitted = FlatSVM(TAX, random_state=0).fit(X[:40], y[:40])
    metric = getattr(metrics, name)
    if name in OF_SETS:
        expected = metric(y[40:], fitted.predict(X[40:]), TAX)
    else:
        expected = metric(y[40:], fitted.decision_function(X[40:]), TAX)
        assert expected == metric([[v] for v in y[40:]], by_name(fitted, X[40:], LEAVES), TAX)
    sign = -1 if name.endswith("loss") else 1
    assert scorer(name, TAX)(fitted, X[40:], y[40:]) == sign * expected
    assert (expected == 0) or sign * scorer(name, TAX)(fitted, X[40:], y[40:]) > 0


@pytest.mark.parametrize("name", sorted(NEEDS_NO_TAXONOMY))
def test_scorers_without_a_taxonomy_and_of_other_estimators(name):
    X, y = data()
    for estimator in (FlatLogistic(), LogisticRegression(), GaussianNB()):
        fitted = estimator.fit(X[:40], y[:40])
        value = scorer(name)(fitted, X[40:], y[40:])
        assert np.isfinite(value)
        ours = scorer(name, TAX)(fitted, X[40:], y[40:])
        assert np.isclose(value, ours) or "loss" in name or name.startswith("macro")


@pytest.mark.parametrize("name", [*OF_SETS, *OF_SCORES])
def test_cross_validation_with_indicators(name):
    X, y = data()
    Y = TAX.closure(TAX.encode(y))
    model = FlatSVM(TAX, classes="nodes", random_state=0)
    values = cross_val_score(model, X, Y.toarray(), scoring=scorer(name, TAX), cv=2)
    assert np.isfinite(values).all()
    dense, sparse = (scorer(name, TAX)(model.fit(X, y), X, y) for y in (Y.toarray(), Y))
    assert dense == sparse


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(10, random_state=0), KNeighborsClassifier()]
)
def test_indicators_and_estimators_without_names(estimator):
    X, y = data()
    Y = TAX.closure(TAX.encode(y)).toarray()
    fitted = estimator.fit(X[:40], Y[:40])
    P = fitted.predict_proba(X[40:])
    if isinstance(P, list):  # the root is always on: its only class is 1
        P = np.column_stack([p[:, -1] for p in P])
    got = scorer("au_prc", TAX)(fitted, X[40:], Y[40:])
    assert got == metrics.au_prc(Y[40:], P, TAX, classes=TAX.nodes)
    order = list(TAX.nodes[::-1])
    fitted = estimator.fit(X[:40], Y[:40, ::-1])
    named = pd.DataFrame(Y[40:, ::-1], columns=order)
    P = fitted.predict_proba(X[40:])
    P = np.column_stack([p[:, -1] for p in P])
    expected = metrics.au_prc(Y[40:], P, TAX, classes=order)
    assert scorer("au_prc", TAX)(fitted, X[40:], named) == expected
    fitted = estimator.fit(X[:40], Y[:40])
    numbers = Taxonomy.from_edges([(2, 3), (3, 1), (3, 4), (2, 0)])  # names that look like places
    assert scorer("au_prc", numbers)(fitted, X[40:], Y[40:]) == got


def test_grids_and_pipelines():
    X, y = data()
    model = make_pipeline(StandardScaler(), FlatSVM(TAX, random_state=0))
    grid = GridSearchCV(
        model, {"flatsvm__C": [1e-6, 1.0]}, scoring=scorer("ndcg_at", TAX, k=2), cv=2
    )
    clone(grid).fit(X, y)
    names = {name: scorer(name, TAX) for name in ("hierarchical_f1", "top_loss", "au_prc")}
    found = cross_validate(model, X, y, scoring=names, cv=2)
    assert {f"test_{name}" for name in names} <= set(found)
    assert (found["test_top_loss"] <= 0).all()


def test_two_classes():
    X, y = data()
    X, y = X[y != "ant"], y[y != "ant"]
    for model in (FlatSVM(random_state=0), FlatSVM(TAX, random_state=0), LogisticRegression()):
        fitted = model.fit(X, y)
        expected = np.mean(fitted.predict(X) == y)
        assert np.isclose(scorer("top1_accuracy", TAX)(fitted, X, y), expected)


def test_a_label_that_was_not_seen_in_training_ranks_last():
    X, y = data()
    known = y != "bat"
    for taxonomy in (None, TAX):
        fitted = LogisticRegression().fit(X[known], y[known])
        got = scorer("top1_accuracy", taxonomy)(fitted, X, y)
        assert np.isclose(got, np.mean(fitted.predict(X) == y))


def test_scorers_are_shown_and_pickled():
    made = scorer("precision_at", TAX, k=3)
    assert repr(made).startswith("scorer('precision_at', ")
    assert repr(made).endswith("k=3)")
    X, y = data()
    fitted = FlatSVM(TAX, random_state=0).fit(X, y)
    assert pickle.loads(pickle.dumps(made))(fitted, X, y) == made(fitted, X, y)


def test_errors_name_the_thing_the_value_and_the_remedy():
    X, y = data()
    with pytest.raises(UserError, match="'hierarchical_f' is not known.*hierarchical_f1"):
        scorer("hierarchical_f", TAX)
    with pytest.raises(UserError, match="DummyRegressor has neither decision.*micro_f1"):
        scorer("au_prc", TAX)(DummyRegressor(), X, y)
    with pytest.raises(UserError, match="needs labels"):
        scorer("micro_f1", TAX)(FlatSVM(TAX), X)
