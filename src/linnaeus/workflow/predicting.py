"""Predictions for rows without end: read, classified and written block by block, in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.errors import UserError
from linnaeus.model import Answers
from linnaeus.workflow.evaluating import load_model

Told = Callable[[int, float], None]  # rows done, seconds since the first


class Predicted(NamedTuple):
    """What was written."""

    path: str
    rows: int
    seconds: float
    skipped: tuple[str, ...]
    review: int | None = None  # rows that a person should see, where asked for

    def to_dict(self) -> dict[str, Any]:
        rate = self.rows / self.seconds if self.seconds > 0 else 0.0
        found = {**self._asdict(), "skipped": list(self.skipped), "rows_per_second": rate}
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
    skip_bad: bool = False,
    told: Told | None = None,
) -> Predicted:
    """Label sets for every row of a part or a file, written in its order.

    top : how many of the highest-ranked labels to list as well
    min_confidence : also say how sure the model is of each row, and mark those below for review
    told : about every block of rows
    """
    from linnaeus.io import blocks, find_rows, open_writer

    model = load_model(path)
    if rule is not None:
        model = model.with_rule(rule)
    if top < 0:
        raise UserError(f"top is {top}. Use a positive number, or 0 for no ranking.")
    answers, sure = Answers(model, top, min_confidence), min_confidence is not None
    file = find_rows(data, part)
    skipped: list[str] | None = [] if skip_bad else None
    rows, start = 0, time.perf_counter()
    with open_writer(target, format, answers.probabilities, top, sure) as write:
        for block in blocks(file, answers.feature_names, skipped, answers.kind):
            write(answers(block))
            rows += len(block)
            if told is not None:
                told(rows, time.perf_counter() - start)
    review = answers.reviewed if sure else None
    return Predicted(str(target), rows, time.perf_counter() - start, tuple(skipped or ()), review)
