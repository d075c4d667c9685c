"""How claims of the papers are judged by the stored outcomes.

A claim says that one thing is better than another. It holds where our difference has its direction
and p is below 5 %; it does not hold where the opposite has; else the data do not decide. Claims
about cost have no test: they say by what they are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from linnaeus.metrics import permutation_test
from studies.results import Cell, Outcome
from studies.store import Store
from studies.tables import Table

LEVEL = 0.05
HOLDS, FAILS, OPEN, NO_DATA = "holds", "does not hold", "undecided", "no data"


class Verdict(NamedTuple):
    """holds : "holds", "does not hold", "undecided" or "no data"."""

    holds: str
    evidence: str
    pvalue: float | None = None


class Results:
    """Stored outcomes, each table read once."""

    def __init__(self, store: Store, tables: Mapping[str, Table]) -> None:
        self.store, self.tables = store, tables
        self._outcomes: dict[str, dict[str, Outcome]] = {}

    def outcomes(self, table: str) -> dict[str, Outcome]:
        """{unit: outcome}, of the table that a view shows."""
        name = self.tables[table].of or table if table in self.tables else table
        if name not in self._outcomes:
            self._outcomes[name] = self.store.outcomes(name)
        return self._outcomes[name]

    def cells(self, table: str) -> list[Cell]:
        """The figures of a table; none where it is not known."""
        known = self.tables.get(table)
        return [] if known is None else known.cells(self.outcomes(table))

    def tests(self, table: str) -> list[dict[str, Any]]:
        """The tests of a table; of a view, those that were made for it."""
        known = self.tables.get(table)
        of = known.of if known is not None and known.of else table
        found = self.store.tests(of)
        return [test for test in found if test.get("table", of) == table]


class Claim(NamedTuple):
    """A sentence of a paper, and how it is judged."""

    name: str
    statement: str
    source: str
    judge: Callable[[Results], Verdict]


def decide(gain: float, pvalue: float, evidence: str) -> Verdict:
    """The verdict on a claim that the gain is positive.

    >>> decide(1.0, 0.01, "").holds, decide(-1.0, 0.01, "").holds, decide(1.0, 0.2, "").holds
    ('holds', 'does not hold', 'undecided')
    """
    if pvalue >= LEVEL or gain == 0:
        return Verdict(OPEN, evidence, pvalue)
    return Verdict(HOLDS if gain > 0 else FAILS, evidence, pvalue)


def no_data(table: str) -> Verdict:
    """For claims whose units were not run."""
    return Verdict(NO_DATA, f"Run `python -m studies run --data DIR --table {table}`.")


def pooled(found: Iterable[tuple[str, np.ndarray]], table: str, unit: str) -> Verdict:
    """A paired permutation test over the gains of all (condition, gains) together."""
    found = list(found)
    if not found:
        return no_data(table)
    every = np.concatenate([gains for _, gains in found])
    test = permutation_test(every, random_state=0)
    means = "; ".join(f"{condition} {gains.mean():+.2f}" for condition, gains in found)
    evidence = f"Gain {every.mean():+.2f} {unit} over {every.size} pairs of values: {means}"
    return decide(float(every.mean()), test.pvalue, evidence)
