"""The page of all reproduced tables, made from the stored outcomes and nothing else.

Verdicts on the papers' claims come first, then table by table our figures beside the paper's. The
same outcomes give the same page, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from studies.claims import CLAIMS
from studies.judging import Claim, Results
from studies.registry import TABLES
from studies.results import Cell, Outcome
from studies.store import Store
from studies.tables import Table

PICTURES = "pictures"  # their folder, inside that of the records
HEAD = """# The papers' tables, reproduced

Made by `python -m studies document` from the records in `studies/records`; not written by hand.
`python -m studies run --data DIR` runs what is missing, DIR being the folder of the collections.

A figure reads **ours ± standard error (the paper's, the difference)**. An asterisk marks a \
difference of more than two standard errors. A dash stands where there is no figure of ours: not \
run yet, over a limit, or on data that cannot be had.
"""


def markdown(
    store: Store, tables: Mapping[str, Table] | None = None, pictures: str = PICTURES
) -> str:
    """The whole page.

    pictures : their folder, seen from the page
    """
    results = Results(store, TABLES if tables is None else tables)
    parts = [HEAD, "## Verdicts\n", *verdicts(results)]
    for table in results.tables.values():
        parts += section(table, results)
    parts += ["## Cost\n", *cost(results)]
    return "\n".join(parts).replace(f"]({PICTURES}/", f"]({pictures}/")


def verdicts(results: Results, claims: Sequence[Claim] = CLAIMS) -> list[str]:
    """What the papers say, and whether it holds here."""
    rows = []
    for claim in claims:
        found = claim.judge(results)
        p = probability(found.pvalue)
        rows.append([claim.statement, claim.source, f"**{found.holds}**", found.evidence, p])
    words = (
        "A claim *holds* where our difference has its direction and p is below 5 %, and *does not "
        "hold* where the opposite has; else it is *undecided*. Claims without a test say by what "
        "they are judged. Collections are pooled, so large ones weigh most. Folds and draws "
        "overlap, and some tables share documents: p-values of pooled values err on the small "
        "side.\n"
    )
    heads = ["claim", "source", "verdict", "evidence", "p"]
    return [words, grid(heads, rows, "lllll"), ""]


def section(table: Table, results: Results) -> Iterator[str]:
    """One table: source, protocol, figures, tests, reasons, cost and command."""
    outcomes = results.outcomes(table.of or table.name)
    yield f"## {table.name}: {table.title}\n"
    yield f"{table.source}; {table.unit_of_figures}. {table.protocol}\n"
    cells = table.cells(outcomes)
    if cells:
        yield figures(cells, table.digits) + "\n"
    else:
        yield "Not run yet.\n"
    if table.picture is not None and outcomes:
        yield f"![{table.title}]({picture(table.name)})\n"
    tests = results.tests(table.name)
    ranked = [test for test in tests if "ranks" in test]
    if len(tests) > len(ranked):
        yield significance(test for test in tests if "ranks" not in test) + "\n"
    yield from map(ranks_text, ranked)
    compared = [cell for cell in cells if cell.differs is not None]
    if any(cell.difference is not None for cell in cells):
        n = sum(bool(cell.differs) for cell in compared)
        counted = f"{n} of {len(compared)} figures with an error are more than two errors away. "
        yield f"Why ours differ: {counted if compared else ''}{table.why}\n"
    elif table.why:
        yield f"{table.why}\n"
    yield from _running(table, outcomes)


def _running(table: Table, outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Notes, cost, what is missing, and the command."""
    command = f"`python -m studies run --data DIR --table {table.name}`"
    if table.of:
        yield f"From the runs of {table.of}: {command}\n"
        return
    notes = dict.fromkeys(note for outcome in outcomes.values() for note in outcome.notes)
    if notes:
        yield "\n".join(f"- {note}" for note in notes) + "\n"
    left = [unit.name for unit in table.units if unit.name not in outcomes]
    done = len(table.units) - len(left)
    seconds = sum(outcome.seconds for outcome in outcomes.values())
    yield f"{done} of {len(table.units)} runs, {duration(seconds)} of CPU time: {command}\n"
    if left:
        yield f"Not run: {'; '.join(left)}.\n"


def figures(cells: Sequence[Cell], digits: int) -> str:
    """Rows and columns in the order of their first cells."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    found = {(cell.row, cell.column): text_of(cell, digits) for cell in cells}
    body = [[row, *(found.get((row, column), "") for column in columns)] for row in rows]
    return grid(["", *columns], body, "l" + "r" * len(columns))


def text_of(cell: Cell, digits: int) -> str:
    """A figure with what there is to say about it.

    >>> text_of(Cell("a", "b", 77.5, 1.0, 80.0), 1)
    '77.5 ± 1.0 (80.0, -2.5)*'
    >>> text_of(Cell("a", "b", None, None, 80.0), 1)
    '– (80.0)'
    """
    if cell.ours is None:
        return "–" if cell.paper is None else f"– ({number(cell.paper, digits)})"
    text = number(cell.ours, digits)
    if cell.error is not None:
        text += f" ± {number(cell.error, digits)}"
    if cell.paper is not None and cell.difference is not None:
        text += f" ({number(cell.paper, digits)}, {cell.difference:+.{digits}f})"
    return text + ("*" if cell.differs else "")


def number(value: float, digits: int) -> str:
    """A float to so many digits, a count as it is."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def significance(tests: Iterable[Mapping[str, Any]]) -> str:
    """A line for every pair and condition, a column for every kind of test."""
    tests = list(tests)
    kinds = list(dict.fromkeys(_kind(test) for test in tests))
    lines: dict[str, dict[str, str]] = {}
    for test in tests:
        about = f"{test['first']} against {test['second']}"
        if test.get("condition") not in (None, ""):
            about += f", {test['condition']}"
        sign = test.get("difference")
        way = "" if sign is None else f"{sign:+.2f}, "
        lines.setdefault(about, {})[_kind(test)] = f"{way}p {probability(test['pvalue'])}"
    body = [[about, *(found.get(kind, "") for kind in kinds)] for about, found in lines.items()]
    return grid(["tests", *kinds], body, "l" + "r" * len(kinds))


def ranks_text(test: Mapping[str, Any]) -> str:
    """Methods by mean rank, and how far apart they must be; with a picture."""
    ranks = ", ".join(f"{method} {rank:.2f}" for method, rank in test["ranks"].items())
    name = test["first"]
    return (
        f"Mean ranks, {name} ({test['second']}): {ranks}. Friedman's test: p "
        f"{probability(test['pvalue'])}; methods differ where their ranks are more than "
        f"{test['critical_difference']:.2f} apart (Nemenyi).\n\n"
        f"![Mean ranks, {name}]({ranks_picture(name)})\n"
    )


def picture(table: str) -> str:
    """Where the picture of a table is, seen from the records."""
    return f"{PICTURES}/{table}.svg"


def ranks_picture(name: str) -> str:
    """Where the plot of a ranking is, seen from the records.

    >>> ranks_picture("several labels, trees")
    'pictures/ranks_several-labels-trees.svg'
    """
    return f"{PICTURES}/ranks_{'-'.join(name.replace(',', '').split())}.svg"


def _kind(test: Mapping[str, Any]) -> str:
    return str(test.get("measure", test["name"]))


def probability(p: float | None) -> str:
    """A p-value to two digits.

    >>> probability(0.01234), probability(1e-9), probability(None)
    ('0.012', '< 0.0001', '')
    """
    if p is None:
        return ""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def cost(results: Results) -> Iterator[str]:
    """CPU time of every table and of all, with what they were run."""
    rows, total = [], 0.0
    for table in results.tables.values():
        if table.of:
            continue
        outcomes = results.outcomes(table.name)
        seconds = sum(outcome.seconds for outcome in outcomes.values())
        total += seconds
        known = sum(unit.name in outcomes for unit in table.units)
        rows.append([table.name, f"{known} of {len(table.units)}", duration(seconds)])
    yield grid(["table", "runs", "CPU time"], rows, "lrr") + "\n"
    yield f"All runs in the records: {total / 3600:.2f} CPU hours.\n"
    yield from _circumstances(results)


def _circumstances(results: Results) -> Iterator[str]:
    records = [results.store.record(name) for name in results.tables]
    found = dict.fromkeys(
        f"seed {record['seed']}, {record['machine']['cores']} cores, "
        + ", ".join(f"{name} {version}" for name, version in record["versions"].items())
        for record in records
        if record
    )
    for text in found:
        yield f"Run with {text}.\n"


def duration(seconds: float) -> str:
    """Seconds, or minutes where there are many.

    >>> duration(12.3), duration(600)
    ('12 s', '10.0 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """A table of markdown; align has l or r for every column."""
    marks = ["---:" if letter == "r" else "---" for letter in align]
    lines = [heads, marks, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
