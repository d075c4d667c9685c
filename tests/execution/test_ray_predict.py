"""Predictions on serial, threads and Ray: the same bytes, whatever is lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnaeus import workflow
from linnaeus.errors import UserError
from linnaeus.execution import ray_engine
from linnaeus.io import stream
from linnaeus.model import answers, train
from small_data import TREE, stories, write_jsonl

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    slower, ray_engine.SLOWER = ray_engine.SLOWER, float("inf")  # small tasks go to workers too
    yield ray_engine.connected(None, 2)
    ray_engine.SLOWER = slower
    ray.shutdown()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A model, two files of rows, and small blocks."""
    monkeypatch.setattr(stream.blocks, "__defaults__", (None, None, None, 7))
    train(stories(), TREE, "logistic").save(tmp_path / "model")
    for n in (1, 2):
        write_jsonl(stories(30 * n, seed=n), tmp_path / f"{n}.jsonl")
    return tmp_path


def predicted(place, backend, **how):
    """The bytes that are written of both files."""
    target = place / f"out-{backend}"
    data = [place / "1.jsonl", place / "2.jsonl"]
    asked = {"top": 2, "min_confidence": 0.5, "by_level": True, "format": "csv"}
    workflow.predict_files(place / "model", data, target, backend=backend, **asked, **how)
    return [(target / f"{n}.csv").read_bytes() for n in (1, 2)]


def test_all_engines_write_the_same_bytes(place):
    serial = predicted(place, "serial")
    assert serial[0].count(b"\n") > 30
    assert predicted(place, None) == predicted(place, "threads", jobs=3) == serial
    assert predicted(place, "ray") == serial
    assert predicted(place, "ray", checkpoint=place / "kept", rule="argmax") != serial
    assert not (place / "kept").exists()  # all went well


def test_a_model_is_sent_to_machines_that_do_not_see_it(place, cluster, tmp_path, monkeypatch):
    """The worker's side in this process."""
    folder = answers.storage.folder_of(place / "model")
    monkeypatch.setattr(ray_engine.tempfile, "gettempdir", lambda: str(tmp_path / "other"))
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(ray_engine, "is_here", lambda path: False)
    found = ray_engine.opened(folder, cluster.sender)
    assert Path(found.path).is_relative_to(tmp_path / "other") and found.digest == folder.digest
    asked, texts = answers.Asked(None, 0, False), stories(5, seed=3).texts
    here, there = (answers.look(where, asked, texts) for where in (folder, found))
    assert here.scores.tobytes() == there.scores.tobytes()
    ray_engine._OPENED.found.clear()
    assert ray_engine.opened(folder, cluster.sender) == found  # sent once
    ray_engine._OPENED.found.clear()
    changed = folder._replace(digest="0" * 32)
    with pytest.raises(UserError, match="was changed while it was used"):
        ray_engine.opened(changed, cluster.sender)


def test_a_worker_refuses_a_model_whose_numbers_were_changed(place):
    arrays = place / "model" / "arrays.safetensors"
    content = bytearray(arrays.read_bytes())
    content[-1] ^= 1
    folder = answers.storage.folder_of(place / "model")
    arrays.write_bytes(content)
    with pytest.raises(UserError, match="its checksum is wrong"):
        answers.look(folder, answers.Asked(None, 7, False), ["purr"])


def test_a_worker_of_another_version_refuses(place, monkeypatch):
    monkeypatch.setattr("linnaeus.execution.ray_engine.version", lambda: "older")
    with pytest.raises(UserError, match="Install the same versions on all machines"):
        predicted(place, "ray")
    assert list((place / "out-ray").iterdir()) == []  # never half a file


def test_an_address_without_a_cluster_is_refused(place):
    with pytest.raises(UserError, match="only the backend 'ray' has one"):
        predicted(place, "threads", address="auto")
