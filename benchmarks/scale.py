"""Whether a problem fits: memory, disk, bytes moved and hours by formula, from measured constants.

    core seconds, flat        1e-9 K (a z + b d)          K classes, z nonzeros, d features
    core seconds, recursive   r times that
    X in memory, a machine    8 z + 16 n                  n rows
    a running block           32 (10 n + 8 d)             32 classes, one core
    weights on disk           8 w K                       w weights kept a class
    dual variables            8 s K                       s rows that matter to a class

a, b, r, w and s come from the records in ``benchmarks/results``, never from here. Jobs of that size
for `benchmarks.cluster` are made here as well.
"""

from __future__ import annotations

import json
import math
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cluster import Job, Phase
from benchmarks.recording import RESULTS
from linnaeus.execution.engines import AHEAD

LANES = 32  # classes in a block
ROW_BYTES, FEATURE_BYTES = 10, 8  # of a running block, for each of its classes
IN_HAND = (1 + AHEAD) * 8  # tasks begun and not yet answered, with 8 cores
INNER = 2.0  # assumed: an inner node holds twice the features of a class


class Sizes(NamedTuple):
    """A problem."""

    classes: int
    rows: int
    features: int
    nonzeros: int  # of all rows
    nodes: int  # of the taxonomy, classes included
    labels: int  # of all rows

    @property
    def blocks(self) -> int:
        return -(-self.classes // LANES)

    def times(self, factor: int, features: float = 1.0) -> Sizes:
        """So many times the classes, rows, nonzeros, nodes and labels."""
        wide = int(features * self.features)
        return Sizes(*(factor * value for value in self))._replace(features=wide)


# [GopalYang2015] Table I; nonzeros are not printed there: 42 a document is assumed
LWIKI = Sizes(325_056, 2_365_436, 1_617_899, 42 * 2_365_436, 478_020, int(3.26 * 2_365_436))
PAPER_MINUTES = {"flat": 1114.23, "recursive": 2230.54}  # Table IV, on 64 machines of 8 cores


def read(name: str) -> dict[str, Any]:
    """A record."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return found


class Constants(NamedTuple):
    """What was measured; times in nanoseconds on one core."""

    nonzero: float  # a: per class and nonzero
    feature: float  # b: per class and feature
    nonzero_high: float  # the most that another problem took, for classes and nonzeros alone
    visits: float  # of a class to a row
    ratio: float  # r
    ratio_high: float
    kept: float  # w
    support: float  # s
    touched: float  # features of the rows that matter to a class
    task_row: float  # bytes that a task holds for each row
    answer_row: float
    node: float  # bytes of a taxonomy in memory, per node
    json_class: float  # bytes of model.json, per class
    pair: float  # seconds of the driver to compare two blocks side by side
    spread: list[float]  # seconds of blocks by their mean
    calls: dict[str, list[float]]  # of a recursive fit: calls, tasks and seconds of each kind
    call_blocks: int  # how many blocks that fit had

    @classmethod
    def measured(cls) -> Constants:
        """From the records."""
        facts, rates, costs = (read(n) for n in ("simulate_cluster", "rate_fit", "recursive_costs"))
        facts = facts["facts"]
        largest = facts["blocks"][-1]
        texts = [row[3] for row in rates["rows"] if not row[0].startswith("embeddings")]
        ratios = [row[4] for row in costs["rows"] if row[0].endswith("RecursiveSVM")]
        ratios.append(facts["ratio"])
        a, b = per_nonzero_and_feature(facts["blocks"])
        return cls(
            a, b, max(texts), largest["visits"], median(ratios), max(ratios + grown_ratios()),
            largest["weights_kept"], largest["support"], largest["features_touched"],
            largest["task_bytes_a_row"], largest["answer_bytes_a_row"], facts["bytes_a_node"],
            facts["json_bytes_a_class"], facts["pair_seconds"], facts["spread"],
            facts["calls"], facts["call_blocks"],
        )  # fmt: skip


def grown_ratios() -> list[float]:
    """Seconds of recursive by those of flat fits to the same gap, wherever growth has both."""
    found = []
    for path in sorted(RESULTS.glob("growth*.json")):
        rows = read(path.stem)["rows"]
        flat = {tuple(row[1:3]): row[3] for row in rows if row[0] == "FlatSVM"}
        found += [row[3] / flat[tuple(row[1:3])] for row in rows
                  if row[0] == "RecursiveSVM" and tuple(row[1:3]) in flat]  # fmt: skip
    return found


def per_nonzero_and_feature(blocks: list[dict[str, float]]) -> tuple[float, float]:
    """Nanoseconds a and b of seconds = 1e-9 lanes (a z + b d), by least squares, relative errors.

    >>> some = [{"nonzeros": z, "features": 10, "block_seconds": 32e-9 * (2 * z + 5 * 10)}
    ...         for z in (100, 1000)]
    >>> [round(x, 6) for x in per_nonzero_and_feature(some)]
    [2.0, 5.0]
    """
    A = 1e-9 * LANES * np.array([[block["nonzeros"], block["features"]] for block in blocks])
    y = np.array([block["block_seconds"] for block in blocks])
    a, b = np.linalg.lstsq(A / y[:, None], np.ones_like(y), rcond=None)[0]
    return float(a), float(b)


class Estimate(NamedTuple):
    """What a problem takes; bytes and hours on one core."""

    core_hours: float
    core_hours_high: float
    flops: float
    examples: float  # bytes of X on each machine
    block: float  # bytes of a running block, one core
    driver: float  # bytes that the driver holds: tasks, answers, names
    weights: float  # bytes of weights kept
    dense: float  # bytes of the same weights if none were dropped
    duals: float
    files: int  # one a block

    def memory(self, cores: int) -> float:
        """Bytes of a machine that works on so many blocks at once."""
        return self.examples + cores * self.block

    @property
    def disk(self) -> float:
        return self.examples + self.weights + self.duals


def estimate(sizes: Sizes, known: Constants, method: str = "flat") -> Estimate:
    """By the formulas above."""
    K, n, d, z = sizes.classes, sizes.rows, sizes.features, sizes.nonzeros
    recursive = method == "recursive"
    solved = sizes.nodes if recursive else K  # whose weights there are
    seconds = 1e-9 * K * (known.nonzero * z + known.feature * d)
    high = max(seconds, 1e-9 * K * known.nonzero_high * z)
    weights = 8 * min(known.kept, d) * (K + INNER * (solved - K))
    return Estimate(
        core_hours=(known.ratio if recursive else 1.0) * seconds / 3600,
        core_hours_high=(known.ratio_high if recursive else 1.0) * high / 3600,
        flops=4.0 * known.visits * K * z * (known.ratio if recursive else 1.0),
        examples=8.0 * z + 16.0 * n,
        block=LANES * (ROW_BYTES * n + FEATURE_BYTES * d),
        driver=driver_parts(sizes, known)["all"],
        weights=weights,
        dense=4.0 * solved * d,
        duals=8.0 * min(known.support, n) * K,
        files=sizes.blocks,
    )


def driver_parts(sizes: Sizes, known: Constants) -> dict[str, float]:
    """Bytes of what the process that calls `fit` with `memory=` holds: tasks are made when they are
    taken, weights go to disk, and dual variables are not kept."""
    parts = {
        "under way": (known.task_row + known.answer_row) * sizes.rows * min(sizes.blocks, IN_HAND),
        "taxonomy": known.node * sizes.nodes,
        "labels": 12.0 * sizes.labels,
        "gaps": 3 * 8.0 * sizes.classes,
    }
    return {**parts, "all": sum(parts.values())}


# -- jobs -------------------------------------------------------------------------------------


def flat_job(sizes: Sizes, known: Constants) -> Job:
    """One task a block; X comes once to each machine, weights and duals go back as files."""
    told = estimate(sizes, known)
    times = _spread(3600 * told.core_hours / sizes.blocks, sizes.blocks, known)
    out = (told.weights + told.duals) / sizes.blocks
    return Job([Phase(times, 8.0 * sizes.labels / sizes.blocks, out)], shared=told.examples)


def recursive_job(sizes: Sizes, known: Constants, quadratic: bool = False) -> Job:
    """Phases as in the measured fit, wider and longer; sparse rows of D go both ways.

    quadratic : whether the driver compares all pairs of blocks that were side by side
    """
    told = estimate(sizes, known, "recursive")
    total = sum(seconds for *_, seconds in known.calls.values())
    inner = 8.0 * INNER * min(known.touched, sizes.features) * (sizes.nodes - sizes.classes)
    own = (inner + told.duals) / sizes.blocks
    phases = []
    for name, (calls, tasks, seconds) in known.calls.items():
        width = max(1, round(sizes.blocks * tasks / calls / known.call_blocks))
        mean = 3600 * told.core_hours * seconds / total / (calls * width)
        steps = name in ("visit", "first_visit")
        driver = known.pair * width**2 / 2 if quadratic and steps else 0.0
        out = own if steps else told.duals / sizes.blocks
        phase = Phase(_spread(mean, width, known), own, out, driver=driver)
        phases += [phase] * round(calls)
    return Job(phases, shared=told.examples)


def _spread(mean: float, n: int, known: Constants) -> np.ndarray:
    """So many task times of that mean, as uneven as measured ones."""
    drawn: np.ndarray = np.random.default_rng(0).choice(known.spread, size=n)
    return mean * drawn / drawn.mean()


def as_bytes(value: float) -> str:
    """Three digits and a unit.

    >>> as_bytes(2.1e12), as_bytes(950), as_bytes(12_345_678)
    ('2.1 TB', '950 B', '12.3 MB')
    """
    step = 0 if value < 1 else min(int(math.log10(value) // 3), 5)
    return f"{value / 1000**step:.3g} {('B', 'kB', 'MB', 'GB', 'TB', 'PB')[step]}"


def as_time(hours: float) -> str:
    """Seconds, minutes, hours or days.

    >>> as_time(1e-5), as_time(0.001), as_time(0.5), as_time(30), as_time(1000)
    ('under 1 s', '3.6 s', '30 min', '30 h', '42 days')
    """
    if hours * 3600 < 1:
        return "under 1 s"
    for factor, unit, most in ((3600, "s", 100), (60, "min", 100), (1, "h", 100)):
        if hours * factor < most:
            return f"{hours * factor:.2g} {unit}"
    return f"{hours / 24:,.0f} days"
