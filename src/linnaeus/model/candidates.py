"""What `train` tries on held-out rows, and how much of it a budget allows.

The plan is made beforehand, from counts alone, so that it is the same on every machine: no clock
decides what is tried. A fit of a linear method takes about

    factor of the method * (2.4e-7 values sqrt(classes) + 1e-7 rows classes)  seconds,

rare classes being quick to learn, and twice that for dense tables, whose columns go together; each
further C of a path takes a share of the first; and rules are judged in 1e-6 seconds for each score.
The constants are from fits of the study of all methods, doubled to be on the safe side.

Where all that is wanted costs more than the budget, there is one split in place of folds, then half
the rows, a quarter and so on; then those at the end of the list are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from linnaeus.errors import UserError
from linnaeus.model.choice import unsuited
from linnaeus.model.methods import setting_text, settings_of

BUDGET = 60.0  # seconds
VISIT, TOUCH, JUDGE, CUBE = 2.4e-7, 1e-7, 1e-6, 5e-11  # seconds of a step
ALONG = 0.8  # of a fit, for each further C
LEAST = 2_000  # rows of a search, where there are more
FACTORS = {"svm": 1.0, "logistic": 1.5, "msvm": 2.5, "topdown": 1.0, "hieron": 2.5, "hblr": 12.0}
DENSE = 2.0  # factor of dense tables
SLOW = 5.0  # factor of methods that are not known
SMALL = 1_500  # rows up to which hrls is worth while
CS = (0.1, 1.0, 10.0)  # for rows of length about 1
STANDARD_CS = (0.003, 0.03, 0.3)  # for standardised columns: in units of about their number


VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {  # of a method once it is chosen
    "hblr": ({}, {"prior": "blr"}, {"pool": "information"}, {"prior": "blr", "pool": "information"})
}


class Size(NamedTuple):
    """The counts that work depends on."""

    rows: int
    values: int  # in the rows, those that are 0 left out
    columns: int
    classes: int
    nodes: int
    several: bool
    tree: bool


class Candidate(NamedTuple):
    """A method with parameters, along values of C."""

    method: str
    parameters: dict[str, Any]
    Cs: tuple[float | None, ...]

    def __str__(self) -> str:
        return setting_text(self.method, self.parameters)

    def seconds(self, size: Size) -> float:
        """About how long its path takes on so many rows, the rules included."""
        nodes = self.parameters.get("classes") == "nodes" or self.method == "hrls"
        k = size.nodes if nodes else size.classes
        dense = size.values == size.rows * size.columns
        factor = FACTORS.get(self.method, SLOW) * (DENSE if dense else 1.0)
        one = factor * (VISIT * size.values * math.sqrt(k) + TOUCH * size.rows * k)
        if self.method == "hrls":
            one += CUBE * size.rows**3
        judging = JUDGE * size.rows * k / 4 if size.several else 0.0
        return one * (1 + ALONG * (len(self.Cs) - 1)) + judging * len(self.Cs)


class Plan(NamedTuple):
    """What will be tried, on which share of the rows, divided how often."""

    candidates: tuple[Candidate, ...]
    share: float
    folds: int
    seconds: float


def candidates(
    size: Size, recommended: Candidate, fixed: Mapping[str, Any], standard: bool
) -> list[Candidate]:
    """The settings worth trying, the recommended one first; `fixed` parameters stay as they are.

    standard : whether rows are standardised columns over the root of their number, where the
        values of C that matter grow with that number
    """
    unit = 10 ** round(math.log10(max(1, size.columns)))
    Cs = tuple(float(f"{C * unit:.1g}") for C in STANDARD_CS) if standard else CS
    found = [recommended, *(_several(Cs, size) if size.several else _one(Cs))]
    return list(_settled(found, size, fixed))


def variants(chosen: Candidate, fixed: Mapping[str, Any]) -> list[Candidate]:
    """A method with each of its priors, itself first; nothing where these are fixed."""
    ways = VARIANTS.get(chosen.method, ())
    if any(key in fixed or key in chosen.parameters for way in ways for key in way):
        return []
    return [chosen._replace(parameters=chosen.parameters | dict(fixed) | way) for way in ways]


def _several(Cs: tuple[float, ...], size: Size) -> Iterable[Candidate]:
    yield Candidate("svm", {"classes": "nodes"}, Cs)
    yield Candidate("svm", {}, Cs)
    yield Candidate("logistic", {"classes": "nodes"}, Cs[1:])
    yield Candidate("topdown", {}, Cs[1:2])
    if size.rows <= SMALL:
        yield Candidate("hrls", {}, Cs[:2])


def _one(Cs: tuple[float, ...]) -> Iterable[Candidate]:
    yield Candidate("svm", {}, Cs)
    yield Candidate("msvm", {}, Cs[:2])
    yield Candidate("topdown", {}, Cs[1:2])
    yield Candidate("hieron", {}, (None,))
    yield Candidate("hblr", {}, (None,))


def _settled(
    found: Sequence[Candidate], size: Size, fixed: Mapping[str, Any]
) -> Iterable[Candidate]:
    """With fixed parameters, without those that have no such parameter or do not suit, each once.

    The recommended one, the first, is left to a path of its kind where there is one.
    """
    seen = []
    if found[0][:2] in [candidate[:2] for candidate in found[1:]]:
        found = found[1:]
    for method, own, Cs in found:
        parameters = own | dict(fixed)
        if (method, parameters) in seen or unsuited(method, size.several, size.tree):
            continue
        seen.append((method, parameters))
        try:
            settings_of(method, parameters)
        except UserError:
            continue
        yield Candidate(method, parameters, (None,) if "C" in parameters else Cs)


def plan(found: Sequence[Candidate], size: Size, budget: float, folds: int) -> Plan:
    """As much of the work as a budget allows; without candidates where it allows nothing."""
    for share, n in _ways(size.rows, folds):
        seconds = sum(cost(c, size, share, n) for c in found)
        if seconds <= budget:
            return Plan(tuple(found), share, n, seconds)
    kept = list(found)
    while kept and sum(cost(c, size, share, n) for c in kept) > budget:
        kept.pop()
    return Plan(tuple(kept), share, n, sum(cost(c, size, share, n) for c in kept))


def _ways(rows: int, folds: int) -> list[tuple[float, int]]:
    """Shares of the rows and numbers of folds, those that cost most first."""
    found = [(1.0, folds), (1.0, 1)] if folds > 1 else [(1.0, 1)]
    share = 0.5
    while rows * share >= LEAST:
        found.append((share, 1))
        share /= 2
    return found


def cost(candidate: Candidate, size: Size, share: float, folds: int) -> float:
    """Seconds of a candidate: its path on one split, and one fit on each of the others."""
    path = share * candidate.seconds(size)  # nearly all of it grows as the rows do
    return path * (1 + (folds - 1) / len(candidate.Cs))
