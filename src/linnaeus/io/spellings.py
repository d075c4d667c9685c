"""Names as people and programs spell them: what differs without mattering.

`same` leaves out case, blanks and how accents are encoded; `alike` also what databases, tables and
web pages change: leading zeros, dashes and underscores, ``&amp;``, a full stop at the end.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

NOTHING = {  # cells that stand for no label at all
    "na", "n/a", "#n/a", "n.a.", "nan", "<na>", "null", "none", "nil", "\\n", "?", "-", "--", "—",
    "(blank)", "(empty)", "(none)", "#ref!", "#value!", "#name?", "#null!", "[]", "{}", "()",
}  # fmt: skip
_BLANKS = re.compile(r"[\s_\u2010-\u2015\u2212-]+")
_BEFORE = re.compile(r"(\S+?)[.:)]?\s+(?:[-–—:=|]\s*)?(\S.*)")
_BEHIND = re.compile(r"(.*\S)\s*[\[({]\s*([^\[({]+?)\s*[\])}]")


def same(text: str) -> str:
    """A label without differences that do not matter: case, blanks, how accents are encoded.

    >>> same(" Small\\u00a0Cats ")
    'small cats'
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def alike(text: str) -> str:
    """A label also without what programs change.

    >>> alike("Start\\u2013ups &amp; Shops."), alike("start_ups and shops"), alike("0070")
    ('start ups and shops', 'start ups and shops', '70')
    """
    plain = _BLANKS.sub(" ", same(html.unescape(text)).replace("&", " and "))
    plain = plain.strip(" .:*\"'")
    return (plain.lstrip("0") or "0") if plain.isdecimal() else plain or same(text)


def is_nothing(cell: str) -> bool:
    """Whether a cell says that there is nothing.

    >>> is_nothing(" N/A "), is_nothing("Other")
    (True, False)
    """
    return cell.strip().casefold() in NOTHING


def with_code(text: str) -> Iterator[tuple[str, str]]:
    """The ways to read a label as a code and a name together.

    >>> list(with_code("1.2. Big cats")), list(with_code("Big cats (152)"))
    ([('1.2', 'Big cats')], [('Big', 'cats (152)'), ('152', 'Big cats')])
    """
    if match := _BEFORE.fullmatch(text):
        yield match[1], match[2]
    if match := _BEHIND.fullmatch(text):
        yield match[2], match[1]
