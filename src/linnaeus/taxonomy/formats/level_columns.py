"""Tables with level columns: every row is a path, a concept is known by its name.

The form in which the Unified Astronomy Thesaurus is distributed: the header says ``level 1,
level 2, ...``, and a concept with several parents is repeated once per path, so the paths make
a DAG.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from linnaeus.errors import FormatError, shorten
from linnaeus.taxonomy.formats.draft import Terms, column_error
from linnaeus.taxonomy.formats.tables import Rows
from linnaeus.taxonomy.taxonomy import Taxonomy

_LEVEL = re.compile(r"level[ _]?(\d+)", re.IGNORECASE)


def is_header(cells: list[str]) -> bool:
    """Whether a row says level 1, level 2 and so on."""
    found = ((i, _LEVEL.fullmatch(cell.strip())) for i, cell in enumerate(cells))
    return bool(cells) and all(match and match[1] == str(i + 1) for i, match in found)


def read(path: Path, rows: Rows, width: int) -> Taxonomy:
    """The rows below the header."""
    terms = Terms(path)
    edges: set[tuple[str, str]] = set()
    for line, cells in rows:
        if len(cells) != width:
            remedy = f"The header names {width} levels: write as many, empty ones at the end."
            raise column_error(path, line, ",".join(cells), len(cells), remedy)
        names = _path(path, line, cells)
        for name in names:
            if name not in terms:
                terms.declare(name, line)
        for edge in pairwise(names):
            if edge not in edges:
                edges.add(edge)
                terms.edge(*edge, line)
    return terms.build()


def _path(path: Path, line: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if "" in names or not names:
        at = names.index("") + 1 if names else 1
        raise FormatError(
            path,
            f"level {at} is empty in {shorten(','.join(cells))}. Fill in the name; only levels "
            f"below the last one may be empty.",
            line,
        )
    return names
