"""The options that every command takes, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same result.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads to use; -1 for all cores.")]
TaxonomyPath = Annotated[
    Path,
    typer.Argument(
        help="A taxonomy file, or a collection folder that holds taxonomy.*; plain or gzip.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", help="The file's format, where it cannot be guessed."),
]
