"""How the CPU seconds of a fit grow with examples, classes and nonzeros a row.

Text-like data by Zipf's law; one of the three sizes grows at a time while the others stay. The
exponent p of seconds ~ size^p is fitted by least squares to the logarithms, once over all sizes and
once over the larger half, where what every fit costs anyway matters less. Every fit stops at its
relative duality gap, so the growth is that of the work to a given accuracy.

Variables choose: MODELS; EXAMPLES, CLASSES and NONZEROS, the sizes along each axis (an empty list
leaves it out); BASE, the sizes that stay; FEATURES and DEPTH; BUDGET, CPU seconds that a model may
take along an axis, beyond which larger sizes are left out; OPTIONS, parameters of models as JSON;
RECORD, the name of the record. Small sizes take minutes, and larger ones as long as you allow:

    EXAMPLES=100000,200000,400000 CLASSES= NONZEROS= BASE=200000,10000,60 FEATURES=200000 \\
    OPTIONS='{"FlatSVM": {"prune": 0.01}}' BUDGET=3600 RECORD=growth_large \\
    python -m benchmarks growth
"""

from __future__ import annotations

import json
import os
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import linnaeus
from benchmarks.recording import RESULTS, publish
from linnaeus.synthetic import make_text_like

SIZES = {
    "examples": "2000,4000,8000,16000,32000",
    "classes": "50,100,200,400,800",
    "nonzeros": "30,60,120,240,480",
}
OTHERS = {
    "MODELS": "FlatSVM,MulticlassSVM,TopDown,RecursiveSVM,FlatLogistic",
    "BASE": "8000,100,60",
    "FEATURES": "20000",
    "DEPTH": "3",
    "BUDGET": "1800",
    "OPTIONS": "{}",
    "RECORD": "growth",
}
TOL = 1e-2
GOAL = 1.1  # the exponent that no axis should exceed
ENOUGH = 1.0  # CPU seconds after which a fit is not repeated
REPEATS = 3
COLUMNS = ["model", "axis", "size", "CPU s", "times the one before", "exponent there",
           "ns per class and nonzero"]  # fmt: skip


class Plan(NamedTuple):
    """What is measured."""

    models: list[str]
    sizes: dict[str, list[int]]  # by axis, ascending
    base: dict[str, int]
    features: int
    depth: int
    budget: float
    options: dict[str, dict[str, Any]]

    @classmethod
    def asked(cls) -> Plan:
        """By the variables."""
        got = {name: os.environ.get(name, default) for name, default in OTHERS.items()}
        sizes = {axis: numbers(os.environ.get(axis.upper(), SIZES[axis])) for axis in SIZES}
        return cls(
            got["MODELS"].split(","), {axis: found for axis, found in sizes.items() if found},
            dict(zip(SIZES, numbers(got["BASE"]), strict=True)), int(got["FEATURES"]),
            int(got["DEPTH"]), float(got["BUDGET"]), json.loads(got["OPTIONS"]),
        )  # fmt: skip


def numbers(text: str) -> list[int]:
    """Numbers with commas between them, ascending if they are sizes.

    >>> numbers("20,1000"), numbers("")
    ([20, 1000], [])
    """
    return [int(part) for part in text.split(",") if part]


def variables() -> str:
    """The variables that were set, as they stand before a command."""
    names = [*(axis.upper() for axis in SIZES), *OTHERS]
    return " ".join(f"{n}={_quoted(os.environ[n])}" for n in names if n in os.environ)


def _quoted(text: str) -> str:
    return f"'{text}'" if set(text) & set(' "{}') else text


class Problem(NamedTuple):
    """One label a row, since the multiclass machine takes no more."""

    taxonomy: Any
    X: sp.csr_array
    y: np.ndarray


def problem(
    examples: int, classes: int, nonzeros: int, features: int = 20_000, depth: int = 3
) -> Problem:
    X, Y, taxonomy = make_text_like(
        examples, features, n_leaves=classes, depth=depth, nonzeros=nonzeros,
        labels_per_sample=1.0, tfidf=True, random_state=0,
    )  # fmt: skip
    return Problem(taxonomy, X, np.array(taxonomy.nodes)[Y.indices])


def fit_seconds(name: str, data: Problem, **options: Any) -> float:
    """The least CPU seconds of a few fits; of one, if that took long."""
    given = {"tol": TOL, "dtype": "float32", "random_state": 0, **options}
    seconds: list[float] = []
    while len(seconds) < REPEATS and sum(seconds) < ENOUGH:
        model = getattr(linnaeus, name)(data.taxonomy, **given)
        start = time.process_time()
        model.fit(data.X, data.y)
        seconds.append(time.process_time() - start)
    return min(seconds)


def exponent(sizes: Any, seconds: Any) -> float:
    """The slope of log seconds over log size by least squares."""
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(seconds, dtype=float))
    x = x - x.mean()
    return float(x @ y / (x @ x))


def affordable(done: list[tuple[int, float]], size: int, budget: float) -> bool:
    """Whether one more size can be had, if seconds grow like size^GOAL."""
    if not done:
        return True
    last, seconds = done[-1]
    return sum(s for _, s in done) + seconds * (size / last) ** GOAL <= budget


def measured(plan: Plan) -> list[list[Any]]:
    """A row for every axis, model and size."""
    small = problem(300, 10, 20)
    for name in plan.models:
        fit_seconds(name, small, **plan.options.get(name, {}))  # compile before the clock starts
    rows = []
    for axis in plan.sizes:
        rows += measured_along(axis, plan)
    return rows


