"""H-M3: speed and memory.

Speed is in CPU seconds to a relative duality gap; all are measured in one run, the least of three
for what is short, in turn with the scikit-learn machines they are compared with. The collections
rcv1-ccat and enzyme are found as `hm3_data` says. HM3_PARTS, with commas, chooses some parts.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks import hm3_data, hm3_memory
from benchmarks.recording import publish
from linnaeus import HM3

REPEATS = 3
WIPO = {"n_samples": 1372, "n_features": 18_000, "n_nodes": 188, "nonzeros": 100}
WIPO_TOL = 0.02
WIPO_LIMIT, ENZYME_LIMIT = 10.0, 300.0  # CPU seconds
LOSSES = ("delta", "subtree")


def compile_loops() -> None:
    """Both solvers on a few rows, before any clock starts."""
    tree, X, Y = hm3_data.shaped(60, 200, 12, 10)
    dense = X.toarray()
    for loss in LOSSES:
        HM3(tree, loss=loss, max_iter=3).fit(X, Y)
        for dtype in ("float32", "float64"):
            HM3(tree, loss=loss, max_iter=3, dtype=dtype).fit(X, Y)
            model = HM3(tree, loss=loss, kernel="precomputed", max_iter=3, dtype=dtype)
            model.fit(dense @ dense.T, Y)
    HM3(tree, optimizer="csga", max_iter=3).fit(X, Y)


def one_machine_per_node(X: Any, Y: np.ndarray) -> None:
    for j in range(Y.shape[1]):
        LinearSVC().fit(X, Y[:, j])


def ccat_rows() -> list[list[Any]]:
    """H-M3 and LinearSVC in turn on rcv1-ccat."""
    data = hm3_data.collection("rcv1-ccat")
    columns = data.Y.toarray()
    narrow = data.X.copy()  # the peer takes 32-bit indices only
    narrow.indices, narrow.indptr = narrow.indices.astype("i4"), narrow.indptr.astype("i4")
    seconds: dict[str, list[float]] = {name: [] for name in (*LOSSES, "peer")}
    gaps: dict[str, float] = {}
    for _ in range(REPEATS):
        spent, _ = hm3_data.seconds_of(lambda: one_machine_per_node(narrow, columns))
        seconds["peer"].append(spent)
        for loss in LOSSES:
            model, X, _ = hm3_data.markov("rcv1-ccat", loss)
            spent, _ = hm3_data.seconds_of(lambda m=model, X=X: m.fit(X, data.Y))
            seconds[loss].append(spent)
            gaps[loss] = model.gap_
    limit, tol = min(seconds["peer"]), hm3_data.TOL["rcv1-ccat"]
    machines = f"rcv1-ccat, {columns.shape[1]} x LinearSVC() of scikit-learn"
    rows = [[f"rcv1-ccat, {v}", tol, gaps[v], min(seconds[v]), limit] for v in LOSSES]
    return [*rows, [machines, None, None, limit, None]]


def wipo_rows() -> list[list[Any]]:
    """A made-up problem of the shape of WIPO-alpha, section D."""
    tree, X, Y = hm3_data.shaped(**WIPO)
    rows = []
    for loss in LOSSES:
        seconds, model = [], HM3(tree, loss=loss, tol=WIPO_TOL, random_state=0)
        for _ in range(REPEATS):
            seconds.append(hm3_data.seconds_of(lambda m=model: m.fit(X, Y))[0])
        rows.append([f"WIPO-D's shape, {loss}", WIPO_TOL, model.gap_, min(seconds), WIPO_LIMIT])
    return rows


def enzyme_rows() -> list[list[Any]]:
    rows = []
    for loss in LOSSES:
        seconds, model = hm3_data.fitted("enzyme", loss)
        tol = hm3_data.TOL["enzyme"]
        rows.append([f"enzyme, {loss}, Gram matrix included", tol, model.gap_, seconds])
        rows[-1].append(ENZYME_LIMIT)
    return rows


def speed() -> None:
    rows = ccat_rows() + wipo_rows() + enzyme_rows()
    publish(
        "hm3",
        "H-M3: CPU seconds to a relative duality gap",
        ["problem, loss", "gap asked", "gap reached", "CPU s", "not more than"],
        rows,
        notes="C = 1. WIPO-D's shape: "
        + ", ".join(f"{value:,} {key.removeprefix('n_')}" for key, value in WIPO.items())
        + " a row, one path each. Limits: the time of LinearSVC in this run, and those set "
        "beforehand for the other two.",
        benchmark="hm3",
    )


def costs() -> None:
    """Few rows and features, at costs from small to large: the interior point method finishes."""
    tree, X, Y = hm3_data.shaped(80, 6, 12, 6)
    rows: list[list[Any]] = []
    forms: dict[str, dict[str, Any]] = {
        "default": {}, "slack of edges": {"slack": "edge"}, "negative slack": {"slack": "negative"},
        "features of paths": {"features": "path"},
    }  # fmt: skip
    for form, options in forms.items():
        least = 0.0
        for C in (1.0, 1e2, 1e4, 1e6):
            model = HM3(tree, C=C, max_iter=1000, random_state=0, **options)
            took, model = hm3_data.seconds_of(lambda model=model: model.fit(X, Y))
            least = least or took
            gap, ratio = f"{model.gap_:.1e}", f"{took / least:.1f}"
            rows.append([form, f"{C:g}", model.n_iter_, gap, f"{took:.3f}", ratio])
    columns = ["form", "C", "rounds", "gap reached", "CPU s", "by that at C = 1"]
    title = "H-M3 on 80 rows of 6 features, to a relative gap of 1e-3"
    publish("hm3-costs", title, columns, rows, needs="HM3_PARTS=costs", benchmark="hm3")


PARTS = {
    "speed": speed,
    "costs": costs,
    "memory": hm3_memory.main,
}


def main() -> None:
    warnings.simplefilter("ignore")
    compile_loops()
    missing = hm3_data.missing()
    for part in os.environ.get("HM3_PARTS", ",".join(PARTS)).split(","):
        if missing and part == "speed":
            print(f"{part} skipped: no collection {missing[0]}", file=sys.stderr)
            continue
        print(f"\n-- {part}", flush=True)
        PARTS[part]()


if __name__ == "__main__":
    main()
