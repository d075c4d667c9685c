"""Which format a file is in, from its name and its first lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from linnaeus.taxonomy.formats import (
    enzclass,
    google,
    headers,
    level_columns,
    mesh,
    outline,
    paths,
)
from linnaeus.taxonomy.formats.tables import DELIMITERS, open_text
from linnaeus.taxonomy.lines import without_end

_SUFFIXES = {
    "tsv": "tsv", "tab": "tsv", "csv": "csv", "paths": "paths", "obo": "obo", "ttl": "skos",
    "turtle": "skos", "rdf": "skos", "skos": "skos", "xml": "skos", "json": "json",
    "arff": "arff", "lshtc": "lshtc", "outline": "outline", "md": "outline", "xlsx": "xlsx",
    "xlsm": "xlsx",
}  # fmt: skip
_STEMS = {"cat_hier": "lshtc", "enzclass": "enzclass", "mtrees": "mesh"}
_HEAD, _WIDTH = 50, 10_000  # how many lines are looked at, and how much of each

_IDS = re.compile(r"\d+(?:[ \t]+\d+)+\s*")
_TURTLE = re.compile(r"@prefix\b|@base\b|PREFIX\b|BASE\b|<\S+>\s+\S+\s", re.IGNORECASE)


def stem_and_suffix(path: str | Path) -> tuple[str, str]:
    """The name of a file that may be packed, split: ("train", "jsonl") for train.jsonl.gz."""
    name = Path(path).name
    name = name.removesuffix(".gz").removesuffix(".zip")
    stem, _, suffix = name.rpartition(".")
    return (stem, suffix.lower()) if stem else (name, "")


def by_name(path: Path) -> str | None:
    """The format that a file's name stands for."""
    stem, suffix = stem_and_suffix(path)
    known = (kind for start, kind in _STEMS.items() if stem.lower().startswith(start))
    return next(known, None) or _SUFFIXES.get(suffix)


def by_name_and_content(path: Path) -> tuple[str | None, str]:
    """The format of a file, or None, and its first line that is not blank."""
    if by_name(path) == "xlsx":
        return "xlsx", ""
    with open_text(path) as lines:
        head = list(islice((text[:_WIDTH] for text in lines if text.strip()), _HEAD))
    first = head[0] if head else ""
    named = by_name(path)
    if named in ("tsv", "csv") and _is_mesh_table(head):
        return "mesh", first
    if named is not None or not head:
        return named, first
    return next((kind for kind, fits in _LOOKS.items() if fits(head)), None), first


def _is_mesh_table(head: list[str]) -> bool:
    return bool(head) and re.split(r"[\t,]", head[0]) == mesh.HEADER


def _is_table(head: list[str], delimiter: str) -> bool:
    widths = {text.count(delimiter) for text in head}
    return len(widths) == 1 and widths <= {1, 2, 3}


def _is_csv(head: list[str]) -> bool:
    cells = (head[0].split(delimiter) for delimiter in DELIMITERS)
    known = any(headers.roles(row) or len(level_columns.levels(row)) > 1 for row in cells)
    even = any(_is_table(head, delimiter) for delimiter in (",", ";"))
    return known or (even and not _is_paths(head))


def _is_paths(head: list[str]) -> bool:
    """A separator on at least half of the lines, and no empty parts."""
    sep = paths.guess_separator(head)
    texts = paths.without_start([text.strip() for text in head], sep)
    found = [text for text in texts if sep in text]
    clean = all(part.strip() for text in found for part in without_end(text, sep).split(sep))
    return 2 * len(found) >= len(head) and clean


_LOOKS: dict[str, Callable[[list[str]], bool]] = {
    "obo": lambda head: head[0].startswith("format-version:") or "[Term]" in head,
    "arff": lambda head: any(t.lstrip().lower().startswith("@relation") for t in head),
    "skos": lambda head: bool(
        head[0].lstrip().startswith(("<?xml", "<rdf:RDF")) or _TURTLE.match(head[0])
    ),
    "json": lambda head: head[0].lstrip().startswith(("{", "[")),
    "mesh": lambda head: _is_mesh_table(head) or all(map(mesh.is_entry, head)),
    "enzclass": lambda head: enzclass.are_entries(head),
    "lshtc": lambda head: all(map(_IDS.fullmatch, head)),
    "tsv": lambda head: _is_table(head, "\t"),
    "csv": _is_csv,
    "paths": lambda head: (
        head[0].startswith(google.HEADER) or all(map(google.has_id, head)) or _is_paths(head)
    ),
    "outline": outline.is_outline,
}
