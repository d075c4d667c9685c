"""Models that take the place of others: whole or not at all, even if the writer is killed."""

import os
import subprocess
import sys

import numpy as np
import pytest
from storage_objects import TAX, assert_same, fitted

from linnaeus import FlatSVM, storage
from linnaeus.errors import UserError
from linnaeus.storage import directory, replacing
from linnaeus.storage.replacing import locked


@pytest.fixture
def folder(tmp_path):
    """A saved estimator."""
    path = tmp_path / "model"
    fitted("FlatSVM: tree")[0].save(path)
    return path


# -- what is there already ------------------------------------------------------------------


def test_a_model_is_replaced(folder):
    storage.save({"new": TAX}, folder)
    assert storage.load(folder) == {"new": TAX}
    assert os.listdir(folder.parent) == ["model"]


def test_an_empty_folder_and_a_link_are_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for value in (1, 2):
        storage.save(value, tmp_path / "link")
        assert storage.load(tmp_path / "empty") == value
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda p: p.write_text("x"), "is a file, where the folder of a model is to be"),
        (lambda p: (p.mkdir(), (p / "notes.txt").write_text("x")), "holds notes.txt and no model"),
        (
            lambda p: (p.mkdir(), (p / "model.json").write_text("{}")),
            "is not replaced.*was not written by linnaeus",
        ),
        (
            lambda p: (p.mkdir(), (p / "model.json").write_text("{")),
            "is not replaced.*not valid JSON",
        ),
        (
            lambda p: (storage.save(1, p), (p / "notes.txt").write_text("x")),
            "is not replaced: notes.txt beside it would be lost",
        ),
    ],
)
def test_what_is_no_model_is_left_alone(tmp_path, prepare, message):
    path = tmp_path / "m"
    prepare(path)
    before = sorted((p, p.is_file() and p.read_bytes()) for p in tmp_path.rglob("*"))
    with pytest.raises(UserError, match=message):
        storage.save({"x": 1}, path)
    assert sorted((p, p.is_file() and p.read_bytes()) for p in tmp_path.rglob("*")) == before


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(UserError, match="There is no folder .*nowhere to write m into"):
        storage.save(1, tmp_path / "nowhere" / "m")


def test_what_cannot_be_saved_leaves_nothing(folder):
    before = (folder / "model.json").read_bytes()
    with pytest.raises(UserError, match="model.f is a function"):
        storage.save({"f": len}, folder)
    assert (folder / "model.json").read_bytes() == before
    assert os.listdir(folder.parent) == ["model"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError(28, "No space left")])
@pytest.mark.parametrize("where", ["_fingerprint", "arrays.write", "replacing.exchange"])
def test_a_failure_leaves_the_old_model_and_nothing_else(folder, monkeypatch, error, where):
    def fail(*_):
        raise error

    module, _, name = where.rpartition(".")
    monkeypatch.setattr(getattr(directory, module) if module else directory, name, fail)
    expected = UserError if isinstance(error, OSError) else error
    with pytest.raises(expected):
        storage.save({"new": 1}, folder)
    monkeypatch.undo()
    assert os.listdir(folder.parent) == ["model"]
    assert_same(fitted("FlatSVM: tree")[0], storage.load(folder))


# -- where names cannot be exchanged --------------------------------------------------------


@pytest.fixture
def no_exchange(monkeypatch):
    monkeypatch.setattr(replacing, "_renameat2", lambda: None)


def test_a_model_is_replaced_by_two_renames(folder, no_exchange):
    storage.save({"new": 1}, folder)
    assert storage.load(folder) == {"new": 1}
    assert os.listdir(folder.parent) == ["model"]


def test_an_interrupt_between_two_renames_is_undone(folder, no_exchange, monkeypatch):
    rename, calls = os.rename, []

    def interrupted(a, b):
        calls.append(a)
        if len(calls) == 3:  # in vain, the old one away, the new one in
            raise KeyboardInterrupt
        rename(a, b)

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        storage.save({"new": 1}, folder)
    assert os.listdir(folder.parent) == ["model"]
    assert isinstance(storage.load(folder), FlatSVM)


