"""Predictions for rows without end: read, classified and written block by block, in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.errors import UserError
from linnaeus.io import Columns, Kept, blocks, format_of, kept_columns, open_writer
from linnaeus.io.options import ReadOptions
from linnaeus.model import Answers
from linnaeus.workflow.evaluating import load_model
from linnaeus.workflow.rows import open_rows

Told = Callable[[int, float], None]  # rows done, seconds since the first


class Predicted(NamedTuple):
    """What was written."""

    path: str
    rows: int
    seconds: float
    skipped: tuple[str, ...]
    review: int | None = None  # rows that a person should see, where asked for
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        rate = self.rows / self.seconds if self.seconds > 0 else 0.0
        lists = {"skipped": list(self.skipped), "notes": list(self.notes)}
        found = {**self._asdict(), **lists, "rows_per_second": rate}
        return {key: value for key, value in found.items() if value is not None}


def predict(
    path: str | Path,
    data: str | Path,
    target: str | Path,
    *,
    part: str = "test",
    format: str | None = None,
    top: int = 0,
    rule: str | None = None,
    min_confidence: float | None = None,
    by_level: bool = False,
    skip_bad: bool = False,
    options: ReadOptions | None = None,
    told: Told | None = None,
) -> Predicted:
    """Label sets for every row of a part or a file, written in its order with all its columns.

    options : how a table is read, where that is not to be guessed
    top : how many of the highest-ranked labels to list as well
    min_confidence : also say how sure the model is of each row, and mark those below for review
    by_level : also list the titles of every level of the taxonomy
    told : about every block of rows
    """
    model = load_model(path)
    if rule is not None:
        model = model.with_rule(rule)
    if top < 0:
        raise UserError(f"top is {top}. Use a positive number, or 0 for no ranking.")
    notes: list[str] = []
    format = format_of(target, format)
    answers = Answers(model, top, min_confidence, by_level)
    reading = open_rows(data, part, model, skip_bad, options, keeps=True)
    found = blocks(reading, answers.kind)
    first = list(islice(found, 1))  # which tells what the columns are
    kept = Kept() if format == "jsonl" else kept_columns(reading)
    rows, start = 0, time.perf_counter()
    with open_writer(target, format, Columns(answers.fields, kept), notes) as write:
        for block in chain(first, found):
            write(zip(answers(block), block.metadata or repeat({}), strict=False))
            rows += len(block)
            if told is not None:
                told(rows, time.perf_counter() - start)
        reading.check_share()
    seconds, skipped = time.perf_counter() - start, tuple(reading.skipped or ())
    review = answers.reviewed if min_confidence is not None else None
    return Predicted(str(target), rows, seconds, skipped, review, (*reading.say(), *notes))
