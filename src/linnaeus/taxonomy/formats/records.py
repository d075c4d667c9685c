"""Tables with a header: a node on every row, with its parent and perhaps its title.

The header says which column is what (`headers`). Parents refer to the nodes' ids. Where they do
not, and there is one way to understand them, they are understood and a note says so: words for
nothing (NULL, NaN, 0 where no such id exists), numbers written as 7.0, other case, several parents
in one cell, titles instead of ids.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from linnaeus.errors import FormatError, nearest, shorten
from linnaeus.taxonomy.formats import beside, headers
from linnaeus.taxonomy.formats.draft import Edge, add_title, build, column_error
from linnaeus.taxonomy.formats.notes import note
from linnaeus.taxonomy.formats.tables import Rows, stripped
from linnaeus.taxonomy.taxonomy import Taxonomy

HEADER = ["parent", "child", "title", "relation"]  # our own, under which cells are kept as they are
NOTHING = {"null", "none", "nan", "<na>", "n/a", "#n/a", "\\n", "nil"}
_NO_ID = {"0", "-1", "-", "--", "—"}  # for nothing where the rows are records of their own
_TOPS = {"top", "top level", "toplevel", "top-level", "(root)", "<root>"}  # likewise
QUESTION = (
    "Is the child first? Then say so in a table (tsv or csv) with the header line child, parent; "
    "if the parent is first, with parent, child"
)
_BETWEEN = ("|", ";", ",")


class Entry(NamedTuple):
    """A row: a node with a parent, or with none."""

    line: int
    parent: str
    node: str


class Table:
    """The rows of a table, by what the columns are."""

    def __init__(self, path: Path, header: Sequence[str], rows: Rows, between: str) -> None:
        self.path, self.header = path, header
        self.exact = [cell.casefold() for cell in header] == HEADER
        self.rows = list(self._checked(rows, between))

    def _checked(self, rows: Rows, between: str) -> Rows:
        """Rows as wide as the header; blank ones, as spreadsheets have at the end, are left out."""
        width = len(self.header)
        for line, cells in rows if self.exact else stripped(self.path, rows):
            if len(cells) > width and not any(cells[width:]):
                cells = cells[:width]
            if len(cells) != width:
                remedy = f"Every line needs {width}, as the first."
                raise column_error(self.path, line, between.join(cells), len(cells), remedy)
            if any(cells):
                yield line, cells

    def column(self, number: int) -> list[str]:
        """All cells below one name of the header."""
        return [cells[number] for _, cells in self.rows]


def read(path: Path, line: int, header: list[str], rows: Rows, between: str = ",") -> Taxonomy:
    """The rows below a header."""
    names = [cell.strip() for cell in header]
    roles = headers.roles(names)
    if roles is None:
        raise _unknown_header(path, line, names)
    table = Table(path, header, rows, between)
    roles = roles._replace(parents=(_parent_column(table, roles),))
    _tell_columns(names, roles)
    entries, titles, related = _entries(table, roles)
    edges = [(e.parent or None, e.node) for e in entries]
    lines: list[int | None] = [e.line for e in entries]
    if not table.exact:
        edges, lines = _Parents(path, entries, titles, roles.kind).resolved()
    nodes = {name for pair in [*edges, *related] for name in pair if name is not None}
    titles = beside.titles(path, nodes) | titles
    taxonomy = build(path, edges, titles, related + beside.related(path, nodes), lines)
    if roles.kind in ("category", "name", "title"):
        _tell_namesakes(taxonomy)
    return taxonomy


def _unknown_header(path: Path, line: int, names: list[str]) -> FormatError:
    known = [cell for cell in names if headers.is_parent(headers.plain(cell))]
    missing = "the node" if known else "the parent"
    return FormatError(
        path,
        f"the first line, {shorten(', '.join(names))}, looks like a header, but no column of it is "
        f"understood as {missing}. {headers.understood()}. Rename a column; or, if the first line "
        f"is no header, put one above it: parent, child.",
        line,
    )


def _parent_column(table: Table, roles: headers.Roles) -> int:
    """Of several columns for the parent the one that names most nodes."""
    if len(roles.parents) == 1:
        return roles.parents[0]
    nodes = set(table.column(roles.node))
    return max(roles.parents, key=lambda i: (sum(p in nodes for p in table.column(i)), -i))


def _tell_columns(names: list[str], roles: headers.Roles) -> None:
    """Say which column was taken as what, as a guess unless the names are our own."""
    used = {"node": roles.node, "parent": roles.parents[0], "title": roles.title}
    said = [f"{what} from {names[i]!r}" for what, i in used.items() if i >= 0]
    left = [
        n or "(no name)" for i, n in enumerate(names) if i not in {*used.values(), roles.relation}
    ]
    rest = f"; not used: {', '.join(map(repr, left))}" if left else ""
    own = {headers.plain(names[i]) for i in used.values() if i >= 0} <= set(HEADER)
    note(f"columns: {', '.join(said)}{rest}", guess=bool(left) or not own)


def _entries(
    table: Table, roles: headers.Roles
) -> tuple[list[Entry], dict[str, str], list[tuple[str, str]]]:
    """Edges, titles and links that the rows say."""
    entries: list[Entry] = []
    titles: dict[str, str] = {}
    related: list[tuple[str, str]] = []
    for line, cells in table.rows:
        parent, node = cells[roles.parents[0]], cells[roles.node]
        if not node:
            raise FormatError(
                table.path,
                f"the name of the child is empty (column {table.header[roles.node]!r}). Write a "
                f"name, or remove the line.",
                line,
            )
        if roles.title >= 0:
            add_title(table.path, titles, node, cells[roles.title], line)
        if roles.relation >= 0 and _is_related(table.path, line, cells[roles.relation]):
            if not parent:
                raise FormatError(
                    table.path, "a related link needs two names. Fill the first.", line
                )
            related.append((parent, node))
        else:
            entries.append(Entry(line, parent, node))
    return entries, titles, related


def _is_related(path: Path, line: int, relation: str) -> bool:
    if relation.lower() not in ("", "broader", "related"):
        raise FormatError(
            path,
            f"the relation {shorten(relation)} is unknown. Write broader (or nothing) for the "
            f"hierarchy, related for a symmetric link.",
            line,
        )
    return relation.lower() == "related"


class _Parents:
    """Which nodes the cells for the parent mean."""

    def __init__(self, path: Path, entries: list[Entry], titles: dict[str, str], kind: str) -> None:
        self.path, self.entries, self.titles, self.kind = path, entries, titles, kind
        self.ids = dict.fromkeys(entry.node for entry in entries)
        self.means: dict[str, list[str]] = {"": []}  # parents of a cell; empty for a top node
        self.rooted = any(not entry.parent for entry in entries)

    def resolved(self) -> tuple[list[Edge], list[int | None]]:
        """Edges, and the lines where they were read."""
        self._nothing()
        self._several()
        if self.kind != "child":
            self._alike("a number written as a decimal", lambda t: re.sub(r"^(\d+)\.0+$", r"\1", t))
            self._alike("written in other case", str.casefold)
            self._by_title()
        self._unknown()
        found: dict[tuple[str | None, str], int] = {}
        for line, cell, node in self.entries:
            parents: list[str | None] = [*self.means.get(cell, [cell])]
            for parent in parents or [None]:
                found.setdefault((parent, node), line)
        return list(found), list(found.values())

    def _open(self) -> list[str]:
        """Cells that are no id, and not understood yet."""
        cells = dict.fromkeys(entry.parent for entry in self.entries)
        return [cell for cell in cells if cell not in self.ids and cell not in self.means]

    def _take(self, found: dict[str, list[str]], what: str) -> None:
        if found:
            self.means |= found
            cell, nodes = next(iter(found.items()))
            shown = f"{shorten(cell)} as {' and '.join(map(shorten, nodes)) or 'no parent'}"
            more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
            note(f"parents {what} were understood: {shown}{more}")

    def _nothing(self) -> None:
        empty = NOTHING | (_NO_ID | _TOPS if self.kind not in ("child", "narrower") else set())
        titles = {*self.titles.values()}
        found: dict[str, list[str]] = {
            c: [] for c in self._open() if c.casefold() in empty and c not in titles
        }
        self.rooted |= bool(found)
        self._take(found, "that stand for none")

    def _several(self) -> None:
        cells = {entry.parent for entry in self.entries}
        found = {}
        for cell in self._open():
            for sep in _BETWEEN:
                parts = [part.strip() for part in cell.split(sep)]
                known = all(p in self.ids or (p and p in cells) for p in parts)
                if len(parts) > 1 and known:
                    found[cell] = parts
                    break
        self._take(found, "several in one cell")

    def _alike(self, what: str, key: Callable[[str], str]) -> None:
        """Cells that one id equals but for how it is written."""
        groups: dict[str, list[str]] = defaultdict(list)
        for name in self.ids:
            groups[key(name)].append(name)
        found = {c: groups[key(c)] for c in self._open() if len(groups.get(key(c), ())) == 1}
        self._take(found, what)

    def _by_title(self) -> None:
        left, groups = self._open(), defaultdict[str, list[str]](list)
        for name, title in self.titles.items():
            groups[title].append(name)
        if not left or not all(cell in groups for cell in left):
            return
        for cell in left:
            if len(groups[cell]) > 1:
                line = next(e.line for e in self.entries if e.parent == cell)
                raise FormatError(
                    self.path,
                    f"the parent {shorten(cell)} is the title of several nodes "
                    f"({', '.join(map(shorten, groups[cell][:3]))}). Write the id of one.",
                    line,
                )
        self._take({cell: groups[cell] for cell in left}, "given by title")

    def _unknown(self) -> None:
        """Parents without a row: top nodes, but an error where records have top nodes elsewhere."""
        left = self._open()
        if not left or self.kind in ("child", "narrower"):
            return
        if self.kind == "id" and self.rooted:
            entry = next(entry for entry in self.entries if entry.parent == left[0])
            raise FormatError(
                self.path,
                f"node {shorten(entry.node)} has the unknown parent {shorten(left[0])}"
                f"{nearest(left[0], self.ids)}. Add a line for it, or leave the parent empty for a "
                f"top node.",
                entry.line,
            )
        if self.kind == "id" or self.rooted:
            many = f" and {len(left) - 1:,} more have" if len(left) > 1 else " has"
            note(f"{shorten(left[0])}{many} no line of its own, and became a top node")


def _tell_namesakes(taxonomy: Taxonomy) -> None:
    several = [v for v, n in zip(taxonomy.nodes, taxonomy.n_parents, strict=True) if n > 1]
    if several:
        many = f" and {len(several) - 1:,} more" if len(several) > 1 else ""
        note(
            f"{shorten(several[0])}{many} below several parents is one node; for several, give ids"
        )


def child_first(edges: Iterable[Edge]) -> bool:
    """Whether no node has two children, while some have several parents: a tree upside down."""
    pairs = {(parent, child) for parent, child in edges if parent not in (None, child)}
    children = Counter(parent for parent, _ in pairs)
    parents = Counter(child for _, child in pairs)
    return max(children.values(), default=0) == 1 and max(parents.values(), default=0) > 1


def refuse_child_first(path: Path, edges: Sequence[Edge]) -> None:
    """Ask about a file without a header that would be upside down."""
    if child_first(edges):
        raise FormatError(
            path,
            f"read with the parent first, no node has two children, while some have several "
            f"parents. {QUESTION}.",
        )
