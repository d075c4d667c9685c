"""``linnaeus compare``: methods side by side, with tests and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linnaeus.cli.options import (
    Data,
    FeatureParameters,
    Features,
    Jobs,
    Json,
    Quiet,
    Seed,
    SkipBad,
)
from linnaeus.cli.output import print_json, print_skipped, progress
from linnaeus.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from linnaeus.comparison import Contest

REPORT = Path("comparison.html")

Methods = Annotated[
    str,
    typer.Option(
        "--methods",
        "-m",
        help="Methods with commas between them, as linnaeus methods lists them. svm:flat leaves "
        "out the taxonomy, svm:random takes a random one, svm:learned learns one.",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        "-k",
        min=2,
        help="Divide the training part into so many folds. If neither --folds nor --test is "
        "given: the test part, or 5 folds where there is none.",
        show_default=False,
    ),
]
Test = Annotated[bool, typer.Option("--test", help="Judge by the test part.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        "-p",
        help="name=value goes to every method that has the parameter, method.name=value to one.",
    ),
]
Rule = Annotated[
    str,
    typer.Option(
        "--rule",
        help="How scores become label sets; auto takes for each method the rule that is best on "
        "held-out scores.",
    ),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write the report, an HTML file.")
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.")]


def compare(
    data: Data,
    methods: Methods,
    folds: Folds = None,
    test: Test = False,
    parameter: Parameters = None,
    features: Features = "auto",
    feature: FeatureParameters = None,
    rule: Rule = "auto",
    output: Output = REPORT,
    no_report: NoReport = False,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Compare methods on the same rows, with tests of significance and an HTML report.

    [bold]linnaeus compare DATA --methods svm,topdown,rr-svm --folds 5 -p C=1[/bold]

    The report is one file that opens without a network: the table, F1 by level and by size of
    the classes, a map of the taxonomy, calibration, cost, confused labels and mistakes.
    """
    from linnaeus.methods import parse_parameters
    from linnaeus.workflow import comparing

    names = [name.strip() for name in methods.split(",") if name.strip()]
    with progress(quiet or json) as step:
        done = comparing.compare(
            data, names, folds=folds, test=test, parameters=parse_parameters(parameter or []),
            features=features, feature_parameters=parse_parameters(feature or []), rule=rule,
            output=None if no_report else output, skip_bad=skip_bad, seed=seed, jobs=jobs,
            step=step,
        )  # fmt: skip
    print_skipped(done.skipped)
    if json:
        where = None if done.report is None else str(done.report)
        print_json(done.contest.to_dict() | {"report": where})
    else:
        present(done.contest, done.report)
    if not done.contest.ranked:
        raise UserError("No method has a result; the reasons are above.")


def present(contest: Contest, report: Path | None, console: Console | None = None) -> None:
    """The table, the verdict, the failures, and where the report is."""
    from linnaeus.comparison import verdict

    if console is None:
        from rich.console import Console

        console = Console(highlight=False, soft_wrap=True)
    if contest.ranked:
        console.width = max(console.width, 100)
        console.print(f"{contest.setting.data}: {contest.setting}", markup=False)
        console.print(_table(contest))
        console.print(
            "bold: the best; ± one standard error; worse than the best by more than chance: "
            "* p < 5 %, ** p < 1 %",
            style="dim",
        )
        for sentence in verdict(contest):
            console.print(sentence, markup=False)
    for standing in contest.failed:
        console.print(f"{standing.name}: {standing.error}", markup=False, style="red")
    if report is not None:
        console.print(f"The report is in {report}.", markup=False)


def _table(contest: Contest) -> Table:
    from rich.table import Table
    from rich.text import Text

    from linnaeus.comparison import FIGURES

    table = Table("method", box=None, pad_edge=False)
    for title in (*FIGURES.values(), "CPU s"):
        table.add_column(title, justify="right", no_wrap=True)
    marks = {figure: contest.marks(figure) for figure in FIGURES}
    best = {figure: contest.best(figure).figures[figure] for figure in FIGURES}
    for s in contest.ranked:
        cells = [
            Text.assemble(
                (f"{value:.4f}", "bold" if value == best[figure] else ""),
                (f" ±{s.errors[figure]:.4f}", "dim"),
                f"{marks[figure].get(s.name, ''):<2}",
            )
            for figure, value in s.figures.items()
        ]
        table.add_row(s.name, *cells, "-" if s.cost is None else f"{s.cost.cpu_seconds:,.2f}")
    return table
