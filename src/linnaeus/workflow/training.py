"""From a collection on disk to a model on disk."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus import storage
from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.model import Model
from linnaeus.model import train as train_model
from linnaeus.taxonomy import Taxonomy
from linnaeus.workflow.parts import Step


class Trained(NamedTuple):
    """A model, where it is, and how long it took."""

    model: Model
    path: str
    seconds: dict[str, float]
    skipped: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What there is to tell, for JSON."""
        return {"path": self.path, **self.model.about, "seconds": self.seconds}


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
    skip_bad: bool = False,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Trained:
    """Fit a model of the training part of a collection, and write it as a directory.

    data : a folder (its training part is used), or a file beside a taxonomy
    """
    storage.check_target(Path(target))
    start = time.perf_counter()
    if step is not None:
        step("read", 0, 4)
    tax, part = read_training(data, taxonomy, skip_bad)
    read = time.perf_counter()
    model = train_model(
        part, tax, method, parameters, features=features, feature_parameters=feature_parameters,
        rule=rule, folds=folds, seed=seed, jobs=jobs, step=step,
    )  # fmt: skip
    fitted = time.perf_counter()
    seconds = {"read": read - start, "train": fitted - read}
    model.save(target, seconds)
    seconds["save"] = time.perf_counter() - fitted
    return Trained(model, str(target), seconds, part.skipped)


def read_training(
    data: str | Path, taxonomy: str | Path | None = None, skip_bad: bool = False
) -> tuple[Taxonomy, Part]:
    """The taxonomy and the training part of a folder, or of a file and the taxonomy beside it."""
    from linnaeus.io import read_collection

    data = Path(data)
    if not data.exists():
        raise UserError(f"There is no file or folder {data}. Check the path.")
    folder = data if data.is_dir() else data.parent
    file = None if data.is_dir() else data.resolve()
    collection = read_collection(
        folder, taxonomy=taxonomy, train=file, parts=["train"], skip_bad=skip_bad
    )
    return collection.taxonomy, collection.part("train")