@pytest.mark.parametrize("then", ["load", "save", "read_about"])
def test_a_kill_between_two_renames_is_mended(folder, then):
    away = folder.parent / ".model.replaced-0123456789abcdef"
    folder.rename(away)
    left = folder.parent / ".model.saving-0123456789abcdef"
    left.mkdir()
    if then == "save":
        storage.save({"new": 1}, folder)
        assert storage.load(folder) == {"new": 1}
        assert os.listdir(folder.parent) == ["model"]
    else:
        getattr(storage, then)(folder)
        assert isinstance(storage.load(folder), FlatSVM)
        assert not away.exists()


def test_leftovers_are_removed_and_what_is_in_use_is_not(folder):
    for name in (".model.saving-0123456789abcdef", ".model.replaced-0123456789abcdef"):
        (folder.parent / name).mkdir()
        (folder.parent / name / "arrays.safetensors").write_text("half")
    others = [
        ".model.saving-mine",
        ".other.saving-0123456789abcdef",
        ".model.saving-0f0f0f0f0f0f0f0f",
    ]
    for name in others:
        (folder.parent / name).mkdir()
    with locked(folder.parent / others[-1]) as mine:
        assert mine
        storage.save({"new": 1}, folder)
        assert sorted(os.listdir(folder.parent)) == sorted([*others, "model"])
    storage.save({"new": 1}, folder)
    assert sorted(os.listdir(folder.parent)) == sorted([*others[:2], "model"])


# -- kills ----------------------------------------------------------------------------------

KILLED = """
import os, random, signal, sys, time
import numpy as np
from linnaeus import Taxonomy, storage
from linnaeus.storage import replacing

target, exchange, kills = sys.argv[1], sys.argv[2] == "exchange", int(sys.argv[3])
if not exchange:
    replacing._renameat2 = lambda: None
def model(k):
    tax = Taxonomy.flat([f"{k} {i}" for i in range(50)])
    return {"k": k, "array": np.full(20_000, k), "tax": tax}
models = [model(0), model(1)]
storage.save(models[0], target)
start = time.perf_counter()
storage.save(models[0], target)
took = time.perf_counter() - start
chance, seen, kept = random.Random(0), set(), 0
for _ in range(kills):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        for k in range(10**6):
            storage.save(models[k % 2], target)
            if k == 1:
                os.write(write, b"!")
    os.read(read, 1)
    time.sleep(chance.random() * 4 * took)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read), os.close(write)
    kept = max(kept, len(os.listdir(os.path.dirname(target))))
    found = storage.load(target)
    k = found["k"]
    assert (found["array"] == k).all() and found["tax"] == models[k]["tax"]
    seen.add(k)
storage.save(models[0], target)
print(sorted(seen), kept, os.listdir(os.path.dirname(target)))
"""


@pytest.mark.faults
@pytest.mark.parametrize("way", ["exchange", "renames"])
def test_a_writer_that_is_killed_leaves_a_whole_model(tmp_path, way):
    call = [sys.executable, "-c", KILLED, str(tmp_path / "model"), way, "25"]
    out = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out.stderr
    seen, kept, left = out.stdout.strip().rsplit(" ", 2)[0], *out.stdout.split()[-2:]
    assert seen == "[0, 1]" and left == "['model']"
    assert int(kept) > 1  # some kills did fall into the writing


READER = """
import sys, time
from linnaeus import storage
end = time.time() + 2
n = 0
while time.time() < end:
    found = storage.load(sys.argv[1], verify=bool(n % 2))
    assert (found["array"] == found["k"]).all()
    n += 1
print(n)
"""


@pytest.mark.slow
def test_a_reader_beside_a_writer_sees_whole_models(tmp_path):
    models = [{"k": k, "array": np.full(1000, k)} for k in range(2)]
    storage.save(models[0], tmp_path / "m")
    call = [sys.executable, "-c", READER, str(tmp_path / "m")]
    with subprocess.Popen(
        call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as reader:
        k = 0
        while reader.poll() is None:
            storage.save(models[k % 2], tmp_path / "m")
            k += 1
        out, err = reader.communicate()
    assert reader.returncode == 0, err
    assert int(out) > 5 and k > 5
