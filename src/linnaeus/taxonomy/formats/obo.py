"""OBO, the format of biological ontologies: one ``[Term]`` stanza a node.

``id`` and ``name`` give node and title, ``is_a`` the parents, ``relationship: part_of`` the
related links (of which we keep no direction). Obsolete terms are left out, and so are all other
relationships.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from linnaeus.errors import FormatError, shorten
from linnaeus.files import open_lines
from linnaeus.taxonomy.formats.draft import Terms
from linnaeus.taxonomy.formats.writing import reject_characters
from linnaeus.taxonomy.taxonomy import Taxonomy

_COMMENT = re.compile(r"[ \t]!")
_MODIFIERS = re.compile(r"[ \t]\{[^{}]*\}$")
_ESCAPED = re.compile(r"\\(.)")
_MEANING = {"n": "\n", "t": "\t", "W": " "}
_ESCAPES = str.maketrans(
    {"\\": r"\\", "\n": r"\n", "\t": r"\t", "!": r"\!", "{": r"\{", "}": r"\}"}
)


@dataclass
class Stanza:
    """What one stanza says, with the lines where it says it."""

    kind: str
    line: int
    id: str | None = None
    name: str = ""
    obsolete: bool = False
    is_a: list[tuple[str, int]] = field(default_factory=list)
    part_of: list[str] = field(default_factory=list)


def read(path: Path) -> Taxonomy:
    """Read the terms of an OBO file."""
    terms, links = Terms(path), list[tuple[str, str]]()
    stanza = Stanza("header", 1)
    with open_lines(path) as lines:
        for text in lines:
            if text.startswith("["):
                _finish(stanza, terms, links)
                stanza = Stanza(text.strip(), lines.line)
            elif stanza.kind == "[Term]" and text.strip() and not text.startswith("!"):
                _tag(path, stanza, text, lines.line)
    _finish(stanza, terms, links)
    terms.related = [(a, b) for a, b in links if b in terms]
    if len(terms.related) < len(links):
        warnings.warn(
            f"{path}: {len(links) - len(terms.related)} of {len(links)} part_of links are left "
            f"out because the file lacks their terms.",
            stacklevel=2,
        )
    return terms.build()


def _tag(path: Path, stanza: Stanza, text: str, line: int) -> None:
    tag, colon, value = text.partition(":")
    if not colon:
        raise FormatError(
            path, f"{shorten(text)} has no colon. Write a tag and its value as in 'id: X'.", line
        )
    if tag == "id":
        stanza.id, stanza.line = _plain(value), line
    elif tag == "name":
        stanza.name = _plain(value)
    elif tag == "is_a":
        stanza.is_a.append((_plain(value), line))
    elif tag == "is_obsolete":
        stanza.obsolete = _plain(value) == "true"
    elif tag == "relationship":
        kind, _, target = _bare(value).partition(" ")
        if kind == "part_of":
            stanza.part_of.append(_unescape(target.strip(" \t")))


def _finish(stanza: Stanza, terms: Terms, links: list[tuple[str, str]]) -> None:
    if stanza.kind != "[Term]" or stanza.obsolete:
        return
    if stanza.id is None:
        raise FormatError(terms.path, "this term has no id. Add a line 'id: ...'.", stanza.line)
    terms.declare(stanza.id, stanza.line, stanza.name)
    for parent, line in stanza.is_a:
        terms.edge(parent, stanza.id, line)
    links += [(stanza.id, other) for other in stanza.part_of]


def _bare(value: str) -> str:
    """A value without the comment and the modifiers behind it."""
    comment = _COMMENT.search(value)
    bare = (value[: comment.start()] if comment else value).strip(" \t")
    return _MODIFIERS.sub("", bare).rstrip(" \t")


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda m: _MEANING.get(m[1], m[1]), text)


def _plain(value: str) -> str:
    return _unescape(_bare(value))


def write(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write one stanza a node, in node order."""
    reject_characters(taxonomy, "\r", "a carriage return", "json")
    links = defaultdict(list)
    for a, b in taxonomy.related:
        links[b].append(a)
    handle.write("format-version: 1.2\n")
    if links:
        handle.write("\n[Typedef]\nid: part_of\nname: part of\n")
    for name in taxonomy.nodes:
        handle.write(f"\n[Term]\nid: {_escape_id(name)}\n")
        if name in taxonomy.titles:
            handle.write(f"name: {_escape_title(taxonomy.titles[name])}\n")
        handle.writelines(f"is_a: {_escape_id(p)}\n" for p in taxonomy.parents(name))
        handle.writelines(f"relationship: part_of {_escape_id(a)}\n" for a in links[name])


def _escape_id(name: str) -> str:
    return name.translate(_ESCAPES).replace(" ", r"\W")


def _escape_title(title: str) -> str:
    """Spaces may stay as they are, unless a reader would strip them."""
    return title.translate(_ESCAPES) if title == title.strip(" ") else _escape_id(title)
