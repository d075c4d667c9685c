"""One file being read: what its rows are checked against, and what befalls a bad row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from linnaeus.errors import FormatError, UserError, listed, nearest, shorten
from linnaeus.io.columns import Layout, Sample, lay_out, plain
from linnaeus.io.labels import Labels
from linnaeus.io.options import ReadOptions
from linnaeus.io.rows import BadRowError, Example, Skipped

Raw = TypeVar("Raw")
SAMPLE = 2000  # rows that are looked at before the first is read
_OPTIONS = "--text, --labels, --levels or --id"


@dataclass
class Reading:
    """One file being read: what its rows are checked against, and what befalls bad ones.

    Bad rows raise, unless `skipped` is a list: then the messages are collected there.
    `feature_names` are those that a table must have; without them the reader sets its own.
    """

    path: Path
    labels: Labels = field(default_factory=Labels)
    skipped: list[str] | None = None
    feature_names: list[str] | None = None
    needs_labels: bool = False
    dtype: Any = None
    options: ReadOptions = field(default_factory=ReadOptions)
    before: ReadOptions = field(default_factory=ReadOptions)  # what the columns were elsewhere
    keeps: bool = False  # whether all cells of a row are kept as its metadata
    notes: list[str] = field(default_factory=list)
    layout: Layout | None = None
    rows: int = 0  # good and bad ones

    def error(self, message: str, line: int | None = None, shell: str | None = None) -> FormatError:
        return FormatError(self.path, message, line, shell)

    def bad(self, problem: BadRowError, line: int | None) -> None:
        """Raise for a bad row, or note it and let the reader go on."""
        if self.skipped is None:
            raise self.error(
                f"{problem} Or leave such rows out with skip_bad=True.",
                line,
                f"{problem} Or leave such rows out with --skip-bad.",
            )
        message = str(self.error(str(problem), line))
        self.skipped.append(Skipped.of(message, problem.kind, problem.value, self.rows))

    def number_type(self, default: type) -> Any:
        """The value type of features: the one asked for, or the default of the format."""
        return np.dtype(default if self.dtype is None else self.dtype)

    def match_features(self, names: list[str], line: int | None) -> None:
        """Take the feature names of a file, or compare them with those expected."""
        known = self.feature_names
        if known is None:
            self.feature_names = names
        elif names != known:
            raise self.error(_difference(names, known), line)

    def lay_out(self, sample: Sample, line: int | None) -> Layout:
        """Find out what the columns of a table are, from its header and its first rows."""
        check_columns(self, sample, line)
        knows = self.labels.taxonomy is not None
        try:
            found = lay_out(
                sample,
                self._asked(sample.names),
                self.labels.share_of if knows else None,
                self.feature_names,
            )
        except UserError as error:
            known = self.feature_names is not None  # by a model: they are not for options to name
            shell = f"{error}" if known else f"{error} Name columns with {_OPTIONS}."
            raise self.error(str(error), line, shell) from None
        self._check_layout(found, line)
        self._check_header(found, sample, line)
        if found.label_columns:
            cells = [cell for k in found.label_columns for cell in sample.cells(k)]
            self.labels.learn(cells, sample.names[found.label_columns[0]].casefold())
        self.layout = found
        return found

    def _asked(self, names: Sequence[str]) -> ReadOptions:
        """What is asked for; and what was taken before, as far as there are such columns."""
        there = {plain(name) for name in names}
        before = {
            what: value
            for what, value in self.before.given().items()
            if all(plain(name) in there for name in ([value] if isinstance(value, str) else value))
        }
        return self.options.over(ReadOptions(**before))

    def _check_header(self, found: Layout, sample: Sample, line: int | None) -> None:
        """Refuse a first line that is a row: its label also stands below it, or is a node."""
        taxonomy = self.labels.taxonomy
        nodes = () if taxonomy is None else taxonomy.nodes
        for j in [*found.label_columns, *found.levels]:
            name = sample.names[j]
            among = name in sample.cells(j)
            if among or (name and name in nodes):
                raise self.error(
                    f"the first line seems to be a row, not a header: {shorten(name)} is a label. "
                    f"Put a line with the names of the columns above it.",
                    line,
                )

    def _check_layout(self, found: Layout, line: int | None) -> None:
        if not (found.label_columns or found.levels or found.marks) and self.needs_labels:
            names = listed(found.names, most=12)
            raise self.error(
                f"there is no column 'labels'{nearest('labels', found.names)}, nor one whose name "
                f"or content shows that it holds labels. The columns are {names}. Name the column "
                f"of the labels, and check that the file is separated as its suffix says.",
                line,
                f"there is no column of labels. The columns are {names}. Name it with --labels "
                f"COLUMN, or columns of levels with --levels A,B,C.",
            )
        if not found.text and not found.features:
            names = listed(found.names, most=12)
            raise self.error(
                f"the columns {names} hold neither texts nor features. Add a column 'text', or one "
                f"column for each feature.",
                line,
            )
        if found.features and self.feature_names is None:
            self.feature_names = [found.names[j] for j in found.features]

    def say(self) -> list[str]:
        """What was guessed about the file, as sentences: the columns in one of them."""
        columns = self.layout.notes if self.layout is not None else []
        told = [f"{self.path.name}: columns read as {'; '.join(columns)}."] if columns else []
        return [*self.notes, *told, *self.labels.said()]

    def check_share(self) -> None:
        """Refuse a file of which too many rows were left out; a single one is never too many."""
        bad, most = list(self.skipped or ()), self.options.most_bad
        if len(bad) <= max(1.0, most * self.rows):
            return
        share = f"{np.ceil(100 * len(bad) / self.rows) / 100:g}"
        said = (
            f"{len(bad):,} of {self.rows:,} rows are bad, more than the {most:.0%} that may be "
            f"left out. The first: {bad[0]} Correct the file, or allow more with "
        )
        raise self.error(f"{said}most_bad={share}.", None, f"{said}--most-bad {share}.")

    @property
    def columns(self) -> ReadOptions | None:
        """Which columns were taken for what; None where the file is not a table."""
        return None if self.layout is None else self.layout.options()


def each_row(
    reading: Reading, rows: Iterable[tuple[int | None, Raw]], parse: Callable[[int, Raw], Example]
) -> Iterator[Example]:
    """Parse (line, raw row) pairs; `parse` also gets the row number, which counts bad rows too."""
    for number, (line, raw) in enumerate(rows):
        reading.rows += 1
        try:
            example = parse(number, raw)
        except BadRowError as problem:
            if line is None:
                where = f"row {number + 1}: {problem}"
                problem = BadRowError(where, problem.kind, problem.value)
            reading.bad(problem, line)
            continue
        yield example


def check_columns(reading: Reading, sample: Sample, line: int | None) -> None:
    """Every column of a table has a name, but for row numbers and empty ones; all are distinct."""
    seen: set[str] = set()
    for position, name in enumerate(sample.names, start=1):
        empty = bool(sample.rows) and not sample.cells(position - 1)
        if not name and position > 1 and empty:
            name = sample.names[position - 1] = f"column {position}"
        if not name and position > 1:
            raise reading.error(
                f"column {position} has no name. Name it in the header, or remove it.", line
            )
        if name in seen:
            raise reading.error(
                f"column {position} is called {shorten(name)}, as an earlier one is. Give every "
                f"column a name of its own.",
                line,
            )
        seen.add(name)


def _difference(names: list[str], known: list[str]) -> str:
    """How the features of two files differ."""
    remedy = "All parts must have the same features in the same order."
    for i, (name, expected) in enumerate(zip(names, known, strict=False), start=1):
        if name != expected:
            return (
                f"feature {i} is {shorten(name)}, where the part read before has "
                f"{shorten(expected)}. {remedy}"
            )
    extra, kind = (names, "more") if len(names) > len(known) else (known, "fewer")
    first = extra[min(len(names), len(known))]
    return (
        f"there are {len(names)} features, {kind} than the {len(known)} of the part read before; "
        f"the first that only one of them has is {shorten(first)}. {remedy}"
    )
