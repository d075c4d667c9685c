"""Peak memory of H-M3 above that of its data, beside the bound in docs/maths/hm3.md.

The fit runs in a process of its own, after a small one that compiles the loops.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.bench_memory import MB, forget_peak, resident
from benchmarks.recording import in_fresh_process, publish

SHAPE = {"n_samples": 20_000, "n_features": 20_000, "n_nodes": 34, "nonzeros": 60}
TYPES = {"float32": 4, "float64": 8}
ROUNDS = 2  # memory does not depend on how many


def bound(n: int, d: int, n_edges: int, size: int, nonzeros: int) -> float:
    """MB for numbers of `size` bytes: dual variables, weights, answers, copies of X and Y."""
    dual, weights, answers = 8 * n * 2 * n_edges, d * 2 * n_edges, (n + d) * 4 * n_edges
    copies = (size + 4) * nonzeros + n * (n_edges + 1)
    return (dual + size * (weights + answers) + copies) / MB


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
    return {"above": above, "edges": int(model.edges_.child.size), "rows": X.shape[0],
            "columns": X.shape[1], "nonzeros": X.nnz, "data": (X.data.nbytes + X.indices.nbytes) / MB,
            "gap": model.gap_}  # fmt: skip


def main() -> None:
    if not Path("/proc/self/clear_refs").exists():
        print("skipped: peak memory is measured on Linux")
        return
    rows = []
    for dtype, size in TYPES.items():
        r = in_fresh_process("benchmarks.hm3_memory", dtype)
        n, d, edges = r["rows"], r["columns"], r["edges"]
        tensor = size * 4.0 * n * n * edges / MB
        rows.append([dtype, r["data"], r["above"], bound(n, d, edges, size, r["nonzeros"]),
                     size * n * n / MB, tensor, r["gap"]])  # fmt: skip
    publish(
        "hm3_memory",
        "Peak memory of H-M3 with a linear kernel, MB",
        ["numbers", "X", "peak above the data", "bound", "n x n", "n x n x edges x 4", "gap"],
        rows,
        notes="Made up: " + ", ".join(f"{v:,} {k.removeprefix('n_')}" for k, v in SHAPE.items())
        + f" a row; {ROUNDS} rounds. The bound is that of docs/maths/hm3.md; the last two sizes "
        "are those of a kernel matrix and of the tensor of all edges, which are never made.",
        needs="HM3_PARTS=memory",
        benchmark="hm3",
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(fit(sys.argv[1])))
