"""The rows of one file, however many: one after the other, or in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError
from linnaeus.io.archive import unpacked
from linnaeus.io.build import collect
from linnaeus.io.collection import Part
from linnaeus.io.find import find_file, listing
from linnaeus.io.options import ReadOptions, remembered
from linnaeus.io.readers import READERS, check_dtype, labels_of, reader_of
from linnaeus.io.reading import Reading
from linnaeus.io.rows import Example
from linnaeus.taxonomy import Taxonomy

BLOCK = 2048  # rows in memory at a time


def open_reading(
    path: str | Path,
    *,
    taxonomy: Taxonomy | None = None,
    feature_names: list[str] | None = None,
    skipped: list[str] | None = None,
    dtype: Any = None,
    options: ReadOptions | Mapping[str, Any] | None = None,
    before: ReadOptions | Mapping[str, Any] | None = None,
    keeps: bool = False,
) -> Reading:
    """What `rows_of` reads, and where it notes what it finds out about the file.

    Parameters
    ----------
    path : str or Path
        The file.
    taxonomy : Taxonomy or None, default=None
        With one labels are checked; without they stay as written.
    feature_names : list of str or None, default=None
        Columns that a table must have; None for any.
    skipped : list of str or None, default=None
        Where to put a message for each bad row, which is then left out; None raises.
    dtype : dtype or None, default=None
        Type of the features; None for float32 for svm and float64 for tables.
    options : ReadOptions, dict or None, default=None
        How a table is read; what it leaves open the folder may remember, and the rest is guessed.
    before : ReadOptions, dict or None, default=None
        What columns were called where a model was trained; they count where there are such columns.
    keeps : bool, default=False
        Whether the metadata of a row holds all of its cells.

    Returns
    -------
    Reading
    """
    path = Path(path)
    check_dtype(dtype)
    options = ReadOptions.of(options).over(remembered(path.parent).about(path))
    labels = labels_of(path, taxonomy, options)
    return Reading(
        path, labels, skipped, feature_names, dtype=dtype, options=options,
        before=ReadOptions.of(before), keeps=keeps,
    )  # fmt: skip


def rows_of(reading: Reading) -> Iterator[Example]:
    """The examples of a file, one at a time.

    Parameters
    ----------
    reading : Reading
        The file.

    Returns
    -------
    iterator of Example
    """
    return reader_of(reading.path)(reading)


def iter_rows(path: str | Path, **how: Any) -> Iterator[Example]:
    """The examples of one file, one at a time; none is kept.

    Parameters
    ----------
    path : str or Path
        The file.
    **how : dict
        As in `open_reading`: `taxonomy` (with one labels are checked, without they stay as
        written), `feature_names` (columns that a table must have), `skipped` (a list for messages
        about bad rows, which are then left out), `dtype`, `options`, `before` and `keeps`.

    Returns
    -------
    iterator of Example
    """
    return rows_of(open_reading(path, **how))


def find_rows(data: str | Path, part: str) -> Path:
    """The file to read: the one given, or that of a part of a folder.

    Parameters
    ----------
    data : str or Path
        A file, a folder, or a zip of one.
    part : {'train', 'valid', 'test'}
        Part of the folder.

    Returns
    -------
    Path
    """
    data = unpacked(data)
    if not data.is_dir():
        return data
    file = find_file(data, part, remembered(data).files.get(part), READERS)
    if file is None:
        said = (
            f"{data} has no part {part!r}: looked for {part}.* with one of the suffixes "
            f"{', '.join(READERS)}, plain or .gz. {listing(data)} Name another part"
        )
        raise UserError(
            f"{said}, or a file instead of the folder.",
            f"{said} with --part, or a file instead of the folder.",
        )
    return file


def blocks(reading: Reading, kind: str | None = None, size: int = BLOCK) -> Iterator[Part]:
    """The rows of a file in blocks, none of which is kept.

    Parameters
    ----------
    reading : Reading
        The file, of `open_reading`.
    kind : str or None, default=None
        What rows must be, the `Part.kind` that a model was trained on; None for any.
    size : int, default=2048
        Rows of a block.

    Yields
    ------
    Part
        A block.
    """
    examples = rows_of(reading)
    while len(block := collect(islice(examples, size))):
        check_kind(block, kind, reading.path)
        yield replace(block, feature_names=reading.feature_names, columns=reading.columns)


def check_kind(rows: Part, kind: str | None, file: Path) -> None:
    """Refuse rows of another kind than a model was trained on.

    Parameters
    ----------
    rows : Part
        The rows.
    kind : str or None
        What they must be.
    file : Path
        Where they are from.
    """
    if kind not in (None, rows.kind):
        raise UserError(
            f"The model was trained on {kind}, but {file} holds {rows.kind}. Give rows of the same "
            f"kind, or train a model on these."
        )
