"""Files of arrays that are written piece by piece, and arrays that lie in one file."""

import numpy as np
import pytest

from linnaeus.errors import UserError
from linnaeus.storage import arrays


def test_pieces_in_any_order_make_the_arrays(tmp_path):
    path = tmp_path / "some.safetensors"
    shapes = {"a": (np.dtype("i8"), 3), "b": (np.dtype("f4"), 5), "none": (np.dtype("u4"), 0)}
    with arrays.Filling(path, shapes) as file:
        file.put("b", 3, np.array([4, 5], np.float64))
        file.put("a", 0, np.array([7, 8, 9]))
        file.put("b", 0, np.array([1, 2, 3], np.float32)[::1])
        file.put("none", 0, np.zeros(0, np.uint32))
    found = arrays.read(path)
    assert {name: (array.dtype, array.tolist()) for name, array in found.items()} == {
        "a": (np.dtype("i8"), [7, 8, 9]),
        "b": (np.dtype("f4"), [1, 2, 3, 4, 5]),
        "none": (np.dtype("u4"), []),
    }


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    path = tmp_path / "some.safetensors"
    with arrays.Filling(path, {"a": (np.dtype("i8"), 3)}) as file:
        file.put("a", 0, np.arange(3))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match="damaged or cut off"):
        arrays.read(path)


@pytest.mark.parametrize("mapped", [True, False])
def test_arrays_in_one_piece(tmp_path, mapped):
    parts = [np.arange(6, dtype=np.float32).reshape(3, 2), np.zeros((0, 4), np.float32),
             np.array([[7.0, 8.0]], np.float32)]  # fmt: skip
    if mapped:
        arrays.write(tmp_path / "parts", {"z": parts[0], "m": parts[1], "a": parts[2]})
        held = arrays.read(tmp_path / "parts")
        parts = [held["z"], held["m"], held["a"]]
    whole, starts = arrays.joined(parts)
    assert (arrays.file_of(whole) == tmp_path / "parts") if mapped else starts.tolist() == [0, 6, 6]
    for part, start in zip(parts, starts, strict=True):
        assert np.array_equal(whole[start : start + part.size], part.ravel())
