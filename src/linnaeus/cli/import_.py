"""``linnaeus import``: a published collection as a collection folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from linnaeus.cli.options import (
    Jobs,
    Json,
    Quiet,
    Seed,
    SkipBad,
    argument,
    option,
    parse_parameters,
)
from linnaeus.cli.output import print_json

SHOWN = 5  # so many notes are printed


def import_(
    format: Annotated[str, argument("import.format")],
    source: Annotated[Path, argument("import.source")],
    output: Annotated[Path, option("import.output")],
    select: Annotated[str | None, option("import.select")] = None,
    hierarchy: Annotated[Path | None, option("import.hierarchy")] = None,
    graph: Annotated[bool, option("import.graph")] = False,
    parameter: Annotated[list[str] | None, option("import.parameter")] = None,
    plain: Annotated[bool, option("import.plain")] = False,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Turn a published collection into a folder that all commands read.

    Example: [bold]linnaeus import wipo wipo-alpha -o wipo-d --select D[/bold]
    """
    from linnaeus import workflow

    options: dict[str, Any] = parse_parameters(parameter)
    named = {
        "select": select, "hierarchy": hierarchy, "graph": graph or None,
        "skip_bad": skip_bad or None,
    }  # fmt: skip
    options |= {name: value for name, value in named.items() if value is not None}
    done = workflow.import_collection(format, source, output, compress=not plain, **options)
    if json:
        print_json(done.to_dict())
    elif not quiet:
        _present(done)


def _present(done: Any) -> None:
    for note in done.notes[:SHOWN]:
        print(note, file=sys.stderr)
    if len(done.notes) > SHOWN:
        print(f"and {len(done.notes) - SHOWN:,} more notes (--json lists all)", file=sys.stderr)
    links = f", {done.related:,} related links" if done.related else ""
    print(f"{done.path}: {done.nodes:,} nodes, {done.edges:,} edges{links}")
    for name, part in done.parts.items():
        features = "texts" if part["features"] is None else f"{part['features']:,} features"
        print(
            f"  {name:<5} {part['rows']:,} rows, {features}, "
            f"{part['labels_per_row']:.2f} labels per row"
        )
    print(f"Next: linnaeus train {done.path} -o MODEL")
