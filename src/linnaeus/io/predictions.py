"""Predictions as files: JSON lines, tables, sheets or parquet, written record by record."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.files import atomic_path, atomic_write
from linnaeus.io.find import suffix_of
from linnaeus.io.kept import Columns, kept_text, merged

FORMATS = ("jsonl", "csv", "tsv", "xlsx", "parquet")
PACKED = ("xlsx", "parquet")  # compressed already
MOST_ROWS, MOST_COLUMNS, LONGEST = 1_048_575, 16_384, 32_767  # of a sheet, and of its cells
_PLAIN = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")

Pair = tuple[dict[str, Any], Mapping[str, Any]]  # what is said of a row, and the row of the input
Writer = Callable[[Iterable[Pair]], None]


def format_of(target: str | Path, format: str | None) -> str:
    """The format of a file of predictions.

    Parameters
    ----------
    target : str or Path
        File to write.
    format : str or None
        Name of the format; None to follow the name of the file.

    Returns
    -------
    str
    """
    format = suffix_of(Path(target)) if format is None else format
    if format not in FORMATS:
        what = f"as {format!r}" if format else f"to {target}, whose name says no format"
        said = (
            f"Predictions cannot be written {what}. Use a file name that ends in "
            f"{', '.join(f'.{name}' for name in FORMATS)}, or one of these "
        )
        raise UserError(f"{said}as the format.", f"{said}with --format.")
    if format in PACKED and Path(target).suffix == ".gz":
        raise UserError(
            f"{target} ends in .gz, but .{format} is compressed already. Leave out .gz."
        )
    return format


@contextmanager
def open_writer(
    target: str | Path, format: str, columns: Columns, notes: list[str]
) -> Iterator[Writer]:
    """A function that writes records; the file appears under its name when all are written.

    Parameters
    ----------
    target : str or Path
        File to write.
    format : str
        What `format_of` gave.
    columns : Columns
        The columns of a table; not needed for JSON lines.
    notes : list of str
        Where to put what a reader of the file should know.

    Yields
    ------
    callable
        Writes pairs of a record and the row of the input that it is about.
    """
    open_ = {"jsonl": _jsonl, "xlsx": _xlsx, "parquet": _parquet}.get(format)
    if open_ is None:
        delimiter = "," if format == "csv" else "\t"
        with _separated(target, columns, delimiter) as write:
            yield write
    else:
        with open_(target, columns, notes) as write:
            yield write
    notes += columns.notes if format != "jsonl" else ()


@contextmanager
def _jsonl(target: str | Path, columns: Columns, notes: list[str]) -> Iterator[Writer]:
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
    renamed: set[str] = set()
    with atomic_write(target) as handle:

        def write(found: Iterable[Pair]) -> None:
            for record, row in found:
                line = merged(record, row)
                if len(line) > len(record):
                    renamed.update(line.keys() - record.keys() - row.keys())
                handle.write(f"{encode(line)}\n")

        yield write
    if renamed:
        names = ", ".join(map(repr, sorted(renamed)))
        notes.append(f"what the input says under names of the output is under {names}")


@contextmanager
def _separated(target: str | Path, columns: Columns, delimiter: str) -> Iterator[Writer]:
    with atomic_write(target) as handle:
        table = csv.writer(handle, delimiter=delimiter, lineterminator="\n")
        table.writerow(columns.header)
        yield lambda found: table.writerows(map(kept_text, columns.cells(*pair)) for pair in found)


# -- sheets ---------------------------------------------------------------------------------------


@contextmanager
def _xlsx(target: str | Path, columns: Columns, notes: list[str]) -> Iterator[Writer]:
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE as ILLEGAL
    except ImportError:
        raise MissingExtraError("Writing .xlsx files", "openpyxl", "formats") from None
    if len(columns.header) > MOST_COLUMNS:
        raise _too_large(f"{len(columns.header):,} columns", f"{MOST_COLUMNS:,}")
    book = Workbook(write_only=True)
    sheet, rows, cut = book.create_sheet("predictions"), 0, 0

    def cell(value: Any) -> Any:
        nonlocal cut
        value = _number(value)
        if not isinstance(value, str):
            return value
        text = ILLEGAL.sub("", value)
        cut += len(text) > LONGEST
        made = WriteOnlyCell(sheet, text[:LONGEST])
        made.data_type = "s"  # whatever it begins with: no formula, no error
        return made

    def write(found: Iterable[Pair]) -> None:
        nonlocal rows
        for pair in found:
            rows += 1
            if rows > MOST_ROWS:
                raise _too_large(f"over {MOST_ROWS:,} rows", f"{MOST_ROWS:,} below the header")
            sheet.append([cell(value) for value in columns.cells(*pair)])

    with atomic_path(target) as temporary:
        try:
            sheet.append([cell(str(name)) for name in columns.header])
            yield write
        finally:
            sheet.close()
        book.save(temporary)
    if cut:
        notes.append(f"{cut:,} cells were cut to {LONGEST:,} characters, the most that one holds")


def _too_large(what: str, most: str) -> UserError:
    return UserError(
        f"The table has {what}, and a sheet of a spreadsheet holds {most} at most. Write a .csv "
        f"file instead."
    )


def _number(value: Any) -> Any:
    """A value for a cell: a text that is written as a number would be is one."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = kept_text(value)
    if _PLAIN.fullmatch(text):
        number = float(text) if "." in text else int(text)
        return number if str(number) == text else text
    return text


# -- parquet --------------------------------------------------------------------------------------


@contextmanager
def _parquet(target: str | Path, columns: Columns, notes: list[str]) -> Iterator[Writer]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Writing parquet", "pyarrow", "formats") from None
    plain = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    types = columns.kept.types
    kept = {name: plain.get(types.get(name, str), types.get(name)) for name in columns.kept.names}
    texts = {name for name, kind in kept.items() if kind == pa.string()}
    own = {columns.added[field]: _arrow(field, pa) for field in columns.added}
    schema = pa.schema([(name, (own | kept)[name]) for name in columns.header])

    def line(record: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
        said = {name: _named(record[field]) for field, name in columns.added.items()}
        given = {n: row.get(n) for n in columns.kept.names}
        as_text = {n: kept_text(given[n]) for n in texts if given[n] is not None}
        return {**said, **given, **as_text}

    with atomic_path(target) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        yield lambda found: writer.write_table(
            pa.Table.from_pylist([line(*pair) for pair in found], schema)
        )


def _arrow(field: str, pa: Any) -> Any:
    """The type of an added column."""
    names = pa.list_(pa.string())
    known = {
        "id": pa.string(), "paths": pa.list_(names), "scores": pa.list_(pa.float64()),
        "probabilities": pa.list_(pa.float64()), "confidence": pa.float64(), "review": pa.bool_(),
        "ranking": pa.list_(pa.struct([("label", pa.string()), ("score", pa.float64())])),
    }  # fmt: skip
    return known.get(field, names)


def _named(value: Any) -> Any:
    """Names of any kind as text, which a column of one type needs."""
    if isinstance(value, list):
        return [_named(v) for v in value]
    if isinstance(value, dict):
        return value | {"label": str(value["label"])}
    return value if value is None or isinstance(value, bool | float) else str(value)
