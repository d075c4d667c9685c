"""``linnaeus taxonomy``: look at a taxonomy, check it, convert it, count it.

Like all commands these take --seed and --jobs, so that scripts need not tell them apart; nothing
here is random or slow enough to use them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from linnaeus.cli.options import Format, Jobs, Json, Quiet, Seed, TaxonomyPath
from linnaeus.cli.output import print_json

app = typer.Typer(
    help="Look at a taxonomy, check it, convert it, count it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.command()
def show(
    path: TaxonomyPath,
    root: Annotated[
        str | None, typer.Option("--root", "-r", help="Show only this node and what is below it.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", "-d", min=0, help="Show at most so many levels below.")
    ] = None,
    width: Annotated[
        int | None, typer.Option("--width", "-w", min=1, help="Show at most so many children.")
    ] = None,
    format: Format = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Draw a taxonomy as a tree.

    Example: [bold]linnaeus taxonomy show taxonomy.tsv --depth 2 --width 5[/bold]
    """
    from linnaeus import workflow

    taxonomy = workflow.load_taxonomy(path, format)
    if json:
        print_json(workflow.taxonomy_as_dict(taxonomy, root))
    else:
        taxonomy.show(root, max_depth=depth, max_children=width)


@app.command()
def check(
    path: TaxonomyPath,
    format: Format = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Report what a maintainer would want to mend.

    A file that is no taxonomy (a cycle, a malformed line) is an error with exit code 1;
    what is merely odd (chains, equal titles among siblings) is listed.
    """
    from linnaeus import workflow

    result = workflow.check_taxonomy(path, format)
    if json:
        print_json(result)
        return
    print(f"{path}: {result['summary']}")
    for finding in result["findings"]:
        print(f"  {finding['level']}: {finding['message']}")
    count = len(result["findings"])
    print(f"{count} finding{'s' * (count != 1)}." if count else "Nothing to complain about.")


@app.command()
def convert(
    path: TaxonomyPath,
    target: Annotated[Path, typer.Argument(help="The file to write; its name says the format.")],
    format: Format = None,
    to: Annotated[
        str | None, typer.Option("--to", "-t", help="The format to write, if the name does not.")
    ] = None,
    drop_root: Annotated[
        bool, typer.Option("--drop-root", help="Leave out a sole artificial top node.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Read a taxonomy in one format and write it in another.

    Example: [bold]linnaeus taxonomy convert go.obo taxonomy.tsv[/bold]
    """
    from linnaeus import workflow

    result = workflow.convert_taxonomy(path, target, format, to, drop_root=drop_root)
    if json:
        print_json(result)
    elif not quiet:
        print(f"Wrote {result['nodes']:,} nodes and {result['edges']:,} edges to {target}.")


@app.command()
def stats(
    path: TaxonomyPath,
    format: Format = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Count nodes, edges, levels, families and what else describes a taxonomy."""
    from linnaeus import workflow

    result = workflow.taxonomy_stats(path, format)
    if json:
        print_json(result)
        return
    width = max(map(len, result))
    for name, value in result.items():
        print(f"{name.replace('_', ' '):<{width}}  {_number(value)}")


def _number(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_number, value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
