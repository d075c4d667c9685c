"""The same bits on a Ray cluster; a lost worker, a damaged file, another version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linnaeus import FlatLogistic, FlatSVM, RecursiveLogistic, RecursiveSVM, TopDown
from linnaeus.errors import UserError
from linnaeus.execution import ray_engine
from linnaeus.synthetic import make_text_like

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    yield ray_engine.connected(None, 2)
    ray.shutdown()
    ray_engine.connected.cache_clear()


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


KILLER = """
import os, random, signal, subprocess, sys, time
random.seed(int(sys.argv[1]))
end = time.time() + 4
while time.time() < end:
    time.sleep(random.random())
    found = subprocess.run(["pgrep", "-f", "ray::_run"], capture_output=True, text=True)
    for pid in found.stdout.split()[:1]:
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_survives_the_loss_of_workers(data, seed):
    X, Y, taxonomy = data
    whole = FlatSVM(taxonomy, random_state=0).fit(X, Y)
    killer = subprocess.Popen([sys.executable, "-c", KILLER, str(seed)])
    try:
        while killer.poll() is None:
            model = FlatSVM(taxonomy, random_state=0, backend="ray").fit(X, Y)
            assert model.coef_.tobytes() == whole.coef_.tobytes()
    finally:
        killer.wait()


def test_files_are_sent_to_machines_that_do_not_see_them(cluster, tmp_path, monkeypatch):
    shard = cluster.put(np.arange(50_000.0))
    ray_engine._OPENED.found.clear()
    monkeypatch.setattr(ray_engine.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(ray_engine, "is_here", lambda path: False)
    found = ray_engine.opened(shard, cluster.sender)
    np.testing.assert_array_equal(found, np.arange(50_000.0))
    assert len(list(tmp_path.rglob("*.safetensors"))) == 1
