"""The first fit of every estimator in a fresh process: nothing compiled, and compiled before.

The limits are 20 s with an empty cache of the compiler and 2 s with a full one, in CPU seconds:
the compiler has one thread, and other work on the machine must not count. Each estimator has a
cache folder of its own, so none profits from another. "Import" is loading the estimator and all it
needs; "fit" is making a taxonomy of a few classes and fitting 60 rows. The table names the
functions whose compilation took longest, in wall seconds, without that of functions they call.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from typing import Any

COLD, WARM = 20.0, 2.0
SHOWN = 3


def first_fit(name: str) -> dict[str, Any]:
    """Seconds of the import and of the first fit, and what was compiled."""
    start = time.process_time()
    import numpy as np
    import scipy.sparse as sp
    from numba.core.event import install_recorder

    import linnaeus

    estimator, Taxonomy = getattr(linnaeus, name), linnaeus.Taxonomy
    imported, wall = time.process_time(), time.perf_counter()
    with install_recorder("numba:compile") as recorder:
        edges = [(f"group {k // 3}", f"class {k}") for k in range(9)]
        taxonomy = Taxonomy.from_edges(edges)
        X = sp.random_array((60, 30), density=0.3, format="csr", rng=np.random.default_rng(0))
        model = estimator(taxonomy)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        model.fit(X, [f"class {i % 9}" for i in range(60)])
    return {
        "import": imported - start,
        "fit": time.process_time() - imported,
        "wall": time.perf_counter() - wall,
        "compiled": own_seconds(
            (at, event.is_start, _name(event.data["dispatcher"].py_func))
            for at, event in recorder.buffer
        ),
    }


def _name(function: Any) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def own_seconds(events: Any) -> list[tuple[str, float]]:
    """Seconds of every function without those nested in it, the longest first.

    events : (time, is_start, function), starts and ends properly nested
    """
    total: dict[str, float] = {}
    open_since: list[str] = []
    before = 0.0
    for at, is_start, name in events:
        if open_since:
            total[open_since[-1]] = total.get(open_since[-1], 0.0) + at - before
        if is_start:
            open_since.append(name)
        else:
            open_since.pop()
        before = at
    return sorted(total.items(), key=lambda item: -item[1])


def estimators() -> list[str]:
    """Every exported class that can be fitted."""
    import linnaeus

    return [name for name in linnaeus.__all__ if hasattr(getattr(linnaeus, name), "fit")]


def measured(name: str) -> list[Any]:
    from benchmarks.recording import in_fresh_process

    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (
            in_fresh_process("benchmarks.bench_cold", name, LINNAEUS_CACHE_DIR=cache)
            for _ in range(2)
        )
    slowest = ", ".join(f"{f} {s:.1f}" for f, s in cold["compiled"][:SHOWN])
    within = cold["fit"] <= COLD and warm["fit"] <= WARM
    return [
        name, cold["import"], cold["fit"], cold["wall"], len(cold["compiled"]), warm["import"],
        warm["fit"], warm["wall"], len(warm["compiled"]), "yes" if within else "NO", slowest,
    ]  # fmt: skip


def main() -> None:
    from benchmarks.recording import publish

    rows = []
    for name in estimators():
        rows.append(measured(name))
        print(f"{name}: {rows[-1][2]:.1f} s, then {rows[-1][6]:.2f} s", flush=True)
    publish(
        "cold",
        f"The first fit in a fresh process, CPU seconds (limits {COLD:g} cold, {WARM:g} warm)",
        ["estimator", "import", "cold fit", "wall", "compiled", "import again", "warm fit",
         "wall again", "compiled again", "within", "slowest to compile"],
        rows,
        notes="Compiled: how many functions the compiler worked on.",
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(first_fit(sys.argv[1])))
    else:
        main()
