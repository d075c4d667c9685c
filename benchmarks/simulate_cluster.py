"""Where a cluster saturates: measured tasks replayed over many machines; and what you would need.

    python -m benchmarks simulate_cluster                    # measure, check, simulate: minutes
    python -m benchmarks.simulate_cluster --classes 100000 --rows 200000 --nonzeros 12000000

The first measures fits with one and two workers, checks the simulator against them, measures blocks
as wide as LWIKI of [GopalYang2015], and replays a job of its full size on up to 512 machines. The
second tells memory, disk and hours of a problem of yours, from what the first has recorded.

ENGINE names who works ("threads"; another name is given to the estimators as `backend`). ONLY names
what is measured anew (blocks, names, check; nothing, to simulate alone), the rest is taken from the
record. ROWS, CLASSES and REPEATS are those of the check, SHARES=20,10,5 a twentieth of LWIKI's rows
and classes, a tenth and a fifth.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

import linnaeus
from benchmarks import cluster_tasks as tasks
from benchmarks import scale
from benchmarks.cluster import Cluster, Job, saturation, simulate
from benchmarks.recording import RESULTS, publish, shown
from benchmarks.scale import LWIKI, Constants, Sizes

MODELS = ("FlatSVM", "RecursiveSVM")
WORKERS = (1, 2)
MACHINES = (1, 4, 8, 16, 64, 128, 256, 512)
CORES = 8
VARIABLES = ("ENGINE", "ONLY", "ROWS", "CLASSES", "REPEATS", "SHARES")
NET = Cluster(latency=1e-3, bandwidth=1.25e9, server=1.25e9, dispatch=1e-3)  # 10 Gb/s
SLOW = NET._replace(bandwidth=1.25e8, server=1.25e8)  # 1 Gb/s
FAILING = NET._replace(failures=0.1, restart=300.0)


def setting(name: str, default: str) -> list[int]:
    return [int(part) for part in os.environ.get(name, default).split(",")]


def variables() -> str:
    """Those that were set, as they stand before a command."""
    return " ".join(f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ)


# -- the check ----------------------------------------------------------------------------------


def fits(name: str, data: tuple[Any, ...], repeats: int) -> dict[int, list[tasks.Fit]]:
    """Fits on one and on several workers, interleaved."""
    taxonomy, X, y = data
    engine = os.environ.get("ENGINE", "threads")
    more = {} if engine == "threads" else {"backend": engine}
    done: dict[int, list[tasks.Fit]] = {n: [] for n in WORKERS}
    for _ in range(repeats):
        for n in WORKERS:
            model = getattr(linnaeus, name)(
                taxonomy, tol=1e-2, dtype="float32", random_state=0, n_jobs=n, **more
            )
            done[n].append(tasks.fitted(model, X, y))
            print(f"{name} on {n}: {done[n][-1].wall:.2f} s wall, {done[n][-1].cpu:.2f} CPU s")
    return done


def checked(name: str, done: dict[int, list[tasks.Fit]]) -> list[list[Any]]:
    """Predicted by actual wall seconds: from one worker's CPU seconds, and replayed."""
    quiet = min(done[1], key=lambda fit: fit.cpu)
    rows = []
    for n, runs in done.items():
        cluster, walls = Cluster(cores=n), sorted(run.wall for run in runs)
        predicted = simulate(quiet.job(n), cluster).seconds
        shares = [run.share for run in runs]
        ratios = sorted(predicted / run.share / run.wall for run in runs)
        replays = sorted(simulate(run.replay(n), cluster).seconds / run.wall for run in runs)
        rows.append([
            f"{name}, workers {n}", walls[0], walls[-1], min(run.cpu for run in runs), predicted,
            predicted / walls[0], median(shares), *_middle_and_ends(ratios),
            *_middle_and_ends(replays),
        ])  # fmt: skip
    return rows


def _middle_and_ends(values: list[float]) -> list[float]:
    return [median(values), min(values), max(values)]


CHECKED = ["fit", "wall s, least", "wall s, most", "CPU s", "predicted s", "predicted / least wall",
           "share of a core", "predicted / share / wall", "least", "most", "replayed / wall",
           "least replayed", "most replayed"]  # fmt: skip


