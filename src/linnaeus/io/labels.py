"""Labels as a file spells them, turned into the names of nodes.

People write ids, titles or whole paths, one or several in a cell, with other case or blanks than
the taxonomy has. What a cell means is decided by the taxonomy: the reading under which all of its
parts are nodes. Without a taxonomy the cells themselves have to show what separates labels, and
whether labels are paths; `taxonomy_of` then makes the taxonomy of them.
"""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.files import open_lines
from linnaeus.io import separators
from linnaeus.io.options import ReadOptions
from linnaeus.io.rows import BadRowError
from linnaeus.io.spellings import alike, is_nothing, same, with_code
from linnaeus.taxonomy import Taxonomy

_HINTS = 10  # so many unknown labels get a hint at the nearest name, which takes time to find
_KEPT = 100_000  # cells whose meaning is remembered


class Labels:
    """Turns labels as written into names of nodes; without a taxonomy they stay as they are.

    `ids` maps the ids of an svm file to names, `source` is the file that says so. `infer` is for a
    file without a taxonomy: labels become paths (tuples), of which `taxonomy_of` makes one.
    """

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        ids: Mapping[str, str] | None = None,
        source: Path | None = None,
        *,
        options: ReadOptions | None = None,
        infer: bool = False,
    ) -> None:
        self.taxonomy, self._ids, self._source, self.infer = taxonomy, ids, source, infer
        options = options or ReadOptions()
        self._asked, self.path_separator = options, options.path_separator
        nodes = taxonomy.nodes if taxonomy is not None else ()
        self._known: dict[Any, Any] = {str(v): v for v in nodes} | {v: v for v in nodes}
        if ids is not None:
            self._known = {i: self._known.get(n, n) for i, n in ids.items() if self._is_node(n)}
        self._hinted = 0
        self._cells: dict[Any, list[Any]] = {}
        self._loose: dict[str, Any] | None = None
        self.other_spellings: Counter[tuple[str, str]] = Counter()  # (as written, the node)
        self.by_title = self.by_both = 0
        self.repeated = False  # whether the last name of some row fills the levels below it
        self.missing: dict[str, None] = {}  # cells that stand for no label
        self._ways = separators.ways(map(str, nodes), options.label_separator)
        self._learned = False
        self.notes: list[str] = []

    def _is_node(self, name: str) -> bool:
        return self.taxonomy is None or name in self._known

    # -- the labels of one row ----------------------------------------------------------------

    def resolve(self, labels: Iterable[Any]) -> list[Any]:
        """The nodes that the labels of one row stand for, each once."""
        try:
            return list(dict.fromkeys([self._known[label] for label in labels]))
        except (KeyError, TypeError):
            return list(dict.fromkeys([self._node(label) for label in labels]))

    def of_value(self, given: Any) -> list[Any]:
        """The nodes of a typed value: a text as a cell has it, a list, one label, or nothing."""
        if isinstance(given, str):
            return self.split(given)
        return self.resolve([] if given is None else given if isinstance(given, list) else [given])

    def split(self, cell: str) -> list[Any]:
        """The nodes in a cell of a table, however they are separated."""
        found = self._cells.get(cell)
        if found is None:
            found = self._split(cell.strip())
            if len(self._cells) < _KEPT:
                self._cells[cell] = found
        return list(found)

    def _split(self, cell: str) -> list[Any]:
        if not cell or self._is_nothing(cell):
            return []
        if "&" in cell and ";" in cell and cell not in self._known:
            cell = html.unescape(cell)
        for way in self._ways if self._decides() else ():
            parts = way.split(cell)
            if parts and all(self._find(part) is not None for part in parts):
                return self.resolve(parts)
        try:
            return self.resolve(self._ways[0].split(cell))
        except BadRowError as error:
            raise BadRowError(
                f"{error} {self._ways[0].said}", kind=error.kind, value=error.value
            ) from None

    def _is_nothing(self, cell: str) -> bool:
        """Whether a cell says that there is no label, and is no node."""
        if not is_nothing(cell) or self._find(cell) is not None:
            return False
        self.missing[cell] = None
        return True

    def _decides(self) -> bool:
        """Whether there are names to decide by what separates labels."""
        return self.taxonomy is not None and self._ids is None

    def level(self, cells: Iterable[str]) -> list[Any]:
        """The node that a row of level columns leads to, or none."""
        path = ["" if self._is_nothing(cell) else cell.strip() for cell in cells]
        while path and not path[-1]:
            path.pop()
        if not path:
            return []
        if not all(path):
            raise BadRowError(
                f"the levels {shorten(path)} have a gap: a level is empty above one that is not. "
                f"Fill it in; where cells are merged or left empty because they are as above, fill "
                f"them down.",
                kind="bad_path",
                value=str(path),
            )
        short = path[: next(i for i in range(1, len(path) + 1) if {*path[i:]} <= {path[i - 1]})]
        if self.taxonomy is None:
            self.repeated |= len(short) < len(path)
            return [tuple(short)]
        node = self._along(path) or self._along(short)
        if node is None:
            raise BadRowError(
                f"the levels {shorten(' > '.join(path))} lead to no node of the taxonomy. Correct "
                f"them, or add the node.",
                kind="unknown_label",
                value=" > ".join(path),
            )
        return [node]

    # -- one label ----------------------------------------------------------------------------

    def _node(self, label: Any) -> Any:
        if isinstance(label, dict):
            label = self._of_record(label)
        if isinstance(label, list) and label and all(isinstance(name, str) for name in label):
            return self.level(label)[0]
        if isinstance(label, float) and label.is_integer():
            label = int(label)  # as spreadsheets and data frames write numbers
        if not isinstance(label, str | int) or isinstance(label, bool):
            raise BadRowError(
                f"the label {shorten(label)} is neither a text nor a whole number. Write the name "
                f"of a node.",
                kind="unknown_label",
                value=str(label),
            )
        for spelled in (label, str(label)):
            if spelled in self._known:
                return self._known[spelled]
        if self.taxonomy is None and self._ids is None:
            return self._as_written(label)
        node = self._find(label) if self._ids is None else None
        if node is None:
            raise BadRowError(self._unknown(label), kind="unknown_label", value=str(label))
        if isinstance(label, str):
            self._note(label, node)
        return node

    def _of_record(self, label: dict[str, Any]) -> Any:
        """The label that an object with an id and a name stands for."""
        given = [label[key] for key in ("id", "code", "name", "title", "label") if key in label]
        known = [value for value in given if self._find(value) is not None]
        return next(iter(known or given[::-1] if self.infer else known or given), label)

    def _as_written(self, label: Any) -> Any:
        if self.infer:
            return separators.path_of(str(label), self.path_separator)
        if isinstance(label, str):
            self._known[label] = label  # seen once, it is found at once
        return label

    def _find(self, label: Any) -> Any:
        """The node of this id, title, path or spelling; None if there is none, or several."""
        if label in self._known:
            return self._known[label]
        if self.taxonomy is None:
            return None
        text = str(label).strip()
        loose = self._loosely()
        for spelled in (text, f"={text}", same(text), f"={same(text)}"):
            if loose.get(spelled) is not None:
                return loose[spelled]
        if text.endswith(".0") and text[:-2] in self._known:
            return self._known[text[:-2]]
        return self._by_path(text) or self._by_both(text) or loose.get(f"~{alike(text)}")

    def _by_both(self, text: str) -> Any:
        """The node of "152 - Cats" or "Cats (152)", where id and title belong together."""
        for code, name in with_code(text):
            if code in self._known and alike(self._title(self._known[code])) == alike(name):
                return self._known[code]
        return None

    def _title(self, node: Any) -> str:
        return str(self.taxonomy.titles.get(node, node)) if self.taxonomy is not None else ""

    def _loosely(self) -> dict[str, Any]:
        """Nodes by titles ("=title") and by spellings; None where several have the same."""
        if self._loose is None and self.taxonomy is not None:
            found: dict[str, set[Any]] = defaultdict(set)
            for v in self.taxonomy.nodes:
                found[same(str(v))].add(v)
                found[f"~{alike(str(v))}"].add(v)
                found[f"~{alike(self._title(v))}"].add(v)
            for v, title in self.taxonomy.titles.items():
                found[f"={title}"].add(v)
                found[f"={same(title)}"].add(v)
            self._loose = {
                key: next(iter(nodes)) if len(nodes) == 1 else None for key, nodes in found.items()
            }
        return self._loose or {}

    def _by_path(self, text: str) -> Any:
        """The node at the end of a path such as "Animals > Cats", if there is exactly one."""
        for separator in [self.path_separator] if self.path_separator else separators.PATHS:
            if separator.strip() and separator.strip() in text:
                node = self._along(separators.path_of(text, separator))
                if node is not None:
                    return node
        return None

    def _along(self, path: Sequence[str]) -> Any:
        """The node at the end of a path of names or titles; None if there is none, or several."""
        tax = self.taxonomy
        assert tax is not None
        key = separators.JOINED.join(map(same, path))
        if key in self._cells:
            return self._cells[key][0]
        found = [v for v in self._called(path[-1]) if self._is_below(v, path[:-1])]
        if len(found) != 1:
            return None
        self._cells[key] = found
        return found[0]

    def _called(self, name: str) -> list[Any]:
        """All nodes with this id or title, in any case."""
        if not hasattr(self, "_namesakes"):
            tax, names = self.taxonomy, defaultdict(list)
            assert tax is not None
            for v in tax.nodes:
                for key in {same(str(v)), same(str(tax.titles.get(v, v)))}:
                    names[key].append(v)
            self._namesakes = names
        return self._namesakes.get(same(name), [])

    def _is_below(self, node: Any, path: Sequence[str]) -> bool:
        """Whether the way up from a node passes these names, the last of them first."""
        if not path:
            return True
        tax = self.taxonomy
        assert tax is not None
        above = [p for p in tax.parents(node) if p in self._called(path[-1])]
        return any(self._is_below(p, path[:-1]) for p in above)

    def _note(self, label: str, node: Any) -> None:
        """Remember a label that is not spelled as its node is."""
        title = self.taxonomy.titles.get(node) if self.taxonomy is not None else None
        if title is not None and same(title) == same(label):
            self.by_title += 1
            self._known[label] = node
        elif same(label) == same(str(node)) or alike(label) in (
            alike(str(node)),
            alike(title or ""),
        ):
            self.other_spellings[label, str(node)] += 1
        elif any(code in self._known for code, _ in with_code(label.strip())):
            self.by_both += 1

    # -- what a sample of cells shows ---------------------------------------------------------

    def share_of(self, cells: Sequence[str]) -> float:
        """The share of cells all of whose parts are nodes; the way of splitting that is best."""
        return max((self._share(way, cells) for way in self._ways), default=0.0)

    def _share(self, way: separators.Way, cells: Sequence[str]) -> float:
        cells = [cell for cell in cells if not is_nothing(cell)]
        whole = [all(self._find(part) is not None for part in way.split(cell)) for cell in cells]
        return sum(whole) / len(whole) if whole else 0.0

    def learn(self, cells: Sequence[str], column: str, whole: bool = False) -> None:
        """Find out from the first cells of a column what separates labels, and parts of paths.

        whole : whether cells are labels already
        """
        if whole and self._decides():
            return
        if self._decides():
            self._ways = sorted(self._ways, key=lambda way: -self._share(way, cells))
            told = self._ways[0].said if self._ways[0].unusual else ""
        elif self.infer and not self._learned:
            asked = (
                replace(self._asked, label_separator=separators.JOINED) if whole else self._asked
            )
            guessed = separators.guess(cells, column, asked)
            self._ways, self.path_separator = [guessed.way], guessed.path
            told = guessed.said
        else:
            return
        self._learned = True
        if told and self._asked.label_separator is None and told not in self.notes:
            self.notes.append(told)

    def said(self) -> list[str]:
        """What there is to say about how labels were read, after all were."""
        notes = list(self.notes)
        if self.by_title:
            notes.append("Labels are given by their titles.")
        if self.by_both:
            notes.append("Labels are given by their ids and titles together.")
        if self.repeated:
            notes.append("Levels that only repeat the last name above them are left out.")
        if self.missing:
            shown = shorten(next(iter(self.missing)))
            notes.append(f"Cells such as {shown} are read as no label.")
        if self.other_spellings:
            n, (label, node) = sum(self.other_spellings.values()), next(iter(self.other_spellings))
            notes.append(
                f"{n:,} label{'s differ' if n > 1 else ' differs'} from the taxonomy's in case or "
                f"blanks or the like, such as {shorten(label)} for {shorten(node)}, and "
                f"{'were' if n > 1 else 'was'} taken for it."
            )
        return notes

    # -- messages -----------------------------------------------------------------------------

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
        several = self._called(str(name)) if self.taxonomy is not None else []
        if len(several) > 1:
            return (
                f"{shorten(name)} is the name of {len(several)} nodes: {shorten(several)}. Write "
                f"the id or the path of one."
            )
        self._hinted += 1
        hint = ""
        if self._hinted <= _HINTS and self.taxonomy is not None:
            hint = nearest(name, [*map(str, self.taxonomy.nodes), *self.taxonomy.titles.values()])
        return (
            f"{shorten(name)} is not a node of the taxonomy{hint}. Correct it, or add it to the "
            f"taxonomy."
        )


def taxonomy_of(
    rows: Iterable[Sequence[tuple[str, ...]]], levels: bool, separator: str | None
) -> tuple[Taxonomy, dict[tuple[str, ...], Any]]:
    """The taxonomy that the paths of all rows make, and the node at the end of each path.

    Of level columns names are the ids, unless they stand in two places; of paths in cells the
    paths, as one would write them.
    """
    paths = list(dict.fromkeys(path for row in rows for path in row))
    joint = _joint({name for path in paths for name in path}, separator)
    texts = [joint.join(path) for path in paths]
    tax = Taxonomy.from_paths([list(path) for path in paths] if levels else texts, sep=joint)
    if not levels:
        return tax, dict(zip(paths, texts, strict=True))
    ids = {joint.join(path): path[-1] for path in paths}
    return tax, {
        path: text if text in tax else ids[text] for path, text in zip(paths, texts, strict=True)
    }


def _joint(names: set[str], wanted: str | None) -> str:
    """What to put between the names of a path: it occurs in no name."""
    for joint in [*([wanted] if wanted else []), "/", " > ", "::", "\x1f"]:
        if not any(joint.strip() in name for name in names):
            return joint
    raise UserError("The names of levels hold every separator that is known. Rename some.")


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
