"""The Google product taxonomy with ids: ``3237 - Animals & Pet Supplies > Live Animals``.

Ids are the numbers, as text; titles are the last parts of the paths. Every path but the top ones
continues another path of the file.
"""

from __future__ import annotations

import re
from pathlib import Path

from linnaeus.errors import FormatError, shorten
from linnaeus.taxonomy.formats.draft import Terms
from linnaeus.taxonomy.taxonomy import Taxonomy

HEADER = "# Google_Product_Taxonomy_Version"
_SEPARATOR = " > "
_ENTRY = re.compile(r"(\d+) - (.*)", re.DOTALL)


def has_id(text: str) -> bool:
    """Whether a line has a number before its path."""
    return _ENTRY.match(text) is not None


def read(path: Path, entries: list[tuple[int, str]]) -> Taxonomy:
    """The numbered lines below the header."""
    terms = Terms(path)
    ids: dict[str, str] = {}
    for line, text in entries:
        number, parts = _split(path, line, text)
        terms.declare(number, line, parts[-1])
        if ids.setdefault(_SEPARATOR.join(parts), number) != number:
            raise FormatError(
                path, f"the path {shorten(text)} occurs twice. Remove one of the two.", line
            )
    for line, text in entries:
        number, parts = _split(path, line, text)
        above = _SEPARATOR.join(parts[:-1])
        if above and above not in ids:
            raise FormatError(
                path,
                f"the path above {shorten(text)} is missing. Add a line for "
                f"{shorten(above)} with an id of its own.",
                line,
            )
        if above:
            terms.edge(ids[above], number, line)
    return terms.build()


def _split(path: Path, line: int, text: str) -> tuple[str, list[str]]:
    match = _ENTRY.match(text)
    parts = [part.strip() for part in match[2].split(_SEPARATOR)] if match else []
    if match is None or not all(parts):
        raise FormatError(
            path,
            f"{shorten(text)} is not a number, ' - ' and a path. Write it as in "
            f"'3237 - Animals & Pet Supplies > Live Animals'.",
            line,
        )
    return match[1], parts
