"""What every command prints as JSON fits its schema in `linnaeus/cli/schemas`."""

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from small_data import write_folder

FOLDER = files("linnaeus.cli").joinpath("schemas")
FILES = {file.name: json.loads(file.read_text()) for file in FOLDER.iterdir()}
REGISTRY = Registry().with_resources((name, Resource.from_contents(s)) for name, s in FILES.items())


def check(name, value):
    schema = FILES[f"{name}.json"]
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema, registry=REGISTRY).validate(value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("schemas") / "several")


@pytest.fixture
def answer(linnaeus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code, out, err = linnaeus(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return call


def test_train_evaluate_predict_rule_and_explain(answer, folder, tmp_path):
    for method, rule in (("svm", "auto"), ("logistic", "zero")):
        model = tmp_path / method
        check("train", answer("train", folder, "-o", model, "--method", method, "--rule", rule))
        check("evaluate", answer("evaluate", model, folder))
        swept = answer("evaluate", model, folder, "--sweep")
        check("evaluate", swept)
        assert {"micro_f1", "macro_f1", "hierarchical_f1", "zero_one_loss", "levels"} <= set(swept)
        done = answer("predict", model, folder, "-o", "out.jsonl", "--top", 2)
        check("predict", done)
        lines = (tmp_path / "out.jsonl").read_text().splitlines()
        assert len(lines) == done["rows"] == 20
        for line in lines:
            check("prediction", json.loads(line))
        assert ("probabilities" in json.loads(lines[0])) == (method == "logistic")
        check("monitor", answer("monitor", model, folder))
        check("rule", answer("rule", model))
        check("rule", answer("rule", model, "rcut", "-p", "k=2"))
        check("explain", answer("explain", model, "--text", "purr bark", "--why-not", "oak"))
        check("explain", answer("explain", model, "--node", "cat"))
        check("explain", answer("explain", model, "--node", "animal"))


def test_methods(answer):
    check("methods", answer("methods"))
    check("methods", answer("methods", "hblr"))


def test_compare_and_tune(answer, folder):
    asked = ("-m", "svm,logistic,msvm", "--rule", "zero", "--no-report")
    check("compare", answer("compare", folder, *asked))
    check("compare", answer("compare", folder, "-m", "svm,topdown", "--few", "1", "-r", 1))
    check("compare", answer("compare", folder, "-m", "svm,topdown", "--rankings", "--folds", 2))
    sets = ("--sets", "-m", "svm,topdown,msvm", "--cs", "1", "--cv", 2)
    check("compare", answer("compare", folder, *sets))
    grid = ("--grid", "C=1,10", "--grid", "rule=zero", "--folds", 2)
    check("tune", answer("tune", folder, "-m", "svm", *grid))


def test_check_and_split(answer, folder, tmp_path):
    check("check", answer("check", folder))
    check("split", answer("split", folder / "train.jsonl", "-o", tmp_path / "parts"))


def test_demo(answer, tmp_path):
    check("demo", answer("demo", "-n", 50))
    check("demo", answer("demo", "-n", 50, "--spreadsheet", tmp_path / "stories.csv"))


def test_taxonomy(answer, folder, tmp_path):
    file = folder / "taxonomy.tsv"
    for command in ("check", "stats", "show"):
        check(f"taxonomy-{command}", answer("taxonomy", command, file))
    check("taxonomy-convert", answer("taxonomy", "convert", file, tmp_path / "t.json"))
    check("taxonomy-learn", answer("taxonomy", "learn", folder, "-o", tmp_path / "learned.tsv"))


def test_import(answer, tmp_path):
    source = tmp_path / "challenge"
    source.mkdir()
    (source / "cat_hier.txt").write_text("1 2\n1 3\n")
    (source / "train.txt").write_text("2 1:0.1 5:2\n3 2:1\n")
    (source / "test.txt").write_text("2 9:1\n")
    done = answer("import", "lshtc", source, "-o", tmp_path / "folder")
    check("import", done)
    assert (done["edges"], done["related"]) == (2, 0)
    done = answer("import", "lshtc", source, "-o", tmp_path / "graph", "--graph")
    check("import", done)
    assert (done["edges"], done["related"]) == (0, 2)


def test_a_wrong_value_does_not_fit():
    with pytest.raises(Exception, match="'rows' is a required property"):
        check("predict", {"path": "x", "seconds": 1, "skipped": [], "rows_per_second": 1})
    with pytest.raises(Exception, match="'titles' is a required property"):
        check("prediction", {"id": "1", "labels": [], "paths": [], "scores": [], "more": 1})
