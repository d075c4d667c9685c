"""Tables with a header line: csv, tsv and the like.

What the columns are is found out by `linnaeus.io.columns`; in a table of texts all others are
metadata, and in one of features an empty cell (or ``nan``) is a missing value. Cells may be quoted,
with line breaks inside. Encoding and delimiter are guessed where they are not what the name of the
file says, and so is a title above the header.
"""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import shorten
from linnaeus.files import encoding_of, open_lines
from linnaeus.io.columns import Layout, Sample
from linnaeus.io.label_columns import is_yes
from linnaeus.io.numbers import to_numbers
from linnaeus.io.reading import SAMPLE, Reading, each_row
from linnaeus.io.rows import BadRowError, Example
from linnaeus.taxonomy.formats.tables import DELIMITERS

HEAD = 500  # lines by which the delimiter is found out
_SEP = re.compile(r"sep=.?$")
MISSING = {"na", "n/a", "#n/a", "null", "none", "?", "-", "."}
Row = tuple[int, list[str]]
_FOOTER = re.compile(
    r"(grand |sub)?totals?\b|sum\b|summe\b|gesamt|insgesamt|exported\b|generated\b|created\b|"
    r"printed\b|report\b|"
    r"source:|quelle:|stand:|page \d|\(?\d[\d,.]* (rows?|records?|items?|zeilen)\b",
    re.I,
)


def read_csv(reading: Reading) -> Iterator[Example]:
    """The examples of a comma-separated table."""
    return _read(reading, ",")


def read_tsv(reading: Reading) -> Iterator[Example]:
    """The examples of a tab-separated table."""
    return _read(reading, "\t")


def _read(reading: Reading, usual: str) -> Iterator[Example]:
    if reading.options.sheet is not None:
        reading.notes.append(f"{reading.path.name} has no sheets: the one asked for is not used.")
    dialect = _dialect(reading, usual)
    yield from examples(reading, _rows(reading, dialect), dialect.delimiter)


def _spoken(encoding: str) -> str:
    names = {"cp1252": "Windows-1252 (Western)", "latin-1": "Latin-1"}
    return names.get(encoding, encoding.upper())


def examples(reading: Reading, rows: Iterator[Row], delimiter: str = "") -> Iterator[Example]:
    """The examples of a table, whose first row is the header."""
    dtype = reading.number_type(np.float64)
    first = list(islice(rows, SAMPLE + 1))
    if not first:
        raise reading.error("the file is empty. A table begins with a header line.")
    first = _without_footer(reading, first) if len(first) <= SAMPLE else first
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
    """How many rows stand above the header: fewer than half as wide as the rows of the table."""
    width = statistics.mode(_filled(cells) for cells in rows)
    n = next((i for i, cells in enumerate(rows) if 2 * _filled(cells) > max(2, width)), 0)
    return n if n < len(rows) - 1 and width > 1 else 0


def _without_footer(reading: Reading, rows: list[Row]) -> list[Row]:
    """Rows without those at the end that are no rows: a total, or who made the table and when."""
    width = statistics.mode(_filled(cells) for _, cells in rows)
    kept = rows
    while len(kept) > 3 and width > 2 and _is_footer(kept[-1][1], width):
        kept = kept[:-1]
    if len(kept) < len(rows):
        shown = shorten(" ".join(rows[len(kept)][1]).strip())
        reading.notes.append(
            f"{reading.path.name}: what stands below the rows is passed over, {shown}."
        )
    return kept


def _is_footer(cells: list[str], width: int) -> bool:
    filled = [cell.strip() for cell in cells if cell.strip()]
    return 2 * len(filled) <= width and _FOOTER.match(filled[0]) is not None


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
    if layout.marks:
        return reading.labels.resolve([layout.names[j] for j in layout.marks if is_yes(cells[j])])
    found = [label for j in layout.label_columns for label in reading.labels.split(cells[j])]
    return list(dict.fromkeys(found))


