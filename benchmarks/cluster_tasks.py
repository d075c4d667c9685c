"""What the tasks of real fits take: seconds, bytes in and out, and the driver's steps between them.

`watched` lets every fit in its block run its tasks under a clock, on whatever engine it uses. The
measurements are those that `benchmarks.scale` reckons with; `benchmarks.simulate_cluster` runs
them. Seconds are CPU seconds of the thread that works, unless wall seconds are said.
"""

from __future__ import annotations

import os
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import linnaeus
from benchmarks.cluster import Job, Phase
from linnaeus.estimators import _recursive, svm
from linnaeus.execution import Executor, Serial
from linnaeus.solvers.linear.svm import LANES, dual_variables, solve
from linnaeus.synthetic import make_text_like, random_taxonomy

WATCHED = (svm, _recursive)  # whose fits ask for an executor
REPEATS = 2  # of every block; the least seconds count
PRUNE = 0.01  # weights below this are dropped in the counts of weights kept


class Took(NamedTuple):
    """One task."""

    cpu: float
    wall: float
    bytes_in: int
    bytes_out: int


class Call:
    """One call of `map`: the tasks side by side, and the driver's CPU clock around them."""

    def __init__(self, name: str) -> None:
        self.name, self.tasks, self.driver = name, list[Took](), 0.0
        self.began, self.ended = time.thread_time(), np.inf
        self.wall = -time.perf_counter()  # of the whole call, once it has ended
        self.taking = np.zeros(2)  # wall and CPU seconds of what the driver did with the answers

    def seconds(self, clock: str = "cpu") -> list[float]:
        return [float(getattr(task, clock)) for task in self.tasks]


def timed(function: Any, *arguments: Any) -> tuple[Any, Took]:
    """A task with its seconds and bytes; the last argument is its block."""
    wall, cpu = time.perf_counter(), time.thread_time()
    answer = function(*arguments)
    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
    return answer, Took(cpu, wall, n_bytes(arguments[-1]), n_bytes(answer))


def n_bytes(found: Any) -> int:
    """Bytes of all arrays in nested tuples and lists."""
    if isinstance(found, np.ndarray):
        return int(found.nbytes)
    if sp.issparse(found):
        return n_bytes([found.data, found.indices, found.indptr])
    return sum(map(n_bytes, found)) if isinstance(found, (tuple, list)) else 0


class Timed:
    """An executor that notes what its tasks took."""

    def __init__(self, inner: Executor, calls: list[Call] | None = None) -> None:
        self.inner, self.calls = inner, [] if calls is None else calls

    def put(self, array: Any) -> Any:
        return self.inner.put(array)

    def map(self, function: Any, references: Any, blocks: Any) -> Iterator[Any]:
        call, work = Call(function.__name__), update_wrapper(partial(timed, function), function)
        if self.calls:  # what the driver did since
            self.calls[-1].driver = max(call.began - self.calls[-1].ended, 0.0)
        self.calls.append(call)
        for answer, took in self.inner.map(work, references, blocks):
            call.tasks.append(took)
            call.taking -= time.perf_counter(), time.thread_time()
            yield answer
            call.taking += time.perf_counter(), time.thread_time()
        call.ended = time.thread_time()
        call.wall += time.perf_counter()


@contextmanager
def watched() -> Iterator[list[Call]]:
    """The calls of the fits in this block, as they come."""
    calls: list[Call] = []
    old = [module.executor for module in WATCHED]
    for module, make in zip(WATCHED, old, strict=True):
        module.executor = lambda *a, make=make, **k: Timed(make(*a, **k), calls)  # type: ignore
    try:
        yield calls
    finally:
        for module, make in zip(WATCHED, old, strict=True):
            module.executor = make


class Fit(NamedTuple):
    """A fit under the clock."""

    wall: float
    cpu: float
    calls: list[Call]

    @property
    def share(self) -> float:
        """CPU seconds of the tasks by their wall seconds: what of a core a thread got."""
        cpu, wall = (sum(sum(call.seconds(k)) for call in self.calls) for k in ("cpu", "wall"))
        return cpu / wall

    def job(self, workers: int = 1) -> Job:
        """Phases by CPU seconds of a fit on one worker, to be run on so many.

        Between the tasks one worker, who is the driver too, takes the answers; several go on while
        the driver does. What is outside of all calls comes last.
        """
        phases = [Phase(call.seconds(), driver=call.driver) for call in self.calls]
        rest = self.cpu - Job(phases).work
        rest -= sum(call.taking[1] for call in self.calls) if workers > 1 else 0.0
        return Job([*phases, Phase([], driver=max(rest, 0.0))])

    def replay(self, workers: int) -> Job:
        """Phases by the wall seconds of the tasks as they were, side by side or not."""
        outside = self.wall - sum(call.wall for call in self.calls)
        phases = [
            Phase(call.seconds("wall"), driver=call.taking[0] if workers == 1 else 0.0)
            for call in self.calls
        ]
        return Job([*phases, Phase([], driver=outside)])


