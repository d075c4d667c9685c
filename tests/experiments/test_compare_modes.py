"""``linnaeus compare --rankings | --few | --sets``: by exit code and what they print."""

import json

import numpy as np
import pytest

from linnaeus import Taxonomy

TREE = Taxonomy.from_edges(
    [("A", "a0"), ("A", "a1"), ("A", "a2"), ("B", "b0"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
)
WORDS = {"A": "ship sea sail wave", "B": "engine road wheel car"}
OWN = {leaf: f"{leaf}red {leaf}blue {leaf}green" for leaf in TREE.leaves}


def write(folder, rows, name="train"):
    folder.mkdir(exist_ok=True)
    TREE.write(folder / "taxonomy.tsv")
    lines = [json.dumps({"id": str(i), "text": t, "labels": y}) for i, (t, y) in enumerate(rows)]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
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


@pytest.fixture
def one_each(tmp_path):
    """A collection with one label per row, and a test part."""
    rows = [(text, labels[:1]) for text, labels in stories(70)]
    write(tmp_path / "one", rows[:49])
    return write(tmp_path / "one", rows[49:], "test")


def test_rankings_on_folds(linnaeus, folder):
    command = ["compare", folder, "-m", "svm,topdown:flat", "--rankings", "--folds", "3"]
    code, out, err = linnaeus(*command, "-p", "C=2")
    assert code == 0 and err == ""
    assert "topdown:flat" in out and "paired permutation test" in out and "pacc" in out
    code, out, _ = linnaeus(*command, "-p", "C=2", "--json")
    result = json.loads(out)
    assert set(result["values"][""]) == {"svm", "topdown:flat"}
    assert len(result["tests"][0]["rows"]) == 6
    assert len(result["values"][""]["svm"]["top1_accuracy"]["values"]) == 3


def test_few_rows_per_class(linnaeus, folder):
    methods = "topdown,topdown:learned,topdown:random,msvm"
    options = ["--few", "1,3", "--repetitions", "2", "--hierarchies", "2", "--json"]
    code, out, err = linnaeus("compare", folder, "-m", methods, *options)
    assert code == 0, err
    found = json.loads(out)
    assert list(found["values"]) == ["t=1", "t=3"]
    names = ["topdown", "topdown:learned", "topdown:random 1", "topdown:random 2"]
    assert list(found["values"]["t=1"]) == names
    assert "msvm takes one a row" in found["not_applicable"]["msvm"]
    assert [test["first"] for test in found["tests"]] == ["topdown"] * 3


def test_another_baseline(linnaeus, folder):
    options = ["--few", "2", "-r", "2", "--against", "svm:flat", "--no-report", "--json"]
    code, out, _ = linnaeus("compare", folder, "-m", "svm,svm:flat", *options)
    (test,) = json.loads(out)["tests"]
    assert code == 0 and (test["first"], test["second"]) == ("svm:flat", "svm")


def test_label_sets(linnaeus, folder):
    """Several labels, no test part: a quarter is held out, and msvm does not apply."""
    command = ["compare", folder, "--sets", "-m", "svm,msvm,svm:flat,rr-svm", "--cs", "0.1,1"]
    command += ["--cv", "2"]
    code, out, err = linnaeus(*command)
    assert code == 0 and err == ""
    assert "rr-svm against svm" in out and "p, Wilcoxon" in out and "hier. F1" in out
    assert "msvm: The method 'msvm' does not suit the data" in out
    result = json.loads(linnaeus(*command, "--json")[1])
    assert list(result["methods"]) == ["svm", "msvm", "svm:flat", "rr-svm"]
    assert result["methods"]["svm"]["C"] in (0.1, 1)
    assert result["methods"]["svm"]["report"]["rows"] == 21
    assert [(t["method"], t["baseline"]) for t in result["tests"]] == [
        ("svm:flat", "svm"), ("rr-svm", "svm"),
    ]  # fmt: skip


def test_label_sets_of_a_test_part(linnaeus, one_each):
    command = ["compare", one_each, "--sets", "-m", "msvm,svm:learned,svm", "--cs", "1", "--json"]
    code, out, err = linnaeus(*command, "--against", "svm")
    assert code == 0, err
    result = json.loads(out)
    assert [t["baseline"] for t in result["tests"]] == ["svm", "svm"]
    for method in ("svm", "msvm", "svm:learned"):
        values = result["methods"][method]
        assert values["report"]["rows"] == 21 and values["C"] == 1 and values["micro_f1"] > 0.8
        assert values["standard_error"]["micro_f1"] >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "swm", "--few", "1"], "The method 'swm' is not known (did you mean 'svm'?)"),
        (["-m", "svm:deep", "--rankings"], "The variant 'deep' of 'svm:deep' is not known"),
        (["-m", "svm", "--few", "1", "-p", "C"], "The parameter 'C' is not written name=value"),
        (["-m", "svm", "--few", "1", "-p", "D=1"], "None of the methods svm has the parameter 'D'"),
        (["-m", "svm", "--few", "one"], "--few is 'one'. Write numbers"),
        (["-m", ","], "No methods are given"),
        (["-m", "msvm", "--few", "1"], "No method has a result"),
        (["-m", "svm,topdown", "--few", "1", "--against", "hm3"], "The method 'hm3', which the"),
        (["--sets", "-m", "bsvn"], "The method 'bsvn' is not known"),
        (["--sets", "-m", "svm", "--cs", "many"], "--cs is 'many'. Write numbers"),
        (["--sets", "-m", "svm", "--cs", "0"], "The values of C are [0.0]. Give positive numbers"),
        (["--sets", "-m", "svm", "--cs", "-1,1"], "The values of C are [-1.0, 1.0]. Give positive"),
        (["--sets", "-m", "svm", "--cv", "1"], "The number of folds is 1. Use 2 or more"),
        (["--sets", "-m", "svm", "--cv", "0"], "The number of folds is 0. Use 2 or more"),
        (["--sets", "-m", "svm", "--cut", "half"], "--cut is 'half'. Use one of: instance, zero"),
        (["--sets", "-m", "svm", "-p", "D=1"], "None of the methods svm has the parameter 'D'"),
        (["--sets", "-m", "svm", "--against", "hm3"], "The method 'hm3', which the others"),
        (["--sets", "-m", "msvm"], "No method has a result"),
        ([], "--methods"),
    ],
)
def test_mistakes_are_named(linnaeus, folder, options, message):
    code, out, err = linnaeus("compare", folder, *options)
    assert code == 1 and message in err and "Traceback" not in err + out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--folds", "3", "--test"], "--folds and --test both say which rows"),
        (["--folds", "3", "--few", "1"], "--folds and --few both say which rows"),
        (["--folds", "3", "--sets"], "--folds and --sets both say which rows"),
        (["--test", "--few", "1"], "--test and --few both say which rows"),
        (["--few", "1", "--sets"], "--few and --sets both say which rows"),
        (["--rankings", "--test"], "--rankings does not go with --test. Use --folds or --few"),
        (["--rankings", "--sets"], "--rankings does not go with --sets"),
        (["--cs", "1"], "--cs is for --sets. Add --sets."),
        (["--few", "1", "--cut", "own"], "--cut is for --sets. Leave it out, or leave out --few."),
        (["--repetitions", "3"], "--repetitions is for --few. Add --few."),
        (["--against", "svm"], "--against is for --few or --rankings or --sets. Add --few."),
        (["--sets", "--rule", "zero"], "--rule is for a comparison on folds or the test part."),
        (["--few", "1", "-o", "x.html"], "--output is for a comparison on folds or the test part."),
    ],
)
def test_options_that_do_not_go_together(linnaeus, folder, options, message):
    code, out, err = linnaeus("compare", folder, "-m", "svm", *options)
    assert code == 1 and message in err and "Traceback" not in err + out
