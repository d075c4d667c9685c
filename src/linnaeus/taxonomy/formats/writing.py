"""What writers share: lines in an order that keeps the numbers, and what a format cannot hold."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from linnaeus.errors import UserError, shorten
from linnaeus.taxonomy.taxonomy import Taxonomy


def lines_in_order(taxonomy: Taxonomy, all_roots: bool = False) -> Iterator[tuple[Any, Any]]:
    """The edge list from which the numbering rule gives the same numbers again.

    Nodes come in their order, each with one pair (parent, child) per parent. So every parent is
    named before. A root needs a pair (None, root) only when the next pair does not name it, or
    when it has a title to carry.

    all_roots : give every root a pair of its own
    """
    nodes, ptr = taxonomy.nodes, taxonomy.dag.parent_ptr.tolist()
    parents = taxonomy.dag.parents.tolist()
    for v, name in enumerate(nodes):
        above = parents[ptr[v] : ptr[v + 1]]
        if above:
            yield from ((nodes[p], name) for p in above)
            continue
        last = v + 1 == len(nodes)
        follows = not last and ptr[v + 1] < ptr[v + 2] and parents[ptr[v + 1]] == v
        if all_roots or not follows or name in taxonomy.titles:
            yield None, name


def with_text_names(taxonomy: Taxonomy) -> Taxonomy:
    """The same taxonomy with strings for names: files know no integers."""
    if all(type(name) is str for name in taxonomy.nodes):
        return taxonomy
    texts = [str(name) for name in taxonomy.nodes]
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise UserError(
            f"Two nodes are called {shorten(twice)} once their names are written as text. "
            f"Rename one of them."
        )
    edges = [
        (None if parent is None else str(parent), str(child))
        for parent, child in lines_in_order(taxonomy, all_roots=True)
    ]
    related = [(str(a), str(b)) for a, b in taxonomy.related]
    return Taxonomy.from_edges(edges, related, {str(v): t for v, t in taxonomy.titles.items()})


def reject_characters(taxonomy: Taxonomy, characters: str, kind: str, remedy: str) -> None:
    """Refuse names and titles that a format cannot hold."""
    for name in taxonomy.nodes:
        for what, text in (("name", name), ("title", taxonomy.titles.get(name, ""))):
            if any(c in text for c in characters):
                raise UserError(
                    f"The {what} {shorten(text)} holds {kind}, which this format cannot "
                    f"write. Write {remedy} instead."
                )


def warn_left_out(what: str, count: int, format: str) -> None:
    """Say that a format holds less than the taxonomy has."""
    if count:
        warnings.warn(
            f"The format {format!r} has no place for {what}: {count} are left out. "
            f"The formats tsv, csv, json, obo and skos keep them.",
            stacklevel=2,
        )
