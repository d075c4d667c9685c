"""A sparse matrix in files: the one that was written, whole or not at all, and never copied."""

import os
import signal
import subprocess
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.errors import FormatError, UserError
from linnaeus.estimators._linear import check_range, tidy
from linnaeus.estimators._rows import read_rows
from linnaeus.estimators.svm import FlatSVM
from linnaeus.solvers.numerics import examples
from linnaeus.solvers.numerics.examples import Rows, squared_norms
from linnaeus.storage import sparse_files
from linnaeus.storage.sparse_files import open_rows, rows_written


def some(n=50, d=20, seed=0, dtype=np.float32):
    X = sp.random_array((n, d), density=0.2, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_array(X, dtype=dtype)


def write(target, X, cuts=()):
    with rows_written(target, X.dtype) as writer:
        for i, j in pairwise([0, *cuts, X.shape[0]]):
            writer.append(X[i:j])


def assert_equal(found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@given(st.lists(st.integers(0, 50)), st.sampled_from(["f4", "f8"]))
def test_what_was_written_is_read(tmp_path_factory, cuts, dtype):
    folder = tmp_path_factory.mktemp("rows")
    X = some(dtype=dtype)
    write(folder / "X", X, sorted(cuts))
    found = open_rows(folder / "X")
    assert_equal(found, X)
    assert found.has_canonical_format and found.indices.dtype == np.int32
    for name in ("indptr", "indices", "data"):  # files that anyone can read
        np.testing.assert_array_equal(np.load(folder / "X" / f"{name}.npy"), getattr(X, name))


def test_rows_are_tidied_and_empty_ones_stay(tmp_path):
    untidy = sp.csr_array(([1.0, 2.0, 0.0, 3.0], [2, 0, 1, 2], [0, 4, 4]), shape=(2, 3))
    with rows_written(tmp_path / "X") as writer:
        writer.append(untidy)
        writer.append(sp.csr_array((2, 3)))
    np.testing.assert_array_equal(
        open_rows(tmp_path / "X").toarray(), [[2, 0, 4], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    )
    assert open_rows(tmp_path / "X").nnz == 2 and untidy.nnz == 4


def test_no_rows_are_a_matrix_too(tmp_path):
    with rows_written(tmp_path / "X"):
        pass
    assert open_rows(tmp_path / "X").shape == (0, 0)


def test_writing_to_the_arrays_does_not_change_the_files(tmp_path):
    X = some()
    write(tmp_path / "X", X)
    found = open_rows(tmp_path / "X")
    found.data[:] = 7
    assert_equal(open_rows(tmp_path / "X"), X)


def test_more_nonzeros_than_32_bits_count(tmp_path, monkeypatch):
    X = some()
    write(tmp_path / "X", X)
    monkeypatch.setattr(sparse_files, "MOST", 3)
    found = open_rows(tmp_path / "X")
    assert (found.indptr.dtype, found.indices.dtype) == (np.int64, np.int32)
    assert_equal(found, X)
    rows = Rows.of(tidy(found), np.float32)
    assert np.shares_memory(rows.indices, found.indices)
    assert np.shares_memory(rows.indptr, found.indptr)


def test_errors_name_the_thing_and_leave_what_was_there(tmp_path):
    X = some()
    write(tmp_path / "X", X)
    with (
        pytest.raises(UserError, match="21 columns.*50 rows with 20"),
        rows_written(tmp_path / "X") as writer,
    ):
        writer.append(X)
        writer.append(some(d=21))
    assert_equal(open_rows(tmp_path / "X"), X)
    with pytest.raises(UserError, match="There is no folder .*nowhere"):
        write(tmp_path / "nowhere" / "X", X)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file is a file"):
        write(tmp_path / "file", X)
    with pytest.raises(UserError, match="There is no file or folder"):
        open_rows(tmp_path / "none")
    assert sorted(os.listdir(tmp_path)) == ["X", "file"]


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)  # also for those who may write anywhere
    with pytest.raises(UserError, match="X could not be written: Permission denied.*permissions"):
        write(tmp_path / "X", some())


@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy", "data.npy", "shape.json"])
def test_damage_is_found(name, tmp_path):
    write(tmp_path / "X", some())
    file = tmp_path / "X" / name
    raw = file.read_bytes()
    for less in (raw[:-2], raw[:-8], raw[:5], b""):
        file.write_bytes(less)
        with pytest.raises(FormatError, match="damaged or cut off.*Write it again"):
            open_rows(tmp_path / "X")
    file.unlink()
    with pytest.raises(FormatError, match="damaged or cut off"):
        open_rows(tmp_path / "X")


@pytest.mark.faults
def test_a_kill_leaves_nothing_under_the_name_and_the_next_writer_cleans_up(tmp_path):
    code = f"""if True:
        import os, signal
        import scipy.sparse as sp
        from linnaeus.storage.sparse_files import rows_written
        with rows_written({str(tmp_path / "X")!r}) as writer:
            writer.append(sp.csr_array([[1.0, 2.0]]))
            (writer.scratch / "words").write_text("some")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    run = subprocess.run([sys.executable, "-c", code], check=False)
    assert run.returncode == -signal.SIGKILL
    assert not (tmp_path / "X").exists() and len(os.listdir(tmp_path)) == 1
    write(tmp_path / "X", some())
    assert os.listdir(tmp_path) == ["X"]


def test_the_way_of_the_rows_into_the_solvers_copies_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(examples, "BLOCK", 1000)
    X = some(2000, 2000, dtype=np.float32)
    write(tmp_path / "X", X)
    found, model = open_rows(tmp_path / "X"), FlatSVM()
    size = found.data.nbytes
    tracemalloc.start()
    try:
        read = tidy(read_rows(model, found, reset=True, accept_sparse="csr"))
        check_range(read, np.float32)
        norms = squared_norms(read, 1.0)
        rows = Rows.of(read, np.float32)
        scored = tidy(read_rows(model, found, reset=False, accept_sparse="csr"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    for array in (read.data, rows.data, scored.data):
        assert np.shares_memory(array, found.data)
    assert np.shares_memory(rows.indices, found.indices)
    monkeypatch.undo()
    np.testing.assert_array_equal(norms, squared_norms(X, 1.0))
    assert peak < 0.15 * size
