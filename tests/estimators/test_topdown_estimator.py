"""Top-down models: their local problems, scikit-learn, seeds and odd data."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator
from topdown_problems import DAG, DECODES, TIGHT, TREE, label_sets, local_scores, points, sigmoid

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators.svm import FlatSVM
from linnaeus.estimators.topdown import TopDown

# -- local problems -----------------------------------------------------------------------------


@pytest.mark.parametrize("decode", DECODES)
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_one_level_is_the_flat_model(loss, decode):
    flat = Taxonomy.flat(["p", "q", "r", "s"])
    X, y = points(flat)
    for labels, taxonomy in ((y, flat), (y, None), (label_sets(flat, y), flat)):
        ours = TopDown(taxonomy, 0.7, loss=loss, decode=decode, **TIGHT).fit(X, labels)
        theirs = FlatSVM(taxonomy, 0.7, loss=loss, **TIGHT).fit(X, labels)
        assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-6
        )
        assert_allclose(ours.coef_.toarray(), theirs.coef_, atol=1e-8)
        assert_allclose(ours.objective_, theirs.objective_)
    assert_array_equal(
        ours.set_params(decode=decode).fit(X, y).predict(X), theirs.fit(X, y).predict(X)
    )


def test_two_classes_without_a_taxonomy():
    X, y = points(Taxonomy.flat(["no", "yes"]))
    ours, theirs = TopDown(**TIGHT).fit(X, y), FlatSVM(**TIGHT).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    assert_allclose(ours.predict_proba(X)[:, 1], sigmoid(4 * ours.decision_function(X)))


@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
def test_a_child_is_trained_against_its_siblings_below_the_parent(tax):
    X, y = points(tax, seed=1)
    Y = label_sets(tax, y)
    model = TopDown(tax, 0.5, **TIGHT).fit(X, Y)
    below = Y.toarray().astype(bool)
    assert len(model.edges_) == len(tax.roots) + len(tax.edges)
    coef = model.coef_.toarray()
    for e, (p, c) in enumerate(model.edges_):
        rows = below[:, tax.index(p)] if p is not None else np.ones(len(X), dtype=bool)
        target = below[rows, tax.index(c)]
        svm = LinearSVC(C=0.5, tol=1e-9, max_iter=100_000, random_state=0).fit(X[rows], target)
        assert_allclose(coef[e], svm.coef_[0], atol=1e-4)
        assert_allclose(model.intercept_[e], svm.intercept_[0], atol=1e-4)
    assert 0 <= model.gap_ <= 1e-8


def test_logistic_local_models_are_logistic_regressions():
    X, y = points(TREE, seed=2)
    model = TopDown(TREE, 2.0, loss="logistic", fit_intercept=False, **TIGHT).fit(X, y)
    rows = np.isin(y, ["a1", "a2", "a3"])
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs.fit(X[rows], y[rows] == "a2")
    e = model.edges_.index(("A", "a2"))
    assert_allclose(model.coef_.toarray()[e], theirs.coef_[0], atol=1e-3)
    assert model.decoder_.slope == 1.0


def test_multiclass_logistic_local_models_are_softmax_regressions():
    X, y = points(TREE, seed=2)
    options = {"local": "multiclass", "loss": "logistic", "fit_intercept": False, **TIGHT}
    model = TopDown(TREE, 2.0, **options).fit(X, y)
    rows = np.isin(y, ["a1", "a2", "a3"])
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs.fit(X[rows], y[rows])
    e = [model.edges_.index(("A", name)) for name in theirs.classes_]
    assert_allclose(model.coef_.toarray()[e], theirs.coef_, atol=1e-3)


def test_golden_divide_and_conquer(golden_file):
    """Every family is a ranking machine; with one label per row that of Crammer and Singer."""
    golden = golden_file("ranking")
    cases = golden["dnc"]
    assert len(cases) == 3
    for case in cases:
        tax = Taxonomy.from_edges(map(tuple, golden["taxonomies"][case["taxonomy"]]["edges"]))
        model = TopDown(tax, case["C"], local="multiclass", fit_intercept=False, **TIGHT)
        model.fit(np.array(case["X"]), case["Y"])
        coef = dict(zip(model.edges_, model.coef_.toarray(), strict=True))
        for p, part in case["node_models"].items():
            ours = np.array([coef[p, c] for c in part["children"]])
            assert_allclose(ours, part["weights"], atol=2e-4)
        found = model.predict(np.array(case["X_test"]))
        leaves = [tax.decode(tax.most_specific(tax.encode([row])))[0] for row in found]
        assert [row[0] for row in leaves] == case["predictions"]


@pytest.mark.parametrize("local", ["binary", "multiclass"])
@pytest.mark.parametrize("sparse", [False, True])
def test_any_estimator_may_decide(local, sparse):
    X, y = points(TREE, spread=0.3)
    data = sp.csr_array(X) if sparse else X
    for base in (LogisticRegression(), LinearSVC(random_state=0)):
        model = TopDown(TREE, local=local, estimator=base, decode="path").fit(data, y)
        assert (model.predict(data) == y).mean() > 0.9
        assert_allclose(model.predict_proba(data).sum(axis=1), 1.0)
    assert not hasattr(model, "coef_")


def test_probabilities_of_an_estimator_multiply():
    X, y = points(TREE)
    model = TopDown(TREE, local="multiclass", estimator=GaussianNB(), decode="path").fit(X, y)
    group = np.array([TREE.ancestors(name)[0] for name in y])
    top = GaussianNB().fit(X, group)
    inside = GaussianNB().fit(X[group == "A"], y[group == "A"])
    expected = top.predict_proba(X)[:, [0]] * inside.predict_proba(X)
    columns = [list(model.classes_).index(c) for c in inside.classes_]
    assert_allclose(model.predict_proba(X)[:, columns], expected, atol=1e-10)


def test_an_estimator_gets_a_seed_and_weights():
    X, y = points(TREE)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    base = LogisticRegression(solver="saga", max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = [TopDown(TREE, estimator=base, random_state=3).fit(X, y, weight) for _ in range(2)]
        kept = TopDown(TREE, estimator=base, random_state=3).fit(X[weight > 0], y[weight > 0])
    assert_array_equal(fit[0].predict_proba(X), fit[1].predict_proba(X))
    assert_array_equal(fit[0].predict_proba(X), kept.predict_proba(X))
    assert base.random_state is None


# -- scikit-learn, seeds and odd data --------------------------------------------------------------

WEIGHT_CHECKS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "stochastic; see the test below"
    for kind in ("dense", "sparse")
}


@pytest.mark.slow
@pytest.mark.parametrize("model", [
    TopDown(class_weight="balanced"), TopDown(loss="logistic", decode="path"),
    TopDown(local="multiclass", decode="beam"),
])  # fmt: skip
def test_scikit_learn_accepts_it(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(model, expected_failed_checks=WEIGHT_CHECKS)


@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"local": "multiclass"}])
def test_weights_are_repetitions(options):
    X, y = points(TREE, n=60, seed=10)
    weight = np.random.default_rng(0).integers(0, 4, size=60)
    options = {**options, **TIGHT, "tol": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = TopDown(TREE, **options).fit(X, y, sample_weight=weight)
        again = TopDown(TREE, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(ours.decision_function(X), again.decision_function(X), atol=2e-4)


@pytest.mark.parametrize(
    "options", [{}, {"local": "multiclass"}, {"estimator": LogisticRegression()}]
)
def test_same_seed_same_bits_for_any_number_of_threads(options):
    X, y = points(TREE)
    X = sp.csr_array(X)
    first = TopDown(TREE, random_state=1, **options).fit(X, y)
    for n_jobs in (1, 2, 3):
        other = TopDown(TREE, random_state=1, n_jobs=n_jobs, **options).fit(X, y)
        assert_array_equal(first.decision_function(X), other.decision_function(X))
        assert_array_equal(first.predict_proba(X), other.predict_proba(X))


def test_clone_pickle_search_and_pipeline():
    X, y = points(TREE)
    model = clone(TopDown(TREE, C=0.5)).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    search = GridSearchCV(TopDown(TREE), {"C": [0.1, 1.0], "decode": ["greedy", "path"]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.5
    pipeline = make_pipeline(StandardScaler(), TopDown(TREE)).fit(X, y)
    assert pipeline.score(X, y) > 0.7


def test_many_children_take_several_blocks():
    flat = Taxonomy.flat([f"c{i:02}" for i in range(70)])
    X, y = points(flat, n=210, d=8, spread=0.2)
    ours, theirs = TopDown(flat, 1.0, **TIGHT).fit(X, y), FlatSVM(flat, 1.0, **TIGHT).fit(X, y)
    assert_allclose(ours.decision_function(X)[:, 40], theirs.decision_function(X)[:, 40], atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"local": "multiclass"}, {"loss": "logistic"},
                                     {"estimator": LogisticRegression()}])  # fmt: skip
def test_odd_data(options):
    X, y = points(TREE, n=80)
    few = np.isin(y, ["a1", "a2", "b1"])  # whole branches without an example
    X, y = X[few], y[few]
    X[0], X[1:3] = 0.0, X[3]  # an empty row, duplicates
    X[:, 0] = 1.0  # a constant feature
    model = TopDown(TREE, decode="path", **options).fit(X, y)
    assert_array_equal(model.classes_, sorted(set(y)))
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.predict(X)) <= set(y)
    alone = TopDown(TREE, **options).fit(X[y == "a1"], y[y == "a1"])
    assert set(alone.predict(X)) == {"a1"}


def test_huge_values_stay_finite():
    X, y = points(TREE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TopDown(TREE, decode="path", max_iter=50).fit(1e6 * X, y)
    assert np.isfinite(model.decision_function(1e6 * X)).all()
    assert_allclose(model.predict_proba(1e6 * X).sum(axis=1), 1.0)


def test_rows_without_a_label_count_against_the_roots():
    X, y = points(TREE, n=60)
    lists = [[name] for name in y] + [[] for _ in range(60)]
    far = X + 30.0
    model = TopDown(TREE).fit(np.vstack([X, far]), lists)
    s = local_scores(model, far)
    assert all((s[None, root] < 0).mean() > 0.9 for root in TREE.roots)


@pytest.mark.parametrize(("options", "message"), [
    ({"local": "nodes"}, "local='nodes' is not known"),
    ({"decode": "best"}, "decode='best' is not known"),
    ({"loss": "zero_one"}, "loss='zero_one' is not known. Use 'squared_hinge', 'hinge'"),
    ({"local": "multiclass", "loss": "squared_hinge"}, "is not known with local='multiclass'"),
    ({"stop": 1.5}, "stop is 1.5. It must be True, False, 'levels' or a number"),
    ({"beam": 0}, "beam is 0. It must be a positive"),
    ({"C": -1.0}, "C is -1.0"),
    ({"slope": 0.0}, "slope is 0.0"),
    ({"estimator": "svm"}, "estimator is 'svm'. It must be a scikit-learn estimator"),
    ({"taxonomy": {"a": "b"}}, "taxonomy is {'a': 'b'}. It must be a linnaeus.Taxonomy"),
])  # fmt: skip
def test_parameters_that_make_no_sense(options, message):
    X, y = points(TREE)
    with pytest.raises(UserError, match=message.replace("(", "\\(")):
        TopDown(**{"taxonomy": TREE, **options}).fit(X, y)


def test_data_that_make_no_sense():
    X, y = points(TREE)
    with pytest.raises(ValueError, match="NaN"):
        TopDown(TREE).fit(np.where(X > 1, np.nan, X), y)
    leaves_only = label_sets(TREE, y)[:, TREE.leaf_numbers]
    with (
        pytest.warns(UserWarning, match="columns of the label indicator have no names"),
        pytest.raises(UserError, match="may predict inner nodes like 'A'.*over taxonomy.nodes"),
    ):
        TopDown(TREE, stop=True).fit(X, leaves_only)
    with pytest.raises(UserError, match="needs 2 folds"):
        TopDown(TREE, stop=True, cv=1).fit(X, y)