def fitted(model: Any, X: Any, y: Any) -> Fit:
    """Fit a model and note everything."""
    with watched() as calls:
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X, y)
        return Fit(time.perf_counter() - wall, time.process_time() - cpu, calls)


def made_up(rows: int, features: int, classes: int, nonzeros: int) -> tuple[Any, Any, Any]:
    """A taxonomy, X, and one label a row."""
    X, Y, taxonomy = make_text_like(
        rows, features, n_leaves=classes, nonzeros=nonzeros, labels_per_sample=1.0, tfidf=True,
        random_state=0,
    )  # fmt: skip
    return taxonomy, X, np.array(taxonomy.nodes)[Y.indices]


# -- some blocks of a very wide problem ------------------------------------------------------


def some_blocks(
    rows: int, features: int, classes: int, per_row: float, labels: float, blocks: int = 8
) -> dict[str, float]:
    """A few blocks of flat machines of a problem of that size, as means per block and class."""
    X, Y, taxonomy = make_text_like(
        rows, features, n_leaves=classes, depth=6, nonzeros=int(per_row), labels_per_sample=labels,
        tfidf=True, random_state=0,
    )  # fmt: skip
    rng, leaves = np.random.default_rng(0), taxonomy.leaf_numbers
    starts = rng.integers(0, leaves.size - LANES, size=blocks)
    columns = leaves[(starts[:, None] + np.arange(LANES)).ravel()]
    return {
        "rows": rows, "features": features, "classes": classes, "nonzeros": X.nnz,
        **solved(X, sp.csr_array(Y[:, columns])),
    }  # fmt: skip


def solved(X: sp.csr_array, Y: sp.csr_array) -> dict[str, float]:
    """What the blocks of Y take, and how much of their answers is not zero."""
    classes = Y.shape[1]
    clocks = [Timed(Serial()) for _ in range(REPEATS)]
    for clock in clocks:
        solution, blocks = solve(
            X, Y, bias=1.0, tol=1e-3, dtype=np.float32, keep_duals=True, executor=clock
        )
    call = clocks[0].calls[0]
    seconds = np.min([clock.calls[0].seconds() for clock in clocks], axis=0)
    bare = sum(block.duals.nnz * 8 for block in blocks)  # what has to be said of the duals
    kept = sum(n_bytes(block.duals) for block in blocks)
    return {
        "block_seconds": float(seconds.mean()),
        "ns": 1e9 * float(seconds.sum()) / (classes * X.nnz),
        "visits": sum(block.n_visits for block in blocks) / (classes * X.shape[0]),
        "positives": Y.nnz / classes,
        "support": bare / 8 / classes,
        "features_touched": _touched(X, dual_variables(blocks, Y)) / classes,
        "weights_kept": float((np.abs(solution.coef) >= PRUNE).sum()) / classes,
        "task_bytes_a_row": sum(task.bytes_in for task in call.tasks) / len(blocks) / X.shape[0],
        "answer_bytes_a_row": (kept - bare) / len(blocks) / X.shape[0],
    }  # fmt: skip


def _touched(X: sp.csr_array, duals: sp.csr_array) -> int:
    """Nonzeros of the weights of all classes: the features of rows that matter."""
    A, B = (sp.csr_array((np.ones(M.nnz, np.float32), M.indices, M.indptr), shape=M.shape)
            for M in (sp.csr_array(duals.T), X))  # fmt: skip
    return int((A @ B).nnz)


# -- what is not a task ----------------------------------------------------------------------


def bytes_a_node(n_leaves: int = 20_000) -> float:
    """Memory of a taxonomy with its names and their index, by tracemalloc."""
    random_taxonomy(n_leaves, 6, 0).index("n1")  # what is loaded at the first use
    tracemalloc.start()
    taxonomy = random_taxonomy(n_leaves, 6, 0)
    taxonomy.index(taxonomy.nodes[-1])
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return taken / len(taxonomy.nodes)


def json_bytes_a_class(sizes: tuple[int, int] = (100, 500)) -> float:
    """By how much a class more lengthens model.json."""
    few, many = map(_saved, sizes)
    return (many - few) / (sizes[1] - sizes[0])


def _saved(classes: int) -> int:
    taxonomy, X, y = made_up(10 * classes, 1000, classes, 15)
    model = linnaeus.FlatSVM(taxonomy, prune=PRUNE, tol=0.1, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return os.path.getsize(Path(folder) / "model" / "model.json")


def pair_seconds(n_inner: int = 24, repeats: int = 2000) -> float:
    """What the driver takes to compare the inner nodes of two blocks that were side by side."""
    one, other = np.arange(n_inner), np.arange(n_inner) * 3
    began = time.process_time()
    for _ in range(repeats):
        np.intersect1d(one, other, return_indices=True)
    return (time.process_time() - began) / repeats
