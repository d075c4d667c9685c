"""All methods on all collections: quality, time and memory.

Beyond the papers. Every method learns from the training part with its default parameters, features
and decision rule as `linnaeus.model.train` chooses them, and is judged by the test part. The limit
on CPU time is no part of the settings: a result within it holds under any higher one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.io import read_collection
from linnaeus.model import MANY_CLASSES, MANY_ROWS, METHODS, unsuited
from studies import recommend
from studies.rankings import NAME, friedman_tests
from studies.results import Cell, Outcome
from studies.tables import Context, Outcomes, Table, Unit
from studies.trial import WIDE, described, trial

LIMIT = 240  # CPU seconds of a unit
QUICK = 200  # rows of a part, for tests
COLLECTIONS = (  # roughly the cheapest first
    "Enron", "cellcycle_FUN", "rcv1-ccat", "ImCLEF07A", "clinc150", "enzyme", "news20",
    "cellcycle_GO", "rcv1-30k", "lshtc-small-val",
)  # fmt: skip


class Measure(NamedTuple):
    """A figure that the matrix shows, and how it is read from the facts of a unit."""

    key: str
    title: str
    unit: str
    digits: int
    read: Callable[[dict[str, Any]], float]
    error: Callable[[dict[str, Any]], float | None] = lambda facts: None


def _figure(key: str, title: str) -> Measure:
    return Measure(
        key, title, "%", 2,
        lambda facts: 100 * facts["figures"][key], lambda facts: 100 * facts["errors"][key],
    )  # fmt: skip


def _cost(key: str, title: str, unit: str, digits: int, scale: float = 1.0) -> Measure:
    return Measure(key, title, unit, digits, lambda facts: facts["costs"][key] / scale)


MEASURES: tuple[Measure, ...] = (
    _figure("micro_f1", "micro F1"),
    _figure("macro_f1", "macro F1"),
    _figure("hierarchical_f1", "hierarchical F1"),
    _figure("zero_one_loss", "0/1 loss"),
    _cost("train_seconds", "training", "CPU seconds, the choice of the rule included", 2),
    _cost("rows_per_second", "prediction", "thousand rows a second", 1, 1e3),
    _cost("memory_bytes", "memory", "MB above what the data take, at the peak of training", 0, 1e6),
    _cost("model_bytes", "model", "MB of arrays", 2, 1e6),
)


def unit_name(collection: str, method: str) -> str:
    """The name under which a method on a collection is stored."""
    return f"{collection} {method}"


def units() -> tuple[Unit, ...]:
    """Every method on every collection."""
    return tuple(
        Unit(unit_name(c, m), (c,), partial(_run, c, m)) for c in COLLECTIONS for m in METHODS
    )


def _run(collection: str, method: str, context: Context) -> Outcome:
    """One method on one collection, in a process with a limit."""
    told = _described(context.data / collection)
    facts = {"collection": collection, "method": method, "data": told}
    reason = unsuited(method, told["several"], told["tree"])
    if reason:
        note = f"Does not apply: {reason}."
        return Outcome(
            [Cell(method, collection, None)], facts=facts | {"unsuited": reason}, notes=[note]
        )
    rows = QUICK if context.quick else 0
    found = trial(
        context.data / collection, method, seed=context.seed, jobs=context.jobs, rows=rows,
        limit=LIMIT,
    )  # fmt: skip
    seconds = found.pop("seconds")
    notes = [f"{method} on {collection}: {found['reason']}."] if "reason" in found else []
    return Outcome([_cell(MEASURES[0], facts | found)], [], facts | found, seconds, notes)


@cache
def _described(folder: Path) -> dict[str, Any]:
    """The counts of a collection, read once."""
    return described(read_collection(folder, parts=("train",)))


def _cell(measure: Measure, facts: dict[str, Any]) -> Cell:
    """A figure with the method as its row and the collection as its column; empty without one."""
    row, column = facts["method"], facts["collection"]
    if "figures" not in facts:
        return Cell(row, column, None)
    return Cell(row, column, measure.read(facts), measure.error(facts))


def _cells(measure: Measure, outcomes: Outcomes) -> list[Cell]:
    return [_cell(measure, facts) for facts in results(outcomes)]


def results(outcomes: Outcomes) -> list[dict[str, Any]]:
    """The facts of all units that are there, in their order."""
    return [outcomes[unit.name].facts for unit in units() if unit.name in outcomes]


def _tests(outcomes: Outcomes) -> list[dict[str, Any]]:
    return friedman_tests(results(outcomes))


def tables() -> list[Table]:
    """The matrix, and a view of it for every figure besides micro F1."""
    first, *others = MEASURES
    main = Table(
        name=NAME,
        title="All methods on all collections: micro F1",
        source="beyond the papers",
        protocol=(
            "Each method with its default parameters learns from the training part and is judged "
            "by the test part. Features and decision rule are chosen as linnaeus train does, the "
            "rule on held-out training rows. Standard errors by the bootstrap over test rows. "
            f"A method that needs more than {LIMIT} CPU seconds in all is stopped. Of tables with "
            f"more than {WIDE:,} columns those are left out that no training row fills."
        ),
        unit_of_figures=f"{first.title} in %",
        digits=first.digits,
        units=units(),
        why="",
        minutes=100.0,
        tests_of=_tests,
    )
    return [main, *(_view(measure) for measure in others), _recommended()]


def _view(measure: Measure) -> Table:
    return Table(
        name=f"{NAME}-{measure.key.replace('_', '-')}",
        title=f"All methods on all collections: {measure.title}",
        source="beyond the papers",
        protocol="From the same runs as the matrix of micro F1.",
        unit_of_figures=f"{measure.title} in {measure.unit}",
        digits=measure.digits,
        units=(),
        why="",
        minutes=0.0,
        of=NAME,
        view=partial(_cells, measure),
    )


def _recommended() -> Table:
    return Table(
        name="recommendations",
        title="What linnaeus train takes when no method is named",
        source="beyond the papers",
        protocol=(
            "From the matrix: the method with the best mean rank in micro F1, of those that "
            "finished on all collections with such labels and taxonomies. Many are "
            f"{MANY_ROWS:,} rows, or {MANY_CLASSES} classes, and more. A kind of data with fewer "
            "than two collections gets the choice for all with such labels."
        ),
        unit_of_figures="mean ranks and seconds",
        digits=2,
        units=(),
        why="",
        minutes=0.0,
        of=NAME,
        view=lambda outcomes: recommend.cells(results(outcomes)),
    )


TABLES = tables()
