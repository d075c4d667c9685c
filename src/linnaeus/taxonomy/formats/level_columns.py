"""Tables with level columns: every row is a path, as in ``level 1, level 2, ...``.

The levels are columns with numbers (``Level 1``, ``L2``, ``category_3``), or named by a known
ladder (category, subcategory; kingdom to species). Namesakes below different parents are different
nodes, with their paths as ids. Only where many names with others below them recur at different
levels, each time with the same names below, is a name one node: so the Unified Astronomy Thesaurus
is distributed, where a concept with several parents is repeated once per path.

As spreadsheets have it, a row whose first levels are empty goes on below the row above.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from linnaeus.errors import FormatError, shorten
from linnaeus.taxonomy.formats import headers
from linnaeus.taxonomy.formats.draft import column_error, of_paths
from linnaeus.taxonomy.formats.notes import note
from linnaeus.taxonomy.formats.tables import Rows, stripped
from linnaeus.taxonomy.taxonomy import Taxonomy

_NUMBERED = re.compile(
    r"(?:category|categories|product|taxonomy|hierarchy)?"
    r"(level|lvl|lev|l|tier|cat|category|ebene|stufe|kategorie|niveau|nivel|livello|n)"
    r"(\d{1,2})(?:name|title|label|category)?"
)
_LADDERS = (
    ("maincategory", "category", "subcategory", "subsubcategory"),
    ("topcategory", "category", "subcategory", "subsubcategory"),
    ("department", "category", "subcategory", "subsubcategory"),
    ("maingroup", "group", "subgroup", "subsubgroup"),
    ("maintopic", "topic", "subtopic", "subsubtopic"),
    ("hauptkategorie", "kategorie", "unterkategorie", "unterunterkategorie"),
    ("hauptgruppe", "gruppe", "untergruppe", "unteruntergruppe"),
    ("catégorieprincipale", "catégorie", "souscatégorie", "soussouscatégorie"),
    (
        "domain", "superkingdom", "kingdom", "phylum", "class", "order", "suborder", "superfamily",
        "family", "subfamily", "tribe", "genus", "subgenus", "species", "subspecies",
    ),
)  # fmt: skip
_PADS = {"-", "--", "—", "null", "nan", "none", "n/a", "#n/a", "<na>"}
MANY = 5  # names with others below them that recur, from which a table is taken as a thesaurus


def levels(cells: list[str]) -> list[int]:
    """The columns that hold the levels of paths, from the top down; none if these are no such."""
    names = headers.plain_names(cells)
    found = [(int(m[2]), i) for i, name in enumerate(names) if (m := _NUMBERED.fullmatch(name))]
    numbers = sorted(number for number, _ in found)
    start = numbers[0] if numbers else -1
    if start in (0, 1) and numbers == [*range(start, start + len(numbers))]:
        enough = len(numbers) > 1 or len(cells) == 1
        return [i for _, i in sorted(found)] if enough else []
    if any(map(headers.is_parent, names)):
        return []
    fitting: list[list[int]] = []
    for ladder in _LADDERS:
        steps = [(ladder.index(name), i) for i, name in enumerate(names) if name in ladder]
        if len({step for step, _ in steps}) == len(steps) > 1:
            fitting.append([i for _, i in sorted(steps)])
    return max(fitting, key=len, default=[])


def read(path: Path, header: list[str], columns: list[int], rows: Rows) -> Taxonomy:
    """The rows below the header."""
    _tell(header, columns)
    paths: list[list[str]] = []
    filled = padded = 0
    for line, cells in stripped(path, rows):
        if len(cells) > len(header) and not any(cells[len(header) :]):
            cells = cells[: len(header)]
        if len(cells) != len(header):
            remedy = f"The header names {len(header)} levels: write as many, empty ones at the end."
            raise column_error(path, line, ",".join(cells), len(cells), remedy)
        names = [cells[i] for i in columns]
        clean = ["" if name.casefold() in _PADS else name for name in names]
        padded += clean != names
        if any(clean):
            filled += not clean[0]
            paths.append(_path(path, line, clean, paths[-1] if paths else []))
    if filled:
        note(f"{filled:,} rows whose first levels are empty were put below the row above")
    if padded:
        note(f"levels that say only {' or '.join(sorted(_PADS)[:2])} and the like were left out")
    return of_paths(path, paths, "name" if _is_thesaurus(paths) else "path")


def _tell(header: list[str], columns: list[int]) -> None:
    used = ", ".join(repr(header[i].strip()) for i in columns)
    left = [repr(cell.strip()) for i, cell in enumerate(header) if i not in columns]
    rest = f"; not used: {', '.join(left)}" if left else ""
    note(f"levels from the columns {used}{rest}", guess=bool(left))


def _path(path: Path, line: int, names: list[str], above: list[str]) -> list[str]:
    """The names of a row from the top down; first ones that it leaves out are the row's above."""
    names = list(names)
    while not names[-1]:
        names.pop()
    start = next(i for i, name in enumerate(names) if name)
    if start <= len(above):
        names[:start] = above[:start]
    if "" in names:
        raise FormatError(
            path,
            f"level {names.index('') + 1} is empty in {shorten(','.join(names))}. Fill in the "
            f"name; only levels below the last one may be empty, and first ones that are as in the "
            f"row above.",
            line,
        )
    return names


def _is_thesaurus(paths: list[list[str]]) -> bool:
    """Whether names that recur are the same concept: at other levels, with the same names below."""
    below: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for names in paths:
        for i, name in enumerate(names):
            below[tuple(names[:i])].add(name)
    places: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for place in {tuple(names[: i + 1]) for names in paths for i in range(len(names))}:
        places[place[-1]].append(place)
    again = [found for found in places.values() if len(found) > 1]
    inner = [found for found in again if any(place in below for place in found)]
    same = all(below.get(p, set()) == below.get(found[0], set()) for found in inner for p in found)
    moved = any(len({len(place) for place in found}) > 1 for found in inner)
    if len(inner) < MANY or not same or not moved:
        return False
    note(f"{len(again):,} names that recur with the same names below them are one node each")
    return True
