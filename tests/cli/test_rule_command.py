"""``linnaeus rule``: rules are listed and changed; nothing is trained again."""

import json
import shutil

import pytest

from linnaeus import load
from linnaeus.decisions.rules import RULES
from linnaeus.model import train
from small_data import TREE, stories, write_folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder of data, and two models."""
    top = tmp_path_factory.mktemp("rule")
    write_folder(top / "data")
    train(stories(), TREE, "svm").save(top / "model")
    train(stories(several=False), TREE).save(top / "one")
    return top


@pytest.fixture
def place(trained, tmp_path, monkeypatch):
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_rules_are_listed_with_what_they_reached(linnaeus, place):
    code, out, _ = linnaeus("rule", "model")
    assert code == 0 and "→" in out and all(name in out for name in RULES)
    rows = json.loads(linnaeus("rule", "model", "--json")[1])
    assert [row["rule"] for row in rows] == ["own", *RULES]
    (chosen,) = [row for row in rows if row["chosen"]]
    assert chosen["rule"] == load("model").rule_name and 0 < chosen["micro_f1"] <= 1


def test_a_rule_is_changed_in_place_and_in_a_copy(linnaeus, place):
    texts, before = stories(20, seed=1).texts, load("model")
    code, out, _ = linnaeus("rule", "model", "rcut", "-p", "k=2", "-o", "copy")
    assert code == 0 and "copy now uses the rule rcut." in out
    assert all(len(row) == 2 for row in load("copy").predict(texts))
    assert load("model").predict(texts) == before.predict(texts)
    assert linnaeus("rule", "model", "argmax")[0] == 0
    after = load("model")
    assert after.rule_name == "argmax" and (after.scores(texts) == before.scores(texts)).all()
    rows = json.loads(linnaeus("rule", "model", "--json")[1])
    assert [row["rule"] for row in rows if row["chosen"]] == ["argmax"]
    assert rows[1]["micro_f1"]  # what they reached is still known


def test_a_rule_learns_from_examples(linnaeus, place):
    code, _, err = linnaeus("rule", "one", "scut")
    assert code == 1 and "learns from held-out scores" in " ".join(err.split())
    code, _, _ = linnaeus("rule", "one", "scut", "--data", "data", "--part", "test")
    assert code == 0 and load("one").rule_name == "scut"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "nope"], "The rule 'nope' is not known. Use one of: own, argmax"),
        (["model", "scut", "-p", "flor=2"], "did you mean 'floor'?"),
        (["model", "scut", "-p", "floor=abc"], "is 'abc', where a number is needed, such as 0.2"),
        (["model", "rcut", "-p", "k=0"], "k is 0. It must be a positive whole number"),
        (["model", "rcut", "-p", "k=2.5"], "k is 2.5. It must be a positive whole number"),
        (["model", "own", "-p", "k=1"], "'own' takes no parameters"),
        (
            ["model", "zero", "-o", "data"],
            "holds taxonomy.tsv, test.jsonl, train.jsonl and no model",
        ),
        (["model", "zero", "-o", "no/where"], "There is no folder"),
        (["one", "scut", "--data", "data"], "data has no part 'valid'"),
        (["data", "zero"], "The folder data is no model"),
        (["data"], "The folder data is no model"),
    ],
)
def test_a_mistake_changes_nothing(linnaeus, place, arguments, message):
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    code, out, err = linnaeus("rule", *arguments)
    assert code == 1 and out == "" and message in " ".join(err.split())
    assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before
