"""Predictions for rows without end: read, classified and written block by block, in order."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.top import top_columns
from linnaeus.errors import MissingExtraError, UserError
from linnaeus.files import atomic_path, atomic_write, stem_and_suffix
from linnaeus.io.collection import Part
from linnaeus.model import Model, inputs_of
from linnaeus.workflow.evaluating import load_model
from linnaeus.workflow.rows import blocks, find_rows

FORMATS = ("jsonl", "csv", "tsv", "parquet")

Told = Callable[[int, float], None]  # rows done, seconds since the first


class Predicted(NamedTuple):
    """What was written."""

    path: str
    rows: int
    seconds: float
    skipped: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        rate = self.rows / self.seconds if self.seconds > 0 else 0.0
        return {**self._asdict(), "skipped": list(self.skipped), "rows_per_second": rate}


def predict(
    path: str | Path,
    data: str | Path,
    target: str | Path,
    *,
    part: str = "test",
    format: str | None = None,
    top: int = 0,
    rule: str | None = None,
    skip_bad: bool = False,
    told: Told | None = None,
) -> Predicted:
    """Label sets for every row of a part or a file, written in its order.

    top : how many of the highest-ranked labels to list as well
    told : about every block of rows
    """
    model = load_model(path)
    if rule is not None:
        model = model.with_rule(rule)
    if top < 0:
        raise UserError(f"top is {top}. Use a positive number, or 0 for no ranking.")
    file = find_rows(data, part)
    skipped: list[str] | None = [] if skip_bad else None
    answers = Answers(model, top)
    rows, start = 0, time.perf_counter()
    with open_writer(target, format, model.has_probabilities, top) as write:
        for block in blocks(file, model, skipped):
            write(answers(block))
            rows += len(block)
            if told is not None:
                told(rows, time.perf_counter() - start)
    return Predicted(str(target), rows, time.perf_counter() - start, tuple(skipped or ()))


class Answers:
    """What there is to say about rows: labels, their paths, scores, probabilities, ranking.

    An inner node that is given because a node below it is, or that has no score of its own, has
    the highest score at or below it, and no probability.
    """

    def __init__(self, model: Model, top: int = 0) -> None:
        tax = model.taxonomy
        self._model, self._top = model, top
        self._scored = np.full(len(tax), -1)  # the column of each node
        self._scored[tax.numbers(model.columns)] = np.arange(len(model.columns))
        inner = (tax.n_children > 0) & (not model.closed)
        self._column = np.where(inner, -1, self._scored)  # the same, of nodes above a label
        self._paths: dict[int, list[Any]] = {}
        self._below: dict[int, np.ndarray] = {}

    def __call__(self, block: Part) -> Iterator[dict[str, Any]]:
        model = self._model
        X = model.transform(inputs_of(block))
        scores = np.asarray(model.estimator.decision_function(X))
        given = model.given(model.decide(X, scores))
        row = np.repeat(np.arange(len(block)), np.diff(given.indptr))
        labels = [model.taxonomy.nodes[v] for v in given.indices.tolist()]
        paths = [self._path(v) for v in given.indices.tolist()]
        columns = self._columns(given, row)
        values = self._values(scores, row, given.indices, columns)
        likely = self._likely(X, row, columns) if model.has_probabilities else None
        best = top_columns(scores, self._top) if self._top else None
        for i, (a, b) in enumerate(pairwise(given.indptr.tolist())):
            record: dict[str, Any] = {"id": block.ids[i], "labels": labels[a:b]}
            record["paths"], record["scores"] = paths[a:b], values[a:b]
            if likely is not None:
                record["probabilities"] = likely[a:b]
            if best is not None:
                ranked = zip(best[i].tolist(), scores[i, best[i]].tolist(), strict=True)
                record["ranking"] = [{"label": model.columns[j], "score": s} for j, s in ranked]
            yield record

    def _columns(self, given: sp.csr_array, row: np.ndarray) -> np.ndarray:
        """The column of each label: of the most specific ones their own, -1 where there is none."""
        own: np.ndarray = self._scored[given.indices]
        if not self._model.closed_answers:
            return own
        n = given.shape[1]
        specific = self._model.taxonomy.most_specific(given)
        ends = np.repeat(np.arange(given.shape[0]), np.diff(specific.indptr)) * n + specific.indices
        last = np.isin(row * n + given.indices, ends)
        return np.asarray(np.where(last, own, self._column[given.indices]))

    def _values(
        self, scores: np.ndarray, row: np.ndarray, nodes: np.ndarray, columns: np.ndarray
    ) -> list[float]:
        values = scores[row, columns].astype(float)
        for e in np.flatnonzero(columns < 0).tolist():
            below = self._columns_below(int(nodes[e]))
            values[e] = scores[row[e], below].max() if below.size else scores[row[e]].min()
        return list(map(float, values))

    def _likely(self, X: Any, row: np.ndarray, columns: np.ndarray) -> list[float | None]:
        found = np.asarray(self._model.estimator.predict_proba(X))
        values = found[row, columns].astype(float).tolist()
        return [p if j >= 0 else None for p, j in zip(values, columns.tolist(), strict=True)]

    def _columns_below(self, v: int) -> np.ndarray:
        if v not in self._below:
            tax = self._model.taxonomy
            columns = self._scored[tax.numbers(tax.descendants(tax.nodes[v]))]
            self._below[v] = columns[columns >= 0]
        return self._below[v]

    def _path(self, v: int) -> list[Any]:
        """The nodes above a node and itself, from the top."""
        if v not in self._paths:
            tax = self._model.taxonomy
            above = sorted(tax.index(name) for name in tax.ancestors(tax.nodes[v]))
            self._paths[v] = [tax.nodes[u] for u in above]
        return self._paths[v]


# -- writing ------------------------------------------------------------------------------

Writer = Callable[[Iterable[dict[str, Any]]], None]


@contextmanager
def open_writer(
    target: str | Path, format: str | None, probabilities: bool, top: int
) -> Iterator[Writer]:
    """A function that writes records; the file appears under its name when all are written."""
    format = stem_and_suffix(target)[1] if format is None else format
    if format not in FORMATS:
        what = f"as {format!r}" if format else f"to {target}, whose name says no format"
        raise UserError(
            f"Predictions cannot be written {what}. Use a file name that ends in "
            f"{', '.join(f'.{name}' for name in FORMATS)}, or one of these with --format."
        )
    if format == "parquet":
        with _parquet(target, probabilities, top) as write:
            yield write
        return
    with atomic_write(target) as handle:
        if format == "jsonl":
            encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
            yield lambda found: handle.writelines(encode(record) + "\n" for record in found)
            return
        table = csv.writer(handle, delimiter="," if format == "csv" else "\t", lineterminator="\n")
        table.writerow(_columns(probabilities, top))
        yield lambda found: table.writerows(_cells(record) for record in found)


def _columns(probabilities: bool, top: int) -> list[str]:
    names = ["id", "labels", "paths", "scores"]
    return names + ["probabilities"] * probabilities + ["ranking"] * bool(top)


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
    if "ranking" in record:
        cells.append("|".join(f"{r['label']}:{r['score']:.6g}" for r in record["ranking"]))
    return cells


@contextmanager
def _parquet(target: str | Path, probabilities: bool, top: int) -> Iterator[Writer]:
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
