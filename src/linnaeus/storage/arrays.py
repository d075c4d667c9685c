"""Arrays in one safetensors file: written by that library, read memory-mapped.

A safetensors file is an 8-byte length, a JSON header of that length (names, types, shapes, places)
and the numbers, little-endian. The library checks the header; the arrays are then views of one
private mapping of the file. So loading copies nothing, pages are read when they are used, and
writing to an array changes memory, never the file.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from linnaeus.errors import FormatError

Array = npt.NDArray[Any]

_CODES = {
    "BOOL": "|b1", "I8": "|i1", "U8": "|u1", "I16": "<i2", "U16": "<u2", "I32": "<i4",
    "U32": "<u4", "I64": "<i8", "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
DTYPES = frozenset(np.dtype(code).name for code in _CODES.values())  # that can be written


def write(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays of the types `DTYPES`."""
    save_file({name: _standard(array) for name, array in arrays.items()}, path)
    _share(path)  # the library keeps its files to the user alone


def _standard(array: Array) -> Array:
    """The numbers in one piece, in the machine's own order of bytes (the library swaps them)."""
    return np.require(array, array.dtype.newbyteorder("="), "C")


def read(path: Path) -> dict[str, Array]:
    """The arrays of a file, as copy-on-write views of it."""
    try:
        with safe_open(path, framework="numpy") as file:
            names = list(file.keys())
        header = _header(path)
        whole = np.memmap(path, np.uint8, "c") if names else np.zeros(0, np.uint8)
        begin = path.stat().st_size - max((header[n]["data_offsets"][1] for n in names), default=0)
        return {name: _view(whole[begin:], header[name]) for name in names}
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise FormatError(
            path,
            f"the arrays are damaged or cut off ({error}). Copy the model again from where it is "
            f"whole, or train it again.",
        ) from None


def _header(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(size))
    return header


def _view(numbers: Array, entry: Mapping[str, Any]) -> Array:
    start, end = entry["data_offsets"]
    array = numbers[start:end].view(_CODES[entry["dtype"]]).reshape(entry["shape"])
    if sys.byteorder == "big":
        return array.astype(array.dtype.newbyteorder("="))
    return array.view(np.ndarray)


def _share(path: str | Path) -> None:
    """Give a file the permissions that files made by this user have."""
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(path, 0o666 & ~umask)
