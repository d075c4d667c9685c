"""What breaks first when a problem grows: amounts by formula, and the values at which they end.

The amounts are those of the code as it is, with the constants of `benchmarks.scale`; a limit is
that of a machine of 16 GB, of 32-bit counters, or of what a folder or a parser bears.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.scale import IN_HAND, Constants, Sizes, driver_parts, estimate

MACHINE = 16e9  # bytes of a machine of the paper's
FOLDER = 100_000.0  # files that a folder holds before listing it is slow
PARSED = 1e9  # bytes of JSON that are read at once
COUNTER = 2.0**31  # numbers that 32 bits with a sign can count
MACHINES, CORES = 64, 8

Amount = Callable[[Sizes], float]


class Limit(NamedTuple):
    """Something that grows, and the value at which it no longer works."""

    what: str
    formula: str
    value: Amount
    most: float | Amount
    remedy: str
    unit: str = "bytes"  # or hours, or nothing

    def limit(self, sizes: Sizes) -> float:
        return self.most(sizes) if callable(self.most) else self.most

    def reached(self, sizes: Sizes) -> float:
        """At how many times these sizes, all but the features, the limit is met; by bisection."""
        low, high = 1e-6, 1e6
        for _ in range(60):
            middle = math.sqrt(low * high)
            grown = Sizes(*(max(1, int(middle * size)) for size in sizes))
            grown = grown._replace(features=sizes.features)
            full = self.value(grown) >= self.limit(grown)
            low, high = (low, middle) if full else (middle, high)
        return high


def limits(known: Constants) -> list[Limit]:
    """Everything that may break."""
    return [*of_weights(known), *of_solving(known), *of_names(known)]


def of_weights(known: Constants) -> list[Limit]:
    """Weights and dual variables, in memory and in numbers."""

    def kept(s: Sizes) -> float:
        return estimate(s, known).weights

    return [
        Limit("dense weights of inner nodes, D (recursive)", "4 (nodes - K) d",
              lambda s: 4.0 * (s.nodes - s.classes) * s.features, MACHINE,
              "sparse rows of D, in shards"),
        Limit("dense weights of the classes", "4 K d",
              lambda s: estimate(s, known).dense, MACHINE,
              "drop small weights (`prune`), write shards"),
        Limit("weights kept, in one piece", "8 w K", kept, MACHINE,
              "shards that are mapped, not read"),
        Limit("weights kept, counted by 32 bits", "w K", lambda s: kept(s) / 8, COUNTER,
              "64-bit pointers, or shards", ""),
        Limit("dual variables, their values", "8 s K",
              lambda s: estimate(s, known).duals, MACHINE, "shards on disk"),
    ]  # fmt: skip


def of_solving(known: Constants) -> list[Limit]:
    """Examples, running blocks, tasks, files, and the driver's own work."""
    cores = MACHINES * CORES
    return [
        Limit("tasks under way and their answers", f"{IN_HAND} (t + u) n",
              lambda s: driver_parts(s, known)["under way"], MACHINE, "fewer blocks at once"),
        Limit(f"X and {CORES} running blocks on a machine",
              f"8 z + 16 n + {CORES} · 32 (10 n + 8 d)",
              lambda s: estimate(s, known).memory(CORES), MACHINE,
              "fewer classes in a block, or fewer blocks at once"),
        Limit("nonzeros of X, counted by 32 bits", "z", lambda s: float(s.nonzeros), COUNTER,
              "64-bit pointers", ""),
        Limit("driver comparing blocks side by side (recursive)",
              f"c (K / 512)² / 2 a phase; limit: the work on {cores} cores",
              lambda s: pair_hours(s, known),
              lambda s: estimate(s, known, "recursive").core_hours / cores,
              "add up by node, do not compare pairs", "hours"),
        Limit("files in one folder, one a block", "K / 32", lambda s: float(s.blocks), FOLDER,
              "folders in folders, or larger shards", ""),
    ]  # fmt: skip


def of_names(known: Constants) -> list[Limit]:
    """What the process that calls `fit` or `predict` knows of classes and labels."""
    return [
        Limit("taxonomy with its names", "v nodes", lambda s: known.node * s.nodes, MACHINE,
              "names on disk"),
        Limit("labels Y", "12 labels", lambda s: driver_parts(s, known)["labels"], MACHINE,
              "shards by row"),
        Limit("model.json", "j K", lambda s: known.json_class * s.classes, PARSED,
              "names in a file of their own"),
        Limit("scores of one row in each thread (best labels)", "8 K",
              lambda s: 8.0 * s.classes, MACHINE / CORES, "beam search"),
        Limit("objective, bound and gap of every class", "24 K",
              lambda s: driver_parts(s, known)["gaps"], MACHINE, "none needed"),
    ]  # fmt: skip


def pair_hours(sizes: Sizes, known: Constants) -> float:
    """Hours in which the driver compares blocks that were visited side by side."""
    phases = sum(call[0] for name, call in known.calls.items() if name.endswith("visit"))
    calls, tasks, _ = known.calls["visit"]
    width = sizes.blocks * tasks / calls / known.call_blocks
    return phases * known.pair * width**2 / 2 / 3600
