"""From a collection on disk to the best setting of a method, and a model with it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus import storage
from linnaeus.experiments import Tuned
from linnaeus.experiments import tune as search
from linnaeus.io import ReadOptions, read_parts
from linnaeus.model.candidates import BUDGET
from linnaeus.model.methods import write_parameters
from linnaeus.workflow.parts import Step, option_words

ENDING = ".tune.jsonl"


class Searched(NamedTuple):
    """What was found, where the model is if there is one, and how to train it by hand."""

    tuned: Tuned
    path: str | None
    command: str
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What there is to tell, for JSON."""
        return {
            "path": self.path,
            "method": self.tuned.method,
            "features": self.tuned.kind,
            "parameters": self.tuned.best_parameters,
            "feature_parameters": self.tuned.best_feature_parameters,
            "rule": self.tuned.best["rule"],
            "command": self.command,
            **self.tuned.to_dict(),
        }


def tune(
    data: str | Path,
    target: str | Path | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    taxonomy: str | Path | None = None,
    features: str = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    exhaustive: bool = False,
    metric: str = "micro_f1",
    folds: int = 3,
    valid: bool = True,
    budget: float | None = None,
    journal: str | Path | None = None,
    fresh: bool = False,
    skip_bad: bool = False,
    options: ReadOptions | Mapping[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
    note: Callable[[str], None] | None = None,
) -> Searched:
    """Search the training part of a collection; see `linnaeus.experiments.tune`.

    target : where to write a model with the best setting; None writes none
    valid : whether to choose by the validation part, where there is one, and learn from it too
    budget : seconds to spend on choosing a method where none is given; None for the usual
    journal : keeps finished work, so that a search that was stopped can go on; if not given a
        file beside the target, or named after the data in the current folder. It is deleted
        when the model is written, and at the end of a search without one unless it was named.
    """
    if target is not None:
        storage.check_target(Path(target))
    if step is not None:
        step("read", 0, 1)
    parts = read_parts(data, taxonomy, skip_bad, valid, options)
    file = journal_path(data, target) if journal is None else Path(journal)
    if note is not None:
        note(f"Finished work is kept in {file}: stopped at any time, the same command goes on.")
    found = search(
        parts.train, parts.taxonomy, method, parameters, features=features,
        feature_parameters=feature_parameters, grid=grid, exhaustive=exhaustive, metric=metric,
        folds=folds, valid=parts.valid, budget=BUDGET if budget is None else budget, seed=seed,
        jobs=jobs, journal=file, fresh=fresh, with_model=target is not None, step=step, note=note,
    )  # fmt: skip
    if found.model is not None and target is not None:
        if parts.train.columns is not None:
            found.model.about["columns"] = parts.train.columns.given()
        found.model.save(target)
    if target is not None or journal is None:
        file.unlink(missing_ok=True)
    path = None if target is None else str(target)
    command = by_hand(found, data, target, taxonomy=taxonomy, skip_bad=skip_bad, options=options)
    return Searched(found, path, command, parts.skipped, parts.train.notes)


def journal_path(data: str | Path, target: str | Path | None) -> Path:
    """Where finished work is kept unless told otherwise."""
    if target is not None:
        return Path(target).with_name(Path(target).name + ENDING)
    return Path(Path(data).resolve().name + ENDING)


def by_hand(
    found: Tuned,
    data: str | Path,
    target: str | Path | None,
    *,
    taxonomy: str | Path | None = None,
    skip_bad: bool = False,
    options: ReadOptions | Mapping[str, Any] | None = None,
) -> str:
    """The command that trains the same model without a search."""
    words = ["linnaeus", "train", str(data), "-o", str(target or "MODEL"), "--method", found.method]
    words += write_parameters("-p", found.best_parameters)
    words += ["--features", found.kind, *write_parameters("-f", found.best_feature_parameters)]
    words += ["--rule", found.best["rule"]]
    words += ([] if taxonomy is None else ["--taxonomy", str(taxonomy)]) + ["--skip-bad"] * skip_bad
    words += option_words(options)
    return shlex.join(words + (["--seed", str(found.seed)] if found.seed else []))
