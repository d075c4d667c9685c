"""``linnaeus compile``: all numerical loops compiled beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from linnaeus.cli.options import Json, Quiet, option
from linnaeus.cli.output import print_json, progress


def compile_(
    to: Annotated[Path | None, option("compile.to")] = None,
    jobs: Annotated[int, option("compile.jobs")] = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compile all numerical loops now, so that no later run has to wait for it.

    For images and clusters. Loops are compiled for the processor that this command runs on;
    another kind of processor compiles its own.
    """
    from linnaeus import workflow

    with progress(quiet or json) as step:
        result = workflow.compile_loops(to, step, jobs)
    if json:
        print_json(result.to_dict())
        return
    print(
        f"{result.loops} loops are kept in {result.folder} ({result.bytes / 1e6:.0f} MB); "
        f"{result.compiled} were compiled now, in {result.seconds:.0f} s."
    )
    if to is not None:
        print(f"To use them, set LINNAEUS_CACHE_DIR={to.absolute()}")
