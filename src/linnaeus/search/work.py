"""Units of work side by side, kept in a journal, with the best setting so far told on the way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from linnaeus.decisions.rules import WORDS
from linnaeus.execution import executor
from linnaeus.methods import make
from linnaeus.search.grid import Space
from linnaeus.search.journal import Journal
from linnaeus.search.result import short
from linnaeus.search.stock import Stock
from linnaeus.search.strategy import Cost, Path, Unit
from linnaeus.search.table import Table
from linnaeus.search.units import Judges, fit_path
from linnaeus.splits import Split
from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]


@dataclass
class Work:
    """All that a search needs, and the units that are done."""

    method: str
    fixed: dict[str, Any]  # parameters that are not searched
    taxonomy: Taxonomy
    y: Any
    splits: list[Split]
    space: Space
    stock: Stock
    journal: Journal
    table: Table
    cost: Cost
    seed: int
    jobs: int
    step: Step
    done: list[Unit] = field(default_factory=list)

    def announcement(self) -> str:
        """What is going to happen, in a sentence or two."""
        units, fits = self.cost
        folds = f"{len(self.splits)} folds" if len(self.splits) > 1 else "one split"
        text = f"Tuning {self.method} on {self.stock.kind} features, {folds}: "
        text += f"up to {fits} fits in {units} units of work."
        older = len(self.journal.done)
        return f"{text} Resumed: {older} of {units} units done." if older else text

    def run(self, paths: list[Path]) -> dict[str, Any]:
        """Do the paths on all folds, and tell the best setting of all that is done."""
        units = [Unit(path, fold) for path in paths for fold in range(len(self.splits))]
        older = set(self.journal.done)
        missing = [unit for unit in units if unit.key not in older]
        self.stock.expect(unit.path.features for unit in missing)
        results = executor(self.jobs).map(self._do, [], missing)
        with closing(results):  # type: ignore[type-var]  # after Ctrl-C nothing new begins
            for unit in units:  # in this order, whatever was done before
                self._tell()
                if unit.key not in older:
                    next(results)
                self.table.add(unit, self.journal.done[unit.key])
                self.done.append(unit)
        self._tell()
        return self.table.rows()[0]

    def _do(self, unit: Unit) -> None:
        """One unit, in the journal when it is done."""
        estimator = make(self.method, self.taxonomy, self.fixed | unit.path.parameters, self.seed)
        judges = Judges(self.space.rules, self.space.own, self.seed)
        with self.stock.rows(unit.path.features) as X:
            found = fit_path(
                estimator, X, self.y, self.taxonomy, self.splits[unit.fold], unit.path.Cs, judges
            )
        self.journal.add(unit.key, found)

    def _tell(self) -> None:
        best = self.table.best
        what = "first folds" if best is None else f"best {WORDS[self.table.metric]} {short(best)}"
        self.step(what, len(self.done), self.cost.units)
