"""Indented outlines: a name on every line, below the nearest line above that is less indented.

Indentation is tabs or blanks; bullets (``-``, ``*``, ``+``, ``•``) before every name are left out.
Where every line begins with a number such as ``1.2.3``, the numbers are the ids and say what is
below what. Else ids are the names, and those of namesakes their paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from linnaeus.errors import FormatError, TaxonomyError, shorten
from linnaeus.taxonomy.formats.draft import Terms, of_paths
from linnaeus.taxonomy.formats.notes import note
from linnaeus.taxonomy.formats.tables import open_text
from linnaeus.taxonomy.formats.writing import reject_characters, warn_left_out
from linnaeus.taxonomy.taxonomy import Taxonomy

_BULLET = re.compile(r"([-*+•–·])[ \t]+(?=\S)")
_NUMBER = re.compile(r"([A-Z]|\d+)((?:\.\d+)*)\.?[ \t]+(\S.*)")
Line = tuple[int, str, str]  # where it is, its indentation, its text


def is_outline(head: list[str]) -> bool:
    """Whether some lines are indented below others, or all are numbered."""
    lines = [_line(0, text) for text in head]
    if _are_numbered(lines):
        return True
    indents = [indent for _, indent, _ in lines]
    return indents[0] == "" and any(indents) and all(set(i) <= {" ", "\t"} for i in indents)


def read(path: Path) -> Taxonomy:
    """Read an outline."""
    with open_text(path) as file:
        lines = [_line(file.line, text) for text in file if text.strip()]
    if _are_numbered(lines):
        note("outline by the numbers before the names, which are the ids", guess=False)
        return _numbered(path, lines)
    lines = _without_bullets(lines)
    note("outline by indentation", guess=False)
    return of_paths(path, _paths(path, lines))


def _line(number: int, text: str) -> Line:
    clean = text.strip()
    return number, text[: len(text) - len(text.lstrip())], clean


def _without_bullets(lines: list[Line]) -> list[Line]:
    """The lines without bullets, if all have one."""
    found = [_BULLET.match(text) for _, _, text in lines]
    if not all(found):
        return lines
    return [(n, i, t[m.end() :]) for (n, i, t), m in zip(lines, found, strict=True) if m]


def _are_numbered(lines: list[Line]) -> bool:
    """Whether every line has a number of its own, and some number is below that of another line."""
    found = [_NUMBER.fullmatch(text) for _, _, text in lines]
    numbers = {m[1] + m[2] for m in found if m}
    deeper = [number for number in numbers if "." in number]
    whole = all(number.rpartition(".")[0] in numbers for number in deeper)
    return all(found) and len(numbers) == len(lines) and bool(deeper) and whole


def _numbered(path: Path, lines: list[Line]) -> Taxonomy:
    terms = Terms(path)
    for line, _, text in lines:
        if match := _NUMBER.fullmatch(text):
            number = match[1] + match[2]
            terms.declare(number, line, match[3])
            if "." in number:
                terms.edge(number.rpartition(".")[0], number, line)
    return terms.build()


def _paths(path: Path, lines: Iterable[Line]) -> list[list[str]]:
    """The path of every line."""
    stack: list[tuple[str, str]] = []  # indentation and name of the lines above this one
    found: list[list[str]] = []
    step = ""
    for line, indent, name in lines:
        before = [i for i, _ in stack]
        while stack and stack[-1][0] != indent and len(stack[-1][0]) >= len(indent):
            stack.pop()
        if stack and stack[-1][0] == indent:
            stack.pop()
        elif indent not in before and before:
            last = before[-1]
            step = step or indent[len(last) :]
            if not indent.startswith(last) or len(indent) <= len(last):
                raise _unfit(path, line, name, "fits none of the lines above it")
            if indent != last + step:
                raise _unfit(path, line, name, "is not one step deeper than that of the line above")
        stack.append((indent, name))
        found.append([n for _, n in stack])
    return found


def _unfit(path: Path, line: int, name: str, why: str) -> FormatError:
    return FormatError(
        path,
        f"the indentation of {shorten(name)} {why}. Indent every level by the same step, with tabs "
        f"or with blanks.",
        line,
    )


def write(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write a tree of names, indented by tabs; ids that the names do not give are left out."""
    if not taxonomy.is_tree:
        twice = taxonomy.nodes[int((taxonomy.n_parents > 1).argmax())]
        raise TaxonomyError(
            f"Node {shorten(twice)} has several parents, and so several places in an outline. "
            f"Write tsv, csv, json, obo or skos instead."
        )
    reject_characters(taxonomy, "\t\n\r", "a tab or a line break", "csv or json")
    rows, depth = [], taxonomy.depth.tolist()
    stack = taxonomy.root_numbers[::-1].tolist()
    above: list[str] = []
    while stack:
        v = stack.pop()
        above = [*above[: depth[v]], taxonomy.title(taxonomy.nodes[v])]
        rows.append((v, above))
        stack += taxonomy.numbers(taxonomy.children(taxonomy.nodes[v]))[::-1].tolist()
    texts = ["\t" * (len(names) - 1) + names[-1] for _, names in rows]
    paths = [names for _, names in rows]
    if _read_back(texts) != paths or len(set(map(tuple, paths))) < len(paths):
        raise TaxonomyError(
            "Some names begin or end with blanks, are the same below one parent, or begin all with "
            "bullets or numbers, which an outline cannot tell from its own. Write tsv, csv, json, "
            "obo or skos instead."
        )
    handle.writelines(f"{text}\n" for text in texts)
    ids = of_paths(Path("outline"), paths).nodes
    other = sum(taxonomy.nodes[v] != name for (v, _), name in zip(rows, ids, strict=True))
    warn_left_out("ids other than the names", other, "outline")
    warn_left_out("related links", len(taxonomy.related), "outline")


def _read_back(texts: list[str]) -> list[list[str]] | None:
    """The paths that will be read again; None where the lines are no outline by indentation."""
    lines = [_line(i, text) for i, text in enumerate(texts, 1)]
    if _are_numbered(lines) or _without_bullets(lines) != lines or not all(t for *_, t in lines):
        return None
    return _paths(Path("outline"), lines)
