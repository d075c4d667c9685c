"""The five best of very many classes: milliseconds a document, warm and right after the pages of
the weights were dropped from memory.

Weights and documents are made up: features have frequencies like those of words, f-th proportional
to 1 / (f + 2.7); a class has the features of a hundred documents of 60 draws, documents have 60
features. Every step runs in a process of its own:

    exact   `top_k` of FlatSVM by an index in a file (`solvers.numerics.postings`)
    scipy   X @ W.T by SciPy, W.T transposed beforehand, then argpartition
    beam    `top_k` of TopDown(decode="beam") on a tree with ten children a node; its local
            models have the features of two documents a class

To drop pages the index is unmapped from memory (MADV_DONTNEED) and the kernel is told to forget
its copy of the file (fsync, POSIX_FADV_DONTNEED); what was then read from the disk is counted.

TOP_K_CLASSES=1000,10000 chooses sizes. TOP_K_FOLDER keeps the files there for another run.
TOP_K_MODEL names the folder of a saved model with sparse weights, which is measured instead; an
index is written beside its weights.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.bench_memory import resident

D, ROW, DOCUMENTS, K = 200_000, 60, 100, 5
BLOCK = 500  # classes made at a time
LIMIT = 1 << 29  # bytes, of the index in memory while it is made
N_WARM, N_COLD, N_PEER, REPEATS = 200, 20, 20, 3
MB = 1 << 20


# -- made-up weights and documents ----------------------------------------------------------------


def frequencies(d: int) -> np.ndarray:
    """Zipf's law with an offset."""
    p = 1.0 / (np.arange(d) + 2.7)
    return p / p.sum()


def drawn(rng: Any, p: np.ndarray, n: int, n_draws: int, most: int) -> tuple[Any, Any]:
    """Distinct features of n classes or documents, as CSR arrays without data."""
    from benchmarks.top_k_fast import draw

    until = np.cumsum(p)
    until[-1] = 1.0
    guide = np.searchsorted(until, np.linspace(0, 1, 1 << 16))
    indptr, indices = np.zeros(n + 1, np.int64), np.empty(n * min(n_draws, most), np.int32)
    mark = np.full(p.size, -1, np.int64)
    draw(until, guide, rng.random(n * n_draws), n_draws, most, mark, 0, indptr, indices)
    return indptr, indices[: indptr[-1]]


def documents(p: np.ndarray, n: int) -> sp.csr_array:
    """Rows of 60 features and length 1."""
    rng = np.random.default_rng(1)
    indptr, indices = drawn(rng, p, n, 20 * ROW, ROW)
    data = rng.random(indices.size) + 0.1
    X = sp.csr_array((data.astype(np.float32), indices, indptr), shape=(n, p.size))
    return sp.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]).tocsr())


def make(folder: Path, n_classes: int) -> dict[str, Any]:
    """Write sparse weights of so many classes, a block at a time."""
    from linnaeus.storage import arrays

    rng, p, starts = np.random.default_rng(0), frequencies(D), [0]
    raw = {name: (folder / name).open("wb") for name in ("data", "indices")}
    for first in range(0, n_classes, BLOCK):
        n = min(BLOCK, n_classes - first)
        indptr, indices = drawn(rng, p, n, ROW * DOCUMENTS, D)
        indices.tofile(raw["indices"])
        (0.1 * rng.standard_normal(indices.size, np.float32)).tofile(raw["data"])
        starts += (starts[-1] + indptr[1:]).tolist()
    for file in raw.values():
        file.close()
    shapes = {
        "indptr": (np.dtype(np.int32), len(starts)),  # of int64 SciPy would copy the indices
        "data": (np.dtype(np.float32), starts[-1]),
        "indices": (np.dtype(np.int32), starts[-1]),
    }
    with arrays.Filling(folder / "arrays.safetensors", shapes) as whole:
        whole.put("indptr", 0, np.array(starts))
        for name, dtype in (("data", np.float32), ("indices", np.int32)):
            for at in range(0, starts[-1], 1 << 24):
                part = np.fromfile(folder / name, dtype, 1 << 24, offset=4 * at)
                whole.put(name, at, part)
            (folder / name).unlink()
    return {"nonzeros": starts[-1]}


