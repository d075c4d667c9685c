"""``linnaeus evaluate``: the numbers, and how models and data that do not fit are refused."""

import json
import shutil
from pathlib import Path

import pytest

from linnaeus.metrics import evaluate
from linnaeus.model import train
from small_data import TREE, stories, table, write_csv, write_folder, write_jsonl


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Models of texts, of a table and of one label a row, beside their data."""
    top = tmp_path_factory.mktemp("evaluate")
    write_folder(top / "texts")
    write_folder(top / "table", kind="table")
    write_folder(top / "one", several=False)
    train(stories(), TREE, "svm").save(top / "m-texts")
    train(table(stories()), TREE, "svm").save(top / "m-table")
    train(stories(several=False), TREE).save(top / "m-one")
    write_jsonl(stories(labels=lambda _: []), top / "bare.jsonl")
    write_jsonl(stories(3, labels=lambda _: ["cta"]), top / "unknown.jsonl")
    write_csv(table(stories()), top / "label.csv", "label")
    turned = table(stories())
    names = turned.feature_names[::-1]
    write_csv(type(turned)(turned.labels, turned.ids, X=turned.X, feature_names=names),
              top / "turned.csv")  # fmt: skip
    (top / "wide.svm").write_text("0 1:2 99:1\n")
    (top / "empty.jsonl").write_text("")
    return top


@pytest.fixture(autouse=True)
def inside(place, monkeypatch):
    monkeypatch.chdir(place)


def test_the_numbers_are_those_of_the_library(linnaeus):
    code, out, _ = linnaeus("evaluate", "m-texts", "texts", "--json")
    model, test = train(stories(), TREE, "svm"), stories(20, seed=1)
    expected = evaluate(test.labels, model.predict(test.texts), TREE)
    found = json.loads(out)
    assert code == 0 and found["rows"] == 20 and found["rule"] == model.rule_name
    for name in ("micro_f1", "macro_f1", "hierarchical_f1", "zero_one_loss"):
        assert found[name] == pytest.approx(expected[name])
    assert [level["depth"] for level in found["levels"]] == [0, 1]


def test_a_part_a_file_and_another_rule(linnaeus):
    whole = linnaeus("evaluate", "m-texts", "texts", "--json")
    assert linnaeus("evaluate", "m-texts", "texts/test.jsonl", "--json") == whole
    code, out, _ = linnaeus("evaluate", "m-texts", "texts", "--part", "train", "--json")
    assert code == 0 and json.loads(out)["rows"] == 60
    code, out, _ = linnaeus("evaluate", "m-texts", "texts", "--rule", "argmax", "--json")
    found = json.loads(out)
    assert found["rule"] == "argmax" and found["predicted_per_row"] == 1
    code, out, _ = linnaeus("evaluate", "m-texts", "texts")
    assert code == 0 and "micro F1" in out and "depth" in out


def test_the_verdict_comes_first_with_baseline_and_intervals(linnaeus):
    found = json.loads(linnaeus("evaluate", "m-texts", "texts", "--json")[1])
    for name in ("micro_f1", "macro_f1", "hierarchical_f1", "zero_one_loss", "au_prc"):
        low, high = found["intervals"][name]
        assert 0 <= low <= high <= 1
        assert low <= found[name] <= high or name == "macro_f1"  # small classes bend it
    assert found["baseline"]["micro_f1"] < found["micro_f1"]
    assert found["coverage"]["points"][-1]["kept"] == 1.0
    code, out, _ = linnaeus("evaluate", "m-one", "one")
    assert code == 0 and "of 20 rows get the right label" in out.splitlines()[0]
    assert "Always answering" in out.splitlines()[0] and "always the same" in out
    assert "min confidence" in out


def test_rows_of_the_training_data_are_told(linnaeus):
    code, out, err = linnaeus("evaluate", "m-texts", "texts", "--part", "train", "--json")
    found = json.loads(out)["seen_in_training"]
    assert code == 0 and found["rows"] == found["of"] == 60 and found["without"] is None
    assert "60 of 60 rows were in the training data" in err
    parts = (Path("texts", f"{part}.jsonl").read_text() for part in ("train", "test"))
    Path("both.jsonl").write_text("".join(parts))
    code, out, err = linnaeus("evaluate", "m-texts", "both.jsonl", "--json")
    found = json.loads(out)["seen_in_training"]
    assert 60 <= found["rows"] < found["of"] == 80
    assert found["without"]["rows"] == 80 - found["rows"]
    assert f"{found['rows']} of 80 rows were in the training data; without them" in err


def test_sweep_and_plot(linnaeus, tmp_path):
    plot = tmp_path / "x.png"
    code, out, _ = linnaeus("evaluate", "m-texts", "texts", "--sweep", "--plot", plot)
    assert code == 0 and "threshold" in out and f"The picture is in {plot}." in out
    assert plot.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m-texts", "table"], "trained on texts, but table/test.csv holds a table of features"),
        (["m-table", "texts"], "trained on a table of features, but texts/test.jsonl holds texts"),
        (["m-table", "wide.svm"], "is not a node of the taxonomy"),
        (["m-texts", "bare.jsonl"], "bare.jsonl: no row has a label, so there is nothing to"),
        (["m-texts", "unknown.jsonl"], "line 1: the label 'cta' is not a node of the taxonomy"),
        (["m-texts", "empty.jsonl"], "empty.jsonl: there are no rows"),
        (["m-texts", "nowhere"], "There is no file or folder nowhere"),
        (["m-texts", "texts", "--part", "tst"], "texts has no part 'tst': looked for tst.*"),
        (["m-texts", "texts", "--part", "valid"], "It holds: taxonomy.tsv, test.jsonl, train"),
        (["m-texts", "m-texts"], "m-texts has no part 'test'"),
        (["m-texts", "texts", "--rule", "scutt"], "did you mean 'scut'?"),
        (["m-one", "one", "--rule", "scut"], "learns from held-out scores, and this model keeps"),
        (["m-text", "texts"], "There is no model m-text (did you mean 'm-texts'?)"),
        (["texts", "texts"], "The folder texts is no model: it holds taxonomy.tsv"),
        (["texts/test.jsonl", "texts"], "test.jsonl is a file; a model is a folder"),
        (["m-texts/model.json", "texts"], "Did you mean the folder m-texts?"),
        (["m-texts", "texts", "--plot", "nowhere/x.png"], "nowhere"),
        (["m-texts", "texts", "--report", "nowhere/x.html"], "nowhere"),
    ],
)
def test_a_mistake_is_one_message(linnaeus, arguments, message):
    code, out, err = linnaeus("evaluate", *arguments)
    assert code == 1 and out == ""
    assert message in " ".join(err.split()) and "Traceback" not in err


def test_bad_rows_can_be_left_out(linnaeus, tmp_path):
    rows = tmp_path / "rows.jsonl"
    write_jsonl(stories(5), rows)
    rows.write_text(rows.read_text() + '{"text": "x", "labels": ["cta"]}\nno json\n')
    code, out, err = linnaeus(
        "evaluate", "m-texts", rows, "--skip-bad", "--most-bad", 0.3, "--json"
    )
    assert code == 0 and json.loads(out)["rows"] == 5 and "Skipped 2 bad rows" in err


@pytest.mark.parametrize("file", ["model.json", "arrays.safetensors", "vocabulary.json"])
def test_a_model_that_was_changed_is_refused(linnaeus, tmp_path, file):
    broken = tmp_path / "model"
    shutil.copytree("m-texts", broken)
    content = bytearray((broken / file).read_bytes())
    content[len(content) // 2] ^= 1
    (broken / file).write_bytes(content)
    code, out, err = linnaeus("evaluate", broken, "texts")
    assert code == 1 and out == "" and file in err and "train it again" in " ".join(err.split())


def test_an_estimator_alone_is_no_model(linnaeus, tmp_path):
    part = table(stories())
    train(part, TREE, "svm").estimator.save(tmp_path / "alone")
    code, _, err = linnaeus("evaluate", tmp_path / "alone", "table")
    assert code == 1 and "holds a FlatSVM without features and decision rule" in err


def test_a_picture_is_of_the_kind_that_its_name_says(linnaeus):
    assert linnaeus("evaluate", "m-texts", "texts", "--plot", "p.svg")[0] == 0
    assert "<svg" in Path("p.svg").read_text()
    code, _, err = linnaeus("evaluate", "m-texts", "texts", "--plot", "p.nix")
    assert code == 1 and ".png, .svg, .pdf" in err and not Path("p.nix").exists()
