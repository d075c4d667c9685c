"""``linnaeus predict``: labels for new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from linnaeus.cli.options import (
    Address,
    Backend,
    Jobs,
    Json,
    ModelPath,
    Part,
    Quiet,
    Rule,
    Seed,
    SkipBad,
    argument,
    option,
    reads,
)
from linnaeus.cli.output import print_json, print_notes, print_skipped, rate

if TYPE_CHECKING:
    from linnaeus.workflow import Predicted, PredictedFiles


@reads
def predict(
    model: ModelPath,
    data: Annotated[list[Path], argument("predict.data")],
    output: Annotated[str, option("predict.output")],
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
    backend: Backend = None,
    address: Address = None,
    checkpoint: Annotated[Path | None, option("predict.checkpoint")] = None,
    options: Any = None,
) -> None:
    """Label every row of DATA (a file, or the test part of a folder) and write the result.

    The result has all columns of DATA. Each row also gets its labels, their titles and paths
    from the top of the taxonomy, scores, and probabilities if the method has them. Rows are
    read and written in blocks and keep their order, so files can have any size.
    [bold]linnaeus predict model new.xlsx -o labelled.xlsx --by-level[/bold]

    Several files (or a folder of files) make a folder with a file each:
    [bold]linnaeus predict model new/*.csv -o labelled/ --jobs 4[/bold]

    [bold]--min-confidence 0.8[/bold] adds how sure the model is of each row, and marks the rows
    that a person should see. [bold]linnaeus evaluate[/bold] shows what a number keeps.
    """
    from linnaeus import workflow

    for path in data:
        if path.exists() or not set(str(path)) & set("*?["):
            workflow.check_arguments(path)
    workflow.check_arguments(rule=rule, model=model, options=options)
    many = workflow.are_many(data, output)
    silent = quiet or json
    total = None if silent else _count(data, part, many)
    asked: dict[str, Any] = {
        "part": part, "format": format, "top": top, "rule": rule, "skip_bad": skip_bad,
        "options": options, "min_confidence": min_confidence, "by_level": by_level, "jobs": jobs,
        "backend": backend, "address": address, "checkpoint": checkpoint,
    }  # fmt: skip
    done: Predicted | PredictedFiles
    with rate(silent, total) as told:
        if many:
            done = workflow.predict_files(model, data, output, told=told, **asked)
        else:
            done = workflow.predict(model, data[0], output, told=told, **asked)
    whole = done.whole() if many else done
    print_skipped(whole.skipped)
    if json:
        print_json(done.to_dict())
        return
    if not quiet:
        print_notes(whole.notes)
    _present(whole, done, min_confidence)


def _count(data: list[Path], part: str, many: bool) -> int | None:
    from linnaeus import workflow

    found: int | None = (
        workflow.count_all(data, part) if many else workflow.count_rows(data[0], part)
    )
    return found


def _present(whole: Predicted, done: Predicted | PredictedFiles, least: float | None) -> None:
    speed = whole.rows / whole.seconds if whole.seconds > 0 else 0.0
    files = getattr(done, "files", None)
    of = "" if files is None else f" of {len(files):,} files"
    print(
        f"{whole.rows:,} rows{of} in {whole.seconds:.1f} s ({speed:,.0f} per second): {whole.path}"
    )
    resumed = getattr(done, "resumed", 0)
    if resumed:
        print(f"{resumed:,} of the files were there already, from an earlier run.")
    if whole.review is not None:
        one = whole.review == 1
        rows, them = ("row is", "it") if one else ("rows are", "them")
        print(
            f"{whole.review:,} {rows} marked for review: the model is less than {least:g} sure of "
            f"{them}."
        )
