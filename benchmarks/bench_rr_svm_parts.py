"""RecursiveSVM with dense weights and with weights in parts, each fit in a process of its own.

SHAPES names the problems, "classes x rows x features x depth" (3000x6000x50000x5), and a percentage
of nodes with a second parent for a DAG (3000x6000x50000x5x10); those that end in "-" without the
dense twin. LIMIT is the memory that a fit may take, in bytes.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from typing import Any

import numpy as np

import linnaeus
from benchmarks.bench_memory import forget_peak, resident
from benchmarks.recording import in_fresh_process, publish
from linnaeus.execution.memory import never_refused
from linnaeus.synthetic import make_text_like

SHAPES = "3000x6000x50000x5,3000x6000x50000x5x10"
LIMIT = 700_000_000
TOL = 5e-2
COLUMNS = [
    "problem", "CPU seconds", "gap of each round", "MB before", "MB at most", "weights",
    "dual variables", "objective",
]  # fmt: skip


def problem(
    n_classes: int, n_rows: int, n_features: int, depth: int, second: int = 0
) -> tuple[Any, ...]:
    """Text-like rows of one label each, of about 60 words."""
    X, Y, taxonomy = make_text_like(
        n_rows, n_features, n_leaves=n_classes, depth=depth, nonzeros=60, labels_per_sample=1.0,
        tfidf=True, random_state=0, dag=second / 100,
    )  # fmt: skip
    return taxonomy, X.astype(np.float32), np.array(taxonomy.nodes)[Y.indices]


def fitted(data: tuple[Any, ...], limit: int | None, tol: float) -> Any:
    taxonomy, X, y = data
    model = linnaeus.RecursiveSVM(taxonomy, dtype="float32", tol=tol, memory=limit, random_state=0)
    return model.fit(X, y)


def n_weights(model: Any) -> int:
    if "own_coef_" in vars(model):
        return int(model.own_coef_.nnz + model.common_coef_.nnz)
    return int(model.coef_.size + model.inner_coef_.size)


def fit(*sizes: int) -> dict[str, Any]:
    """Seconds, gaps and memory of one fit in this process.

    sizes : those of the problem, and the limit, 0 for none
    """
    *shape, limit = sizes
    with never_refused():
        fitted(problem(70, 200, 3000, 4), 1 if limit else None, 0.5)  # loops are loaded
    data = problem(*shape)
    forget_peak()
    before, began = resident("VmRSS"), time.process_time()
    model = fitted(data, limit or None, TOL)
    return {
        "seconds": time.process_time() - began, "gaps": [step["gap"] for step in model.trace_],
        "before": before, "peak": resident("VmHWM"), "weights": n_weights(model),
        "duals": int(model.duals_.nnz), "objective": model.objective_,
    }  # fmt: skip


def row(shape: str, kind: str, limit: int) -> list[Any]:
    told = in_fresh_process("benchmarks.bench_rr_svm_parts", *shape.split("x"), str(limit))
    gaps = " ".join(f"{gap:.3f}" for gap in told.pop("gaps"))
    seconds, *rest = told.values()
    print(f"{shape}, {kind}: {seconds:.0f} CPU seconds, gaps {gaps}, {rest}", flush=True)
    return [f"{shape}, {kind}", seconds, gaps, *rest]


def main() -> None:
    shapes, limit = os.environ.get("SHAPES", SHAPES), int(os.environ.get("LIMIT", LIMIT))
    rows = []
    for shape in shapes.split(","):
        kinds = {"parts": limit} if shape.endswith("-") else {"dense": 0, "parts": limit}
        rows += [row(shape.removesuffix("-"), kind, given) for kind, given in kinds.items()]
    publish(
        "recursive_parts",
        "RecursiveSVM with dense weights and with weights in parts",
        COLUMNS,
        rows,
        notes="classes x rows x features x depth (x percentage of second parents), about 60 words "
        f"a row, float32, one core, gap {TOL:g}, limit {limit / 1e6:g} MB.",
        needs=f"SHAPES={shapes} LIMIT={limit}",
        benchmark="rr_svm_parts",
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(fit(*map(int, sys.argv[1:]))))