# -- models ---------------------------------------------------------------------------------------


def flat(folder: Path) -> Any:
    """The model of a folder, or one that has the weights written there."""
    from linnaeus import FlatSVM, load
    from linnaeus.estimators import _targets
    from linnaeus.storage import arrays

    if (folder / "model.json").exists():
        found = load(folder, verify=False)
        return getattr(found, "estimator", found)
    held = arrays.read(folder / "arrays.safetensors")
    n = held["indptr"].size - 1
    model = FlatSVM()
    model.taxonomy_, model.n_features_in_ = None, D
    model.targets_, _ = _targets.learn(np.arange(n), None, "leaves")
    lists = held["data"], held["indices"], held["indptr"].astype(np.int32)
    model.coef_ = sp.csr_array(lists, shape=(n, D))
    model.intercept_ = 0.1 * np.random.default_rng(2).standard_normal(n, np.float32) - 1
    return model


def used(model: Any) -> np.ndarray:
    """How often documents have each feature: as the weights do, where these are not made up."""
    if model.coef_.shape[1] == D and type(model.taxonomy_) is type(None):
        return frequencies(D)
    counts = np.bincount(model.coef_.indices, minlength=model.coef_.shape[1])
    return counts / counts.sum()


def tree_of(n_leaves: int) -> Any:
    """A tree with ten children a node."""
    from linnaeus import Taxonomy

    parents: dict[int, int | None] = dict.fromkeys(range(10))
    level = list(range(10))
    while len(level) < n_leaves:
        new = range(len(parents), len(parents) + 10 * len(level))
        parents |= {v: level[j // 10] for j, v in enumerate(new)}
        level = list(new)
    return Taxonomy.from_parents(parents)


def top_down(n_leaves: int) -> Any:
    """Local models with made-up weights: features of two documents for each class below."""
    from linnaeus import TopDown
    from linnaeus.estimators import _targets, _topdown_local
    from linnaeus.solvers.linear.topdown import Local

    tree, rng, p = tree_of(n_leaves), np.random.default_rng(0), frequencies(D)
    model = TopDown(tree, decode="beam", beam=10)
    model.taxonomy_, model.n_features_in_, model.threshold_ = tree, D, 0.0
    model.targets_, _ = _targets.learn(list(tree.leaves), tree, "leaves")
    model.leaf_numbers_, model.decoder_ = tree.leaf_numbers, model._decoder(tree)
    below = 10 ** (int(tree.depth.max()) - tree.depth)
    parts = []
    for v in model.decoder_.fam.parent.tolist():
        n_draws = 2 * ROW * (int(below[v]) if v >= 0 else 10 * int(below[0]))
        features = drawn(rng, p, 1, n_draws, D)[1] if n_draws < 40 * D else np.arange(D)
        W = 0.1 * rng.standard_normal((features.size, 10), np.float32)
        features = features.astype(np.int32)
        parts.append(Local(features, W, np.zeros(10, np.float32), 1.0, 1.0, 1, 0.0))
    model.models_ = _topdown_local.LinearModels(parts, D, False, 0.0)
    return model


# -- measuring ------------------------------------------------------------------------------------


def timed(work: Callable[[], Any], n: int, repeats: int = REPEATS) -> dict[str, float]:
    """Least CPU and wall milliseconds for each of n documents."""
    cpu, wall = [], []
    for _ in range(repeats):
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        cpu.append(time.process_time() - start_cpu)
        wall.append(time.perf_counter() - start)
    return {"cpu": 1000 * min(cpu) / n, "wall": 1000 * min(wall) / n}


def read_bytes() -> int:
    """What this process has had read from the disk."""
    text = Path("/proc/self/io").read_text()
    return int(text.split("read_bytes: ")[1].split()[0])


def drop(arrays: list[Any]) -> None:
    """Drop the pages of mapped files from this process and from the kernel's memory."""
    files = set()
    for array in arrays:
        base = array
        while not isinstance(base, np.memmap):
            base = base.base
        base._mmap.madvise(mmap.MADV_DONTNEED)
        files.add(base.filename)
    for name in files:
        with open(name, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measured(model: Any, X: sp.csr_array, held: list[Any]) -> dict[str, Any]:
    """Warm in a batch and one by one; cold, each document alone."""
    model.top_k(X, K)
    out: dict[str, Any] = {"batch": timed(lambda: model.top_k(X, K), X.shape[0])}
    few = [X[[i]] for i in range(N_COLD)]
    out["alone"] = timed(lambda: [model.top_k(x, K) for x in few], N_COLD)
    cold, before = [], read_bytes()
    for x in few:
        drop(held)
        cold.append(timed(lambda x=x: model.top_k(x, K), 1, 1))
    out["read"] = (read_bytes() - before) / N_COLD / MB
    out["cold"] = {key: float(np.median([c[key] for c in cold])) for key in ("cpu", "wall")}
    return {**out, "memory": resident("VmHWM")}


def exact(folder: Path) -> dict[str, Any]:
    from linnaeus.solvers.numerics import postings

    model = flat(folder)
    lists = postings.read(model.coef_, folder / postings.INDEX, verify=False)
    postings._remember(model.coef_, lists)
    X = documents(used(model), N_WARM)
    sizes = np.diff(lists.weight_ptr)[X.indices]
    found = measured(model, X, list(lists[1::2]))
    return {**found, "visited": float(sizes.sum() / X.shape[0])}


def index(folder: Path) -> dict[str, Any]:
    from linnaeus.solvers.numerics import postings

    W = flat(folder).coef_
    small = sp.csr_array(np.eye(3, dtype=W.dtype))
    small.indptr, small.indices = (
        small.indptr.astype(W.indptr.dtype),
        small.indices.astype(W.indices.dtype),
    )
    postings.build(small)  # compile
    start, start_cpu = time.perf_counter(), time.process_time()
    postings.write(W, folder, LIMIT)
    wall, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    size = (folder / postings.INDEX).stat().st_size / MB
    status = Path("/proc/self/status").read_text()
    own = int(status.split("RssAnon:")[1].split()[0]) / 1024
    return {"cpu": cpu, "wall": wall, "size": size, "memory": resident("VmHWM"), "own": own,
            "nonzeros": int(W.nnz), "classes": W.shape[0]}  # fmt: skip


def peer(folder: Path) -> dict[str, Any]:
    """SciPy's product and argpartition; W.T is read from the index, which has it by feature."""
    from linnaeus.storage import arrays

    model = flat(folder)
    n, d = model.coef_.shape
    X = documents(used(model), N_PEER)
    held = arrays.read(folder / "index.safetensors")
    T = _transposed(held, n, d, model.coef_.nnz)
    bias, found = model.intercept_, []

    def best() -> None:
        S = (X @ T).toarray() + bias
        top = np.argpartition(S, n - K, axis=1)[:, n - K :]
        order = np.argsort(-np.take_along_axis(S, top, axis=1), axis=1)
        found[:] = [np.take_along_axis(top, order, axis=1)]

    out = timed(best, N_PEER)
    return {**out, "memory": resident("VmHWM"), "best": found[0].tolist()}


def _transposed(held: dict[str, Any], n: int, d: int, nnz: int) -> sp.csr_array:
    """W.T (d, n) in memory."""
    indptr, at = np.zeros(d + 1, np.int64), 0
    indices, data = np.empty(nnz, np.int32), np.empty(nnz, np.float32)
    for f in range(d):
        classes = held["classes"][held["class_ptr"][f] : held["class_ptr"][f + 1]]
        weights = held["weights"][held["weight_ptr"][f] : held["weight_ptr"][f + 1]]
        if weights.size > classes.size:
            classes = np.flatnonzero(weights)
            weights = weights[classes]
        data[at : at + classes.size], indices[at : at + classes.size] = weights, classes
        at += classes.size
        indptr[f + 1] = at
        if f % 1000 == 999:  # what was read is not needed again
            drop([held["classes"]])
    return sp.csr_array((data[:at], indices[:at], indptr), shape=(d, n))


def agreement(folder: Path) -> dict[str, Any]:
    """What `top_k` answers for the documents that SciPy was given."""
    model = flat(folder)
    return {"best": model.top_k(documents(used(model), N_PEER), K)[0].tolist()}


def beam(folder: Path, n_classes: int) -> dict[str, Any]:
    from linnaeus import load

    if not (folder / "beam").exists():
        top_down(n_classes).save(folder / "beam")
    model = load(folder / "beam", verify=False)
    X = documents(frequencies(D), N_WARM)
    return measured(model, X, [part.W for part in model.models_.parts[:1]])


STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    "make": make, "index": index, "exact": exact, "peer": peer, "beam": beam, "agree": agreement,
}  # fmt: skip


# -- the table ------------------------------------------------------------------------------------


def run(folder: Path, n_classes: int) -> tuple[list[list[Any]], list[Any]]:
    """Rows of the table of times, and that of the table of the index."""
    from benchmarks.recording import in_fresh_process

    def step(name: str, *more: Any) -> dict[str, Any]:
        found = in_fresh_process("benchmarks.bench_top_k", name, str(folder), *map(str, more))
        print(f"{n_classes:,} {name}: {str(found)[:300]}", flush=True)
        return found

    made = not (folder / "model.json").exists()
    if made and not (folder / "arrays.safetensors").exists():
        step("make", n_classes)
    built = step("index")
    ours, theirs = step("exact"), step("peer")
    same = np.mean(np.array(step("agree")["best"]) == np.array(theirs["best"]))
    label = f"{built['classes']:,} classes"
    rows = [
        _row(f"{label}, exact", ours, theirs),
        [f"{label}, SciPy", theirs["cpu"], theirs["wall"], None, None, None, None, None, 1.0,
         theirs["memory"]],
    ]  # fmt: skip
    if made:
        rows.append(_row(f"{label}, beam", step("beam", n_classes), theirs))
    table = [label, built["nonzeros"], ours["visited"], built["size"], built["cpu"],
             built["wall"], built["memory"], float(same)]  # fmt: skip
    return rows, table


def _row(label: str, found: dict[str, Any], theirs: dict[str, Any]) -> list[Any]:
    batch, alone, cold = found["batch"], found["alone"], found["cold"]
    times = [one[key] for one in (batch, alone, cold) for key in ("cpu", "wall")]
    return [label, *times, found["read"], theirs["cpu"] / batch["cpu"], found["memory"]]


def main() -> None:
    from benchmarks.recording import publish

    sizes = [int(n) for n in os.environ.get("TOP_K_CLASSES", "1000,10000,100000").split(",")]
    given, model = os.environ.get("TOP_K_FOLDER"), os.environ.get("TOP_K_MODEL")
    rows, indexes = [], []
    for n in sizes if model is None else [0]:
        with tempfile.TemporaryDirectory() as own:
            folder = Path(model) if model else Path(given or own) / str(n)
            folder.mkdir(parents=True, exist_ok=True)
            times, table = run(folder, n)
            rows += times
            indexes.append(table)
    needs = "TOP_K_MODEL=model" if model else ""
    name = "top_k_model" if model else "top_k"
    publish(
        name, f"The best {K} classes, ms a document (one thread)",
        ["weights", "CPU", "wall", "CPU alone", "wall alone", "cold CPU", "cold wall",
         "cold MB read", "SciPy's CPU / CPU", "peak MB"],
        rows, needs=needs, benchmark="top_k",
        notes="CPU, wall: in a batch, warm. Alone: one document a call, warm. Cold: one document a "
        "call, each after the pages of the weights were unmapped (MADV_DONTNEED) and dropped from "
        "the kernel's memory (fsync, POSIX_FADV_DONTNEED), median; what was read from the disk "
        "counts, with read-ahead.",
    )  # fmt: skip
    publish(
        f"{name}_index", "The index of the weights by feature",
        ["weights", "nonzeros", "weights visited a document", "index MB", "CPU s", "wall s",
         "peak MB", "answers as SciPy"],
        indexes, needs=needs, benchmark="top_k",
        notes=f"Made with at most {LIMIT // MB} MB of lists in memory at a time; the peak counts "
        "the pages of the mapped weights too. Answers: share of places with SciPy's class, which "
        "adds in single precision.",
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        more = [int(n) for n in sys.argv[3:]]
        print(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), *more)))
    else:
        main()
