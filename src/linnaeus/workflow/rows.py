"""The rows that a model is judged by: counted, read, and seen to suit it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from linnaeus.io import collect, find_rows, open_reading
from linnaeus.io.collection import Part
from linnaeus.io.columns import Layout
from linnaeus.io.joining import joined_rows
from linnaeus.io.options import ReadOptions
from linnaeus.io.read import by_part
from linnaeus.io.reading import Reading
from linnaeus.io.stream import check_kind, rows_of
from linnaeus.model import Model
from linnaeus.taxonomy import Taxonomy


def count_rows(data: str | Path, part: str, most: int = 64 << 20) -> int | None:
    """How many rows there are, for a plain text file that is quickly counted; else None."""
    file = find_rows(data, part)
    if file.suffix not in (".jsonl", ".csv", ".tsv", ".svm") or file.stat().st_size > most:
        return None
    with file.open("rb") as handle:
        lines = sum(block.count(b"\n") for block in iter(lambda: handle.read(1 << 20), b""))
    return lines - (file.suffix in (".csv", ".tsv"))


def open_rows(
    data: str | Path,
    part: str,
    model: Model,
    skip_bad: bool = False,
    options: ReadOptions | Mapping[str, Any] | None = None,
    taxonomy: Taxonomy | None = None,
) -> Reading:
    """A part of a folder, or a file, to be read as the model's training rows were."""
    return open_reading(
        find_rows(data, part), taxonomy=taxonomy, feature_names=model.feature_names,
        skipped=[] if skip_bad else None, options=options,
        before=model.about.get("columns"),
    )  # fmt: skip


def read_examples(
    data: str | Path,
    model: Model,
    part: str = "test",
    skip_bad: bool = False,
    options: ReadOptions | Mapping[str, Any] | None = None,
) -> Part:
    """All rows of a part of a folder, or of a file, with labels of the model's taxonomy."""
    reading = open_rows(data, part, model, skip_bad, options, model.taxonomy)
    found = collect(rows_of(reading))
    skipped = tuple(reading.skipped or ())
    if not len(found):
        first = f" {len(skipped)} were bad, the first: {skipped[0]}" if skipped else ""
        raise reading.error(f"there are no rows.{first} Check the file.")
    reading.check_share()
    check_kind(found, model.kind, reading.path)
    if not any(found.labels):
        said = "no row has a label, so there is nothing to compare with. "
        raise reading.error(
            f"{said}Put the labels into a column or field called 'labels'.",
            None,
            f"{said}Name the column of the labels with --labels, or use linnaeus predict.",
        )
    found = replace(found, skipped=skipped, notes=tuple(reading.say()), columns=reading.columns)
    return found if reading.layout is None else _arranged(found, reading.layout, part)


def _arranged(rows: Part, layout: Layout, part: str) -> Part:
    """The rows of the part asked for, where a column tells; each thing once."""
    if layout.part is not None:
        rows = by_part(rows, layout.names[layout.part]).get(part, rows)
    return joined_rows(rows, layout.id is not None)
