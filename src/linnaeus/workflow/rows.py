"""The rows that a model is judged by: counted, read, and seen to suit it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from linnaeus.errors import FormatError
from linnaeus.io import find_rows
from linnaeus.io.collection import Part
from linnaeus.io.read import check_kind
from linnaeus.model import Model


def count_rows(data: str | Path, part: str, most: int = 64 << 20) -> int | None:
    """How many rows there are, for a plain text file that is quickly counted; else None."""
    file = find_rows(data, part)
    if file.suffix not in (".jsonl", ".csv", ".tsv", ".svm") or file.stat().st_size > most:
        return None
    with file.open("rb") as handle:
        lines = sum(block.count(b"\n") for block in iter(lambda: handle.read(1 << 20), b""))
    return lines - (file.suffix in (".csv", ".tsv"))


def read_examples(
    data: str | Path, model: Model, part: str = "test", skip_bad: bool = False
) -> Part:
    """All rows of a part of a folder, or of a file, with labels of the model's taxonomy."""
    from linnaeus.io import collect, iter_rows

    file = find_rows(data, part)
    skipped: list[str] | None = [] if skip_bad else None
    rows = iter_rows(
        file, taxonomy=model.taxonomy, feature_names=model.feature_names, skipped=skipped
    )
    found = replace(collect(rows), skipped=tuple(skipped or ()))
    if not len(found):
        first = f" {len(skipped)} were bad, the first: {skipped[0]}" if skipped else ""
        raise FormatError(file, f"there are no rows.{first} Check the file.")
    check_kind(found, model.kind, file)
    if not any(found.labels):
        raise FormatError(
            file,
            "no row has a label, so there is nothing to compare with. Put the labels into a column "
            "or field called 'labels', or use linnaeus predict.",
        )
    return found
