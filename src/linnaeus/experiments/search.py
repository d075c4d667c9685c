"""The work of a search: paths over C on each fold, side by side, kept in a journal.

The fits of a path go along ascending values of C, each from where the last one ended if the method
can do that. Every decision rule is judged on the held-out scores of every fit: one that learns is
fitted on one half of the rows and judged on the other, and the other way round. What a path gives
depends on its inputs only, not on what runs beside it.
"""

from __future__ import annotations

import json
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from linnaeus.decisions.rules import WORDS, score_rules
from linnaeus.execution import executor
from linnaeus.experiments.best_c import reusing
from linnaeus.experiments.grid import Space
from linnaeus.experiments.journal import Journal
from linnaeus.experiments.strategy import AlongC, FoldPath, Size
from linnaeus.experiments.tuned import SettingsTable, short
from linnaeus.io.collection import Part
from linnaeus.metrics.counts import Truth, measure
from linnaeus.model.features import make_features
from linnaeus.model.methods import make
from linnaeus.model.model import OWN, inputs_of
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

    def _do(self, unit: FoldPath) -> None:
        """A path on one fold, in the journal when it is done."""
        estimator = make(self.method, self.taxonomy, self.fixed | unit.path.parameters, self.seed)
        rules = RulesToJudge(self.space.rules, self.space.own, self.seed)
        with self.features.rows(unit.path.features) as X:
            found = fit_path(
                estimator, X, self.y, self.taxonomy, self.splits[unit.fold], unit.path.Cs, rules
            )
        self.journal.add(unit.key, found)

    def _tell(self) -> None:
        best = self.table.best
        what = "first folds" if best is None else f"best {WORDS[self.table.metric]} {short(best)}"
        self.step(what, len(self.done), self.size.units)


class RulesToJudge(NamedTuple):
    """By which rules scores become label sets."""

    rules: tuple[str, ...] | None  # None: all that suit the scores
    own: bool  # also what the estimator itself predicts
    seed: int  # of the halves


def fit_path(
    estimator: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    split: Split,
    Cs: Sequence[float | None],
    rules: RulesToJudge,
) -> list[dict[str, Any]]:
    """A record per C: {"C", "seconds", "unconverged", "rules": {rule: values}}.

    estimator : with all its parameters but C
    split : rows to fit on, and rows to score
    Cs : ascending; (None,) for a method without C
    """
    train, test = split
    model, rows, labels, held_out = reusing(estimator), X[train], y[train], X[test]
    truth = taxonomy.encode(y[test])
    found = []
    for C in Cs:
        start = time.perf_counter()
        if C is not None:
            model.set_params(C=C)
        with unconverged() as early:
            model.fit(rows, labels)
        values = _judged(model, held_out, truth, taxonomy, rules)
        seconds = time.perf_counter() - start
        found.append({"C": C, "seconds": seconds, "unconverged": early.n, "rules": values})
    return found


def _judged(
    model: Any, X: Any, truth: sp.csr_array, taxonomy: Taxonomy, rules: RulesToJudge
) -> dict[str, dict[str, float]]:
    """The values of every rule on held-out rows, by name."""
    counts: dict[str, dict[str, Any]] = {}
    if rules.own:
        decided = taxonomy.closure(taxonomy.encode(model.predict(X)))
        counts[OWN] = Truth.of(taxonomy, truth).counts(decided)
    if rules.rules is None or rules.rules:
        columns = tuple(model.targets_.names)
        closed = model.classes == "nodes" and columns == taxonomy.nodes
        scores = np.asarray(model.class_scores(X))
        for record in score_rules(
            scores, truth, taxonomy, columns, closed, rules.rules, rules.seed
        ):
            counts[record["rule"]] = record
    return {name: measure(taxonomy, found) for name, found in counts.items()}


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


# -- warnings that a fit stopped early --------------------------------------------------------


class Count:
    """How many there were."""

    def __init__(self) -> None:
        self.n = 0


_here = threading.local()


@contextmanager
def quiet_convergence() -> Iterator[None]:
    """No warning of convergence is shown while this lasts; `unconverged` blocks count them.

    Python keeps one way of showing warnings for the whole process, which this replaces; each
    thread counts its own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        shown = warnings.showwarning

        def collect(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if not issubclass(category, ConvergenceWarning):
                shown(message, category, *where, **more)
            elif getattr(_here, "count", None) is not None:
                _here.count.n += 1

        warnings.showwarning = collect
        yield


@contextmanager
def unconverged() -> Iterator[Count]:
    """Count this thread's fits that stop early, within `quiet_convergence`."""
    _here.count = Count()
    try:
        yield _here.count
    finally:
        _here.count = None
