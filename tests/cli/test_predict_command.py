"""``linnaeus predict``: every format, in order, in little memory, whole or not at all."""

import csv
import gzip
import json
import subprocess
import sys

import pytest

from linnaeus import Taxonomy, load
from linnaeus.io import Part
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


def test_labels_are_the_most_specific_ones_where_whole_paths_were_taught(linnaeus, tmp_path):
    whole = stories(labels=lambda row: DAG.decode(DAG.closure(DAG.encode([row])))[0])
    model = train(whole, DAG, "svm", rule="zero")
    model.save(tmp_path / "model")
    assert linnaeus("predict", tmp_path / "model", "texts", "-o", tmp_path / "o.jsonl")[0] == 0
    found = records(tmp_path / "o.jsonl")
    assert [r["labels"] for r in found] == model.predict(NEW.texts)
    assert {label for r in found for label in r["labels"]} <= set(DAG.leaves)
    cats = [r for r in found if r["labels"] == ["cat"]]
    assert cats and all(r["paths"] == [["animal", "pet", "cat"]] for r in cats)
    code, out, _ = linnaeus("explain", tmp_path / "model", "--text", "purr mew", "--json")
    assert code == 0 and json.loads(out)["labels"] == ["cat"]


def test_formats_say_the_same(linnaeus, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    openpyxl = pytest.importorskip("openpyxl")
    names = ("a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv.gz", "a.xlsx", "a.parquet", "plain")
    for name in names:
        more = ["--format", "jsonl"] if name == "plain" else []
        code, _, err = linnaeus(
            "predict", "logistic", "texts", "-o", tmp_path / name, "--top", 2, *more
        )
        assert code == 0, err
        given = "'labels_given'" if "jsonl" in name or more else "'labels_predicted' for 'labels'"
        assert given in err
    rows = records(tmp_path / "a.jsonl")
    assert records(tmp_path / "a.jsonl.gz") == records(tmp_path / "plain") == rows
    assert [row["labels_given"] for row in rows] == NEW.labels
    stored = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["labels_predicted"] for row in stored] == [row["labels"] for row in rows]
    assert [row["ranking"] for row in stored] == [row["ranking"] for row in rows]
    with (tmp_path / "a.csv").open(newline="") as handle:
        cells = list(csv.DictReader(handle))
    with gzip.open(tmp_path / "a.tsv.gz", "rt") as handle:
        assert list(csv.DictReader(handle, delimiter="\t")) == cells
    header, *sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(values_only=True)
    assert list(header) == list(cells[0])
    assert [[str(v or "") for v in row[:4]] for row in sheet] == [
        list(c.values())[:4] for c in cells
    ]
    assert header[:4] == ("id", "text", "labels", "labels_predicted")
    for cell, row, text in zip(cells, rows, NEW.texts, strict=True):
        assert (cell["id"], cell["text"]) == (row["id"], text)
        assert [label for label in cell["labels_predicted"].split("|") if label] == row["labels"]
        assert cell["paths"] == "|".join(" > ".join(path) for path in row["paths"])
        numbers = [float(s) for s in cell["scores"].split("|") if s]
        assert numbers == pytest.approx(row["scores"], rel=1e-5)
        assert len(cell["ranking"].split("|")) == 2


