"""Killing what works at random moments, and looking at what comes out in the end.

Drivers, workers and whole machines (a second raylet on this one) are ended by SIGKILL while a model
is fitted or rows are predicted. What was killed is started again where nothing does so by itself.
The outcome is "same" (the same bits as undisturbed), or a clear error; anything else is a fault.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("FlatSVM", "TopDown", "RecursiveSVM", "RecursiveLogistic", "predict")
AT_ONCE = 3  # kills of one fit, which then may end
LIMIT = 300.0  # seconds, after which a fit hangs
DIED = "UserError: "  # how the last line of a clear error begins


class Outcome(NamedTuple):
    """What came of a kill."""

    victim: str
    kind: str
    moment: float  # seconds after the work began
    outcome: str
    seconds: float  # until the work had ended, or the victim was dead


def small_problem(kind: str) -> Any:
    """X, Y and a taxonomy: a second's work, or two, on a cluster."""
    from linnaeus.synthetic import make_text_like

    n, leaves = (300, 100) if kind.startswith("Recursive") else (1500, 800)
    return make_text_like(n, n, n_leaves=leaves, depth=3, random_state=0, nonzeros=15)


@contextmanager
def prepared() -> Iterator[None]:
    """State is kept at every round, blocks are small, and no task is too small for a worker."""
    from unittest import mock

    from linnaeus.execution import checkpoints, ray_engine
    from linnaeus.io import stream

    with (
        mock.patch.multiple(checkpoints, EVERY=0.0, SHARE=1e9),
        mock.patch.object(ray_engine, "SLOWER", float("inf")),
        mock.patch.object(stream.blocks, "__defaults__", (None, None, None, 20)),
    ):
        yield


def work(kind: str, place: Path, backend: str | None, address: str | None, kept: Any) -> str:
    """Fit or predict; a digest of all that comes out."""
    import linnaeus
    from linnaeus import workflow
    from linnaeus.execution import Checkpoint, checkpointing, engine

    if kind == "predict":
        target = Path(tempfile.mkdtemp(dir=place)) / "out.csv"
        workflow.predict(place / "model", place / "rows.jsonl", target, backend=backend,
                         address=address, checkpoint=kept, top=3)  # fmt: skip
        return hashlib.sha256(target.read_bytes()).hexdigest()
    X, Y, taxonomy = small_problem(kind)
    how = {"schedule": "parity"} if kind.startswith("Recursive") else {}
    model = getattr(linnaeus, kind)(taxonomy, random_state=0, **how)
    with engine(backend, address), checkpointing(None if kept is None else Checkpoint(kept)):
        model.fit(X, Y)
    return hashlib.sha256(model.decision_function(X).tobytes()).hexdigest()


def make_place(place: Path) -> None:
    """A model and rows to predict for."""
    from linnaeus.io import write_jsonl
    from linnaeus.model import train
    from linnaeus.synthetic import newsroom

    news = newsroom(300, 1500, random_state=0)
    train(news.train, news.taxonomy, "svm", rule="zero").save(place / "model")
    write_jsonl(news.test, place / "rows.jsonl")


# -- drivers ----------------------------------------------------------------------------------


