"""Models: every method through `train`, label sets, rules, files, and what is refused."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import linnaeus
from linnaeus.decisions.rules import RULES
from linnaeus.errors import UserError
from linnaeus.model import inputs_of, train
from linnaeus.model.choice import FOR_SEVERAL
from linnaeus.model.methods import INFO, METHODS, make
from linnaeus.model.training import TrainingLabels
from linnaeus.splits.held_out import held_out_splits, hold_out
from small_data import DAG, TREE, stories, table

QUICK = {"corrmnl": {"n_samples": 10, "n_burn_in": 10}}  # others are quick as they are
NEW = stories(20, seed=1)


def able(method, several, taxonomy):
    takes_several = INFO[method].several or method in FOR_SEVERAL
    return (takes_several or not several) and (INFO[method].dag or taxonomy.is_tree)


def closed(model, Y):
    return (model.taxonomy.closure(Y) != Y).nnz == 0


@pytest.fixture(scope="module")
def model():
    return train(stories(), TREE, "svm")


# -- every method -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_does_what_its_information_says(method, several, taxonomy, tmp_path):
    part = stories(40, several)
    if not able(method, several, taxonomy):
        with pytest.raises(UserError, match=f"'{method}' does not suit the data: .* Use one of:"):
            train(part, taxonomy, method)
        with pytest.raises(UserError):  # nor can the estimator itself
            X = table(part).X
            make(method, taxonomy, QUICK.get(method)).fit(X, TrainingLabels.of(part, taxonomy).y)
        return
    model = train(part, taxonomy, method, QUICK.get(method))
    assert model.about["method"] == method and model.about["why"]
    X = model.transform(NEW.texts)
    scores = model.scores(NEW.texts)
    assert scores.shape == (20, len(model.columns)) and np.isfinite(scores).all()
    Y = model.decide(X, scores)
    assert closed(model, Y) and Y.shape == (20, len(taxonomy))
    assert (model.decide(X) != Y).nnz == 0
    assert model.predict(NEW.texts) == model.names(Y)
    likely = model.probabilities(NEW.texts)
    assert (likely is None) != hasattr(model.estimator, "class_probabilities")
    if likely is not None:
        assert likely.shape == scores.shape and (likely >= 0).all() and (likely <= 1 + 1e-9).all()
    if not several:
        assert all(len(labels) == 1 for labels in model.predict(NEW.texts))
    model.save(tmp_path / "model")
    again = linnaeus.load(tmp_path / "model")
    assert again.predict(NEW.texts) == model.predict(NEW.texts)
    assert (again.scores(NEW.texts) == scores).all() and again.about == model.about


@pytest.mark.parametrize("method", [m for m, info in INFO.items() if info.several])
def test_methods_that_do_not_decide_predict_all_scores_above_0(method):
    """What `INFO.decides` denies: such predictions are the rule "zero" and nothing else."""
    part = table(stories())
    estimator = make(method, TREE).fit(part.X, TREE.encode(part.labels))
    at = TREE.numbers(estimator.targets_.names)
    zero = np.zeros((len(part), len(TREE)))
    zero[:, at] = estimator.class_scores(part.X) > 0
    same = (TREE.closure(sp.csr_array(zero)) != TREE.closure(estimator.predict(part.X))).nnz == 0
    assert same or INFO[method].decides


def test_the_method_is_chosen_by_the_data():
    one, several = (train(stories(several=s), TREE, budget=0) for s in (False, True))
    assert (one.about["method"], one.rule_name) == ("msvm", "own")
    assert several.about["method"] == "svm" and several.rule_name in RULES
    assert "one label" in one.about["why"] and "several labels" in several.about["why"]


# -- answers ------------------------------------------------------------------------------


def test_learns_something(model):
    assert model.evaluate(NEW.texts, NEW.labels)["micro_f1"] > 0.7


def test_answers_are_the_most_specific_labels_whatever_was_taught():
    whole = stories(labels=lambda row: TREE.decode(TREE.closure(TREE.encode([row])))[0])
    for row in train(whole, TREE, "svm").predict(NEW.texts):
        assert all(not (set(TREE.ancestors(label)) - {label}) & set(row) for label in row)


def test_labels_at_inner_nodes_are_learnt():
    part = stories(labels=lambda row: ["animal"] if row == ["cat"] else row)
    model = train(part, TREE, "svm", rule="zero")
    assert "animal" in model.columns
    assert ["animal"] in model.predict(NEW.texts)


def test_names_that_are_numbers():
    tax = linnaeus.Taxonomy.from_edges([(1, 11), (1, 12), (2, 21)])
    names = {"cat": 11, "dog": 12, "oak": 21, "rose": 2}
    part = stories(labels=lambda row: [names[label] for label in row])
    found = train(part, tax, "svm", rule="zero").predict(NEW.texts)
    assert {label for row in found for label in row} <= {1, 11, 12, 2, 21}
    assert any(found)


def test_tables_and_texts():
    part, new = table(stories()), table(NEW)
    model = train(part, TREE)
    assert inputs_of(part) is part.X and inputs_of(NEW) is NEW.texts
    assert model.evaluate(new.X, new.labels)["micro_f1"] > 0.6
    sparse = train(type(part)(part.labels, part.ids, X=sp.csr_array(part.X)), TREE)
    assert sparse.features.sparse_ and sparse.about["data"]["sparse"]


def test_what_is_told(model):
    data = model.about["data"]
    assert (data["rows"], data["nodes"], data["classes"], data["tree"]) == (60, 6, 4, True)
    assert data["rows_without_labels"] == sum(not row for row in stories().labels)
    assert model.about["certificate"]["gap"] <= 1e-3
    cats = sum("cat" in row for row in stories().labels)
    assert model.train_counts[TREE.index("cat")] == cats == model.own_counts[TREE.index("cat")]
    assert model.own_counts[TREE.index("animal")] == 0 < model.train_counts[TREE.index("animal")]


def test_a_seed_repeats_everything():
    first, second = (train(stories(), TREE, "svm", seed=3) for _ in range(2))
    assert (first.scores(NEW.texts) == second.scores(NEW.texts)).all()
    assert first.about == second.about
    assert (first.held_out.scores == second.held_out.scores).all()
    other = train(stories(), TREE, "svm", seed=4)
    assert (other.held_out.rows != first.held_out.rows).any()


# -- rules --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["own", *RULES])
def test_with_every_rule(model, name):
    other = model.with_rule(name)
    assert other.rule_name == name == other.about["rule"]["name"]
    assert closed(other, other.decide(other.transform(NEW.texts)))
    assert other.estimator is model.estimator
    asked = train(stories(), TREE, "svm", rule=name)
    assert asked.predict(NEW.texts) == other.predict(NEW.texts)


def test_the_table_of_rules_outlives_a_change(model):
    changed = model.with_rule("zero").about["rule"]["table"]
    assert [row["rule"] for row in changed] == [r["rule"] for r in model.about["rule"]["table"]]
    assert [row["rule"] for row in changed if row["chosen"]] == ["zero"]
    (before,) = [row for row in model.about["rule"]["table"] if row["chosen"]]
    assert before["rule"] == model.rule_name  # the model itself is unchanged


def test_rules_learn_from_examples_where_no_scores_were_kept():
    model = train(stories(several=False), TREE)
    assert model.held_out is None
    with pytest.raises(UserError, match="'scut' learns from held-out scores, and this model keeps"):
        model.with_rule("scut")
    assert model.with_rule("scut", NEW.texts, NEW.labels).rule_name == "scut"
    assert model.with_rule("rcut", k=2).predict(NEW.texts[:1])[0]
    assert model.with_rule("zero").rule_name == "zero"


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("scutt", {}, r"'scutt' is not known \(did you mean 'scut'\?\). Use one of: own, argmax"),
        ("scut", {"flor": 1}, r"no parameter 'flor' \(did you mean 'floor'\?\)"),
        ("scut", {"floor": "x"}, "'floor' of the rule 'scut' is 'x', where a number is needed"),
        ("rcut", {"k": 0}, "k is 0. It must be a positive whole number"),
        ("rcut", {"k": 2.5}, "k is 2.5. It must be a positive whole number"),
        ("own", {"k": 1}, "'own' takes no parameters, but k is given"),
    ],
)
def test_rules_that_cannot_be(model, name, parameters, message):
    with pytest.raises(UserError, match=message):
        model.with_rule(name, **parameters)


# -- held-out scores ----------------------------------------------------------------------


class Rote(linnaeus.FlatSVM):
    """Scores 1 for the rows that it was fitted on, and 0 for all others."""

    def fit(self, X, y):
        super().fit(X, y)
        self.seen_ = {row.tobytes() for row in np.asarray(X)}
        return self

    def class_scores(self, X):
        seen = [row.tobytes() in self.seen_ for row in np.asarray(X)]
        return np.repeat(np.array(seen, dtype=float)[:, None], len(self.targets_.names), axis=1)


@pytest.mark.parametrize("folds", [1, 2, 5])
def test_no_row_is_scored_by_an_estimator_that_saw_it(folds):
    part = table(stories())
    y = TrainingLabels.of(part, TREE).y
    splits = held_out_splits(y, folds, seed=0)
    held = hold_out(partial(Rote, TREE), part.X, y, TREE, splits)
    assert (held.scores == 0).all()
    assert sorted(held.rows) == sorted(set(held.rows.tolist()))
    assert len(held.rows) == (60 if folds > 1 else len(splits[0][1]))
    assert (TREE.encode([part.labels[i] for i in held.rows]) != held.Y).nnz == 0
    everything = np.arange(60)
    cheating = hold_out(partial(Rote, TREE), part.X, y, TREE, [(everything, everything)])
    assert (cheating.scores == 1).all()  # the check can fail


def test_the_model_is_fitted_last_on_all_rows(monkeypatch):
    steps, sizes, fit = [], [], linnaeus.FlatSVM.fit
    monkeypatch.setattr(
        linnaeus.FlatSVM, "fit", lambda self, X, y: sizes.append(X.shape[0]) or fit(self, X, y)
    )
    train(table(stories()), TREE, "svm", folds=3, step=lambda *told: steps.append(told))
    assert [what for what, _, _ in steps] == ["features", *["held-out scores"] * 3, "fit"]
    done = [k / total for _, k, total in steps]
    assert done == sorted(done) and done[-1] < 1
    assert sizes[-1] == 60 and sum(sizes[:-1]) == 2 * 60


# -- mistakes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "smv"}, r"'smv' is not known \(did you mean 'svm'\?\)"),
        ({"parameters": {"c": 3}}, r"no parameter 'c' \(did you mean 'C'\?\)"),
        ({"parameters": {"C": "abc"}}, "'C' of 'svm' is 'abc', where a number is needed"),
        ({"parameters": {"C": True}}, "'C' of 'svm' is True, where a number is needed"),
        ({"parameters": {"C": -1}}, "C is -1. It must be a positive number"),
        ({"parameters": {"max_iter": 0}}, "max_iter is 0. It must be a positive whole number"),
        (
            {"parameters": {"loss": "hing"}},
            "loss='hing' is not known .did you mean 'hinge'.*Use 'squared_hinge'",
        ),
        ({"parameters": {"dtype": "int8"}}, "int8"),
        ({"parameters": {"n_jobs": "x"}}, "'n_jobs' of 'svm' is 'x', where a number"),
        ({"rule": "scutt"}, r"did you mean 'scut'\?"),
        ({"rule": "own", "rule_parameters": {"k": 1}}, "'own' takes no parameters"),
        ({"features": "table"}, "made of a table, but the examples are texts"),
        ({"feature_parameters": {"min_df": 1000}}, "No word is left with min_df=1000"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(UserError, match=message):
        train(stories(), TREE, **options)


def test_nothing_to_learn_from():
    with pytest.raises(UserError, match="no training rows"):
        train(stories(0), TREE)
    with pytest.raises(UserError, match="None of the 60 training rows has a label"):
        train(stories(labels=lambda _: []), TREE)


def test_unsuited_data_are_refused_before_any_work(monkeypatch):
    def work(*_):
        raise AssertionError("features were made")

    monkeypatch.setattr("linnaeus.model.training._featured", work)
    with pytest.raises(UserError, match="'msvm' does not suit the data: rows have several labels"):
        train(stories(), TREE, "msvm")
    with pytest.raises(UserError, match="'hm3' does not suit the data: nodes have several parents"):
        train(stories(), DAG, "hm3")
    with pytest.raises(UserError, match="'scutt' is not known"):
        train(stories(), TREE, rule="scutt")
