"""``linnaeus evaluate``: how good a model is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from linnaeus.cli.options import (
    Data,
    Jobs,
    Json,
    ModelPath,
    Part,
    Quiet,
    Rule,
    Seed,
    SkipBad,
    option,
    reads,
)
from linnaeus.cli.output import print_json, print_notes, print_skipped, progress


@reads
def evaluate(
    model: ModelPath,
    data: Data,
    part: Part = "test",
    rule: Rule = None,
    sweep: Annotated[bool, option("evaluate.sweep")] = False,
    plot: Annotated[Path | None, option("evaluate.plot")] = None,
    report: Annotated[Path | None, option("evaluate.report")] = None,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    options: Any = None,
) -> None:
    """Measure MODEL on the test part of DATA: flat, hierarchical and ranking metrics, by level.

    Too many labels, or too few? [bold]linnaeus evaluate MODEL DATA --sweep[/bold] shows the
    trade-off, [bold]--rule NAME[/bold] tries another rule, and [bold]linnaeus rule MODEL NAME
    [/bold] keeps it.
    """
    from linnaeus import workflow

    workflow.check_arguments(data, rule=rule, model=model, options=options)
    with progress(quiet or json) as step:
        found = workflow.evaluate(
            model,
            data,
            part=part,
            rule=rule,
            with_sweep=sweep,
            skip_bad=skip_bad,
            options=options,
            step=step,
        )
    print_skipped(found.part.skipped)
    if not (quiet or json):
        print_notes(found.part.notes)
    if found.seen is not None and found.seen.rows:
        print(f"Warning: {found.seen}", file=sys.stderr)
    if plot is not None:
        (found.report if found.sweep is None else found.sweep).plot(plot)
    if report is not None:
        workflow.write_evaluation(
            found, report, model=str(model), data=str(data), part=part, rule=rule, skip_bad=skip_bad
        )
    if json:
        print_json(found.to_dict())
        return
    print(f"{found.verdict}\n\n{found.report}")
    if found.coverage is not None:
        print(f"\nFor linnaeus predict --min-confidence, on these rows:\n{found.coverage}")
    if found.sweep is not None:
        print(f"\n{found.sweep}")
    for what, file in (("picture", plot), ("report", report)):
        if file is not None:
            print(f"\nThe {what} is in {file}.")
