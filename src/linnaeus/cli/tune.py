"""``linnaeus tune``: the best setting of a method, by cross-validation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from linnaeus.cli.options import (
    Address,
    Backend,
    Budget,
    CheckpointFolder,
    Data,
    FeatureParameters,
    Features,
    Jobs,
    Json,
    Method,
    NoValid,
    Parameters,
    Quiet,
    Seed,
    SkipBad,
    TaxonomyFile,
    option,
    parse_parameters,
    reads,
)
from linnaeus.cli.output import print_json, print_notes, print_skipped, progress
from linnaeus.cli.train import line

if TYPE_CHECKING:
    from linnaeus.workflow.tuning import Searched

SHOWN = 10  # settings


@reads
def tune(
    data: Data,
    output: Annotated[Path | None, option("tune.output")] = None,
    method: Method = None,
    grid: Annotated[list[str] | None, option("tune.grid")] = None,
    exhaustive: Annotated[bool, option("tune.exhaustive")] = False,
    metric: Annotated[str, option("tune.metric")] = "micro_f1",
    folds: Annotated[int, option("tune.folds")] = 3,
    budget: Budget = 60,
    no_valid: NoValid = False,
    parameter: Parameters = None,
    features: Features = "auto",
    feature: FeatureParameters = None,
    taxonomy: TaxonomyFile = None,
    journal: Annotated[Path | None, option("tune.journal")] = None,
    fresh: Annotated[bool, option("tune.fresh")] = False,
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
    """Search for the best setting of a method on the training part of DATA.

    [bold]linnaeus tune DATA -o model --method svm --jobs 4[/bold] tries values of C and of the
    loss, then options of the features one after the other, with every decision rule, and trains a
    model with the best. What -p and -f fix is not searched. Without --method the methods that
    linnaeus train tries come first, and the best of them is tuned.

    Ctrl-C does no harm: the same command goes on where it was stopped. The best of many settings
    looks a little better than it is; judge the model by other rows, with linnaeus evaluate.
    """
    from linnaeus import workflow

    workflow.check_arguments(data)
    from linnaeus.execution.placing import placed
    from linnaeus.experiments import parse_grid
    from linnaeus.workflow import tuning

    silent = quiet or json
    with progress(silent) as step, placed(backend, address, checkpoint, jobs, output):
        found = tuning.tune(
            data, output, method, parse_parameters(parameter), taxonomy=taxonomy,
            features=features, feature_parameters=parse_parameters(feature),
            grid=parse_grid(grid) if grid else None, exhaustive=exhaustive, metric=metric,
            folds=folds, valid=not no_valid, budget=budget, journal=journal, fresh=fresh,
            skip_bad=skip_bad, options=options, seed=seed, jobs=jobs, step=step,
            note=None if silent else _note,
        )  # fmt: skip
    print_skipped(found.skipped)
    if not (quiet or json):
        print_notes(found.notes)
    if json:
        print_json(found.to_dict())
    else:
        present(found)


def _note(text: str) -> None:
    print(text, file=sys.stderr)


def present(found: Searched) -> None:
    """The best settings, the one chosen, and what it gains."""
    from rich.console import Console
    from rich.markup import escape

    from linnaeus.experiments import setting_words

    tuned = found.tuned
    console = Console(highlight=False, soft_wrap=True)
    console.print(_table(tuned.table[:SHOWN], tuned.metric))
    rest = len(tuned.table) - SHOWN
    if rest > 0:
        console.print(f"and {rest:,} more, {'in the model' if found.path else 'with --json'}")
    console.print()
    line(console, "Method", tuned.method, tuned.why)
    line(console, "Chosen", ", ".join(setting_words(tuned.best)), _value(tuned.best, tuned.metric))
    console.print(f"[bold]{'Gain':<9}[/bold] {_gain(tuned.best, tuned.default)}")
    seconds = f"{tuned.seconds:.1f} s" + (f", {tuned.resumed} units resumed" * (tuned.resumed > 0))
    console.print(f"[bold]{'Search':<9}[/bold] {tuned.fits} fits, {tuned.folds} folds, {seconds}")
    if tuned.unconverged:
        console.print(f"{tuned.unconverged} fits stopped before they reached their tolerance.")
    if found.path:
        console.print(f"[bold]{'Model':<9}[/bold] {escape(found.path)}")
    console.print(f"By hand:  [bold]{escape(found.command)}[/bold]")
    if found.path:
        console.print(f"Next:     [bold]linnaeus evaluate {escape(found.path)} DATA[/bold]")


def _table(rows: list[dict[str, Any]], metric: str) -> Any:
    from rich.markup import escape
    from rich.table import Table

    from linnaeus.experiments import setting_words

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in (metric.replace("_", " "), "error", "labels a row", "seconds"):
        table.add_column(column, justify="right")
    table.add_column("rule")
    table.add_column("setting", overflow="fold")
    for row in rows:
        *named, rule = setting_words(row)
        error = "" if row["error"] is None else f"{row['error']:.3f}"
        numbers = (f"{row['mean']:.3f}", error, f"{row['labels_per_row']:.2f}")
        table.add_row(*numbers, f"{row['seconds']:.1f}", rule, escape(" ".join(named)))
    return table


def _value(row: dict[str, Any], metric: str) -> str:
    error = "" if row["error"] is None else f" ± {row['error']:.3f}"
    return f"{metric.replace('_', ' ')} {row['mean']:.3f}{error}"


def _gain(best: dict[str, Any], default: dict[str, Any] | None) -> str:
    """How much better than what train would have done."""
    if default is None:
        return "not known, since the grid leaves out the defaults of linnaeus train"
    if default == best:
        return "none: the defaults of linnaeus train are the best"
    gain = best["mean"] - default["mean"]
    error = max(row["error"] or 0.0 for row in (best, default))
    return (
        f"{gain:+.3f} over the defaults of linnaeus train ({default['mean']:.3f}, "
        f"{default['rule']}){', less than the error of the folds' if gain < error else ''}"
    )
