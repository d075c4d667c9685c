"""What fits really hold, each in a process of its own: within `memory=`, and beyond it without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from marks import slow

STATUS = Path("/proc/self/status")
MEGA = 1 << 20
EVERY = 0.005  # seconds between two looks
TEXT = {"nonzeros": 40, "skew": 0.5, "tfidf": True, "random_state": 0}
# name of the class, its parameters, rows, features, the taxonomy, megabytes
CASES = {
    "flat": ("FlatSVM", {"tol": 0.5}, 1000, 100_000, {"n_leaves": 2000, "depth": 3}, 460),
    "recursive": (
        "RecursiveSVM", {"tol": 0.5}, 1200, 100_000, {"n_leaves": 1500, "depth": 5}, 480,
    ),
    "dag": (
        "RecursiveSVM", {"tol": 0.5}, 1200, 100_000, {"n_leaves": 1500, "depth": 5, "dag": 0.3},
        510,
    ),
    "topdown": ("TopDown", {"tol": 0.1}, 3000, 100_000, {"n_leaves": 2000, "depth": 5}, 350),
}  # fmt: skip

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")


def own_pages() -> float:
    """Megabytes that this process alone holds now."""
    text = STATUS.read_text("utf-8")
    return float(text.split("RssAnon:")[1].split()[0]) / 1024


class Watch(threading.Thread):
    """The highest of many looks at them."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0.0

    def run(self) -> None:
        while True:
            self.most = max(self.most, own_pages())
            time.sleep(EVERY)


def fit_here(case: str, limit: str) -> dict[str, float]:
    """Fit in this process; the most that it held."""
    import warnings

    import linnaeus
    from linnaeus.synthetic import make_text_like

    warnings.simplefilter("ignore")
    name, options, rows, features, shape, _ = CASES[case]
    X, Y, tax = make_text_like(rows, features, **shape, **TEXT)
    watch = Watch()
    watch.start()
    memory = f"{limit}M" if limit != "0" else None
    model = getattr(linnaeus, name)(tax, dtype="float32", n_jobs=2, memory=memory, **options)
    model.fit(X.astype("float32"), Y)
    return {"most": max(watch.most, own_pages()), "gap": model.gap_}


def measured(case: str, limit: int) -> dict[str, float]:
    """The same in a process of its own."""
    run = [sys.executable, str(Path(__file__)), case, str(limit)]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    told = subprocess.run(
        run, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": path}
    )
    return json.loads(told.stdout)


@pytest.mark.parametrize("case", [slow(case) for case in CASES])
def test_a_limited_fit_stays_within_its_limit(case):
    limit = CASES[case][-1]
    small = measured(case, limit)
    assert small["most"] <= limit
    assert small["gap"] <= CASES[case][1]["tol"]


@pytest.mark.parametrize("case", [slow("flat"), slow("recursive"), slow("dag")])
def test_without_a_limit_it_would_take_more(case):
    assert measured(case, 0)["most"] > CASES[case][-1]


if __name__ == "__main__":
    print(json.dumps(fit_here(*sys.argv[1:])))
