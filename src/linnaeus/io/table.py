"""Tables with a header line: csv, tsv and the like.

What the columns are is found out by `linnaeus.io.columns`; in a table of texts all others are
metadata, and in one of features an empty cell (or ``nan``) is a missing value. Cells may be quoted,
with line breaks inside. Encoding and delimiter are guessed where they are not what the name of the
file says, and so is a title above the header.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from linnaeus.errors import shorten
from linnaeus.files import encoding_of, open_lines
from linnaeus.io.columns import Layout, Sample
from linnaeus.io.numbers import to_numbers
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example
from linnaeus.taxonomy.formats.tables import DELIMITERS

SAMPLE = 2000  # rows that are looked at before the first is read
MISSING = {"na", "n/a", "#n/a", "null", "none", "?", "-", "."}
Row = tuple[int, list[str]]


def read_csv(reading: Reading) -> Iterator[Example]:
    """The examples of a comma-separated table."""
    return _read(reading, ",")


def read_tsv(reading: Reading) -> Iterator[Example]:
    """The examples of a tab-separated table."""
    return _read(reading, "\t")


def _read(reading: Reading, usual: str) -> Iterator[Example]:
    encoding = reading.options.encoding or encoding_of(reading.path)
    if reading.options.encoding is None and encoding not in ("utf-8-sig", "utf-8"):
        reading.notes.append(f"{reading.path.name} is read as {_spoken(encoding)}.")
    delimiter = reading.options.delimiter or _delimiter(reading, encoding, usual)
    yield from examples(reading, _rows(reading, delimiter, encoding), delimiter)


def _spoken(encoding: str) -> str:
    names = {"cp1252": "Windows-1252 (Western)", "latin-1": "Latin-1"}
    return names.get(encoding, encoding.upper())


def examples(reading: Reading, rows: Iterator[Row], delimiter: str = "") -> Iterator[Example]:
    """The examples of a table, whose first row is the header."""
    dtype = reading.number_type(np.float64)
    first = list(islice(rows, SAMPLE + 1))
    if not first:
        raise reading.error("the file is empty. A table begins with a header line.")
    skipped = _above_header([cells for _, cells in first])
    if skipped:
        reading.notes.append(
            f"{reading.path.name}: what stands above the header is passed over, "
            f"{shorten(' '.join(first[0][1]).strip())}."
        )
    line, header = first[skipped]
    names = [name.strip() for name in header]
    while names and not names[-1] and len(names) > 1:
        names.pop()
    sample = Sample(names, [cells for _, cells in first[skipped + 1 :]])
    layout = reading.lay_out(sample, line)
    decimal = _decimal(sample, layout)
    if decimal == ",":
        reading.notes.append(f"{reading.path.name}: numbers are read with a decimal comma.")
    make = _maker(layout, reading, dtype, decimal)

    def parse(number: int, cells: list[str]) -> Example:
        return make(number, _fitted(cells, len(names), delimiter))

    yield from each_row(reading, chain(first[skipped + 1 :], rows), parse)


def _fitted(cells: list[str], n: int, delimiter: str) -> list[str]:
    """A row with as many cells as the header; empty ones at the end do not count."""
    while len(cells) > n and not cells[-1].strip():
        cells = cells[:-1]
    if not delimiter:  # a spreadsheet leaves them out
        cells = cells + [""] * (n - len(cells))
    if len(cells) != n:
        raise BadRowError(
            f"{len(cells)} columns, where the header has {n}; the row begins with "
            f"{shorten(cells[0])}. Quote cells that contain {delimiter!r}, and check that every "
            f"quote is closed.",
            kind="wrong_columns",
        )
    return cells


def _above_header(rows: list[list[str]]) -> int:
    """How many rows stand above the header: a title of one cell, in a table of several columns."""
    width = statistics.mode(_filled(cells) for cells in rows)
    n = next((i for i, cells in enumerate(rows) if _filled(cells) > 1), 0)
    return n if n < len(rows) - 1 and width > 1 and all(_filled(c) < 2 for c in rows[:n]) else 0


def _filled(cells: Iterable[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _decimal(sample: Sample, layout: Layout) -> str:
    """The decimal sign of the features: a comma if some number has one, and none has a point."""
    signs = {",": False, ".": False}
    for j in layout.features:
        for cell in sample.cells(j):
            for sign in signs:
                signs[sign] |= sign in cell
    return "," if signs[","] and not signs["."] else "."


def _maker(
    layout: Layout, reading: Reading, dtype: Any, decimal: str
) -> Callable[[int, list[str]], Example]:
    """What makes an example of the number and the cells of a row."""
    names, rest = layout.names, layout.rest
    features = [names[j] for j in layout.features]
    kept = range(len(names)) if reading.keeps else rest

    def make(number: int, cells: list[str]) -> Example:
        key = str(number)
        if layout.id is not None and cells[layout.id].strip():
            key = cells[layout.id].strip()
        labels = _labels(layout, reading, cells)
        others = {names[j]: cells[j] if cells[j] else None for j in kept}
        if layout.text:
            text = "\n".join([cells[j] for j in layout.text if cells[j]])
            return Example(key, labels, text, metadata=others)
        values = [cells[j] for j in layout.features]
        if decimal == ",":
            values = [value.replace(",", ".") for value in values]
        try:
            x = to_numbers(values, features, dtype, missing="")
        except BadRowError:
            values = ["" if v.strip().casefold() in MISSING else v for v in values]
            x = to_numbers(values, features, dtype, missing="")
        return Example(key, labels, x=x, metadata=others or None)

    return make


def _labels(layout: Layout, reading: Reading, cells: list[str]) -> list[Any]:
    if layout.levels:
        return reading.labels.level(cells[j] for j in layout.levels)
    return [] if layout.labels is None else reading.labels.split(cells[layout.labels])


# -- lines to cells -------------------------------------------------------------------------------


def _delimiter(reading: Reading, encoding: str, usual: str) -> str:
    """What separates cells: what the name of the file says, unless only another cuts the lines.

    Commas in the texts of a table of semicolons may be as many in every row; its header has none.
    """
    counted = {d: _width(reading, d, encoding) for d in DELIMITERS}
    widths, first = ({d: found[i] for d, found in counted.items()} for i in (0, 1))
    best = max(widths, key=lambda d: (widths[d], d == usual))
    whole = first[usual] == 1 and first[best] == widths[best]  # only the best cuts the header
    if widths[usual] > 1 and widths[usual] >= 0.5 * widths[best] and not whole:
        return usual
    if best == usual or widths[best] < 2:
        return usual
    reading.notes.append(f"{reading.path.name} is separated by {DELIMITERS[best]}.")
    return best


def _width(reading: Reading, delimiter: str, encoding: str) -> tuple[float, int]:
    """The number of columns under this delimiter, less the more rows have another number.

    Also the number of columns of the first row.
    """
    with open_lines(reading.path, encoding) as lines:
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
        rows = []
        try:
            for cells in islice(reader, 100):
                if cells:
                    rows.append(len(cells))
        except csv.Error:
            pass
    if not rows:
        return 0.0, 0
    common = statistics.mode(rows)
    return common * sum(n == common for n in rows) / len(rows), rows[0]


def _rows(reading: Reading, delimiter: str, encoding: str) -> Iterator[Row]:
    """The rows of a table with the line on which each begins; blank lines are passed over."""
    limit = np.iinfo(np.int32).max
    if csv.field_size_limit() < limit:  # the module's own limit, 128 kB, is for all its readers
        csv.field_size_limit(limit)
    with open_lines(reading.path, encoding) as lines:
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
            if any(cell.strip() for cell in cells):
                yield start, cells


def _unreadable(reading: Reading, start: int, end: int, reason: str) -> None:
    """A row with quotes in the wrong place; fatal when it took further lines with it."""
    remedy = "Write a quote inside a quoted cell twice, and close every quote."
    if end > start:
        raise reading.error(
            f"a quote in this row is closed only on line {end}, or never ({reason}). {remedy}",
            start,
        )
    reading.rows += 1
    message = f"the quotes in this row do not match ({reason}). {remedy}"
    reading.bad(BadRowError(message, kind="quotes"), start)
