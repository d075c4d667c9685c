"""``linnaeus predict`` over many files: a folder of them, threads, and going on after a kill."""

import json
import os
import signal
import subprocess
import sys

import pytest

from linnaeus import workflow
from linnaeus.io import stream
from linnaeus.model import Answers, train
from linnaeus.workflow import predicting
from small_data import TREE, stories, write_folder, write_jsonl


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    top = tmp_path_factory.mktemp("many")
    train(stories(), TREE, "svm", rule="zero").save(top / "model")
    (top / "new").mkdir()
    write_jsonl(stories(20, seed=1), top / "new" / "a.jsonl")
    write_jsonl(stories(10, seed=2), top / "new" / "b.jsonl.gz")
    rows = "".join(f"{text},x\n" for text in stories(5, seed=3).texts)
    (top / "new" / "c.csv").write_text(f"text,more\n{rows}")
    (top / "new" / ".hidden.csv").write_text("nothing")
    write_folder(top / "collection")
    (top / "empty").mkdir()
    return top


@pytest.fixture(autouse=True)
def inside(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setattr(stream.blocks, "__defaults__", (None, None, None, 4))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_every_file_gets_one_of_its_name(linnaeus, tmp_path):
    target = tmp_path / "out"
    code, out, _ = linnaeus("predict", "model", "new/a.jsonl", "new/c.csv", "-o", target)
    assert code == 0 and out.startswith("25 rows of 2 files in ")
    assert names(target) == ["a.jsonl", "c.csv"]
    for name in names(target):
        assert linnaeus("predict", "model", f"new/{name}", "-o", tmp_path / name)[0] == 0
        assert (target / name).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("data", [["new"], ["new/*"], ["new/a*", "new/[bc].*"]])
def test_folders_and_patterns_are_files(linnaeus, tmp_path, data):
    code, out, _ = linnaeus("predict", "model", *data, "-o", f"{tmp_path}/o/", "--json")
    found = json.loads(out)
    assert code == 0 and found["rows"] == 35 and found["resumed"] == 0
    assert [file["rows"] for file in found["files"]] == [20, 10, 5]
    assert names(tmp_path / "o") == ["a.jsonl", "b.jsonl.gz", "c.csv"]


def test_a_collection_is_called_by_its_folder_and_a_format_may_be_asked_for(linnaeus, tmp_path):
    asked = ("predict", "model", "collection", "new/b.jsonl.gz", "-o", tmp_path, "--format", "tsv")
    assert linnaeus(*asked)[0] == 0
    assert names(tmp_path) == ["b.tsv", "collection.tsv"]


def test_threads_write_the_same_bytes(linnaeus, tmp_path):
    for jobs in (1, 3):
        asked = ("--jobs", jobs, "--min-confidence", 0.5, "-k", 2)
        assert linnaeus("predict", "model", "new", "-o", tmp_path / str(jobs), *asked)[0] == 0
    for name in names(tmp_path / "1"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new/a.jsonl", "new/c.csv", "-o", "one.csv"], "Name a folder, such as one/"),
        (["new", "-o", "new"], "would be written over what is read"),
        (["new/a.jsonl", "collection/../new/a.jsonl", "-o", "o/"], "would be written to"),
        (["new/x*", "-o", "o/"], "There is no file or folder new/x*"),
        (["new/a.jsonl", "-o", "o.csv", "--address", "auto"], "only --backend ray has one"),
        (["new/a.jsonl", "-o", "o.csv", "--backend", "rai"], "Use one of serial, threads, ray"),
        (["empty", "-o", "o/"], "holds no file that could be read"),
    ],
)
def test_a_mistake_is_one_message(linnaeus, place, arguments, message):
    before = names(place)
    code, out, err = linnaeus("predict", "model", *arguments)
    assert code == 1 and out == "" and message in " ".join(err.split())
    assert names(place) == before


def test_finished_files_are_not_read_again_unless_they_were_changed(place, tmp_path, monkeypatch):
    read = []
    inner = predicting._Predictor._written

    def written(self, source, told):
        read.append(source.file.name)
        if source.file.name == "c.csv" and len(read) == 3:
            raise KeyboardInterrupt
        return inner(self, source, told)

    monkeypatch.setattr(predicting._Predictor, "_written", written)

    def predict():
        kept = tmp_path / "kept"
        return workflow.predict_files("model", "new", tmp_path / "out", checkpoint=kept)

    with pytest.raises(KeyboardInterrupt):
        predict()
    assert len(list((tmp_path / "kept").glob("*.safetensors"))) == 2  # no blocks of whole files
    (tmp_path / "out" / "b.jsonl.gz").write_bytes(b"damaged")
    found = predict()
    assert read == ["a.jsonl", "b.jsonl.gz", "c.csv", "b.jsonl.gz", "c.csv"]
    assert found.resumed == 1 and [file.rows for file in found.files] == [20, 10, 5]
    assert not (tmp_path / "kept").exists()


KILLED = """
import os, signal, sys
from linnaeus import workflow
from linnaeus.io import stream
stream.blocks.__defaults__ = (None, None, None, 4)
blocks = 0

def told(rows, seconds):
    global blocks
    blocks += 1
    if blocks == 3:
        os.kill(os.getpid(), signal.SIGKILL)

target, kept = sys.argv[1:]
workflow.predict("model", "new/a.jsonl", target, told=told, checkpoint=kept)
"""


def test_a_killed_prediction_goes_on_where_it_stopped(tmp_path, monkeypatch):
    target, kept = tmp_path / "o.jsonl", tmp_path / "kept"
    killed = subprocess.run([sys.executable, "-c", KILLED, target, kept], env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists() and len(list(kept.glob("*.safetensors"))) == 3
    asked = []
    look = Answers.look

    def counted(self, inputs):
        asked.append(len(inputs))
        return look(self, inputs)

    monkeypatch.setattr(Answers, "look", counted)
    workflow.predict("model", "new/a.jsonl", target, checkpoint=kept)
    assert asked == [4, 4] and not kept.exists()  # of five blocks
    workflow.predict("model", "new/a.jsonl", tmp_path / "whole.jsonl")
    assert target.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
