"""One method on one collection, in a process of its own that ends at a limit.

A method that would run for hours, or fill the memory, is stopped by the system: the limits are on
the CPU time and on the address space of the process. What it gave is plain data,

    {"figures", "errors", "costs", "rule", "gap", "features", "seconds"}   a result,
    {"reason", "seconds"}                                                  why there is none.

Processes are forked from a server that has imported everything, where the system can do that.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
import warnings
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from linnaeus.experiments import compare
from linnaeus.io import Collection, Part, read_collection

MEMORY = 12 * 2**30  # bytes of address space
PATIENCE = 10  # wall seconds for a CPU second
WIDE = 100_000  # columns
CPU_TIME = getattr(signal, "SIGXCPU", 0)  # what the system sends at the limit
PRELOADED = [__name__, "linnaeus.decisions", "linnaeus.text"]


def trial(
    folder: Path, method: str, *, seed: int = 0, jobs: int = 1, rows: int = 0, limit: int = 240
) -> dict[str, Any]:
    """What a method gives on the training and test part of a collection; or why nothing.

    rows : of each part, drawn at random; 0 takes all
    limit : CPU seconds of the whole process, reading and features included
    """
    ways = multiprocessing.get_all_start_methods()
    system: Any = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
    system.set_forkserver_preload(PRELOADED)
    receiving, sending = system.Pipe(duplex=False)
    arguments = (sending, Path(folder), method, seed, jobs, rows, limit)
    process = system.Process(target=_child, args=arguments, daemon=True)
    process.start()
    sending.close()
    try:
        found: dict[str, Any] = (
            receiving.recv() if receiving.poll(PATIENCE * limit) else over(limit)
        )
    except EOFError:  # it ended without a word
        process.join()
        found = ended(process.exitcode, limit)
    finally:
        process.kill()
        process.join()
        receiving.close()
    return found


def ended(code: int, limit: int) -> dict[str, Any]:
    """The record of a process that ended before it had a result; -code is a signal's number."""
    if code == -CPU_TIME:
        return over(limit)
    return {"reason": f"failed: the process ended with code {code}", "seconds": 0.0}


def over(limit: int) -> dict[str, Any]:
    """The record of a process that was stopped."""
    return {"reason": f"over the limit of {limit} CPU seconds", "seconds": float(limit)}


def run(
    collection: Collection, method: str, *, seed: int = 0, jobs: int = 1, rows: int = 0
) -> dict[str, Any]:
    """The same in this process, without limits."""
    collection = narrowed(sampled(collection, rows, seed) if rows else collection)
    with warnings.catch_warnings():  # a gap that is still open shows in the record
        warnings.simplefilter("ignore")
        contest = compare([method], collection, seed=seed, jobs=jobs)
    (standing,) = contest
    if standing.cost is None:
        return {"reason": f"failed: {standing.error}"}
    return {
        "figures": standing.figures,
        "errors": standing.errors,
        "costs": {
            "train_seconds": standing.cost.cpu_seconds,
            "rows_per_second": standing.rows_per_second,
            "memory_bytes": standing.cost.memory_bytes,
            "model_bytes": standing.model_bytes,
        },
        "rule": standing.rule,
        "gap": standing.gap,
        "features": contest.setting.features,
    }


def sampled(collection: Collection, rows: int, seed: int) -> Collection:
    """The collection with no more than so many rows in its training and its test part."""
    rng = np.random.default_rng(seed)

    def few(part: Part | None) -> Part | None:
        if part is None or len(part) <= rows:
            return part
        return part.take(np.sort(rng.choice(len(part), rows, replace=False)).tolist())

    return replace(collection, train=few(collection.train), test=few(collection.test))


def narrowed(collection: Collection) -> Collection:
    """Of a very wide sparse table, the columns that some training row fills: others weigh 0."""
    X = collection.part("train").X
    if not sp.issparse(X) or X.shape[1] <= WIDE:
        return collection
    used = np.unique(X.indices)

    def narrow(part: Part | None) -> Part | None:
        if part is None:
            return None
        columns = used[used < part.X.shape[1]]
        kept = sp.csr_array(part.X[:, columns])
        kept.resize(len(part), len(used))
        return replace(part, X=kept, feature_names=None)

    return replace(collection, train=narrow(collection.train), test=narrow(collection.test))


def described(collection: Collection) -> dict[str, Any]:
    """The counts by which collections are told apart."""
    part, taxonomy = collection.part("train"), collection.taxonomy
    own = taxonomy.most_specific(taxonomy.encode(part.labels))
    return {
        "rows": len(part),
        "nodes": len(taxonomy),
        "classes": len(np.union1d(own.indices, taxonomy.leaf_numbers)),
        "tree": bool(taxonomy.is_tree),
        "labels_per_row": own.nnz / len(part),
        "several": not (np.diff(own.indptr) == 1).all(),
    }


def _limit(seconds: int) -> None:
    """Let the system stop this process; where it cannot, the parent's clock does."""
    try:
        import resource
    except ImportError:  # there is none on Windows
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _child(
    sending: Connection, folder: Path, method: str, seed: int, jobs: int, rows: int, limit: int
) -> None:
    """What the process does."""
    _limit(limit)
    start = time.process_time()
    try:
        with threadpool_limits(jobs):
            collection = read_collection(folder, parts=("train", "test"))
            found = run(collection, method, seed=seed, jobs=jobs, rows=rows)
    except Exception as error:
        found = {"reason": f"failed: {type(error).__name__}: {error}"}
    sending.send(found | {"seconds": time.process_time() - start})