def measured_along(axis: str, plan: Plan) -> list[list[Any]]:
    done: dict[str, list[tuple[int, float]]] = {name: [] for name in plan.models}
    rows = []
    for size in plan.sizes[axis]:
        names = [n for n in plan.models if affordable(done[n], size, plan.budget)]
        if not names:
            break
        sizes = {**plan.base, axis: size}
        data = problem(**sizes, features=plan.features, depth=plan.depth)
        for name in names:
            seconds = fit_seconds(name, data, **plan.options.get(name, {}))
            before, done[name] = done[name], [*done[name], (size, seconds)]
            rows.append([name, axis, size, seconds, *_since(before, size, seconds),
                         1e9 * seconds / (sizes["classes"] * data.X.nnz)])  # fmt: skip
        said = ", ".join(f"{name} {done[name][-1][1]:.2f}" for name in names)
        print(f"{axis} {size}: {said}", flush=True)
    return rows


def _since(before: list[tuple[int, float]], size: int, seconds: float) -> list[float | None]:
    """How many times the one before, and the exponent between the two."""
    if not before:
        return [None, None]
    ratio = seconds / before[-1][1]
    return [ratio, float(np.log(ratio) / np.log(size / before[-1][0]))]


def curves(rows: list[list[Any]]) -> dict[str, dict[str, list[list[float]]]]:
    """Sizes and seconds by axis and model, from the rows of a record."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for name, axis, size, seconds, *_ in rows:
        curve = found.setdefault(axis, {}).setdefault(name, [[], []])
        curve[0].append(size)
        curve[1].append(seconds)
    return found


def exponents(rows: list[list[Any]]) -> dict[str, dict[str, list[float]]]:
    """By axis and model: the exponent over all sizes, and over the larger half (two at least)."""
    found: dict[str, dict[str, list[float]]] = {}
    for axis, models in curves(rows).items():
        for name, (sizes, seconds) in models.items():
            if len(sizes) > 1:
                half = larger_half(sizes), larger_half(seconds)
                found.setdefault(axis, {})[name] = [exponent(sizes, seconds), exponent(*half)]
    return found


def larger_half(values: list[float]) -> list[float]:
    """The last ones, two at least.

    >>> larger_half([1, 2, 3, 4, 5]), larger_half([1, 2, 3])
    ([3, 4, 5], [2, 3])
    """
    return values[min(len(values) // 2, len(values) - 2) :]


def noise(rows: list[list[Any]], base: dict[str, int]) -> dict[str, float]:
    """By model: the most by the least seconds of one and the same fit, that at the base sizes.

    Every axis passes there at another time, so this is what other work on the machine did.
    """
    seconds: dict[str, list[float]] = {}
    for name, axis, size, taken, *_ in rows:
        if size == base[axis]:
            seconds.setdefault(name, []).append(taken)
    return {name: max(found) / min(found) for name, found in seconds.items()}


def doubt(sizes: list[float], factor: float) -> float:
    """By how much an exponent over these sizes is off if one end was slowed down so much.

    >>> doubt([10, 20, 40], 2.0)
    0.5
    """
    return float(np.log(factor) / np.log(max(sizes) / min(sizes)))


def draw(rows: list[list[Any]], file: str) -> None:
    """A panel for each axis, both scales logarithmic; exponents in the legends."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "linnaeus"  # equal data give equal files
    from matplotlib import pyplot

    found, slopes = curves(rows), exponents(rows)
    figure, panels = pyplot.subplots(
        1, len(found), figsize=(1 + 4 * len(found), 5.5), sharey=True, squeeze=False
    )
    for panel, (axis, models) in zip(panels[0], found.items(), strict=True):
        for name, (sizes, values) in models.items():
            slope = slopes.get(axis, {}).get(name)
            label = name if slope is None else f"{name}, exponent {slope[0]:.2f}"
            panel.loglog(sizes, values, marker="o", label=label)
        ticks = sorted({size for sizes, _ in models.values() for size in sizes})
        panel.set_xlabel(axis if axis != "nonzeros" else "nonzeros a row")
        panel.set_xticks(ticks, [f"{size:,}" for size in ticks])
        panel.minorticks_off()
        panel.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)
    panels[0][0].set_ylabel("CPU seconds of a fit")
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / file, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    warnings.simplefilter("ignore")
    plan, name = Plan.asked(), os.environ.get("RECORD", OTHERS["RECORD"])
    rows = measured(plan)
    draw(rows, f"{name}.svg")
    slopes = exponents(rows)
    high = [f"{model} in {axis} ({p:.2f}, larger half {q:.2f})"
            for axis, found in slopes.items() for model, (p, q) in found.items()
            if max(p, q) > GOAL]  # fmt: skip
    base = ", ".join(f"{value:,} {axis}" for axis, value in plan.base.items())
    factor = max(noise(rows, plan.base).values(), default=1.0)
    publish(
        name,
        "Growth: CPU seconds of a fit, one size at a time",
        COLUMNS,
        rows,
        notes=f"The other sizes are {base} a row; {plan.features:,} features, float32, gap "
        f"{TOL:g}. Exponents above {GOAL}: {'; '.join(high) or 'none'}. The same fit at another "
        f"time took up to {factor:.2g} times as long.",
        plots=[f"{name}.svg"],
        needs=variables(),
        benchmark="growth",
        facts={"exponents": slopes, "base": plan.base, "features": plan.features},
    )
    for axis, found in slopes.items():
        print(f"{axis}: " + ", ".join(f"{m} {p:.2f} ({q:.2f})" for m, (p, q) in found.items()))


if __name__ == "__main__":
    main()
