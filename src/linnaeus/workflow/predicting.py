"""Predictions for rows without end: read, classified and written block by block, in order."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linnaeus.collection import Part
from linnaeus.errors import MissingExtraError, UserError
from linnaeus.files import atomic_path, atomic_write, stem_and_suffix
from linnaeus.inference import lift
from linnaeus.model import Model, inputs_of
from linnaeus.workflow.evaluating import load_model

BLOCK = 2048  # rows in memory at a time
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

    top : how many of the best labels to rank besides
    told : about every block of rows
    """
    model = load_model(path)
    if rule is not None:
        model = model.with_rule(rule)
    if top < 0:
        raise UserError(f"--top is {top}. Use a positive number, or 0 for no ranking.")
    file = find_rows(data, part)
    skipped: list[str] | None = [] if skip_bad else None
    rows, start = 0, time.perf_counter()
    with open_writer(target, format, model.has_probabilities, top) as write:
        for block in blocks(file, model, skipped):
            write(records(model, block, top))
            rows += len(block)
            if told is not None:
                told(rows, time.perf_counter() - start)
    return Predicted(str(target), rows, time.perf_counter() - start, tuple(skipped or ()))


def find_rows(data: str | Path, part: str) -> Path:
    """The file to predict: the one given, or that of a part of a folder."""
    from linnaeus.io.find import find_file, listing
    from linnaeus.io.read import READERS

    data = Path(data)
    if not data.is_dir():
        if not data.exists():
            raise UserError(f"There is no file or folder {data}. Check the path.")
        return data
    file = find_file(data, part, None, READERS)
    if file is None:
        raise UserError(
            f"{data} has no part {part!r}: looked for {part}.* with one of the suffixes "
            f"{', '.join(READERS)}. {listing(data)} Name another with --part, or a file."
        )
    return file


def count_rows(data: str | Path, part: str, most: int = 64 << 20) -> int | None:
    """How many rows there are, for a plain text file that is quickly counted; else None."""
    file = find_rows(data, part)
    if file.suffix not in (".jsonl", ".csv", ".tsv", ".svm") or file.stat().st_size > most:
        return None
    with file.open("rb") as handle:
        lines = sum(block.count(b"\n") for block in iter(lambda: handle.read(1 << 20), b""))
    return lines - (file.suffix in (".csv", ".tsv"))


def blocks(
    file: Path, model: Model, skipped: list[str] | None = None, size: int = BLOCK
) -> Iterator[Part]:
    """The rows of a file in blocks, none of which is kept."""
    from linnaeus.io import collect, iter_rows

    examples = iter_rows(file, feature_names=table_names(model), skipped=skipped)
    first = True
    while True:
        block = collect(islice(examples, size))
        if not len(block):
            return
        if first:
            check_kind(model, block, file)
        first = False
        yield block


def table_names(model: Model) -> list[str] | None:
    """The columns that a table must have for this model; None for texts and sparse rows."""
    names = getattr(model.features, "feature_names", None)
    return None if names is None else list(names)


def check_kind(model: Model, block: Part, file: Path) -> None:
    """Refuse rows of another kind than the model was trained on."""
    wants_table = hasattr(model.features, "n_features_in_")
    if wants_table == (block.texts is None):
        return
    kinds = ("features", "texts") if wants_table else ("texts", "features")
    raise UserError(
        f"The model was trained on {kinds[0]}, but {file} holds {kinds[1]}. Give rows of the same "
        f"kind, or train a model on these."
    )


def records(model: Model, block: Part, top: int = 0) -> Iterator[dict[str, Any]]:
    """What there is to say about each row: labels, their paths, scores, probabilities, ranking."""
    X = model.transform(inputs_of(block))
    scores = np.asarray(model.estimator.decision_function(X))
    closed = model.decide(X, scores)
    likely = np.asarray(model.estimator.predict_proba(X)) if model.has_probabilities else None
    place = {name: j for j, name in enumerate(model.columns)}
    best = _best(scores, top) if top else None
    paths = _Paths(model)
    for i, labels in enumerate(model.names(closed)):
        at = [place.get(label) for label in labels]
        record: dict[str, Any] = {"id": block.ids[i], "labels": labels}
        record["paths"] = [paths[label] for label in labels]
        record["scores"] = [
            float(scores[i, j]) if j is not None else paths.score(label, scores[i])
            for label, j in zip(labels, at, strict=True)
        ]
        if likely is not None:
            record["probabilities"] = [None if j is None else float(likely[i, j]) for j in at]
        if best is not None:
            record["ranking"] = [
                {"label": model.columns[j], "score": float(scores[i, j])} for j in best[i]
            ]
        yield record


class _Paths(dict[Any, list[Any]]):
    """The nodes above each label and the label itself, from the top; made when asked for."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model

    def __missing__(self, label: Any) -> list[Any]:
        tax = self._model.taxonomy
        above = sorted(tax.index(v) for v in tax.ancestors(label))
        self[label] = [tax.nodes[v] for v in above]
        return self[label]

    def score(self, label: Any, row: np.ndarray) -> float:
        """The highest score below a node that has none of its own."""
        tax = self._model.taxonomy
        lifted = lift(tax, row[None], tax.numbers(self._model.columns))
        return float(lifted[0, tax.index(label)])


def _best(scores: np.ndarray, k: int) -> np.ndarray:
    k = min(k, scores.shape[1])
    part = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, part, axis=1), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(part, order, axis=1))


# -- writing ------------------------------------------------------------------------------

Writer = Callable[[Iterable[dict[str, Any]]], None]


@contextmanager
def open_writer(
    target: str | Path, format: str | None, probabilities: bool, top: int
) -> Iterator[Writer]:
    """A function that writes records; the file appears under its name when all are written."""
    format = stem_and_suffix(target)[1] if format is None else format
    if format not in FORMATS:
        raise UserError(
            f"Predictions cannot be written as {format!r}. Use a file name that ends in "
            f"{', '.join(FORMATS)}, or --format."
        )
    if format == "parquet":
        with _parquet(target, probabilities, top) as write:
            yield write
        return
    with atomic_write(target) as handle:
        if format == "jsonl":
            yield lambda found: handle.writelines(
                json.dumps(record, ensure_ascii=False, default=str) + "\n" for record in found
            )
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
