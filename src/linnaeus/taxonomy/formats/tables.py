"""Rows of tab- and comma-separated tables, each with the line where it begins."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linnaeus.errors import FormatError
from linnaeus.files import LineReader, open_lines

_LONGEST_CELL = 2**31 - 1
Rows = Iterator[tuple[int, list[str]]]


@contextmanager
def open_rows(path: Path, delimiter: str) -> Iterator[Rows]:
    """The rows of a table; tabs separate without quoting, commas as CSV does.

    Blank lines are left out. Cells are kept as they are, white space included.
    """
    with open_lines(path) as lines:
        yield _tab_rows(lines) if delimiter == "\t" else _csv_rows(lines, delimiter)


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
