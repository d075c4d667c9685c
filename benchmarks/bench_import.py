"""Categories of Wikipedia imported and read back: CPU seconds and peak memory by their number.

The graph has the shape of LWIKI (478,020 nodes, 863,261 edges with cycles), the DAG that of SWIKI
(50,312 nodes, 65,333 edges) of [GopalYang2015], at a quarter, a half and all of their size; rows
are a few. Every step runs in a process of its own, which has read and written a small one before.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_growth import exponent
from benchmarks.bench_memory import resident
from benchmarks.recording import in_fresh_process, publish

SIZES = {"graph": (478_020, 863_261), "DAG": (50_312, 65_333)}
SHARES = (0.25, 0.5, 1.0)
ROWS = 1000


def write_source(folder: Path, shape: str, share: float) -> None:
    """A challenge with a random hierarchy: every node has an edge from above, some have more.

    In the graph any two nodes may be joined, upwards and to themselves too.
    """
    n, m = (int(share * size) for size in SIZES[shape])
    rng = np.random.default_rng(0)
    child = np.arange(1, n)
    more = rng.integers(0, n, (m - child.size, 2))
    more = more if shape == "graph" else np.sort(more[more[:, 0] != more[:, 1]], axis=1)
    tree = np.column_stack([(child * rng.random(n - 1) ** 2).astype(int), child])
    folder.mkdir()
    np.savetxt(folder / "cat_hier.txt", rng.permutation(np.vstack([tree, more])) + 1, fmt="%d")
    labels = rng.integers(1, n + 1, ROWS)
    (folder / "train.txt").write_text("".join(f"{v} 1:1 7:2\n" for v in labels.tolist()))


def step(what: str, source: str, target: str, shape: str) -> dict[str, Any]:
    """CPU seconds and peak memory of one step in this process."""
    from linnaeus.io import read_collection
    from linnaeus.workflow import import_collection

    options = {"graph": True} if shape == "graph" else {}
    with tempfile.TemporaryDirectory() as small:
        write_source(Path(small) / "in", shape, 0.1)  # compiles, as large ones do
        import_collection("lshtc", f"{small}/in", f"{small}/out", **options)
        read_collection(f"{small}/out")
    before, start = resident("VmRSS"), time.process_time()
    if what == "import":
        import_collection("lshtc", source, target, **options)
    else:
        read_collection(target)
    return {"cpu": time.process_time() - start, "above": resident("VmHWM") - before}


def main() -> None:
    rows = []
    for shape, (n, m) in SIZES.items():
        found: dict[str, list[dict[str, Any]]] = {"import": [], "read": []}
        for share in SHARES:
            with tempfile.TemporaryDirectory() as folder:
                source, target = f"{folder}/in", f"{folder}/out"
                write_source(Path(source), shape, share)
                for what, steps in found.items():
                    steps.append(in_fresh_process(__name__, what, source, target, shape))
        for what, steps in found.items():
            seconds, above = ([s[key] for s in steps] for key in ("cpu", "above"))
            grows = exponent(np.array(SHARES), np.array(seconds))
            rows.append([f"{what}, {shape}", n, m, seconds[-1], above[-1], grows])
    publish(
        "import", "Categories imported and read back",
        ["step", "nodes", "edges", "CPU s", "MB above the start", "exponent of CPU s"], rows,
        notes=f"The exponent is over {', '.join(f'{share:g}' for share in SHARES)} of the size.",
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(step(*sys.argv[1:])))
