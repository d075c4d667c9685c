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
from linnaeus.io.spellings import is_nothing

SURE_PATHS = ("->", "=>", ">", "»", "›", "→", "::", "\\", "/")  # hardly used for anything else
WEAK_PATHS = ("|", ";", " -- ", " - ", " – ", " — ", ": ", "##", "__", ".")  # cells have to show it
PATHS = (*SURE_PATHS, *WEAK_PATHS, ",")
_IN_NAMES = {"-", "--", "–", "—", ":", "/"}  # where written with blanks, they are needed
JOINED = "\x1f"
_NAMES = {"\n": "line breaks", r"\s": "blanks"} | {sign: f"'{sign}'" for sign in "|;,/+"}
_PLURAL = re.compile(r".*(s|en|worte|themen)$")
_UNQUOTED = r"(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)"
_LIST = re.compile(r"\[(.*)\]|\{(.*)\}|(?=.*[\"'])\((.*)\)", re.S)
_ITEM = re.compile(r"""u?"((?:[^"\\]|\\.)*)"|u?'((?:[^'\\]|\\.)*)'|([^,\s"'][^,]*)""")


class Way(NamedTuple):
    """One way of cutting a cell into labels."""

    pattern: str  # empty: a cell is one label
    said: str
    unusual: bool = False  # worth saying

    def split(self, cell: str) -> list[str]:
        if self is LISTS:
            found = items(cell)
            return [cell] if found is None else found
        if not self.pattern:
            return [cell] if cell else []
        if '"' not in cell:
            return [part for part in re.split(self.pattern, cell) if part]
        parts = re.split(self.pattern + _UNQUOTED, cell)  # a quoted name may hold the sign
        return [part for part in map(_unquoted, parts) if part]


WHOLE = Way("", "A cell is read as one label.")
LISTS = Way("[", "Cells hold lists of labels in brackets.", True)


def items(cell: str) -> list[str] | None:
    """What a list in brackets holds, as JSON, Python, numpy and databases write it; or None.

    >>> items("['a', \\"b's\\"]"), items("[1 2]"), items('{a,"b, c"}'), items("a")
    (['a', "b's"], ['1', '2'], ['a', 'b, c'], None)
    """
    match = _LIST.fullmatch(cell.strip())
    if match is None:
        return None
    inner = next(group for group in match.groups() if group is not None)
    if re.fullmatch(r"[\d.\s]*", inner):
        return inner.split()
    found = ["".join(groups).strip() for groups in _ITEM.findall(inner)]
    return [re.sub(r"\\(.)", r"\1", part) for part in found if part]


def _unquoted(part: str) -> str:
    part = part.strip()
    quoted = len(part) > 1 and part[0] == part[-1] == '"'
    return part[1:-1].replace('""', '"') if quoted else part


def cut_at(sign: str) -> Way:
    """Labels with this sign between them, and blanks around it."""
    named = _NAMES[sign] if sign in _NAMES else shorten(sign)
    said = f"Labels in a cell are separated by {named}."
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
    others = [cut_at(sign) for sign in ("|", ";", "\n", ",", r"\s", "/", "+")]
    return [*first, WHOLE, LISTS, *others]


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
    cells = list(dict.fromkeys(cell.strip() for cell in cells if not is_nothing(cell)))
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
    found = tuple(part.strip() for part in re.split(_between(separator), f"{label} "))
    return tuple(part for part in found if part) or (label.strip(),)


def _between(separator: str) -> str:
    """What to cut a path at: signs that stand in names too count as they are written."""
    sign = separator.strip() or separator
    if sign not in _IN_NAMES or sign == separator:
        return re.escape(sign)
    before, after = (r"\s+" if end.isspace() else "" for end in (separator[0], separator[-1]))
    return before + re.escape(sign) + after


def _label_way(cells: Sequence[str], column: str, path: str | None) -> Way:
    if cells and sum(items(cell) is not None for cell in cells) >= 0.9 * len(cells):
        return LISTS
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
    odd = [
        part
        for part in parts
        if re.search(r"\d|_|:\S|\w\.\w", part) or (part.isupper() and part[-1] != ":")
    ]
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
    for sign in WEAK_PATHS:
        having = [label for label in labels if sign in label]
        words = sign != "." or all(re.fullmatch(r"([^\W\d][^\s.]*\.?)+", h) for h in having)
        if len(having) >= 0.5 * len(labels) and words and _looks_like_paths(labels, sign):
            return sign
    return None


def _looks_like_paths(labels: Sequence[str], sign: str) -> bool:
    """Whether names keep their level and the name above them, and some have several below."""
    paths = {path_of(label, sign) for label in labels}
    long = [path for path in paths if len(path) > 1]
    tops = {path[0] for path in long}
    return bool(long) and are_steady(paths) and len(tops) <= 0.75 * len(long) + (len(long) == 1)


def are_steady(paths: Iterable[tuple[str, ...]]) -> bool:
    """Whether names keep their level and the name above them.

    Parameters
    ----------
    paths : iterable of tuple of str
        Names from the top down.

    Returns
    -------
    bool
    """
    levels, above = defaultdict(set), defaultdict(set)
    for path in paths:
        for level, name in enumerate(path):
            levels[name].add(level)
        for upper, lower in pairwise(path):
            above[lower].add(upper)
    steady = sum(len(found) == 1 for found in levels.values()) >= 0.9 * len(levels)
    return steady and sum(len(found) == 1 for found in above.values()) >= 0.7 * len(above)
