"""From what a reader collects to a taxonomy, with errors that name the file and the line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from linnaeus.errors import FormatError, TaxonomyError, shorten
from linnaeus.taxonomy.taxonomy import Taxonomy

Edge = tuple[str | None, str]
SEPARATORS = ("/", " > ", " | ", " :: ")  # in the ids of namesakes: the first that is clear
PATH_LIMIT = 100_000_000  # parts times characters of one path, where every part gets a path as id


class TaxonomyFileError(FormatError, TaxonomyError):
    """The nodes and edges in a file do not form a taxonomy."""


def build(
    path: Path,
    edges: list[Edge],
    titles: dict[str, str] | None = None,
    related: Sequence[tuple[str, str]] = (),
    lines: Sequence[int | None] = (),
) -> Taxonomy:
    """The taxonomy of a file; `lines` says where each edge was read, if anybody knows."""
    if not edges and not related:
        raise FormatError(
            path, "there is no node in the file. Check that it is the right file, and complete."
        )
    try:
        return Taxonomy.from_edges(edges, related, titles)
    except TaxonomyError as error:
        line = _line_at_fault(edges, lines)
        raise TaxonomyFileError(path, str(error), line, error.shell) from None


def of_paths(path: Path, rows: list[list[str]], ids: str = "path") -> Taxonomy:
    """The taxonomy of rows of names; namesakes get their paths as ids, whatever names hold."""
    error: TaxonomyError | None = None
    for sep in SEPARATORS:
        try:
            return Taxonomy.from_paths(rows, sep, ids) if rows else build(path, [])
        except TaxonomyError as caught:
            error = caught
    raise TaxonomyFileError(path, str(error)) from None


def _line_at_fault(edges: list[Edge], lines: Sequence[int | None]) -> int | None:
    """Where a node is its own parent, or a root that has a parent elsewhere."""
    below = {child for parent, child in edges if parent is not None}
    for (parent, child), line in zip(edges, lines, strict=False):
        if parent == child or (parent is None and child in below):
            return line
    return None


def add_title(path: Path, titles: dict[str, str], name: str, title: str, line: int) -> None:
    """Note a node's title; an empty one is none, and two that differ are an error."""
    if title and titles.setdefault(name, title) != title:
        raise FormatError(
            path,
            f"node {shorten(name)} has the title {shorten(title)} here, but "
            f"{shorten(titles[name])} before. Keep one of them.",
            line,
        )


def column_error(path: Path, line: int, text: str, found: int, expected: str) -> FormatError:
    """A line with too few or too many columns."""
    columns = "1 column" if found == 1 else f"{found} columns"
    return FormatError(path, f"found {columns} in {shorten(text)}. {expected}", line)


class Terms:
    """Nodes that a file declares one by one, with edges among them in any order.

    A declared node without a parent is a root. An edge to a node that is not declared is an
    error, for the file is then not whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.titles: dict[str, str] = {}
        self.related: list[tuple[str, str]] = []
        self._declared: dict[str, int | None] = {}
        self._edges: list[Edge] = []
        self._lines: list[int | None] = []

    def __contains__(self, name: str) -> bool:
        return name in self._declared

    def declare(self, name: str, line: int | None = None, title: str | None = None) -> None:
        """A node of its own; the second one with the same id is an error."""
        if not name:
            raise FormatError(self.path, "a node has an empty name. Give it a name.", line)
        if name in self._declared:
            first = self._declared[name]
            before = f", first on line {first}" if first is not None else ""
            raise FormatError(
                self.path,
                f"the id {shorten(name)} occurs twice{before}. Ids must be unique: rename or "
                f"remove one of the two.",
                line,
            )
        self._declared[name] = line
        self._add(None, name, line)
        if title:
            self.titles[name] = title

    def edge(self, parent: str, child: str, line: int | None = None) -> None:
        """`child` lies below `parent`; both are declared somewhere in the file."""
        self._add(parent, child, line)

    def _add(self, parent: str | None, child: str, line: int | None) -> None:
        self._edges.append((parent, child))
        self._lines.append(line)

    def build(self) -> Taxonomy:
        """The taxonomy, once the whole file is read."""
        below: set[str] = set()
        for (parent, child), line in zip(self._edges, self._lines, strict=True):
            if parent is not None:
                self._check_known(parent, child, line)
                below.add(child)
        kept = [
            (edge, line)
            for edge, line in zip(self._edges, self._lines, strict=True)
            if edge[0] is not None or edge[1] not in below
        ]
        edges, lines = [edge for edge, _ in kept], [line for _, line in kept]
        return build(self.path, edges, self.titles, self.related, lines)

    def _check_known(self, parent: str, child: str, line: int | None) -> None:
        if parent not in self._declared:
            raise FormatError(
                self.path,
                f"node {shorten(child)} has the unknown parent {shorten(parent)}. Add an entry "
                f"for the parent, or remove the link to it.",
                line,
            )
        if child not in self._declared:
            raise FormatError(
                self.path,
                f"node {shorten(parent)} has the unknown child {shorten(child)}. Add an entry "
                f"for the child, or remove the link to it.",
                line,
            )
