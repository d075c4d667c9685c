"""The same bits on a Ray cluster; a lost worker, a damaged file, another version."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from linnaeus import FlatLogistic, FlatSVM, RecursiveLogistic, RecursiveSVM, TopDown
from linnaeus.errors import UserError
from linnaeus.execution import Checkpoint, ray_engine
from linnaeus.execution.keeping import Given, Keeping
from linnaeus.synthetic import make_text_like

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    slower, ray_engine.SLOWER = ray_engine.SLOWER, np.inf  # small tasks go to workers too
    yield ray_engine.connected(None, 2)
    ray_engine.SLOWER = slower
    ray.shutdown()


@pytest.fixture(scope="module")
def data():
    return make_text_like(300, 400, n_leaves=100, depth=3, random_state=0, nonzeros=15)


@pytest.mark.parametrize("kind", [FlatSVM, FlatLogistic, TopDown, RecursiveSVM, RecursiveLogistic])
def test_all_engines_give_the_same_bits(kind, data, tmp_path):
    X, Y, taxonomy = data
    found = {}
    for how in (
        {}, {"backend": "serial"}, {"backend": "threads"}, {"n_jobs": 3}, {"backend": "ray"},
        {"backend": "ray", "checkpoint": tmp_path / "c"},
    ):  # fmt: skip
        model = kind(taxonomy, random_state=0, **how).fit(X, Y)
        found[str(how)] = model.decision_function(X).tobytes(), model.objective_, model.gap_
    assert len(set(found.values())) == 1, found.keys()


def test_a_large_array_is_a_file_that_workers_map(cluster):
    array = np.arange(100_000.0)
    shard = cluster.put(array)
    path = Path(shard.path)
    assert path.exists()
    assert cluster.put(array).path == shard.path  # written once
    assert cluster.put(np.arange(3)).tolist() == [0, 1, 2]  # small ones go with the task
    del shard
    assert not path.exists()


def test_a_file_is_there_as_long_as_somebody_refers_to_it(cluster):
    array = np.arange(100_000.0)
    first, second = cluster.put(array), cluster.put(array.copy())
    path = Path(first.path)
    del first
    assert path.exists()
    del second
    assert not path.exists()
    assert Path(cluster.put(array).path) != path


def test_a_file_that_was_changed_is_noticed(cluster):
    shard = cluster.put(np.arange(200_000.0))
    Path(shard.path).write_bytes(b"nonsense")
    ray_engine._OPENED.found.clear()
    with pytest.raises(UserError, match="damaged"):
        ray_engine.opened(shard)


def test_a_worker_of_another_version_refuses(cluster, data, monkeypatch):
    X, Y, taxonomy = data
    monkeypatch.setattr("linnaeus.execution.ray_engine.version", lambda: "older")
    with pytest.raises(UserError, match="Install the same versions on all machines"):
        FlatSVM(taxonomy, backend="ray").fit(X, Y)


def test_small_tasks_are_done_here_and_large_ones_by_workers(monkeypatch):
    """As far as the seconds that were seen tell."""
    monkeypatch.setattr(ray_engine, "SLOWER", 1.2)
    pace = ray_engine.Pace(2)
    assert not pace.is_small and pace.at_once() == 2  # of tasks that nobody has seen
    with pace.way():
        sum(range(100_000))
    pace.took(1e-9)
    assert pace.is_small and pace.at_once() == 0
    for _ in range(ray_engine.LAST):
        pace.took(10.0)
    assert not pace.is_small and pace.at_once() == 6


def test_tasks_that_turn_out_to_be_small_end_with_the_same_bits(data, monkeypatch):
    X, Y, taxonomy = data
    monkeypatch.setattr(ray_engine, "SLOWER", 0.0)  # all are, once one has been seen
    found = FlatSVM(taxonomy, random_state=0, backend="ray").fit(X, Y)
    whole = FlatSVM(taxonomy, random_state=0).fit(X, Y)
    assert found.coef_.tobytes() == whole.coef_.tobytes()


def test_a_full_disk_is_named(cluster, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ray_engine.values.Taken, "write", full)
    with pytest.raises(UserError, match="is full, and 1 MB of data .* LINNAEUS_SHARDS"):
        cluster.put(np.arange(125_001.0))


def test_results_of_machines_that_do_not_see_the_checkpoint_are_kept(tmp_path):
    keeping = Keeping(len, Checkpoint(tmp_path / "c"))
    assert keeping.taken(Given("name", 3)) == 3
    assert keeping.checkpoint.load("name") == 3


def test_files_are_sent_to_machines_that_do_not_see_them(cluster, tmp_path, monkeypatch):
    shard = cluster.put(np.arange(50_000.0))
    ray_engine._OPENED.found.clear()
    monkeypatch.setattr(ray_engine.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(ray_engine, "is_here", lambda path: False)
    found = ray_engine.opened(shard, cluster.sender)
    np.testing.assert_array_equal(found, np.arange(50_000.0))
    assert len(list(tmp_path.rglob("*.safetensors"))) == 1
