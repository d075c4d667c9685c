"""ARFF as Clus writes it: typed attributes, one of which is `hierarchical` and holds the labels.

Numeric attributes are one column each. A nominal attribute becomes one 0/1 column per value, called
``attribute=value``, all NaN where the value is missing (``?``). Attributes of type string, date or
key are metadata; one called `id`, or of type key, gives the ids. Labels are separated by ``@``.
When the first row is sparse, ``{position value, ...}``, the features become sparse rows; what a
sparse row leaves out is 0, or the first value of a nominal attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import shorten
from linnaeus.files import open_lines
from linnaeus.io.arff_header import QUOTED, Attribute, Header, read_header, split_cells, unquote
from linnaeus.io.numbers import NAN, to_number, to_numbers
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example, SparseRow

_PAIR = re.compile(rf"\s*([0-9]{{1,9}})\s+({QUOTED}|[^,]*)\s*(?:,|$)")


def read_arff(reading: Reading) -> Iterator[Example]:
    """The examples of an ARFF file, float64 unless asked otherwise."""
    dtype = reading.number_type(np.float64)
    with open_lines(reading.path) as lines:
        header = read_header(reading, lines)
        rows = ((lines.line, s) for s in map(str.strip, lines) if s and s[0] != "%")
        first = next(rows, None)
        if first is None:
            return
        sparse = first[1].startswith("{")

        def parse(number: int, row: str) -> Example:
            x: NDArray[Any] | SparseRow
            if row[0] == "{":
                cells = _sparse_cells(row, header)
                x = _sparse_features(cells, header, dtype)
                x = x if sparse else _to_dense(x, len(header.names))
            else:
                cells = dict(enumerate(_dense_cells(row, header)))
                x = _dense_features(cells, header, dtype)
                x = _to_sparse(x) if sparse else x
            return _example(number, cells, x, header, reading)

        yield from each_row(reading, chain([first], rows), parse)


def _example(
    number: int, cells: dict[int, str], x: Any, header: Header, reading: Reading
) -> Example:
    key = cells.get(header.id.position) if header.id is not None else None
    given = cells.get(header.labels.position, "") if header.labels is not None else ""
    labels = reading.labels.resolve([s for s in given.split("@") if s and s != "?"])
    others = {a.name: cells.get(a.position) for a in header.others}
    return Example(str(number) if key is None else key, labels, x=x, metadata=others or None)


def _dense_cells(row: str, header: Header) -> list[str]:
    cells = split_cells(row)
    if len(cells) != len(header.all):
        raise BadRowError(
            f"{len(cells)} columns, where the header declares {len(header.all)} attributes; the "
            f"row begins with {shorten(cells[0])}. Give every attribute a value, or ?."
        )
    return cells


def _sparse_cells(row: str, header: Header) -> dict[int, str]:
    """What a row ``{position value, ...}`` gives, by position."""
    if not row.endswith("}"):
        raise BadRowError(f"the sparse row {shorten(row)} has no closing brace. Add it.")
    body, at, cells = row[1:-1].strip(), 0, {}
    while at < len(body):
        pair = _PAIR.match(body, at)
        position = int(pair[1]) if pair is not None else -1
        if pair is None or position >= len(header.all):
            raise BadRowError(
                f"{shorten(body[at:])} does not begin with a position and a value. Write them "
                f"with a blank between; positions run from 0 to {len(header.all) - 1}."
            )
        cells[position] = unquote(pair[2].strip())
        at = pair.end()
    return cells


def _dense_features(cells: dict[int, str], header: Header, dtype: Any) -> NDArray[Any]:
    """Numbers in their columns, one column switched on for each nominal value."""
    numeric = header.numeric
    given = [cells[a.position] for a in numeric]
    numbers = to_numbers(given, [a.name for a in numeric], dtype, missing="?")
    if not header.nominal:
        return numbers
    x = np.zeros(len(header.names), dtype=dtype)
    x[[a.start for a in numeric]] = numbers
    for a in header.nominal:
        for column, value in _nominal(a, cells[a.position]).items():
            x[column] = value
    return x


def _sparse_features(cells: dict[int, str], header: Header, dtype: Any) -> SparseRow:
    """The same for a sparse row; a nominal attribute left out has its first value."""
    values = {a.start: 1.0 for a in header.nominal if a.position not in cells}
    for position, cell in cells.items():
        a = header.all[position]
        if a.kind == "numeric":
            values[a.start] = to_number(cell, a.name, dtype, missing="?")
        elif a.kind == "nominal":
            values.update(_nominal(a, cell))
    columns = sorted(column for column, value in values.items() if value != 0)
    return SparseRow(np.array(columns, np.int32), np.array([values[c] for c in columns], dtype))


def _nominal(a: Attribute, value: str) -> dict[int, float]:
    """The columns that a nominal value fills."""
    if value in a.values:
        return {a.start + a.values[value]: 1.0}
    if value == "?":
        return {a.start + i: NAN for i in range(len(a.values))}
    raise BadRowError(
        f"attribute {shorten(a.name)} has the value {shorten(value)}, which its declaration "
        f"lacks. Add it there, or write ? where the value is missing."
    )


def _to_sparse(x: NDArray[Any]) -> SparseRow:
    columns = np.flatnonzero(x)
    return SparseRow(columns.astype(np.int32), x[columns])


def _to_dense(row: SparseRow, width: int) -> NDArray[Any]:
    x = np.zeros(width, dtype=row.values.dtype)
    x[row.indices] = row.values
    return x
