"""The work of a search: paths over C on each fold, side by side, kept in a journal.

What a path is stands in `linnaeus.model.judging`. What it gives depends on its inputs only, not on
what runs beside it.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from linnaeus.decisions.rules import WORDS
from linnaeus.execution import Blocks, Executor, Serial, Threads, engine, executor
from linnaeus.experiments.grid import Space
from linnaeus.experiments.journal import Journal
from linnaeus.experiments.strategy import AlongC, FoldPath, Size
from linnaeus.experiments.tuned import SettingsTable, short
from linnaeus.experiments.units import Packed, fit_path, fit_unit
from linnaeus.io.collection import Part
from linnaeus.model.features import make_features
from linnaeus.model.judging import RulesToJudge
from linnaeus.model.methods import make
from linnaeus.model.model import inputs_of
from linnaeus.splits import Split
from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]


@dataclass
class Search:
    """All that a search needs, and what is done of it."""

    method: str
    fixed: dict[str, Any]  # parameters that are not searched
    taxonomy: Taxonomy
    y: Any
    splits: list[Split]
    space: Space
    features: FeatureRows
    journal: Journal
    table: SettingsTable
    size: Size
    seed: int
    jobs: int
    step: Step
    done: list[FoldPath] = field(default_factory=list)

    def announcement(self) -> str:
        """What is going to happen, in a sentence or two."""
        units, fits = self.size
        folds = f"{len(self.splits)} folds" if len(self.splits) > 1 else "one split"
        text = f"Tuning {self.method} on {self.features.kind} features, {folds}: "
        text += f"up to {fits} fits in {units} units of work."
        older = len(self.journal.done)
        return f"{text} Resumed: {older} of {units} units done." if older else text

    def run(self, paths: list[AlongC]) -> dict[str, Any]:
        """Do the paths on all folds, and tell the best setting of all that is done."""
        units = [FoldPath(path, fold) for path in paths for fold in range(len(self.splits))]
        older = set(self.journal.done)
        missing = [unit for unit in units if unit.key not in older]
        self.features.expect(unit.path.features for unit in missing)
        with closing(self._results(missing)) as results:  # after Ctrl-C nothing new begins
            for unit in units:  # in this order, whatever was done before
                self._tell()
                if unit.key not in older:
                    next(results)
                self.table.add(unit, self.journal.done[unit.key])
                self.done.append(unit)
        self._tell()
        return self.table.rows()[0]

    def _results(self, units: list[FoldPath]) -> Generator[None]:
        """Do units side by side; on a cluster whole ones if they are as many as its workers."""
        where = executor(self.jobs)
        if isinstance(where, Serial | Threads):
            yield from where.map(self._alone, [], units)
        elif len(units) < where.n_workers:  # type: ignore[attr-defined]
            yield from map(self._do, units)  # the fits divide their own work
        else:
            yield from self._sent(where, units)

    def _sent(self, where: Executor, units: list[FoldPath]) -> Iterator[None]:
        """Do units as tasks of workers elsewhere."""
        packed = Packed(self.method, self.fixed, self.taxonomy, self.y, self.splits, self._rules())
        rows: dict[str, Any] = {}  # of each option

        def task_of(unit: FoldPath) -> tuple[Any, ...]:
            option = json.dumps(unit.path.features)
            with self.features.rows(unit.path.features) as X:
                if option not in rows:
                    rows[option] = where.put(X)
            return rows[option], unit.path.parameters, list(unit.path.Cs), unit.fold

        results = where.map(
            fit_unit, [packed.folder], Blocks(len(units), lambda i: task_of(units[i]))
        )
        for unit, found in zip(units, results, strict=True):
            self.journal.add(unit.key, found)
            yield

    def _rules(self) -> RulesToJudge:
        return RulesToJudge(self.space.rules, self.space.own, self.seed)

    def _alone(self, unit: FoldPath) -> None:
        """A unit on one thread, beside others."""
        with engine("serial"):
            self._do(unit)

    def _do(self, unit: FoldPath) -> None:
        """A path on one fold, in the journal when it is done."""
        estimator = make(self.method, self.taxonomy, self.fixed | unit.path.parameters, self.seed)
        split = self.splits[unit.fold]
        with self.features.rows(unit.path.features) as X:
            found = fit_path(
                estimator, X, self.y, self.taxonomy, split, unit.path.Cs, self._rules()
            )
        self.journal.add(unit.key, found)

    def _tell(self) -> None:
        best = self.table.best
        what = "first folds" if best is None else f"best {WORDS[self.table.metric]} {short(best)}"
        self.step(what, len(self.done), self.size.units)


# -- features ---------------------------------------------------------------------------------


class FeatureRows:
    """The rows that each option of the features makes: once for all folds, then forgotten.

    Features learn from all training rows, but not from their labels. Safe to ask from several
    threads.
    """

    def __init__(self, part: Part, kind: str, fixed: Mapping[str, Any]) -> None:
        self.part, self.kind, self.fixed = part, kind, dict(fixed)
        self._wanted: Counter[str] = Counter()
        self._locks: dict[str, threading.Lock] = {}
        self._rows: dict[str, Any] = {}

    def expect(self, options: Iterable[Mapping[str, Any]]) -> None:
        """Tell which options will be asked for, each as often as it will be."""
        self._wanted = Counter(_key(option) for option in options)
        self._locks = {key: threading.Lock() for key in self._wanted}
        self._rows = {key: rows for key, rows in self._rows.items() if key in self._wanted}

    @contextmanager
    def rows(self, option: Mapping[str, Any]) -> Iterator[Any]:
        """The rows of an option, as long as they are needed."""
        key = _key(option)
        with self._locks[key]:
            if key not in self._rows:
                features = make_features(self.kind, self.part, {**self.fixed, **option})
                self._rows[key] = features.fit_transform(inputs_of(self.part))
            found = self._rows[key]
        try:
            yield found
        finally:
            with self._locks[key]:
                self._wanted[key] -= 1
                if not self._wanted[key]:
                    del self._rows[key]


def _key(option: Mapping[str, Any]) -> str:
    return json.dumps(option, sort_keys=True)
