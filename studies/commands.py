"""What the commands do, as functions of paths and numbers that return plain results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.errors import UserError
from studies import matrix, recommend, registry, running
from studies.claims import CLAIMS
from studies.document import PICTURES, markdown, picture, ranks_picture
from studies.files import write_text
from studies.judging import Results
from studies.rank_plot import draw_ranks
from studies.rankings import NAME, rankings
from studies.store import Store
from studies.tables import Step, no_step

RECORDS = Path(__file__).resolve().parent / "records"


class TableState(NamedTuple):
    """How far a table is.

    minutes : CPU minutes: measured where all is stored, else as declared
    of : the table whose runs it shows, where it has none of its own
    """

    name: str
    title: str
    source: str
    minutes: float
    done: int
    units: int
    of: str


def run(
    data: str | Path,
    tables: Sequence[str] | None = None,
    *,
    out: str | Path = RECORDS,
    units: Sequence[str] = (),
    seed: int = 0,
    jobs: int = 1,
    fresh: bool = False,
    step: Step = no_step,
) -> list[running.Done]:
    """Run what is not stored yet."""
    return running.reproduce(tables or None, data, out, seed, jobs, step, fresh, units=units)


def table_states(results: str | Path = RECORDS) -> list[TableState]:
    """All tables, and how much of each is stored."""
    store, found = Store(results), []
    for table in registry.TABLES.values():
        base = registry.TABLES[table.of] if table.of else table
        outcomes = store.outcomes(base.name)
        names = [unit.name for unit in base.units]
        done = sum(name in outcomes for name in names)
        minutes = base.minutes
        if done == len(names):
            minutes = sum(outcomes[name].seconds for name in names) / 60
        state = TableState(
            table.name, table.title, table.source, minutes, done, len(names), table.of
        )
        found.append(state)
    return found


def write_document(page: str | Path, results: str | Path = RECORDS) -> Path:
    """The page of all tables, made from the records; its pictures go beside the records."""
    _check(results)
    store, page = Store(results), Path(page)
    folder = os.path.relpath(store.folder / PICTURES, page.resolve().parent)
    text = markdown(store, pictures=Path(folder).as_posix())
    _draw(store)
    write_text(page, text)
    return page


def _draw(store: Store) -> None:
    """The pictures that the page shows."""
    (store.folder / PICTURES).mkdir(exist_ok=True)
    for table in registry.TABLES.values():
        outcomes = store.outcomes(table.of or table.name)
        if table.picture is not None and outcomes:
            table.picture(outcomes, store.folder / picture(table.name))
    for ranking in rankings(matrix.results(store.outcomes(NAME))):
        draw_ranks(ranking, store.folder / ranks_picture(ranking.name))


def write_recommendations(output: str | Path, results: str | Path = RECORDS) -> Path:
    """The recommended methods, made from the stored matrix."""
    _check(results)
    recommend.write(Store(results), output)
    return Path(output)


def claims(results: str | Path = RECORDS) -> list[dict[str, Any]]:
    """Every claim of the papers with its verdict."""
    _check(results)
    stored = Results(Store(results), registry.TABLES)
    return [
        {"name": claim.name, "statement": claim.statement, "source": claim.source}
        | claim.judge(stored)._asdict()
        for claim in CLAIMS
    ]


def _check(results: str | Path) -> None:
    if not Path(results).is_dir():
        raise UserError(
            f"There is no folder {results} with records. Make them with python -m studies run, "
            f"or name another folder with --results."
        )
