"""``linnaeus compare``: methods side by side, with tests and a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from linnaeus.cli.options import (
    Address,
    Backend,
    CheckpointFolder,
    Data,
    FeatureParameters,
    Features,
    Jobs,
    Json,
    Quiet,
    Seed,
    SkipBad,
    option,
    parse_parameters,
    reads,
)
from linnaeus.cli.output import print_json, print_notes, print_skipped, progress
from linnaeus.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from linnaeus.experiments import Comparison
    from linnaeus.workflow.comparing import Compared

REPORT = Path("comparison.html")
_CUTS = {"instance": "instance", "zero": "zero", "own": None}
_Number = TypeVar("_Number", int, float)
FLAGS = ("--sets", "--rankings")
MODES = ("--folds", "--test", "--few", *FLAGS)
ONLY = {  # options that go with some modes only; "" is the comparison with a report
    "--rule": ("",), "--output": ("",), "--repetitions": ("--few",),
    "--against": ("--few", "--rankings", "--sets"), "--cs": ("--sets",), "--cv": ("--sets",),
    "--cut": ("--sets",),
}  # fmt: skip


@reads
def compare(
    data: Data,
    methods: Annotated[str, option("compare.methods")],
    folds: Annotated[int | None, option("compare.folds")] = None,
    test: Annotated[bool, option("compare.test")] = False,
    few: Annotated[str | None, option("compare.few")] = None,
    sets: Annotated[bool, option("compare.sets")] = False,
    rankings: Annotated[bool, option("compare.rankings")] = False,
    parameter: Annotated[list[str] | None, option("compare.parameter")] = None,
    features: Features = "auto",
    feature: FeatureParameters = None,
    rule: Annotated[str | None, option("compare.rule")] = None,
    repetitions: Annotated[int | None, option("compare.repetitions")] = None,
    hierarchies: Annotated[int | None, option("compare.hierarchies")] = None,
    cs: Annotated[str | None, option("compare.cs")] = None,
    cv: Annotated[int | None, option("compare.cv")] = None,
    cut: Annotated[str | None, option("compare.cut")] = None,
    against: Annotated[str | None, option("compare.against")] = None,
    output: Annotated[Path | None, option("compare.output")] = None,
    no_report: Annotated[bool, option("compare.no_report")] = False,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    backend: Backend = None,
    address: Address = None,
    checkpoint: CheckpointFolder = None,
    options: Any = None,
) -> None:
    """Compare methods on the same rows and the same features, with tests of significance.

    [bold]linnaeus compare DATA --methods svm,topdown,rr-svm --folds 5 -p C=1[/bold] writes an HTML
    report that opens without a network: the table, F1 by level and by size of the classes, a map
    of the taxonomy, calibration, cost, confused labels and mistakes.

    [bold]linnaeus compare DATA --methods svm,topdown,topdown:random --few 1,5,20[/bold] shows how
    well classes are ranked with few examples of each, with paired permutation tests.

    [bold]linnaeus compare DATA --methods svm,topdown,rr-svm --sets --cs 0.1,1,10[/bold] tunes C
    first, then compares label sets, with standard errors, sign tests (micro F1) and Wilcoxon's
    tests (macro F1).
    """
    from linnaeus import workflow

    workflow.check_arguments(data, rule=rule)
    from linnaeus.execution.placing import placed

    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names:
        raise UserError("No methods are given. Name some with --methods, such as -m svm,topdown.")
    given = {
        "--folds": folds, "--test": test, "--few": few, "--sets": sets, "--rankings": rankings,
        "--rule": rule, "--repetitions": repetitions, "--cs": cs, "--cv": cv, "--cut": cut,
        "--against": against, "--output": output,
    }  # fmt: skip
    mode = _mode(given)
    shared: dict[str, Any] = {
        "parameters": parse_parameters(parameter), "features": features,
        "feature_parameters": parse_parameters(feature), "hierarchies": hierarchies,
        "skip_bad": skip_bad, "options": options, "seed": seed, "jobs": jobs,
    }  # fmt: skip
    own = {name[2:]: v for name, v in given.items() if _is(v) and name not in FLAGS}
    if no_report and not mode:
        own["output"] = None
    run = {"--sets": _sets, "--few": _rankings, "--rankings": _rankings}.get(mode, _report)
    with progress(quiet or json) as step, placed(backend, address, checkpoint, jobs):
        done = run(data, names, own, **shared, step=step)
    print_skipped(done.skipped)
    if not (quiet or json):
        print_notes(done.notes)
    _print(done, json)


def _report(data: Path, methods: list[str], own: dict[str, Any], **options: Any) -> Compared:
    from linnaeus.workflow.comparing import compare

    return compare(data, methods, **{"output": REPORT, **own}, **options)


def _sets(data: Path, methods: list[str], own: dict[str, Any], **options: Any) -> Compared:
    from linnaeus.workflow.comparing import compare_label_sets

    cut = own.pop("cut", "instance")
    if cut not in _CUTS:
        raise UserError(f"--cut is {cut!r}. Use one of: {', '.join(_CUTS)}.")
    if "cs" in own:
        own["Cs"] = _numbers("--cs", own.pop("cs"), float)
    return compare_label_sets(data, methods, cut=_CUTS[cut], **own, **options)


def _rankings(data: Path, methods: list[str], own: dict[str, Any], **options: Any) -> Compared:
    from linnaeus.workflow.comparing import compare_rankings

    if "few" in own:
        own["few"] = _numbers("--few", own["few"], int)
    return compare_rankings(data, methods, **own, **options)


def _print(done: Compared, json: bool) -> None:
    """The result, for a person or for machines; an error where there is none."""
    from linnaeus.experiments import Comparison

    found = done.found
    if json:
        where = {} if not isinstance(found, Comparison) else {"report": done.report}
        print_json(found.to_dict() | where)
    elif isinstance(found, Comparison):
        present(found, done.report)
    else:
        print(found.table())
    if not found.has_results:
        raise UserError("No method has a result; the reasons are above.")


def _is(value: Any) -> bool:
    """Whether an option is given."""
    return value is not None and value is not False


def _mode(given: Mapping[str, Any]) -> str:
    """What is compared: "" for a report, "--few", "--rankings" or "--sets"."""
    chosen = [name for name in MODES if _is(given[name])]
    rows = [name for name in chosen if name != "--rankings"]
    if len(rows) > 1:
        raise UserError(
            f"{rows[0]} and {rows[1]} both say which rows methods are judged by. Use one of them."
        )
    if "--rankings" in chosen and rows and rows[0] in ("--test", "--sets"):
        raise UserError(f"--rankings does not go with {rows[0]}. Use --folds or --few with it.")
    mode = next((name for name in ("--few", "--sets", "--rankings") if name in chosen), "")
    for name, modes in ONLY.items():
        if _is(given[name]) and mode not in modes:
            fit = [other or "a comparison on folds or the test part" for other in modes]
            without = f" Leave it out, or leave out {mode}." if mode else f" Add {fit[0]}."
            raise UserError(f"{name} is for {' or '.join(fit)}.{without}")
    return mode


def _numbers(option: str, text: str, kind: Callable[[str], _Number]) -> list[_Number]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise UserError(
            f"{option} is {text!r}. Write numbers with commas, such as 1,5,10."
        ) from None


def present(comparison: Comparison, report: Path | None, console: Console | None = None) -> None:
    """The verdict, the table, the failures, and where the report is."""
    from linnaeus.experiments import verdict

    if console is None:
        from rich.console import Console

        console = Console(highlight=False, soft_wrap=True)
    if comparison.ranked:
        console.width = max(console.width, 100)
        for sentence in verdict(comparison):
            console.print(sentence, markup=False)
        console.print(f"\n{comparison.setting.data}: {comparison.setting}", markup=False)
        console.print(_table(comparison))
        console.print(
            "bold: the best; ± one standard error; * p < 5 %, ** p < 1 %: the figure itself is "
            "worse than the best's, by the paired bootstrap over rows, corrected for all pairs",
            style="dim",
        )
    for result in comparison.failed:
        console.print(f"{result.name}: {result.error}", markup=False, style="red")
    if report is not None:
        console.print(f"The report is in {report}.", markup=False)


def _table(comparison: Comparison) -> Table:
    from rich.table import Table
    from rich.text import Text

    from linnaeus.experiments import FIGURES
    from linnaeus.experiments.comparison import COSTS, baseline_cells, cost_cells

    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for title in (*FIGURES.values(), *COSTS):
        table.add_column(title, justify="right", no_wrap=True)
    marks = {figure: comparison.marks(figure) for figure in FIGURES}
    best = {figure: comparison.best(figure).figures[figure] for figure in FIGURES}
    for s in comparison.ranked:
        cells = [
            Text.assemble(
                (f"{value:.4f}", "bold" if value == best[figure] else ""),
                (f" ±{s.errors[figure]:.4f}", "dim"),
                f"{marks[figure].get(s.name, ''):<2}",
            )
            for figure, value in s.figures.items()
        ]
        table.add_row(s.name, *cells, *cost_cells(s))
    if comparison.baseline is not None:
        table.add_row(*baseline_cells(comparison.baseline), style="dim")
    return table
