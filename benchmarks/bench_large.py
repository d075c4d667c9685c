"""A hundred thousand classes on one machine: seconds, gap, memory, quality, and the best five.

Text-like rows (`make_text_like`) over a tree of 100,000 leaves in 6 levels, and over a DAG of the
shape of SWIKI-2011 (36,504 leaves, 50,000 nodes). Every fit runs in a process of its own, with the
memory that it is allowed (`memory="8G"`), and with a checkpoint: what was killed goes on when it is
started again with the same FOLDER.
The highest memory counts what the process itself holds (RssAnon), and apart from that everything
that is mapped (VmHWM), which the system may take back at any time.

PARTS chooses: flat, topdown, recursive, dag-flat, dag-recursive. LEAVES, ROWS, FEATURES are the
sizes (the DAG has a bit more than a third of the leaves); MINUTES ends a fit with what it has then,
and without a checkpoint; FOLDER keeps checkpoints. A part that is not run again keeps its row of
the record:

    PARTS=flat python -m benchmarks large
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import linnaeus
from benchmarks.bench_memory import resident
from benchmarks.recording import RESULTS, in_fresh_process, publish
from linnaeus.execution.memory import never_refused
from linnaeus.metrics import macro_f1, micro_f1, precision_at
from linnaeus.synthetic import make_text_like

NAME = "large"
OPTIONS: dict[str, dict[str, Any]] = {
    "flat": {"kind": "FlatSVM", "tol": 1e-2, "memory": "8G"},
    "topdown": {"kind": "TopDown", "tol": 1e-2, "decode": "beam"},
    "recursive": {"kind": "RecursiveSVM", "tol": 5e-2, "memory": "8G"},
    "dag-flat": {"kind": "FlatSVM", "tol": 1e-2, "memory": "8G"},
    "dag-recursive": {"kind": "RecursiveSVM", "tol": 5e-2, "memory": "8G"},
}
COLUMNS = [
    "problem", "model", "classes trained", "wall minutes", "CPU minutes", "gap", "rounds",
    "weights, millions", "MB own at most", "MB mapped too", "micro-F1", "macro-F1", "P@1", "P@5",
    "ms a document, batch", "ms, alone",
]  # fmt: skip
TEST, ALONE = 5000, 50  # documents asked in a batch, and one by one
EVERY = 0.2  # seconds between two looks at the memory


def sizes() -> tuple[int, int, int]:
    """Leaves, rows, features."""
    leaves, rows, features = (os.environ.get(n, "") for n in ("LEAVES", "ROWS", "FEATURES"))
    return int(leaves or 100_000), int(rows or 200_000), int(features or 200_000)


def problem(part: str) -> tuple[Any, ...]:
    """Taxonomy, rows and labels to learn from, and the same to be asked."""
    leaves, rows, features = sizes()
    shape: dict[str, Any] = {"n_leaves": leaves, "depth": 6, "nonzeros": 60, "skew": 0.5}
    if part.startswith("dag"):
        shape |= {"n_leaves": 36_504 * leaves // 100_000, "dag": 0.1, "labels_per_sample": 1.85}
    X, Y, taxonomy = make_text_like(
        rows + TEST, features, **shape, tfidf=True, random_state=0, dtype=np.float32
    )
    return taxonomy, X[:rows], Y[:rows], X[rows:], Y[rows:]


class Memory(threading.Thread):
    """What this process holds of its own, looked at from time to time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0.0

    def run(self) -> None:
        while True:
            self.most = max(self.most, resident("RssAnon"))
            time.sleep(EVERY)


