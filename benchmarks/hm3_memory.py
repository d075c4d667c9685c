"""Peak memory of H-M3 above that of its data, beside the bound in docs/maths/hm3.md.

Fits run in a process of their own, after a small one that compiles the loops. The first is measured
by the resident memory of the process, a second one by the arrays and objects allocated.
"""

from __future__ import annotations

import json
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

from benchmarks.bench_memory import MB, forget_peak, resident
from benchmarks.recording import in_fresh_process, publish

SHAPE = {"n_samples": 20_000, "n_features": 20_000, "n_nodes": 34, "nonzeros": 60}
TYPES = {"float32": 4, "float64": 8}
ROW = 192  # bytes of an example for its costs, gaps, slacks and places in working sets
ROUNDS = 2  # memory does not depend on how many


def bound(n: int, d: int, n_edges: int, size: int, copied: int) -> float:
    """MB for numbers of `size` bytes, where `copied` nonzeros are of another type."""
    dual, weights, answers = 8 * n * 2 * n_edges, d * 2 * n_edges, (n + d) * 4 * n_edges
    rest = n * (n_edges + 1 + ROW) + (size + 4) * copied
    return (dual + size * (weights + answers) + rest) / MB


def fit(dtype: str) -> dict[str, Any]:
    """Memory of one fit in this process."""
    from benchmarks.hm3_data import shaped
    from linnaeus import HM3

    tree, X, Y = shaped(**SHAPE)
    options: dict[str, Any] = {"dtype": dtype, "max_iter": ROUNDS, "random_state": 0}
    HM3(tree, **options).fit(X[:300, :50], Y[:300])  # compile
    forget_peak()
    before = resident("VmRSS")
    model = HM3(tree, **options).fit(X, Y)
    above = resident("VmHWM") - before
    tracemalloc.start()
    HM3(tree, **options).fit(X, Y)
    return {
        "above": above,
        "arrays": tracemalloc.get_traced_memory()[1] / MB,
        "edges": int(model.edges_.child.size),
        "rows": X.shape[0],
        "columns": X.shape[1],
        "copied": X.nnz if X.dtype != dtype else 0,
        "data": (X.data.nbytes + X.indices.nbytes) / MB,
    }


def main() -> None:
    if not Path("/proc/self/clear_refs").exists():
        print("skipped: peak memory is measured on Linux")
        return
    rows = []
    for dtype, size in TYPES.items():
        r = in_fresh_process("benchmarks.hm3_memory", dtype)
        n, d, edges = r["rows"], r["columns"], r["edges"]
        tensor = size * 4.0 * n * n * edges / MB
        limit = bound(n, d, edges, size, r["copied"])
        rows.append([dtype, r["data"], r["above"], r["arrays"], limit, size * n * n / MB, tensor])
    publish(
        "hm3_memory",
        "Peak memory of H-M3 with a linear kernel, MB",
        ["numbers", "X", "resident, above the data", "arrays", "bound of arrays", "n x n",
         "n x n x edges x 4"],
        rows,
        notes="Made up: " + ", ".join(f"{v:,} {k.removeprefix('n_')}" for k, v in SHAPE.items())
        + f" a row; {ROUNDS} rounds. The bound is that of docs/maths/hm3.md; the "
        "resident memory also counts freed pages and code, and lies above it. The last two sizes "
        "are those of a kernel matrix and of the tensor of all edges, which are never made.",
        needs="HM3_PARTS=memory",
        benchmark="hm3",
    )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(fit(sys.argv[1])))
