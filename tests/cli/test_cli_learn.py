"""``linnaeus taxonomy learn`` and ``linnaeus protocol`` by exit code and what they print."""

import json

import numpy as np
import pytest

from linnaeus import Taxonomy
from linnaeus.methods import known_methods, make, parse_parameters

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
    assert code == 1 and "not there" in err
    code, _, err = linnaeus("taxonomy", "learn", folder)
    assert code == 1 and "--output" in err


def test_learn_from_a_table_with_holes(linnaeus, tmp_path):
    data = tmp_path / "table"
    data.mkdir()
    (data / "train.csv").write_text("id,labels,x,y\n1,a,0.5,1\n2,b,,2\n")
    code, _, err = linnaeus("taxonomy", "learn", data, "-o", tmp_path / "t.tsv")
    assert code == 1 and "X holds the value nan" in err


def test_protocol_compares_methods(linnaeus, folder):
    command = ["protocol", folder, "-m", "svm,topdown:flat", "--folds", "3", "-p", "C=2"]
    code, out, err = linnaeus(*command)
    assert code == 0 and err == ""
    assert "topdown:flat" in out and "paired permutation test" in out and "pacc" in out
    code, out, _ = linnaeus(*command, "--json")
    result = json.loads(out)
    assert set(result["values"][""]) == {"svm", "topdown:flat"}
    assert len(result["tests"][0]["rows"]) == 6
    assert len(result["values"][""]["svm"]["one_accuracy"]["values"]) == 3


def test_protocol_with_few_rows_per_class(linnaeus, folder):
    methods = "topdown,topdown:learned,topdown:random"
    options = ["--t", "1,3", "--repetitions", "2", "--hierarchies", "2", "--json"]
    code, out, _ = linnaeus("protocol", folder, "-m", methods, *options)
    values = json.loads(out)["values"]
    assert code == 0 and list(values) == ["t=1", "t=3"]
    names = ["topdown", "topdown:learned", "topdown:random 1", "topdown:random 2"]
    assert list(values["t=1"]) == names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "swm"], "The method 'swm' is not known (did you mean 'svm'?)"),
        (["-m", "svm:deep"], "The variant 'deep' of 'svm:deep' is not known"),
        (["-m", "svm", "-p", "C"], "The parameter 'C' is not written name=value"),
        (["-m", "svm", "-p", "D=1"], "The method 'svm' has no parameter 'D'"),
        (["-m", "svm", "--t", "one"], "--t is 'one'. Write numbers"),
        (["-m", ","], "No methods are given"),
    ],
)
def test_protocol_names_mistakes(linnaeus, folder, options, message):
    code, out, err = linnaeus("protocol", folder, *options)
    assert code == 1 and message in err and "Traceback" not in err + out


def test_methods_by_name():
    assert {"svm", "msvm", "topdown", "hm3"} <= set(known_methods())
    for name in known_methods():
        model = make(name, TREE, seed=4)
        assert model.taxonomy is TREE and getattr(model, "random_state", 4) == 4
    assert parse_parameters(["a=1.5", "b=x=y"]) == {"a": 1.5, "b": "x=y"}


@pytest.fixture
def one_each(tmp_path):
    """A collection with one label per row, and a test part."""
    rows = [(text, labels[:1]) for text, labels in stories(70)]
    folder = write(tmp_path / "one", rows[:49])
    (folder / "train.jsonl").rename(folder / "kept")
    write(folder, rows[49:])
    (folder / "train.jsonl").rename(folder / "test.jsonl")
    (folder / "kept").rename(folder / "train.jsonl")
    return folder


def test_protocol_of_label_sets(linnaeus, folder):
    """Several labels, no test part: a quarter is held out, and msvm does not apply."""
    command = ["protocol", folder, "--sets", "-m", "svm,msvm,topdown,rr-svm", "--cs", "0.1,1"]
    command += ["--folds", "2"]
    code, out, err = linnaeus(*command)
    assert code == 0 and err == ""
    assert "rr-svm against svm" in out and "p, Wilcoxon" in out and "hier. F1" in out
    assert "msvm: for one label per row only" in out
    result = json.loads(linnaeus(*command, "--json")[1])
    assert list(result["methods"]) == ["svm", "msvm", "topdown", "rr-svm"]
    assert result["methods"]["svm"]["C"] in (0.1, 1)
    assert result["methods"]["svm"]["report"]["rows"] == 21
    tests = [(t["method"], t["baseline"]) for t in result["tests"]]
    assert tests == [("topdown", "svm"), ("rr-svm", "svm")]


def test_protocol_of_label_sets_on_a_test_part(linnaeus, one_each):
    command = ["protocol", one_each, "--sets", "-m", "svm,msvm,ranking-svm", "--cs", "1", "--json"]
    code, out, _ = linnaeus(*command, "--against", "svm")
    result = json.loads(out)
    assert code == 0 and [t["baseline"] for t in result["tests"]] == ["svm", "svm"]
    for method in ("svm", "msvm", "ranking-svm"):
        values = result["methods"][method]
        assert values["report"]["rows"] == 21 and values["C"] == 1 and values["micro_f1"] > 0.8
        assert values["standard_error"]["micro_f1"] >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sets", "-m", "svn"], "The method 'svn' is not known"),
        (["--sets", "-m", "topdown", "--cs", "many"], "--cs is 'many'. Write numbers"),
        (["--sets", "--cs", "0"], "The values of C are [0.0]. Give positive numbers"),
        (["--sets", "--cs", "-1,1"], "The values of C are [-1.0, 1.0]. Give positive numbers"),
        (["--sets", "--folds", "1"], "The number of folds is 1. Use 2 or more"),
        (["--sets", "-m", ","], "No methods are given. Name some with --methods"),
        (["--sets", "-m", "svm", "--cut", "half"], "--cut is 'half'. Use one of: instance, zero"),
        (["--sets", "-m", "topdown", "--t", "1"], "--t is for rankings"),
        (["--sets", "-m", "topdown", "-p", "D=1"], "The method 'topdown' has no parameter 'D'"),
        (["--sets", "-m", "msvm", "--against", "svm"], "against names 'svm', which is no method"),
        (["--sets", "-m", "msvm"], "No method has a result"),
        (["-m", "svm", "--cs", "1"], "--cs is for label sets. Add --sets"),
        ([], "No methods are given"),
    ],
)
def test_protocol_of_label_sets_names_mistakes(linnaeus, folder, options, message):
    code, out, err = linnaeus("protocol", folder, *options)
    assert code == 1 and message in err and "Traceback" not in err + out