# -- lines to cells -------------------------------------------------------------------------------


class Dialect(NamedTuple):
    """How lines are read, and cut into cells."""

    delimiter: str
    blanks: bool = False  # whether blanks behind a delimiter do not count, as in a, "b"
    escapes: bool = False  # whether a quote within quotes is written \\"
    encoding: str | None = None

    def reader(self, lines: Iterable[str], strict: bool = True) -> Any:
        """The cells of lines."""
        how: dict[str, Any] = {"escapechar": "\\", "doublequote": False} if self.escapes else {}
        lines = (line.replace("\\n", " ") for line in lines) if self.escapes else lines
        return csv.reader(
            (f"{line}\n" for line in lines), delimiter=self.delimiter,
            skipinitialspace=self.blanks, strict=strict, **how,
        )  # fmt: skip


def _dialect(reading: Reading, usual: str) -> Dialect:
    """In which encoding the file is, what separates cells, and how they are quoted."""
    encoding = reading.options.encoding or encoding_of(reading.path)
    if reading.options.encoding is None and encoding not in ("utf-8-sig", "utf-8"):
        reading.notes.append(f"{reading.path.name} is read as {_spoken(encoding)}.")
    with open_lines(reading.path, encoding) as lines:
        head = list(islice(lines, HEAD))
    delimiter = reading.options.delimiter or _delimiter(reading, head, usual)
    text = "\n".join(head)
    end = re.escape(delimiter)
    blanks = delimiter != "\t" and re.search(rf'{end} +"[^"]*"({end}|\n)', text) is not None
    quotes = re.search(rf'[^"{end}]""[^"{end}]', text)  # twice, as is usual
    return Dialect(delimiter, blanks, '\\"' in text and quotes is None, encoding)


def _delimiter(reading: Reading, head: list[str], usual: str) -> str:
    """What separates cells: what the name of the file says, unless only another cuts the lines.

    Commas in the texts of a table of semicolons may be as many in every row; its header has none.
    """
    told = re.fullmatch(r"sep=(.)", head[0].strip(' "')) if head else None
    if told is not None:  # as some programs write it for others
        return told[1]
    counted = {d: _width(head, d) for d in DELIMITERS}
    widths, first = ({d: found[i] for d, found in counted.items()} for i in (0, 1))
    best = max(widths, key=lambda d: (widths[d], d == usual))
    whole = first[usual] == 1 and first[best] == widths[best]  # only the best cuts the header
    if widths[usual] > 1 and widths[usual] >= 0.5 * widths[best] and not whole:
        return usual
    if best == usual or widths[best] < 2:
        return usual
    reading.notes.append(f"{reading.path.name} is separated by {DELIMITERS[best]}.")
    return best


def _width(head: list[str], delimiter: str) -> tuple[float, int]:
    """The number of columns under this delimiter, less the more rows have another number.

    Also the number of columns of the first row.
    """
    rows = []
    try:
        for cells in islice(Dialect(delimiter).reader(head, strict=False), 100):
            if cells:
                rows.append(len(cells))
    except csv.Error:
        pass
    if not rows:
        return 0.0, 0
    common = statistics.mode(rows)
    return common * sum(n == common for n in rows) / len(rows), rows[0]


def _rows(reading: Reading, dialect: Dialect) -> Iterator[Row]:
    """The rows of a table with the line on which each begins; blank lines are passed over."""
    limit = np.iinfo(np.int32).max
    if csv.field_size_limit() < limit:  # the module's own limit, 128 kB, is for all its readers
        csv.field_size_limit(limit)
    with open_lines(reading.path, dialect.encoding) as lines:
        reader = dialect.reader(lines)
        while True:
            start = lines.line + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                _unreadable(reading, start, lines.line, str(error))
                continue
            if cells is None:
                return
            if any(cell.strip() for cell in cells) and not (start == 1 and _SEP.match(cells[0])):
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
