"""The classes of the ENZYME nomenclature, ``enzclass.txt``: ``1. 1. 1.-  Title.``

The four parts of a code have fixed widths, and a dash stands for "all". The id is the code
without dashes and spaces, ``1.1.1``; the parent is the code less its last part.
"""

from __future__ import annotations

import re
from pathlib import Path

from linnaeus.errors import FormatError, shorten
from linnaeus.files import open_lines
from linnaeus.taxonomy.formats.draft import Terms
from linnaeus.taxonomy.taxonomy import Taxonomy

_CODE = re.compile(r"(\d+)\. ?(\d+|-)\. ?(\d+|-)\.(n?\d+|-)[ \t]+(\S.*)")
_BEGINS = re.compile(r"\d+\.")


def is_entry(text: str) -> bool:
    """Whether a line is a code and a title."""
    return _CODE.fullmatch(text.strip()) is not None


def are_entries(head: list[str]) -> bool:
    """Whether all lines that begin with a number are such entries, and there are any."""
    begun = [text for text in map(str.strip, head) if _BEGINS.match(text)]
    return bool(begun) and all(map(is_entry, begun))


def read(path: Path) -> Taxonomy:
    """Read the codes; the prose around them does not begin with a number and is left out."""
    terms = Terms(path)
    with open_lines(path) as lines:
        for text in lines:
            text = text.strip()
            if _BEGINS.match(text):
                parts, title = _split(path, lines.line, text)
                code = ".".join(parts)
                terms.declare(code, lines.line, title)
                if len(parts) > 1:
                    terms.edge(".".join(parts[:-1]), code, lines.line)
    return terms.build()


def _split(path: Path, line: int, text: str) -> tuple[list[str], str]:
    match = _CODE.fullmatch(text)
    parts = list(match.groups()[:4]) if match else []
    while parts and parts[-1] == "-":
        parts.pop()
    if match is None or "-" in parts:
        raise FormatError(
            path,
            f"{shorten(text)} is not a code of four parts and a title. Write it as in "
            f"'1. 1. -.-  Acting on the CH-OH group of donors.', dashes only at the end.",
            line,
        )
    return parts, match[5]
