"""Top-down models: their local problems, their paths, and where they may stop."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators import _topdown_stop as stopping
from linnaeus.estimators._topdown_decode import Decoder
from linnaeus.estimators.flat import FlatSVM
from linnaeus.estimators.topdown import TopDown
from linnaeus.inference.paths import along, families
from linnaeus.inference.repair import repair
from linnaeus.metrics import hierarchical_f1
from strategies import edge_lists

TREE = Taxonomy.from_edges(
    [("A", "a1"), ("A", "a2"), ("A", "a3"), ("B", "b1"), ("B", "b2"), ("b2", "b21"), ("b2", "b22")]
    + [(None, "C")]
)  # leaves at depths 0, 1 and 2
DAG = Taxonomy.from_edges(
    [
        ("A", "a"),
        ("A", "x"),
        ("B", "x"),
        ("B", "b"),
        ("x", "x1"),
        ("x", "x2"),
        ("b", "b1"),
        ("b", "b2"),
    ]
)
DECODES = ("greedy", "beam", "path")
TIGHT = {"tol": 1e-8, "dtype": "float64", "random_state": 0}


def points(tax: Taxonomy, n: int = 150, d: int = 6, spread: float = 0.7, seed: int = 0):
    """Points around a centre per leaf; the centres of siblings are close to their parent's."""
    rng = np.random.default_rng(seed)
    centre = np.zeros((len(tax), d))
    for v in range(len(tax)):
        above = [centre[tax.index(p)] for p in tax.parents(tax.nodes[v])]
        centre[v] = (np.mean(above, axis=0) if above else 0) + rng.normal(size=d)
    leaf = rng.permutation(np.resize(tax.leaf_numbers, n))
    X = centre[leaf] + spread * rng.normal(size=(n, d))
    return X, np.array(tax.names(leaf))


def label_sets(tax: Taxonomy, y, seed: int = 0) -> sp.csr_array:
    """One more leaf for some rows, with all ancestors."""
    rng = np.random.default_rng(seed)
    lists = [
        [a, b] if rng.random() < 0.4 else [a] for a, b in zip(y, rng.permutation(y), strict=True)
    ]
    return tax.closure(tax.encode(lists))


def sigmoid(s):
    return 1 / (1 + np.exp(-s))


def local_scores(model: TopDown, X) -> dict:
    s = X @ model.coef_.T + model.intercept_
    return {edge: s[:, e] for e, edge in enumerate(model.edges_)}


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
    """Where a family has one label per row, or two children, it is the Crammer-Singer machine."""
    golden = golden_file("ranking")
    for case in golden["dnc"][:2]:
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


# -- paths and probabilities ----------------------------------------------------------------------


def test_probabilities_of_one_label_are_a_walk_down():
    X, y = points(TREE, seed=3)
    model = TopDown(TREE, decode="path").fit(X, y)
    s = local_scores(model, X)

    def share(p, c):
        total = sum(np.exp(4 * z) for (above, _), z in s.items() if above == p)
        return np.exp(4 * s[p, c]) / total

    P = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    assert_allclose(P["C"], share(None, "C"))
    assert_allclose(P["b1"], share(None, "B") * share("B", "b1"))
    assert_allclose(P["b21"], share(None, "B") * share("B", "b2") * share("b2", "b21"))
    assert_allclose(sum(P.values()), 1.0)
    nodes = model.node_scores(X).toarray()
    assert_allclose(nodes[:, TREE.index("b2")], share(None, "B") * share("B", "b2"))


def test_probabilities_of_label_sets_are_products():
    X, y = points(TREE, seed=4)
    model = TopDown(TREE, decode="path", slope=2.5).fit(X, label_sets(TREE, y))
    s = local_scores(model, X)
    P = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    p = sigmoid(2.5 * s[None, "B"]) * sigmoid(2.5 * s["B", "b2"]) * sigmoid(2.5 * s["b2", "b22"])
    assert_allclose(P["b22"], p)
    column = list(model.classes_).index("b22")
    assert_allclose(
        2.5 * model.decision_function(X)[:, column], np.log(p) - np.log1p(-p), rtol=1e-6
    )


