"""The rate of the solver's loops beside the limit of bare loops over the same matrix.

A visit of a row with m nonzeros in B lanes counts m B. `sweep` only reads weights; `epoch` and
`descend` write them too where a dual variable moves, and the bare loop writes at the same visits,
in the same order. The data are problem S in the folder that PEERS_DATA names.

A second table has what a whole fit costs per class and nonzero, and how often a class visits a row:
flat machines for some blocks of classes, TopDown for all, and one bare sweep of a block. The
problems are wide ones by Zipf's law, dense embeddings, and S and M where PEERS_DATA has them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import bare_fast as bare
from benchmarks.bench_linear import Problem
from benchmarks.recording import publish, shown
from linnaeus import Taxonomy, TopDown
from linnaeus.solvers.linear import svm
from linnaeus.solvers.linear import svm_fast as fast
from linnaeus.solvers.linear.svm_lanes import class_rows, listed
from linnaeus.solvers.numerics.examples import Rows, squared_norms
from linnaeus.synthetic import make_text_like

LANES, REPEATS = 32, 30
BLOCKS, FITS = 5, 3  # how many blocks of classes are fitted, and how often
WIDE = {"2,000 classes": (20_000, 2_000), "8,000 classes": (40_000, 8_000)}  # rows, leaves
DTYPE = np.dtype(np.float32)
ONE = DTYPE.type(1.0)


class State:
    """A block of squared-hinge machines (C = 1, a constant feature) as the solver keeps it."""

    def __init__(self, X: sp.csr_array, Y: sp.csr_array) -> None:
        (n, d), self.rng = X.shape, np.random.default_rng(0)
        self.rows = Rows.of(X, DTYPE)
        self.sign = np.full((n, LANES), -1, dtype=np.int8)
        self.sign[Y[:, :LANES].nonzero()] = 1
        self.machines = fast.Machines(
            *self.rows, squared_norms(X, 1.0).astype(DTYPE), ONE, self.sign,
            np.ones((2, LANES), DTYPE), np.ones(n, DTYPE), True,
        )  # fmt: skip
        self.W, self.w_bias = np.zeros((d, LANES), DTYPE), np.zeros(LANES, DTYPE)
        self.alpha, self.needed = np.zeros((n, LANES), DTYPE), np.zeros((n, LANES), bool)
        self.kept_scores = np.zeros((n, LANES), DTYPE)
        self.order = self.rng.permutation(n).astype(np.int32)
        self.WT = np.empty((LANES, d), DTYPE)

    def epoch(self) -> None:
        step = np.empty(LANES, DTYPE)
        fast.epoch(
            self.order, self.machines, self.W, self.w_bias, self.alpha, self.kept_scores, step
        )

    def sweep(self) -> None:
        loss, gap = np.zeros((1, LANES)), np.zeros(LANES)
        fast.sweep(
            self.machines, self.W, self.w_bias, self.alpha, np.ones(1, DTYPE), loss, gap,
            self.needed, self.kept_scores,
        )  # fmt: skip

    def list_needed(self) -> None:
        """Which rows each lane visits, and its weights in one piece."""
        self.ptr, self.lists = listed(self.needed)
        self.draws = self.rng.random(int(np.diff(self.ptr).max()))
        class_rows(self.W, self.WT)

    def descend(self) -> None:
        """One epoch of every lane over its own rows."""
        fast.descend(
            self.ptr, self.lists, self.draws, 1, np.full((LANES, 2), -1.0), self.machines, self.WT,
            self.w_bias, self.alpha, self.kept_scores, np.empty((3, self.draws.size), DTYPE),
            np.zeros(LANES, np.int64),
        )  # fmt: skip

    def bare_lanes(self, order: np.ndarray, moves: np.ndarray) -> None:
        z, step = np.zeros(LANES, DTYPE), np.full(LANES, 1e-9, DTYPE)
        bare.lanes_visit(order, moves, *self.rows, self.W, z, step)

    def bare_lane(self, moves: list[np.ndarray]) -> None:
        for b in range(LANES):
            order = self.lists[self.ptr[b] : self.ptr[b + 1]]
            bare.lane_visit(order, moves[b], *self.rows, self.WT[b], DTYPE.type(1e-9))

    def kept(self) -> list[np.ndarray]:
        arrays = [self.W, self.w_bias, self.alpha, self.needed, self.WT]
        return [array.copy() for array in arrays]

    def restore(self, kept: list[np.ndarray]) -> None:
        for array, old in zip(
            (self.W, self.w_bias, self.alpha, self.needed, self.WT), kept, strict=True
        ):
            array[:] = old


def least_seconds(state: State, runs: dict[str, Callable[[], None]]) -> dict[str, float]:
    """The least CPU seconds of each, interleaved, every one from the same state."""
    kept, seconds = state.kept(), dict.fromkeys(runs, np.inf)
    for _ in range(REPEATS):
        for name, run in runs.items():
            state.restore(kept)
            start = time.process_time()
            run()
            seconds[name] = min(seconds[name], time.process_time() - start)
    state.restore(kept)
    return seconds


def moved_rows(state: State, run: Callable[[], None]) -> np.ndarray:
    """(n, lanes): whose dual variable `run` moves; the state is as before afterwards."""
    kept = state.kept()
    run()
    moved: np.ndarray = state.alpha != kept[2]
    state.restore(kept)
    return moved


def rates(X: sp.csr_array, Y: sp.csr_array) -> list[list[Any]]:
    state, length = State(X, Y), np.diff(X.indptr)
    for _ in range(3):
        state.epoch()  # as in the midst of a fit
    state.sweep()
    some = np.asarray(moved_rows(state, state.epoch).any(axis=1))[state.order]
    ascending, none = np.sort(state.order), np.zeros(state.order.size, dtype=bool)
    seconds = least_seconds(state, {
        "sweep": state.sweep, "bare sweep": lambda: state.bare_lanes(ascending, none),
        "epoch": state.epoch, "bare epoch": lambda: state.bare_lanes(state.order, some),
    })  # fmt: skip
    state.list_needed()
    own = moved_rows(state, state.descend)  # the lists are now in the order of the visits
    moves = [own[rows, b] for b, rows in enumerate(np.split(state.lists, state.ptr[1:-1]))]
    seconds |= least_seconds(state, {
        "descend": state.descend, "bare descend": lambda: state.bare_lane(moves),
    })  # fmt: skip
    every = float(length.sum()) * LANES
    work = {"sweep": every, "epoch": every, "descend": float(length[state.lists].sum())}
    written = {"sweep": 0.0, "epoch": some.mean(), "descend": np.concatenate(moves).mean()}
    return [
        [name, count / 1e6, float(written[name]), count / seconds[name] / 1e6,
         count / seconds[f"bare {name}"] / 1e6, seconds[f"bare {name}"] / seconds[name]]
        for name, count in work.items()
    ]  # fmt: skip


class Collection(NamedTuple):
    """A problem for whole fits; `Y` over the nodes of `taxonomy`, `leaves` its classes."""

    name: str
    X: sp.csr_array
    Y: sp.csr_array
    taxonomy: Taxonomy
    leaves: np.ndarray


def fitted(folder: Path) -> Iterator[Collection]:
    """The problems, one at a time."""
    for name in ("S", "M"):
        if (folder / name).is_dir():
            given = Problem(folder / name)
            yield Collection(name, given.X, given.Y, given.taxonomy, given.leaf)
    for name, (n, leaves) in WIDE.items():
        X, Y, taxonomy = make_text_like(
            n, 100_000, n_leaves=leaves, nonzeros=60, labels_per_sample=1.0, tfidf=True,
            random_state=0,
        )  # fmt: skip
        yield Collection(name, X, Y, taxonomy, np.asarray(taxonomy.numbers(taxonomy.leaves)))
    yield embeddings()


def embeddings(n: int = 6000, d: int = 384, k: int = 200) -> Collection:
    """Dense rows of length 1 around the centres of their classes."""
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_edges([(f"group {j // 10}", f"class {j}") for j in range(k)])
    leaves = np.asarray(taxonomy.numbers([f"class {j}" for j in range(k)]))
    y = rng.integers(0, k, n)
    A = rng.normal(size=(k, d))[y] + 2.5 * rng.normal(size=(n, d))
    X = sp.csr_array((A / np.linalg.norm(A, axis=1)[:, None]).astype(DTYPE))
    shape = (n, len(taxonomy))
    Y = sp.csr_array((np.ones(n, np.int8), leaves[y], np.arange(n + 1)), shape=shape)
    return Collection("embeddings", X, Y, taxonomy, leaves)


def cpu_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """The least of a few runs, and what the last one returned."""
    least, found = np.inf, None
    for _ in range(FITS):
        start = time.process_time()
        found = function()
        least = min(least, time.process_time() - start)
    return least, found


def cost(data: Collection) -> list[Any]:
    """What fits cost per class and nonzero, in CPU-nanoseconds."""
    X, n_leaves = data.X.astype(DTYPE), data.leaves.size
    first = np.linspace(0, max(n_leaves - LANES, 0), BLOCKS).astype(int)
    columns = np.unique((first[:, None] + np.arange(LANES)).ravel())
    Y = sp.csr_array(data.Y[:, data.leaves[columns[columns < n_leaves]]])
    seconds, (solution, blocks) = cpu_seconds(lambda: svm.solve(X, Y, bias=1.0, dtype=DTYPE))
    state = State(X, Y)
    order, none = np.sort(state.order), np.zeros(X.shape[0], dtype=bool)
    bare_seconds, _ = cpu_seconds(lambda: state.bare_lanes(order, none))
    down = TopDown(data.taxonomy, dtype="float32", random_state=0)
    start = time.process_time()
    down.fit(X, data.Y)
    down_seconds = time.process_time() - start
    flat, one = (1e9 * s / (k * X.nnz) for s, k in ((seconds, Y.shape[1]), (bare_seconds, LANES)))
    row = [
        f"{data.name}: {X.shape[0]:,} x {X.shape[1]:,}", n_leaves, Y.shape[1], flat,
        sum(block.n_visits for block in blocks) / (Y.shape[1] * X.shape[0]),
        float(np.mean([block.n_iter for block in blocks])), solution.gap, one, flat / one,
        1e9 * down_seconds / (n_leaves * X.nnz),
    ]  # fmt: skip
    print("  ".join(shown(value) for value in row), flush=True)
    return row


def costs(folder: Path) -> None:
    """The second table."""
    few = embeddings(40, 5, 20)  # compile before the clock starts
    cost(few)
    publish(
        "rate_fit",
        "Whole fits: CPU-nanoseconds per class and nonzero",
        ["problem", "classes", "fitted", "FlatSVM", "visits of a class and row", "sweeps", "gap",
         "one bare sweep", "FlatSVM in sweeps", "TopDown"],
        [cost(data) for data in fitted(folder)],
        notes=f"Squared hinge, C = 1, gap 1e-3, float32, a constant feature. FlatSVM: {BLOCKS} "
        f"blocks of {LANES} classes, the least of {FITS} runs, with the new numbers of features "
        "that a whole fit needs as well; TopDown: all classes.",
        needs="PEERS_DATA=data",
        benchmark="rate",
    )  # fmt: skip


def main() -> None:
    costs(Path(os.environ.get("PEERS_DATA", "data")))
    folder = Path(os.environ.get("PEERS_DATA", "data")) / "S"
    if not folder.is_dir():
        print("skipped: set PEERS_DATA to the folder that holds the problem S")
        return
    X, Y = (sp.csr_array(sp.load_npz(folder / f"{name}.npz")) for name in ("Xtr", "Ytr"))
    publish(
        "rate",
        "The rate of the loops: million nonzeros x lanes a CPU-second, on S",
        ["loop", "million visits", "rows written", "rate", "bare loop", "share of it"],
        rates(X, Y),
        notes=f"float32, {LANES} lanes at once in sweep and epoch, one in descend; "
        f"the least CPU seconds of {REPEATS} interleaved runs.",
        needs="PEERS_DATA=data",
    )


if __name__ == "__main__":
    main()
