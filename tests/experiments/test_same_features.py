"""Every command takes the same features of the same data: of sequences, pieces of them."""

import json

import numpy as np
import pytest

from linnaeus import Taxonomy
from linnaeus.text import TfidfVectorizer

TREE = Taxonomy.from_edges([(above, f"{above}{i}") for above in "AB" for i in range(3)])
LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


def sequences(n, seed):
    """Noise that holds a word of the class and one of its parent, no blanks."""
    words = {v: np.random.default_rng(i).choice(LETTERS, 7) for i, v in enumerate(TREE.nodes)}
    rng = np.random.default_rng(seed)
    for i in range(n):
        leaf = TREE.leaves[i % 6]
        pieces = [rng.choice(LETTERS, 9)]
        for node in (leaf, TREE.parents(leaf)[0]):
            pieces += [words[node], rng.choice(LETTERS, 9)]
        yield {"id": str(i), "text": "".join(np.concatenate(pieces)), "labels": [leaf]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("sequences")
    TREE.write(path / "taxonomy.tsv")
    for name, n, seed in (("train", 90, 0), ("test", 36, 1)):
        lines = [json.dumps(row) for row in sequences(n, seed)]
        (path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def answer(linnaeus, tmp_path, monkeypatch):
    """The JSON of a command that must not look for words."""

    def refuse(*_, **__):
        raise AssertionError("words are looked for in sequences")

    monkeypatch.chdir(tmp_path)
    for method in ("fit", "fit_transform"):
        monkeypatch.setattr(TfidfVectorizer, method, refuse)

    def call(*arguments):
        code, out, err = linnaeus(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return call


def test_train(answer, folder):
    assert answer("train", folder, "-o", "model", "-m", "svm")["features"]["kind"] == "spectrum"


def test_tune(answer, folder):
    found = answer("tune", folder, "-m", "svm", "-g", "C=1,10", "--folds", 2)
    assert found["features"] == "spectrum" and found["best"]["micro_f1"] == 1.0


@pytest.mark.parametrize("rows", [("--test",), ("--folds", "2")])
def test_compare(answer, folder, rows):
    found = answer("compare", folder, "-m", "svm,svm:learned", *rows, "--no-report")
    assert found["setting"]["features"] == "spectrum"
    assert all(values["micro_f1"] == 1.0 for values in found["methods"].values())


@pytest.mark.parametrize("rows", [("--few", "10", "-r", "2"), ("--rankings", "--folds", "2")])
def test_compare_rankings(answer, folder, rows):
    found = answer("compare", folder, "-m", "svm,svm:learned", *rows)
    (values,) = found["values"].values()
    assert all(metrics["top1_accuracy"]["mean"] > 0.95 for metrics in values.values())


def test_compare_label_sets(answer, folder):
    found = answer("compare", folder, "-m", "svm,topdown", "--sets", "--cs", "1")
    assert all(values["micro_f1"] == 1.0 for values in found["methods"].values())


def test_learn_a_taxonomy(answer, folder):
    found = answer("taxonomy", "learn", folder, "-o", "learned.tsv")
    assert found["features"] == "spectrum"
    assert found["agreement"] == 1.0 and found["clusters"] == 2


def test_other_features_are_taken_where_asked_for(linnaeus, folder, tmp_path):
    common = ("-m", "svm", "--features", "words", "--json")
    for rows in (("--few", "10", "-r", "2"), ("--sets", "--cs", "1")):
        code, out, err = linnaeus("compare", folder, *common, *rows)
        assert code == 0, err
        found = json.loads(out)
        if "--few" in rows:
            assert found["values"]["t=10"]["svm"]["top1_accuracy"]["mean"] < 0.5
        else:
            assert found["methods"]["svm"]["micro_f1"] < 0.5
    learn = ("taxonomy", "learn", folder, "-o", tmp_path / "t.tsv", "--features", "characters")
    code, out, err = linnaeus(*learn, "-f", "min_df=2", "--json")
    assert code == 0 and json.loads(out)["features"] == "characters", err
