"""Rerun published tables, and make the page of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.errors import UserError
from linnaeus.files import atomic_write
from linnaeus.workflow.parts import Step

RESULTS = Path("docs/reproduction")
PAGE = Path("docs/reproduction.md")
RECOMMENDATIONS = Path("src/linnaeus/recommendations.json")


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


def reproduce(
    data: str | Path,
    tables: Sequence[str] | None = None,
    *,
    out: str | Path = RESULTS,
    units: Sequence[str] = (),
    seed: int = 0,
    jobs: int = 1,
    fresh: bool = False,
    step: Step | None = None,
) -> list[Any]:
    """Run what is not stored yet: a list of `reproduction.running.Done`."""
    from studies import running
    from studies.tables import no_step

    return running.reproduce(
        tables or None, data, out, seed, jobs, step or no_step, fresh, units=units
    )


def table_states(results: str | Path = RESULTS) -> list[TableState]:
    """All tables, and how much of each is stored."""
    from studies.registry import TABLES
    from studies.store import Store

    store, found = Store(results), []
    for table in TABLES.values():
        base = TABLES[table.of] if table.of else table
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


def write_document(results: str | Path = RESULTS, page: str | Path = PAGE) -> Path:
    """The page of all tables, made from the stored results, with its pictures beside it."""
    from studies.document import markdown
    from studies.store import Store

    _check(results)
    store, page = Store(results), Path(page)
    text = markdown(store)
    _draw(store, page.parent)
    with atomic_write(page) as handle:
        handle.write(text)
    return page


def _draw(store: Any, folder: Path) -> None:
    """The pictures that the page shows."""
    from studies import matrix
    from studies.document import picture, ranks_picture
    from studies.rank_plot import draw_ranks
    from studies.rankings import NAME, rankings
    from studies.registry import TABLES

    (folder / picture("")).parent.mkdir(exist_ok=True)
    for table in TABLES.values():
        outcomes = store.outcomes(table.of or table.name)
        if table.picture is not None and outcomes:
            table.picture(outcomes, folder / picture(table.name))
    for ranking in rankings(matrix.results(store.outcomes(NAME))):
        draw_ranks(ranking, folder / ranks_picture(ranking.name))


def write_recommendations(
    results: str | Path = RESULTS, output: str | Path = RECOMMENDATIONS
) -> Path:
    """The recommended methods, made from the stored matrix."""
    from studies import recommend
    from studies.store import Store

    _check(results)
    recommend.write(Store(results), output)
    return Path(output)


def claims(results: str | Path = RESULTS) -> list[dict[str, Any]]:
    """Every claim of the papers with its verdict."""
    from studies.claims import CLAIMS
    from studies.judging import Results
    from studies.registry import TABLES
    from studies.store import Store

    _check(results)
    stored = Results(Store(results), TABLES)
    return [
        {"name": claim.name, "statement": claim.statement, "source": claim.source}
        | claim.judge(stored)._asdict()
        for claim in CLAIMS
    ]


def _check(results: str | Path) -> None:
    if not Path(results).is_dir():
        raise UserError(
            f"There is no folder {results} with results. Make them with linnaeus bench reproduce, "
            f"or name another folder with --results."
        )
