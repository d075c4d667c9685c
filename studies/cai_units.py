"""Units, tests and views of the tables of [Cai2008].

A unit is a method under a condition and is called so: "t = 5: H-SVM". What is done otherwise than
in the thesis stands behind the condition: "all, shuffled: HaPERC".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from studies.cai_studies import (
    DRAWS,
    FEW_DRAWS,
    FOLDS,
    HARD,
    MEASURES,
    Trial,
    run_synthetic,
    run_trial,
)
from studies.figures_cai import Figures
from studies.paired import paired_tests
from studies.results import Cell, Outcome
from studies.tables import Outcomes, Unit

HALF = 0.5  # the variance of node weights, to that of the level above


def units_of(
    figures: Figures, problem: str, needs: str, options: Mapping[str, Any], suffix: str = ""
) -> list[Unit]:
    """A unit for every method under every condition of a published table."""
    found = []
    for condition, methods in figures.items():
        for method, published in methods.items():
            trial = Trial(problem, condition, method, options)
            cells = partial(cells_of, row=condition + suffix, method=method, published=published)
            run = partial(run_trial, trial=trial, cells=cells)
            name = f"{condition}{suffix}: {method}"
            found.append(Unit(name, (needs,), run, trial.settings))
    return found


def synthetic_units(figures: Figures, ratio: float) -> list[Unit]:
    """A unit for every method and shape of tree."""
    found = []
    draws = DRAWS if ratio == HALF else FEW_DRAWS
    for shape, methods in figures.items():
        for method, published in methods.items():
            row = shape + ratio_suffix(ratio)
            cells = partial(cells_of, row=row, method=method, published=published)
            run = partial(
                run_synthetic, shape=shape, method=method, ratio=ratio, draws=draws, cells=cells
            )
            settings = {"draws": draws, "folds": FOLDS, **HARD}
            found.append(Unit(f"{row}: {method}", (), run, settings))
    return found


def ratio_suffix(ratio: float) -> str:
    """What stands behind the shape of a tree."""
    return "" if ratio == HALF else f", ratio {ratio:g}"


def cells_of(
    figures: Mapping[str, tuple[float, float | None]], row: str, method: str,
    published: Mapping[str, float],
) -> list[Cell]:  # fmt: skip
    """The measures that are published of a method; all, where none is."""
    return [
        Cell(f"{row}, {measure}", method, *figures[measure], published.get(measure))
        for measure in published or MEASURES
    ]


def view(outcomes: Outcomes, figures: Figures, suffixes: Sequence[str] = ("",)) -> list[Cell]:
    """The figures of a table, a row for every condition and measure, a column for every method."""
    found = []
    for suffix in suffixes:
        for condition, methods in figures.items():
            rows = {
                method: cells_of(outcome.facts["figures"], condition + suffix, method, published)
                for method, published in methods.items()
                if (outcome := outcomes.get(f"{condition}{suffix}: {method}")) is not None
            }
            found += [cell for cells in zip(*rows.values(), strict=True) for cell in cells]
    return found


def tests(outcomes: Outcomes, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Of pairs of methods, in every condition; rows in order, shuffled, ... apart."""
    groups: dict[str, dict[str, Outcome]] = {}
    for name, out in outcomes.items():
        suffix = name.rpartition(": ")[0].removeprefix(out.facts["condition"])
        groups.setdefault(suffix, {})[name] = out
    return [
        test | {"condition": test["condition"] + suffix, "name": test["name"] + suffix}
        for suffix, own in groups.items()
        for test in paired_tests(own, pairs)
    ]


def only(figures: Figures, methods: Iterable[str]) -> Figures:
    """Some methods of a table."""
    return {condition: {m: row[m] for m in methods} for condition, row in figures.items()}
