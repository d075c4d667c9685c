"""The files of the LSHTC challenges: DMOZ and Wikipedia, with thousands of classes.

A folder holds ``train.txt``, possibly ``validation.txt`` and ``test.txt``, and ``cat_hier.txt``
(in the folder or the one above). A line of the first three is a document,

    label, label, ... feature:value feature:value ...

with one label (DMOZ) or several (Wikipedia), with or without blanks after the commas. Features may
stand in any order; one that occurs twice is added up. Numbers count from 1: feature 0, which
LSHTC1 uses for itself, is left out unless `zero` says otherwise. The label 0, where it is no node,
stands for "not known", as do lines without labels: test files come so. The files of the Kaggle
challenge begin with a header, ``Data``, or ``Id,Data`` where every line begins with an id.

A line of ``cat_hier.txt`` is a parent and a child. The one of the large Wikipedia task has cycles;
[GopalYang2015] section 5.1 takes it for an undirected graph of related labels, as `graph` does.

Files are read line by line into 32-bit buffers: 8 bytes for every value that is not zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import TaxonomyError, UserError, check_choice, shorten
from linnaeus.files import open_lines
from linnaeus.io.build import collect
from linnaeus.io.collection import Collection, Part
from linnaeus.io.find import PARTS
from linnaeus.io.labels import Labels
from linnaeus.io.originals.cycles import without_cycles
from linnaeus.io.originals.source import (
    check_parts,
    folder_of,
    missing,
    named_file,
)
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example, SparseRow
from linnaeus.io.svm import MOST, explain, read_pairs, split_row
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.formats.draft import build
from linnaeus.taxonomy.formats.lshtc import read_edges

UNKNOWN = "0"
_STEMS = {"train": ("train",), "valid": ("validation", "valid"), "test": ("test",)}
_SUFFIXES = ("txt", "csv", "svm", "dat")
_HIERARCHY = ("cat_hier", "hierarchy")
_ORIGIN = (
    "The organisers of the LSHTC challenges offer the files after registration, Kaggle those of "
    "the fourth one."
)


def read_lshtc(
    path: str | Path,
    *,
    hierarchy: str | Path | None = None,
    parts: Any = PARTS,
    missing_labels: str = "error",
    cycles: str = "error",
    graph: bool = False,
    zero: str = "drop",
    skip_bad: bool = False,
    dtype: Any = np.float32,
) -> Collection:
    """Read a folder of challenge files.

    Parameters
    ----------
    path : str or Path
        The folder with train.txt.
    hierarchy : str, Path or None, default=None
        The file cat_hier.txt, where it lies elsewhere.
    parts : sequence of str, default=('train', 'valid', 'test')
        Which of train, valid, test to read.
    missing_labels : {'error', 'drop'}, default='error'
        For labels that the hierarchy lacks: raise, or drop them from their rows; `Part.skipped`
        reports each with the number of its rows.
    cycles : {'error', 'break'}, default='error'
        For a hierarchy with cycles: raise, or break them by removing edges that lead back;
        `Part.skipped` of the first part reports how many.
    graph : bool, default=False
        Read the hierarchy as an undirected graph: all edges become `Taxonomy.related` links, and
        cycles may stay. `Part.skipped` of the first part reports how many edges from a node to
        itself, or between two nodes that are linked already, were left out.
    zero : {'drop', 'keep'}, default='drop'
        Drop feature 0, so that feature 1 is the first column; or keep it as the first.
    skip_bad : bool, default=False
        Leave out rows that cannot be read; `Part.skipped` says why.
    dtype : dtype, default=float32
        Type of the features.

    Returns
    -------
    Collection
    """
    check_choice("missing_labels", missing_labels, ["error", "drop"])
    check_choice("cycles", cycles, ["error", "break"])
    check_choice("zero", zero, ["drop", "keep"])
    _check_graph(graph, cycles)
    folder = folder_of(path, "train.txt and cat_hier.txt", _ORIGIN)
    files = _part_files(folder, check_parts(parts))
    file = _hierarchy(folder, hierarchy)
    taxonomy, left_out = _graph(file) if graph else _taxonomy(file, cycles == "break")
    read = {}
    for name, file in files.items():
        reading = Reading(file, Labels(taxonomy), [] if skip_bad else None, dtype=dtype)
        read[name] = _File(reading, taxonomy, missing_labels == "drop", zero == "keep").part()
    width = max(part.X.shape[1] for part in read.values())
    for name, part in read.items():
        X = part.X
        wide = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
        read[name] = replace(part, X=wide, skipped=(*left_out, *part.skipped))
        left_out = ()  # said once, with the first part
    return Collection(taxonomy, **read, name=folder.resolve().name)


def _part_files(folder: Path, parts: tuple[str, ...]) -> dict[str, Path]:
    found = {name: named_file(folder, _STEMS[name], _SUFFIXES) for name in parts}
    files = {name: file for name, file in found.items() if file is not None}
    if not files:
        wanted = " and ".join(f"{_STEMS[name][0]}.txt" for name in parts)
        raise missing(folder, wanted, _ORIGIN)
    return files


def _check_graph(graph: Any, cycles: str) -> None:
    """Refuse a graph that is no choice, and one whose cycles are to be broken."""
    if not isinstance(graph, bool):
        raise UserError(f"graph is {shorten(graph)}. Use True or False.")
    if graph and cycles == "break":
        raise UserError(
            "A graph keeps its cycles, so that cycles='break' has no meaning with graph=True. "
            "Leave one of the two out.",
            "A graph keeps its cycles, so that -p cycles=break has no meaning with --graph. "
            "Leave one of the two out.",
        )


def _hierarchy(folder: Path, given: str | Path | None) -> Path:
    """The file of the hierarchy: the one given, or in the folder or the one above."""
    if given is not None:
        return Path(given)
    for place in (folder, folder.resolve().parent):
        if (file := named_file(place, _HIERARCHY, _SUFFIXES)) is not None:
            return file
    raise missing(folder, "cat_hier.txt, there or in the folder above", _ORIGIN)


def _taxonomy(file: Path, mend: bool) -> tuple[Taxonomy, tuple[str, ...]]:
    """The hierarchy, and a note about edges that were removed from it."""
    if not mend:
        return _acyclic(file), ()
    kept, back = without_cycles(read_edges(file))
    taxonomy = build(file, [*kept])
    if not back:
        return taxonomy, ()
    first = shorten(" ".join(back[0]))
    note = f"{file}: {len(back):,} edges that lead back up were removed, the first {first}."
    return taxonomy, (note,)


def _acyclic(file: Path) -> Taxonomy:
    """The hierarchy; where it has cycles the error says how else it can be read."""
    try:
        return Taxonomy.read(file, format="lshtc")
    except TaxonomyError as error:
        ways = "To read all edges as links between related labels {}; to remove some edges {}."
        raise TaxonomyError(
            f"{error} " + ways.format("pass graph=True", "cycles='break'"),
            f"{error.shell} " + ways.format("give --graph", "-p cycles=break"),
        ) from None


def _graph(file: Path) -> tuple[Taxonomy, tuple[str, ...]]:
    """All edges as links whatever their direction, and a note about those that add none.

    A node whose only edge leads to itself stays, without links.
    """
    edges = read_edges(file)
    taxonomy = build(file, [], related=edges)
    loops = sum(a == b for a, b in edges)
    doubled = len(edges) - loops - len(taxonomy.related_numbers)
    if not loops and not doubled:
        return taxonomy, ()
    note = (
        f"{file}: {loops:,} edges from a node to itself and {doubled:,} between nodes that are "
        f"linked already were left out."
    )
    return taxonomy, (note,)


@dataclass
class _File:
    """One file being read, and what there is to report about it."""

    reading: Reading
    taxonomy: Taxonomy
    drop: bool
    keep_zero: bool
    ids_first: bool = False
    dropped: Counter[str] = field(default_factory=Counter)
    zeros: int = 0

    def part(self) -> Part:
        part = collect(self._rows())
        if part.X is None:
            raise self.reading.error("there are no rows. Check the file.")
        notes = [
            f"{self.reading.path}: the label {shorten(label)} is not in the hierarchy; left out of "
            f"{n:,} rows."
            for label, n in self.dropped.items()
        ]
        if self.zeros:
            notes.append(f"{self.reading.path}: feature 0 left out of {self.zeros:,} rows.")
        return replace(part, skipped=(*(self.reading.skipped or ()), *notes))

    def _rows(self) -> Iterator[Example]:
        with open_lines(self.reading.path) as lines:
            rows = (
                (lines.line, line)
                for line in lines
                if line.strip() and not (lines.line == 1 and self._is_header(line))
            )
            yield from each_row(self.reading, rows, self._example)

    def _is_header(self, line: str) -> bool:
        names = [name.strip().lower() for name in line.split(",")]
        self.ids_first = names == ["id", "data"]
        return self.ids_first or names == ["data"]

    def _example(self, number: int, line: str) -> Example:
        labels, tail = split_row(line)
        if labels and ":" in labels[0]:  # no labels: the first word is a feature
            labels, tail = [], line
        key = labels.pop(0) if self.ids_first and labels else str(number)
        return Example(key, self._nodes(labels), x=self._features(tail))

    def _nodes(self, labels: list[str]) -> list[Any]:
        if UNKNOWN in labels and UNKNOWN not in self.taxonomy:
            labels = [label for label in labels if label != UNKNOWN]
        if self.drop:
            lost = [label for label in labels if label not in self.taxonomy]
            self.dropped.update(lost)
            labels = [label for label in labels if label not in lost] if lost else labels
        return self.reading.labels.resolve(labels)

    def _features(self, tail: str) -> SparseRow:
        """The features of a row in ascending order, each once."""
        dtype = self.reading.number_type(np.float32)
        pairs = read_pairs(tail, dtype)
        if pairs is None or pairs[0].max(initial=0) > MOST or not np.isfinite(pairs[1]).all():
            raise BadRowError(explain(tail, dtype, first=0))
        numbers, values = pairs
        if not self.keep_zero and (numbers == 0).any():
            self.zeros += 1
            numbers, values = numbers[numbers > 0], values[numbers > 0]
        columns = numbers.astype(np.int64) - (0 if self.keep_zero else 1)
        if (columns[1:] < columns[:-1]).any():
            order = np.argsort(columns, kind="stable")
            columns, values = columns[order], values[order]
        if (columns[1:] == columns[:-1]).any():
            columns, first = np.unique(columns, return_index=True)
            values = np.add.reduceat(values, first)
        return SparseRow(columns.astype(np.int32), values)
