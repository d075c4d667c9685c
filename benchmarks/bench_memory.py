"""Peak memory of FlatSVM above that of its data, with all weights and with small ones dropped.

Every fit runs in a process of its own: the data are loaded and the loops compiled on a few rows,
then the highest resident memory during the fit is compared with that before it. The data are the
problems S and M in the folder that PEERS_DATA names; MEMORY_PROBLEMS=S leaves M out.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

PRUNES = {"S": (0.0, 0.01, 0.02, 0.05), "M": (0.0, 0.01)}
MB = 1 << 20


def resident(field: str) -> float:
    """A field of this process's memory in MB: VmRSS now, VmHWM the highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise KeyError(field)


def forget_peak() -> None:
    """The highest resident memory counts from now on; freed memory goes back to the system."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def fit(problem: str, prune: float) -> dict[str, Any]:
    """Memory and result of one fit in this process."""
    import gc

    import scipy.sparse as sp

    from benchmarks.bench_linear import Problem
    from linnaeus import FlatSVM

    data = Problem(Path(os.environ["PEERS_DATA"]) / problem)
    options: dict[str, Any] = {"prune": prune, "dtype": "float32", "n_jobs": 2, "random_state": 0}
    FlatSVM(data.taxonomy, **options).fit(data.X[:300, :50], data.Y[:300])  # compile
    gc.collect()
    forget_peak()
    before = resident("VmRSS")
    start, start_cpu = time.perf_counter(), time.process_time()
    model = FlatSVM(data.taxonomy, **options).fit(data.X, data.Y)
    wall, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    coef = model.coef_
    arrays = [coef.data, coef.indices, coef.indptr] if sp.issparse(coef) else [coef]
    return {
        "before": before,
        "above": resident("VmHWM") - before,
        "weights": sum(array.nbytes for array in arrays) / MB,
        "kept": coef.nnz / (coef.shape[0] * coef.shape[1]) if sp.issparse(coef) else 1.0,
        "rise": getattr(model, "prune_loss_", 0.0),
        "gap": model.gap_,
        "wall": wall,
        "cpu": cpu,
    }


def main() -> None:
    from benchmarks.recording import in_fresh_process, publish

    folder = Path(os.environ.get("PEERS_DATA", "data"))
    wanted = os.environ.get("MEMORY_PROBLEMS", "S,M").split(",")
    names = [name for name in wanted if (folder / name).is_dir()]
    if not names or not Path("/proc/self/clear_refs").exists():
        print("skipped: set PEERS_DATA to the folder of the problems S and M (on Linux)")
        return
    rows = []
    for name in names:
        for prune in PRUNES[name]:
            r = in_fresh_process("benchmarks.bench_memory", name, str(prune))
            label = f"{name}, weights below {prune:g} dropped" if prune else f"{name}, all weights"
            rows.append([label, r["before"], r["above"], r["weights"], r["kept"], r["rise"],
                         r["gap"], r["cpu"], r["wall"]])  # fmt: skip
            print(f"{label}: {r['above']:,.0f} MB above the data", flush=True)
    publish(
        "memory",
        "Peak memory of FlatSVM, MB (2 threads, float32)",
        ["fit", "before", "peak above", "weights", "share kept", "objective +", "gap", "CPU s",
         "wall s"],
        rows,
        notes="Before: the process with its data, training and test part. Objective +: by what "
        "share dropping weights raised the objective (prune_loss_).",
        needs="PEERS_DATA=data",
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit(sys.argv[1], float(sys.argv[2]))))
    else:
        main()
