"""Scores without `classes`: which label each column is, by evidence."""

import gc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from linnaeus import FlatLogistic, FlatSVM, Taxonomy, metrics
from linnaeus.decisions import SCut
from linnaeus.errors import UserError
from linnaeus.labels import columns
from linnaeus.metrics.scorers import OF_SCORES

TAX = Taxonomy.from_edges(
    [("zoo", "mammal"), ("mammal", "yak"), ("mammal", "bat"), ("zoo", "bird"), ("bird", "auk")]
)
LEAVES = ["yak", "bat", "auk"]  # in the order of the nodes, which is not that of names
SAID = "columns of the scores have no names"


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = rng.choice(LEAVES, 60)
    X = np.eye(3)[[LEAVES.index(v) for v in y]] + 0.6 * rng.normal(size=(60, 3))
    return X, y, FlatLogistic(TAX, random_state=0).fit(X, y)


@pytest.mark.parametrize("name", OF_SCORES)
def test_scores_of_an_estimator_are_known_whatever_the_form_of_the_truth(problem, name):
    X, y, model = problem
    metric = getattr(metrics, name)
    expected = metric(y, model.decision_function(X), TAX, classes=model.classes_)
    for truth in (y, pd.Series(y), [[v] for v in y], TAX.encode(y)):
        assert metric(truth, model.decision_function(X), TAX) == expected
    for scores in (model.class_scores(X), pd.DataFrame(model.class_scores(X), columns=LEAVES)):
        assert np.isclose(metric(y, scores, TAX), expected)


def test_reports_sweeps_calibration_and_rules_know_them_too(problem):
    X, y, model = problem
    S, P = model.decision_function(X), model.predict_proba(X)
    named = {"classes": model.classes_}
    assert metrics.evaluate(y, y, TAX, S)["top1_accuracy"] == np.mean(model.predict(X) == y)
    assert metrics.sweep(y, S, TAX).best == metrics.sweep(y, S, TAX, **named).best
    assert metrics.calibration(y, P, TAX) == metrics.calibration(y, P, TAX, **named)
    assert SCut(taxonomy=TAX).fit_scores(S, y).columns_ == ("auk", "bat", "yak")


def test_columns_of_a_data_frame_are_matched_by_name(problem):
    X, y, model = problem
    S = model.decision_function(X)
    expected = metrics.au_prc(y, S, TAX)
    pandas = pd.DataFrame(S, columns=model.classes_)[["bat", "yak", "auk"]]
    polars = pl.DataFrame(S, schema=list(model.classes_))
    for frame in (pandas, polars):
        assert metrics.au_prc(y, frame, TAX) == expected
        assert metrics.top1_accuracy(y, frame) == metrics.top1_accuracy(y, frame, TAX)
    with pytest.raises(UserError, match="'bad' is not a node of the taxonomy"):
        metrics.au_prc(y, pandas.rename(columns={"bat": "bad"}), TAX)


def test_bare_scores_beside_one_label_per_row_are_sorted_labels_and_said_so(problem):
    X, y, model = problem
    S = model.decision_function(X)
    with pytest.warns(UserWarning, match=f"{SAID}.*'auk', 'bat', 'yak'; they could be 'yak'"):
        assert metrics.au_prc(y, S.copy(), TAX) == metrics.au_prc(y, S, TAX)
    other = LogisticRegression().fit(X, y)
    with pytest.warns(UserWarning, match=SAID):
        got = metrics.top1_accuracy(y, other.predict_proba(X), TAX)
    assert np.isclose(got, other.score(X, y))
    seen = y != "bat"  # two labels, neither all leaves nor all nodes
    S = FlatLogistic().fit(X[seen], y[seen]).predict_proba(X[seen])
    assert metrics.top1_accuracy(y[seen], S.copy(), TAX) > 0.8


