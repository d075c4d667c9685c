"""Predictions as files: JSON lines, tables or parquet, written record by record."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.files import atomic_path, atomic_write
from linnaeus.io.find import suffix_of

FORMATS = ("jsonl", "csv", "tsv", "parquet")
Writer = Callable[[Iterable[dict[str, Any]]], None]


@contextmanager
def open_writer(
    target: str | Path,
    format: str | None,
    probabilities: bool,
    top: int,
    confidence: bool = False,
) -> Iterator[Writer]:
    """A function that writes records; the file appears under its name when all are written.

    Parameters
    ----------
    target : str or Path
        File to write.
    format : str or None
        Name of the format; None to follow the name of the file.
    probabilities : bool
        Whether records hold probabilities.
    top : int
        How many of the highest-ranked labels records hold.
    confidence : bool, default=False
        Whether records hold confidence and review.

    Yields
    ------
    callable
        Writes records.
    """
    format = suffix_of(Path(target)) if format is None else format
    if format not in FORMATS:
        what = f"as {format!r}" if format else f"to {target}, whose name says no format"
        raise UserError(
            f"Predictions cannot be written {what}. Use a file name that ends in "
            f"{', '.join(f'.{name}' for name in FORMATS)}, or one of these with --format."
        )
    if format == "parquet":
        with _parquet(target, probabilities, top, confidence) as write:
            yield write
        return
    with atomic_write(target) as handle:
        if format == "jsonl":
            encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
            yield lambda found: handle.writelines(encode(record) + "\n" for record in found)
            return
        table = csv.writer(handle, delimiter="," if format == "csv" else "\t", lineterminator="\n")
        table.writerow(_columns(probabilities, top, confidence))
        yield lambda found: table.writerows(_cells(record) for record in found)


def _columns(probabilities: bool, top: int, confidence: bool) -> list[str]:
    names = ["id", "labels", "paths", "scores"] + ["probabilities"] * probabilities
    return names + ["confidence", "review"] * confidence + ["ranking"] * bool(top)


def _cells(record: dict[str, Any]) -> list[str]:
    """A record as the cells of a table: several values with | between them."""
    cells = [
        str(record["id"]),
        "|".join(map(str, record["labels"])),
        "|".join(" > ".join(map(str, path)) for path in record["paths"]),
        "|".join(f"{score:.6g}" for score in record["scores"]),
    ]
    if "probabilities" in record:
        values = record["probabilities"]
        cells.append("|".join("" if p is None else f"{p:.6g}" for p in values))
    if "review" in record:
        cells += [f"{record['confidence']:.6g}", "true" if record["review"] else "false"]
    if "ranking" in record:
        cells.append("|".join(f"{r['label']}:{r['score']:.6g}" for r in record["ranking"]))
    return cells


@contextmanager
def _parquet(
    target: str | Path, probabilities: bool, top: int, confidence: bool
) -> Iterator[Writer]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Writing parquet", "pyarrow", "formats") from None
    names, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
    fields = [("id", pa.string()), ("labels", names), ("paths", pa.list_(names))]
    fields.append(("scores", numbers))
    if probabilities:
        fields.append(("probabilities", numbers))
    if confidence:
        fields += [("confidence", pa.float64()), ("review", pa.bool_())]
    if top:
        ranked = pa.struct([("label", pa.string()), ("score", pa.float64())])
        fields.append(("ranking", pa.list_(ranked)))
    schema = pa.schema(fields)
    with atomic_path(target) as temporary, pq.ParquetWriter(temporary, schema) as writer:

        def write(found: Iterable[dict[str, Any]]) -> None:
            rows = [_as_text(record) for record in found]
            writer.write_table(pa.Table.from_pylist(rows, schema))

        yield write


def _as_text(record: dict[str, Any]) -> dict[str, Any]:
    """Names of any kind as text, which a column of one type needs."""
    changed = {
        "id": str(record["id"]),
        "labels": [str(v) for v in record["labels"]],
        "paths": [[str(v) for v in path] for path in record["paths"]],
    }
    if "ranking" in record:
        changed["ranking"] = [r | {"label": str(r["label"])} for r in record["ranking"]]
    return record | changed
