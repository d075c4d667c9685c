"""JSON: our own form, nested objects, or a list of objects that name their children or parents.

- nested: ``{"name": "A", "title": ..., "children": [...]}``, a list of such, or objects in
  objects, ``{"A": {"B": {}}}``; with an ``id`` the ``name`` is the title, and a name that
  stands under several parents makes paths the ids;
- like the AudioSet ontology: ``[{"id": ..., "name": ..., "child_ids": [...]}, ...]``;
- records that name their parents, ``[{"id": ..., "name": ..., "parent": ...}, ...]``, with keys
  as the header of a table has them;
- our own, which keeps everything: ``{"format": "linnaeus-taxonomy", "nodes": [{"id": ...,
  "title": ..., "parents": [...]}, ...], "related": [[a, b], ...]}``.

Numbers that serve as names become text, as in every other format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

from linnaeus.errors import FormatError, shorten
from linnaeus.files import read_text
from linnaeus.taxonomy.formats import edge_list, headers
from linnaeus.taxonomy.formats.draft import Terms
from linnaeus.taxonomy.taxonomy import Taxonomy

_OWN = "linnaeus-taxonomy"


def read(path: Path) -> Taxonomy:
    """Read any of these forms; integers are taken as text."""
    text = read_text(path)
    data = _parse(path, text)
    reader = _Reader(path, text)
    if isinstance(data, dict) and data.get("format") == _OWN:
        reader.own(data)
    elif records_found := _records(data):
        return _of_records(path, records_found)
    elif isinstance(data, list) and any(isinstance(x, dict) and "child_ids" in x for x in data):
        reader.audioset(data)
    else:
        reader.nested(data if isinstance(data, dict) else reader._list(data, "the file"))
    return reader.terms.build()


def _records(data: Any) -> list[dict[str, Any]]:
    """Objects that name their parents, in a list that may be wrapped in an object; or none."""
    if isinstance(data, dict) and len(lists := [v for v in data.values() if _is_records(v)]) == 1:
        return list(lists[0])
    return list(data) if _is_records(data) else []


def _is_records(data: Any) -> bool:
    if not isinstance(data, list) or not data or not all(isinstance(x, dict) for x in data):
        return False
    keys = dict.fromkeys(key for entry in data for key in entry)
    return headers.roles(list(keys)) is not None and not {"children", "child_ids"} & set(keys)


def _of_records(path: Path, data: list[dict[str, Any]]) -> Taxonomy:
    try:
        return edge_list.of_rows(path, _rows(data), ",")
    except FormatError as error:
        where = f"entry {error.line - 1}: " if error.line else ""
        raise type(error)(path, f"{where}{error.reason}") from None


def _rows(data: list[dict[str, Any]]) -> Iterator[tuple[int, list[str]]]:
    """Records as the rows of a table: one for each of several parents, without lines."""
    keys = list(dict.fromkeys(key for entry in data for key in entry))
    yield 1, keys
    parents = [i for i, key in enumerate(keys) if headers.is_parent(headers.plain(key))]
    for number, entry in enumerate(data, 2):
        values = [entry.get(key) for key in keys]
        above = [v for v in (values[i] for i in parents) if isinstance(v, list)]
        for k in range(max([1, *map(len, above)])):
            cells = [(v[k] if k < len(v) else None) if isinstance(v, list) else v for v in values]
            yield number, ["" if v is None else str(v) for v in cells]


def _parse(path: Path, text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for i, key in enumerate(keys) if key in keys[:i])
            line = _line_of(text, twice)
            raise FormatError(
                path, f"the key {shorten(twice)} occurs twice in one object. Rename one.", line
            )
        return out

    try:
        return json.loads(text, parse_int=str, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise FormatError(
            path,
            f"this is not valid JSON ({error.msg}, at column {error.colno}). Check commas, "
            f"quotes and brackets there.",
            error.lineno,
        ) from None
    except RecursionError:
        raise FormatError(
            path, "the objects are nested too deeply. Write the taxonomy as an edge list (tsv)."
        ) from None


def _line_of(text: str, name: str) -> int | None:
    """The line on which a name is declared for the second time, as far as the text shows it."""
    quoted = re.escape(json.dumps(name, ensure_ascii=False))
    for pattern in (rf'"(?:id|name)"\s*:\s*{quoted}', rf"{quoted}\s*:", quoted):
        places = [match.start() for match in re.finditer(pattern, text)]
        if len(places) > 1:
            return text.count("\n", 0, places[1]) + 1
    return None


class _Reader:
    """Turns parsed JSON into declared nodes and edges."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text, self.terms = path, text, Terms(path)

    def own(self, data: dict[str, Any]) -> None:
        """The form that `write` writes."""
        for entry in self._objects(data.get("nodes"), "nodes"):
            name = self._declare(entry)
            for parent in self._list(entry.get("parents"), "parents"):
                self.terms.edge(self._name(parent), name)
        for link in self._list(data.get("related"), "related"):
            if not (isinstance(link, list) and len(link) == 2):
                self._fail(link, "a pair of ids in 'related'")
            a, b = map(self._name, link)
            if a not in self.terms or b not in self.terms:
                self._fail(link, "a link between ids of 'nodes'")
            self.terms.related.append((a, b))

    def audioset(self, data: list[Any]) -> None:
        """Objects that list the ids of their children."""
        for entry in self._objects(data, "the list"):
            name = self._declare(entry)
            for child in self._list(entry.get("child_ids"), "child_ids"):
                self.terms.edge(name, self._name(child))

    def nested(self, data: Any) -> None:
        """Objects within objects, parents before children and in the order of the file.

        Where a name without an id stands under several parents, nodes are called by their paths.
        """
        entries = list(self._walk(data))
        places: dict[str, set[int]] = {}
        for above, entry in entries:
            if "id" not in entry:
                places.setdefault(self._name(entry.get("name")), set()).add(above)
        by_path = any(len(parents) > 1 for parents in places.values())
        names: list[str] = []
        for above, entry in entries:
            if by_path and "id" not in entry:
                path = [names[above]] if above >= 0 else []
                title = entry.get("title", entry["name"])
                entry = {**entry, "id": "/".join([*path, entry["name"]]), "title": title}
            names.append(self._declare(entry))
            if above >= 0:
                self.terms.edge(names[above], names[-1])

    def _walk(self, data: Any) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every object with the number of the one above it (-1 for none), parents first."""
        stack = [(-1, *entry) for entry in reversed(list(self._entries(data)))]
        number = 0
        while stack:
            above, entry, nest = stack.pop()
            yield above, entry
            stack.extend((number, *below) for below in reversed(list(self._entries(nest))))
            number += 1

    def _entries(self, nest: Any) -> Iterator[tuple[dict[str, Any], Any]]:
        """The nodes at the top of a nest, as objects with an id, and what lies below each."""
        items = nest if isinstance(nest, list) else [] if nest is None else [nest]
        for item in items:
            if isinstance(item, dict) and isinstance(item.get("id", item.get("name")), str):
                yield item, item.get("children")
            elif isinstance(item, dict):
                yield from (({"name": name}, children) for name, children in item.items())
            else:
                yield {"name": self._name(item)}, None

    def _declare(self, entry: dict[str, Any]) -> str:
        """Note a node: its id is ``id`` or else ``name``; its title ``title`` or else ``name``."""
        name = self._name(entry.get("id", entry.get("name")))
        title = entry.get("title", entry.get("name") if "id" in entry else None)
        if title is not None and not isinstance(title, str):
            self._fail(title, "a title (text)")
        line = _line_of(self.text, name) if name in self.terms else None
        self.terms.declare(name, line, title)
        return name

    def _name(self, value: Any) -> str:
        return value if isinstance(value, str) else self._fail(value, "a name (text or a number)")

    def _list(self, value: Any, what: str) -> list[Any]:
        good = value is None or isinstance(value, list)
        return (value or []) if good else self._fail(value, f"a list in {what!r}")

    def _objects(self, value: Any, what: str) -> Iterator[dict[str, Any]]:
        for item in self._list(value, what):
            yield item if isinstance(item, dict) else self._fail(item, f"an object in {what}")

    def _fail(self, value: Any, expected: str) -> NoReturn:
        raise FormatError(
            self.path,
            f"found {shorten(value)} where {expected} belongs. Nodes are objects with an id or a "
            f"name; see the forms in the documentation of the format 'json'.",
        )


def write(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write our own form, one line a node."""
    nodes = []
    for name in taxonomy.nodes:
        entry: dict[str, Any] = {"id": name}
        if name in taxonomy.titles:
            entry["title"] = taxonomy.titles[name]
        if parents := taxonomy.parents(name):
            entry["parents"] = parents
        nodes.append(entry)
    handle.write(f'{{\n"format": {json.dumps(_OWN)},\n"version": 1,\n"nodes": ')
    _write_list(handle, nodes)
    handle.write(',\n"related": ')
    _write_list(handle, taxonomy.related)
    handle.write("\n}\n")


def _write_list(handle: TextIO, items: Any) -> None:
    lines = ",\n".join(map(json.JSONEncoder(ensure_ascii=False).encode, items))
    handle.write(f"[\n{lines}\n]" if lines else "[]")