def test_bare_scores_beside_label_sets_are_in_the_order_of_nodes(problem):
    X, y, model = problem
    S = model.class_scores(X)
    expected = metrics.au_prc(y, S, TAX)
    assert metrics.au_prc([[v] for v in y], S.copy(), TAX) == expected
    assert metrics.au_prc(TAX.encode(y), model.node_scores(X).copy(), TAX) == expected
    with pytest.warns(UserWarning, match=f"{SAID}.*'yak', 'bat', 'auk'; they could be 'auk'"):
        assert metrics.au_prc(TAX.encode(y), S.copy(), TAX) == expected


def test_columns_are_those_of_an_indicator_as_wide(problem):
    X, y, _ = problem
    frame = pd.get_dummies(y)[["bat", "yak", "auk"]]
    model = FlatSVM(TAX, random_state=0).fit(X, frame)
    S = model.decision_function(X)
    with pytest.warns(UserWarning, match=f"{SAID}.*'bat', 'yak', 'auk'"):
        assert metrics.au_prc(frame, S.copy(), TAX) == metrics.au_prc(y, S, TAX)
    sets = TAX.encode(y).toarray()
    by_place = FlatSVM(random_state=0).fit(X, sets).decision_function(X)
    numbered = TAX.renamed({v: 4 - i for i, v in enumerate(TAX.nodes)})
    assert metrics.au_prc(sets, by_place, TAX) == metrics.au_prc(sets, by_place, numbered)


def test_flat_taxonomies_tell_nodes_from_sorted_labels():
    flat = Taxonomy.flat(["z", "b", "a"])
    X, y = np.eye(3)[[0, 1, 2] * 4], ["z", "b", "a"] * 4
    model = FlatSVM(flat, random_state=0).fit(X, y)
    assert metrics.top1_accuracy(y, model.decision_function(X), flat) == 1
    assert metrics.top1_accuracy(y, model.node_scores(X), flat) == 1


def test_a_label_never_seen_ranks_last_and_numbers_stand_for_sorted_leaves(problem):
    X, y, model = problem
    seen = y != "bat"
    half = FlatSVM(TAX, random_state=0).fit(X[seen], y[seen])
    for taxonomy in (TAX, None):
        got = metrics.top1_accuracy(y, half.decision_function(X), taxonomy)
        assert np.isclose(got, np.mean(half.predict(X) == y))
    codes = np.unique(y, return_inverse=True)[1]
    with pytest.warns(UserWarning, match="The labels are the numbers 0 to 2"):
        by_code = FlatLogistic(TAX, random_state=0).fit(X, codes)
        got = metrics.au_prc(y, by_code.decision_function(X), TAX)
    assert np.isclose(got, metrics.au_prc(y, model.decision_function(X), TAX))


def test_two_labels_may_have_one_number(problem):
    X, y, _ = problem
    X, y = X[y != "auk"], y[y != "auk"]
    model = FlatLogistic(TAX).fit(X, y)
    s, right = model.decision_function(X), model.score(X, y)
    assert s.ndim == 1
    for scores in (s, s.copy(), model.predict_proba(X)):
        for taxonomy in (TAX, None):
            assert np.isclose(metrics.top1_accuracy(y, scores, taxonomy), right)
    with pytest.raises(UserError, match="one number for each of.*column_stack"):
        metrics.top1_accuracy(y, model.predict_proba(X)[:, 1], TAX)


def test_what_cannot_be_read_is_refused_and_nothing_is_kept_of_scores_that_are_gone(problem):
    X, y, model = problem
    with pytest.raises(UserError, match="4 columns.*3 leaves and 6 nodes.*classes=model.classes_"):
        metrics.au_prc(y, np.zeros((60, 4)), TAX)
    gc.collect()  # of what other tests left
    before = len(columns._made)
    scores = model.decision_function(X)
    assert len(columns._made) == before + 1
    del scores
    gc.collect()
    assert len(columns._made) == before


def test_sparse_scores_of_labels_never_seen(problem):
    _, y, _ = problem
    S = sp.csr_array(np.where(y[:, None] == ["auk", "yak"], 1.0, 0.0))
    got = metrics.recall_at(y, S, TAX, classes=["auk", "yak"])
    assert np.isclose(got, np.mean(y != "bat"))
