"""From a collection on disk to a model on disk."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus import storage
from linnaeus.io.options import ReadOptions
from linnaeus.model import Model
from linnaeus.model import train as train_model
from linnaeus.model.candidates import BUDGET
from linnaeus.workflow.parts import Step, columns_of, read_parts


class Trained(NamedTuple):
    """A model, where it is, and how long it took."""

    model: Model
    path: str
    seconds: dict[str, float]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What there is to tell, for JSON."""
        told = {"seconds": self.seconds, "notes": list(self.notes)}
        return {"path": self.path, **self.model.about, **told}


def train(
    data: str | Path,
    target: str | Path,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    taxonomy: str | Path | None = None,
    features: str = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    rule: str = "auto",
    folds: int | None = None,
    valid: bool = True,
    budget: float | None = None,
    skip_bad: bool = False,
    options: ReadOptions | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Trained:
    """Fit a model of the training part of a collection, and write it as a directory.

    options : how a table is read, where that is not to be guessed
    data : a folder (its training part is used), or a file beside a taxonomy
    valid : whether to choose by the validation part, where there is one, and learn from it too
    budget : seconds to spend on trying methods; None for the usual
    """
    storage.check_target(Path(target))
    start = time.perf_counter()
    if step is not None:
        step("read", 0, 4)
    parts = read_parts(data, taxonomy, skip_bad, valid, options)
    read = time.perf_counter()
    model = train_model(
        parts.train, parts.taxonomy, method, parameters, features=features,
        feature_parameters=feature_parameters, rule=rule, folds=folds, valid=parts.valid,
        budget=BUDGET if budget is None else budget, seed=seed, jobs=jobs, step=step,
    )  # fmt: skip
    model.about.update(columns_of(parts.train))
    fitted = time.perf_counter()
    seconds = {"read": read - start, "train": fitted - read}
    model.save(target, seconds)
    seconds["save"] = time.perf_counter() - fitted
    return Trained(model, str(target), seconds, parts.skipped, parts.train.notes)
