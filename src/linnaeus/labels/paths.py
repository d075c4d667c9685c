"""Labels as paths: rows of names from a root down, ragged or padded, walked in a taxonomy.

    an array or a data frame    a column for each level, "", None or NaN below the end of a path
    lists                       of names, as long as the path, or padded in the same way
    lists of lists              of such paths, for several labels per row; also as one array

A name is a node's id or its title, so that namesakes below different parents are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.labels.names import is_missing, plain_names

Path = tuple[Any, ...]


class Hierarchy(Protocol):
    """What is asked of a taxonomy."""

    @property
    def roots(self) -> tuple[Any, ...]: ...

    @property
    def titles(self) -> Mapping[Any, str]: ...

    def parents(self, v: Any) -> tuple[Any, ...]: ...

    def children(self, v: Any) -> tuple[Any, ...]: ...

    def __contains__(self, name: object) -> bool: ...


class Layout(NamedTuple):
    """How paths were laid out."""

    several: bool  # paths per row
    width: int = 0  # of padded rows; 0 for ragged ones
    pad: Any = ""
    array: Any = None  # the type of an array; None for lists and data frames
    whole: bool = False  # whether all names are whole numbers
    titles: bool = False  # whether some node was called by its title
    top: bool = True  # whether paths begin at a root, and not below a sole one

    def answer(self, names: Sequence[Any], taxonomy: Hierarchy) -> Any:
        """Nodes, one per row or a list of them, as paths in this layout."""
        known: dict[Any, list[Any]] = {}
        names = names if self.several else plain_names(names)
        flat = [v for row in names for v in row] if self.several else names
        for name in flat:
            if name not in known:
                known[name] = self._path(name, taxonomy)
        width = max([self.width, *map(len, known.values())]) if self.width else 0
        padded = {v: path + [self.pad] * (width - len(path)) for v, path in known.items()}
        if not self.several:
            rows: list[Any] = [padded[v].copy() for v in names]
            return rows if self.array is None else _array(rows, self.array, (len(rows), width))
        rows = [[padded[v].copy() for v in _ends(row, known)] for row in names]
        if self.array is None:
            return rows
        most = max(map(len, rows), default=0)
        filled = [row + [[self.pad] * width] * (most - len(row)) for row in rows]
        return _array(filled, self.array, (len(rows), most, width))

    def _path(self, name: Any, taxonomy: Hierarchy) -> list[Any]:
        """From a root down to a node; by the parents that come first, where there are several."""
        path = [name]
        while parents := taxonomy.parents(path[-1]):
            path.append(parents[0])
        path = path[-1::-1] if self.top or len(path) == 1 else path[-2::-1]
        named = [taxonomy.titles.get(v, v) for v in path] if self.titles else path
        return [int(v) for v in named] if self.whole else named


def _ends(names: Sequence[Any], path: Mapping[Any, list[Any]]) -> list[Any]:
    """The nodes whose paths go not on to another one: a path says all that is above it."""
    passed = {tuple(path[v][:i]) for v in names for i in range(len(path[v]))}
    return [v for v in names if tuple(path[v]) not in passed]


def _array(rows: list[Any], kind: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Rows of names as an array of a kind; texts are never cut, and numbers may need no filling."""
    fits = all(isinstance(v, int | float) for v in np.array(rows, dtype=object).ravel())
    dtype = np.dtype(str) if kind.kind == "U" else kind if fits else np.dtype(object)
    return np.array(rows, dtype=dtype).reshape(shape)


class Rows(NamedTuple):
    """Paths that were read, row by row, and how they were laid out."""

    paths: list[list[Path]]  # one or several for each row
    layout: Layout


# -- reading ---------------------------------------------------------------------------------------


def is_pad(value: Any) -> bool:
    """Whether a value fills up a row."""
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def are_padded(rows: Sequence[Any]) -> bool:
    """Whether lists of names are paths that were filled up to one width."""
    width = len(rows[0])
    if width < 2 or any(isinstance(row, set | frozenset) or len(row) != width for row in rows):
        return False
    pads = [[is_pad(v) for v in row] for row in rows]
    return any(map(any, pads)) and not any(row[0] for row in pads)


def hold_paths(rows: Sequence[Any], is_list: Callable[[type], bool]) -> bool:
    """Whether rows are lists of lists."""
    kinds = {type(entry) for row in rows for entry in row}
    return bool(kinds) and all(map(is_list, kinds))


def read_array(values: npt.NDArray[Any], is_table: bool = False) -> Rows:
    """The rows of an array with two or three dimensions."""
    several = values.ndim == 3
    entries = plain_names(values.ravel())
    kind = None if is_table else values.dtype
    layout = Layout(several, values.shape[-1], _pad(entries), kind)
    return _rows(values.tolist(), layout)


