"""Predictions for rows without end: read, classified and written block by block, in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus.errors import UserError
from linnaeus.workflow.parts import check_arguments

if TYPE_CHECKING:
    from linnaeus.io import ReadOptions

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
    options: ReadOptions | Mapping[str, Any] | None = None,
    told: Told | None = None,
) -> Predicted:
    """Label sets for every row of a part or a file, written in its order with all its columns.

    What was typed wrong is refused before anything heavy is loaded.

    options : how a table is read, where that is not to be guessed
    top : how many of the highest-ranked labels to list as well
    min_confidence : also say how sure the model is of each row, and mark those below for review
    by_level : also list the titles of every level of the taxonomy
    told : about every block of rows
    """
    check_arguments(data, rule=rule, model=path, options=options)
    from linnaeus import io, storage
    from linnaeus.model import Answers, Model
    from linnaeus.workflow.evaluating import no_model

    model = storage.load(path)
    if not isinstance(model, Model):
        raise no_model(path, model)
    if rule is not None:
        model = model.with_rule(rule)
    if top < 0:
        raise UserError(f"top is {top}. Use a positive number, or 0 for no ranking.")
    notes: list[str] = []
    answers = Answers(model, top, min_confidence, by_level)
    format = io.format_of(target, format)
    reading = io.open_reading(
        io.find_rows(data, part), feature_names=answers.feature_names,
        skipped=[] if skip_bad else None, options=options,
        before=model.about.get("columns"), keeps=True,
    )  # fmt: skip
    found = io.blocks(reading, answers.kind)
    first = list(islice(found, 1))  # which tells what the columns are
    kept = io.Kept() if format == "jsonl" else io.kept_columns(reading)
    rows, start = 0, time.perf_counter()
    with io.open_writer(target, format, io.Columns(answers.fields, kept), notes) as write:
        for block in chain(first, found):
            write(zip(answers(block), block.metadata or repeat({}), strict=False))
            rows += len(block)
            if told is not None:
                told(rows, time.perf_counter() - start)
        if reading.skipped:
            reading.check_share()
    seconds, skipped = time.perf_counter() - start, tuple(reading.skipped or ())
    review = answers.reviewed if min_confidence is not None else None
    return Predicted(str(target), rows, seconds, skipped, review, (*reading.say(), *notes))
