"""``linnaeus protocol``: methods side by side by the protocols of the thesis and of the paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from linnaeus.cli.options import Jobs, Json, Quiet, Seed
from linnaeus.cli.output import print_json, progress
from linnaeus.errors import UserError

_Number = TypeVar("_Number", int, float)
_CUTS = {"instance": "instance", "zero": "zero", "own": None}

Data = Annotated[
    Path,
    typer.Argument(
        help="A collection folder; its training part is divided. With --sets its test part is "
        "tested on, or a quarter of the training part where there is none."
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        "-m",
        help="Methods, with commas between them. svm:flat leaves out the taxonomy, svm:learned "
        "learns one from each training part, svm:random takes random ones. With --sets plain "
        "names; the linear methods if not given.",
        show_default=False,
    ),
]
Sets = Annotated[
    bool,
    typer.Option(
        "--sets",
        help="Compare label sets on a test part in place of rankings: micro and macro F1.",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        "-k",
        help="Folds of the cross-validation: 10. With --sets those that choose C and the "
        "thresholds: 5.",
        show_default=False,
    ),
]
Cs = Annotated[
    str | None,
    typer.Option(
        "--cs",
        help="With --sets: values of C to choose from, as in 0.1,1,10; one value is taken as "
        "it is. If not given, 0.001 to 1,000.",
        show_default=False,
    ),
]
Cut = Annotated[
    str,
    typer.Option(
        "--cut",
        help="With --sets, for rows with several labels: instance (a threshold for each row, "
        "learnt from out-of-fold scores), zero, or own (what the method itself predicts).",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        help="With --sets: the method that all others are tested against; if not given, the first.",
        show_default=False,
    ),
]
RowsPerClass = Annotated[
    str | None,
    typer.Option("--t", "-t", help="In place of folds: training rows per class, as in 1,5,10."),
]
Repetitions = Annotated[int, typer.Option("--repetitions", "-r", min=1, help="Draws for every t.")]
Hierarchies = Annotated[
    int, typer.Option("--hierarchies", min=1, help="How many random hierarchies.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", help="A parameter of the methods, name=value."),
]


def protocol(
    data: Data,
    methods: Methods = None,
    sets: Sets = False,
    folds: Folds = None,
    cs: Cs = None,
    cut: Cut = "instance",
    against: Against = None,
    t: RowsPerClass = None,
    repetitions: Repetitions = 10,
    hierarchies: Hierarchies = 5,
    parameter: Parameters = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Compare methods: rankings on folds or with few rows per class, or label sets on a test part.

    Rankings, with paired permutation tests over the folds:
    [bold]linnaeus protocol DATA -m svm,topdown,topdown:random --t 1,5,10[/bold]

    Label sets, with standard errors, sign tests (micro F1) and Wilcoxon's tests (macro F1):
    [bold]linnaeus protocol DATA --sets -m svm,topdown,rr-svm --cs 0.1,1,10[/bold]
    """
    from linnaeus.methods import parse_parameters

    names = None if methods is None else [m.strip() for m in methods.split(",") if m.strip()]
    if names == [] or (names is None and not sets):
        raise UserError("No methods are given. Name some with --methods, such as -m svm,topdown.")
    common: dict[str, Any] = {
        "parameters": parse_parameters(parameter or []), "seed": seed, "jobs": jobs,
    }  # fmt: skip
    if folds is not None:
        common["folds"] = folds
    if sets:
        if t is not None:
            raise UserError("--t is for rankings. Leave out --t, or --sets.")
        if cut not in _CUTS:
            raise UserError(f"--cut is {cut!r}. Use one of: {', '.join(_CUTS)}.")
        common |= {"cut": _CUTS[cut], "against": against}
        if cs is not None:
            common["Cs"] = _numbers("--cs", cs, float)
        _compare_sets(data, names, common, json, quiet)
        return
    if cs is not None or against is not None:
        raise UserError(f"{'--against' if cs is None else '--cs'} is for label sets. Add --sets.")
    common |= {"repetitions": repetitions, "hierarchies": hierarchies}
    common["t"] = None if t is None else _numbers("--t", t, int)
    _compare_rankings(data, names or [], common, json, quiet)


def _compare_sets(
    data: Path, methods: list[str] | None, options: dict[str, Any], json: bool, quiet: bool
) -> None:
    from linnaeus import workflow

    with progress(quiet or json) as step:
        study = workflow.label_set_protocol(data, methods, step=step, **options)
    if json:
        print_json(study.to_dict())
    else:
        print(study.table())
    if all(outcome.report is None for outcome in study.outcomes.values()):
        raise UserError("No method has a result; the reasons are above.")


def _compare_rankings(
    data: Path, methods: list[str], options: dict[str, Any], json: bool, quiet: bool
) -> None:
    from linnaeus import workflow
    from linnaeus.protocols import compare

    with progress(quiet or json) as step:
        study = workflow.protocol(data, methods, step=step, **options)
    first, *others = study.methods
    tests = [compare(study, first, other) for other in others]
    if json:
        print_json({"values": study.to_dict(), "tests": [test.to_dict() for test in tests]})
        return
    print(study.table())
    for test in tests:
        print(f"\n{first} against {test.second}: paired permutation test\n{test.table()}")


def _numbers(option: str, text: str, kind: Callable[[str], _Number]) -> list[_Number]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise UserError(
            f"{option} is {text!r}. Write numbers with commas, such as 1,5,10."
        ) from None
