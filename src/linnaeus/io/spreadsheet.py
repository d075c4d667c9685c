"""Spreadsheets (xlsx): a sheet with a header row, read as a table of texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linnaeus.errors import shorten
from linnaeus.io.reading import Reading
from linnaeus.io.rows import Example
from linnaeus.io.table import examples
from linnaeus.taxonomy.formats.tables import cells_of, is_table, workbook


def read_xlsx(reading: Reading) -> Iterator[Example]:
    """The examples of a sheet: the one asked for, or the one that holds a table."""
    book = workbook(reading.path)
    try:
        yield from examples(reading, cells_of(_sheet(reading, book)))
    finally:
        book.close()


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
    seen = {
        name: sheet for name, sheet in sheets.items() if sheet.sheet_state == "visible"
    } or sheets
    full = [title for title, sheet in seen.items() if is_table(sheet)] or list(seen)[:1]
    if len(full) > 1:
        said = ", ".join(map(shorten, full))
        message = f"there are {len(full)} sheets with tables: {said}. Say which one to read"
        raise reading.error(f"{message}.", None, f"{message} with --sheet.")
    if len(sheets) > 1:
        reading.notes.append(f"{reading.path.name}: the sheet {shorten(full[0])} is read.")
    return sheets[full[0]]
