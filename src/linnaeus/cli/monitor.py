"""``linnaeus monitor``: whether new rows are like those that a model was trained on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from linnaeus.cli.options import Data, Json, ModelPath, Part, Quiet, SkipBad, option, reads
from linnaeus.cli.output import print_json, print_notes, print_skipped

if TYPE_CHECKING:
    from linnaeus.workflow.monitoring import Monitored

SHOWN = 5  # labels and columns


@reads
def monitor(
    model: ModelPath,
    data: Data,
    part: Part = "test",
    min_confidence: Annotated[float, option("monitor.min_confidence")] = 0.5,
    html: Annotated[Path | None, option("monitor.html")] = None,
    skip_bad: SkipBad = False,
    json: Json = False,
    quiet: Quiet = False,
    options: Any = None,
) -> None:
    """Compare new rows (DATA: a file, or a part of a folder) with those MODEL was trained on.

    Shows unknown words, shifted labels, falling confidence, empty texts and other languages;
    for tables of features missing values, values out of range and means that moved. The rows
    need no labels; if they have some, the quality is compared too. A difference counts if
    chance hardly makes it and if it is large enough to matter.

    [bold]linnaeus monitor model new.csv --html drift.html[/bold]
    """
    from linnaeus import workflow

    workflow.check_arguments(data, model=model, options=options)
    found = workflow.monitor(
        model, data, part=part, min_confidence=min_confidence, skip_bad=skip_bad, options=options,
        html=html,
    )  # fmt: skip
    print_skipped(found.skipped)
    if json:
        print_json(found.to_dict())
        return
    if not quiet:
        print_notes(found.notes)
    _present(found)
    if html is not None:
        print(f"\nThe page is in {html}.")


def _present(found: Monitored) -> None:
    print(f"{found.verdict}\n\n{found.rows:,} rows")
    for figure in found.figures:
        print(f"{'!' if figure.changed else '·'} {figure.message}")
    if found.labels:
        print("\nLabels that grew or shrank:")
        for line in found.labels[: 2 * SHOWN]:
            print(f"  {line['title']}: {line['training']:.1%} -> {line['new']:.1%}")
    if found.words and any(figure.changed for figure in found.figures if figure.name == "unknown"):
        words = ", ".join(f"{word} ({n:,})" for word, n in found.words)
        print(f"\nUnknown, with the rows that hold them: {words}")
    for column in [column for column in found.columns if column.message][3 : 3 + SHOWN]:
        print(f"  {column.message}")
    if found.quality is not None:
        q = found.quality
        print(
            f"\nOn {q['rows']:,} rows with labels: micro F1 {q['micro_f1']:.4f}, macro F1 "
            f"{q['macro_f1']:.4f}, hierarchical F1 {q['hierarchical_f1']:.4f}"
        )