def check() -> dict[str, Any]:
    """Measure, compare, publish; returns what the plan needs of it."""
    (rows,), (classes,), (repeats,) = (
        setting(*pair) for pair in (("ROWS", "6000"), ("CLASSES", "2048"), ("REPEATS", "3"))
    )
    data, small = tasks.made_up(rows, 20_000, classes, 60), tasks.made_up(300, 500, 70, 20)
    table, done = [], {}
    for name in MODELS:
        fits(name, small, 1)  # compile before the clock starts
        done[name] = fits(name, data, repeats)
        table += checked(name, done[name])
    publish(
        "simulate_cluster_check",
        "The simulated cluster against real fits: wall seconds with 1 and 2 workers",
        CHECKED,
        table,
        notes=f"{rows:,} rows, {classes:,} classes, 20,000 features, gap 1e-2; {repeats} fits "
        "each, interleaved. Predicted: the tasks' CPU seconds of the quickest fit on one worker, "
        "over so many workers. Other work on the machine lengthens wall seconds: the share of a "
        "core that a task got is its CPU seconds by its wall seconds, and predicted seconds by "
        "that share are compared too. Replayed: the wall seconds of the tasks of each fit, over so "
        f"many workers. Engine: {os.environ.get('ENGINE', 'threads')}.",
        needs=variables(),
        benchmark="simulate_cluster",
    )  # fmt: skip
    return facts_of(*(min(done[name][1], key=lambda fit: fit.cpu) for name in MODELS))


def facts_of(flat: tasks.Fit, recursive: tasks.Fit) -> dict[str, Any]:
    """The ratio of both fits, the spread of blocks, and the calls of the recursive one by kind."""
    seconds = np.array(flat.calls[0].seconds())
    calls: dict[str, list[float]] = {}
    for call in recursive.calls:
        entry = calls.setdefault(call.name, [0, 0, 0.0])
        for k, value in enumerate((1, len(call.tasks), sum(call.seconds()))):
            entry[k] += value
    return {
        "ratio": recursive.cpu / flat.cpu,
        "spread": np.round(seconds / seconds.mean(), 4).tolist(),
        "calls": calls,
        "call_blocks": seconds.size,
    }


# -- the plan -----------------------------------------------------------------------------------


def blocks() -> dict[str, Any]:
    """Blocks as wide as LWIKI, at several shares of its rows and classes."""
    found = []
    for share in setting("SHARES", "20,10,5"):
        found.append(tasks.some_blocks(
            LWIKI.rows // share, LWIKI.features, LWIKI.classes // share,
            LWIKI.nonzeros / LWIKI.rows, LWIKI.labels / LWIKI.rows,
        ))  # fmt: skip
        print("  ".join(f"{key} {shown(value)}" for key, value in found[-1].items()), flush=True)
    return {"blocks": found}


def names() -> dict[str, Any]:
    """What is not a task."""
    return {
        "bytes_a_node": tasks.bytes_a_node(),
        "json_bytes_a_class": tasks.json_bytes_a_class(),
        "pair_seconds": tasks.pair_seconds(),
    }


MEASURES = {"blocks": blocks, "names": names, "check": check}


def jobs(sizes: Sizes, known: Constants) -> dict[str, tuple[Job, Cluster]]:
    """What is simulated, with its network."""
    flat, recursive = scale.flat_job(sizes, known), scale.recursive_job(sizes, known)
    return {
        "flat": (flat, NET),
        "flat, 1 Gb/s": (flat, SLOW),
        "flat, failures": (flat, FAILING),
        "recursive": (recursive, NET),
        "recursive, failures": (recursive, FAILING),
        "recursive, driver compares pairs": (scale.recursive_job(sizes, known, True), NET),
    }


def simulated(sizes: Sizes, known: Constants, machines: Sequence[int]) -> list[list[Any]]:
    rows = []
    for name, (job, net) in jobs(sizes, known).items():
        for m in machines:
            out = simulate(job, net._replace(machines=m, cores=CORES))
            speed = (out.busy + sum(phase.driver for phase in job.phases)) / out.seconds
            rows.append([
                name, m, m * CORES, out.seconds / 3600, speed, speed / (m * CORES),
                out.moved / 1e9, out.n_failures, out.lost / out.busy,
            ])  # fmt: skip
        print("  ".join(shown(value) for value in rows[-1]), flush=True)
    return rows


