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
from linnaeus.io.columns import Layout, Sample
from linnaeus.io.jsonl import shown
from linnaeus.io.label_columns import is_yes
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example
from linnaeus.taxonomy.formats.tables import as_text

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
        layout = reading.lay_out(_sample(table), None)
        if not layout.text:
            _check_types(reading, table.schema_arrow, layout, pa)
        rows = (
            row for batch in table.iter_batches(_BATCH) for row in _rows(batch, layout, reading)
        )
        yield from each_row(reading, ((None, row) for row in rows), _parser(layout, reading))


def _sample(table: Any) -> Sample:
    """The first rows as texts, as far as columns hold any: lists of labels are joined by bars."""
    first = next(table.iter_batches(_BATCH), None)
    rows = [] if first is None else first.to_pylist()
    return Sample(list(table.schema_arrow.names), [list(map(shown, r.values())) for r in rows])


def _parser(layout: Layout, reading: Reading) -> Any:
    names, n_texts = layout.names, len(layout.text)

    def parse(number: int, row: dict[str, Any]) -> Example:
        name = None if layout.id is None else row["named"][names[layout.id]]
        key = str(number if name is None or name == "" else name)
        labels = _labels(layout, reading, row["named"])
        texts = [row["named"][names[j]] for j in layout.text]
        if not n_texts:
            return Example(key, labels, x=_finite(row["x"], layout), metadata=row["rest"])
        for text in texts:
            if not isinstance(text, str) and (text is not None or n_texts == 1):
                raise BadRowError(f"the text is {shorten(text)}. Give every row a text.", "no_text")
        return Example(key, labels, "\n".join(t for t in texts if t), metadata=row["rest"])

    return parse


def _labels(layout: Layout, reading: Reading, named: dict[str, Any]) -> list[Any]:
    if layout.levels:
        return reading.labels.level(as_text(named[layout.names[j]]) for j in layout.levels)
    if layout.marks:
        yes = [layout.names[j] for j in layout.marks if is_yes(as_text(named[layout.names[j]]))]
        return reading.labels.resolve(yes)
    cells = [named[layout.names[j]] for j in layout.label_columns]
    found = [label for cell in cells for label in reading.labels.of_value(cell)]
    return list(dict.fromkeys(found))


def _finite(x: np.ndarray, layout: Layout) -> np.ndarray:
    if np.isinf(x).any():
        column = layout.names[layout.features[int(np.argmax(np.isinf(x)))]]
        raise BadRowError(
            f"column {shorten(column)} holds inf as {x.dtype.name}. Write a finite number, or "
            f"null where the value is missing.",
            kind="bad_number",
        )
    return x


def _rows(batch: Any, layout: Layout, reading: Reading) -> Iterator[dict[str, Any]]:
    """The rows of a batch: `x` are features, `rest` is metadata, `named` all the other columns."""
    names = layout.names
    numbers = [names[j] for j in layout.features]
    kept = names if reading.keeps else [names[j] for j in layout.rest]
    named = [name for name in names if name not in set(numbers)]
    x = np.empty((batch.num_rows, len(numbers)), dtype=reading.number_type(np.float64))
    with np.errstate(over="ignore"):
        for j, name in enumerate(numbers):
            column = batch.column(name).cast("float64", safe=False)
            x[:, j] = column.to_numpy(zero_copy_only=False)
    others = batch.select(named).to_pylist() if named else [{} for _ in range(batch.num_rows)]
    rest = batch.select(kept).to_pylist() if kept else [{} for _ in range(batch.num_rows)]
    for i in range(batch.num_rows):
        yield {"named": others[i], "x": x[i], "rest": rest[i]}


def _check_types(reading: Reading, schema: Any, layout: Layout, pa: Any) -> None:
    """Feature columns hold numbers."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    for name in (layout.names[j] for j in layout.features):
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
