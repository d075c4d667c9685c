"""``linnaeus tune`` by exit code and text."""

import json

import pytest

from linnaeus import load
from linnaeus.io import write_jsonl
from linnaeus.synthetic import newsroom
from linnaeus.workflow.tuning import by_hand, journal_path

SMALL = ("--grid", "C=1,10", "--grid", "rule=zero,instance", "--folds", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, news = tmp_path_factory.mktemp("news"), newsroom(100, 20)
    news.taxonomy.write(folder / "taxonomy.tsv")
    write_jsonl(news.train, folder / "train.jsonl")
    return folder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_table_and_the_choice_are_printed(linnaeus, folder, tmp_path):
    code, out, err = linnaeus("tune", folder, "--method", "svm", *SMALL)
    assert code == 0, err
    assert "up to 4 fits in 2 units of work" in err
    assert "micro f1" in out and "Chosen" in out and "Gain" in out
    assert f"linnaeus train {folder} -o MODEL --method svm -p C=" in out
    assert not list(tmp_path.iterdir())  # no model, no journal


def test_the_model_is_written_and_its_command_makes_the_same(linnaeus, folder, tmp_path):
    code, out, _ = linnaeus("tune", folder, "-o", "model", "--method", "svm", *SMALL, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["path"] == "model" and len(found["table"]) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    model = load("model")
    assert model.about["tuning"]["best"] == found["best"] and model.rule_name == found["rule"]
    command = found["command"].split()[1:]
    command[command.index("-o") + 1] = "again"
    assert linnaeus(*command)[0] == 0
    texts = newsroom(100, 20).test.texts
    assert load("again").predict(texts) == model.predict(texts)


def test_a_named_journal_is_kept_and_taken_up(linnaeus, folder, tmp_path):
    ask = ("tune", folder, "-m", "svm", *SMALL, "--journal", "mine")
    assert linnaeus(*ask)[0] == 0 and (tmp_path / "mine").exists()
    code, out, err = linnaeus(*ask)
    assert code == 0 and "Resumed: 2 of 2 units done." in err and "2 units resumed" in out
    code, _, err = linnaeus(*ask, "--seed", 1)
    assert code == 1 and "another search: seed differ" in err and "--fresh" in err
    assert linnaeus(*ask, "--seed", 1, "--fresh")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--grid", "C"), "is not written name=value,value"),
        (("--grid", "Cs=1"), "names 'Cs'"),
        (("--grid", "C=0"), "C is 0. It must be a positive number"),
        (("--metric", "f1"), "The metric 'f1' is not known"),
        (("--method", "svn"), "did you mean 'svm'"),
        (("--rule", "scut"), "No such option"),
    ],
)
def test_mistakes_are_one_message_and_exit_code_1(linnaeus, folder, tmp_path, arguments, message):
    code, out, err = linnaeus("tune", folder, "--method", "svm", *arguments)
    assert (code, out) == (1, "") and message in err and "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_where_the_journal_is():
    assert str(journal_path("some/data", "a/model")) == "a/model.tune.jsonl"
    assert str(journal_path("some/data", None)) == "data.tune.jsonl"


def test_commands_are_quoted():
    from linnaeus.experiments import Tuned

    row = {"features": {"ngram_range": [1, 2], "stop_words": None}, "parameters": {"loss": "a b"},
           "C": 0.3, "rule": "scut"}  # fmt: skip
    found = Tuned("svm", "", "words", {"x": "1"}, {}, "micro_f1", 3, 5, 1, 0, 0.0, [row], None)
    assert by_hand(found, "my data", None) == (
        "linnaeus train 'my data' -o MODEL --method svm -p 'x=\"1\"' -p 'loss=a b' -p C=0.3 "
        "--features words -f 'ngram_range=[1,2]' -f stop_words=null --rule scut --seed 5"
    )


def test_the_same_search_writes_the_same_files(linnaeus, folder, tmp_path):
    ask = ("tune", folder, "--method", "svm", "--grid", "C=1,10", "--grid", "rule=zero")
    written = []
    for target in ("one", "two"):
        assert linnaeus(*ask, "--folds", "2", "-o", target)[0] == 0
        written.append({file.name: file.read_bytes() for file in (tmp_path / target).iterdir()})
    told = [json.loads(files.pop("made.json"))["seconds"] for files in written]
    assert written[0] == written[1]
    assert told[0].keys() == told[1].keys()
    assert load("one").about["tuning"]["seconds"] == told[0]["model/about/tuning/seconds"]