def test_leaves_of_a_dag_share_all_the_probability():
    X, y = points(DAG)
    model = TopDown(DAG, decode="path").fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.predict(X) == y).mean() > 0.6
    s = local_scores(model, X)
    assert {p for p, c in s if c == "x"} == {"A", "B"}  # a model for each parent


@pytest.mark.parametrize("local", ["binary", "multiclass"])
@pytest.mark.parametrize("decode", DECODES)
@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
def test_predict_is_the_best_of_the_decision_function(tax, decode, local):
    X, y = points(tax, seed=5)
    model = TopDown(tax, local=local, decode=decode, beam=2).fit(X, y)
    found = model.predict(X)
    scores = model.decision_function(X)
    assert scores.shape == (len(X), len(model.classes_))
    assert np.isfinite(scores).all()
    assert_array_equal(found, model.classes_[scores.argmax(axis=1)])
    best, value = model.top_k(X, 2)
    assert_array_equal(model.classes_[best[:, 0]], found)
    assert (value[:, 0] <= 1e-12).all()
    if decode == "path":
        assert_array_equal(found, model.classes_[model.predict_proba(X).argmax(axis=1)])


def test_greedy_follows_the_best_child():
    X, y = points(TREE, seed=6, spread=1.5)
    model = TopDown(TREE).fit(X, y)
    s = local_scores(model, X)
    for i, found in enumerate(model.predict(X)):
        v = None
        while v is None or TREE.children(v):
            children = TREE.children(v) if v is not None else TREE.roots
            v = max(children, key=lambda c, v=v, i=i: s[v, c][i])
        assert found == v


def test_greedy_on_label_sets_follows_positive_scores():
    X, y = points(TREE, seed=7)
    model = TopDown(TREE).fit(X, TREE.decode(TREE.most_specific(label_sets(TREE, y))))
    s = local_scores(model, X)

    def below(v, i):
        children = TREE.children(v) if v is not None else TREE.roots
        if not children:
            return {v}
        on = [c for c in children if s[v, c][i] > 0] or [max(children, key=lambda c: s[v, c][i])]
        return set().union(*(below(c, i) for c in on))

    for i, found in enumerate(model.predict(X)):
        assert set(found) == below(None, i)


def test_label_sets_by_beam_and_path_are_the_likely_ones():
    X, y = points(TREE, seed=8)
    Y = label_sets(TREE, y)
    model = TopDown(TREE, decode="path").fit(X, Y)
    P, leaves = model.predict_proba(X), model.predict(X).toarray()[:, TREE.leaf_numbers]
    for p, on in zip(P, leaves, strict=True):
        expected = p > 0.5 if (p > 0.5).any() else p == p.max()
        assert_array_equal(on.astype(bool), expected)
    assert_array_equal(model.set_params(decode="beam", beam=99).predict(X).toarray(),
                       TREE.closure(model.predict(X)).toarray())  # fmt: skip


def test_node_scores_fall_along_the_path_and_show_where_the_search_went():
    X, y = points(TREE, seed=9)
    model = TopDown(TREE, decode="greedy").fit(X, y)
    nodes = model.node_scores(X)
    assert nodes.shape == (len(X), len(TREE))
    dense = nodes.toarray()
    for p, c in TREE.edges:
        assert (dense[:, TREE.index(c)] <= dense[:, TREE.index(p)] + 1e-12).all()
    assert nodes.nnz < dense.size
    assert (dense[np.arange(len(X)), TREE.numbers(model.predict(X))] > 0).all()


# -- inner labels and partial paths ---------------------------------------------------------------


def test_inner_nodes_that_carry_labels_are_classes():
    X, y = points(TREE, spread=0.2)
    y = np.where(y == "a3", "A", y)
    model = TopDown(TREE, C=10.0).fit(X, y)
    assert "A" in model.classes_
    assert ("A", "A/misc") in model.edges_
    found = model.predict(X)
    assert (found[y == "A"] == "A").mean() > 0.8
    assert model.node_scores(X).shape[1] == len(TREE)


