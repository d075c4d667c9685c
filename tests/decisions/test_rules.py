"""Rules by name, and the choice among them by cross-fitting."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

from linnaeus import FlatSVM, HierarchicalRLS, Taxonomy
from linnaeus.decisions import (
    Argmax,
    ClosedArgmax,
    Decision,
    InstanceCut,
    RCut,
    SCut,
    SetSize,
    Threshold,
    TopDownConsistent,
    rules,
)
from linnaeus.decisions.rules import (
    RULES,
    RuleInfo,
    choose_rule,
    fit_rule,
    make_rule,
    node_sets,
    pool_rules,
    score_rules,
)
from linnaeus.decisions.threshold import cut_off
from linnaeus.errors import UserError
from linnaeus.inference import lift
from linnaeus.io import read_collection
from linnaeus.metrics import counts, evaluate
from strategies import edge_lists

TREE = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("c", "d"), ("c", "e"), ("x", "y"), ("x", "z")])
DAG = Taxonomy.from_edges([*TREE.edges, ("b", "e"), ("x", "e")])
FLAT = Taxonomy.flat(list("pqrst"))
VALUES = ("micro_f1", "macro_f1", "hierarchical_f1", "precision", "recall", "labels_per_row")


def problem(tax, seed=0, n=60, columns=None, empty=0.1):
    """Label lists over leaves and one inner node, and noisy scores of columns in odd order."""
    rng = np.random.default_rng(seed)
    pool = list(tax.leaves) + [v for v in tax.nodes if v not in tax.leaves][-1:]
    lists = [
        [] if rng.random() < empty else [pool[j] for j in rng.choice(len(pool), rng.integers(1, 3))]
        for _ in range(n)
    ]
    Y = tax.encode(lists)
    columns = [pool[j] for j in rng.permutation(len(pool))] if columns is None else columns
    own = tax.most_specific(Y)[:, tax.numbers(columns)].toarray()
    return 2.0 * own - 1.2 + rng.normal(size=own.shape), Y, columns


# -- scores of some nodes ----------------------------------------------------------------------


@pytest.mark.parametrize("tax", [TREE, DAG, FLAT], ids=["tree", "dag", "flat"])
@pytest.mark.parametrize("name", RULES)
def test_the_order_of_columns_changes_nothing(tax, name):
    scores, Y, columns = problem(tax)
    rule = fit_rule(name, scores, Y, tax, columns)
    order = np.random.default_rng(1).permutation(len(columns))
    other = fit_rule(name, scores[:, order], Y, tax, [columns[j] for j in order])
    sets = node_sets(rule, scores, tax)
    assert sets.nnz
    assert_array_equal(node_sets(other, scores[:, order], tax).toarray(), sets.toarray())
    assert_array_equal(tax.closure(sets).toarray(), sets.toarray())


@pytest.mark.parametrize("make", [SCut, InstanceCut, SetSize, RCut, Argmax, Threshold])
def test_cuts_on_named_columns_learn_from_those_labels(make):
    scores, Y, columns = problem(TREE)
    truth = Y[:, TREE.numbers(columns)].toarray()
    named = make(taxonomy=TREE).fit_scores(scores, Y, columns)
    plain = make().fit_scores(scores, truth)
    assert tuple(named.classes_) == tuple(columns)
    assert_array_equal(named.decide(scores).toarray(), plain.decide(scores).toarray())


@pytest.mark.parametrize(
    "make", [lambda **k: ClosedArgmax(shift="fit", **k), lambda **k: TopDownConsistent(
        decision=SCut(), **k)], ids=["closed", "consistent"]
)  # fmt: skip
def test_node_decisions_lift_named_columns(make):
    scores, Y, columns = problem(DAG)
    lifted = lift(DAG, scores, DAG.numbers(columns))
    named = make(taxonomy=DAG).fit_scores(scores, Y, columns)
    nodes = make(taxonomy=DAG).fit_scores(lifted, Y)
    assert_array_equal(named.decide(scores).toarray(), nodes.decide(lifted).toarray())
    assert_array_equal(named.decide(lifted).toarray(), nodes.decide(lifted).toarray())


@pytest.mark.parametrize("way", [None, "max", "always"])
def test_scores_of_all_nodes_in_another_order(way):
    columns = [DAG.nodes[j] for j in np.random.default_rng(3).permutation(len(DAG))]
    scores, Y, _ = problem(DAG, columns=columns)
    rule = ClosedArgmax(taxonomy=DAG, shift="fit", lift=way).fit_scores(scores, Y, columns)
    in_order = scores[:, [columns.index(v) for v in DAG.nodes]]
    expected = lift(DAG, in_order, np.arange(len(DAG))) if way == "always" else in_order
    plain = ClosedArgmax(taxonomy=DAG, shift="fit").fit_scores(expected, Y)
    assert_array_equal(rule.decide(scores).toarray(), plain.decide(expected).toarray())


def test_what_columns_are_refused():
    scores, Y, columns = problem(TREE)
    with pytest.raises(UserError, match=r"scores have 6 columns, but 5 are named. Give one name"):
        SCut(taxonomy=TREE).fit_scores(scores, Y, columns[1:])
    with pytest.raises(UserError, match=r"'wasp' is not a node of the taxonomy"):
        SCut(taxonomy=TREE).fit_scores(scores, Y, ["wasp", *columns[1:]])
    with pytest.raises(UserError, match=r"Two columns of scores are named 'b'. Name each"):
        SCut(taxonomy=TREE).fit_scores(scores, Y, ["b", "b", *columns[2:]])
    with pytest.raises(UserError, match=r"lift='up' is not known. Use None, 'max' or 'always'"):
        ClosedArgmax(taxonomy=TREE, lift="up").fit_scores(scores, Y, columns)


# -- models that are taught closed sets ----------------------------------------------------------


@pytest.mark.parametrize("model", [FlatSVM(TREE, classes="nodes"), HierarchicalRLS(TREE)], ids=str)
@pytest.mark.parametrize("make", [RCut, SCut, InstanceCut, SetSize])
def test_cuts_around_models_of_all_nodes_learn_from_closed_sets(model, make):
    rng = np.random.default_rng(0)
    lists = [["byz"[j]] for j in rng.integers(0, 3, 60)]  # two labels each, when closed
    closed = TREE.closure(TREE.encode(lists))
    X = closed.toarray() + 0.3 * rng.normal(size=closed.shape)
    folds = list(KFold(3).split(X))
    specific = make(model, TREE, cv=folds).fit(X, TREE.encode(lists))
    whole = make(model, TREE, cv=folds).fit(X, closed)
    assert_array_equal(specific.predict(X).toarray(), whole.predict(X).toarray())
    assert (whole.predict(X) != closed).nnz < 0.1 * closed.nnz
    alone = make(model, cv=folds).fit(X, closed)  # the taxonomy is that of the model
    assert_array_equal(alone.predict(X).toarray(), whole.predict(X).toarray())
    one = make(model, TREE, cv=folds).fit(X, [row[0] for row in lists]).predict(X)
    assert np.mean(one == [row[0] for row in lists]) > 0.9  # a leaf, not the root above it


@pytest.mark.parametrize("form", ["array", "list"])
def test_numbers_among_names(form):
    tax = Taxonomy.from_edges([("a", 1), ("a", "b"), (2, "c")])
    names = [1, "b", "c"] * 8
    X = np.eye(3)[[0, 1, 2] * 8]
    y = np.array(names, dtype=object) if form == "array" else names
    model = RCut(FlatSVM(tax, C=10.0), tax, k=1, cv=2).fit(X, y)
    assert model.predict(X).tolist() == names
    learnt = SCut(FlatSVM(tax, C=10.0), tax, cv=2, random_state=0).fit(X, y)
    assert learnt.predict(X).tolist() == names
    bare = SCut().fit_scores(np.eye(3)[[0, 1, 2] * 8], y)
    assert bare.classes_.tolist() == [1, "b", "c"]
    with pytest.raises(UserError, match=r"Row 2: None is a missing value, no label. Leave the"):
        SCut().fit_scores(np.eye(3), np.array([1, "b", None], dtype=object))
    with pytest.raises(UserError, match=r"cannot be sorted: bytes, int, str. Use texts and"):
        SCut().fit_scores(np.eye(3), np.array([1, "b", b"c"], dtype=object))


# -- rules by name ------------------------------------------------------------------------------


def test_names_and_advice():
    assert list(RULES) == [
        "argmax", "zero", "rcut", "common", "scut", "instance", "set-size", "closed", "consistent"
    ]  # fmt: skip
    for name, info in RULES.items():
        rule = make_rule(name, TREE)
        assert info.learns == rule._learns()
        assert 40 < len(info.advice) < 100 and info.advice.endswith(".")


def test_what_make_rule_refuses():
    with pytest.raises(UserError, match=r"rule 'instanc' is not known \(did you mean 'instance'"):
        make_rule("instanc", TREE)
    with pytest.raises(UserError, match=r"'scut' has no parameter 'flor' \(did you mean 'floor'"):
        make_rule("scut", TREE, flor=0.1)
    with pytest.raises(UserError, match=r"'rcut' has no parameter 'cv'. It takes: k"):
        make_rule("rcut", TREE, cv=3)
    assert make_rule("consistent", TREE, floor=0.4).decision.floor == 0.4


def test_what_suits_the_scores():
    scores, Y, columns = problem(TREE)
    assert cut_off(fit_rule("zero", scores, Y, TREE, columns)) == 0
    assert fit_rule("zero", 1 / (1 + np.exp(-scores)), Y, TREE, columns).threshold == 0.5
    assert cut_off(fit_rule("zero", np.zeros((1, 6)), TREE.encode([[]]), TREE, columns)) == 0
    assert fit_rule("zero", scores, Y, TREE, columns, threshold=0.3).threshold == 0.3
    node_scores, _, _ = problem(TREE, columns=TREE.nodes)
    assert fit_rule("argmax", node_scores, Y, TREE, TREE.nodes, closed=True).among == "leaves"
    wide = Taxonomy.flat(range(150))
    S = np.random.default_rng(0).normal(size=(20, 150))
    assert fit_rule("set-size", S, [[1], [2]] * 10, wide, wide.nodes).top_k == 20


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("closed", [False, True])
def test_no_row_stays_empty_where_every_row_had_a_label(name, closed):
    columns = TREE.nodes if closed else None
    scores, Y, columns = problem(TREE, empty=0.0, columns=columns)
    scores = scores - 3.0  # so that nothing is above 0
    rule = fit_rule(name, scores, Y, TREE, columns, closed=closed)
    low = np.full((2, len(columns)), -9.0) + np.eye(2, len(columns))
    assert (np.diff(node_sets(rule, low, TREE).indptr) > 0).all()
    some, Z, _ = problem(TREE, empty=0.5, columns=columns)
    if "at_least_one" in make_rule(name, TREE).get_params():
        assert not fit_rule(name, some, Z, TREE, columns, closed=closed).at_least_one


def test_a_row_left_empty_counts_as_a_wrong_answer():
    tax = Taxonomy.flat(["a", "b"])
    Y = [["a"], ["a"], ["b"], ["b"], []]
    counted = counts.Truth.of(tax, tax.encode(Y)).counts(tax.encode([["a"], [], ["b"], ["a"], []]))
    assert counted["empty"] == 1
    values = counts.measure(tax, counted)  # TP 2, FP 1, FN 2; 3 labels in 4 rows but the empty one
    assert_allclose(values["hierarchical_f1"], 4 / 7)
    assert_allclose(values["answered_f1"], 4 / (7 + 3 / 4))


def test_closed_truth_counts_as_the_same_labels():
    scores, Y, columns = problem(TREE)
    for name in RULES:
        a = fit_rule(name, scores, Y, TREE, columns)
        b = fit_rule(name, scores, TREE.closure(Y), TREE, columns)
        assert_array_equal(a.decide(scores).toarray(), b.decide(scores).toarray())


def test_closed_sets_learn_from_the_rows_that_can_be_afforded(monkeypatch):
    scores, Y, columns = problem(DAG, n=400)
    monkeypatch.setattr("linnaeus.decisions.named.FIT_STEPS", 0)
    seen = []
    learn = ClosedArgmax._learn
    monkeypatch.setattr(
        ClosedArgmax, "_learn", lambda self, s, Z: (seen.append(len(s)), learn(self, s, Z))
    )
    choice = choose_rule(scores, Y, DAG, columns, candidates=["closed"])
    assert seen == [100, 100, 100]
    assert choice.table[0]["note"] == "learned from 100 of 200 rows"
    monkeypatch.setattr(rules, "DECIDE_STEPS", 0)
    choice = choose_rule(scores, Y, DAG, columns)
    assert choice.table[-1]["rule"] == "closed" and choice.table[-1]["micro_f1"] is None
    assert choice.table[-1]["note"] == (
        "left out: the best closed sets of 400 rows would take long"
    )
    assert choose_rule(scores, Y, DAG, columns, candidates=["closed"]).name == "closed"


# -- choosing -----------------------------------------------------------------------------------


def by_hand(name, scores, Y, tax, columns, closed, seed):
    """Label sets of both halves, each by a rule of the other, as lists."""
    order = np.random.default_rng(seed).permutation(len(scores))
    half = len(scores) // 2
    sets = [None] * len(scores)
    for judged, learnt in ((order[:half], order[half:]), (order[half:], order[:half])):
        learnt, judged = np.sort(learnt), np.sort(judged)
        rule = fit_rule(name, scores[learnt], Y[learnt], tax, columns, closed=closed)
        for i, row in zip(judged, tax.decode(node_sets(rule, scores[judged], tax)), strict=True):
            sets[i] = row
    return sets


@pytest.mark.parametrize("tax", [TREE, DAG, FLAT], ids=["tree", "dag", "flat"])
@pytest.mark.parametrize("closed", [False, True])
def test_the_table_is_what_evaluate_says_of_cross_fitted_sets(tax, closed):
    scores, Y, columns = problem(tax, n=41, columns=tax.nodes if closed else None)
    choice = choose_rule(scores, Y, tax, columns, closed=closed, seed=5)
    names = [name for name in RULES if closed or name != "consistent"]
    assert [line["rule"] for line in choice.table] == names
    for line in choice.table:
        report = evaluate(Y, by_hand(line["rule"], scores, Y, tax, columns, closed, 5), tax)
        keys = ("micro_f1", "macro_f1", "hierarchical_f1", "micro_precision", "micro_recall",
                "predicted_per_row")  # fmt: skip
        assert_allclose([line[k] for k in VALUES], [report[k] for k in keys])
    best = max(line["micro_f1"] for line in choice.table)
    (chosen,) = (line for line in choice.table if line["chosen"])
    assert chosen["rule"] == choice.name and chosen["micro_f1"] >= 0.999 * best
    whole = fit_rule(choice.name, scores, Y, tax, columns, closed=closed)
    assert_array_equal(choice.rule.decide(scores).toarray(), whole.decide(scores).toarray())
    json.dumps(choice.table)


class Memory(Decision):
    """Knows the rows that it has learnt from, by their first score, and refuses to judge them."""

    def __init__(self, estimator=None, taxonomy=None, cv=5, random_state=None):
        self.estimator, self.taxonomy, self.cv, self.random_state = None, taxonomy, 5, None

    def _learn(self, scores, Y):
        self.known_ = set(scores[:, 0].tolist())

    def _decide_block(self, block):
        assert not self.known_ & set(block[:, 0].tolist())
        judged.append(len(block))
        return block > 0


judged = []


def test_no_rule_judges_the_rows_that_it_learnt_from(monkeypatch):
    scores, Y, columns = problem(TREE, n=31)
    scores[:, 0] = np.arange(31)
    monkeypatch.setitem(RULES, "zero", RuleInfo("", True, Memory))
    judged.clear()
    choice = choose_rule(scores, Y, TREE, columns, candidates=["zero"])
    assert sorted(judged) == [15, 16] and len(choice.rule.known_) == 31


def test_what_is_learnt_from_noise_does_not_pass():
    """On its own rows a threshold per label finds noise; on others it does not."""
    tax = Taxonomy.flat(range(40))
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((60, 40)) < 0.05).astype(np.int8))
    scores = rng.normal(size=(60, 40))
    seen = fit_rule("scut", scores, Y, tax, tax.nodes)
    flattered = evaluate(Y, node_sets(seen, scores, tax), tax)["micro_f1"]
    honest = choose_rule(scores, Y, tax, tax.nodes, candidates=["scut"]).table[0]["micro_f1"]
    assert flattered > 1.2 * honest


def test_ties_go_to_the_simpler_rule():
    tax = Taxonomy.flat(["p", "q"])
    Y = tax.encode([["p"], ["q"]] * 10)
    scores = 2.0 * Y.toarray() - 1
    choice = choose_rule(scores, Y, tax, tax.nodes)
    assert choice.name == "argmax" and isinstance(choice.rule, Argmax)
    assert choice.why == (
        "argmax: best micro-F1 1.000 on held-out scores (zero 1.000, rcut 1.000, common 1.000)"
    )
    own = choose_rule(scores, Y, tax, tax.nodes, extra={"own": Y})
    assert own.name == "own" and own.rule is None
    worse = Y.toarray()
    worse[0] = 1
    table = [{"rule": "zero", "micro_f1": 0.9995}, {"rule": "scut", "micro_f1": 1.0}]
    assert rules._why(table, table[0], "micro_f1").startswith(
        "zero: micro-F1 1.000 on held-out scores, as good as the best and simpler (scut 1.000)"
    )
    assert choose_rule(scores, Y, tax, tax.nodes, extra={"own": worse}).name == "argmax"


def test_the_metric_decides():
    scores, Y, columns = problem(TREE, n=200)
    for metric in ("micro_f1", "macro_f1", "hierarchical_f1"):
        choice = choose_rule(scores, Y, TREE, columns, metric=metric)
        best = max(line[metric] for line in choice.table)
        assert next(x for x in choice.table if x["chosen"])[metric] >= 0.999 * best
    with pytest.raises(UserError, match=r"metric='micro_f2' is not known \(did you mean 'micro_f"):
        choose_rule(scores, Y, TREE, columns, metric="micro_f2")


def test_very_many_scores_are_judged_by_a_part_of_the_rows(monkeypatch):
    scores, Y, columns = problem(TREE, n=80)
    monkeypatch.setattr(rules, "MOST_SCORES", 40 * len(columns))
    counts = score_rules(scores, Y, TREE, columns)
    assert {record["rows"] for record in counts} == {40}
    choice = choose_rule(scores, Y, TREE, columns, candidates=["instance"], extra={"own": Y})
    assert choice.name == "own" and choice.table[0]["micro_f1"] == 1.0
    refit = choose_rule(scores, Y, TREE, columns, candidates=["instance"]).rule
    assert refit.thresholds_.shape == (80,)


def test_counts_of_folds_can_be_added():
    scores, Y, columns = problem(TREE, n=90)
    folds = [np.arange(0, 30), np.arange(30, 90)]
    parts = [score_rules(scores[f], Y[f], TREE, columns, seed=2) for f in folds]
    for line in pool_rules(TREE, parts):
        sets = [by_hand(line["rule"], scores[f], Y[f], TREE, columns, False, 2) for f in folds]
        report = evaluate(Y, sets[0] + sets[1], TREE)
        for key in ("micro_f1", "macro_f1", "hierarchical_f1"):
            assert_allclose(line[key], report[key])
    some = score_rules(scores, Y, TREE, columns, candidates=["rcut"])
    assert [line["rule"] for line in pool_rules(TREE, [parts[0], some])] == ["rcut"]


def test_what_choose_rule_refuses():
    scores, Y, columns = problem(TREE)
    with pytest.raises(UserError, match=r"60 rows of scores and 59 label sets"):
        choose_rule(scores, Y[1:], TREE, columns)
    with pytest.raises(UserError, match=r"there is 1 row. Give at least 2, or name a rule"):
        choose_rule(scores[:1], Y[:1], TREE, columns)
    with pytest.raises(UserError, match=r"rule 'best' is not known"):
        choose_rule(scores, Y, TREE, columns, candidates=["best"])
    with pytest.raises(UserError, match=r"no rule to choose from. Name at least one"):
        choose_rule(scores, Y, TREE, columns, candidates=[])
    with pytest.raises(UserError, match=r"label sets 'own' have 59 rows, but there are 60 rows"):
        choose_rule(scores, Y, TREE, columns, extra={"own": Y[1:]})


@settings(max_examples=20)
@given(edge_lists(max_nodes=7), st.integers(0, 2**16), st.booleans())
def test_any_taxonomy_columns_and_label_sets(lines, seed, closed):
    """One column, empty label sets, rows without labels, labels without a column."""
    tax = Taxonomy.from_edges(lines)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    Y = sp.csr_array((rng.random((n, len(tax))) < rng.choice([0, 0.2, 0.7])).astype(np.int8))
    chosen = rng.permutation(len(tax))[: len(tax) if closed else rng.integers(1, len(tax) + 1)]
    columns = tax.nodes if closed else [tax.nodes[j] for j in chosen]
    scores = np.round(rng.normal(size=(n, len(columns))), 1).astype(np.float32)
    choice = choose_rule(scores, Y, tax, columns, closed=closed, seed=seed)
    assert sum(line["chosen"] for line in choice.table) == 1
    for line in choice.table:
        sets = by_hand(line["rule"], scores, Y, tax, columns, closed, seed)
        report = evaluate(Y, tax.encode(sets), tax)
        assert_allclose(line["micro_f1"], report["micro_f1"])
        assert_allclose(line["hierarchical_f1"], report["hierarchical_f1"])
    sets = node_sets(choice.rule, scores, tax)
    assert_array_equal(tax.closure(sets).toarray(), sets.toarray())


# -- real data ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["Enron", "rcv1-ccat"])
def held_out(request, shared):
    """Out-of-fold scores of FlatSVM on the training part, and scores of the test part."""
    given = read_collection(shared("data", request.param))
    tax = given.taxonomy
    X, X_test = (normalize(sp.csr_matrix(part.X)) for part in (given.train, given.test))
    Y, Y_test = (tax.most_specific(tax.encode(p.labels)) for p in (given.train, given.test))
    model = FlatSVM(tax, random_state=0).fit(X, Y)
    columns = model.targets_.names
    scores = np.zeros((X.shape[0], len(columns)), dtype=np.float32)
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        part = FlatSVM(tax, random_state=0).fit(X[train], Y[train])
        found = part.class_scores(X[test])
        scores[test] = found.min(axis=1, keepdims=True)
        scores[np.ix_(test, [columns.index(v) for v in part.targets_.names])] = found
    return tax, columns, scores, Y, model.class_scores(X_test), Y_test


def test_the_choice_holds_on_the_test_part(held_out):
    tax, columns, scores, Y, scores_test, Y_test = held_out
    choice = choose_rule(scores, Y, tax, columns)
    simple = fit_rule("zero", scores, Y, tax, columns)
    found, plain = (
        evaluate(Y_test, node_sets(rule, scores_test, tax), tax)["micro_f1"]
        for rule in (choice.rule, simple)
    )
    expected = max(line["micro_f1"] for line in choice.table)
    assert found > plain + 0.01
    assert abs(found - expected) < 0.05
