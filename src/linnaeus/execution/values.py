"""What tasks take and give, as one file of arrays: nested tuples, lists and numbers.

A value is plain: arrays, sparse arrays, numbers, texts, None, slices, and tuples, named tuples,
lists and dictionaries of plain values. Its arrays lie in a safetensors file, what holds them
together in the note of that file. Nothing is executed when one is read: a named tuple is found by
its name in this package, and must be one.

The digest of a value is that of its content, so equal values have equal names.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import FormatError
from linnaeus.files import atomic_path
from linnaeus.storage import arrays

SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array}
PLAIN = (str, int, float, bool, type(None))
DAMAGED = "Remove the file; what it held is made again."


class Taken:
    """A plain value taken apart: its arrays, what holds them together, and the digest of both."""

    def __init__(self, value: Any) -> None:
        self.arrays: dict[str, Any] = {}
        self.structure = _taken_apart(value, self.arrays)

    @property
    def size(self) -> int:
        """The bytes of the arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    @cached_property
    def checksum(self) -> str:
        """That of the numbers."""
        return _checksum(self.arrays)

    @property
    def digest(self) -> str:
        """As `digest` of the value."""
        return _name([self.structure], self.checksum)

    def write(self, path: Path, lasting: bool = False) -> None:
        """Write the value whole or not at all.

        lasting : whether the disk is to hold it before this returns
        """
        with atomic_path(path) as temporary:
            arrays.write(temporary, self.arrays, json.dumps([self.structure, self.checksum]))
            if not lasting:
                return
            descriptor = os.open(temporary, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def write(path: Path, value: Any) -> None:
    """Write a plain value whole or not at all, so that the disk holds it."""
    Taken(value).write(path, lasting=True)


def read(path: Path, check: bool = True) -> Any:
    """The value of a file; its arrays are read when they are used, and writing copies them.

    check : whether to compare the numbers with their checksum, which reads them all
    """
    return _read(path, check)[0]


def read_with_digest(path: Path) -> tuple[Any, str]:
    """The value of a file, whose numbers are checked, and its `digest`."""
    value, structure, checksum = _read(path, True)
    return value, _name([structure], checksum)


def _read(path: Path, check: bool) -> tuple[Any, Any, str]:
    """A value, its structure and its checksum."""
    found = arrays.read(path, DAMAGED)
    try:
        structure, checksum = json.loads(arrays.note(path))
        if check and checksum != _checksum(found):
            raise ValueError("its numbers are not what was written")
        return _put_together(structure, found), structure, checksum
    except (ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        raise FormatError(path, f"the file is damaged ({error}). {DAMAGED}") from None


def digest(*values: Any) -> str:
    """A name for plain values by their content."""
    taken = Taken(list(values))
    return _name(taken.structure, taken.checksum)


def _name(structure: list[Any], checksum: str) -> str:
    text = json.dumps(structure, sort_keys=True)
    return hashlib.sha256(f"{text}{checksum}".encode()).hexdigest()[:32]


def _checksum(found: dict[str, Any]) -> str:
    total = hashlib.sha256()
    for name, array in sorted(found.items()):
        total.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with every array, and whatever else is not plain, changed."""
    if isinstance(value, PLAIN + (np.generic, slice)):
        return value
    if sp.issparse(value):
        parts = [change(part) for part in (value.data, value.indices, value.indptr)]
        return SPARSE[value.format](tuple(parts), shape=value.shape)
    if isinstance(value, tuple):
        items = [mapped(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return change(value)


# -- structure ------------------------------------------------------------------------------------


def _taken_apart(value: Any, found: dict[str, Any]) -> Any:
    """What is not an array, as JSON; arrays are entered into `found` under names of their own."""
    if isinstance(value, PLAIN) and not isinstance(value, np.generic):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _array_apart(value, found)
    if sp.issparse(value):
        value = value if value.format in SPARSE else sp.csr_array(value)
        parts = [_taken_apart(p, found) for p in (value.data, value.indices, value.indptr)]
        return {"sparse": value.format, "shape": list(map(int, value.shape)), "parts": parts}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, dict):
        return {"dict": [[str(key), _taken_apart(item, found)] for key, item in value.items()]}
    if isinstance(value, tuple | list):
        items = [_taken_apart(item, found) for item in value]
        if hasattr(value, "_fields"):
            return {"named": f"{type(value).__module__}:{type(value).__qualname__}", "of": items}
        return items if isinstance(value, list) else {"tuple": items}
    raise TypeError(f"{type(value).__name__} is not a plain value of tasks")


def _array_apart(value: Any, found: dict[str, Any]) -> dict[str, Any]:
    name, entry = str(len(found)), {}
    if isinstance(value, np.generic):
        entry["scalar"] = True
    array = np.asarray(value)
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        array, entry["turned"] = array.T, True
    found[name] = array
    return {"array": name} | entry


def _put_together(structure: Any, found: dict[str, Any]) -> Any:
    if isinstance(structure, PLAIN):
        return structure
    if isinstance(structure, list):
        return [_put_together(item, found) for item in structure]
    if "array" in structure:
        array = found[structure["array"]]
        if structure.get("scalar"):
            return array[()]
        return array.T if structure.get("turned") else array
    if "sparse" in structure:
        parts = tuple(_put_together(part, found) for part in structure["parts"])
        return SPARSE[structure["sparse"]](parts, shape=tuple(structure["shape"]))
    if "slice" in structure:
        return slice(*structure["slice"])
    if "dict" in structure:
        return {key: _put_together(item, found) for key, item in structure["dict"]}
    if "named" in structure:
        return _named(structure["named"])(*(_put_together(i, found) for i in structure["of"]))
    return tuple(_put_together(item, found) for item in structure["tuple"])


def _named(name: str) -> Any:
    """A named tuple of this package."""
    kind = resolved(name)
    if not (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise ValueError(f"{name} is no named tuple")
    return kind


def resolved(name: str) -> Any:
    """What ``module:name`` means within this package."""
    module, _, path = name.partition(":")
    if module.split(".")[0] != "linnaeus":
        raise ValueError(f"{name} is not of this package")
    found = importlib.import_module(module)
    for step in path.split("."):
        found = getattr(found, step)
    return found
