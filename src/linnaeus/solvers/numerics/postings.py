"""Sparse weights by feature, so that a row visits only the classes that its features have.

    s_k = b_k + sum_{j in row} x_j W_kj

Weights lie class by class; here they are listed by feature: the classes that have a weight for it,
and these weights (an inverted index). A feature that half of the classes use has a weight for each
class in place of a list, which is no longer than the list and quicker. A sum adds the features in
the order of the row, in float64, so that it has the same bits whatever is asked of it.

The lists are made once, a block of features at a time. They lie in memory, or in a file beside
the weights, from which only the lists of features that occur are ever read.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.compiled import read_only
from linnaeus.errors import FormatError
from linnaeus.files import atomic_path
from linnaeus.solvers.numerics import postings_fast
from linnaeus.storage import arrays
from linnaeus.storage.directory import INDEXES

Array = npt.NDArray[Any]
INDEX = INDEXES[0]

BLOCK = 1 << 26  # bytes of lists that are made at a time, where no limit is given
NEAR = 1 << 16  # bytes between two lists that are rather read than left out
SAMPLE = 256  # weights that tell whether a file belongs to a matrix


class Postings(NamedTuple):
    """The lists of all features; nobody writes to them."""

    class_ptr: Array  # (d + 1,) int64
    classes: Array  # uint32, ascending within a feature; none where every class has a weight
    weight_ptr: Array  # (d + 1,) int64
    weights: Array


class _Plan(NamedTuple):
    """Where the lists of a matrix lie."""

    class_ptr: Array
    weight_ptr: Array
    ascending: bool  # the features of every class

    def blocks(self, itemsize: int, limit: int) -> Iterator[tuple[int, int]]:
        """Features `begin` to `end` whose lists take `limit` bytes at most, or one feature."""
        size = itemsize * self.weight_ptr + 4 * self.class_ptr + 8 * np.arange(self.class_ptr.size)
        begin = 0
        while begin < size.size - 1:
            end = int(np.searchsorted(size, size[begin] + limit, side="right")) - 1
            end = max(end, begin + 1)
            yield begin, end
            begin = end


# -- making lists ---------------------------------------------------------------------------------


def build(W: sp.csr_array) -> Postings:
    """The lists of W (n_classes, d), in memory."""
    plan = _plan(W)
    classes = np.empty(plan.class_ptr[-1], np.uint32)
    weights = np.zeros(plan.weight_ptr[-1], W.dtype)
    for begin, end in plan.blocks(W.dtype.itemsize, BLOCK):
        c, w = (slice(ptr[begin], ptr[end]) for ptr in (plan.class_ptr, plan.weight_ptr))
        _fill(W, plan, begin, end, classes[c], weights[w])
    return _frozen(plan.class_ptr, classes, plan.weight_ptr, weights)


def write(
    W: sp.csr_array, folder: str | Path, limit: int | None = None, name: str = INDEX
) -> Postings:
    """Lists in a file of the folder, memory-mapped; from now on `of` answers with them.

    limit : bytes of lists that are in memory at a time
    name : one of `INDEXES`
    """
    path, plan, dtype = Path(folder) / name, _plan(W), W.dtype
    blocks = list(plan.blocks(dtype.itemsize, limit or BLOCK))
    shapes = {
        "class_ptr": (np.dtype(np.int64), plan.class_ptr.size),
        "weight_ptr": (np.dtype(np.int64), plan.weight_ptr.size),
        "blocks": (np.dtype(np.int64), len(blocks) + 1),
        "weights": (dtype, int(plan.weight_ptr[-1])),
        "classes": (np.dtype(np.uint32), int(plan.class_ptr[-1])),
        "sums": (np.dtype(np.uint32), len(blocks)),
        "mark": (np.dtype(np.uint8), 32),
    }
    with atomic_path(path) as temporary, arrays.Filling(temporary, shapes) as file:
        sums = np.empty(len(blocks), np.uint32)
        for b, (begin, end) in enumerate(blocks):
            classes = np.empty(plan.class_ptr[end] - plan.class_ptr[begin], np.uint32)
            weights = np.zeros(plan.weight_ptr[end] - plan.weight_ptr[begin], dtype)
            _fill(W, plan, begin, end, classes, weights)
            file.put("classes", plan.class_ptr[begin], classes)
            file.put("weights", plan.weight_ptr[begin], weights)
            sums[b] = _sum(classes, weights)
        starts = np.array([0, *(end for _, end in blocks)])
        rest = {"blocks": starts, "sums": sums, "mark": _mark(W), **plan._asdict()}
        for name in shapes.keys() & rest.keys():
            file.put(name, 0, rest[name])
    found = read(W, path, verify=False)
    _remember(W, found)
    return found


def _plan(W: sp.csr_array) -> _Plan:
    n_classes, d = W.shape
    counts = np.zeros(d, np.int64)
    indptr, indices = read_only(W.indptr.astype(np.int64)), read_only(W.indices)
    ascending = postings_fast.count(indptr, indices, 0, n_classes, counts)
    full = 2 * counts >= max(1, n_classes)
    sizes = np.where(full, 0, counts), np.where(full, n_classes, counts)
    class_ptr, weight_ptr = (np.concatenate([[0], np.cumsum(size)]) for size in sizes)
    return _Plan(class_ptr, weight_ptr, bool(ascending))


def _fill(W: Any, plan: _Plan, begin: int, end: int, classes: Array, weights: Array) -> None:
    rows = read_only(W.indptr.astype(np.int64)), read_only(W.indices), read_only(W.data)
    at = np.zeros(end - begin, np.int64)
    ptr = plan.class_ptr, plan.weight_ptr
    postings_fast.fill(*rows, begin, end, plan.ascending, *ptr, at, classes, weights)


def _frozen(*lists: Array) -> Postings:
    return Postings(*map(read_only, lists))


# -- lists in a file ------------------------------------------------------------------------------


def read(W: sp.csr_array, path: Path, verify: bool = True) -> Postings:
    """The lists of W that `write` left in a file.

    verify : compare all checksums, which reads the file once; without it sizes only
    """
    found = arrays.read(path)
    if not _are_of(found, W) or (verify and not all(_sums(found))):
        raise FormatError(
            path, "the index is damaged, or one of other weights. Delete it; it is made again."
        )
    for name in ("classes", "weights"):
        arrays.read_in_pieces(found[name])
    starts = {name: found[name].copy() for name in ("class_ptr", "weight_ptr")}
    return _frozen(*({**found, **starts}[name] for name in Postings._fields))


def fetch(lists: Postings, features: Array) -> None:
    """Have the lists of some features read, if they lie in a file: all at once, not one by one."""
    if arrays.file_of(lists.weights) is None:
        return
    some = np.unique(features)
    for ptr, values in ((lists.class_ptr, lists.classes), (lists.weight_ptr, lists.weights)):
        begins, ends = ptr[some], ptr[some + 1]
        cut = np.flatnonzero(begins[1:] - ends[:-1] > NEAR // values.itemsize) + 1
        whole = begins[np.append(0, cut)], ends[np.append(cut, ends.size) - 1]
        arrays.fetch(values, *(side[whole[1] > whole[0]] for side in whole))


def _are_of(found: dict[str, Array], W: sp.csr_array) -> bool:
    """Whether arrays are the lists of W, as far as their sizes tell."""
    if not found.keys() >= {*Postings._fields, "blocks", "sums", "mark"} or not _is_of(found, W):
        return False
    if found["weights"].dtype != W.dtype:
        return False
    pairs = ((found["class_ptr"], found["classes"]), (found["weight_ptr"], found["weights"]))
    return all(_fits(ptr, values.size, W.shape[1]) for ptr, values in pairs)


def _fits(ptr: Array, size: int, d: int) -> bool:
    """Whether d lists begin and end within so many entries."""
    ends = ptr.shape == (d + 1,) and ptr[0] == 0 and ptr[-1] == size
    return bool(ends and (ptr[1:] >= ptr[:-1]).all())


def _is_of(found: dict[str, Array], W: sp.csr_array) -> bool:
    return "mark" in found and np.array_equal(found["mark"], _mark(W))


def _sums(found: dict[str, Array]) -> Iterator[bool]:
    """Whether the lists of each block are as they were written."""
    starts = found["blocks"]
    for begin, end, known in zip(starts[:-1], starts[1:], found["sums"], strict=True):
        c, w = (slice(found[ptr][begin], found[ptr][end]) for ptr in ("class_ptr", "weight_ptr"))
        yield _sum(found["classes"][c], found["weights"][w]) == known


def _sum(classes: Array, weights: Array) -> int:
    return zlib.crc32(weights.view(np.uint8).data, zlib.crc32(classes.view(np.uint8).data))


def _mark(W: sp.csr_array) -> Array:
    """What tells W from other weights: its shape, the size of each class, some of its weights."""
    some = np.linspace(0, max(0, W.nnz - 1), min(SAMPLE, W.nnz), dtype=np.int64)
    digest = hashlib.sha256(repr((W.shape, W.nnz, W.dtype.str)).encode())
    for part in (W.indptr.astype("<i8"), W.indices[some].astype("<i8"), W.data[some]):
        digest.update(np.ascontiguousarray(part).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


# -- lists that are known -------------------------------------------------------------------------


class _Known(NamedTuple):
    """Lists of a matrix that lives, and what they were made of."""

    matrix: Any  # a weak reference
    made_of: tuple[Array, Array, Array]
    some: Array  # weights
    lists: Postings


_known: dict[int, _Known] = {}  # by the number of the object
_lock = RLock()


def of(W: sp.csr_array) -> Postings:
    """The lists of W, made or found beside its file on first use and kept as long as W lives.

    Weights that are changed in place are looked at here and there only: make a new matrix.
    """
    with _lock:
        known = _known.get(id(W))
        if known is None or not _is_same(known, W):
            _remember(W, _beside(W) or build(W))
        return _known[id(W)].lists


def _remember(W: sp.csr_array, lists: Postings) -> None:
    number = id(W)
    with _lock:
        gone = ref(W, lambda _: _known.pop(number, None))
        _known[number] = _Known(gone, (W.data, W.indices, W.indptr), _some(W), lists)


def _is_same(known: _Known, W: sp.csr_array) -> bool:
    now = (W.data, W.indices, W.indptr)
    return (
        known.matrix() is W
        and all(a is b for a, b in zip(known.made_of, now, strict=True))
        and np.array_equal(known.some, _some(W))
    )


def _some(W: sp.csr_array) -> Array:
    """Some of the weights that lie in memory: those of a file are not read for this."""
    step = max(1, W.data.size // SAMPLE)
    some: Array = W.data[::step].copy() if arrays.file_of(W.data) is None else W.data[:0]
    return some


def _beside(W: sp.csr_array) -> Postings | None:
    """Lists in the folder of the file in which the weights lie."""
    file = arrays.file_of(W.data)
    for path in [] if file is None else map(file.with_name, INDEXES):
        if path.exists() and _is_of(arrays.read(path), W):
            return read(W, path)
    return None
