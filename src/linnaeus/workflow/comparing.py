"""Methods side by side on a collection, and the report about it; the same for one model."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.io.collection import Collection
from linnaeus.io.options import ReadOptions
from linnaeus.model.methods import write_parameters
from linnaeus.workflow.evaluating import Evaluated
from linnaeus.workflow.parts import Step, option_words, train_and_test

if TYPE_CHECKING:
    from linnaeus.experiments import Comparison, Examples, LabelSetStudy, NamedMethod, RankingStudy

FOLDS, RANKING_FOLDS, REPETITIONS, HIERARCHIES = 5, 10, 10, 5


@dataclass(frozen=True)
class Request:
    """What is compared, whatever it is judged by.

    data : a folder, or a file as the training part
    methods : names; "name:flat", "name:random" and "name:learned" teach with another taxonomy
    parameters : {name: value} for all methods that have it, {"method.name": value} for one
    features, feature_parameters : as in `linnaeus.model.train`, the same in every mode
    hierarchies : how many random ones "name:random" stands for
    """

    data: str | Path
    methods: Sequence[str]
    parameters: Mapping[str, Any] | None = None
    features: str = "auto"
    feature_parameters: Mapping[str, Any] | None = None
    hierarchies: int | None = None
    skip_bad: bool = False
    options: ReadOptions | Mapping[str, Any] | None = None
    seed: int = 0
    jobs: int = 1
    step: Step | None = None

    def read(self, with_test: bool) -> Collection:
        """A folder with its test part where that may be needed, or a file as the training part."""
        from linnaeus.io import read_collection

        parts = ["train", "test"] if with_test else ["train"]
        found = read_collection(
            self.data, parts=parts, skip_bad=self.skip_bad, options=self.options
        )
        return found if Path(self.data).is_dir() else replace(found, name=Path(self.data).name)

    def parsed(self, collection: Collection, hierarchies: int = 1) -> list[NamedMethod]:
        """The methods, checked before anything is fitted."""
        from linnaeus.experiments import parse_methods

        n = self.hierarchies or hierarchies
        return parse_methods(self.methods, collection.taxonomy, self.parameters, n)

    def examples(self, part: Any) -> Examples:
        """A part of which every division makes its features."""
        from linnaeus.experiments import Examples

        return Examples(part, self.features, self.feature_parameters)

    def words(self, *mode: str) -> list[str]:
        """The command that repeats the comparison."""
        return [
            "linnaeus", "compare", str(self.data), "--methods", ",".join(self.methods), *mode,
            *write_parameters("-p", self.parameters),
            *write_parameters("-f", self.feature_parameters),
            *([] if self.features == "auto" else ["--features", self.features]),
            *([] if self.hierarchies is None else ["--hierarchies", str(self.hierarchies)]),
            *option_words(self.options),
        ]  # fmt: skip


class Compared(NamedTuple):
    """What was found, where the report is if there is one, and rows that were left out."""

    found: Comparison | RankingStudy | LabelSetStudy
    report: Path | None = None
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def compare(
    data: str | Path,
    methods: Sequence[str],
    *,
    folds: int | None = None,
    test: bool = False,
    rule: str = "auto",
    output: str | Path | None = "comparison.html",
    **shared: Any,
) -> Compared:
    """Compare methods on folds of the training part, or on the test part, and write a report.

    folds, test : one or the other; with neither the test part, or 5 folds where there is none
    output : the HTML file; None writes none
    shared : the other fields of `Request`
    """
    from linnaeus.experiments import compare as run

    if folds is not None and test:
        raise UserError("Folds and the test part are both asked for. Use --folds or --test.")
    target = None if output is None else _checked(Path(output))
    asked = Request(data, methods, **shared)
    collection = asked.read(folds is None)
    if folds is None and collection.test is None:
        if test:
            collection.part("test")  # says which parts there are
        folds = FOLDS
    comparison = run(
        methods, collection, folds=folds, parameters=asked.parameters, features=asked.features,
        feature_parameters=asked.feature_parameters, rule=rule,
        hierarchies=asked.hierarchies or 1, seed=asked.seed, jobs=asked.jobs, step=asked.step,
    )  # fmt: skip
    words = asked.words(*(["--test"] if folds is None else ["--folds", str(folds)]))
    words += [] if rule == "auto" else ["--rule", rule]
    words += [*(["--skip-bad"] * asked.skip_bad), "--seed", str(asked.seed)]
    comparison = _with_command(comparison, words)
    if target is not None:
        _write(comparison, target)
    return Compared(comparison, target, _skipped(collection), collection.notes)


def compare_rankings(
    data: str | Path,
    methods: Sequence[str],
    *,
    few: Sequence[int] | None = None,
    folds: int = RANKING_FOLDS,
    repetitions: int = REPETITIONS,
    against: str | None = None,
    **shared: Any,
) -> Compared:
    """Compare the rankings of methods on folds of a training part, or with few rows per class.

    few : training rows per class, in place of folds; `repetitions` draws each
    against : the method that all others are tested against; the first if not given
    shared : the other fields of `Request`
    """
    from linnaeus.experiments import cross_validate_ranking, per_class_study

    asked = Request(data, methods, **shared)
    collection = asked.read(with_test=False)
    part, taxonomy = collection.part("train"), collection.taxonomy
    entries = {
        method.name: partial(method.classifier, taxonomy, seed=asked.seed, jobs=asked.jobs)
        for method in asked.parsed(collection, HIERARCHIES)
    }
    against = _known(against, entries)
    told = None if asked.step is None else partial(asked.step, "fit")
    common: dict[str, Any] = {"random_state": asked.seed, "callback": told}
    rows = asked.examples(part), part.labels, taxonomy
    if few is None:
        study = cross_validate_ranking(entries, *rows, folds=folds, **common)
    else:
        study = per_class_study(entries, *rows, t=few, repetitions=repetitions, **common)
    return Compared(replace(study, against=against), None, _skipped(collection), collection.notes)


def compare_label_sets(
    data: str | Path,
    methods: Sequence[str],
    *,
    Cs: Sequence[float] | None = None,
    cv: int = FOLDS,
    cut: str | None = "instance",
    against: str | None = None,
    **shared: Any,
) -> Compared:
    """Train with the best C, and compare the label sets of the test part.

    Cs : the values of C to choose from, by cross-validation on the training part
    cv : folds for C, and for the thresholds of rows with several labels
    cut : how these are decided, as in `linnaeus.experiments.label_set_study`
    against : the baseline of all methods; the first if not given
    shared : the other fields of `Request`

    Without a test part a quarter of the training part is held out.
    """
    from linnaeus.experiments import WIDE_CS, label_set_study, with_best_C

    asked = Request(data, methods, **shared)
    collection = asked.read(with_test=True)
    train, test = train_and_test(collection, asked.seed)
    chosen = asked.parsed(collection)
    entries = with_best_C(
        chosen, collection.taxonomy, WIDE_CS if Cs is None else Cs, cv, asked.seed, asked.jobs,
        asked.step,
    )  # fmt: skip
    against = _known(against, entries)
    rows = asked.examples(train).division(range(len(train)), range(len(test)), test)
    study = label_set_study(
        entries, rows.X, train.labels, rows.X_test, test.labels, collection.taxonomy, cut=cut,
        cv=cv, against={name: against for name in entries if name != against},
        random_state=asked.seed,
    )  # fmt: skip
    return Compared(study, None, _skipped(collection), collection.notes)


def _known(against: str | None, methods: Mapping[str, Any]) -> str:
    """The baseline: one of the methods, the first if none is named."""
    if against is not None and against not in methods:
        raise UserError(
            f"The method {against!r}, which the others are to be tested against, is not compared. "
            f"Use one of: {', '.join(methods)}."
        )
    return next(iter(methods)) if against is None else against


def _skipped(collection: Collection) -> tuple[str, ...]:
    return tuple(message for _, part in collection.parts() for message in part.skipped)


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
    from linnaeus.experiments import judge_model

    target = _checked(Path(path))
    comparison = judge_model(found.model, found.part, data=data)
    comparison = replace(comparison, seen="" if found.seen is None else str(found.seen))
    options = [] if part == "test" else ["--part", part]
    options += ([] if rule is None else ["--rule", rule]) + ["--skip-bad"] * skip_bad
    command = ["linnaeus", "evaluate", model, data, *options, "--report", str(path)]
    _write(_with_command(comparison, command) if model and data else comparison, target)


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


def _write(comparison: Comparison, path: Path) -> None:
    from linnaeus.report import write_report

    write_report(comparison, path)


def _with_command(comparison: Comparison, words: Sequence[str]) -> Comparison:
    """The comparison with the command that repeats it."""
    return replace(comparison, setting=replace(comparison.setting, command=shlex.join(words)))
