"""The first fit of every estimator in a fresh process: nothing compiled, and compiled before.

The limits are 8 s with an empty cache of the compiler and 2 s with a full one, in CPU seconds:
the compiler has one thread, and other work on the machine must not count. It counts a little, so
a calibration stands beside each: CPU seconds of a plain Python loop, before and after. Each
estimator has a cache folder of its own, so none profits from another. "Import" is loading the
estimator and all it needs; "fit" is making a taxonomy of a few classes, fitting 60 rows and
labelling them. The table names the functions whose compilation took longest, in CPU seconds,
without that of functions they call.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from typing import Any

COLD, WARM = 8.0, 2.0
SHOWN = 3


def first_fit(name: str) -> dict[str, Any]:
    """Seconds of the import and of the first fit, and what was compiled."""
    start = time.process_time()
    import numpy as np
    import scipy.sparse as sp
    from numba.core.event import install_listener

    import linnaeus

    estimator, Taxonomy = getattr(linnaeus, name), linnaeus.Taxonomy
    seconds = time.process_time() - start
    calibration = calibrate()
    imported, wall = time.process_time(), time.perf_counter()
    with install_listener("numba:compile", _recorder()) as recorder:
        edges = [(f"group {k // 3}", f"class {k}") for k in range(9)]
        taxonomy = Taxonomy.from_edges(edges)
        X = sp.random_array((60, 30), density=0.3, format="csr", rng=np.random.default_rng(0))
        model = estimator(taxonomy)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        model.fit(X, [f"class {i % 9}" for i in range(60)]).predict(X)
    fit, wall = time.process_time() - imported, time.perf_counter() - wall
    return {
        "import": seconds,
        "fit": fit,
        "wall": wall,
        "calibration": (calibration + calibrate()) / 2,
        "compiled": own_seconds(recorder.events),
    }


def calibrate() -> float:
    """CPU seconds of a loop that is always the same."""
    start, total = time.process_time(), 0
    for i in range(1_000_000):
        total += i * i % 7
    return time.process_time() - start


def _recorder() -> Any:
    """A listener that notes when every compilation begins and ends, in CPU seconds."""
    from numba.core.event import Listener

    class Recorder(Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.events: list[tuple[float, bool, str]] = []

        def on_start(self, event: Any) -> None:
            name = _name(event.data["dispatcher"].py_func)
            self.events.append((time.process_time(), event.is_start, name))

        on_end = on_start

    return Recorder()


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
        name, cold["import"], cold["fit"], cold["calibration"], cold["wall"],
        len(cold["compiled"]), warm["import"], warm["fit"], warm["calibration"], warm["wall"],
        len(warm["compiled"]), "yes" if within else "NO", slowest,
    ]  # fmt: skip


def main() -> None:
    from benchmarks.recording import publish

    rows = []
    for name in estimators():
        rows.append(measured(name))
        print(f"{name}: {rows[-1][2]:.1f} s, then {rows[-1][7]:.2f} s", flush=True)
    publish(
        "cold",
        f"The first fit in a fresh process, CPU seconds (limits {COLD:g} cold, {WARM:g} warm)",
        ["estimator", "import", "cold fit", "calibration", "wall", "compiled", "import again",
         "warm fit", "calibration again", "wall again", "compiled again", "within",
         "slowest to compile"],
        rows,
        notes="Compiled: how many functions the compiler worked on. Calibration: CPU seconds of a "
        "plain Python loop beside the fit; twice as slow a loop means twice as slow a machine.",
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(first_fit(sys.argv[1])))
    else:
        main()
