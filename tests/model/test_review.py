"""Odd data and honest words: what a user meets at the edges of training."""

import json
import shlex

import pytest

from linnaeus import Taxonomy, load
from linnaeus.cli.options import parse_parameters
from linnaeus.errors import UserError
from linnaeus.experiments import tune
from linnaeus.io.collection import Part
from linnaeus.metrics.counts import VALUES
from linnaeus.model import Answers, train
from linnaeus.model.methods import write_parameters
from linnaeus.synthetic import newsroom
from small_data import write_folder

TREE = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
TEXTS = ["purr", "bark", "leaf", "purr bark", "leaf acorn", "purr mouse"]
NEWS = newsroom(150, 20, random_state=0)


def part_of(labels):
    return Part(labels, [str(i) for i in range(len(labels))], texts=TEXTS[: len(labels)])


def test_repeated_labels_are_not_taken_for_paths():
    labels = [["cat", "cat"], ["dog", "dog"], ["oak", "oak"], ["cat", "dog", "dog"]]
    model = train(part_of([*labels, ["oak", "oak"], ["cat", "cat"]]), TREE, "svm", rule="zero")
    assert model.predict(["purr"]) == [["cat"]]


def test_one_path_a_row_is_answered_by_its_end():
    labels = [["animal", "cat"], ["animal", "dog"], ["plant", "oak"]]
    model = train(part_of(labels), TREE, "svm")
    assert model.rule_name == "own"
    assert model.predict(TEXTS[:3]) == [row[-1:] for row in labels]


@pytest.mark.parametrize("rule", ["auto", "zero", "own"])
def test_one_row_with_several_labels(rule):
    model = train(part_of([["cat", "oak"]]), TREE, "svm", rule=rule)
    assert model.rule_name == ("own" if rule == "auto" else rule)
    assert model.predict(["purr"]) == [["cat", "oak"]]
    assert model.about["metrics"] == {} and model.held_out is None


def test_one_row_is_too_little_for_a_rule_that_learns():
    with pytest.raises(UserError, match="'scut' learns from held-out scores, and this model"):
        train(part_of([["cat", "oak"]]), TREE, "svm", rule="scut")


def test_names_of_different_kinds():
    tax = Taxonomy.from_edges([("animal", 1), ("animal", "dog"), (2, "oak")])
    labels = [[1], ["dog"], ["oak"]]
    assert train(part_of(labels), tax, "svm").predict(TEXTS[:3]) == labels


def test_the_metrics_of_the_rule_are_kept(tmp_path):
    model = train(NEWS.train, NEWS.taxonomy, "svm")
    chosen = next(line for line in model.about["rule"]["table"] if line["chosen"])
    assert model.about["metrics"] == {key: chosen[key] for key in VALUES}
    model.save(tmp_path / "model")
    told = json.loads((tmp_path / "model" / "model.json").read_text(encoding="utf-8"))
    assert told["about"]["metrics"] == model.about["metrics"]
    assert told["taxonomy"]["digest"] == NEWS.taxonomy.digest()
    assert {"format_version", "linnaeus"} <= told.keys()


def test_the_metrics_follow_the_rule():
    model = train(NEWS.train, NEWS.taxonomy, "svm")
    lines = {line["rule"]: line for line in model.about["rule"]["table"]}
    other = model.with_rule("rcut")
    assert other.about["metrics"]["micro_f1"] == lines["rcut"]["micro_f1"]
    assert model.with_rule("rcut", k=2).about["metrics"] == {}
    new = NEWS.test
    assert model.with_rule("rcut", new.texts, new.labels).about["metrics"] == {}
    assert model.with_rule("own").about["metrics"] == {}


def test_a_tuned_model_has_the_metrics_of_its_setting():
    found = tune(NEWS.train, NEWS.taxonomy, "svm", grid={"C": [1], "rule": ["zero"]}, folds=2)
    assert found.model.about["metrics"] == {key: found.best[key] for key in VALUES}


