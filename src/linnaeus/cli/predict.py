"""``linnaeus predict``: labels for new rows."""

from __future__ import annotations

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
from linnaeus.cli.output import print_json, print_notes, print_skipped, rate


@reads
def predict(
    model: ModelPath,
    data: Data,
    output: Annotated[Path, option("predict.output")],
    part: Part = "test",
    top: Annotated[int, option("predict.top")] = 0,
    min_confidence: Annotated[float | None, option("predict.min_confidence")] = None,
    by_level: Annotated[bool, option("predict.by_level")] = False,
    rule: Rule = None,
    format: Annotated[str | None, option("predict.format")] = None,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    options: Any = None,
) -> None:
    """Label every row of DATA (a file, or the test part of a folder) and write the result.

    The result has all columns of DATA. Each row also gets its labels, their titles and paths
    from the top of the taxonomy, scores, and probabilities if the method has them. Rows are
    read and written in blocks and keep their order, so files can have any size.
    [bold]linnaeus predict model new.xlsx -o labelled.xlsx --by-level[/bold]

    [bold]--min-confidence 0.8[/bold] adds how sure the model is of each row, and marks the rows
    that a person should see. [bold]linnaeus evaluate[/bold] shows what a number keeps.
    """
    from linnaeus import workflow

    total = None
    if not (quiet or json):
        workflow.check_arguments(data, rule=rule, model=model, options=options)
        total = workflow.count_rows(data, part)
    with rate(quiet or json, total) as told:
        done = workflow.predict(
            model, data, output, part=part, format=format, top=top, rule=rule, skip_bad=skip_bad,
            options=options, min_confidence=min_confidence, by_level=by_level, told=told,
        )  # fmt: skip
    print_skipped(done.skipped)
    if not (quiet or json):
        print_notes(done.notes)
    if json:
        print_json(done.to_dict())
    else:
        speed = done.rows / done.seconds if done.seconds > 0 else 0.0
        print(f"{done.rows:,} rows in {done.seconds:.1f} s ({speed:,.0f} per second): {done.path}")
        if done.review is not None:
            one = done.review == 1
            rows, them = ("row is", "it") if one else ("rows are", "them")
            print(
                f"{done.review:,} {rows} marked for review: the model is less than "
                f"{min_confidence:g} sure of {them}."
            )
