"""``linnaeus predict``: every format, in order, in little memory, whole or not at all."""

import csv
import gzip
import json
import subprocess
import sys

import pytest

from linnaeus import load
from linnaeus.io import stream as reading
from linnaeus.model import train
from small_data import DAG, TREE, WORDS, stories, table, write_csv, write_folder, write_jsonl

NEW = stories(20, seed=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    top = tmp_path_factory.mktemp("predict")
    write_folder(top / "texts")
    write_folder(top / "table", kind="table")
    train(stories(), TREE, "svm", rule="zero").save(top / "svm")
    train(stories(), TREE, "logistic", rule="zero").save(top / "logistic")
    train(table(stories()), TREE, "svm", rule="zero").save(top / "tables")
    return top


@pytest.fixture(autouse=True)
def inside(place, monkeypatch):
    monkeypatch.chdir(place)


def records(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as handle:
        return [json.loads(line) for line in handle]


def test_every_row_as_the_model_has_it_in_order(linnaeus, tmp_path, monkeypatch):
    monkeypatch.setattr(reading.blocks, "__defaults__", (None, None, None, 7))  # several blocks
    code, out, _ = linnaeus("predict", "logistic", "texts", "-o", tmp_path / "out.jsonl", "-k", 3)
    assert code == 0 and out.startswith("20 rows in ")
    found, model = records(tmp_path / "out.jsonl"), load("logistic")
    scores, likely = model.scores(NEW.texts), model.probabilities(NEW.texts)
    assert [r["id"] for r in found] == NEW.ids
    assert [r["labels"] for r in found] == model.predict(NEW.texts)
    for i, record in enumerate(found):
        at = [model.columns.index(label) for label in record["labels"]]
        assert record["scores"] == pytest.approx(scores[i, at].tolist())
        assert record["probabilities"] == pytest.approx(likely[i, at].tolist())
        assert record["paths"] == [[TREE.parents(v)[0], v] for v in record["labels"]]
        best = sorted(range(4), key=lambda j, i=i: -scores[i, j])[:3]
        assert [r["label"] for r in record["ranking"]] == [model.columns[j] for j in best]


def test_whole_paths_are_scored_by_what_is_below(linnaeus, tmp_path):
    whole = stories(labels=lambda row: DAG.decode(DAG.closure(DAG.encode([row])))[0])
    train(whole, DAG, "svm", rule="zero").save(tmp_path / "model")
    assert linnaeus("predict", tmp_path / "model", "texts", "-o", tmp_path / "o.jsonl")[0] == 0
    cats = [r for r in records(tmp_path / "o.jsonl") if r["labels"] == ["animal", "pet", "cat"]]
    assert cats
    for record in cats:
        assert record["scores"][0] == record["scores"][1] == record["scores"][2] > 0
        assert record["paths"] == [["animal"], ["pet"], ["animal", "pet", "cat"]]


def test_formats_say_the_same(linnaeus, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    names = ("a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv.gz", "a.parquet", "plain")
    for name in names:
        more = ["--format", "jsonl"] if name == "plain" else []
        code, _, err = linnaeus(
            "predict", "logistic", "texts", "-o", tmp_path / name, "--top", 2, *more
        )
        assert code == 0, err
    rows = records(tmp_path / "a.jsonl")
    assert records(tmp_path / "a.jsonl.gz") == records(tmp_path / "plain") == rows
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == rows
    with (tmp_path / "a.csv").open(newline="") as handle:
        cells = list(csv.DictReader(handle))
    with gzip.open(tmp_path / "a.tsv.gz", "rt") as handle:
        assert list(csv.DictReader(handle, delimiter="\t")) == cells
    assert [row["id"] for row in cells] == [row["id"] for row in rows]
    for cell, row in zip(cells, rows, strict=True):
        assert [label for label in cell["labels"].split("|") if label] == row["labels"]
        assert cell["paths"] == "|".join(" > ".join(path) for path in row["paths"])
        numbers = [float(s) for s in cell["scores"].split("|") if s]
        assert numbers == pytest.approx(row["scores"], rel=1e-5)
        assert len(cell["ranking"].split("|")) == 2


def test_rows_below_the_confidence_are_marked_in_every_format(linnaeus, tmp_path):
    asked = ("predict", "svm", "texts", "--min-confidence", "0.7", "-o")
    code, out, _ = linnaeus(*asked, tmp_path / "a.jsonl")
    marked = [(r["confidence"], r["review"]) for r in records(tmp_path / "a.jsonl")]
    assert code == 0 and [sure < 0.7 for sure, _ in marked] == [review for _, review in marked]
    assert f"{sum(review for _, review in marked)} rows are marked for review" in out
    linnaeus(*asked, tmp_path / "a.csv")
    with open(tmp_path / "a.csv") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["review"] == "true" for row in rows] == [review for _, review in marked]
    assert float(rows[0]["confidence"]) == pytest.approx(marked[0][0], rel=1e-5)
    pq = pytest.importorskip("pyarrow.parquet")
    code, out, _ = linnaeus(*asked, tmp_path / "a.parquet", "--json")
    assert json.loads(out)["review"] == sum(review for _, review in marked)
    assert pq.read_table(tmp_path / "a.parquet").column("review").to_pylist() == [
        review for _, review in marked
    ]
    code, _, err = linnaeus("predict", "svm", "texts", "--min-confidence", "7", "-o", "a.csv")
    assert code and "--min-confidence" in err


def test_tables_unlabelled_rows_and_other_rules(linnaeus, tmp_path):
    part = table(NEW)
    bare = type(part)([[] for _ in part.ids], part.ids, X=part.X, feature_names=part.feature_names)
    write_csv(bare, tmp_path / "bare.csv")
    assert linnaeus("predict", "tables", tmp_path / "bare.csv", "-o", tmp_path / "a.jsonl")[0] == 0
    assert linnaeus("predict", "tables", "table", "-o", tmp_path / "b.jsonl")[0] == 0
    assert records(tmp_path / "a.jsonl") == records(tmp_path / "b.jsonl")
    target = tmp_path / "c.jsonl"
    assert linnaeus("predict", "tables", "table", "-o", target, "--rule", "argmax")[0] == 0
    assert all(len(row["labels"]) == 1 for row in records(target))


def test_a_bad_row_at_the_end_leaves_no_file(linnaeus, tmp_path):
    source = tmp_path / "rows.jsonl"
    write_jsonl(stories(3000), source)
    with source.open("a") as handle:
        handle.write("no json\n")
    for name in ("out.jsonl", "out.csv.gz", "out.parquet"):
        code, _, err = linnaeus("predict", "svm", source, "-o", tmp_path / name)
        assert code == 1 and "line 3001: malformed JSON" in err and "--skip-bad" in err
        assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
    target = tmp_path / "out.jsonl"
    code, out, err = linnaeus("predict", "svm", source, "-o", target, "--skip-bad", "--json")
    assert code == 0 and "Skipped 1 bad rows" in err
    told = json.loads(out)
    assert told["rows"] == len(records(target)) == 3000 and len(told["skipped"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["svm", "table"], "trained on texts, but table/test.csv holds a table of features"),
        (["tables", "texts"], "trained on a table of features, but texts/test.jsonl holds texts"),
        (["svm", "texts", "--top", "-1"], "--top"),
        (["svm", "texts", "--part", "valid"], "texts has no part 'valid'"),
        (["svm", "texts", "--format", "xml"], "Predictions cannot be written as 'xml'"),
        (["svm", "texts", "--rule", "scutt"], "did you mean 'scut'?"),
        (["svm", "nowhere"], "There is no file or folder nowhere"),
        (["texts", "texts"], "The folder texts is no model"),
    ],
)
def test_a_mistake_is_one_message_and_no_file(linnaeus, tmp_path, arguments, message):
    code, out, err = linnaeus("predict", *arguments, "-o", tmp_path / "out.jsonl")
    assert code == 1 and out == "" and message in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_sparse_rows_are_no_table(linnaeus, tmp_path):
    rows = tmp_path / "rows.svm"
    rows.write_text(" 1:2 99:1\n")
    code, _, err = linnaeus("predict", "tables", rows, "-o", tmp_path / "out.jsonl")
    assert code == 1 and "holds sparse features" in " ".join(err.split())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.xml", "cannot be written as 'xml'. Use a file name that ends in .jsonl, .csv"),
        ("out", "whose name says no format. Use a file name that ends in .jsonl"),
        ("no/where.jsonl", "There is no folder"),
    ],
)
def test_a_target_that_cannot_be(linnaeus, tmp_path, name, message):
    code, _, err = linnaeus("predict", "svm", "texts", "-o", tmp_path / name)
    assert code == 1 and message in " ".join(err.split())


MEASURE = """
import resource, sys
from linnaeus.workflow import predict
few, many, target = sys.argv[1:]
predict("svm", few, target)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(predict("svm", many, target).rows)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux")
def test_memory_does_not_grow_with_the_file(tmp_path):
    words = [" ".join(words) for words in WORDS.values()]
    for name, n in (("few", 5_000), ("many", 200_000)):
        with (tmp_path / f"{name}.jsonl").open("w") as handle:
            handle.writelines(f'{{"text": "{words[i % 4]}"}}\n' for i in range(n))
    arguments = [str(tmp_path / name) for name in ("few.jsonl", "many.jsonl", "out.jsonl")]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *arguments], capture_output=True, text=True, check=True
    )
    rows, grown = map(int, done.stdout.split())
    assert rows == 200_000
    assert grown < 8_000  # kB; the texts alone are 7 MB, their objects and records far more
