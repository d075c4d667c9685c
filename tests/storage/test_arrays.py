"""The file of arrays: mapped, not copied; nothing but what was written."""

import json
import mmap
import struct

import numpy as np
import pytest

from linnaeus.errors import FormatError
from linnaeus.storage import arrays

KINDS = ["?", "i1", "u1", "<i2", "u2", "<i4", "u4", "<i8", "u8", "f2", "<f4", "<f8"]


def some():
    made = {f"model/{kind}": np.arange(1, 8).astype(kind) for kind in KINDS}
    return made | {
        "matrix": np.arange(6.0).reshape(2, 3),
        "scalar": np.array(3.5),
        "empty": np.zeros((0, 4), np.float32),
        "strided": np.arange(20)[::3],
        "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big end": np.arange(5, dtype=">f8"),
    }


@pytest.fixture
def path(tmp_path):
    arrays.write(tmp_path / "a.safetensors", some())
    return tmp_path / "a.safetensors"


def test_arrays_come_back(path):
    read = arrays.read(path)
    assert read.keys() == some().keys()
    for name, array in some().items():
        assert read[name].dtype == array.dtype.newbyteorder("=")
        assert read[name].shape == array.shape and (read[name] == array).all(), name
        assert read[name].flags.c_contiguous and read[name].flags.aligned, name


def test_equal_arrays_give_equal_bytes(path, tmp_path):
    arrays.write(tmp_path / "b", dict(reversed(some().items())))
    assert (tmp_path / "b").read_bytes() == path.read_bytes()


def test_no_arrays_are_a_file_too(tmp_path):
    arrays.write(tmp_path / "none", {})
    assert arrays.read(tmp_path / "none") == {}


def test_arrays_are_views_of_the_file_that_can_be_written_to(path):
    before = path.read_bytes()
    read = arrays.read(path)
    for array in read.values():
        assert type(array) is np.ndarray and array.flags.writeable
        base = array
        while isinstance(base, np.ndarray):
            base = base.base
        assert isinstance(base, mmap.mmap)
    read["matrix"][0, 0] = 99.0
    assert read["matrix"][0, 0] == 99.0
    assert path.read_bytes() == before
    assert arrays.read(path)["matrix"][0, 0] == 0.0


def test_a_file_that_is_cut_off_is_refused(path):
    raw = path.read_bytes()
    for size in [0, 1, 7, 8, 9, 50, len(raw) // 2, len(raw) - 1]:
        path.write_bytes(raw[:size])
        with pytest.raises(FormatError, match="a.safetensors: the arrays are damaged or cut off"):
            arrays.read(path)
    path.write_bytes(raw + b"x")
    with pytest.raises(FormatError, match="damaged or cut off"):
        arrays.read(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F64", "shape": [2**62], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1], "data_offsets": [0, 2**40]},
        {"dtype": "F64", "shape": [1], "data_offsets": [-8, 0]},
        {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]},
        {"dtype": "F64", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "O", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1]},
        {},
        None,
    ],
    ids=repr,
)
def test_crafted_headers_are_refused(tmp_path, entry):
    header = json.dumps({"a": entry}).encode()
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(FormatError, match="damaged or cut off"):
        arrays.read(path)


def test_a_header_that_claims_to_be_huge_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", 2**63) + b"{}")
    with pytest.raises(FormatError, match="damaged or cut off"):
        arrays.read(path)
