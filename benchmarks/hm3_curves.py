"""Learning curves of H-M3 on rcv1-ccat: pairwise steps, and conditional gradients with at most 1,
10 or 50 steps a visit (the paper's figures 2 and 3).

The trace of a fit has wall seconds; they are scaled so that the last is the CPU time of the fit.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks import hm3_data
from benchmarks.recording import RESULTS, publish
from linnaeus import HM3

FILE = "hm3_curves.svg"
METHODS: dict[str, dict[str, Any]] = {
    "pairwise": {"optimizer": "pairwise"},
    "csga, 1 step": {"optimizer": "csga", "freq": 1},
    "csga, 10 steps": {"optimizer": "csga", "freq": 10},
    "csga, 50 steps": {"optimizer": "csga", "freq": 50},
}
LEVELS = (0.1, 0.01, 0.001)
TOL = 1e-4
ROUNDS = 150  # at most


def curve(options: dict[str, Any]) -> np.ndarray:
    """Rows of CPU seconds, objective and gap."""
    data = hm3_data.collection("rcv1-ccat")
    model = HM3(data.taxonomy, tol=TOL, max_iter=ROUNDS, random_state=0, **options)
    start = time.perf_counter()
    cpu, _ = hm3_data.seconds_of(lambda: model.fit(data.X, data.Y))
    share = cpu / (time.perf_counter() - start)
    return np.array([[t["seconds"] * share, t["objective"], t["gap"]] for t in model.trace_])


def first_below(found: np.ndarray, level: float) -> float | None:
    """Seconds of the first certificate with this gap."""
    below = found[found[:, 2] <= level, 0]
    return float(below[0]) if below.size else None


def draw(curves: dict[str, np.ndarray]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "linnaeus"  # equal data give equal files
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4.5))
    for name, found in curves.items():
        for panel, column in zip(panels, (1, 2), strict=True):
            panel.loglog(found[:, 0], found[:, column], marker=".", label=name)
    for panel, title in zip(panels, ("objective", "relative duality gap"), strict=True):
        panel.set_xlabel("CPU seconds")
        panel.set_title(title)
    panels[0].legend(frameon=False)
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / FILE, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    curves = {name: curve(options) for name, options in METHODS.items()}
    draw(curves)
    rows = [
        [name, *(first_below(found, level) for level in LEVELS), found[-1, 2], found[-1, 1],
         found[-1, 0], len(found)]
        for name, found in curves.items()
    ]  # fmt: skip
    publish(
        "hm3_curves",
        "H-M3 on rcv1-ccat: pairwise steps and conditional gradients",
        ["method", *(f"s to gap {level:g}" for level in LEVELS), "last gap", "last objective",
         "CPU s", "certificates"],
        rows,
        notes=f"Loss delta, C = 1; to a gap of {TOL:g}, or {ROUNDS} rounds. Empty: not reached.",
        plots=[FILE],
        needs="HM3_PARTS=curves",
        benchmark="hm3",
    )  # fmt: skip
