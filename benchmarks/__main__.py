"""``python -m benchmarks [name ...]``: run all benchmarks, or those whose names are given.

The name ``report`` makes a page of all results instead (`benchmarks.report`).
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    known = sorted(p.stem.removeprefix("bench_") for p in Path(__file__).parent.glob("bench_*.py"))
    others = ["simulate_cluster", "report"]
    unknown = [name for name in names if name not in [*known, *others]]
    if unknown:
        sys.exit(f"There is no benchmark {unknown[0]!r}. Known: {', '.join(known + others)}.")
    for name in names or [*known, *others]:
        print(f"\n== {name}", flush=True)
        module = name if name in others else f"bench_{name}"
        importlib.import_module(f"benchmarks.{module}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
