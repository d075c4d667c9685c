"""made.json: the only file that differs when the same is trained again, and none depends on it."""

import json
import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from storage_objects import TAX, X, Y, assert_same, fitted

import linnaeus
from linnaeus import storage


def files(folder):
    """The bytes of all files that have to be the same."""
    return {f.name: f.read_bytes() for f in folder.iterdir() if f.name != "made.json"}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    fitted("FlatSVM: tree")[0].save(path)
    return path


def test_date_versions_and_seconds_are_kept(folder):
    made = json.loads((folder / "made.json").read_text())
    assert list(made) == ["date", "versions", "seconds"]
    age = datetime.now(UTC) - datetime.fromisoformat(made["date"])
    assert timedelta(seconds=-1) <= age < timedelta(hours=1)
    assert made["versions"]["numpy"] == np.__version__
    assert made["versions"]["linnaeus"] == linnaeus.__version__
    assert {"python", "scipy", "scikit-learn", "numba"} <= made["versions"].keys()
    trace = fitted("FlatSVM: tree")[0].trace_
    assert made["seconds"] == {
        f"model/trace_/{i}/seconds": line["seconds"] for i, line in enumerate(trace)
    }
    assert "made.json" not in storage.read_about(folder)["files"]


def test_seconds_come_back(folder):
    assert_same(storage.load(folder).trace_, fitted("FlatSVM: tree")[0].trace_)


@pytest.mark.parametrize(
    "raw",
    [
        None, b"", b"{", b"[]", b"5", b"\xff", b'{"seconds": NaN}', b'{"seconds": [1]}', b"{}",
        b'{"seconds": {"model/trace_/0/seconds": "1"}}', b"[" * 100_000,
        b'{"seconds": {"model/trace_/0/seconds": true}}',
        b'{"seconds": {"model/trace_/0/seconds": 1e999}}',
    ],
    ids=lambda raw: str(raw)[:50],
)  # fmt: skip
def test_a_model_is_whole_without_it(folder, raw):
    if raw is None:
        (folder / "made.json").unlink()
    else:
        (folder / "made.json").write_bytes(raw)
    model, again = fitted("FlatSVM: tree")[0], storage.load(folder)
    assert_same(model.decision_function(X), again.decision_function(X))
    assert [list(line) for line in again.trace_] == [list(line) for line in model.trace_]
    assert all(math.isnan(line["seconds"]) for line in again.trace_)
    assert again.trace_[-1]["gap"] == model.trace_[-1]["gap"]
    assert isinstance(storage.read_about(folder)["made"], dict)
    again.save(folder)  # and may be replaced


def test_what_is_told_has_its_seconds_there_too(tmp_path):
    about = {"why": "x", "tuning": {"seconds": 1.5, "table": [{"C": 1.0, "seconds": 0.5}, {}]}}
    storage.save([1], tmp_path / "m", about=about, seconds={"read": 2.5})
    told = storage.read_about(tmp_path / "m")
    assert told["about"] == {"why": "x", "tuning": {"table": [{"C": 1.0}, {}]}}
    assert told["made"]["seconds"] == {
        "read": 2.5, "about/tuning/seconds": 1.5, "about/tuning/table/0/seconds": 0.5,
    }  # fmt: skip


def test_numbers_of_numpy_keep_their_type(tmp_path):
    value = {"a": {"seconds": np.float64(1.5)}, "b": {"seconds": 2}, "c": {"seconds": math.inf}}
    storage.save(value, tmp_path / "m")
    assert_same(storage.load(tmp_path / "m"), value)
    assert storage.read_about(tmp_path / "m")["made"]["seconds"] == {"model/a/seconds": 1.5}


AGAIN = {
    "FlatSVM": {"n_jobs": 2, "random_state": 0},
    "FlatLogistic": {"random_state": 0},
    "TopDown": {"random_state": 0},
    "RecursiveSVM": {"random_state": 0},
    "HM3": {"random_state": 0},
    "HierarchicalRLS": {},
    "Hieron": {"random_state": 0},
    "HBLR": {"inference": "variational"},
}


@pytest.mark.parametrize("name", AGAIN)
def test_the_same_fit_writes_the_same_bytes(tmp_path, name):
    for target in ("one", "two"):
        getattr(linnaeus, name)(TAX, **AGAIN[name]).fit(X, Y).save(tmp_path / target)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    made = [json.loads((tmp_path / t / "made.json").read_text()) for t in ("one", "two")]
    assert made[0]["seconds"].keys() == made[1]["seconds"].keys() != set()
    assert made[0]["seconds"] != made[1]["seconds"]
