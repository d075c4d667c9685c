"""Kills at random moments: what comes out, as a record.

LINNAEUS_KILLS says how many of drivers and of workers (100), LINNAEUS_MACHINE_KILLS how many of
machines (20). Half of the drivers work on threads, half on a Ray cluster.
"""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

from benchmarks.killing import (
    KINDS,
    Outcome,
    kill_drivers,
    kill_machines,
    kill_workers,
    two_machines,
)
from benchmarks.recording import publish


def outcomes(n: int, n_machines: int) -> Iterator[Outcome]:
    """All kills, one after the other."""
    with two_machines() as cluster:
        yield from kill_drivers(n, KINDS, (("threads", ""), ("ray", cluster.address)))
    yield from kill_workers(n)
    yield from kill_machines(n_machines)


def row(victim: str, kind: str, found: list[Outcome]) -> list[Any]:
    ends = Counter(one.outcome.split(":")[0] for one in found)
    same, clear = ends.pop("same", 0), ends.pop("error", 0)
    return [
        f"{victim}: {kind}", len(found), same, clear, sum(ends.values()),
        median(one.moment for one in found), median(one.seconds for one in found),
    ]  # fmt: skip


def main() -> None:
    if importlib.util.find_spec("ray") is None:
        print("skipped: Ray is not installed (extra `ray`)")
        return
    n = int(os.environ.get("LINNAEUS_KILLS", "100"))
    n_machines = int(os.environ.get("LINNAEUS_MACHINE_KILLS", "20"))
    found: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes(n, n_machines):
        print(f"{one.victim}, {one.kind}, after {one.moment:.2f} s: {one.outcome} "
              f"({one.seconds:.1f} s)", flush=True)  # fmt: skip
        found.setdefault((one.victim, one.kind), []).append(one)
    publish(
        "kills",
        "Kills at random moments",
        ["killed", "kills", "same bits", "clear errors", "faults", "after s", "ended after s"],
        [row(*key, some) for key, some in sorted(found.items())],
        notes="SIGKILL of the driver (three times, then it may end, from its checkpoint), of a "
        "worker, and of the second of two raylets on this machine, at moments drawn over the "
        "seconds of an undisturbed fit. Medians of the moments, and of the seconds until the end.",
        facts={"outcomes": [list(one) for some in found.values() for one in some]},
    )


if __name__ == "__main__":
    main()
