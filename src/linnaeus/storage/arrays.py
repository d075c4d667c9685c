"""Arrays in one safetensors file: written by that library, read memory-mapped.

A safetensors file is an 8-byte length, a JSON header of that length (names, types, shapes, places)
and the numbers, little-endian. The library checks the header; the arrays are then views of one
private mapping of the file. So loading copies nothing, pages are read when they are used, and
writing to an array changes memory, never the file. A text may lie beside the arrays: a note.
"""

from __future__ import annotations

import json
import mmap
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

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
_USUAL = platform.system() == "Linux" and platform.machine() in ("x86_64", "aarch64")
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if _USUAL else 0)  # of linux/mman.h
AGAIN = "Copy the model again from where it is whole, or train it again."


def write(path: Path, arrays: Mapping[str, Array], note: str | None = None) -> None:
    """Write arrays of the types `DTYPES`, and a note."""
    about = None if note is None else {"note": note}
    save_file({name: _standard(array) for name, array in arrays.items()}, path, about)
    _share(path)  # the library keeps its files to the user alone


class Filling:
    """A file whose arrays are written piece by piece, so that none of them need be in memory.

    shapes : the type and the number of entries of each array, the longest types first, so that
        each begins where its type may
    """

    def __init__(self, path: Path, shapes: Mapping[str, tuple[np.dtype[Any], int]]) -> None:
        codes = {np.dtype(code): name for name, code in _CODES.items()}
        header, self._start, end = {}, {}, 0
        for name, (dtype, size) in shapes.items():
            begin, end = end, end + dtype.itemsize * size
            little = dtype.newbyteorder("<")
            header[name] = {"dtype": codes[little], "shape": [size], "data_offsets": [begin, end]}
            self._start[name] = begin, little
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        self._begin, self._file = 8 + len(text), path.open("r+b" if path.exists() else "w+b")
        self._file.write(len(text).to_bytes(8, "little") + text)
        self._file.truncate(self._begin + end)

    def put(self, name: str, first: int, values: Array) -> None:
        """Write the entries of an array from a number on."""
        begin, dtype = self._start[name]
        self._file.seek(self._begin + begin + dtype.itemsize * int(first))
        self._file.write(np.ascontiguousarray(values, dtype).view(np.uint8).data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def _standard(array: Array) -> Array:
    """The numbers in one piece, in the machine's own order of bytes (the library swaps them)."""
    return np.require(array, array.dtype.newbyteorder("="), "C")


def read(path: Path, remedy: str = AGAIN) -> dict[str, Array]:
    """The arrays of a file, as copy-on-write views of it.

    remedy : what to do about a file that is damaged
    """
    try:
        with safe_open(path, framework="numpy") as file:
            names = list(file.keys())
        header = _header(path)
        whole = mapped(path)
        begin = path.stat().st_size - max((header[n]["data_offsets"][1] for n in names), default=0)
        return {name: _view(whole[begin:], header[name]) for name in names}
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise FormatError(path, f"the arrays are damaged or cut off ({error}). {remedy}") from None


def mapped(path: Path) -> npt.NDArray[np.uint8]:
    """The bytes of a file as an array: read when they are used, and private where written to.

    Nothing is reserved for what might be written, so the file may be larger than memory.
    """
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return np.zeros(0, np.uint8)
        if hasattr(mmap, "MAP_PRIVATE"):
            flags, how = mmap.MAP_PRIVATE | _NO_RESERVE, mmap.PROT_READ | mmap.PROT_WRITE
            found = mmap.mmap(file.fileno(), 0, flags=flags, prot=how)
        else:  # Windows
            found = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    whole: Any = np.ndarray.__new__(np.memmap, (len(found),), np.uint8, found)
    whole._mmap, whole.filename, whole.offset, whole.mode = found, path.resolve(), 0, "c"
    return whole  # type: ignore[no-any-return]


def note(path: Path) -> str:
    """The text beside the arrays of a file that `read` has found to be whole."""
    return str(_header(path)["__metadata__"]["note"])


def file_of(array: Array) -> Path | None:
    """The file that an array is a view of, None for one in memory."""
    name = getattr(_mapping(array), "filename", None)
    return None if name is None else Path(name)


def read_in_pieces(array: Array) -> None:
    """Tell the system that pieces of a mapped array are read, and what is beside them is not."""
    _advise(array, "MADV_RANDOM", [0], [array.size])


def fetch(array: Array, begins: Any, ends: Any) -> None:
    """Ask the system for pieces of a mapped array, all at once and without waiting for them."""
    _advise(array, "MADV_WILLNEED", begins, ends)


def _advise(array: Array, name: str, begins: Any, ends: Any) -> None:
    base: Any = _mapping(array)
    advice = getattr(mmap, name, None)
    if advice is None or not hasattr(base, "offset") or not array.size:
        return
    skipped = base.offset % mmap.ALLOCATIONGRANULARITY  # of a page that was mapped whole
    first = array.ctypes.data - base.ctypes.data + skipped
    starts = first + array.itemsize * np.asarray(begins)
    stops = first + array.itemsize * np.asarray(ends)
    starts -= starts % mmap.PAGESIZE
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        base.base.madvise(advice, start, stop - start)


def joined(parts: Sequence[Array]) -> tuple[Array, npt.NDArray[np.int64]]:
    """Arrays of one type one after the other, and where each of them begins.

    Views of one file stay where they are, in no order, and are not read.
    """
    dtype, some = parts[0].dtype, [part for part in parts if part.size]
    bases = [_mapping(part) for part in some]
    mapped = bool(some) and bases[0] is not None and bases[0].dtype == np.uint8
    if mapped and all(base is bases[0] for base in bases):
        places = [part.ctypes.data - bases[0].ctypes.data for part in some]
        low, high = min(places), max(p + part.nbytes for p, part in zip(places, some, strict=True))
        starts = np.zeros(len(parts), np.int64)
        starts[[bool(part.size) for part in parts]] = np.array(places) - low
        in_place = all(part.flags.c_contiguous and part.dtype == dtype for part in some)
        if in_place and not (low % dtype.itemsize or (starts % dtype.itemsize).any()):
            return bases[0][low:high].view(np.ndarray).view(dtype), starts // dtype.itemsize
    ends = np.cumsum([0, *(part.size for part in parts)])
    return np.concatenate([part.ravel() for part in parts]), ends[:-1]


def _mapping(array: Array) -> Any:
    """The whole mapping of a file that an array is a view of, as bytes."""
    base: Any = array
    while base is not None and not isinstance(getattr(base, "base", None), mmap.mmap):
        base = getattr(base, "base", None)
    return base


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
