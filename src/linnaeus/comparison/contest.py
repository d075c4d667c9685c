"""Methods side by side on the same rows: figures, tests, marks, plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.comparison.duels import (
    TESTS,
    Duel,
    GroupDuel,
    duels,
    group_duels,
    stars,
)
from linnaeus.comparison.standing import FIGURES, LESS_IS_BETTER, Standing
from linnaeus.errors import UserError, nearest, shorten
from linnaeus.metrics.display import table
from linnaeus.metrics.report import plain_dict
from linnaeus.metrics.sets import BINS
from linnaeus.taxonomy import Taxonomy


@dataclass(frozen=True)
class Setting:
    """What methods were compared on.

    folds : of the cross-validation; 0 where there is a test part
    """

    data: str
    folds: int
    n_train: int  # rows to learn from, in each fold
    n_test: int  # rows to be judged by, all folds together
    features: str
    feature_seconds: float  # to make them once, for all methods
    seed: int
    jobs: int
    command: str = ""  # that repeats the comparison

    def __str__(self) -> str:
        if self.folds:
            return f"{self.folds} folds of {self.n_test:,} rows"
        return f"{self.n_train:,} rows to learn from, {self.n_test:,} to be judged by"


@dataclass(frozen=True, eq=False)
class Contest:
    """What methods reached on the same rows, in the order in which they were named."""

    taxonomy: Taxonomy
    setting: Setting
    standings: tuple[Standing, ...]
    truth: sp.csr_array = field(repr=False)  # closed, over the nodes
    train_counts: np.ndarray = field(repr=False)

    def __getitem__(self, name: str) -> Standing:
        for standing in self.standings:
            if standing.name == name:
                return standing
        known = [s.name for s in self.standings]
        raise UserError(
            f"The method {shorten(name)} was not compared{nearest(name, known)}. "
            f"There are: {', '.join(known)}."
        )

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.standings)

    @cached_property
    def ranked(self) -> tuple[Standing, ...]:
        """The methods with results, the best in micro F1 first."""
        done = [s for s in self.standings if s.report is not None]
        return tuple(sorted(done, key=lambda s: -s.figures["micro_f1"]))

    @property
    def failed(self) -> tuple[Standing, ...]:
        """The methods without results."""
        return tuple(s for s in self.standings if s.report is None)

    def best(self, figure: str = "micro_f1") -> Standing:
        """The best method in a figure; of equals the one named first."""
        if not self.ranked:
            raise UserError("No method has a result, so none is best.")
        sign = -1.0 if figure in LESS_IS_BETTER else 1.0
        done = [s for s in self.standings if s.report is not None]
        return max(done, key=lambda s: sign * s.figures[figure])

    @cached_property
    def duels(self) -> tuple[Duel, ...]:
        """Every two methods, with tests."""
        return duels(
            {s.name: s.report for s in self.ranked if s.report is not None},
            {s.name: s.rows for s in self.ranked if s.rows is not None},
            self.setting.seed,
        )

    def pvalue(self, a: str, b: str, figure: str) -> float:
        """The corrected p-value of a difference between two methods."""
        found = next(d for d in self.duels if {d.first, d.second} == {a, b})
        return found.adjusted[figure]

    def marks(self, figure: str) -> dict[str, str]:
        """Stars for the methods that differ from the best by more than chance."""
        if figure not in TESTS or not self.ranked:
            return {}
        best = self.best(figure).name
        return {
            s.name: stars(self.pvalue(best, s.name, figure)) for s in self.ranked if s.name != best
        }

    @cached_property
    def level_duels(self) -> tuple[GroupDuel, ...]:
        """On every level, the best method against the others."""
        groups = {str(d): nodes for d, nodes in enumerate(self.taxonomy.level_numbers)}
        return group_duels(self.truth, self._predicted, groups)

    @cached_property
    def size_duels(self) -> tuple[GroupDuel, ...]:
        """Among classes of each number of training rows, the best method against the others."""
        if not self.ranked:
            return ()
        first = self.ranked[0].report
        assert first is not None
        if first.n_train is None or first.sizes is None:
            return ()
        counts = first.n_train[first.own.classes]
        groups = {
            size["train"]: np.flatnonzero((counts >= low) & (counts <= (high or np.inf)))
            for (low, high), size in zip(BINS, first.sizes, strict=True)
        }
        sets = {s.name: s.report.own.pred for s in self.ranked if s.report is not None}
        return group_duels(first.own.true, sets, groups)

    @property
    def _predicted(self) -> dict[str, sp.csr_array]:
        return {s.name: s.predicted for s in self.ranked if s.predicted is not None}

    def __str__(self) -> str:
        heads = ["method", *FIGURES.values(), "CPU s"]
        rows = [[s.name, *cells(self, s)] for s in self.ranked]
        lines = [table(heads, rows)] if rows else []
        lines += [f"{s.name}: {s.error}" for s in self.failed]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        known = {figure: self.best(figure).name for figure in FIGURES} if self.ranked else {}
        return plain_dict(
            {
                "setting": vars(self.setting),
                "best": known,
                "methods": {s.name: s.to_dict() for s in self.standings},
                "tests": [duel.to_dict() for duel in self.duels],
                "level_tests": [duel.to_dict() for duel in self.level_duels],
                "size_tests": [duel.to_dict() for duel in self.size_duels],
            }
        )


def cells(contest: Contest, standing: Standing) -> list[str]:
    """The figures of a method as text, with standard errors and marks."""
    out = [
        f"{value:.4f} ±{standing.errors[figure]:.4f}{contest.marks(figure).get(standing.name, '')}"
        for figure, value in standing.figures.items()
    ]
    return [*out, "-" if standing.cost is None else f"{standing.cost.cpu_seconds:,.2f}"]
