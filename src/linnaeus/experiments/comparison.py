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
from linnaeus.experiments.pair_tests import (
    TESTS,
    GroupTest,
    PairTest,
    group_tests,
    pair_tests,
    stars,
)
from linnaeus.metrics.display import table
from linnaeus.metrics.report import plain_dict
from linnaeus.metrics.sets import BINS
from linnaeus.taxonomy import Taxonomy

LEVEL = 0.05  # of significance


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
    """

    taxonomy: Taxonomy
    setting: Setting
    results: tuple[MethodResult, ...]
    truth: sp.csr_array = field(repr=False)
    train_counts: np.ndarray = field(repr=False)

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
            self.setting.seed,
        )

    def pvalue(self, a: str, b: str, figure: str) -> float:
        """The corrected p-value of a difference between two methods.

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
        if figure not in TESTS or not self.ranked:
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
        heads = ["method", *FIGURES.values(), "CPU s"]
        rows = [[s.name, *cells(self, s)] for s in self.ranked]
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
                "best": known,
                "methods": {s.name: s.to_dict() for s in self.results},
                "tests": [pair.to_dict() for pair in self.pair_tests],
                "level_tests": [pair.to_dict() for pair in self.level_tests],
                "size_tests": [pair.to_dict() for pair in self.size_tests],
            }
        )


def cells(comparison: Comparison, result: MethodResult) -> list[str]:
    """The figures of a method as text, with standard errors and marks."""
    out = [
        f"{value:.4f} ±{result.errors[figure]:.4f}{comparison.marks(figure).get(result.name, '')}"
        for figure, value in result.figures.items()
    ]
    return [*out, "-" if result.cost is None else f"{result.cost.cpu_seconds:,.2f}"]


# -- in a few sentences -----------------------------------------------------------------------


def verdict(comparison: Comparison) -> list[str]:
    """Who is best, in what, by how much, at what price; and who has no result.

    Parameters
    ----------
    comparison : Comparison
        What `compare` gave.

    Returns
    -------
    list of str
    """
    if not comparison.ranked:
        return ["No method has a result."]
    leaders: dict[str, list[str]] = {}
    for figure in TESTS:
        leaders.setdefault(comparison.best(figure).name, []).append(figure)
    out = [_lead(comparison, name, figures) for name, figures in leaders.items()]
    if len(comparison.ranked) > 1:
        out += [text for text in (_bargain(comparison),) if text]
    if comparison.failed:
        names = _listed([s.name for s in comparison.failed])
        out.append(f"{names} {'has' if len(comparison.failed) == 1 else 'have'} no result.")
    return out


def _lead(comparison: Comparison, name: str, figures: list[str]) -> str:
    """The sentence on a method that is best in some figures."""
    if len(comparison.ranked) == 1:
        values = [_value(comparison[name], figure) for figure in figures]
        return f"{name} reaches {_listed(values)}."
    values = [_value(comparison[name], figure, "{} ({})") for figure in figures]
    return f"{name} is best in {_listed(values)}; {_proof(comparison, name, figures[0])}."


def _proof(comparison: Comparison, name: str, figure: str) -> str:
    """Whom a method beats by more than chance in a figure, and whom not."""
    rivals = sorted(
        (s for s in comparison.ranked if s.name != name), key=lambda s: -s.figures[figure]
    )
    p = {s.name: comparison.pvalue(name, s.name, figure) for s in rivals}
    even = [other for other in p if p[other] >= LEVEL]
    what = f" in {FIGURES[figure]}"
    if not even:
        worst = max(p.values())
        who = f"than {rivals[0].name}" if len(rivals) == 1 else "than every other method"
        return f"significantly better{what} {who} ({_p(worst)})"
    close = [f"{other} ({_p(p[other])})" for other in even[:3]]
    more = [f"{len(even) - 3} more"] if len(even) > 3 else []
    return f"not significantly better{what} than {_listed(close + more)}"


def _bargain(comparison: Comparison) -> str:
    """A method that costs far less than the best and is nearly as good."""
    best = comparison.best()
    timed = [s for s in comparison.ranked if s.cost is not None and s.cost.cpu_seconds > 0]
    if best.cost is None or not timed:
        return ""
    fast = min(timed, key=lambda s: s.cost.cpu_seconds if s.cost else 0.0)
    assert fast.cost is not None
    times = best.cost.cpu_seconds / fast.cost.cpu_seconds
    if fast is best:
        return f"{best.name} also trains fastest ({fast.cost.cpu_seconds:.2g} s of CPU time)."
    if times < 1.5:
        return ""
    loss = best.figures["micro_f1"] - fast.figures["micro_f1"]
    return (
        f"{fast.name} trains fastest, {times:.1f} times as fast as {best.name}, for {loss:.3f} "
        f"less micro F1."
    )


def _value(result: MethodResult, figure: str, form: str = "{} {}") -> str:
    value, error = result.figures[figure], result.errors[figure]
    return form.format(FIGURES[figure], f"{value:.3f} ± {error:.3f}")


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def _listed(texts: list[str]) -> str:
    """Several texts as an enumeration."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
