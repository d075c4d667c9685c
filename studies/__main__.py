"""``python -m studies``: the tables of the publications, rerun and judged."""

from __future__ import annotations

import json as json_text
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from linnaeus.errors import UserError
from studies import commands
from studies.commands import RECORDS
from studies.running import Done
from studies.tables import Step

app = typer.Typer(
    name="python -m studies",
    help="Rerun the tables of the publications, and judge what they claim.\n\n"
    "The records of all runs are in [bold]studies/records[/bold]; nothing is written elsewhere "
    "but for the files that -o names.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)

Data = Annotated[
    Path,
    typer.Option("--data", "-d", help="The folder that holds the collections, a folder each."),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--table", "-t", help="A table, as the command tables lists them; all if not given."
    ),
]
Units = Annotated[
    list[str] | None,
    typer.Option("--unit", "-u", help="Only runs with such a name, as in 'ImCLEF07A*'."),
]
SHOWN = "studies/records"
Out = Annotated[
    Path, typer.Option("--out", "-o", help="The folder of the records.", show_default=SHOWN)
]
Stored = Annotated[
    Path, typer.Option("--results", "-r", help="The folder of the records.", show_default=SHOWN)
]
Page = Annotated[
    Path, typer.Option("--output", "-o", help="The page to write, such as docs/reproduction.md.")
]
Recommendations = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="The file to write, such as src/linnaeus/recommendations.json."
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget what is stored and begin anew.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, help="The same seed gives the same result."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads to use; -1 for all cores.")]


@app.command()
def run(
    data: Data,
    table: Tables = None,
    unit: Units = None,
    out: Out = RECORDS,
    fresh: Fresh = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Run the tables, and store what they give, run by run.

    [bold]python -m studies run --data DIR --table gopal-2[/bold]

    What is stored already is not run again, so a run that was stopped goes on where it was.
    """
    with _progress(quiet or json) as step:
        found = commands.run(
            data, table, out=out, units=unit or (), seed=seed, jobs=jobs, fresh=fresh, step=step
        )
    if json:
        _print_json([done._asdict() for done in found])
    else:
        _say(found, out)
    if found and all(done.state in ("failed", "missing") for done in found):
        raise UserError("Nothing could be run; the reasons are above.")


def _say(found: list[Done], out: Path) -> None:
    """What was run, what was there, and why something was not run."""
    counts = Counter(done.state for done in found)
    seconds = sum(done.seconds for done in found)
    print(f"{counts['run']} run in {seconds:,.0f} CPU s, {counts['stored']} stored before: {out}")
    failed = [done for done in found if done.state == "failed"]
    for done in failed:
        print(f"{done.table}, {done.unit}: failed: {done.reason}")
    missing = Counter((done.table, done.reason) for done in found if done.state == "missing")
    for (table, reason), n in missing.items():
        print(f"{table}: {n} {'run' if n == 1 else 'runs'} left out: {reason}")


@app.command()
def tables(results: Stored = RECORDS, json: Json = False) -> None:
    """List the tables, with their CPU minutes and how much of each is stored."""
    states = commands.table_states(results)
    if json:
        _print_json([state._asdict() for state in states])
        return
    shown = Table("table", "what", "source", box=None, pad_edge=False)
    for title in ("CPU min", "stored"):
        shown.add_column(title, justify="right", no_wrap=True)
    for state in states:
        stored = f"{state.done} of {state.units}"
        where = f"{stored} ({state.of})" if state.of else stored
        minutes = "" if state.of else f"{state.minutes:,.1f}"
        shown.add_row(state.name, state.title, state.source, minutes, where)
    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 100)
    console.print(shown)


@app.command()
def claims(results: Stored = RECORDS, json: Json = False) -> None:
    """Say which claims of the papers hold in what is stored."""
    found = commands.claims(results)
    if json:
        _print_json(found)
        return
    for claim in found:
        p = "" if claim["pvalue"] is None else f" (p {claim['pvalue']:.2g})"
        print(
            f"{claim['statement']}: {claim['holds']}{p}\n  {claim['source']}. {claim['evidence']}"
        )


@app.command()
def document(output: Page, results: Stored = RECORDS, json: Json = False) -> None:
    """Write the page of all tables from what is stored; its pictures go beside the records.

    [bold]python -m studies document -o docs/reproduction.md[/bold]
    """
    path = commands.write_document(output, results)
    _print_json({"page": str(path)}) if json else print(f"The page is in {path}.")


@app.command()
def recommend(output: Recommendations, results: Stored = RECORDS, json: Json = False) -> None:
    """Write which method is recommended for which data, from the stored matrix of all methods.

    [bold]python -m studies recommend -o src/linnaeus/recommendations.json[/bold]
    """
    path = commands.write_recommendations(output, results)
    if json:
        _print_json({"recommendations": str(path)})
    else:
        print(f"The recommendations are in {path}.")


def _print_json(result: Any) -> None:
    json_text.dump(result, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


@contextmanager
def _progress(quiet: bool) -> Iterator[Step]:
    """A bar on standard error, moved by ``step(what, done, total)``; gone when the work is."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=None)

        def step(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield step


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0, 1 for a user's error (one message), 130 for Ctrl-C."""
    try:
        app(args=list(sys.argv[1:] if arguments is None else arguments))
    except (UserError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except SystemExit as stop:
        sys.exit(1 if stop.code == 2 else stop.code)


if __name__ == "__main__":
    main()
