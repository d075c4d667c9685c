"""The hierarchies of the LSHTC challenges, ``cat_hier.txt``: ids separated by white space.

A line is a parent and a child, or a longer path of ids from the top down. There is no way to
write titles, links, or a node without edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from linnaeus.errors import TaxonomyError, UserError, shorten
from linnaeus.files import open_lines
from linnaeus.taxonomy.formats.draft import Edge, build, column_error
from linnaeus.taxonomy.formats.records import refuse_child_first
from linnaeus.taxonomy.formats.writing import warn_left_out
from linnaeus.taxonomy.taxonomy import Taxonomy


def read(path: Path) -> Taxonomy:
    """Read lines of ids."""
    numbered = list(_numbered(path))
    edges: list[Edge] = [edge for _, edge in numbered]
    refuse_child_first(path, edges)
    return build(path, edges, lines=[line for line, _ in numbered])


def read_edges(path: Path) -> list[tuple[str, str]]:
    """All (parent, child) pairs as the file has them: cycles, loops and repeats too."""
    return [edge for _, edge in _numbered(path)]


def _numbered(path: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    """Every edge with its line; each id is one object, however often it occurs."""
    known: dict[str, str] = {}
    with open_lines(path) as lines:
        for text in lines:
            ids = [known.setdefault(name, name) for name in text.split()]
            if len(ids) == 1:
                remedy = "Write a parent and a child with a space between them."
                raise column_error(path, lines.line, text, 1, remedy)
            for edge in pairwise(ids):
                yield lines.line, edge


def write(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write one ``parent child`` line an edge, ordered by child."""
    for name, alone in zip(
        taxonomy.nodes, (taxonomy.n_parents + taxonomy.n_children == 0).tolist(), strict=True
    ):
        if name.split() != [name]:
            raise UserError(
                f"The name {shorten(name)} holds white space, which separates ids in this "
                f"format. Write tsv, csv, json, obo or skos instead."
            )
        if alone:
            raise TaxonomyError(
                f"Node {shorten(name)} has neither parent nor child, so this format has no line "
                f"for it. Write tsv, csv, json, obo or skos instead."
            )
    warn_left_out("titles", len(taxonomy.titles), "lshtc")
    warn_left_out("related links", len(taxonomy.related), "lshtc")
    handle.writelines(f"{parent} {child}\n" for parent, child in taxonomy.edges)
