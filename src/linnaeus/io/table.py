"""Tables with a header line: csv and tsv.

Columns called `id` and `labels` are what they say. With a column `text` this is a table of texts,
and all other columns are metadata; without one all other columns are features, and an empty cell
(or ``nan``) is a missing value. Cells may be quoted, with line breaks inside.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import shorten
from linnaeus.files import open_lines
from linnaeus.io.numbers import to_numbers
from linnaeus.io.reading import Reading, check_columns, each_row
from linnaeus.io.rows import BadRowError, Example


class Layout(NamedTuple):
    """Where the columns of a table are; `rest` are the features, or the metadata beside a text."""

    id: int | None
    labels: int | None
    text: int | None
    rest: list[str]
    special: list[int]  # positions of the named columns, last first


def lay_out(reading: Reading, names: list[str], line: int | None) -> Layout:
    """Find the columns by their names, and check the features against the other parts."""
    check_columns(reading, names, line)
    at = {name: names.index(name) for name in ("id", "labels", "text") if name in names}
    if "labels" not in at:
        reading.without_labels("column 'labels'", line, names)
    rest = [name for name in names if name not in at]
    if "text" not in at:
        if not rest:
            raise reading.error(
                f"the columns {', '.join(names)} hold neither texts nor features. Add a column "
                f"'text', or one column for each feature.",
                line,
            )
        reading.match_features(rest, line)
    special = sorted(at.values(), reverse=True)
    return Layout(at.get("id"), at.get("labels"), at.get("text"), rest, special)


def read_csv(reading: Reading) -> Iterator[Example]:
    """The examples of a comma-separated table."""
    return _read(reading, ",")


def read_tsv(reading: Reading) -> Iterator[Example]:
    """The examples of a tab-separated table."""
    return _read(reading, "\t")


def _read(reading: Reading, delimiter: str) -> Iterator[Example]:
    dtype = reading.number_type(np.float64)
    rows = _rows(reading, delimiter)
    line, names = next(rows, (None, []))
    if line is None:
        raise reading.error("the file is empty. A table begins with a header line.")
    layout = lay_out(reading, [name.strip() for name in names], line)

    def parse(number: int, cells: list[str]) -> Example:
        if len(cells) != len(names):
            raise BadRowError(
                f"{len(cells)} columns, where the header has {len(names)}; the row begins with "
                f"{shorten(cells[0])}. Quote cells that contain {delimiter!r}, and check that "
                f"every quote is closed."
            )
        return _example(number, cells, layout, reading, dtype)

    yield from each_row(reading, rows, parse)


def _example(
    number: int, cells: list[str], layout: Layout, reading: Reading, dtype: Any
) -> Example:
    key = cells[layout.id] if layout.id is not None and cells[layout.id] else str(number)
    labels = reading.labels.split(cells[layout.labels]) if layout.labels is not None else []
    text = None if layout.text is None else cells[layout.text]
    for position in layout.special:
        del cells[position]
    if text is None:
        return Example(key, labels, x=to_numbers(cells, layout.rest, dtype, missing=""))
    others = {n: cell if cell else None for n, cell in zip(layout.rest, cells, strict=True)}
    return Example(key, labels, text, metadata=others)


def _rows(reading: Reading, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with the line on which each begins; blank lines are passed over."""
    limit = np.iinfo(np.int32).max
    if csv.field_size_limit() < limit:  # the module's own limit, 128 kB, is for all its readers
        csv.field_size_limit(limit)
    with open_lines(reading.path) as lines:
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
        while True:
            start = lines.line + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                _unreadable(reading, start, lines.line, str(error))
                continue
            if cells is None:
                return
            if cells:
                yield start, cells


def _unreadable(reading: Reading, start: int, end: int, reason: str) -> None:
    """A row with quotes in the wrong place; fatal when it took further lines with it."""
    remedy = "Write a quote inside a quoted cell twice, and close every quote."
    if end > start:
        raise reading.error(
            f"a quote in this row is closed only on line {end}, or never ({reason}). {remedy}",
            start,
        )
    reading.bad(f"the quotes in this row do not match ({reason}). {remedy}", start)
