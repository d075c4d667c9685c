"""From a collection on disk to a model on disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus.workflow.parts import Step, Where, check_arguments

if TYPE_CHECKING:
    from linnaeus.io import ReadOptions, Room
    from linnaeus.model import Model

SHARE = 8  # times its texts that a part needs in memory while words are counted and weighed


class Trained(NamedTuple):
    """A model, where it is, its method in a few words, and how long it took."""

    model: Model
    path: str
    setting: str
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
    options: ReadOptions | Mapping[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
    where: Where | None = None,
    limit: int | None = None,
) -> Trained:
    """Fit a model of the training part of a collection, and write it as a directory.

    What was typed wrong is refused before anything heavy is loaded.

    options : how a table is read, where that is not to be guessed
    data : a folder (its training part is used), or a file beside a taxonomy
    valid : whether to choose by the validation part, where there is one, and learn from it too
    budget : seconds to spend on trying methods; None for the usual
    where : where fits run, and the folder that keeps what they do until the model is written,
        by default one beside it; None for here, with nothing kept
    limit : bytes of memory for the data; texts that need more are kept on disk, beside the target,
        as are their rows of features; None for all in memory
    """
    check_arguments(data, target, method, parameters, rule)
    from linnaeus import io, model, storage
    from linnaeus.execution.placing import placed
    from linnaeus.model.candidates import BUDGET
    from linnaeus.model.methods import maker, setting_text

    if method is not None:
        maker(method, None, parameters, seed, jobs)  # refuses values before anything is read
    storage.check_target(Path(target))
    start = time.perf_counter()
    texts = nullcontext() if limit is None else _room(Path(target), limit)
    with texts as room, nullcontext() if where is None else placed(*where, jobs, target):
        if step is not None:
            step("read", 0, 4)
        read = io.read_parts(data, taxonomy, skip_bad, valid, options, room)
        seconds = {"read": time.perf_counter() - start}
        made = model.train(
            read.train, read.taxonomy, method, parameters, features=features,
            feature_parameters=feature_parameters, rule=rule, folds=folds, valid=read.valid,
            budget=BUDGET if budget is None else budget, seed=seed, jobs=jobs, step=step,
        )  # fmt: skip
        if read.train.columns is not None:  # for tables to come, which are read likewise
            made.about["columns"] = read.train.columns.given()
        setting = setting_text(made.about["method"], made.about["parameters"])
        seconds["train"] = time.perf_counter() - start - seconds["read"]
        made.save(target, seconds)
        seconds["save"] = time.perf_counter() - start - sum(seconds.values())
        return Trained(made, str(target), setting, seconds, read.skipped, read.train.notes)


@contextmanager
def _room(target: Path, limit: int) -> Iterator[Room]:
    """Where texts go that do not fit in the memory for them."""
    from linnaeus.io import Room
    from linnaeus.storage.replacing import scratch

    with scratch(target) as folder:
        yield Room(limit // SHARE, folder)
