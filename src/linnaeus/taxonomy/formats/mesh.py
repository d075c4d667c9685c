"""MeSH: descriptors placed by tree numbers, such as ``Breast;A01.236``.

The parents of a descriptor are the descriptors that hold one of its numbers less the last part.
Two forms are known: ``name;number`` lines (ids are the names), and a table with the header
``mesh_id, mesh_name, mesh_tree_number`` (ids are the mesh_ids, titles the names).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from linnaeus.errors import FormatError, shorten
from linnaeus.files import open_lines
from linnaeus.taxonomy.formats.draft import Terms, add_title, column_error
from linnaeus.taxonomy.formats.tables import open_rows
from linnaeus.taxonomy.taxonomy import Taxonomy

HEADER = ["mesh_id", "mesh_name", "mesh_tree_number"]
_NUMBER = re.compile(r"[A-Z]\d\d(?:\.\d+)*")


class Entry(NamedTuple):
    """A descriptor at one of its places."""

    line: int
    id: str
    title: str
    number: str


def read(path: Path) -> Taxonomy:
    """Read either form."""
    with open_lines(path) as lines:
        first = next(lines, "")
    delimiter = "\t" if "\t" in first else ","
    is_table = [cell.strip() for cell in first.split(delimiter)] == HEADER
    entries = list(_table(path, delimiter) if is_table else numbered_names(path))
    terms, holder = Terms(path), dict[str, str]()
    for entry in entries:
        _place(path, holder, entry)
        if entry.id not in terms:
            terms.declare(entry.id, entry.line)
        add_title(path, terms.titles, entry.id, entry.title, entry.line)
    for entry in entries:
        above = entry.number.rpartition(".")[0]
        if above and above not in holder:
            raise FormatError(
                path,
                f"nothing has the tree number {shorten(above)} above {shorten(entry.id)} "
                f"({shorten(entry.number)}). Add the line of its parent.",
                entry.line,
            )
        if above:
            terms.edge(holder[above], entry.id, entry.line)
    return terms.build()


def is_entry(text: str) -> bool:
    """Whether a line is a name and a tree number."""
    name, _, number = text.rpartition(";")
    return bool(name.strip()) and _NUMBER.fullmatch(number.strip()) is not None


def numbered_names(path: Path) -> Iterator[Entry]:
    """The entries of a file of names and tree numbers; the names are the ids."""
    with open_lines(path) as lines:
        for text in lines:
            if not text.strip():
                continue
            if not is_entry(text):
                raise lines.error(
                    f"{shorten(text)} is not a name and a tree number with ';' between them. "
                    f"Write it as in 'Breast;A01.236'."
                )
            name, _, number = text.rpartition(";")
            yield Entry(lines.line, name.strip(), "", number.strip())


def _table(path: Path, delimiter: str) -> Iterator[Entry]:
    with open_rows(path, delimiter) as rows:
        next(rows)
        for line, cells in rows:
            if len(cells) != len(HEADER):
                remedy = f"Every line needs {len(HEADER)}, as the header."
                raise column_error(path, line, delimiter.join(cells), len(cells), remedy)
            name, title, number = cells
            if not _NUMBER.fullmatch(number):
                raise FormatError(
                    path, f"{shorten(number)} is not a tree number such as A01.236.", line
                )
            yield Entry(line, name, title, number)


def _place(path: Path, holder: dict[str, str], entry: Entry) -> None:
    if holder.setdefault(entry.number, entry.id) != entry.id:
        raise FormatError(
            path,
            f"the tree number {shorten(entry.number)} is given to {shorten(entry.id)} and to "
            f"{shorten(holder[entry.number])}. A number holds one descriptor: change one of them.",
            entry.line,
        )
