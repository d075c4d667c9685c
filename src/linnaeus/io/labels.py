"""Labels as a file spells them, turned into the names of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError, shorten
from linnaeus.files import open_lines
from linnaeus.io.rows import BadRowError
from linnaeus.taxonomy import Taxonomy

_HINTS = 10  # so many unknown labels get a hint at the nearest name, which takes time to find


class Labels:
    """Turns labels as written into names of nodes; without a taxonomy they stay as they are.

    `ids` maps the ids of an svm file to names, `source` is the file that says so.
    """

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        ids: Mapping[str, str] | None = None,
        source: Path | None = None,
    ) -> None:
        self.taxonomy, self._ids, self._source = taxonomy, ids, source
        nodes = taxonomy.nodes if taxonomy is not None else ()
        self._known: dict[Any, Any] = {str(v): v for v in nodes} | {v: v for v in nodes}
        if ids is not None:
            self._known = {i: self._known.get(n, n) for i, n in ids.items() if self._is_node(n)}
        self._hinted = 0
        self._split = re.compile(_separator(map(str, nodes)))

    def _is_node(self, name: str) -> bool:
        return self.taxonomy is None or name in self._known

    def resolve(self, labels: Iterable[Any]) -> list[Any]:
        """The nodes that the labels of one row stand for, each once."""
        try:
            return list(dict.fromkeys([self._known[label] for label in labels]))
        except (KeyError, TypeError):
            return list(dict.fromkeys([self._node(label) for label in labels]))

    def split(self, cell: str) -> list[Any]:
        """The nodes in a cell of a table: blanks or ``|`` separate, unless names contain them."""
        return self.resolve([part for part in self._split.split(cell.strip()) if part])

    def _node(self, label: Any) -> Any:
        if not isinstance(label, str | int) or isinstance(label, bool):
            raise BadRowError(
                f"the label {shorten(label)} is neither a text nor a whole number. Write the name "
                f"of a node."
            )
        for spelled in (label, str(label)):
            if spelled in self._known:
                return self._known[spelled]
        if self.taxonomy is None and self._ids is None:
            if isinstance(label, str):
                self._known[label] = label  # seen once, it is found at once
            return label
        raise BadRowError(self._unknown(label))

    def _unknown(self, label: Any) -> str:
        if self._ids is None or self._source is None:
            return f"the label {self._no_node(label)}"
        if label not in self._ids:
            return (
                f"the label id {shorten(label)} is not in {self._source.name}. Add a line "
                f"'{label}<tab>name' there. A row without labels begins with a blank."
            )
        return f"the label id {shorten(label)} stands for {self._no_node(self._ids[label])}"

    def _no_node(self, name: Any) -> str:
        self._hinted += 1
        if self._hinted <= _HINTS and self.taxonomy is not None:
            try:
                self.taxonomy.index(name)
            except UserError as error:
                return str(error)
        return (
            f"{shorten(name)} is not a node of the taxonomy. Correct it, or add it to the taxonomy."
        )


def read_label_ids(path: Path) -> dict[str, str]:
    """``id<tab>name`` lines, as they stand beside an svm file."""
    names: dict[str, str] = {}
    with open_lines(path) as lines:
        for line in lines:
            if not line.strip():
                continue
            key, tab, name = line.partition("\t")
            key, name = key.strip(), name.strip()
            if not (tab and key and name):
                raise lines.error(
                    f"{shorten(line)} is not an id and a name. Write them with a tab in between."
                )
            if names.setdefault(key, name) != name:
                raise lines.error(
                    f"the id {shorten(key)} stands for {shorten(name)} here, but for "
                    f"{shorten(names[key])} above. Remove one of the two lines."
                )
    return names


def _separator(names: Iterable[str]) -> str:
    """What separates labels in a cell: whatever occurs in no name."""
    joined = "".join(names)
    blanks, bars = re.search(r"\s", joined) is not None, "|" in joined
    if blanks and bars:
        return r"(?!)"  # nothing: a cell is one label
    if blanks:
        return r"\s*\|\s*"
    return r"\s+" if bars else r"[\s|]+"
