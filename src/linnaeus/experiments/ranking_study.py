"""What rankings methods reached, side by side: tables, plain data, paired tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import UserError, shorten
from linnaeus.metrics import permutation_test
from linnaeus.metrics.display import table

METRICS = (
    "top1_accuracy", "label_ranking_average_precision", "top_loss", "maximal_loss", "ranking_loss",
    "parent_accuracy",
)  # fmt: skip
SHORT = dict(zip(METRICS, ("acc", "prec", "top loss", "max loss", "rloss", "pacc"), strict=True))


@dataclass(frozen=True)
class RankingStudy:
    """What methods reached, on the same divisions of the same data.

    Attributes
    ----------
    values : dict
        {condition: {method: {metric: array of shape (n_repeats,)}}}.
    not_applicable : dict
        {method: why it is not for such data}.
    against : object
        The method that all others are tested against; None for no tests.
    """

    values: Mapping[Any, Mapping[Any, Mapping[str, np.ndarray]]]
    not_applicable: Mapping[Any, str] = field(default_factory=dict)
    against: Any = None

    @property
    def methods(self) -> tuple[Any, ...]:
        """The names of the methods."""
        return tuple(next(iter(self.values.values())))

    @property
    def has_results(self) -> bool:
        """Whether any method has one."""
        return bool(self.methods)

    def mean(self, method: Any, metric: str, condition: Any = None) -> float:
        """The mean of a metric over folds or repetitions.

        Parameters
        ----------
        method : object
            Name of the method.
        metric : str
            Name of the metric.
        condition : object, default=None
            Which condition; None for the only one.

        Returns
        -------
        float
        """
        return float(self._one(method, metric, condition).mean())

    def deviation(self, method: Any, metric: str, condition: Any = None) -> float:
        """The sample standard deviation over folds or repetitions; NaN for one.

        Parameters
        ----------
        method : object
            Name of the method.
        metric : str
            Name of the metric.
        condition : object, default=None
            Which condition; None for the only one.

        Returns
        -------
        float
        """
        return _deviation(self._one(method, metric, condition))

    def across(
        self, methods: Iterable[Any], metric: str, condition: Any = None
    ) -> tuple[float, float]:
        """Mean and sample deviation of the means of several methods, as of random hierarchies.

        Parameters
        ----------
        methods : iterable
            Names of the methods.
        metric : str
            Name of the metric.
        condition : object, default=None
            Which condition; None for the only one.

        Returns
        -------
        tuple of (float, float)
        """
        means = np.array([self.mean(method, metric, condition) for method in methods])
        return float(means.mean()), _deviation(means)

    @cached_property
    def tests(self) -> list[PairedTest]:
        """The baseline against every other method."""
        if self.against not in self.methods:
            return []
        others = [method for method in self.methods if method != self.against]
        return [paired_test(self, self.against, other) for other in others]

    def table(self) -> str:
        """A row for every condition and method, with means and deviations; then the tests.

        Returns
        -------
        str
        """
        rows = [
            [str(condition), str(method), *map(_cell, metrics.values())]
            for condition, methods in self.values.items()
            for method, metrics in methods.items()
        ]
        parts = [table(["", "method", *SHORT.values()], rows)] if rows else []
        parts += [f"{name}: {why}" for name, why in self.not_applicable.items()]
        for test in self.tests:
            title = f"{test.first} against {test.second}: paired permutation test"
            parts += ["", title, test.table()]
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: every value with means and deviations, and the tests.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        return {
            "values": {
                str(condition): {
                    str(method): {metric: _plain(v) for metric, v in metrics.items()}
                    for method, metrics in methods.items()
                }
                for condition, methods in self.values.items()
            },
            "tests": [test.to_dict() for test in self.tests],
            "not_applicable": dict(self.not_applicable),
        }

    def _one(self, method: Any, metric: str, condition: Any) -> np.ndarray:
        if condition is None and len(self.values) == 1:
            condition = next(iter(self.values))
        found: Any = self.values
        for what, key in (("condition", condition), ("method", method), ("metric", metric)):
            if key not in found:
                known = ", ".join(map(str, found))
                raise UserError(f"The {what} {shorten(key)} is not in the study. It has: {known}.")
            found = found[key]
        return np.asarray(found)


class Difference(NamedTuple):
    """How two methods differ in a metric, and how likely chance alone makes so much of it."""

    condition: Any
    metric: str
    first: float
    second: float
    pvalue: float


@dataclass(frozen=True)
class PairedTest:
    """Two methods of a study, metric by metric.

    Attributes
    ----------
    first : object
        The first method.
    second : object
        The second method.
    rows : sequence
        Condition, metric, both means and p-value.
    """

    first: Any
    second: Any
    rows: Sequence[Difference]

    def table(self) -> str:
        """Both means and the p-value of every metric.

        Returns
        -------
        str
        """
        cells = [
            [f"{r.condition} {SHORT[r.metric]}".strip(), r.first, r.second, r.pvalue]
            for r in self.rows
        ]
        return table(["", str(self.first), str(self.second), "p"], cells)

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        rows = [r._asdict() | {"condition": str(r.condition)} for r in self.rows]
        return {"first": str(self.first), "second": str(self.second), "rows": rows}


def paired_test(
    study: RankingStudy,
    first: Any,
    second: Any,
    *,
    alternative: str = "two-sided",
    random_state: Any = 0,
) -> PairedTest:
    """The paired permutation test of two methods, for every condition and metric.

    Ten folds allow all 1,024 signs: the smallest two-sided p-value is 0.00195.

    Parameters
    ----------
    study : RankingStudy
        The study.
    first : object
        Name of the first method.
    second : object
        Name of the second method.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        What is tested.
    random_state : int, RandomState instance or None, default=0
        Seed.

    Returns
    -------
    PairedTest
    """
    rows = []
    for condition in study.values:
        for metric in METRICS:
            a, b = (study._one(method, metric, condition) for method in (first, second))
            test = permutation_test(a, b, alternative, random_state=random_state)
            rows.append(
                Difference(condition, metric, float(a.mean()), float(b.mean()), test.pvalue)
            )
    return PairedTest(first, second, rows)


def _plain(values: np.ndarray) -> dict[str, Any]:
    deviation = None if values.size < 2 else _deviation(values)
    return {"mean": float(values.mean()), "deviation": deviation, "values": values.tolist()}


def _cell(values: np.ndarray) -> str:
    mean = f"{values.mean():.4f}"
    return mean if values.size < 2 else f"{mean} ±{_deviation(values):.4f}"


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else float("nan")
