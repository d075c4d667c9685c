"""Methods side by side on a collection, and the report about it; the same for one model."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus.collection import Collection
from linnaeus.errors import MissingExtraError, UserError
from linnaeus.methods import write_parameters
from linnaeus.workflow.evaluating import Evaluated
from linnaeus.workflow.parts import Step
from linnaeus.workflow.training import read_training

if TYPE_CHECKING:
    from linnaeus.comparison import Contest

FOLDS = 5


class Compared(NamedTuple):
    """What was found, where the report is, and rows that were left out."""

    contest: Contest
    report: Path | None
    skipped: tuple[str, ...] = ()


def compare(
    data: str | Path,
    methods: Sequence[str],
    *,
    folds: int | None = None,
    test: bool = False,
    parameters: Mapping[str, Any] | None = None,
    features: str = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    rule: str = "auto",
    output: str | Path | None = "comparison.html",
    skip_bad: bool = False,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Compared:
    """Compare methods on folds of the training part, or on the test part, and write a report.

    folds, test : one or the other; with neither the test part, or 5 folds where there is none
    parameters : {name: value} for all methods that have it, {"method.name": value} for one
    output : the HTML file; None writes none
    """
    from linnaeus.comparison import compare as run

    if folds is not None and test:
        raise UserError("Folds and the test part are both asked for. Use --folds or --test.")
    target = None if output is None else _checked(Path(output))
    collection = _read(data, folds is None, skip_bad)
    if folds is None and collection.test is None:
        if test:
            collection.part("test")  # says which parts there are
        folds = FOLDS
    contest = run(
        methods, collection, folds=folds, parameters=parameters, features=features,
        feature_parameters=feature_parameters, rule=rule, seed=seed, jobs=jobs, step=step,
    )  # fmt: skip
    command = [
        "linnaeus", "compare", str(data), "--methods", ",".join(methods),
        *(["--test"] if folds is None else ["--folds", str(folds)]),
        *write_parameters("-p", parameters), *write_parameters("-f", feature_parameters),
        *([] if features == "auto" else ["--features", features]),
        *([] if rule == "auto" else ["--rule", rule]),
        *(["--skip-bad"] * skip_bad), "--seed", str(seed),
    ]  # fmt: skip
    contest = _with_command(contest, command)
    if target is not None:
        _write(contest, target)
    return Compared(
        contest, target, tuple(m for _, part in collection.parts() for m in part.skipped)
    )


def write_evaluation(
    found: Evaluated,
    path: str | Path,
    *,
    model: str = "",
    data: str = "",
    part: str = "test",
    rule: str | None = None,
    skip_bad: bool = False,
) -> None:
    """Write the report about one model on the examples that it was judged by.

    model, data, part, rule, skip_bad : what was asked for, for the command on the page
    """
    from linnaeus.comparison import single

    target = _checked(Path(path))
    contest = single(found.model, found.part, data=data)
    options = [] if part == "test" else ["--part", part]
    options += ([] if rule is None else ["--rule", rule]) + ["--skip-bad"] * skip_bad
    command = ["linnaeus", "evaluate", model, data, *options, "--report", str(path)]
    _write(_with_command(contest, command) if model and data else contest, target)


def _read(data: str | Path, with_test: bool, skip_bad: bool) -> Collection:
    """A folder with its test part where that may be needed, or a file as the training part."""
    from linnaeus.io import read_collection

    if Path(data).is_dir():
        parts = ["train", "test"] if with_test else ["train"]
        return read_collection(data, parts=parts, skip_bad=skip_bad)
    taxonomy, part = read_training(data, skip_bad=skip_bad)
    return Collection(taxonomy, part, name=Path(data).name)


def _checked(path: Path) -> Path:
    """A file that can be written, found out before the work; the report's packages too."""
    for package in ("jinja2", "plotly"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("The report", package, "report")
    if path.is_dir():
        raise UserError(f"{path} is a folder, where the report is to be written. Name a file.")
    if not path.parent.is_dir():
        raise UserError(f"There is no folder {path.parent} to write {path.name} into.")
    return path


def _write(contest: Contest, path: Path) -> None:
    from linnaeus.report import write_report

    write_report(contest, path)


def _with_command(contest: Contest, words: Sequence[str]) -> Contest:
    """The contest with the command that repeats it."""
    return replace(contest, setting=replace(contest.setting, command=shlex.join(words)))
