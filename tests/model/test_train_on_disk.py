"""A model of texts that are on disk is the model of the same texts in memory, bit by bit."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from linnaeus.errors import UserError
from linnaeus.io import Part, read_collection, write_collection
from linnaeus.io.text_files import Room, room_of
from linnaeus.model import train
from linnaeus.storage.replacing import scratch
from linnaeus.storage.sparse_files import open_rows, rows_written, taken
from linnaeus.synthetic import newsroom
from linnaeus.text import TfidfVectorizer, counting
from linnaeus.workflow.training import train as train_files

NEWS = newsroom(120, 30, random_state=5)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "news").mkdir()
    copies = NEWS.train.take([*range(len(NEWS.train)), 3, 3, 7])
    write_collection(replace(NEWS, train=copies, valid=NEWS.test), tmp_path / "news")
    return tmp_path / "news"


def told(model):
    return json.loads(json.dumps(model.about, default=str))


def assert_same(found, expected):
    assert found.estimator.coef_.tobytes() == expected.estimator.coef_.tobytes()
    assert found.features.vocabulary_ == expected.features.vocabulary_
    assert found.features.idf_.tobytes() == expected.features.idf_.tobytes()
    assert told(found) == told(expected) and found.profile == expected.profile
    np.testing.assert_array_equal(found.digests, expected.digests)
    if expected.held_out is not None:
        np.testing.assert_array_equal(found.held_out.scores, expected.held_out.scores)


OTHERS = {"features": "characters", "rule": "own", "valid": False}
HASHED = {"feature_parameters": {"hashing": 64}, "rule": "own"}


@pytest.mark.parametrize("how", [{}, OTHERS, HASHED], ids=str)
def test_a_model_of_texts_on_disk_is_that_of_memory(how, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "TERM", 1)  # small texts have many words
    how = {"method": "svm", "parameters": {"C": 0.5}, **how}
    memory = train_files(folder, tmp_path / "memory", **how)
    disk = train_files(folder, tmp_path / "disk", **how, limit=8 * 20_000)
    assert any("read from disk" in note for note in disk.notes)
    assert_same(disk.model, memory.model)
    assert sorted(os.listdir(tmp_path)) == ["disk", "memory", "news"]


@pytest.fixture
def on_disk(folder, tmp_path):
    part = read_collection(folder, room=Room(50_000, tmp_path / "room")).train
    part = part if room_of(part.texts) else pytest.fail("the texts fit")
    return part


@pytest.mark.slow
def test_words_and_the_method_are_chosen_as_in_memory(on_disk, monkeypatch):
    monkeypatch.setattr(counting, "TERM", 1)
    memory = Part(on_disk.labels, list(on_disk.ids), list(on_disk.texts))
    how = {"budget": 0.2, "seed": 1}
    assert_same(train(on_disk, NEWS.taxonomy, **how), train(memory, NEWS.taxonomy, **how))


def test_given_features_make_rows_on_disk(on_disk):
    features = TfidfVectorizer(min_df=3).fit(on_disk.texts)
    memory = Part(on_disk.labels, list(on_disk.ids), list(on_disk.texts))
    models = [
        train(part, NEWS.taxonomy, "svm", features=features, rule="own")
        for part in (on_disk, memory)
    ]
    assert_same(*models)


def test_what_needs_all_texts_is_refused(on_disk):
    with pytest.raises(UserError, match="'spectrum' need all texts in memory.*'characters'"):
        train(on_disk, NEWS.taxonomy, "svm", features="spectrum")


def test_a_vocabulary_that_does_not_fit_is_refused(folder, tmp_path):
    with pytest.raises(UserError, match=r"more than .* words.*min_df.*hash"):
        train_files(folder, tmp_path / "model", "svm", limit=8000)
    assert os.listdir(tmp_path) == ["news"]


def test_rows_are_taken_on_disk_and_go_when_they_are_no_longer_used(tmp_path):
    X = TfidfVectorizer().fit_transform(NEWS.train.texts)
    with rows_written(tmp_path / "X") as writer:
        writer.append(X)
    rows = np.random.default_rng(0).permutation(X.shape[0])[:70]
    some = taken(open_rows(tmp_path / "X"), rows)
    assert some.folder.parent == tmp_path and len(os.listdir(tmp_path)) == 2
    assert (some != X[rows]).nnz == 0 and some.has_canonical_format
    none = taken(open_rows(tmp_path / "X"), rows[:0])
    assert none.shape == (0, X.shape[1])
    del some, none
    assert os.listdir(tmp_path) == ["X"]


def test_scratch_goes_and_says_when_the_disk_is_full(tmp_path):
    with scratch(tmp_path / "model") as folder:
        (folder / "file").write_text("")
    assert not os.listdir(tmp_path)
    full = pytest.raises(UserError, match="beside .*model: No space left.*Check the disk")
    with full, scratch(tmp_path / "model"):
        raise OSError(28, "No space left on device")
    with pytest.raises(OSError, match="Input/output"), scratch(tmp_path / "model"):
        raise OSError(5, "Input/output error")
    assert not os.listdir(tmp_path)
