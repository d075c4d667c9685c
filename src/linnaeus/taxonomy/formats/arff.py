"""The class hierarchy in the header of a Clus ARFF file.

The attribute of type ``hierarchical`` lists the classes, separated by commas, in one of two ways:

- a tree lists paths, ``2,2/0,2/0/0``; the ids of the nodes are the paths;
- a DAG lists edges, ``root/A,root/B,A/C,B/C``; ``root`` stands for nothing above and is no node.

The list is taken for edges when every item is a pair and one of them begins with ``root/``.
"""

from __future__ import annotations

import re
from pathlib import Path

from linnaeus.errors import FormatError, UserError, shorten
from linnaeus.files import open_lines
from linnaeus.taxonomy.formats.draft import PATH_LIMIT, Edge, build
from linnaeus.taxonomy.taxonomy import Taxonomy

_ATTRIBUTE = re.compile(
    r"""\s*@attribute\s+(?:'[^']*'|"[^"]*"|\S+)\s+hierarchical\s+(\S.*)""", re.IGNORECASE
)


def read(path: Path) -> Taxonomy:
    """Read the header of an ARFF file as far as the class attribute."""
    with open_lines(path) as lines:
        for text in lines:
            if text.lstrip()[:5].lower() == "@data":
                break
            if match := _ATTRIBUTE.fullmatch(text):
                try:
                    edges = class_edges(match[1])
                except UserError as error:
                    raise lines.error(str(error)) from None
                return build(path, edges)
    raise FormatError(
        path,
        "the header has no attribute of type hierarchical. Add a line such as "
        "'@ATTRIBUTE class hierarchical A,A/B,A/C' before @DATA.",
    )


def class_edges(spec: str) -> list[Edge]:
    """(parent, child) pairs, parent None for the tops, from the text after ``hierarchical``."""
    items = [[part.strip() for part in item.split("/")] for item in spec.split(",")]
    for parts in items:
        text = "/".join(parts)
        if not all(parts):
            raise UserError(
                f"the class {shorten(text)} has an empty name. Write one name between every two "
                f"separators."
            )
        if len(parts) * len(text) > PATH_LIMIT:
            raise UserError(
                f"the class {shorten(text)} has {len(parts):,} parts. Separate classes by commas."
            )
    pairs = [(parts[0], parts[1]) for parts in items if len(parts) == 2]
    if len(pairs) == len(items) and any(parent.lower() == "root" for parent, _ in pairs):
        return _dag_edges(pairs)
    return _tree_edges(["/".join(parts) for parts in items])


def _dag_edges(pairs: list[tuple[str, str]]) -> list[Edge]:
    """The edges as listed; an edge from the root counts where it is the only one."""
    below = {child for parent, child in pairs if parent.lower() != "root"}
    return [
        (None if parent.lower() == "root" else parent, child)
        for parent, child in pairs
        if parent.lower() != "root" or child not in below
    ]


def _tree_edges(paths: list[str]) -> list[Edge]:
    """Every path below the path less its last part; the ways down to a path are nodes too."""
    edges: dict[str, str | None] = {}
    for path in paths:
        missing = []
        while path and path not in edges:
            missing.append(path)
            path = path.rpartition("/")[0]
        for path in reversed(missing):
            edges[path] = path.rpartition("/")[0] or None
    return [(parent, path) for path, parent in edges.items()]
