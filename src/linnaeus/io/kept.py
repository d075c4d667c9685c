"""The columns of an input that its predictions keep, and those that are added to them.

A table of predictions has the columns of the input as they stand. An added one whose name is taken
(in any case) is called ``labels_predicted``, or whatever its own name is. In JSON lines `labels`
and the like always are what the model says, and a field of the input with such a name is called
``labels_given``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain, count
from typing import Any, NamedTuple

from linnaeus.io.jsonl import read_json, read_jsonl
from linnaeus.io.parquet import read_parquet
from linnaeus.io.readers import reader_of
from linnaeus.io.reading import Reading
from linnaeus.io.stream import iter_rows

LARGEST = 2**63 - 1  # whole numbers beyond are kept as texts


class Kept(NamedTuple):
    """The columns of an input: their names, and the types of those that are no texts.

    Attributes
    ----------
    names : tuple of str
        The columns in order.
    id : str or None
        The column that names the rows.
    types : dict of str to object
        `bool`, `int` or `float`, or for parquet its own type.
    """

    names: tuple[str, ...] = ()
    id: str | None = None
    types: Mapping[str, Any] = {}


def kept_columns(reading: Reading) -> Kept:
    """The columns of a file, of which at least the first row has been read.

    Parameters
    ----------
    reading : Reading
        The file; the fields of JSON lines are found by reading all of it.

    Returns
    -------
    Kept
    """
    layout, reader = reading.layout, reader_of(reading.path)
    if layout is not None:
        types = _parquet_types(reading) if reader is read_parquet else {}
        id = None if layout.id is None else layout.names[layout.id]
        return Kept(tuple(layout.names), id, types)
    if reader not in (read_jsonl, read_json):
        return Kept()
    found: dict[str, set[Any]] = {}
    for row in iter_rows(reading.path, skipped=[], options=reading.options, keeps=True):
        for name, value in (row.metadata or {}).items():
            found.setdefault(name, set()).add(_type_of(value))
    types = {name: _common(kinds - {None}) for name, kinds in found.items()}
    id = reading.options.id or "id"
    return Kept(tuple(found), id if id in found else None, types)


def _type_of(value: Any) -> Any:
    if value is None or type(value) in (bool, float):
        return None if value is None else type(value)
    return int if type(value) is int and abs(value) <= LARGEST else str


def _common(kinds: set[Any]) -> Any:
    """The type that holds all values; `str` where there is no other."""
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 else str


def _parquet_types(reading: Reading) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(reading.path)
    except pa.ArrowInvalid:  # gzip around it: the values become texts
        return {}
    return dict(zip(schema.names, schema.types, strict=True))


class Columns:
    """The columns of a table of predictions: those of the input, then those that are added.

    Parameters
    ----------
    fields : iterable of str
        What is said of each row. An `id` comes first, and only where the input has none.
    kept : Kept
        The columns of the input.
    """

    def __init__(self, fields: Iterable[str], kept: Kept) -> None:
        self.kept = kept
        taken = {name.casefold() for name in kept.names}
        self.added: dict[str, str] = {}  # the column of each field
        for field in fields:
            if field != "id" or kept.id is None:
                self.added[field] = _free(field, taken)
                taken.add(self.added[field].casefold())
        self.first = [field for field in self.added if field == "id"]
        self.last = [field for field in self.added if field != "id"]

    @property
    def header(self) -> list[str]:
        """The names of all columns."""
        names = (self.added[field] for field in self.last)
        return [*(self.added[field] for field in self.first), *self.kept.names, *names]

    def cells(self, record: Mapping[str, Any], row: Mapping[str, Any]) -> list[Any]:
        """The values of a row: what is said of it is text already, and of the input as it is.

        Parameters
        ----------
        record : dict
            What is said of the row.
        row : dict
            The row of the input.

        Returns
        -------
        list
        """
        own = (row.get(name) for name in self.kept.names)
        said = (record[field] for field in chain(self.first, self.last))
        first = [added_text(next(said)) for _ in self.first]
        return [*first, *own, *map(added_text, said)]

    @property
    def notes(self) -> list[str]:
        """Which columns have another name than usual."""
        renamed = {field: name for field, name in self.added.items() if field != name}
        if not renamed:
            return []
        pairs = ", ".join(f"{name!r} for {field!r}" for field, name in renamed.items())
        return [f"the input has columns of these names, so the added ones are called {pairs}"]


def _free(field: str, taken: set[str]) -> str:
    more = (f"{field}_predicted_{n}" for n in count(2))
    names = chain([field, f"{field}_predicted"], more)
    return next(name for name in names if name.casefold() not in taken)


def merged(record: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the other fields of its row; those whose names it has itself are `_given`.

    Parameters
    ----------
    record : dict
        What is said of the row.
    row : dict
        The row of the input.

    Returns
    -------
    dict
    """
    out = {"id": record["id"]}
    for name, value in row.items():
        if name != "id" or str(value) != record["id"]:
            free = name
            while free in record or (free != name and free in row):
                free += "_given"
            out[free] = value
    return out | record


def added_text(value: Any) -> Any:
    """What is said of a row as a cell: several values with | between; a number stays a number.

    Parameters
    ----------
    value : object
        A value of a record.

    Returns
    -------
    object
    """
    if isinstance(value, list):
        return "|".join(map(_one, value))
    if isinstance(value, float):
        return float(_one(value))
    return value if isinstance(value, bool) else _one(value)


def _one(value: Any) -> str:
    if isinstance(value, list):
        return " > ".join(map(str, value))
    if isinstance(value, dict):
        return f"{value['label']}:{value['score']:.6g}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


def kept_text(value: Any) -> str:
    """A value of the input as a cell: lists with | between, objects as JSON.

    Parameters
    ----------
    value : object
        What stands in the input.

    Returns
    -------
    str

    Examples
    --------
    >>> kept_text(["a", "b"]), kept_text({"a": 1}), kept_text(None), kept_text(True)
    ('a|b', '{"a": 1}', '', 'true')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and not any(isinstance(v, list | dict) for v in value):
        return "|".join(map(kept_text, value))
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
