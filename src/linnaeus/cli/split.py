"""``linnaeus split``: one table into a folder with parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from linnaeus.cli.options import Data, Json, Quiet, Seed, SkipBad, TaxonomyFile, option, reads
from linnaeus.cli.output import copies_told, print_json, print_notes, print_skipped


@reads
def split(
    data: Data,
    output: Annotated[Path, option("split.output")],
    test: Annotated[float, option("split.test")] = 0.2,
    valid: Annotated[float, option("split.valid")] = 0.0,
    taxonomy: TaxonomyFile = None,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    options: Any = None,
) -> None:
    """Divide the rows of DATA into a training and a test part, in a folder that all commands read.

    Every label gets its share of both parts, and copies of a text stay on one side.
    [bold]linnaeus split books.xlsx -o books --test 0.2[/bold]
    """
    from linnaeus import workflow

    workflow.check_arguments(data)
    done = workflow.split(
        data, output, test=test, valid=valid, taxonomy=taxonomy, skip_bad=skip_bad,
        options=options, seed=seed,
    )  # fmt: skip
    print_skipped(done.skipped)
    if json:
        print_json(done.to_dict())
    elif not quiet:
        print_notes(done.notes)
        parts = ", ".join(f"{name} {n:,} rows" for name, n in done.parts.items())
        print(f"{done.path}: {parts}")
        if done.copies:
            print(f"{copies_told(done.copies)} of others; copies stay together.")
        print(f"Next: linnaeus train {done.path} -o MODEL")
