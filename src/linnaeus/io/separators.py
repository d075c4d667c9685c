"""What stands between the labels of a cell, and between the names of a path.

With a taxonomy that is settled by its names. Without one it is settled by the cells: labels recur
in ever other company, while the names of a path keep their level and the name above them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from linnaeus.errors import shorten
from linnaeus.io.options import ReadOptions

PATHS = (" > ", ">", "»", "→", "::", "\\", "/", "|", " - ", ";", ",")
SURE_PATHS = (">", "»", "→", "::", "\\", "/")  # signs that are hardly used for anything else
JOINED = "\x1f"
_NAMES = {"\n": "line breaks", "|": "'|'", ";": "';'", ",": "','", r"\s": "blanks"}
_PLURAL = re.compile(r".*(s|en|worte|themen)$")


class Way(NamedTuple):
    """One way of cutting a cell into labels."""

    pattern: str  # empty: a cell is one label
    said: str
    unusual: bool = False  # worth saying

    def split(self, cell: str) -> list[str]:
        if not self.pattern:
            return [cell] if cell else []
        return [part for part in re.split(self.pattern, cell) if part]


WHOLE = Way("", "A cell is read as one label.")


def cut_at(sign: str) -> Way:
    """Labels with this sign between them, and blanks around it."""
    said = f"Labels in a cell are separated by {_NAMES.get(sign, shorten(sign))}."
    return Way(sign + "+" if sign == r"\s" else rf"\s*{re.escape(sign)}\s*", said, True)


def ways(names: Iterable[str], asked: str | None) -> list[Way]:
    """The ways that are to be tried, the plain one first: blanks or | unless names contain them."""
    if asked is not None:
        return [cut_at(r"\s" if not asked.strip(" ") else asked)]
    joined = "".join(names)
    blanks, bars = re.search(r"\s", joined) is not None, "|" in joined
    plain = r"\s*\|\s*" if blanks else r"\s+" if bars else r"[\s|]+"
    said = "'|'" if blanks else "blanks" if bars else "blanks or '|'"
    first = [] if blanks and bars else [Way(plain, f"Labels in a cell are separated by {said}.")]
    others = [cut_at(sign) for sign in ("|", ";", "\n", ",", r"\s")]
    return [*first, WHOLE, *others]


class Guess(NamedTuple):
    """What cells show: how labels are separated, and the names of a path (None: no paths)."""

    way: Way
    path: str | None
    said: str


def guess(cells: Sequence[str], column: str, asked: ReadOptions) -> Guess:
    """What separates labels, and names of paths, where there is no taxonomy to ask.

    Parameters
    ----------
    cells : sequence of str
        What stands in a column.
    column : str
        Its name: that of a list, as labels or tags, is a hint.
    asked : ReadOptions
        What is known already.

    Returns
    -------
    Guess
    """
    cells = list(dict.fromkeys(cell.strip() for cell in cells if cell.strip()))
    path = asked.path_separator
    if asked.label_separator is not None:
        way = ways((), asked.label_separator)[0]
    else:
        way = _label_way(cells, column, path)
    labels = list(dict.fromkeys(part for cell in cells for part in way.split(cell)))
    said = way.said if way.unusual and asked.label_separator is None else ""
    if path is None:
        path = _path_separator(labels)
        if path is not None:
            said = f"{said} Labels are paths with {shorten(path)} between names.".strip()
    return Guess(way, path, said)


def path_of(label: str, separator: str | None) -> tuple[str, ...]:
    """The names of a path; one that ends in its separator is the same without.

    >>> path_of("Animals > Cats > ", ">")
    ('Animals', 'Cats')
    """
    if separator is None:
        return (label.strip(),)
    found = tuple(part.strip() for part in label.split(separator.strip() or separator))
    return tuple(part for part in found if part) or (label.strip(),)


def _label_way(cells: Sequence[str], column: str, path: str | None) -> Way:
    for sign in ("\n", "|", ";"):
        if sign != path and sum(sign in cell for cell in cells):
            if path is None and not _PLURAL.match(column) and _looks_like_paths(cells, sign):
                continue
            return cut_at(sign)
    if path != "," and _are_lists(cells, ","):
        return cut_at(",")
    return cut_at(r"\s") if _are_codes(cells) else WHOLE


def _are_lists(cells: Sequence[str], sign: str) -> bool:
    """Whether most parts around a sign also stand in other cells, in other company."""
    parts = [[part.strip() for part in cell.split(sign)] for cell in cells if sign in cell]
    if not parts:
        return False
    company: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        for part in cell.split(sign):
            company[part.strip()].add(cell)
    seen = [len(company[part]) > 1 for row in parts for part in row]
    return sum(seen) > 0.5 * len(seen)


def _are_codes(cells: Sequence[str]) -> bool:
    """Whether cells hold several codes (A61K 31/00, GO:1, x_y) rather than words."""
    parts = [part for cell in cells if len(cell.split()) > 1 for part in cell.split()]
    odd = [part for part in parts if re.search(r"\d|_|:", part) or part.isupper()]
    return (
        bool(parts)
        and len(odd) > 0.9 * len(parts)
        and _are_lists([" ".join(cell.split()) for cell in cells], " ")
    )


def _path_separator(labels: Sequence[str]) -> str | None:
    for sign in SURE_PATHS:
        having = [label for label in labels if sign in label]
        shown = len(having) >= 0.2 * len(labels)
        if sign == "/":  # also in and/or, AC/DC, 1/2
            shown = len(having) >= 0.5 * len(labels) and _looks_like_paths(labels, sign)
        if having and shown:
            spaced = sum(f" {sign} " in label for label in having) > 0.5 * len(having)
            return f" {sign} " if spaced else sign
    having = [label for label in labels if any(sign in label for sign in ("|", ";"))]
    for sign in ("|", ";"):
        if len(having) >= 0.5 * len(labels) and _looks_like_paths(labels, sign):
            return sign
    return None


def _looks_like_paths(labels: Sequence[str], sign: str) -> bool:
    """Whether names keep their level and the name above them, and some have several below."""
    paths = {path_of(label, sign) for label in labels}
    long = [path for path in paths if len(path) > 1]
    if not long:
        return False
    levels, above, below = defaultdict(set), defaultdict(set), defaultdict(set)
    for path in paths:
        for level, name in enumerate(path):
            levels[name].add(level)
        for upper, lower in pairwise(path):
            above[lower].add(upper)
            below[upper].add(lower)
    steady = sum(len(found) == 1 for found in levels.values()) >= 0.9 * len(levels)
    one_above = sum(len(found) == 1 for found in above.values()) >= 0.7 * len(above)
    tops = {path[0] for path in long}
    return steady and one_above and len(tops) <= 0.75 * len(long) + (len(long) == 1)
