"""Fits on one and on two threads, interleaved: wall seconds, and what was left to the first thread.

Wall seconds mean something on an idle computer only. What a second thread can take is measured on
any: the CPU seconds of the thread that calls `fit` beside those of all. FlatSVM is fitted to the
problem S of PEERS_DATA if that is there, the others to made-up texts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench_linear import Problem
from benchmarks.recording import publish
from linnaeus import HBLR, HM3, FlatSVM, MulticlassLogistic, MulticlassSVM, RecursiveLogistic
from linnaeus.synthetic import make_text_like, random_taxonomy

THREADS, REPEATS = (1, 2), 3
QUIET = 0.5  # the load up to which wall seconds are ours
SHAPE = {"n_samples": 3000, "n_features": 5000, "nonzeros": 40}
LEAVES = 120


class Case(NamedTuple):
    name: str
    make: Callable[..., Any]
    X: Any
    Y: Any


def made_up() -> list[Case]:
    """Methods on texts with one label each, or two."""
    tree = random_taxonomy(LEAVES, 3, 0)
    one, two = (
        make_text_like(**SHAPE, taxonomy=tree, labels_per_sample=k, tfidf=True, random_state=0)[:2]
        for k in (1.0, 2.0)
    )
    return [
        Case("RecursiveLogistic", lambda **o: RecursiveLogistic(tree, **o), *two),
        Case("HBLR", lambda **o: HBLR(tree, **o), *one),
        Case("HBLR, binary", lambda **o: HBLR(tree, link="binary", **o), *two),
        Case("MulticlassLogistic", lambda **o: MulticlassLogistic(tree, **o), *one),
        Case("MulticlassSVM", lambda **o: MulticlassSVM(tree, **o), *one),
        Case("HM3", lambda **o: HM3(tree, **o), *one),
        Case("HM3, slacks of edges", lambda **o: HM3(tree, slack="edge", **o), *one),
    ]


def flat() -> list[Case]:
    folder = Path(os.environ.get("PEERS_DATA", "data")) / "S"
    if not folder.is_dir():
        return []
    data = Problem(folder)
    return [Case("FlatSVM on S", lambda **o: FlatSVM(data.taxonomy, **o), data.X, data.Y)]


def measure(case: Case) -> list[Any]:
    """The best wall and CPU seconds, and the share of the CPU seconds that went to threads."""
    clocks = time.perf_counter, time.process_time, time.thread_time
    case.make(random_state=0).fit(case.X, case.Y)  # compile
    best = {n: np.full(3, np.inf) for n in THREADS}
    weights: list[Any] = []
    for _ in range(REPEATS):
        for n in THREADS:
            start = np.array([clock() for clock in clocks])
            model = case.make(n_jobs=n, random_state=0).fit(case.X, case.Y)
            best[n] = np.minimum(best[n], np.array([clock() for clock in clocks]) - start)
            weights.append(np.asarray(model.coef_))
    one, two = (best[n] for n in THREADS)
    same = all(np.array_equal(W, weights[0]) for W in weights)
    return [case.name, one[0], two[0], two[0] / one[0], two[1], 1.0 - two[2] / two[1], same]


def main() -> None:
    load = os.getloadavg()[0]
    busy = f" Wall NOT VALID: other work was running (load {load:.1f})." if load > QUIET else ""
    publish(
        "threads",
        "Fits on one and on two threads",
        ["method", "wall s on 1", "wall s on 2", "ratio", "CPU s on 2", "to threads", "same bits"],
        [measure(case) for case in [*flat(), *made_up()]],
        notes=(
            f"The best of {REPEATS} interleaved fits. 'to threads' is the share of CPU seconds "
            f"that several threads can divide; samples are visited in the rest.{busy}"
        ),
        needs="PEERS_DATA=data",
    )


if __name__ == "__main__":
    main()