def read_lists(rows: Sequence[Any], several: bool) -> Rows:
    """The rows of lists of names, or of lists of lists of names."""
    rows = [[plain_names(path) for path in row] if several else plain_names(row) for row in rows]
    paths = [path for row in rows for path in row] if several else rows
    filled = any(is_pad(v) for path in paths for v in path)
    width = max(map(len, paths), default=0) if filled else 0
    return _rows(rows, Layout(several, width, _pad([v for path in paths for v in path])))


def _pad(entries: Iterable[Any]) -> Any:
    """What rows are filled up with: the first of its kind, "" where there is none."""
    seen = next((v for v in entries if is_pad(v)), "")
    return seen if isinstance(seen, str | float) else None


def _rows(rows: Sequence[Any], layout: Layout) -> Rows:
    if layout.several:
        kept = [[path for path in row if not all(map(is_pad, path))] for row in rows]
    else:
        kept = [[row] for row in rows]
    paths = [[_path(path, i) for path in row] for i, row in enumerate(kept)]
    kinds = {type(name) for row in paths for path in row for name in path}
    return Rows(paths, layout._replace(whole=kinds == {int}))


def _path(row: Sequence[Any], number: int) -> Path:
    """A path without what fills it up."""
    end = len(row)
    while end and is_pad(row[end - 1]):
        end -= 1
    path = tuple(_whole(v) for v in row[:end])
    if not path or any(map(is_pad, path)):
        lacks = "is empty" if not path else "has a gap"
        raise UserError(
            f"Row {number}: the path {shorten(list(row))} {lacks}. Name every node from a root "
            f"down, and fill up at the end only; leave out a row that has no label."
        )
    return path


def _whole(name: Any) -> Any:
    """Whole numbers come as floats where NaN stands beside them."""
    return int(name) if isinstance(name, float) and name.is_integer() else name


# -- walking ---------------------------------------------------------------------------------------


def walked(rows: Rows, taxonomy: Hierarchy) -> tuple[list[list[Any]], Layout]:
    """The node in which each path ends, and the layout with what was learned on the way."""
    walk = _Walk(taxonomy)
    ends: dict[Path, Any] = {}
    for number, row in enumerate(rows.paths):
        for path in row:
            if path not in ends:
                ends[path] = walk.end(path, number)
    layout = rows.layout._replace(titles=walk.by_title, top=not walk.below_top)
    return [[ends[path] for path in row] for row in rows.paths], layout


class _Walk:
    """Finds paths in a taxonomy."""

    def __init__(self, taxonomy: Hierarchy) -> None:
        self.taxonomy = taxonomy
        self.by_title = False
        self.below_top = False
        self._steps: dict[Any, dict[Any, list[Any]]] = {}

    def end(self, path: Path, row: int) -> Any:
        """The node in which a path ends."""
        node = self._first(path[0], row)
        for name in path[1:]:
            found = self._named(node, self.taxonomy.children(node)).get(name, [])
            if len(found) != 1:
                raise self._lost(path, name, node, found, row)
            self.by_title |= found[0] != name
            node = found[0]
        return node

    def _first(self, name: Any, row: int) -> Any:
        """Where a path begins: at a root, below a sole one, or at a node with this id."""
        roots = self.taxonomy.roots
        found = self._named(None, roots).get(name, [])
        if not found and len(roots) == 1:
            found = self._named(roots[0], self.taxonomy.children(roots[0])).get(name, [])
            self.below_top |= bool(found)
        if not found and name in self.taxonomy:
            found = [name]
        if len(found) == 1:
            self.by_title |= found[0] != name
            return found[0]
        hint = nearest(name, self._named(None, roots))
        what = f"names {len(found)} nodes" if found else f"is not a root of the taxonomy{hint}"
        raise UserError(
            f"Row {row}: its path begins with {shorten(name)}, which {what}. Name every node from "
            f"a root down, by id or by title."
        )

    def _named(self, node: Any, among: Sequence[Any]) -> dict[Any, list[Any]]:
        """Nodes below a node by id; by title, where that is no id among them."""
        if node not in self._steps:
            steps: dict[Any, list[Any]] = {v: [v] for v in among}
            ids, titles = set(among), self.taxonomy.titles
            for v in among:
                title = titles.get(v, v)
                if title not in ids:
                    steps.setdefault(title, []).append(v)
                    if isinstance(title, str) and title.isdecimal():  # of a whole number
                        steps.setdefault(int(title), []).append(v)
            self._steps[node] = steps
        return self._steps[node]

    def _lost(self, path: Path, name: Any, node: Any, found: list[Any], row: int) -> UserError:
        known = self._named(node, self.taxonomy.children(node))
        what = f"names {len(found)} nodes" if found else "is not"
        hint = "" if found else nearest(name, known)
        return UserError(
            f"Row {row}: in the path {shorten(list(path))} {shorten(name)} {what} below "
            f"{shorten(node)} in the taxonomy{hint}. Use the names of its children, or "
            f"taxonomy='infer' to make the taxonomy from the paths."
        )
