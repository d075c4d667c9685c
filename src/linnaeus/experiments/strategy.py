"""In which order settings are tried.

Greedy, by blocks, which keeps the number of fits affordable:

    1. all parameters of the method with all values of C, features as `train` makes them;
    2. values of C half a decade beside the best;
    3. the options of the features one after the other, each value with the best of all that came
       before and three values of C around its own.

Exhaustive: every combination. In both, all decision rules are judged on the scores of every fit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple

from linnaeus.experiments.grid import Space


class AlongC(NamedTuple):
    """Fits that differ in C only, done in ascending order."""

    features: dict[str, Any]
    parameters: dict[str, Any]
    Cs: tuple[float | None, ...]


class FoldPath(NamedTuple):
    """A path on one fold."""

    path: AlongC
    fold: int

    @property
    def key(self) -> str:
        return json.dumps([*self.path, self.fold], sort_keys=True)


RunPaths = Callable[[list[AlongC]], dict[str, Any]]  # does them; the best of everything done so far


def greedy(space: Space, run: RunPaths) -> None:
    """One block after the other."""
    start = space.option({name: values[0] for name, values in space.features.items()})
    best = run([AlongC(start, own, space.Cs) for own in combinations(space.parameters)])
    if space.refine:
        beside = tuple(C for C in around(best["C"], space) if best["C"] != C)
        best = run([AlongC(start, best["parameters"], beside)])
    for name, values in space.features.items():
        near = around(best["C"], space)
        options = [space.option({**best["features"], name: value}) for value in values[1:]]
        if options:
            best = run([AlongC(option, best["parameters"], near) for option in options])


def exhaustive(space: Space, run: RunPaths) -> None:
    """Every combination."""
    run(
        [
            AlongC(space.option(option), own, space.Cs)
            for option in combinations(space.features)
            for own in combinations(space.parameters)
        ]
    )


def combinations(values: dict[str, tuple[Any, ...]]) -> Iterable[dict[str, Any]]:
    """All ways to choose one value of each."""
    return (dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


def around(C: float | None, space: Space) -> tuple[float | None, ...]:
    """A value of C with its neighbours: half a decade away, or the next that were given."""
    if C is None:
        return (None,)
    if space.refine:
        place = round(2 * math.log10(C))
        return tuple(_half_decade(place + step) for step in (-1, 0, 1))
    at = space.Cs.index(C)
    return space.Cs[max(0, at - 1) : at + 2]


def _half_decade(place: int) -> float:
    """1, 3, 10, 30 ... at 0, 1, 2, 3 ...; 0.3 at -1."""
    decade, odd = divmod(place, 2)
    return float(f"{3 if odd else 1}e{decade}")


class Size(NamedTuple):
    """How much there is to do, at most."""

    units: int
    fits: int


def size(space: Space, folds: int, every: bool) -> Size:
    """Units of work and fits of a search."""
    ways = math.prod(map(len, space.parameters.values()))
    if every:
        units = folds * ways * math.prod(map(len, space.features.values()))
        return Size(units, units * len(space.Cs))
    options = sum(len(values) - 1 for values in space.features.values())
    near = 3 if space.refine else min(3, len(space.Cs))
    units = ways + space.refine + options
    return Size(folds * units, folds * (ways * len(space.Cs) + 2 * space.refine + options * near))
