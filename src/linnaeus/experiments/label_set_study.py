"""What methods reached in label sets, side by side: a table, paired tests, plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.experiments.bootstrap import Spread
from linnaeus.metrics import Report, SignTest, WilcoxonTest
from linnaeus.metrics.display import daggers, table

FIGURES = ("micro_f1", "macro_f1", "hierarchical_f1", "hierarchical_macro_f1")
TESTED = (
    "† p < 5 %, †† p < 1 %, two-sided: sign test over the decisions that only one of the two has\n"
    "right (who gives more labels takes more of them), Wilcoxon's test over the F1 of the classes"
)
HEADS = ("micro F1", "macro F1", "hier. F1", "hier. macro")


@dataclass(frozen=True)
class LabelSetResult:
    """What one method reached; where there is no report, why not.

    Attributes
    ----------
    report : Report or None
        Everything about its predictions.
    spread : Spread or None
        Standard errors of micro and macro F1.
    C : float or None
        The cost it was trained with, if it has one.
    choose_seconds : float
        CPU time of choosing, for instance C.
    fit_seconds : float
        CPU time of training with the threshold.
    not_applicable : str
        Why the method does not apply to such data.
    error : str
        What went wrong.
    """

    report: Report | None = None
    spread: Spread | None = None
    C: float | None = None
    choose_seconds: float = 0.0
    fit_seconds: float = 0.0
    not_applicable: str = ""
    error: str = ""

    @property
    def figures(self) -> dict[str, float]:
        """Micro and macro F1 of the labels themselves, and on closures; none without a report."""
        if self.report is None:
            return {}
        values = {name: float(self.report[name]) for name in FIGURES[:3]}
        return values | {FIGURES[3]: float(self.report.nodes.f1.mean())}


class BaselineTest(NamedTuple):
    """A method and a baseline: differences in F1, and whether they are chance.

    Attributes
    ----------
    method : object
        Name of the method.
    baseline : object
        Name of the baseline.
    micro_difference : float
        Difference in micro F1.
    macro_difference : float
        Difference in macro F1.
    micro : SignTest
        Test of the first.
    macro : WilcoxonTest
        Test of the second.
    """

    method: Any
    baseline: Any
    micro_difference: float
    macro_difference: float
    micro: SignTest
    macro: WilcoxonTest


@dataclass(frozen=True)
class LabelSetStudy:
    """What methods reached on the same test rows.

    Attributes
    ----------
    results : dict
        {method: result}.
    against : dict
        {method: its baselines}; pairs of which one has no figures are passed over.
    """

    results: Mapping[Any, LabelSetResult]
    against: Mapping[Any, Sequence[Any]]

    def __getitem__(self, method: Any) -> LabelSetResult:
        if method not in self.results:
            known = ", ".join(map(str, self.results))
            hint = nearest(str(method), map(str, self.results))
            raise UserError(
                f"The method {shorten(method)} is not in the study{hint}. It has: {known}."
            )
        return self.results[method]

    @property
    def methods(self) -> tuple[Any, ...]:
        """The names of the methods."""
        return tuple(self.results)

    @property
    def has_results(self) -> bool:
        """Whether any method has one."""
        return any(result.report is not None for result in self.results.values())

    @cached_property
    def tests(self) -> tuple[BaselineTest, ...]:
        """Every method beside its baselines: sign test (micro), Wilcoxon's test (macro)."""
        reports = {name: out.report for name, out in self.results.items()}
        return tuple(
            _against(name, baseline, mine, theirs)
            for name, mine in reports.items()
            for baseline in self.against.get(name, ())
            if mine is not None and (theirs := reports.get(baseline)) is not None
        )

    def table(self) -> str:
        """Figures with standard errors, NA where a method does not apply; then the tests.

        Returns
        -------
        str
        """
        heads = ["method", *HEADS, "C", "CPU s"]
        rows = [[str(name), *_cells(out)] for name, out in self.results.items()]
        if all(out.C is None for out in self.results.values()):  # none has one
            heads, *rows = [[*row[:-2], row[-1]] for row in (heads, *rows)]
        parts = [table(heads, rows)]
        why = [
            f"{name}: {out.error or out.not_applicable}"
            for name, out in self.results.items()
            if out.report is None
        ]
        if why:
            parts.append("\n".join(why))
        if self.tests:
            cells = [[f"{t.method} against {t.baseline}", *_test_cells(t)] for t in self.tests]
            heads = ["", "micro F1", "p, sign test", "macro F1", "p, Wilcoxon"]
            parts += [table(heads, cells), TESTED]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        return {
            "methods": {str(name): _plain(out) for name, out in self.results.items()},
            "tests": [
                t._asdict()
                | {"method": str(t.method), "baseline": str(t.baseline)}
                | {"micro": t.micro._asdict(), "macro": t.macro._asdict()}
                for t in self.tests
            ],
        }


def _against(name: Any, baseline: Any, mine: Report, theirs: Report) -> BaselineTest:
    found = mine.compare(theirs)
    micro, macro = (mine[key] - theirs[key] for key in FIGURES[:2])
    return BaselineTest(name, baseline, micro, macro, found.micro, found.macro)


def _cells(out: LabelSetResult) -> list[str]:
    if out.report is None:
        return ["error" if out.error else "NA"] * len(HEADS) + ["-", "-"]
    spread = {} if out.spread is None else out.spread._asdict()
    cells = [
        f"{value:.4f}" + (f" ±{spread[name]:.4f}" if name in spread else "")
        for name, value in out.figures.items()
    ]
    cost = "-" if out.C is None else f"{out.C:g}"
    return [*cells, cost, f"{out.choose_seconds + out.fit_seconds:,.1f}"]


def _test_cells(test: BaselineTest) -> list[str]:
    pairs = ((test.micro_difference, test.micro), (test.macro_difference, test.macro))
    return [
        cell
        for value, found in pairs
        for cell in (f"{value:+.4f}", f"{found.pvalue:.3g}{daggers(found.pvalue):<3}")
    ]


def _plain(out: LabelSetResult) -> dict[str, Any]:
    if out.report is None:
        return {"not_applicable": out.not_applicable} if not out.error else {"error": out.error}
    return {
        **out.figures,
        "standard_error": None if out.spread is None else out.spread._asdict(),
        "C": out.C,
        "choose_seconds": out.choose_seconds,
        "fit_seconds": out.fit_seconds,
        "report": out.report.to_dict(),
    }
