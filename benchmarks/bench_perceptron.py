"""The rate of Perceptron epochs beside a bare loop that only computes the scores of all nodes.

A visit of a row with m nonzeros counts m x nodes. Every method runs in a process of its own: the
bare loop and one epoch of the online Perceptron start from the same weights, in the same order, in
turns; then a whole averaged fit is timed, with the mean and everything else, and its peak memory
above that of the data. The data are the problems S and M in the folder that PEERS_DATA names.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

PASSES, REPEATS = 5, 3
PROBLEMS = ("S", "M")


def least(runs: dict[str, Any], before: Any) -> dict[str, float]:
    """The least CPU seconds of each, in turns; `before` is called before every run."""
    seconds = dict.fromkeys(runs, np.inf)
    for _ in range(REPEATS):
        for name, run in runs.items():
            before()
            start = time.process_time()
            run()
            seconds[name] = min(seconds[name], time.process_time() - start)
    return seconds


def loops(data: Any) -> dict[str, float]:
    """CPU seconds of an epoch and of the bare loop, on weights from two epochs."""
    from benchmarks import bare_fast as bare
    from linnaeus.losses import class_attributes, class_loss
    from linnaeus.solvers.online import perceptron

    tax = data.taxonomy
    shared = perceptron.Classes.of(class_attributes(tax, "depth"), class_loss(None, tax))
    problem = perceptron.build(data.X, None, data.Y[:, tax.leaf_numbers], shared)
    n_nodes = shared.attributes.shape[1]
    W = np.zeros((data.X.shape[1], n_nodes), np.float32)
    perceptron.run(problem, W, "perceptron", max_iter=2, shuffle=True)
    kept, order = W.copy(), np.random.default_rng(0).permutation(problem.order)
    problem, z = problem._replace(order=order), np.empty(n_nodes, np.float32)
    rows = problem.inputs[:3]
    bare.scores_visit(order[:2], *rows, W, z)  # compile
    return least(
        {
            "bare": lambda: bare.scores_visit(order, *rows, W, z),
            "epoch": lambda: perceptron.run(problem, W, "perceptron"),
        },
        lambda: np.copyto(W, kept),
    )


def fit(data: Any, method: str) -> dict[str, float]:
    """CPU seconds and peak memory of a whole fit."""
    from benchmarks.bench_memory import forget_peak, resident
    from linnaeus import HierarchicalPerceptron

    options: dict[str, Any] = {"dtype": "float32", "max_iter": PASSES, "random_state": 0}
    HierarchicalPerceptron(data.taxonomy, method, **options).fit(data.X[:99], data.Y[:99])
    forget_peak()
    before, start = resident("VmRSS"), time.process_time()
    model = HierarchicalPerceptron(data.taxonomy, method, **options).fit(data.X, data.Y)
    seconds = time.process_time() - start
    return {
        "seconds": seconds,
        "passes": float(model.n_iter_),
        "peak": resident("VmHWM") - before,
        "left": resident("VmRSS") - before,
        "updates": float(model.n_updates_),
    }


def measure(problem: str, what: str) -> dict[str, float]:
    from benchmarks.bench_linear import Problem

    data = Problem(Path(os.environ["PEERS_DATA"]) / problem)
    work = data.X.nnz * len(data.taxonomy) / 1e6
    return {"work": work} | (loops(data) if what == "loops" else fit(data, what))


def main() -> None:
    from benchmarks.recording import in_fresh_process, publish

    folder = Path(os.environ.get("PEERS_DATA", "data"))
    names = [name for name in PROBLEMS if (folder / name).is_dir()]
    if not names or not Path("/proc/self/clear_refs").exists():
        print("skipped: set PEERS_DATA to the folder of the problems S and M (on Linux)")
        return
    rows: list[list[Any]] = []
    for name in names:
        r = in_fresh_process("benchmarks.bench_perceptron", name, "loops")
        bare = r["work"] / r["bare"]
        rows.append([f"{name}, bare loop", r["bare"], bare, 1.0, None, None, None])
        rows.append([f"{name}, online epoch", r["epoch"], r["work"] / r["epoch"],
                     r["bare"] / r["epoch"], None, None, None])  # fmt: skip
        for method in ("online", "averaged"):
            f = in_fresh_process("benchmarks.bench_perceptron", name, method)
            rate = f["work"] * f["passes"] / f["seconds"]
            rows.append([f"{name}, {method} fit, a pass", f["seconds"] / f["passes"], rate,
                         rate / bare, f["peak"], f["left"], f["updates"]])  # fmt: skip
    publish(
        "perceptron",
        "Perceptron epochs: million nonzeros x nodes a CPU-second, beside a bare loop",
        ["what", "CPU s a pass", "rate", "share of bare", "peak MB", "left MB", "updates"],
        rows,
        notes=f"float32, one thread. Loops: the least of {REPEATS} runs in turns. Fits: {PASSES} "
        "passes, everything from labels to stored weights in the clock, which thresholds for "
        "several labels are a part of; memory is above that of the data.",
        needs="PEERS_DATA=data",
    )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[1], sys.argv[2])))
    else:
        main()
