"""FlatSVM on one and on two threads: wall seconds, interleaved, on problem S of PEERS_DATA."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from benchmarks.bench_linear import Problem
from benchmarks.recording import publish
from linnaeus import FlatSVM

THREADS, REPEATS = (1, 2), 5
QUIET = 0.5  # the load up to which wall seconds are ours


def main() -> None:
    folder = Path(os.environ.get("PEERS_DATA", "data")) / "S"
    if not folder.is_dir():
        print("skipped: set PEERS_DATA to the folder that holds the problem S")
        return
    load = os.getloadavg()[0]
    busy = f" NOT VALID: other work was running (load {load:.1f})." if load > QUIET else ""
    data = Problem(folder)
    options: dict[str, Any] = {"dtype": "float32", "random_state": 0}
    FlatSVM(data.taxonomy, **options).fit(data.X[:300], data.Y[:300])  # compile
    wall: dict[int, list[float]] = {n: [] for n in THREADS}
    cpu: dict[int, list[float]] = {n: [] for n in THREADS}
    for _ in range(REPEATS):
        for n in THREADS:
            start, start_cpu = time.perf_counter(), time.process_time()
            FlatSVM(data.taxonomy, n_jobs=n, **options).fit(data.X, data.Y)
            wall[n].append(time.perf_counter() - start)
            cpu[n].append(time.process_time() - start_cpu)
    alone = min(wall[THREADS[0]])
    publish(
        "threads",
        "FlatSVM on S: wall seconds by number of threads",
        ["threads", "wall s", "CPU s", "speed-up"],
        [[n, min(wall[n]), min(cpu[n]), alone / min(wall[n])] for n in THREADS],
        notes=f"The best of {REPEATS} interleaved fits, float32, gap 1e-3.{busy}",
        needs="PEERS_DATA=data",
    )


if __name__ == "__main__":
    main()
