"""How the CPU seconds of a fit grow with examples, classes and nonzeros a row.

Text-like data by Zipf's law; one of the three sizes is doubled at a time while the others stay.
The exponent p of seconds ~ size^p is fitted by least squares to the logarithms. Every fit stops at
its relative duality gap, so the growth is that of the work to a given accuracy.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import linnaeus
from benchmarks.recording import RESULTS, publish
from linnaeus.synthetic import make_text_like

MODELS = ("FlatSVM", "MulticlassSVM", "TopDown", "RecursiveSVM", "FlatLogistic")
BASE = {"examples": 8000, "classes": 100, "nonzeros": 60}
SIZES = {
    "examples": (2000, 4000, 8000, 16000, 32000),
    "classes": (50, 100, 200, 400, 800),
    "nonzeros": (30, 60, 120, 240, 480),
}
N_FEATURES = 20_000
TOL = 1e-2
ENOUGH = 1.0  # CPU seconds after which a fit is not repeated
REPEATS = 3


class Problem(NamedTuple):
    """One label a row, since the multiclass machine takes no more."""

    taxonomy: Any
    X: sp.csr_array
    y: np.ndarray


def problem(examples: int, classes: int, nonzeros: int) -> Problem:
    X, Y, taxonomy = make_text_like(
        examples, N_FEATURES, n_leaves=classes, nonzeros=nonzeros, labels_per_sample=1.0,
        tfidf=True, random_state=0,
    )  # fmt: skip
    return Problem(taxonomy, X, np.array(taxonomy.nodes)[Y.indices])


def fit_seconds(name: str, data: Problem) -> float:
    """The least CPU seconds of a few fits; of one, if that took long."""
    seconds: list[float] = []
    while len(seconds) < REPEATS and sum(seconds) < ENOUGH:
        model = getattr(linnaeus, name)(data.taxonomy, tol=TOL, dtype="float32", random_state=0)
        start = time.process_time()
        model.fit(data.X, data.y)
        seconds.append(time.process_time() - start)
    return min(seconds)


def exponent(sizes: Any, seconds: Any) -> float:
    """The slope of log seconds over log size by least squares."""
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(seconds, dtype=float))
    x = x - x.mean()
    return float(x @ y / (x @ x))


def measured() -> dict[str, dict[str, list[float]]]:
    """Seconds of every model at every size: ``[axis][model]``."""
    small = problem(300, 10, 20)
    for name in MODELS:
        fit_seconds(name, small)  # compile before the clock starts
    out: dict[str, dict[str, list[float]]] = {}
    for axis, sizes in SIZES.items():
        out[axis] = {name: [] for name in MODELS}
        for size in sizes:
            data = problem(**{**BASE, axis: size})
            for name in MODELS:
                out[axis][name].append(fit_seconds(name, data))
            print(f"{axis} {size}: " + _listed(out[axis]), flush=True)
    return out


def _listed(seconds: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} {values[-1]:.2f}" for name, values in seconds.items())


def draw(seconds: dict[str, dict[str, list[float]]], file: str) -> None:
    """Three panels with logarithmic axes; exponents in the legends."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "linnaeus"  # equal data give equal files
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(seconds), figsize=(13, 5.5), sharey=True)
    for panel, (axis, models) in zip(panels, seconds.items(), strict=True):
        for name, values in models.items():
            label = f"{name}, exponent {exponent(SIZES[axis], values):.2f}"
            panel.loglog(SIZES[axis], values, marker="o", label=label)
        panel.set_xlabel(axis if axis != "nonzeros" else "nonzeros a row")
        panel.set_xticks(SIZES[axis], [f"{size:,}" for size in SIZES[axis]])
        panel.minorticks_off()
        panel.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)
    panels[0].set_ylabel("CPU seconds of a fit")
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / file, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    warnings.simplefilter("ignore")
    seconds = measured()
    draw(seconds, "growth.svg")
    n_steps = max(map(len, SIZES.values()))
    rows = [
        [f"{name}, {axis} {SIZES[axis][0]:,} to {SIZES[axis][-1]:,}", *values,
         exponent(SIZES[axis], values)]
        for axis, models in seconds.items()
        for name, values in models.items()
    ]  # fmt: skip
    base = ", ".join(f"{value:,} {axis}" for axis, value in BASE.items())
    publish(
        "growth",
        "Growth: CPU seconds of a fit, one size doubled at a time",
        ["model", *(f"x {2**k}" for k in range(n_steps)), "exponent"],
        rows,
        notes=f"The other sizes are {base}; {N_FEATURES:,} features, float32, gap {TOL:g}.",
        plots=["growth.svg"],
    )


if __name__ == "__main__":
    main()