def draw(rows: list[list[Any]], file: str) -> None:
    """Speed-up by cores with logarithmic axes, one line a job."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "linnaeus"  # equal data give equal files
    from matplotlib import pyplot

    figure, panel = pyplot.subplots(figsize=(8, 5.5))
    cores = sorted({row[2] for row in rows})
    panel.loglog(cores, cores, color="0.7", linestyle="--", label="perfect")
    for name in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == name]
        panel.loglog([r[2] for r in own], [r[4] for r in own], marker="o", ms=4, label=name)
    panel.set_xticks(cores, [f"{n:,}" for n in cores])
    panel.minorticks_off()
    panel.set_xlabel("cores, 8 a machine")
    panel.set_ylabel("times as fast as one core")
    panel.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(RESULTS / file, metadata={"Date": None})
    pyplot.close(figure)


def publish_plan(facts: dict[str, Any]) -> None:
    columns = ["job", "machines", "cores", "hours", "speed-up", "efficiency", "GB moved",
               "failures", "work lost"]  # fmt: skip
    title = "A cluster simulated: LWIKI, flat and recursive, on 1 to 512 machines of 8 cores"
    publish("simulate_cluster", title, columns, [], facts=facts)  # constants are read from there
    known = Constants.measured()
    rows = simulated(LWIKI, known, MACHINES)
    draw(rows, "simulate_cluster.svg")
    out = scale.flat_job(LWIKI, known).phases[0]
    limits = [saturation(float(np.mean(out.seconds)), out.bytes_out, n.server) for n in (NET, SLOW)]
    notes = (
        "Latency and dispatch 1 ms each, 10 Gb/s for each machine and for the file system; "
        f"failures: {FAILING.failures:g} per machine and hour, back after {FAILING.restart:g} s. "
        f"By the formula the file system is busy beyond {limits[0]:,.0f} flat workers, "
        f"{limits[1]:,.0f} at 1 Gb/s."
    )
    publish("simulate_cluster", title, columns, rows, notes=notes, facts=facts,
            plots=["simulate_cluster.svg"], needs=variables())  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    asked = [name for name in os.environ.get("ONLY", ",".join(MEASURES)).split(",") if name]
    known = (RESULTS / "simulate_cluster.json").exists()
    facts = scale.read("simulate_cluster")["facts"] if known else {}
    for name in asked:
        if name in MEASURES:
            facts |= MEASURES[name]()
    publish_plan(facts)


# -- your problem -------------------------------------------------------------------------------


def sizes_of(given: Any) -> Sizes:
    """What was not said is guessed: 1.4 nodes a class, two labels a row, features by Heaps' law."""
    features = given.features or int(30 * given.nonzeros**0.6)
    nodes, labels = given.nodes or int(1.4 * given.classes), given.labels or 2 * given.rows
    return Sizes(given.classes, given.rows, features, given.nonzeros, nodes, labels)


def told(sizes: Sizes, known: Constants, method: str, cluster: Cluster) -> str:
    """What a problem needs, in lines."""
    need = scale.estimate(sizes, known, method)
    job = (scale.flat_job if method == "flat" else scale.recursive_job)(sizes, known)
    hours = simulate(job, cluster).seconds / 3600
    b, t, where = scale.as_bytes, scale.as_time, f"{cluster.machines} x {cluster.cores} cores"
    return "\n".join([
        f"{sizes.classes:,} classes, {sizes.rows:,} rows, {sizes.features:,} features, "
        f"{sizes.nonzeros:,} nonzeros: {method}",
        f"  work               {t(need.core_hours)} to {t(need.core_hours_high)} on one core",
        f"  time               {t(hours)} on {where} (simulated)",
        f"  memory, a machine  {b(need.memory(cluster.cores))}: data {b(need.examples)}, "
        f"{b(need.block)} a core",
        f"  memory, driver     {b(need.driver)}",
        f"  disk               {b(need.disk)}: data {b(need.examples)}, weights "
        f"{b(need.weights)} (all of them: {b(need.dense)}), dual variables {b(need.duals)}",
        f"  files              {need.files:,}, one for each block of {scale.LANES} classes",
    ])  # fmt: skip


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulate_cluster",
        description="Memory, disk and hours of a problem, from measured constants.",
    )
    number = {"type": lambda text: int(float(text)), "default": 0}
    for name in ("classes", "rows", "nonzeros"):
        parser.add_argument(f"--{name}", required=True, **number)
    for name in ("features", "nodes", "labels"):
        parser.add_argument(f"--{name}", help="guessed if not given", **number)
    parser.add_argument("--method", choices=("flat", "recursive"), default="flat")
    parser.add_argument("--machines", type=int, default=1)
    parser.add_argument("--cores", type=int, default=CORES, help="of each machine")
    parser.add_argument("--gigabits", type=float, default=10.0, help="of the network, per second")
    parser.add_argument("--failures", type=float, default=0.0, help="per machine and hour")
    return parser.parse_args(words)


def answer(words: Sequence[str] | None = None) -> str:
    """What the command prints."""
    given = parsed(words)
    speed = given.gigabits * 1.25e8
    net = NET._replace(bandwidth=speed, server=speed, failures=given.failures, restart=300.0)
    cluster = net._replace(machines=given.machines, cores=given.cores)
    return told(sizes_of(given), Constants.measured(), given.method, cluster)


if __name__ == "__main__":
    print(answer())
