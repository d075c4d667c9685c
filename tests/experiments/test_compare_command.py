"""The workflow and the command: from a folder to a table and a report."""

import json

import pytest
import typer
from typer.testing import CliRunner

from linnaeus.cli.compare import compare as command
from linnaeus.errors import UserError
from linnaeus.io import write_jsonl
from linnaeus.synthetic import newsroom
from linnaeus.workflow.comparing import compare, write_evaluation

app = typer.Typer()
app.command()(command)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A collection with a training and a test part."""
    path = tmp_path_factory.mktemp("news")
    data = newsroom(150, 50, random_state=0)
    data.taxonomy.write(path / "taxonomy.tsv")
    write_jsonl(data.train, path / "train.jsonl")
    write_jsonl(data.test, path / "test.jsonl")
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_a_table_a_verdict_and_where_the_report_is(folder, tmp_path):
    target = tmp_path / "out.html"
    done = run(folder, "-m", "svm,logistic, msvm", "--rule", "zero", "-p", "C=1", "-o", target)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert " is best in micro F1 (" in lines[0]
    at = next(i for i, line in enumerate(lines) if "150 rows to learn from, 50 to be" in line)
    assert lines[at + 1].split()[0] == "method" and lines[at + 2].split()[0] in ("svm", "logistic")
    assert "always the same" in lines[at + 4] and "paired bootstrap" in done.stdout
    assert "msvm: The method 'msvm' does not suit the data" in done.stdout
    assert f"The report is in {target}." in done.stdout.replace("\n", "")
    assert "linnaeus compare" in target.read_text(encoding="utf-8")


def test_json_for_machines(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(folder, "-m", "svm", "--folds", "2", "--rule", "zero", "--json")
    found = json.loads(done.stdout)
    assert found["setting"]["folds"] == 2
    assert found["report"] == "comparison.html" and (tmp_path / "comparison.html").exists()
    assert 0 < found["methods"]["svm"]["micro_f1"] < 1
    assert (
        "--folds 2" in found["setting"]["command"] and "--rule zero" in found["setting"]["command"]
    )


def test_no_report_where_none_is_wanted(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(folder, "-m", "svm", "--rule", "zero", "--no-report")
    assert done.exit_code == 0 and "The report" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_when_no_method_has_a_result_it_is_an_error(folder):
    done = run(folder, "-m", "msvm", "--no-report")
    assert isinstance(done.exception, UserError)
    assert "No method has a result; the reasons are above." in str(done.exception)
    assert "msvm: The method 'msvm' does not suit the data" in done.stdout


@pytest.mark.slow
def test_a_folder_without_a_test_part_is_divided_into_five(folder, tmp_path):
    for name in ("taxonomy.tsv", "train.jsonl"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    for data in (tmp_path, tmp_path / "train.jsonl"):
        done = compare(data, ["svm"], rule="zero", output=None)
        assert done.found.setting.folds == 5 and done.report is None
    with pytest.raises(UserError, match="has no part 'test'. It has: train"):
        compare(tmp_path, ["svm"], test=True, output=None)


def test_the_command_repeats_the_comparison(folder):
    done = compare(
        folder, ["svm"], rule="zero", parameters={"svm.C": 2.0, "loss": "hinge"}, output=None,
        feature_parameters={"ngram_range": [1, 2]}, seed=3,
    )  # fmt: skip
    words = done.found.setting.command
    assert words.startswith(f"linnaeus compare {folder} --methods svm --test -p svm.C=2 -p loss=")
    assert words.endswith("-f 'ngram_range=[1,2]' --rule zero --seed 3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 3, "test": True}, "Use --folds or --test"),
        ({"output": "no/such/folder/x.html"}, "There is no folder no/such/folder to write x.html"),
        ({"output": "."}, "is a folder, where the report is to be written. Name a file"),
    ],
)
def test_mistakes_show_before_the_work(folder, options, message):
    with pytest.raises(UserError, match=message):
        compare(folder, ["no-such-method"], **options)


def test_the_nearest_method_is_suggested(folder):
    done = run(folder, "-m", "svm,topdwon", "--no-report")
    assert "did you mean 'topdown'?" in str(done.exception)


def test_bad_rows_are_left_out_and_told(folder, tmp_path):
    for name in ("taxonomy.tsv", "test.jsonl"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    bad = '{"id": "bad", "text": "x", "labels": ["no such label"]}\n'
    (tmp_path / "train.jsonl").write_text((folder / "train.jsonl").read_text() + bad)
    done = compare(tmp_path, ["svm"], rule="zero", output=None, skip_bad=True)
    assert len(done.skipped) == 1 and "no such label" in done.skipped[0]


def test_one_model_has_the_same_report(folder, tmp_path):
    from linnaeus.workflow.evaluating import evaluate
    from linnaeus.workflow.training import train

    train(folder, tmp_path / "model", "svm", rule="zero")
    found = evaluate(tmp_path / "model", folder)
    write_evaluation(found, tmp_path / "r.html", model="model", data="news folder")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<title>Evaluation: news folder</title>" in text
    assert f"{found.report['micro_f1']:.4f}" in text
    assert "linnaeus evaluate model &#39;news folder&#39; --report" in text
