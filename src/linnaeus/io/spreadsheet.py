"""Spreadsheets (xlsx): a sheet with a header row, read as a table of texts."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from linnaeus.errors import MissingExtraError, shorten
from linnaeus.io.reading import Reading
from linnaeus.io.rows import Example
from linnaeus.io.table import Row, examples


def read_xlsx(reading: Reading) -> Iterator[Example]:
    """The examples of a sheet: the one asked for, or the one that holds a table."""
    book = _workbook(reading)
    try:
        yield from examples(reading, _rows(_sheet(reading, book)))
    finally:
        book.close()


def _workbook(reading: Reading) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(f"Reading {reading.path.name}", "openpyxl", "formats") from None
    try:
        return openpyxl.load_workbook(reading.path, read_only=True, data_only=True)
    except Exception as error:  # damaged archives and parts raise errors of many kinds
        raise reading.error(
            f"it cannot be read as a spreadsheet ({type(error).__name__}: {error}). Save it again "
            f"as .xlsx, or as .csv."
        ) from None


def _sheet(reading: Reading, book: Any) -> Any:
    """The sheet asked for, or the only one with a table of several columns."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    asked = reading.options.sheet
    if asked is not None:
        for title, sheet in sheets.items():
            if title.strip().casefold() == asked.strip().casefold():
                return sheet
        raise reading.error(
            f"there is no sheet {shorten(asked)}. The sheets are {', '.join(map(shorten, sheets))}."
        )
    full = [title for title, sheet in sheets.items() if _is_table(sheet)] or list(sheets)[:1]
    if len(full) > 1:
        said = ", ".join(map(shorten, full))
        message = f"there are {len(full)} sheets with tables: {said}. Say which one to read"
        raise reading.error(f"{message}.", None, f"{message} with --sheet.")
    if len(sheets) > 1:
        reading.notes.append(f"{reading.path.name}: the sheet {shorten(full[0])} is read.")
    return sheets[full[0]]


def _is_table(sheet: Any) -> bool:
    """Whether a sheet has two rows of two cells."""
    rows = (sum(bool(cell) for cell in cells) > 1 for _, cells in _rows(sheet))
    return next((True for several in rows if several and next(rows, False)), False)


def _rows(sheet: Any) -> Iterator[Row]:
    sheet.reset_dimensions()  # what a file says of its size is often wrong
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = [as_text(value) for value in values]
        if any(cells):
            yield number, cells


def as_text(value: Any) -> str:
    """A cell as one would type it.

    >>> as_text(3.0), as_text(None), as_text(True), as_text(" x ")
    ('3', '', 'TRUE', ' x ')
    """
    if value is None or (isinstance(value, str) and value.startswith("#N/A")):
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
