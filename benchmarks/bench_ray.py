"""Fits on two threads and on two workers of a Ray cluster on this machine, interleaved.

The clock starts when the cluster is up, its loops are compiled and the library is loaded in every
worker. Memory is the sum of the shares (PSS) of the process with all below it: the cluster and its
workers. PEERS_DATA names the folder of the problems S and M; RAY_CASES=S-flat,M-recursive chooses
some, RAY_REPEATS how many fits of each.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.killing import family
from benchmarks.recording import in_fresh_process, publish

CASES = ("S-flat", "S-recursive", "M-flat", "M-recursive")
REPEATS = {"S": 5, "M": 3}
WORKERS = 2
PAUSE = 0.25  # seconds between two looks at the memory
MB = 1 << 20
MOST = 1.2  # times the wall seconds of threads that are allowed
HERTZ = os.sysconf("SC_CLK_TCK")


def shares(path: Path, within: str = "") -> int:
    """Bytes of a process's share of memory (PSS), of files of that name only if there is one."""
    total, counts = 0, not within
    with suppress(OSError):
        name = "smaps" if within else "smaps_rollup"
        for line in (path / name).read_text().splitlines():
            first = line.split(maxsplit=1)[0]
            if within and not first.endswith(":"):
                counts = within in line
            if counts and first == "Pss:":
                total += 1024 * int(line.split()[1])
    return total


def cpu_seconds() -> float:
    """CPU seconds of all processes of the family that live."""
    total = 0
    for path in family():
        with suppress(OSError):
            total += sum(map(int, (path / "stat").read_text().rpartition(")")[2].split()[11:13]))
    return total / HERTZ


class Watch:
    """The highest memory of the family while a fit runs, and of the files that workers map."""

    def __init__(self) -> None:
        self.peak = self.mapped = 0
        self.on_disk = 0  # bytes of those files
        self._done = threading.Event()

    def look(self) -> None:
        while not self._done.wait(PAUSE):
            processes = family()
            self.peak = max(self.peak, sum(map(shares, processes)))
            mapped = sum(shares(path, "/linnaeus-") for path in processes)
            if mapped > self.mapped:
                files = Path("/tmp").glob("linnaeus-*/*.safetensors")
                self.mapped, self.on_disk = mapped, sum(f.stat().st_size for f in files)

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()


def fit(make: Any, X: Any, Y: Any) -> tuple[dict[str, float], Any]:
    """Seconds and memory of one fit."""
    gc.collect()
    before, watch = sum(map(shares, family())), Watch()
    with watch.running():
        cpu, wall = cpu_seconds(), time.perf_counter()
        model = make.fit(X, Y)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    took = {
        "wall": wall, "cpu": cpu, "above": (watch.peak - before) / MB, "mapped": watch.mapped / MB,
        "on_disk": watch.on_disk / MB, "load": os.getloadavg()[0],
    }  # fmt: skip
    return took, model


def case(name: str) -> dict[str, Any]:
    """Interleaved fits of one model on one problem, in this process."""
    from benchmarks.bench_linear import Problem
    from linnaeus import FlatSVM, RecursiveSVM
    from linnaeus.execution import ray_engine

    size, kind = name.split("-")
    data = Problem(Path(os.environ["PEERS_DATA"]) / size)
    options = {"dtype": "float32", "n_jobs": WORKERS, "random_state": 0}
    if kind == "recursive":
        options |= {"loss": "squared_hinge", "tol": 1e-2}
    Kind = {"flat": FlatSVM, "recursive": RecursiveSVM}[kind]
    engines = {"threads": {"backend": "threads"}, "ray": {"backend": "ray"}}
    ray_engine.connected(None, WORKERS)
    runs: dict[str, list[dict[str, float]]] = {engine: [] for engine in engines}
    found = set()
    for _ in range(3):  # compile, in every worker
        for how in engines.values():
            Kind(data.taxonomy, **options, **how).fit(data.X[:600], data.Y[:600])
    for _ in range(int(os.environ.get("RAY_REPEATS", REPEATS[size]))):
        for engine, how in engines.items():
            for cluster in (ray_engine.connected(), ray_engine.connected(None, WORKERS)):
                cluster.paces.clear()  # what a fit learns about its tasks it learns within
            took, model = fit(Kind(data.taxonomy, **options, **how), data.X, data.Y)
            print(engine, {k: round(v, 2) for k, v in took.items()}, file=sys.stderr, flush=True)
            runs[engine].append(took)
            found.add((model.objective_, model.coef_.tobytes()))
            del model
    x_bytes = (data.X.data.nbytes + data.X.indices.nbytes + data.X.indptr.nbytes) / MB
    return {"runs": runs, "same": len(found) == 1, "X": x_bytes}


def row(name: str, found: dict[str, Any]) -> list[Any]:
    middle = {
        engine: {key: median(run[key] for run in runs) for key in runs[0]}
        for engine, runs in found["runs"].items()
    }
    threads, ray = middle["threads"], middle["ray"]
    ratios = [
        b["wall"] / a["wall"]
        for a, b in zip(found["runs"]["threads"], found["runs"]["ray"], strict=True)
    ]
    return [
        name, threads["wall"], ray["wall"], median(ratios), threads["cpu"], ray["cpu"],
        found["X"], threads["above"], ray["above"], ray["mapped"], ray["on_disk"], found["same"],
        max(run["load"] for run in found["runs"]["ray"]),
    ]  # fmt: skip


def main() -> None:
    folder = Path(os.environ.get("PEERS_DATA", "data"))
    wanted = os.environ.get("RAY_CASES", ",".join(CASES)).split(",")
    names = [name for name in wanted if (folder / name.split("-")[0]).is_dir()]
    if not names or not Path("/proc/self/smaps_rollup").exists():
        print("skipped: set PEERS_DATA to the folder of the problems S and M (on Linux)")
        return
    found = {name: in_fresh_process("benchmarks.bench_ray", name) for name in names}
    publish(
        "ray",
        "Two threads and two workers of a Ray cluster on this machine",
        ["fit", "threads wall s", "Ray wall s", "ratio", "threads CPU s", "Ray CPU s", "X MB",
         "threads MB", "Ray MB", "mapped MB", "files MB", "same bits", "load"],
        [row(name, runs) for name, runs in found.items()],
        notes="Medians of interleaved fits; the ratio is that of neighbours. MB: the highest sum "
        "of shares (PSS) of all processes above that before the fit; mapped: the part of it that "
        "is the files which workers map, to be compared with their size. Load: the highest, with "
        "the other work of the machine.",
        needs="PEERS_DATA=data",
        facts={name: runs["runs"] for name, runs in found.items()},
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(case(sys.argv[1])))
    else:
        main()
