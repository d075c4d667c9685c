"""Edge lists, the formats ``tsv`` and ``csv``: a parent and a child on every line.

A line with an empty parent declares a root. A header line ``parent, child`` is recognised, and
with it the columns ``title`` (of the child) and ``relation`` (empty or ``broader`` for the
hierarchy, ``related`` for a symmetric link); other columns are left out. Without a header a
third column is the title. TSV knows no quoting: a cell is what stands between two tabs.

A table whose header says ``level 1, level 2, ...`` holds a path on every row instead.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from linnaeus.errors import FormatError, shorten
from linnaeus.taxonomy.formats import beside, level_columns
from linnaeus.taxonomy.formats.draft import Edge, add_title, build, column_error
from linnaeus.taxonomy.formats.tables import Rows, open_rows
from linnaeus.taxonomy.formats.writing import lines_in_order, reject_characters
from linnaeus.taxonomy.taxonomy import Taxonomy

HEADER = ["parent", "child", "title", "relation"]


class Columns(NamedTuple):
    """How wide a row is, and where in it title and relation stand (-1: nowhere)."""

    width: int
    title: int = -1
    relation: int = -1


class Content(NamedTuple):
    """What the rows say."""

    edges: list[Edge]
    lines: list[int | None]
    titles: dict[str, str]
    related: list[tuple[str, str]]


def read_tsv(path: Path) -> Taxonomy:
    """Read a tab-separated edge list."""
    return _read(path, "\t")


def read_csv(path: Path) -> Taxonomy:
    """Read a comma-separated edge list."""
    return _read(path, ",")


def _read(path: Path, delimiter: str) -> Taxonomy:
    with open_rows(path, delimiter) as rows:
        line, first = next(rows, (1, list[str]()))
        if level_columns.is_header(first):
            return level_columns.read(path, rows, len(first))
        if not first:
            return build(path, [])
        if _is_header(first):
            columns = _named_columns(first)
        else:
            columns = _plain_columns(path, line, first, delimiter)
            rows = chain([(line, first)], rows)
        edges, lines, titles, related = _parse(path, rows, columns, delimiter)
    nodes = {name for pair in chain(edges, related) for name in pair}
    titles = beside.titles(path, nodes) | titles
    return build(path, edges, titles, related + beside.related(path, nodes), lines)


def _is_header(cells: list[str]) -> bool:
    return [cell.lower() for cell in cells[:2]] == HEADER[:2]


def _named_columns(cells: list[str]) -> Columns:
    names = [cell.lower() for cell in cells]
    at = {name: names.index(name) for name in HEADER if name in names}
    return Columns(len(cells), at.get("title", -1), at.get("relation", -1))


def _plain_columns(path: Path, line: int, cells: list[str], delimiter: str) -> Columns:
    if len(cells) in (2, 3):
        return Columns(len(cells), title=2 if len(cells) == 3 else -1)
    between = "a tab" if delimiter == "\t" else "a comma"
    remedy = (
        f"Write parent and child (and a title) with {between} between them, the parent empty "
        f"for a root; other columns need a header line that begins with parent and child."
    )
    raise column_error(path, line, delimiter.join(cells), len(cells), remedy)


def _parse(path: Path, rows: Rows, columns: Columns, delimiter: str) -> Content:
    out = Content([], [], {}, [])
    for line, cells in rows:
        if len(cells) != columns.width:
            text, remedy = delimiter.join(cells), f"Every line needs {columns.width}, as the first."
            raise column_error(path, line, text, len(cells), remedy)
        parent, child = cells[0], cells[1]
        if not child:
            raise FormatError(
                path, "the name of the child is empty. Write a name, or remove the line.", line
            )
        if columns.title >= 0:
            add_title(path, out.titles, child, cells[columns.title], line)
        if columns.relation >= 0 and _is_related(path, line, cells[columns.relation]):
            if not parent:
                raise FormatError(path, "a related link needs two names. Fill the first.", line)
            out.related.append((parent, child))
        else:
            out.edges.append((parent or None, child))
            out.lines.append(line)
    return out


def _is_related(path: Path, line: int, relation: str) -> bool:
    if relation.lower() not in ("", "broader", "related"):
        raise FormatError(
            path,
            f"the relation {shorten(relation)} is unknown. Write broader (or nothing) for the "
            f"hierarchy, related for a symmetric link.",
            line,
        )
    return relation.lower() == "related"


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
    first = rows[0]
    mistakable = _is_header(first) or level_columns.is_header(first) or first[0][:1] == "\ufeff"
    if not (taxonomy.titles or taxonomy.related or mistakable):
        yield from rows
        return
    yield HEADER
    titles = dict(taxonomy.titles)  # each is written once, on the first line of its node
    for parent, child in rows:
        yield [parent, child, titles.pop(child, ""), ""]
    for a, b in taxonomy.related:
        yield [a, b, "", "related"]
