"""``linnaeus taxonomy learn`` by exit code and what it prints; methods by name."""

import json

import numpy as np
import pytest

from linnaeus import Taxonomy
from linnaeus.cli.options import parse_parameters
from linnaeus.model.methods import METHODS, make

TREE = Taxonomy.from_edges(
    [("A", "a0"), ("A", "a1"), ("A", "a2"), ("B", "b0"), ("B", "b1"), ("B", "b2"), ("B", "b3")],
    titles={"a0": "Aye nought"},
)
WORDS = {"A": "ship sea sail wave", "B": "engine road wheel car"}
OWN = {leaf: f"{leaf}red {leaf}blue {leaf}green" for leaf in TREE.leaves}


def write(folder, rows, taxonomy=TREE):
    folder.mkdir(exist_ok=True)
    if taxonomy is not None:
        taxonomy.write(folder / "taxonomy.tsv")
    lines = [json.dumps({"id": str(i), "text": t, "labels": y}) for i, (t, y) in enumerate(rows)]
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def stories(n=84):
    rng = np.random.default_rng(0)
    for i in range(n):
        leaf = TREE.leaves[i % 7]
        words = 3 * WORDS[TREE.parents(leaf)[0]].split() + OWN[leaf].split()
        labels = [leaf, TREE.leaves[(i + 1) % 7]] if i % 21 == 20 else [leaf]
        yield " ".join(rng.permutation(words)[:12]), labels


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "data", stories())


def test_learn_finds_the_families(linnaeus, folder, tmp_path):
    target = tmp_path / "learned.tsv"
    code, out, err = linnaeus("taxonomy", "learn", folder, "-o", target, "--quiet")
    assert (code, out, err) == (0, "", "")
    learned = Taxonomy.read(target)
    assert set(learned.leaves) == set(TREE.leaves) and learned.title("a0") == "Aye nought"
    code, out, _ = linnaeus("taxonomy", "learn", folder, "-o", target)
    assert code == 0
    assert "7 classes in" in out and "learned from 84 rows" in out
    assert "Agreement with the given taxonomy" in out and "└── cluster" in out
    assert f"Wrote {target}" in out


def test_learn_as_json_is_deterministic(linnaeus, folder, tmp_path):
    target = tmp_path / "learned.json"
    for options in (
        [],
        ["--method", "kmeans", "--branching", "4", "--seed", "3"],
        ["--method", "kmeans", "--levels", "1", "--metric", "cosine"],
        ["--method", "confusion"],
        ["--levels", "2"],
        ["--levels", "links"],
        ["--levels", "0.8,1.1"],
    ):
        command = ["taxonomy", "learn", folder, "-o", target, "--json", *options]
        code, out, _ = linnaeus(*command)
        result, first = json.loads(out), target.read_bytes()
        assert code == 0 and result["classes"] == 7 and result["rows"] == 84
        assert sum(result["cluster_sizes"]) == 7 and result["agreement"] is not None
        assert result["clusters"] + result["classes"] + 1 == len(Taxonomy.read(target))
        assert linnaeus(*command)[1] == out and target.read_bytes() == first


def test_learn_without_a_taxonomy_and_with_labels_of_inner_nodes(linnaeus, tmp_path):
    target = tmp_path / "t.tsv"
    bare = write(tmp_path / "bare", stories(), None)
    code, out, _ = linnaeus("taxonomy", "learn", bare, "-o", target, "--json")
    assert code == 0 and json.loads(out)["agreement"] is None
    assert set(Taxonomy.read(target).leaves) == set(TREE.leaves)
    rows = [*stories(), ("ship sea sail wave", ["A"])]
    inner = write(tmp_path / "inner", rows)
    assert linnaeus("taxonomy", "learn", inner, "-o", target)[0] == 0
    assert set(Taxonomy.read(target).leaves) == {*TREE.leaves, "A"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "magic"], "method='magic' is not known. Use one of: auto"),
        (["--levels", "many"], "--levels is 'many'. Write a number of levels"),
        (["--levels", "0"], "levels is 0"),
        (["--branching", "5"], "branching is 5, but method='centroids'"),
        (["--metric", "taxi"], "metric='taxi' is not known"),
    ],
)
def test_learn_names_mistakes(linnaeus, folder, tmp_path, options, message):
    target = tmp_path / "t.tsv"
    code, out, err = linnaeus("taxonomy", "learn", folder, "-o", target, *options)
    assert code == 1 and message in err and "Traceback" not in err + out
    assert not target.exists()


def test_learn_refuses_bad_places_before_it_works(linnaeus, folder, tmp_path):
    code, _, err = linnaeus("taxonomy", "learn", folder, "-o", tmp_path / "no" / "t.tsv")
    assert code == 1 and "There is no folder" in err
    code, _, err = linnaeus("taxonomy", "learn", folder, "-o", tmp_path / "t.unknown")
    assert code == 1 and "does not say in which format to write" in err
    code, _, err = linnaeus("taxonomy", "learn", tmp_path / "nothing", "-o", tmp_path / "t.tsv")
    assert code == 1 and "There is no file or folder" in err
    code, _, err = linnaeus("taxonomy", "learn", folder)
    assert code == 1 and "--output" in err


def test_learn_from_a_table_with_holes(linnaeus, tmp_path):
    """Empty cells are filled as ``train`` fills them."""
    data = tmp_path / "table"
    data.mkdir()
    (data / "train.csv").write_text("id,labels,x,y\n1,a,0.5,1\n2,b,,2\n3,c,9,-5\n")
    code, _, err = linnaeus("taxonomy", "learn", data, "-o", tmp_path / "t.tsv")
    assert code == 0, err
    assert set(Taxonomy.read(tmp_path / "t.tsv").leaves) == {"a", "b", "c"}


def test_methods_by_name():
    assert {"svm", "msvm", "topdown", "hm3"} <= set(METHODS)
    for name in METHODS:
        model = make(name, TREE, seed=4)
        assert model.taxonomy is TREE and getattr(model, "random_state", 4) == 4
    assert parse_parameters(["a=1.5", "b=x=y"]) == {"a": 1.5, "b": "x=y"}