TITLED = Taxonomy.from_paths(["Küche > Töpfe", "Küche > Messer", "Garten > Bank"], sep=" > ")


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A model whose labels are paths, and a table of new rows with awkward cells."""
    top = tmp_path_factory.mktemp("shop")
    words = {"Küche > Töpfe": "deckel kochen", "Küche > Messer": "klinge scharf"}
    words["Garten > Bank"] = "holz sitzen"
    labels = [[label] for label in words] * 8
    texts = [f"{words[label]} {i}" for i, (label,) in enumerate(labels)]
    part = Part(labels, [str(i) for i in range(24)], texts=texts)
    train(part, TITLED, "logistic").save(top / "model")
    (top / "new.csv").write_text(
        "Artikel;Preis;Beschreibung;level_1\n007;12.50;deckel kochen;=1+1\n008;9;scharf\x07e;x\n"
    )
    return top


def test_columns_are_kept_and_titles_make_the_paths(linnaeus, shop, tmp_path):
    asked = ("--text", "Beschreibung", "--by-level", "--min-confidence", 0.5)
    target = tmp_path / "o.csv"
    code, _, err = linnaeus("predict", shop / "model", shop / "new.csv", "-o", target, *asked)
    assert code == 0 and "'level_1_predicted' for 'level_1'" in err
    with target.open(newline="", encoding="utf-8") as handle:
        first, second = csv.DictReader(handle)
    assert list(first)[:5] == ["id", "Artikel", "Preis", "Beschreibung", "level_1"]
    assert [first[c] for c in ("Artikel", "Preis", "level_1")] == ["007", "12.50", "=1+1"]
    assert first["labels"] == "Küche > Töpfe" and first["titles"] == "Töpfe"
    assert first["paths"] == "Küche > Töpfe" and second["paths"].count("Küche") <= 1
    assert (first["level_1_predicted"], first["level_2"]) == ("Küche", "Töpfe")
    assert first["review"] in ("true", "false")
    target = tmp_path / "o.jsonl"
    assert linnaeus("predict", shop / "model", shop / "new.csv", "-o", target, *asked)[0] == 0
    record = records(target)[0]
    assert record["paths"] == [["Küche", "Töpfe"]] and record["level_1_given"] == "=1+1"
    assert record["level_1"] == ["Küche"] and record["Artikel"] == "007"


def test_sheets_hold_texts_as_texts(linnaeus, shop, tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    asked = ("predict", shop / "model", shop / "new.csv", "-o", tmp_path / "o.xlsx")
    asked = (*asked, "--text", "Beschreibung")
    assert linnaeus(*asked)[0] == 0
    header, first, second = openpyxl.load_workbook(tmp_path / "o.xlsx").active.iter_rows()
    cells = dict(zip((c.value for c in header), zip(first, second, strict=True), strict=True))
    assert [c.value for c in cells["Artikel"]] == ["007", "008"]
    assert [c.value for c in cells["Preis"]] == ["12.50", 9]
    assert (cells["level_1"][0].value, cells["level_1"][0].data_type) == ("=1+1", "s")
    assert cells["Beschreibung"][1].value == "scharfe"
    monkeypatch.setattr("linnaeus.io.predictions.MOST_ROWS", 1)
    (tmp_path / "o.xlsx").unlink()
    code, _, err = linnaeus(*asked)
    assert code == 1 and "Write a .csv" in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_nodes_are_found_by_title(linnaeus, shop):
    code, out, _ = linnaeus("explain", shop / "model", "--node", "töpfe", "--json")
    assert code == 0 and json.loads(out)["node"] == "Küche > Töpfe"
    asked = ("explain", shop / "model", "--text", "deckel kochen", "--json", "--why-not")
    code, out, _ = linnaeus(*asked, "Bank")
    found = json.loads(out)
    assert code == 0 and found["labels"] == ["Küche > Töpfe"]
    assert "Garten > Bank" in [node["node"] for node in found["nodes"]]
    code, _, err = linnaeus(*asked, "Mesers")
    assert code == 1 and "did you mean 'Küche > Messer' (Messer)?" in " ".join(err.split())


def test_fields_that_come_late_and_types_are_kept(linnaeus, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"text": "purr"}, {"text": "bark", "n": 3, "more": {"a": [1]}, "x": 0.1234567891}]
    (tmp_path / "new.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for name in ("o.csv", "o.parquet"):
        assert linnaeus("predict", "svm", tmp_path / "new.jsonl", "-o", tmp_path / name)[0] == 0
    found = parquet.read_table(tmp_path / "o.parquet").to_pylist()
    assert [row["n"] for row in found] == [None, 3] and found[1]["x"] == 0.1234567891
    with (tmp_path / "o.csv").open(newline="") as handle:
        cells = list(csv.DictReader(handle))
    found_cells = [cells[1][c] for c in ("id", "n", "more", "x")]
    assert found_cells == ["1", "3", '{"a": [1]}', "0.1234567891"]
    assert linnaeus("predict", "svm", tmp_path / "o.parquet", "-o", tmp_path / "p.parquet")[0] == 0
    again = parquet.read_table(tmp_path / "p.parquet").to_pylist()
    assert [row["n"] for row in again] == [None, 3]
    assert again[0]["labels"] == again[0]["labels_predicted"] == found[0]["labels"]


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
    given = [[r.pop("labels_given") for r in records(tmp_path / f"{name}.jsonl")] for name in "ab"]
    assert given == [[None] * 20, ["|".join(row) or None for row in NEW.labels]]
    bare, labelled = (records(tmp_path / f"{name}.jsonl") for name in "ab")
    for a, b in zip(bare, labelled, strict=True):
        assert a | {"labels_given": b["labels_given"]} == b
    target = tmp_path / "c.jsonl"
    assert linnaeus("predict", "tables", "table", "-o", target, "--rule", "argmax")[0] == 0
    assert all(len(row["labels"]) == 1 for row in records(target))


def test_a_bad_row_at_the_end_leaves_no_file(linnaeus, tmp_path):
    source = tmp_path / "rows.jsonl"
    write_jsonl(stories(3000), source)
    with source.open("a") as handle:
        handle.write("no json\n")
    for name in ("out.jsonl", "out.csv.gz", "out.xlsx", "out.parquet"):
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
        ("out.xlsx.gz", ".xlsx is compressed already"),
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
