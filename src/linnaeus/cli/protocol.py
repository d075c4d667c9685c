"""``linnaeus protocol``: methods side by side by the protocols of the thesis."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linnaeus.cli.options import Jobs, Json, Quiet, Seed
from linnaeus.cli.output import print_json, progress
from linnaeus.errors import UserError


def protocol(
    data: Annotated[
        Path, typer.Argument(help="A collection folder; its training part is divided.")
    ],
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            help="Methods, with commas between them. svm:flat leaves out the taxonomy, svm:learned "
            "learns one from each training part, svm:random takes random ones.",
        ),
    ],
    folds: Annotated[
        int, typer.Option("--folds", "-k", help="Folds of the cross-validation.")
    ] = 10,
    t: Annotated[
        str | None,
        typer.Option("--t", "-t", help="In place of folds: training rows per class, as in 1,5,10."),
    ] = None,
    repetitions: Annotated[
        int, typer.Option("--repetitions", "-r", min=1, help="Draws for every t.")
    ] = 10,
    hierarchies: Annotated[
        int, typer.Option("--hierarchies", min=1, help="How many random hierarchies.")
    ] = 5,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="A parameter of the methods, name=value."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Compare rankings of methods: folds, or a few rows per class, with paired tests.

    Example: [bold]linnaeus protocol DATA -m svm,topdown,topdown:random --t 1,5,10[/bold]
    """
    from linnaeus import workflow
    from linnaeus.methods import parse_parameters
    from linnaeus.protocols import compare

    with progress(quiet or json) as step:
        study = workflow.protocol(
            data,
            [name.strip() for name in methods.split(",") if name.strip()],
            folds=folds,
            t=_numbers(t),
            repetitions=repetitions,
            hierarchies=hierarchies,
            parameters=parse_parameters(parameter or []),
            seed=seed,
            jobs=jobs,
            step=step,
        )
    first, *others = study.methods
    tests = [compare(study, first, other) for other in others]
    if json:
        print_json({"values": study.to_dict(), "tests": [test.to_dict() for test in tests]})
        return
    print(study.table())
    for test in tests:
        print(f"\n{first} against {test.second}: paired permutation test\n{test.table()}")


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--t is {text!r}. Write numbers with commas, such as 1,5,10.") from None
