"""One file being read: what its rows are checked against, and what befalls a bad row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from linnaeus.errors import FormatError, nearest, shorten
from linnaeus.io.labels import Labels
from linnaeus.io.rows import BadRowError, Example

Raw = TypeVar("Raw")


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

    def error(self, message: str, line: int | None = None) -> FormatError:
        return FormatError(self.path, message, line)

    def bad(self, message: str, line: int | None) -> None:
        """Raise for a bad row, or note it and let the reader go on."""
        if self.skipped is None:
            raise self.error(f"{message} Or leave such rows out with skip_bad (--skip-bad).", line)
        self.skipped.append(str(self.error(message, line)))

    def number_type(self, default: type) -> Any:
        """The value type of features: the one asked for, or the default of the format."""
        return np.dtype(default if self.dtype is None else self.dtype)

    def match_features(self, names: list[str], line: int | None) -> None:
        """Take the feature names of a table, or compare them with those expected."""
        known = self.feature_names
        if known is None:
            self.feature_names = names
        elif names != known:
            raise self.error(_difference(names, known), line)

    def without_labels(self, what: str, line: int | None, names: Sequence[str] = ()) -> None:
        """A table has no column of labels: an error where they are needed."""
        if self.needs_labels:
            raise self.error(
                f"there is no {what}{nearest('labels', names)}, which a training part must have. "
                f"Name the column of the labels so, and check that the file is separated as its "
                f"suffix says.",
                line,
            )


def each_row(
    reading: Reading, rows: Iterable[tuple[int | None, Raw]], parse: Callable[[int, Raw], Example]
) -> Iterator[Example]:
    """Parse (line, raw row) pairs; `parse` also gets the row number, which counts bad rows too."""
    for number, (line, raw) in enumerate(rows):
        try:
            example = parse(number, raw)
        except BadRowError as problem:
            where = "" if line is not None else f"row {number + 1}: "
            reading.bad(f"{where}{problem}", line)
            continue
        yield example


def check_columns(reading: Reading, names: list[str], line: int | None) -> None:
    """Every column of a table has a name, and no two have the same."""
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            raise reading.error(
                f"column {position} has no name. Name it in the header, or remove it (pandas: "
                f"to_csv(index=False)).",
                line,
            )
        if name in seen:
            raise reading.error(
                f"column {position} is called {shorten(name)}, as an earlier one is. Give every "
                f"column a name of its own.",
                line,
            )
        seen.add(name)


def _difference(names: list[str], known: list[str]) -> str:
    """How the feature columns of two parts differ."""
    remedy = "All parts must have the same feature columns in the same order."
    pairs = enumerate(zip(names, known, strict=False), start=1)
    for i, (name, expected) in pairs:
        if name != expected:
            return (
                f"feature column {i} is {shorten(name)}, where the part read before has "
                f"{shorten(expected)}. {remedy}"
            )
    extra, kind = (names, "more") if len(names) > len(known) else (known, "fewer")
    first = extra[min(len(names), len(known))]
    return (
        f"there are {len(names)} feature columns, {kind} than the {len(known)} of the part read "
        f"before; the first that only one of them has is {shorten(first)}. {remedy}"
    )
