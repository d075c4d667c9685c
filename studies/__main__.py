"""``linnaeus bench``: the tables of the publications, rerun."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linnaeus.cli.options import Jobs, Json, Quiet, Seed
from linnaeus.cli.output import print_json, progress
from linnaeus.errors import UserError

if TYPE_CHECKING:
    from studies.running import Done

RESULTS = Path("docs/reproduction")
PAGE = Path("docs/reproduction.md")
RECOMMENDATIONS = Path("src/linnaeus/recommendations.json")

app = typer.Typer(
    help="Rerun the tables of the publications, and judge what they claim.", no_args_is_help=True
)

Data = Annotated[
    Path,
    typer.Option("--data", "-d", help="The folder that holds the collections, a folder each."),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--table", "-t", help="A table, as linnaeus bench tables lists them; all if not given."
    ),
]
Units = Annotated[
    list[str] | None,
    typer.Option("--unit", "-u", help="Only runs with such a name, as in 'ImCLEF07A*'."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder of the results.")]
Stored = Annotated[Path, typer.Option("--results", "-r", help="The folder of the results.")]
Page = Annotated[Path, typer.Option("--output", "-o", help="The page to write.")]
Recommendations = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget what is stored and begin anew.")]


@app.command()
def reproduce(
    data: Data,
    table: Tables = None,
    unit: Units = None,
    out: Out = RESULTS,
    fresh: Fresh = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Run the tables, and store what they give, run by run.

    [bold]linnaeus bench reproduce --data DIR --table gopal-2[/bold]

    What is stored already is not run again, so a run that was stopped goes on where it was.
    """
    from linnaeus.workflow import reproducing

    with progress(quiet or json) as step:
        found = reproducing.reproduce(
            data, table, out=out, units=unit or (), seed=seed, jobs=jobs, fresh=fresh, step=step
        )
    if json:
        print_json([done._asdict() for done in found])
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
def tables(results: Stored = RESULTS, json: Json = False) -> None:
    """List the tables, with their CPU minutes and how much of each is stored."""
    from linnaeus.workflow import reproducing

    states = reproducing.table_states(results)
    if json:
        print_json([state._asdict() for state in states])
        return
    from rich.console import Console
    from rich.table import Table

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
def document(results: Stored = RESULTS, output: Page = PAGE, json: Json = False) -> None:
    """Write the page of all tables from what is stored."""
    from linnaeus.workflow import reproducing

    path = reproducing.write_document(results, output)
    if json:
        print_json({"page": str(path)})
    else:
        print(f"The page is in {path}.")


@app.command()
def recommend(
    results: Stored = RESULTS, output: Recommendations = RECOMMENDATIONS, json: Json = False
) -> None:
    """Write which method is recommended for which data, from the stored matrix of all methods."""
    from linnaeus.workflow import reproducing

    path = reproducing.write_recommendations(results, output)
    if json:
        print_json({"recommendations": str(path)})
    else:
        print(f"The recommendations are in {path}.")


@app.command()
def claims(results: Stored = RESULTS, json: Json = False) -> None:
    """Say which claims of the papers hold in what is stored."""
    from linnaeus.workflow import reproducing

    found = reproducing.claims(results)
    if json:
        print_json(found)
        return
    for claim in found:
        p = "" if claim["pvalue"] is None else f" (p {claim['pvalue']:.2g})"
        print(
            f"{claim['statement']}: {claim['holds']}{p}\n  {claim['source']}. {claim['evidence']}"
        )
