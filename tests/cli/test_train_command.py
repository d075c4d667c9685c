"""``linnaeus train``: what it says, what it writes, and how it refuses."""

import json

import pytest

from linnaeus import load
from marks import slow
from small_data import DAG, TREE, stories, table, write_csv, write_folder, write_jsonl


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of texts and of a table, with several labels and with one, right and wrong."""
    top = tmp_path_factory.mktemp("folders")
    write_folder(top / "several")
    write_folder(top / "one", several=False)
    write_folder(top / "table", kind="table")
    write_folder(top / "dag", taxonomy=DAG)
    for name in ("no-taxonomy", "no-train", "no-labels", "label", "empty", "unlabelled"):
        (top / name).mkdir()
        if name != "no-taxonomy":
            TREE.write(top / name / "taxonomy.tsv")
    write_jsonl(stories(), top / "no-taxonomy" / "train.jsonl")
    write_jsonl(stories(), top / "no-train" / "test.jsonl")
    (top / "no-labels" / "train.csv").write_text("id,text\n1,a b\n2,b c\n")
    write_csv(table(stories()), top / "label" / "train.csv", "label")
    (top / "empty" / "train.jsonl").write_text("")
    write_jsonl(stories(labels=lambda _: []), top / "unlabelled" / "train.jsonl")
    (top / "notes").mkdir()
    (top / "notes" / "x.txt").write_text("hello")
    return top


@pytest.fixture(autouse=True)
def inside(folders, monkeypatch):
    monkeypatch.chdir(folders)


def test_every_choice_is_explained(linnaeus, tmp_path):
    code, out, err = linnaeus("train", "several", "-o", tmp_path / "model")
    assert code == 0 and err == ""
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "60 rows" in lines["Data"] and "4 classes in a forest of 6 nodes" in lines["Data"]
    assert "words: the examples are texts" in lines["Features"]
    assert "held-out rows of your data: hierarchical F1" in lines["Method"]
    assert "; next " in lines["Method"]
    assert "hierarchical F1" in lines["Rule"] and "held-out scores" in lines["Rule"]
    assert "linnaeus evaluate" in lines["Next:"]
    assert load(tmp_path / "model").predict(["purr mew"]) == [["cat"]]


def test_the_valid_part_decides_and_is_learned_from(linnaeus, tmp_path):
    write_folder(tmp_path / "data")
    write_jsonl(stories(20, seed=2), tmp_path / "data" / "valid.jsonl")
    for options, rows, held_out in (((), 80, 20), (("--no-valid",), 60, 60)):
        target = tmp_path / f"model{rows}"
        options = ("-m", "svm", "--json", *options)
        code, out, _ = linnaeus("train", tmp_path / "data", "-o", target, *options)
        assert code == 0 and json.loads(out)["data"]["rows"] == rows
        assert load(target).held_out.rows.size == held_out
    tuned = ("tune", tmp_path / "data", "-m", "svm", "-g", "C=1", "--json")
    assert [json.loads(linnaeus(*tuned, *more)[1])["folds"] for more in ((), ("--no-valid",))] == [
        1, 3,
    ]  # fmt: skip


def test_without_a_budget_nothing_is_tried(linnaeus, tmp_path):
    code, out, _ = linnaeus("train", "one", "-o", tmp_path / "model", "--budget", "0")
    assert code == 0 and "msvm: best mean rank" in out
    code, _, err = linnaeus("train", "one", "-o", tmp_path / "model", "--budget", "-1")
    assert code == 1 and "--budget" in err


def test_options_reach_the_model(linnaeus, tmp_path):
    options = ["-m", "rr-svm", "-p", "C=10", "-p", "loss=squared_hinge", "--rule", "rcut"]
    options += ["--features", "characters", "-f", "ngram_range=[2,3]", "--seed", "5", "--json"]
    code, out, _ = linnaeus("train", "several", "-o", tmp_path / "model", *options)
    told = json.loads(out)
    assert code == 0 and told["method"] == "rr-svm" and told["seed"] == 5
    assert told["parameters"] == {"C": 10, "loss": "squared_hinge"}
    model = load(tmp_path / "model")
    assert (model.estimator.C, model.estimator.loss, model.rule_name) == (
        10, "squared_hinge", "rcut",
    )  # fmt: skip
    assert tuple(model.features.ngram_range) == (2, 3) and model.features.analyzer == "letters"


def test_a_file_beside_its_taxonomy_and_a_table(linnaeus, tmp_path):
    quick = ("-m", "svm")
    assert linnaeus("train", "several/train.jsonl", "-o", tmp_path / "a", *quick)[0] == 0
    moved = tmp_path / "rows.jsonl"
    write_jsonl(stories(), moved)
    given = ("--taxonomy", "several/taxonomy.tsv")
    code, _, err = linnaeus("train", moved, "-o", tmp_path / "b", *given, *quick)
    assert code == 0, err
    assert load(tmp_path / "a").predict(["purr"]) == load(tmp_path / "b").predict(["purr"])
    assert linnaeus("train", "table", "-o", tmp_path / "c", *quick)[0] == 0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers(linnaeus, tmp_path):
    for name in ("a", "b"):
        assert linnaeus("train", "several", "-o", tmp_path / name, "--seed", 3)[0] == 0
    for file in ("arrays.safetensors", "taxonomy.tsv", "vocabulary.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
    assert load(tmp_path / "a").about == load(tmp_path / "b").about


def test_a_bad_row_is_named_or_left_out(linnaeus, tmp_path):
    data = write_folder(tmp_path / "data")
    with (data / "train.jsonl").open("a") as handle:
        handle.write('{"text": "x", "labels": ["cta"]}\n')
    code, _, err = linnaeus("train", data, "-o", tmp_path / "model")
    assert code == 1 and "line 61: the label 'cta' is not a node" in err
    assert "did you mean 'cat'?" in err and not (tmp_path / "model").exists()
    code, _, err = linnaeus("train", data, "-o", tmp_path / "model", "--skip-bad")
    assert code == 0 and "Skipped 1 bad rows" in err and "'cta'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-labels"], "there is no column of labels. The columns are 'id', 'text'. Name it with"),
        (["no-train"], "no examples: looked for train, valid with one of the suffixes jsonl, csv"),
        (["empty"], "empty/train.jsonl: there are no rows"),
        (["unlabelled"], "None of the 60 training rows has a label"),
        (["nowhere"], "There is no file or folder nowhere"),
        (["notes/x.txt"], "there is no column of labels"),
        (["several/taxonomy.tsv"], "taxonomy.tsv is the taxonomy. Give the file of the examples"),
        (
            ["label", "--labels", "lable"],
            "no column 'lable' for the labels (did you mean 'label'?)",
        ),
        (["label", "--delimiter", "::"], "The delimiter is '::'. It must be one character"),
        (["several", "--encoding", "utf-9"], "The encoding 'utf-9' is not known"),
        (["several", "--taxonomy", "t.tsv"], "The taxonomy 't.tsv' was given"),
        (["several", "-m", "smv"], "The method 'smv' is not known (did you mean 'svm'?)"),
        (["several", "-p", "c=3"], "No method has a parameter 'c' (did you mean 'C'?)"),
        (["several", "-p", "C"], "'C' is not written name=value. Write it like C=10"),
        (["several", "-p", "C=abc"], "'C' of 'svm' is 'abc', where a number is needed"),
        (["several", "-p", "C=-1"], "C is -1. It must be a positive number"),
        (
            ["several", "-p", "loss=hing"],
            "loss='hing' is not known (did you mean 'hinge'?). Use",
        ),
        (["several", "-p", "max_iter=0"], "max_iter is 0. It must be a positive whole number"),
        (["several", "--rule", "scutt"], "'scutt' is not known (did you mean 'scut'?)"),
        (["several", "--features", "word"], "'word' are not known (did you mean 'words'?)"),
        (["several", "--features", "table"], "made of a table, but the examples are texts"),
        (["table", "--features", "words"], "made of texts, but the examples are a table"),
        (["several", "-f", "ngram=2"], "no parameter 'ngram' (did you mean 'ngram_range'?)"),
        (["several", "-f", "ngram_range=2"], "ngram_range is 2. Use the shortest and the longest"),
        (["several", "-f", "min_df=abc"], "'min_df' of the features 'words' is 'abc'"),
        (["table", "-f", "scale=big"], "scale is 'big'. Use one of: auto, standard, unit, none"),
        (["several", "-m", "msvm"], "'msvm' does not suit the data: rows have several labels"),
        (["dag", "-m", "hm3"], "'hm3' does not suit the data: nodes have several parents"),
        (["several", "--folds", "0"], "--folds"),
        (["several", "--seed", "-1"], "--seed"),
        (["several", "--jobs", "0"], "--jobs is 0. It must be a positive whole number, -1"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(linnaeus, tmp_path, arguments, message):
    code, out, err = linnaeus("train", *arguments, "-o", tmp_path / "model")
    assert code == 1 and out == ""
    assert message in " ".join(err.split()) and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("notes", "The folder notes holds x.txt and no model. Name another folder"),
        ("several/train.jsonl", "is a file, where the folder of a model is to be"),
        ("nowhere/model", "There is no folder nowhere to write model into"),
    ],
)
def test_a_target_is_refused_before_any_work(linnaeus, monkeypatch, target, message):
    def read(*_, **__):
        raise AssertionError("the data were read")

    monkeypatch.setattr("linnaeus.io.read_parts", read)
    code, _, err = linnaeus("train", "several", "-o", target)
    assert code == 1 and message in " ".join(err.split())


def test_ctrl_c_leaves_the_old_model(linnaeus, tmp_path, monkeypatch):
    target = tmp_path / "model"
    assert linnaeus("train", "several", "-o", target, "--budget", "0")[0] == 0
    before = {file.name: file.read_bytes() for file in target.iterdir()}

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    for place in ("linnaeus.FlatSVM.fit", "linnaeus.storage.arrays.write"):
        with monkeypatch.context() as patch:
            patch.setattr(place, interrupt)
            code, out, err = linnaeus("train", "several", "-o", target, "-m", "svm", "-p", "C=5")
        assert code == 130 and "Traceback" not in err and out == ""
        assert {file.name: file.read_bytes() for file in target.iterdir()} == before
        assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("data", ["several", slow("one"), slow("table")])
def test_the_same_command_writes_the_same_files(linnaeus, tmp_path, data):
    made = []
    for target in (tmp_path / "one", tmp_path / "two"):
        assert linnaeus("train", data, "-o", target, "--seed", "3", "-m", "svm")[0] == 0
        made.append({file.name: file.read_bytes() for file in target.iterdir()})
    told = [json.loads(files.pop("made.json")) for files in made]
    assert made[0] == made[1]
    assert {"read", "train"} <= told[0]["seconds"].keys() == told[1]["seconds"].keys()
    assert told[0]["seconds"] != told[1]["seconds"]
