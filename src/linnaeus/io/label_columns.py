"""Which columns hold labels: levels of a path, several columns of labels, a column per label.

Names give candidates, and the cells decide: on levels a name has one name above it, while labels
side by side come in any company. Columns that are called as labels are and hold only marks (x, 1,
TRUE) say which of the labels a row has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from linnaeus.io.separators import are_steady
from linnaeus.io.spellings import is_nothing
from linnaeus.taxonomy.formats import level_columns

Shares = Callable[[list[str]], float]  # the share of some cells that hold names of the taxonomy
Column = Callable[[int], Sequence[str]]
YES = {"x", "1", "1.0", "true", "yes", "y", "ja", "oui", "si", "sí", "✓", "✔", "wahr", "vrai"}
NO = {"", "0", "0.0", "false", "no", "n", "nein", "non", "-", "falsch", "faux"}
_ORDINALS = (
    "",
    "first|primary|main|1st",
    "second|secondary|2nd",
    "third|tertiary|3rd",
    "fourth|4th",
)
LEVELS = {
    "level", "lvl", "lev", "l", "tier", "ebene", "stufe", "niveau", "nivel", "livello", "hier",
    "hierarchy", "depth", "rank",
}  # fmt: skip
_LABELS = {
    "label", "category", "cat", "class", "node", "tag", "topic", "subject", "genre", "kategorie",
    "categorie", "code", "type", "keyword", "schlagwort", "thema", "catégorie", "categoría",
    "categoria", "target",
}  # fmt: skip
_NUMBERED = re.compile(r"(.*?)_?(\d{1,2})((?:_[^\W\d]+)?)")
BELOW = ("category", "categorie", "kategorie", "cat", "class", "group", "topic", "genre", "subject")
_BELOW = re.compile(rf"(sub_?)+({'|'.join(BELOW)})")
_ABOVE = re.compile(rf"(main_?|top_?|parent_?|haupt_?|ober_?)?({'|'.join(BELOW)}|department)")
_MARKED = 2  # columns of marks, at least, that make labels
FEW = 3  # rows with two names or more, below which names alone decide


def numbered(keys: Sequence[str], free: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Columns such as level 1, level 2, ... in order, with the word that stands before the number.

    Parameters
    ----------
    keys : sequence of str
        The plain names of all columns.
    free : sequence of int
        The columns that count.

    Returns
    -------
    list of tuple of (str, list of int)

    Examples
    --------
    >>> numbered(["l_2", "text", "l_1", "tag1"], range(4))
    [('l', [2, 0])]
    """
    found: dict[tuple[str, str], dict[int, int]] = {}
    for j in free:
        key = keys[j]
        for number, words in enumerate(_ORDINALS):
            key = re.sub(rf"^({words})_(.+)$", rf"\2_{number}", key) if number else key
        if match := _NUMBERED.fullmatch(key):
            found.setdefault((match[1], match[3]), {})[int(match[2])] = j
    out = []
    for (word, _), places in found.items():
        order = sorted(places)
        if order[0] <= 1 and len(order) > 1 and order[-1] - order[0] == len(order) - 1:
            out.append((word, [places[i] for i in order]))
    return out


def named_levels(names: Sequence[str], keys: Sequence[str], free: Sequence[int]) -> list[int]:
    """Columns that a ladder of words names, as category and subcategory, family to species.

    Parameters
    ----------
    names, keys : sequence of str
        The names of all columns, and their plain forms.
    free : sequence of int
        The columns that count.

    Returns
    -------
    list of int
        From the top down; none where there are no such.
    """
    ladder = [free[i] for i in level_columns.levels([names[j] for j in free])]
    if ladder:
        return ladder
    below = [j for j in free if _BELOW.fullmatch(keys[j])]
    above = [j for j in free if _ABOVE.fullmatch(keys[j])]
    if len(above) == 1 and below:
        return [*above, *sorted(below, key=lambda j: keys[j].count("sub"))]
    return []


def is_level_word(word: str) -> bool:
    """Whether a word before a number says that columns are levels."""
    return word in LEVELS or word.rpartition("_")[2] in LEVELS


def is_label_word(word: str) -> bool:
    """Whether a word before a number says that columns hold labels, of levels or not."""
    last = word.rpartition("_")[2]
    return last in _LABELS or last.removesuffix("s") in _LABELS


def are_levels(rows: Sequence[Sequence[str]], share_of: Shares | None) -> bool | None:
    """Whether the names in rows go from the top down; None where too few rows can tell.

    Parameters
    ----------
    rows : sequence of sequence of str
        The cells of the columns in question.
    share_of : callable or None
        The share of some cells that hold names of the taxonomy; None without one.

    Returns
    -------
    bool or None
    """
    paths = [tuple(cell.strip() for cell in row if not is_nothing(cell)) for row in rows]
    paths = list({path: None for path in (tuple(filter(None, p)) for p in paths) if len(path) > 1})
    if len(paths) < FEW:
        return None
    if share_of is not None:
        cells = [cell for path in paths for cell in path]
        return share_of([" > ".join(_short(path)) for path in paths]) >= 0.5 * share_of(cells)
    return are_steady({_short(path) for path in paths})


def _short(path: tuple[str, ...]) -> tuple[str, ...]:
    """A path without the last name where that is repeated to fill the levels below."""
    while len(path) > 1 and path[-1] == path[-2]:
        path = path[:-1]
    return path


def marked(names: Sequence[str], free: Sequence[int], cells: Column, known: Shares) -> list[int]:
    """Columns of marks whose names are labels.

    Parameters
    ----------
    names : sequence of str
        The names of all columns.
    free : sequence of int
        The columns that count.
    cells : callable
        What stands in a column.
    known : callable
        The share of some names that are labels.

    Returns
    -------
    list of int
    """
    found = [j for j in free if _are_marks(cells(j)) and known([names[j]]) == 1]
    some = any(is_yes(cell) for j in found for cell in cells(j))
    return found if some and len(found) >= _MARKED else []


def is_yes(cell: str) -> bool:
    """Whether a cell is a mark that says yes."""
    return cell.strip().casefold() in YES


def _are_marks(cells: Sequence[str]) -> bool:
    return {cell.strip().casefold() for cell in cells} <= YES | NO
