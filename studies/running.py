"""Run the units of tables that are not stored yet, one after the other.

What is stored stays: a run that was stopped, even killed, goes on where it was. A unit whose data
are missing, or that goes wrong, is reported with the reason, and the others go on.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from linnaeus.errors import UserError, nearest, shorten
from studies.results import Outcome
from studies.store import Store
from studies.tables import Context, Step, Table, Unit, no_step


class Done(NamedTuple):
    """What became of a unit.

    state : "run", "stored" (before), "missing" (no data), "failed"
    reason : of the last two
    """

    table: str
    unit: str
    state: str
    reason: str = ""
    seconds: float = 0.0


def reproduce(
    names: Sequence[str] | None,
    data: str | Path,
    out: str | Path,
    seed: int = 0,
    jobs: int = 1,
    step: Step = no_step,
    fresh: bool = False,
    *,
    units: Sequence[str] = (),
    quick: bool = False,
    tables: Mapping[str, Table] | None = None,
) -> list[Done]:
    """Run tables and store what they give.

    Parameters
    ----------
    names : of tables; None for all of them, the cheapest first
    data : the folder with the collections
    out : the folder of the results
    step : told about table and unit, how many units are done, and how many there are
    fresh : forget what is stored about these tables, or these units of them
    units : patterns such as "ImCLEF07A*"; only units whose names match one are run
    quick : few folds and repetitions; not for results that are kept
    tables : to choose from; those of the registry if not given
    """
    data, store = Path(data), Store(out)
    if not data.is_dir():
        raise UserError(f"There is no folder {data} with collections. Name it with --data.")
    chosen = _chosen(names, tables)
    if fresh and not units:
        for table in chosen:
            store.clear(table.name)
    context = Context(data, seed, jobs, step, quick)
    work = [(table, unit) for table in chosen for unit in table.units if _matches(unit, units)]
    return list(_run_all(work, store, context, fresh))


def _chosen(names: Sequence[str] | None, tables: Mapping[str, Table] | None) -> list[Table]:
    """The tables that have units of their own behind the names."""
    known = _registry() if tables is None else tables
    if names is None:
        whole = [table for table in known.values() if not table.of]
        return sorted(whole, key=lambda table: table.minutes)
    found: dict[str, Table] = {}
    for name in names:
        if name not in known:
            raise UserError(
                f"There is no table {shorten(name)}{nearest(name, known)}. "
                f"There are: {', '.join(known)}."
            )
        table = known[known[name].of or name]
        found[table.name] = table
    return list(found.values())


def _registry() -> Mapping[str, Table]:
    from studies.registry import TABLES

    return TABLES


def _matches(unit: Unit, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch(unit.name, pattern) for pattern in patterns)


def _run_all(
    work: list[tuple[Table, Unit]], store: Store, context: Context, fresh: bool
) -> Iterator[Done]:
    for done, (table, unit) in enumerate(work):
        context.step(f"{table.name}: {unit.name}", done, len(work))
        if not fresh and store.has(table.name, unit, context):
            yield Done(table.name, unit.name, "stored")
            continue
        missing = unit.missing(context.data)
        if missing:
            reason = f"{', '.join(missing)} not in {context.data.name}"
            yield Done(table.name, unit.name, "missing", reason)
            continue
        try:
            outcome = _run(table, unit, context, done, len(work))
        except Exception as error:  # what other units give is worth having
            yield Done(table.name, unit.name, "failed", f"{type(error).__name__}: {error}")
            continue
        store.add(table, unit, outcome, context)
        yield Done(table.name, unit.name, "run", seconds=outcome.seconds)
    context.step("", len(work), len(work))


def _run(table: Table, unit: Unit, context: Context, done: int, total: int) -> Outcome:
    """One unit, with its CPU time, and a note about fits that did not converge."""

    def step(what: str, part: int, parts: int) -> None:
        context.step(f"{table.name}: {unit.name}, {what} {part}/{parts}", done, total)

    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = unit.run(replace(context, step=step))
    seconds = outcome.seconds or time.process_time() - start
    n = sum(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    notes = [f"{unit.name}: {n} fits stopped before they converged."] if n else []
    return replace(outcome, seconds=seconds, notes=outcome.notes + notes)
