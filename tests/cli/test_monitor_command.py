"""``linnaeus monitor``: silent on rows like those of training, and loud on others."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import load
from linnaeus.io import Part, write_svm
from linnaeus.model import train
from linnaeus.model.profile import training_profile
from linnaeus.model.shift import Share, distance, share_p
from linnaeus.text import TfidfVectorizer
from small_data import COLUMNS, TREE, WORDS, stories, table, write_csv, write_jsonl


def bare(texts):
    """A part of texts without labels."""
    return Part([[] for _ in texts], [str(i) for i in range(len(texts))], texts=texts)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    top = tmp_path_factory.mktemp("monitor")
    train(stories(150, several=False), TREE, "svm").save(top / "texts")
    train(stories(150), TREE, "svm", rule="zero").save(top / "several")
    train(table(stories(150)), TREE, "svm", rule="zero").save(top / "table")
    write_jsonl(stories(100, several=False, seed=3), top / "same.jsonl")
    french = ["le chat et le chien sont dans la maison"] * 40
    write_jsonl(bare(french), top / "other.jsonl")
    cats = [text for text in stories(200, False, 4).texts if WORDS["cat"][0] in text]
    write_jsonl(bare(cats), top / "cats.jsonl")
    return top


@pytest.fixture
def told(linnaeus, place, monkeypatch):
    monkeypatch.chdir(place)

    def call(*arguments):
        code, out, err = linnaeus("monitor", *arguments, "--json")
        assert code == 0, err
        found = json.loads(out)
        found["changes"] = {figure["name"] for figure in found["figures"] if figure["changed"]}
        return found

    return call


def test_rows_of_the_same_kind_are_alike(told):
    found = told("texts", "same.jsonl")
    assert found["verdict"] == "The new rows look like the training rows."
    assert not found["changed"] and found["changes"] == set() and found["rows"] == 100
    assert found["quality"]["rows"] == 100 and found["quality"]["micro_f1"] > 0.8


def test_other_words_are_told_with_the_words(told, linnaeus, tmp_path):
    found = told("texts", "other.jsonl", "--html", tmp_path / "page.html")
    assert {"unknown", "languages"} <= found["changes"] and found["quality"] is None
    assert "100% of the words are unknown (0% in training)" in found["verdict"]
    assert found["verdict"].endswith(": retrain soon.")
    assert {"word": "chat", "rows": 40} in found["words"]
    assert "words are unknown" in (tmp_path / "page.html").read_text("utf-8")
    code, out, _ = linnaeus("monitor", "texts", "other.jsonl")
    assert code == 0 and out.startswith(found["verdict"])


def test_falling_confidence(told):
    found = told("several", "other.jsonl", "--min-confidence", 0.6)
    assert {"confidence", "unsure"} <= found["changes"]
    sure = next(figure for figure in found["figures"] if figure["name"] == "confidence")
    assert sure["new"] < sure["training"] - 0.05 and sure["p"] < 0.001


def test_the_same_training_gives_the_same_files(place, tmp_path):
    train(stories(150, several=False), TREE, "svm").save(tmp_path / "again")
    for name in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (place / "texts" / name).read_bytes()


def test_shifted_labels_are_named(told):
    found = told("texts", "cats.jsonl")
    assert {"top_labels", "labels"} <= found["changes"] and "unknown" not in found["changes"]
    assert found["labels"][0]["title"] == "animal" and "above all animal from" in found["verdict"]


def test_empty_texts_and_few_rows(told, place, tmp_path):
    same = stories(60, several=False, seed=5)
    texts = ["" if i % 3 == 0 else text for i, text in enumerate(same.texts)]
    write_jsonl(bare(texts), tmp_path / "holes.jsonl")
    assert "empty" in told("texts", tmp_path / "holes.jsonl")["changes"]
    write_jsonl(bare(["x y z"] * 3), tmp_path / "few.jsonl")
    found = told("texts", tmp_path / "few.jsonl")
    assert found["verdict"].startswith("3 rows are too few to tell") and not found["changed"]


def test_columns_that_moved_and_have_holes(told, place, tmp_path):
    part = table(stories(80, seed=6))
    write_csv(part, tmp_path / "same.csv")
    assert "columns" not in told("table", tmp_path / "same.csv")["changes"]
    part.X[:, 0] += 5.0
    part.X[::2, 1] = np.nan
    write_csv(part, tmp_path / "moved.csv")
    found = told("table", tmp_path / "moved.csv")
    first, second = found["columns"][:2]
    assert first["changed"] and first["outside"] > 0.9 and first["shift"] > 2
    assert second["changed"] and second["missing"] == 0.5
    assert (
        f"{COLUMNS[0]}: " in found["verdict"] and sum(c["changed"] for c in found["columns"]) == 2
    )


def test_unknown_sparse_features(told, tmp_path):
    part = table(stories(100))
    rows = sp.csr_array(part.X.round())
    known = sp.csr_array((rows.data, rows.indices, rows.indptr), (100, 20))
    train(Part(part.labels, part.ids, X=known), TREE, "svm", rule="zero").save(tmp_path / "model")
    write_svm(Part([[]] * 100, part.ids, X=known), tmp_path / "same.svm", TREE)
    found = told(tmp_path / "model", tmp_path / "same.svm")
    assert "unknown" not in found["changes"]
    assert "84 of 100 rows were in the training data" in found["notes"]  # the others are empty
    moved = sp.csr_array((rows.data, rows.indices + 13, rows.indptr), (100, 30))
    write_svm(Part([[]] * 100, part.ids, X=moved), tmp_path / "other.svm", TREE)
    assert (
        "of the features are unknown" in told(tmp_path / "model", tmp_path / "other.svm")["verdict"]
    )


def test_models_without_a_profile_or_held_out_rows(linnaeus, told, place, tmp_path):
    model = load(place / "texts")
    replace(model, profile=None).save(tmp_path / "old")
    code, _, err = linnaeus("monitor", tmp_path / "old", place / "same.jsonl")
    assert code == 1 and "Train it again" in err
    replace(model, confidence_map=None).save(tmp_path / "own")
    found = told(tmp_path / "own", place / "same.jsonl")
    assert "labels and confidence are not compared" in " ".join(found["notes"])
    assert {f["name"] for f in found["figures"]} == {"quality", "unknown", "languages", "empty"}


def test_unknown_words_of_training_rows_are_those_of_no_other_row():
    texts = ["a b", "a c", "a b d d", "a b d d"]  # the last one is a copy
    features = TfidfVectorizer(token_pattern=r"\w+")
    X = features.fit_transform(texts)
    found = training_profile(features, texts, X, np.array([0, 1, 2, 2]))
    assert found["unknown"][:2] == [3.0, 8.0]  # c, and d twice
    assert found["empty"][:2] == [0.0, 4.0]


def test_shares_and_distances_tell_chance_from_change():
    rng = np.random.default_rng(0)
    pairs = [(rng.random(200) < 0.3, rng.random(80) < 0.3) for _ in range(400)]
    p = [share_p(Share.of(a), Share.of(b)) for a, b in pairs]
    assert 0.02 < np.mean(np.array(p) < 0.05) < 0.1
    assert share_p(Share.of([0, 0, 1]), Share.of([0, 0, 1])) == 1.0
    same = distance([500, 300, 200], [50, 30, 20])
    assert same.value == pytest.approx(0) and same.p == 1.0 and same.chance > 0
    assert distance([500, 300, 200], [20, 30, 50]) == distance([500, 300, 200], [20, 30, 50])
