"""Rows of tables, each with the line where it begins: separated text, or a sheet of a workbook."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from linnaeus.errors import FormatError, MissingExtraError, shorten
from linnaeus.files import LineReader, encoding_of, open_lines
from linnaeus.taxonomy.formats.notes import note

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_LONGEST_CELL = 2**31 - 1
_HEAD, _WIDTH = 50, 10_000  # how many lines are looked at, and how long they may be
Rows = Iterator[tuple[int, list[str]]]


@contextmanager
def open_text(path: Path) -> Iterator[LineReader]:
    """The lines of a file that people made, in whatever encoding; one but UTF-8 is noted."""
    encoding = encoding_of(path)
    if encoding != "utf-8-sig":
        note(f"{path.name} was read as {encoding.upper()}")
    with open_lines(path, encoding) as lines:
        yield lines


@contextmanager
def open_rows(path: Path, delimiter: str, quoted: bool | None = None) -> Iterator[Rows]:
    """The rows of a table; tabs separate without quoting, the others as CSV does.

    Blank lines are left out. Cells are kept as they are, white space included.
    """
    quoted = delimiter != "\t" if quoted is None else quoted
    with open_text(path) as lines:
        yield _csv_rows(lines, delimiter) if quoted else _tab_rows(lines)


def delimiter_of(path: Path, usual: str) -> str:
    """What separates the columns: as is usual, unless only another sign gives equal rows."""
    with open_text(path) as lines:
        head = list(islice((text + "\n" for text in lines), _HEAD))
    if any(len(text) > _WIDTH for text in head) or _is_even(head, usual):
        return usual
    for other, name in DELIMITERS.items():
        if other != usual and _is_even(head, other) and usual not in head[0]:
            note(f"{name} separate the columns of {path.name}")
            return other
    return usual


def _is_even(head: list[str], delimiter: str) -> bool:
    """Whether all rows have the same number of columns, two or more."""
    try:
        rows = [row for row in csv.reader(head, delimiter=delimiter) if row]
    except csv.Error:
        return False
    cut = len(head) == _HEAD and len(rows) > 1  # the last row may go on below
    widths = set(map(len, rows[:-1] if cut else rows))
    return len(widths) == 1 and widths != {1}


def stripped(path: Path, rows: Rows) -> Rows:
    """Rows without the blanks around their cells; a note says where there were any."""
    blanks = 0
    for line, cells in rows:
        clean = [cell.strip() for cell in cells]
        blanks += clean != cells
        yield line, clean
    if blanks:
        note(f"blanks around names were left out on {blanks:,} lines of {path.name}")


def workbook(path: Path) -> Any:
    """An open spreadsheet, of which only the values are read."""
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise MissingExtraError("Reading .xlsx files", "openpyxl", "formats") from None
    if not path.is_file():
        encoding_of(path)  # which says what is wrong
    try:
        return load_workbook(path, read_only=True, data_only=True)
    except (InvalidFileException, BadZipFile, OSError, KeyError, ValueError, EOFError) as error:
        raise FormatError(
            path, f"this is no workbook ({error}). Save it as .xlsx or .csv again."
        ) from None


def sheet_rows(path: Path) -> Rows:
    """The rows of the first visible sheet of a workbook that holds a table, all equally wide."""
    sheets = [s for s in workbook(path).worksheets if s.sheet_state == "visible" and [*cells_of(s)]]
    wide = [s for s in sheets if any(sum(map(bool, cells)) > 1 for _, cells in cells_of(s))]
    full = [sheet for sheet in wide if is_table(sheet)] or wide or sheets
    if len(sheets) > 1:
        note(f"sheet {shorten(full[0].title)} of {path.name} was read, one of {len(sheets)}")
    rows = [*cells_of(full[0])] if full else []
    width = max((len(cells) for _, cells in rows), default=0)
    return iter([(line, cells + [""] * (width - len(cells))) for line, cells in rows])


def is_table(sheet: Any) -> bool:
    """Whether a sheet has two rows of two cells."""
    rows = (sum(bool(cell) for cell in cells) > 1 for _, cells in cells_of(sheet))
    return next((True for several in rows if several and next(rows, False)), False)


def cells_of(sheet: Any) -> Rows:
    """The rows of a sheet that hold anything."""
    sheet.reset_dimensions()  # what a file says of its size is often wrong
    for line, values in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = [as_text(value) for value in values]
        if any(cells):
            yield line, cells


def as_text(value: Any) -> str:
    """A cell as one would type it.

    >>> as_text(3.0), as_text(None), as_text(True), as_text(" x ")
    ('3', '', 'TRUE', ' x ')
    """
    if value is None or value == "#N/A":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _tab_rows(lines: LineReader) -> Rows:
    for text in lines:
        if "\t" in text or text.strip():
            yield lines.line, text.split("\t")


def _csv_rows(lines: LineReader, delimiter: str) -> Rows:
    reader = csv.reader((text + "\n" for text in lines), delimiter=delimiter, strict=True)
    while True:
        first = lines.line + 1
        limit = csv.field_size_limit(_LONGEST_CELL)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FormatError(
                lines.path,
                f"this is not valid CSV ({error}). Close every quote, and write a quote inside "
                f'quotes twice, as in "a ""b"" c".',
                first,
            ) from None
        finally:
            csv.field_size_limit(limit)
        if len(cells) > 1 or "".join(cells).strip():
            yield first, cells
