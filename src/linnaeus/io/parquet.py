"""Parquet: columns as in a csv table; `labels` may hold lists. Read in batches of rows."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from linnaeus.errors import MissingExtraError, UserError, shorten
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example
from linnaeus.io.table import Layout, lay_out

_BATCH = 1024


def read_parquet(reading: Reading) -> Iterator[Example]:
    """The examples of a parquet file, float64 unless asked otherwise."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(f"Reading {reading.path.name}", "pyarrow", "formats") from None
    with _seekable(reading) as stream:
        try:
            table = pq.ParquetFile(stream)
        except pa.ArrowInvalid as error:
            raise reading.error(f"not a parquet file ({error}). Write it again.") from None
        layout = lay_out(reading, table.schema_arrow.names, None)
        if layout.text is None:
            _check_types(reading, table.schema_arrow, layout, pa)
        rows = (
            row for batch in table.iter_batches(_BATCH) for row in _rows(batch, layout, reading)
        )
        yield from each_row(reading, ((None, row) for row in rows), _parser(layout, reading))


def _parser(layout: Layout, reading: Reading) -> Any:
    def parse(number: int, row: dict[str, Any]) -> Example:
        name, given, text = row["id"], row["labels"], row["text"]
        key = str(number if name is None or name == "" else name)
        split = isinstance(given, str)
        labels = reading.labels.split(given) if split else reading.labels.resolve(given or [])
        if layout.text is not None:
            if not isinstance(text, str):
                raise BadRowError(f"the text is {shorten(text)}. Give every row a text.")
            return Example(key, labels, text, metadata=row["rest"])
        x = row["rest"]
        if np.isinf(x).any():
            column = layout.rest[int(np.argmax(np.isinf(x)))]
            raise BadRowError(
                f"column {shorten(column)} holds inf as {x.dtype.name}. Write a finite number, or "
                f"null where the value is missing."
            )
        return Example(key, labels, x=x)

    return parse


def _rows(batch: Any, layout: Layout, reading: Reading) -> Iterator[dict[str, Any]]:
    """The rows of a batch; `rest` is an array of features, or a dict of metadata."""
    n = batch.num_rows
    named = {
        name: [None] * n if at is None else batch.column(at).to_pylist()
        for name, at in (("id", layout.id), ("labels", layout.labels), ("text", layout.text))
    }
    rest: Any
    if layout.text is not None:
        rest = batch.select(layout.rest).to_pylist() if layout.rest else [{} for _ in range(n)]
    else:
        rest = np.empty((n, len(layout.rest)), dtype=reading.number_type(np.float64))
        with np.errstate(over="ignore"):
            for j, name in enumerate(layout.rest):
                column = batch.column(name).cast("float64", safe=False)
                rest[:, j] = column.to_numpy(zero_copy_only=False)
    for i in range(n):
        yield {name: values[i] for name, values in named.items()} | {"rest": rest[i]}


def _check_types(reading: Reading, schema: Any, layout: Layout, pa: Any) -> None:
    """Feature columns hold numbers."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    for name in layout.rest:
        kind = schema.field(name).type
        if not any(is_kind(kind) for is_kind in kinds):
            raise reading.error(
                f"the feature column {shorten(name)} is of type {kind}. Turn it into numbers, "
                f"remove it, or add a column 'text' to make it metadata."
            )


@contextmanager
def _seekable(reading: Reading) -> Iterator[IO[bytes]]:
    """The file, unpacked into a temporary one when it is gzip: parquet is read from the end."""
    try:
        raw = reading.path.open("rb")
    except OSError as error:
        raise UserError(f"{reading.path} cannot be opened ({error.strerror}).") from None
    with raw:
        if raw.peek(2)[:2] != b"\x1f\x8b":
            yield raw
            return
        with tempfile.TemporaryFile() as unpacked:
            try:
                with gzip.GzipFile(fileobj=raw) as packed:
                    shutil.copyfileobj(packed, unpacked)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise reading.error(
                    f"the gzip file is damaged ({error}). Fetch it again."
                ) from None
            unpacked.seek(0)
            yield unpacked