def start(kind: str, place: Path, backend: str = "", address: str = "", kept: str = "") -> Any:
    """A process that works, and has begun to."""
    call = [sys.executable, "-W", "ignore", "-m", "benchmarks.killing", kind, str(place), backend]
    process = subprocess.Popen(
        [*call, address, kept], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        raise RuntimeError(process.communicate(timeout=LIMIT)[1])
    return process


def ended(process: Any, whole: str) -> str:
    """The outcome of a process that may end."""
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hangs"
    if process.returncode == 0:
        return "same" if out.strip() == whole else "ANOTHER RESULT"
    last = (err.strip().splitlines() or [""])[-1]
    return f"error: {last}" if DIED in last else f"FAILED: {last}"


def kill_drivers(
    n: int, kinds: Any = KINDS, engines: Any = (("threads", ""),), seed: int = 0
) -> Iterator[Outcome]:
    """Processes that fit are killed; each fit is started again until it ends."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        place, wholes = Path(folder), dict[str, tuple[str, float]]()
        make_place(place)
        for first in range(0, n, AT_ONCE):
            kind = kinds[first // AT_ONCE % len(kinds)]
            backend, address = engines[first // AT_ONCE // len(kinds) % len(engines)]
            for name in {kind} - wholes.keys():
                start(name, place).communicate()  # what it compiles is there
                process, began = start(name, place), time.time()
                wholes[name] = process.communicate()[0].strip(), time.time() - began
            whole, lasts = wholes[kind]
            kept, moments, began = place / f"kept{first}", [], time.time()
            for _ in range(min(AT_ONCE, n - first)):
                process = start(kind, place, backend, address, str(kept))
                moments.append(rng.random() * lasts)
                time.sleep(moments[-1])
                process.send_signal(signal.SIGKILL)
                process.communicate()
            outcome = ended(start(kind, place, backend, address, str(kept)), whole)
            seconds = (time.time() - began) / len(moments)
            for moment in moments:
                yield Outcome(f"driver, {backend}", kind, moment, outcome, seconds)


# -- workers and machines ---------------------------------------------------------------------


@contextmanager
def two_machines(cpus: int = 2) -> Iterator[Any]:
    """A cluster of two raylets on this machine, this process being connected to it."""
    import ray
    from ray.cluster_utils import Cluster

    environment = {k: v for k, v in os.environ.items() if k.startswith(("LINNAEUS_", "NUMBA_"))}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": cpus})
    try:
        cluster.add_node(num_cpus=cpus)
        ray.init(address=cluster.address, log_to_driver=False, configure_logging=False,
                 runtime_env={"env_vars": environment})  # fmt: skip
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def during(kind: str, place: Path, delay: float, kill: Callable[[], None]) -> tuple[str, str]:
    """Kill while this process works on the cluster; what came out, and what went wrong."""
    from linnaeus.errors import UserError

    done: list[str] = []

    def run() -> None:
        try:
            done.extend((work(kind, place, "ray", None, None), ""))
        except UserError as error:
            done.extend(("", f"error: {error}"))
        except Exception as error:
            done.extend(("", f"FAILED: {type(error).__name__}: {error}"[:300]))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(delay)
    kill()
    thread.join(LIMIT)
    return (done[0], done[1]) if done else ("", "hangs")


def family() -> list[Path]:
    """This process and all below it, in /proc."""
    above = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            above[path] = (path / "stat").read_text().rpartition(")")[2].split()[1]
    found = [Path("/proc") / str(os.getpid())]
    for path in found:  # grows while it is gone through
        found += [child for child, parent in above.items() if parent == path.name]
    return found


def workers() -> list[int]:
    """Workers of clusters that this process has started; those with a task if there are any."""
    busy, idle = [], []
    for path in family():
        with suppress(OSError):
            name = (path / "cmdline").read_bytes()
            if name.startswith(b"ray::_run"):
                busy.append(int(path.name))
            elif name.startswith(b"ray::IDLE"):
                idle.append(int(path.name))
    return busy or idle


def kill_worker(rng: random.Random) -> None:
    """End one of the workers."""
    found = workers()
    if found:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(found), signal.SIGKILL)


def kill_workers(n: int, kinds: Any = KINDS, seed: int = 0) -> Iterator[Outcome]:
    """Workers are killed while a fit runs, which goes on by itself."""
    with two_machines():
        yield from _killed("worker", n, kinds, random.Random(seed), lambda c: kill_worker(c))


def kill_machines(n: int, kinds: Any = KINDS, seed: int = 0) -> Iterator[Outcome]:
    """The second raylet is killed while a fit runs, and another machine joins afterwards."""
    with two_machines() as cluster:

        def kill(_: random.Random) -> None:
            for node in cluster.list_all_nodes():
                if node is not cluster.head_node:
                    node.kill_raylet()
                    cluster.remove_node(node, allow_graceful=False)

        for outcome in _killed("raylet", n, kinds, random.Random(seed), kill):
            yield outcome
            cluster.add_node(num_cpus=2)
            cluster.wait_for_nodes()


def _killed(
    victim: str, n: int, kinds: Any, rng: random.Random, kill: Callable[[random.Random], None]
) -> Iterator[Outcome]:
    with prepared(), tempfile.TemporaryDirectory() as folder:
        place, wholes = Path(folder), dict[str, tuple[str, float]]()
        make_place(place)
        for number in range(n):
            kind = kinds[number % len(kinds)]
            if kind not in wholes:
                whole = work(kind, place, None, None, None)
                work(kind, place, "ray", None, None)
                began = time.time()
                work(kind, place, "ray", None, None)
                wholes[kind] = whole, time.time() - began
            whole, lasts = wholes[kind]
            moment, began = rng.random() * lasts, time.time()
            found, error = during(kind, place, moment, lambda: kill(rng))
            outcome = error or ("same" if found == whole else "ANOTHER RESULT")
            yield Outcome(victim, kind, moment, outcome, time.time() - began)


def main(kind: str, place: str, backend: str, address: str, kept: str) -> None:
    """A driver: it says that it begins, and what came out."""
    if kind != "predict":
        small_problem(kind)
    if backend == "ray":
        from linnaeus.execution.ray_engine import connected

        connected(address or None)
    print("ready", flush=True)
    print(work(kind, Path(place), backend or None, address or None, kept or None))


if __name__ == "__main__":
    with prepared():
        main(*sys.argv[1:])
