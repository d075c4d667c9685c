"""The rate of the solver's loops beside the limit of bare loops over the same matrix.

A visit of a row with m nonzeros in B lanes counts m B. `sweep` only reads weights; `epoch` and
`descend` write them too where a dual variable moves, and the bare loop writes at the same visits,
in the same order. The data are problem S in the folder that PEERS_DATA names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import bare_fast as bare
from benchmarks.recording import publish
from linnaeus.solvers.linear import svm_fast as fast
from linnaeus.solvers.numerics.examples import Rows, squared_norms

LANES, REPEATS = 32, 30
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
        self.order = self.rng.permutation(n).astype(np.int32)
        self.WT = np.empty((LANES, d), DTYPE)

    def epoch(self) -> None:
        work = np.empty((2, LANES), DTYPE)
        fast.epoch(self.order, self.machines, self.W, self.w_bias, self.alpha, self.needed, work)

    def sweep(self) -> None:
        loss, gap, z = np.zeros((1, LANES)), np.zeros(LANES), np.empty(LANES, DTYPE)
        fast.sweep(
            self.machines, self.W, self.w_bias, self.alpha, np.ones(1, DTYPE), loss, gap,
            self.needed, z,
        )  # fmt: skip

    def list_needed(self) -> None:
        """Which rows each lane visits, and its weights in one piece."""
        self.ptr = np.zeros(LANES + 1, dtype=np.int64)
        np.cumsum(self.needed.sum(axis=0), out=self.ptr[1:])
        self.lists = np.empty(int(self.ptr[-1]), dtype=np.int32)
        fast.list_needed(self.needed, self.ptr, self.lists)
        self.draws = self.rng.random(int(np.diff(self.ptr).max()))
        fast.transpose(self.W, self.WT)

    def descend(self) -> None:
        """One epoch of every lane over its own rows."""
        fast.descend(
            self.ptr, self.lists, self.draws, 1, np.full(LANES, -1.0), self.machines, self.WT,
            self.w_bias, self.alpha, np.zeros(LANES, np.int64),
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


def main() -> None:
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
