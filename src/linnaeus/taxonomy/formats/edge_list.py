"""Edge lists, the formats ``tsv``, ``csv`` and ``xlsx``: a parent and a child on every line.

A header says which column is which, in any order (`records`); a header of levels makes every row
a path (`level_columns`). Without a header the parent comes first, then the child and perhaps its
title; a file that would then be upside down is refused. A line with an empty parent declares a
root. TSV knows no quoting: a cell is what stands between two tabs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from linnaeus.errors import FormatError, shorten
from linnaeus.taxonomy.formats import beside, headers, level_columns, records
from linnaeus.taxonomy.formats.draft import Edge, add_title, build, column_error
from linnaeus.taxonomy.formats.notes import note
from linnaeus.taxonomy.formats.tables import (
    DELIMITERS,
    Rows,
    delimiter_of,
    open_rows,
    sheet_rows,
    stripped,
)
from linnaeus.taxonomy.formats.writing import lines_in_order, reject_characters
from linnaeus.taxonomy.taxonomy import Taxonomy

_ABOVE = 20  # rows that may stand above a header


def read_tsv(path: Path) -> Taxonomy:
    """Read a tab-separated table."""
    return _read(path, "\t")


def read_csv(path: Path) -> Taxonomy:
    """Read a comma-separated table."""
    return _read(path, ",")


def read_xlsx(path: Path) -> Taxonomy:
    """Read the first sheet of a workbook."""
    return of_rows(path, sheet_rows(path), "\t")


def _read(path: Path, usual: str) -> Taxonomy:
    delimiter = delimiter_of(path, usual)
    with open_rows(path, delimiter, quoted=delimiter != "\t" or usual != "\t") as rows:
        return of_rows(path, rows, delimiter)


def of_rows(path: Path, rows: Rows, delimiter: str) -> Taxonomy:
    """The taxonomy of a table's rows, the header first if there is one."""
    rows = _below_titles(path, rows)
    line, first = next(rows, (1, list[str]()))
    if not first:
        return build(path, [])
    if levels := level_columns.levels(first):
        return level_columns.read(path, first, levels, rows)
    if headers.is_header(first):
        return records.read(path, line, first, rows, delimiter)
    return _plain(path, chain([(line, first)], rows), delimiter)


def _below_titles(path: Path, rows: Rows) -> Rows:
    """The rows from the header on, where titles of one cell stand above it."""
    above = list(_titles(rows))
    if len(above) > 1 and _names_columns(above[-1][1]):
        note(f"what stands above the header of {path.name} was passed over, {_shown(above[0][1])}")
        above = above[-1:]
    return chain(above, rows)


def _titles(rows: Rows) -> Iterator[tuple[int, list[str]]]:
    """The first rows that have one filled cell or none, and the row below them."""
    for line, cells in islice(rows, _ABOVE):
        yield line, cells
        if sum(bool(cell.strip()) for cell in cells) > 1:
            return


def _names_columns(cells: list[str]) -> bool:
    return headers.is_header(cells) or len(level_columns.levels(cells)) > 1


def _shown(cells: list[str]) -> str:
    return shorten(" ".join(cell for cell in cells if cell.strip()))


def _plain(path: Path, rows: Rows, delimiter: str) -> Taxonomy:
    """Rows without a header: parent, child, and perhaps a title."""
    edges: list[Edge] = []
    lines: list[int | None] = []
    titles: dict[str, str] = {}
    width = 0
    for line, cells in stripped(path, rows):
        width = width or len(cells)
        _check(path, line, cells, width, delimiter)
        if width == 3:
            add_title(path, titles, cells[1], cells[2], line)
        edges.append((cells[0] or None, cells[1]))
        lines.append(line)
    edges = _without_nothing(edges)
    records.refuse_child_first(path, edges)
    note("no header: the first column is the parent, the second the child", guess=False)
    nodes = {name for pair in edges for name in pair}
    titles = beside.titles(path, nodes) | titles
    return build(path, edges, titles, beside.related(path, nodes), lines)


def _check(path: Path, line: int, cells: list[str], width: int, delimiter: str) -> None:
    text = delimiter.join(cells)
    if width not in (2, 3):
        between = DELIMITERS.get(delimiter, "tabs")
        remedy = (
            f"Write parent and child (and a title) with {between} between them, the parent empty "
            f"for a root; other columns need a header line that says which is which, such as id, "
            f"name, parent_id."
        )
        raise column_error(path, line, text, len(cells), remedy)
    if len(cells) != width:
        raise column_error(path, line, text, len(cells), f"Every line needs {width}, as the first.")
    if not cells[1]:
        ask = f" {records.QUESTION}." if cells[0] else ""
        raise FormatError(
            path, f"the name of the child is empty. Write a name, or remove the line.{ask}", line
        )


def _without_nothing(edges: list[Edge]) -> list[Edge]:
    """Parents such as NULL, which are no node of their own, are none."""
    words = {parent for parent, _ in edges if parent and parent.casefold() in records.NOTHING}
    words -= {child for _, child in edges}
    if not words:
        return edges
    note(f"the parent {shorten(min(words))} stands for none")
    return [(None if parent in words else parent, child) for parent, child in edges]


def write_tsv(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write a tab-separated edge list: two plain columns where these say everything."""
    reject_characters(taxonomy, "\t\n\r", "a tab or a line break", "csv or json")
    handle.writelines("\t".join(row) + "\n" for row in _rows(taxonomy))


def write_csv(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write a comma-separated edge list, quoted where needed."""
    reject_characters(taxonomy, "\r", "a carriage return", "json")
    csv.writer(handle, lineterminator="\n").writerows(_rows(taxonomy))


def _rows(taxonomy: Taxonomy) -> Iterator[list[str]]:
    rows = [[parent or "", child] for parent, child in lines_in_order(taxonomy)]
    if not (taxonomy.titles or taxonomy.related or _mistakable(rows)):
        yield from rows
        return
    yield records.HEADER
    titles = dict(taxonomy.titles)  # each is written once, on the first line of its node
    for parent, child in rows:
        yield [parent, child, titles.pop(child, ""), ""]
    for a, b in taxonomy.related:
        yield [a, b, "", "related"]


def _mistakable(rows: list[list[str]]) -> bool:
    """Whether plain rows would be read as something else."""
    first = rows[0]
    names = {name for row in rows for name in row}
    return (
        headers.is_header(first)
        or bool(level_columns.levels(first))
        or first[0][:1] == "\ufeff"
        or any(name != name.strip() or name.casefold() in records.NOTHING for name in names)
        or records.child_first((parent or None, child) for parent, child in rows)
    )
