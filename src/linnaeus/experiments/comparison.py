"""Methods side by side on the same rows: figures, tests, marks, plain data, a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.experiments.method_result import FIGURES, LESS_IS_BETTER, MethodResult
from linnaeus.experiments.pair_tests import GroupTest, PairTest, group_tests, pair_tests, stars
from linnaeus.experiments.verdict import verdict
from linnaeus.metrics.baseline import Baseline
from linnaeus.metrics.display import table
from linnaeus.metrics.report import plain_dict
from linnaeus.metrics.sets import BINS
from linnaeus.taxonomy import Taxonomy

COSTS = ("CPU s", "MB")  # of a fit
CONSTANT = "always the same"  # how the baseline is called among the methods


@dataclass(frozen=True)
class Setting:
    """What methods were compared on.

    Attributes
    ----------
    data : str
        Name of the data.
    folds : int
        Folds of the cross-validation; 0 where there is a test part.
    n_train : int
        Rows to learn from, in each fold.
    n_test : int
        Rows to be judged by, all folds together.
    features : str
        Kind of the features.
    feature_seconds : float
        Time to make them once, for all methods.
    seed : int
        Seed of everything that is drawn.
    jobs : int
        Threads.
    command : str
        Command that repeats the comparison.
    """

    data: str
    folds: int
    n_train: int
    n_test: int
    features: str
    feature_seconds: float
    seed: int
    jobs: int
    command: str = ""

    def __str__(self) -> str:
        if self.folds:
            return f"{self.folds} folds of {self.n_test:,} rows"
        return f"{self.n_train:,} rows to learn from, {self.n_test:,} to be judged by"


@dataclass(frozen=True, eq=False)
class Comparison:
    """What methods reached on the same rows, in the order in which they were named.

    Attributes
    ----------
    taxonomy : Taxonomy
        The taxonomy that methods are judged by.
    setting : Setting
        What they were compared on.
    results : tuple of MethodResult
        A result per method.
    truth : csr_array of shape (n_rows, n_nodes)
        True label sets, closed.
    train_counts : ndarray of int of shape (n_nodes,)
        Training rows of every node.
    baseline : Baseline or None
        What always answering the same would reach, where the training labels are known.
    seen : str
        A warning about rows that were learned from and judged by, where there are some.
    """

    taxonomy: Taxonomy
    setting: Setting
    results: tuple[MethodResult, ...]
    truth: sp.csr_array = field(repr=False)
    train_counts: np.ndarray = field(repr=False)
    baseline: Baseline | None = None
    seen: str = ""

    def __getitem__(self, name: str) -> MethodResult:
        for result in self.results:
            if result.name == name:
                return result
        known = [s.name for s in self.results]
        raise UserError(
            f"The method {shorten(name)} was not compared{nearest(name, known)}. "
            f"There are: {', '.join(known)}."
        )

    def __iter__(self) -> Iterator[MethodResult]:
        return iter(self.results)

    @cached_property
    def ranked(self) -> tuple[MethodResult, ...]:
        """The methods with results, the best in micro F1 first."""
        done = [s for s in self.results if s.report is not None]
        return tuple(sorted(done, key=lambda s: -s.figures["micro_f1"]))

    @property
    def failed(self) -> tuple[MethodResult, ...]:
        """The methods without results."""
        return tuple(s for s in self.results if s.report is None)

    @property
    def has_results(self) -> bool:
        """Whether any method has one."""
        return bool(self.ranked)

    def best(self, figure: str = "micro_f1") -> MethodResult:
        """The best method in a figure; of equals the one named first.

        Parameters
        ----------
        figure : str, default='micro_f1'
            One of `FIGURES`.

        Returns
        -------
        MethodResult
        """
        if not self.ranked:
            raise UserError("No method has a result, so none is best.")
        sign = -1.0 if figure in LESS_IS_BETTER else 1.0
        done = [s for s in self.results if s.report is not None]
        return max(done, key=lambda s: sign * s.figures[figure])

    @cached_property
    def pair_tests(self) -> tuple[PairTest, ...]:
        """Every two methods, with tests."""
        return pair_tests(
            {s.name: s.report for s in self.ranked if s.report is not None},
            {s.name: s.rows for s in self.ranked if s.rows is not None},
            {s.name: s.draws for s in self.ranked if s.draws is not None},
            self.setting.seed,
        )

    def pvalue(self, a: str, b: str, figure: str) -> float:
        """The p-value of a difference between two methods: paired bootstrap, corrected after Holm.

        Parameters
        ----------
        a, b : str
            Names of the methods.
        figure : str
            One of `FIGURES`.

        Returns
        -------
        float
        """
        found = next(d for d in self.pair_tests if {d.first, d.second} == {a, b})
        return found.adjusted[figure]

    def marks(self, figure: str) -> dict[str, str]:
        """Stars for the methods that differ from the best by more than chance.

        Parameters
        ----------
        figure : str
            One of `FIGURES`.

        Returns
        -------
        dict of str to str
            Stars by method.
        """
        if not self.ranked:
            return {}
        best = self.best(figure).name
        return {
            s.name: stars(self.pvalue(best, s.name, figure)) for s in self.ranked if s.name != best
        }

    @cached_property
    def level_tests(self) -> tuple[GroupTest, ...]:
        """On every level, the best method against the others."""
        groups = {str(d): nodes for d, nodes in enumerate(self.taxonomy.level_numbers)}
        return group_tests(self.truth, self._predicted, groups)

    @cached_property
    def size_tests(self) -> tuple[GroupTest, ...]:
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
        return group_tests(first.own.true, sets, groups)

    @property
    def _predicted(self) -> dict[str, sp.csr_array]:
        return {s.name: s.predicted for s in self.ranked if s.predicted is not None}

    def __str__(self) -> str:
        heads = ["method", *FIGURES.values(), *COSTS]
        rows = [[s.name, *cells(self, s)] for s in self.ranked]
        rows += [baseline_cells(self.baseline)] if rows and self.baseline is not None else []
        lines = [table(heads, rows)] if rows else []
        lines += [f"{s.name}: {s.error}" for s in self.failed]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        known = {figure: self.best(figure).name for figure in FIGURES} if self.ranked else {}
        return plain_dict(
            {
                "setting": vars(self.setting),
                "verdict": verdict(self),
                "best": known,
                "baseline": None if self.baseline is None else self.baseline.to_dict(),
                "methods": {s.name: s.to_dict() for s in self.results},
                "tests": [pair.to_dict() for pair in self.pair_tests],
                "level_tests": [pair.to_dict() for pair in self.level_tests],
                "size_tests": [pair.to_dict() for pair in self.size_tests],
            }
        )


def cells(comparison: Comparison, result: MethodResult) -> list[str]:
    """The figures of a method as text, with standard errors and marks; what it cost."""
    out = [
        f"{value:.4f} ±{result.errors[figure]:.4f}{comparison.marks(figure).get(result.name, '')}"
        for figure, value in result.figures.items()
    ]
    return [*out, *cost_cells(result)]


def cost_cells(result: MethodResult) -> list[str]:
    """CPU seconds and memory of a fit."""
    if result.cost is None:
        return ["not measured"] * len(COSTS)
    return [f"{result.cost.cpu_seconds:,.2f}", f"{result.cost.memory_bytes / 1e6:,.1f}"]


def baseline_cells(found: Baseline) -> list[str]:
    """The line of the constant answer in a table of methods: it costs nothing."""
    return [CONSTANT, *(f"{found.values[figure]:.4f}" for figure in FIGURES), "0", "0"]