def fit(part: str) -> dict[str, Any]:
    """Everything that is measured of one model, in this process."""
    options = dict(OPTIONS[part])
    kind = getattr(linnaeus, options.pop("kind"))
    small = make_text_like(300, 2000, n_leaves=20, nonzeros=20, random_state=0)
    warm = {"memory": 1} if part.endswith("recursive") else {}
    own = options | warm | {"memory": "2G"} if "memory" in options and not warm else options | warm
    with never_refused():
        kind(small[2], dtype="float32", n_jobs=2, **own).fit(*small[:2]).top_k(small[0])  # loops
    taxonomy, X, Y, X_test, Y_test = problem(part)
    print(f"{part}: {taxonomy!r}, {X.shape}, {X.nnz:,} numbers", file=sys.stderr, flush=True)
    minutes = float(os.environ.get("MINUTES", "0"))
    folder = None if minutes else Path(os.environ["FOLDER"]) / f"checkpoint-{part}"
    model = kind(taxonomy, dtype="float32", n_jobs=2, random_state=0, checkpoint=folder, **options)
    memory = Memory()
    memory.start()
    wall, cpu = time.perf_counter(), time.process_time()
    with linnaeus.progress(), _ending_after(minutes):
        model.fit(X, Y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = {
        "trained": trained(model, Y), "wall": wall / 60, "cpu": cpu / 60, "gap": model.gap_,
        "rounds": model.n_iter_, "weights": n_weights(model) / 1e6, "own": memory.most,
        "mapped": resident("VmHWM"),
    }  # fmt: skip
    print(json.dumps(found), file=sys.stderr, flush=True)
    return found | quality(model, taxonomy, X_test, Y_test)


@contextmanager
def _ending_after(minutes: float) -> Iterator[None]:
    """Ctrl-C after some minutes: without a checkpoint a fit then ends with what it has."""
    timer = threading.Timer(60 * minutes, os.kill, (os.getpid(), signal.SIGINT))
    if minutes:
        timer.start()
    yield
    timer.cancel()


def trained(model: Any, Y: sp.csr_array) -> int:
    """How many classes have rows."""
    return int(np.count_nonzero(np.bincount(Y.indices)))


def n_weights(model: Any) -> int:
    """Numbers kept of the weights."""
    if "own_coef_" in vars(model):
        return int(model.own_coef_.nnz + model.common_coef_.nnz)
    if hasattr(model, "models_"):
        return int(sum(local.W.size for local in model.models_.parts if local is not None))
    return int(model.coef_.nnz if sp.issparse(model.coef_) else model.coef_.size)


def quality(model: Any, taxonomy: Any, X: sp.csr_array, Y: sp.csr_array) -> dict[str, Any]:
    """F1 of the best label, precision of the best, and milliseconds a document."""
    model.top_k(X[:2])
    cpu = time.process_time()
    best, _ = model.top_k(X, 5)
    batch = time.process_time() - cpu
    few = [X[[i]] for i in range(ALONE)]
    cpu = time.process_time()
    for row in few:
        model.top_k(row, 5)
    alone = time.process_time() - cpu
    place = taxonomy.numbers(list(model.classes_))[best]
    here = np.arange(X.shape[0])
    first = sp.csr_array((np.ones(here.size), (here, place[:, 0])), shape=Y.shape)
    ranked = sp.csr_array(
        (1e-9 + np.tile(np.arange(5.0, 0.0, -1.0), here.size),
         (np.repeat(here, 5), place.ravel())), shape=Y.shape
    )  # fmt: skip
    return {
        "micro": micro_f1(Y, first, taxonomy), "macro": macro_f1(Y, first, taxonomy),
        "first": precision_at(Y, ranked, taxonomy, k=1),
        "fifth": precision_at(Y, ranked, taxonomy, k=5),
        "batch": 1000 * batch / here.size, "alone": 1000 * alone / ALONE,
    }  # fmt: skip


def known_rows() -> dict[str, list[Any]]:
    """Rows of the record by part, where it has the same columns."""
    try:
        record = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return record["facts"]["rows"] if record["columns"] == COLUMNS else {}


def main() -> None:
    parts = os.environ.get("PARTS", ",".join(OPTIONS)).split(",")
    leaves, rows, features = sizes()
    found = known_rows()
    given = {n: os.environ[n] for n in ("LEAVES", "ROWS", "FEATURES", "MINUTES") if n in os.environ}
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.environ.get("FOLDER", temporary)
        for part in parts:
            told = in_fresh_process("benchmarks.bench_large", part, FOLDER=folder)
            shape = "DAG" if part.startswith("dag") else "tree"
            found[part] = [shape, OPTIONS[part]["kind"], *told.values()]
            publish(
                NAME,
                f"{leaves:,} classes, {rows:,} rows, {features:,} features",
                COLUMNS,
                [found[name] for name in OPTIONS if name in found],
                notes="About 60 numbers a row; two threads; milliseconds are CPU time. F1 is that "
                "of the best label alone. Memory beyond the process's own are pages of files.",
                needs=" ".join(f"{n}={value}" for n, value in {"PARTS": part, **given}.items()),
                facts={"rows": found},
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(fit(sys.argv[1])))