WIDE = Taxonomy.from_edges([(g, f"{g}{i}") for g in "PQ" for i in range(8)] + [("R", "r")])


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("decode", DECODES)
def test_stop_is_learned_where_leaves_cannot_be_told(decode, several):
    """The leaves of P and Q are anybody's guess, those of R are plain."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, size=400)
    X = np.eye(3)[group] + 0.1 * rng.normal(size=(400, 3))
    y = np.array([f"{'PQ'[g]}{rng.integers(8)}" if g < 2 else "r" for g in group])
    taught = [[name] for name in y] if several else y
    model = TopDown(WIDE, stop=True, decode=decode, random_state=0).fit(X[:300], taught[:300])
    found = model.predict(X[300:])
    if several:
        found = np.array([names[0] for names in found])
    assert_array_equal(found, np.array(["P", "Q", "r"])[group[300:]])
    plain = TopDown(WIDE, decode=decode, random_state=0).fit(X[:300], y[:300]).predict(X[300:])
    assert hierarchical_f1(y[300:], found, WIDE) > hierarchical_f1(y[300:], plain, WIDE)
    assert 0 < model.threshold_ < 1


def test_the_threshold_says_how_far_to_go():
    X, y = points(TREE, spread=1.0)
    plain = TopDown(TREE, decode="path", random_state=0).fit(X, y)
    far = TopDown(TREE, decode="path", stop=1e-12, random_state=0).fit(X, y)
    assert_array_equal(far.predict(X), plain.predict(X))
    near = TopDown(TREE, decode="path", stop=1 - 1e-12).fit(X, y)
    assert set(near.predict(X)) <= set(TREE.roots)
    half = TopDown(TREE, decode="path", stop=0.5, random_state=0).fit(X, y)
    P = half.node_scores(X).toarray()
    for i, name in enumerate(half.predict(X)):
        v = TREE.index(name)
        assert P[i, v] >= 0.5 or TREE.depth[v] == 0
        assert name in TREE.ancestors(plain.predict(X[[i]])[0])


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("decode", DECODES)
@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
def test_thresholds_of_levels_are_never_worse_out_of_fold(tax, decode, several):
    X, y = points(tax, spread=1.2, seed=12)
    labels = label_sets(tax, y) if several else y
    one, levels = (
        TopDown(tax, decode=decode, stop=stop, random_state=0).fit(X, labels)
        for stop in (True, "levels")
    )
    assert levels.threshold_.shape == (tax.depth.max() + 1,)
    assert levels.threshold_f1_ >= one.threshold_f1_
    if levels.threshold_f1_ == one.threshold_f1_:
        assert_array_equal(levels.threshold_, one.threshold_)
    same = clone(one).fit(X, labels)
    same.threshold_ = np.full(tax.depth.max() + 1, one.threshold_)
    found, expected = same.predict(X), one.predict(X)
    if several:
        assert (found != expected).nnz == 0
        assert (tax.closure(levels.predict(X)) != levels.predict(X)).nnz == 0
    else:
        assert_array_equal(found, expected)


def test_no_change_of_one_level_raises_the_f1():
    """Probabilities that are wrong by level: those of leaves are far too high."""
    rng = np.random.default_rng(0)
    tax, n = WIDE, 200
    leaf = rng.choice(tax.leaf_numbers, size=n)
    true = tax.closure(tax.encode([[tax.nodes[v]] for v in leaf]))
    for one in (True, False):
        decoder = Decoder(tax, families(tax), 1.0, one, one)
        P = np.where(tax.depth == 0, 0.5, 0.7) * rng.random((n, len(tax)))
        P = np.where(true.toarray() > 0, np.sqrt(P), P)
        offered = along(tax, P.T, rng.permutation(leaf)) if one else sp.csr_array(P)
        held = stopping.Held(decoder, offered, true, np.ones(len(tax), dtype=bool))
        values = stopping.candidates(decoder, "greedy")
        theta, f1 = stopping.one_threshold(held, values)
        assert (
            f1 == max(held.f1(np.full(2, value)) for value in values) == held.f1(np.full(2, theta))
        )
        level, best = stopping.level_thresholds(held, values, theta, f1)
        assert best == held.f1(level) >= f1
        assert best == max(held.f1(np.array([value, level[1]])) for value in values)
        assert best == max(held.f1(np.array([level[0], value])) for value in values)
    assert best > f1  # of label sets


def test_stops_that_make_no_sense():
    X, y = points(TREE)
    for stop in ("level", 1.5, -0.1, None):
        with pytest.raises(UserError, match=r"is not a probability\. Use True, False, 'levels'"):
            TopDown(TREE, stop=stop).fit(X, y)
    with pytest.raises(UserError, match="stop='levels' needs 2 folds; cv=1"):
        TopDown(TREE, stop="levels", cv=1).fit(X, y)


def test_stop_without_a_taxonomy_changes_nothing():
    X, y = points(Taxonomy.flat("abc"))
    ours, plain = (TopDown(stop=stop, random_state=0).fit(X, y) for stop in (True, False))
    assert_array_equal(ours.predict(X), plain.predict(X))


@settings(max_examples=25)
@given(
    edge_lists(min_nodes=2),
    st.sampled_from(DECODES),
    st.sampled_from([False, True, "levels", 0.4]),
    st.booleans(),
    st.integers(0, 20),
)
def test_predictions_are_consistent(lines, decode, stop, sparse, seed):
    tax = Taxonomy.from_edges(lines)
    rng = np.random.default_rng(seed)
    Y = sp.csr_array(tax.closure(rng.random((12, len(tax))) < 0.2))
    X = rng.normal(size=(12, 3))
    model = TopDown(tax, decode=decode, stop=stop, beam=2, cv=2, tol=0.1, random_state=0)
    model.fit(X, Y if sparse else Y.toarray())
    found = model.predict(rng.normal(size=(9, 3)))
    found = sp.csr_array(found)
    assert found.shape == (9, len(tax))
    assert (tax.closure(found) != found).nnz == 0
    assert (np.diff(found.indptr) > 0).all()


# -- scikit-learn, seeds and odd data --------------------------------------------------------------

WEIGHT_CHECKS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "stochastic; see the test below"
    for kind in ("dense", "sparse")
}


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


def test_blocks_of_rows_do_not_matter(monkeypatch):
    X, y = points(TREE)
    model = TopDown(TREE, decode="beam", beam=2).fit(X, y)
    whole = model.decision_function(X), model.predict(X), model.node_scores(X).toarray()
    monkeypatch.setattr("linnaeus.estimators.topdown.BLOCK_BYTES", 8 * len(TREE) * 7)
    assert_array_equal(model.decision_function(X), whole[0])
    assert_array_equal(model.predict(X), whole[1])
    assert_array_equal(model.node_scores(X).toarray(), whole[2])


def test_many_children_take_several_blocks():
    flat = Taxonomy.flat([f"c{i:02}" for i in range(70)])
    X, y = points(flat, n=210, d=8, spread=0.2)
    ours, theirs = TopDown(flat, 1.0, **TIGHT).fit(X, y), FlatSVM(flat, 1.0, **TIGHT).fit(X, y)
    assert_allclose(ours.decision_function(X)[:, 40], theirs.decision_function(X)[:, 40], atol=1e-6)


METHODS = [
    {"loss": "squared_hinge"},
    {"loss": "hinge"},
    {"loss": "logistic"},
    {"local": "multiclass"},
    {"local": "multiclass", "loss": "logistic"},
]


def plain_objective(model: TopDown, X, y) -> float:
    """The sum of the local objectives at the weights of a model of one label per row."""
    C, total = model.C, 0.0
    coef, b = model.coef_.toarray(), model.intercept_
    closed = TREE.closure(TREE.encode(y)).toarray().astype(bool)
    for p in {p for p, _ in model.edges_}:
        e = [i for i, (above, _) in enumerate(model.edges_) if above == p]
        rows = closed[:, TREE.index(p)] if p is not None else np.ones(len(X), dtype=bool)
        Y = closed[np.ix_(rows, [TREE.index(model.edges_[i][1]) for i in e])]
        Z = X[rows] @ coef[e].T + b[e]
        M, own = np.where(Y, Z, -Z), Z[Y][:, None]
        loss = {
            "squared_hinge": np.maximum(0, 1 - M) ** 2,
            "hinge": np.maximum(0, 1 - M),
            "logistic": np.log1p(np.exp(-M)),
        }.get(model.loss, np.max(Z - own + ~Y, axis=1))
        if model.local == "multiclass" and model.loss == "logistic":
            loss = np.log(np.exp(Z - own).sum(axis=1))
        total += 0.5 * (coef[e] ** 2).sum() + 0.5 * (b[e] ** 2).sum() + C * loss.sum()
    return total


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_pruned_weights(options):
    X, y = points(TREE)
    model = TopDown(TREE, prune=0.1, **options, **TIGHT).fit(sp.csr_array(X), y)
    full = TopDown(TREE, **options, **TIGHT).fit(sp.csr_array(X), y)
    assert np.abs(model.coef_.data).min() >= 0.1
    assert model.coef_.nnz < full.coef_.nnz
    assert (model.predict(X) == full.predict(X)).mean() > 0.9
    assert_allclose(model.objective_, plain_objective(full, X, y))
    rise = plain_objective(model, X, y) / model.objective_ - 1
    assert_allclose(model.prune_loss_, rise, rtol=1e-4)
    assert 0 < model.prune_loss_ < 0.2


# -- class weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("class_weight", ["balanced", {"q": 3.0, "s": 0.2}])
def test_class_weights_of_one_level_are_those_of_the_flat_model(class_weight, loss):
    flat = Taxonomy.flat(["p", "q", "r", "s"])
    X, y = points(flat)
    X, y = X[20:][y[20:] != "p"], y[20:][y[20:] != "p"]
    for labels, taxonomy in ((y, flat), (y, None), (label_sets(flat, y), flat)):
        options = {"loss": loss, "class_weight": class_weight, **TIGHT}
        ours = TopDown(taxonomy, 0.7, **options).fit(X, labels)
        theirs = FlatSVM(taxonomy, 0.7, **options).fit(X, labels)
        assert_allclose(ours.coef_.toarray(), theirs.coef_, atol=1e-6)
    two = np.where(y == "q", "q", "s")
    ours, theirs = (m(class_weight=class_weight, **TIGHT).fit(X, two) for m in (TopDown, FlatSVM))
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_the_weight_of_a_node_is_a_cost_among_its_siblings_only(options):
    X, y = points(TREE, seed=11)
    options = {**options, **TIGHT, "tol": 1e-6}
    weighted = TopDown(TREE, class_weight={"b2": 2.0}, **options).fit(X, y)
    plain = TopDown(TREE, **options).fit(X, y)
    rows = np.isin(y, ["b1", "b21", "b22"])
    group = np.where(y[rows] == "b1", "b1", "b2")
    alone = TopDown(Taxonomy.flat(["b1", "b2"]), class_weight={"b2": 2.0}, **options)
    alone.fit(X[rows], group)
    s, t, u = (local_scores(model, X) for model in (weighted, alone, plain))
    assert_allclose(s["B", "b2"], t[None, "b2"], atol=3e-3)
    assert_allclose(s["B", "b1"], t[None, "b1"], atol=3e-3)
    assert abs(s["B", "b2"] - u["B", "b2"]).max() > 0.02
    for edge in ((None, "B"), ("b2", "b21"), ("A", "a1")):
        assert_array_equal(s[edge], u[edge])


def test_a_base_estimator_is_given_the_weights_of_classes():
    X, y = points(TREE, seed=11)
    base = LogisticRegression(tol=1e-9)
    for local in ("binary", "multiclass"):
        model = TopDown(TREE, local=local, estimator=base, class_weight={"b2": 2.0}).fit(X, y)
        rows = np.isin(y, ["b1", "b21", "b22"])
        group = np.where(y[rows] == "b1", "b1", "b2")
        theirs = clone(base).set_params(class_weight={"b2": 2.0}).fit(X[rows], group)
        f = [model.decoder_.taxonomy.nodes[p] for p in model.decoder_.fam.parent[1:]].index("B")
        ours = model.models_.parts[f + 1][-1]
        assert_allclose(abs(ours.coef_), abs(theirs.coef_), atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"local": "multiclass"}, {"estimator": GaussianNB()}])
def test_balanced_families(options):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.06, "a1", "a2")
    X = (y == "a1")[:, None] + 0.8 * rng.normal(size=(400, 2))
    recall = {}
    for weight in (None, "balanced"):
        model = TopDown(TREE, class_weight=weight, random_state=0, **options).fit(X, y)
        recall[weight] = (model.predict(X)[y == "a1"] == "a1").mean()
    if "estimator" not in options:
        assert recall["balanced"] > recall[None] + 0.2
    weight = rng.integers(0, 3, size=400)
    model = TopDown(TREE, class_weight="balanced", **options, **TIGHT)
    again = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    model.fit(X, y, sample_weight=weight)
    assert_allclose(model.decision_function(X), again.decision_function(X), atol=3e-3)


def test_the_weight_of_an_inner_label_is_that_of_its_misc_leaf_too():
    X, y = points(TREE)
    y = np.where(y == "a3", "A", y)
    plain = TopDown(TREE, **TIGHT).fit(X, y)
    heavy = TopDown(TREE, class_weight={"A": 9.0}, **TIGHT).fit(X, y)
    for edge in ((None, "A"), ("A", "A/misc")):
        assert local_scores(heavy, X)[edge].mean() > local_scores(plain, X)[edge].mean()
    a, b = (local_scores(model, X)["A", "a1"] for model in (heavy, plain))
    assert_allclose(a, b, atol=1e-3)  # each within its gap


def test_class_weights_that_make_no_sense():
    X, y = points(TREE)
    with pytest.raises(UserError, match=r"class_weight names 'zebra'.*The classes are \['A'"):
        TopDown(TREE, class_weight={"zebra": 2.0}).fit(X, y)
    with pytest.raises(UserError, match="class weight of 'A' is -1"):
        TopDown(TREE, class_weight={"A": -1}).fit(X, y)
    with pytest.raises(UserError, match="class_weight='even' is not known. Use 'balanced'"):
        TopDown(TREE, class_weight="even").fit(X, y)
    neighbours = TopDown(TREE, estimator=KNeighborsClassifier(), class_weight="balanced")
    with pytest.raises(UserError, match="takes no sample_weight"):
        neighbours.fit(X, y)


@pytest.mark.parametrize("options", [{}, {"local": "multiclass"}, {"loss": "logistic"},
                                     {"estimator": LogisticRegression()}])  # fmt: skip
def test_odd_data(options):
    X, y = points(TREE, n=80)
    few = np.isin(y, ["a1", "a2", "b1"])  # whole branches without an example
    X, y = X[few], y[few]
    X[0], X[1:3] = 0.0, X[3]  # an empty row, duplicates
    X[:, 0] = 1.0  # a constant feature
    model = TopDown(TREE, decode="path", **options).fit(X, y)
    assert_array_equal(model.classes_, TREE.leaves)
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.predict(X)) <= set(TREE.leaves)
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
    ({"loss": "zero_one"}, "loss='zero_one' is not known with local='binary'. Use one of"),
    ({"local": "multiclass", "loss": "squared_hinge"}, "is not known with local='multiclass'"),
    ({"stop": 1.5}, "stop=1.5 is not a probability"),
    ({"beam": 0}, "beam is 0. It must be a positive"),
    ({"C": -1.0}, "C is -1.0"),
    ({"slope": 0.0}, "slope is 0.0"),
    ({"estimator": "svm"}, "estimator is 'svm', which lacks fit"),
    ({"taxonomy": {"a": "b"}}, "taxonomy is of type dict"),
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
    with pytest.raises(
        UserError, match="may predict inner nodes like 'A'.*indicator over taxonomy.nodes"
    ):
        TopDown(TREE, stop=True).fit(X, leaves_only)
    with pytest.raises(UserError, match="needs 2 folds"):
        TopDown(TREE, stop=True, cv=1).fit(X, y)


def test_signs_are_local_machines_with_repair():
    """H-SVM of [Rousu2006]: a node is on when its machine says so and its parent is on."""
    X, y = points(TREE)
    Y = TREE.closure(TREE.encode(y)).toarray()
    Y[:10] = 0  # rows without labels
    model = TopDown(TREE, loss="hinge", decode="signs", random_state=0).fit(X, Y)
    edge = {child: e for e, (_, child) in enumerate(model.edges_)}
    rows = [edge[node] for node in TREE.nodes]
    scores = X @ model.coef_[rows].T.toarray() + model.intercept_[rows]
    expected = repair(TREE, sp.csr_array(scores > 0))
    predicted = model.predict(X)
    assert (predicted == expected.toarray()).all()
    assert (predicted.sum(axis=1) == 0).any()