def test_parameters_that_were_set_for_the_data_are_told():
    model = train(part_of([["cat", "oak"], ["dog"], ["oak"]]), TREE, "hblr", rule="own")
    assert model.about["parameters"] == {"link": "binary"}


def test_parameters_are_written_as_they_are_read():
    values = {"C": 0.3, "text": "1", "word": "a b", "none": None, "pair": [1, 2], "flag": False}
    words = write_parameters("-p", values)
    assert set(words[::2]) == {"-p"} and parse_parameters(words[1::2]) == values
    assert write_parameters("-p", None) == []


def test_commands_that_are_told_repeat_the_work(linnaeus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = write_folder(tmp_path / "pets")
    (folder / "taxonomy.tsv").rename(tmp_path / "other.tsv")
    given = ("--taxonomy", tmp_path / "other.tsv", "--skip-bad", "-g", "C=1", "-g", "rule=zero")
    code, out, err = linnaeus("tune", folder, "-m", "svm", "--json", *given)
    assert code == 0, err
    words = shlex.split(json.loads(out)["command"])
    assert words[words.index("--taxonomy") + 1] == str(tmp_path / "other.tsv")
    assert "--skip-bad" in words
    assert linnaeus(*words[1:])[0] == 0
    asked = ("--part", "train", "--rule", "argmax", "--report", "r.html")
    assert linnaeus("evaluate", "MODEL", folder, *asked)[0] == 0
    assert "--part train --rule argmax --report" in (tmp_path / "r.html").read_text("utf-8")


def test_brackets_in_the_name_of_a_model_are_shown(linnaeus, tmp_path):
    folder = write_folder(tmp_path / "pets")
    target = tmp_path / "model[a]"
    code, out, _ = linnaeus("train", folder, "-o", target, "-m", "svm", "--rule", "zero")
    assert code == 0 and out.count("model[a]") == 2
    assert load(target).rule_name == "zero"


INNER = [["cat"], ["dog"], ["animal"], ["cat", "oak"], ["oak", "plant"], ["animal"]]


@pytest.mark.parametrize("whole", [False, True])
def test_an_inner_label_has_its_own_score_and_probability(whole):
    labels = TREE.decode(TREE.closure(TREE.encode(INNER))) if whole else INNER
    part = part_of(labels)
    model = train(part, TREE, "logistic", rule="zero")
    decided = model.with_rule("rcut", k=2)
    assert "animal" in model.columns and not model.closed
    scores, probabilities = decided.scores(TEXTS), decided.probabilities(TEXTS)
    seen = 0
    for i, record in enumerate(Answers(decided)(part)):
        for label, score, p in zip(
            record["labels"], record["scores"], record["probabilities"], strict=True
        ):
            below = [j for j, v in enumerate(model.columns) if label in TREE.ancestors(v)]
            above = any(label in TREE.ancestors(v) for v in record["labels"] if v != label)
            own = label in model.columns and not above
            j = model.columns.index(label) if own else max(below, key=lambda k: scores[i, k])
            assert score == pytest.approx(scores[i, j])
            assert p == (pytest.approx(probabilities[i, j]) if own else None)
            seen += own and label == "animal"
    assert seen


def test_scores_of_labels_are_lifted_in_reports_where_every_node_has_labels():
    from linnaeus.experiments import judge_model
    from linnaeus.metrics.sweep import sweep

    part = part_of([["cat"], ["dog"], ["animal"], ["plant"], ["oak"], ["cat", "oak"]])
    model = train(part, TREE, "svm", rule="zero")
    assert set(model.columns) == set(TREE.nodes) and not model.closed
    scores = model.scores(TEXTS)
    lifted, not_lifted = (
        sweep(part.labels, scores, TREE, model.columns, lifted=lifted).best["f1"]
        for lifted in (True, False)
    )
    found = judge_model(model, part).results[0].sweep
    assert found.best["f1"] == pytest.approx(lifted) != pytest.approx(not_lifted)
