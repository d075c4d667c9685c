"""How good a model is on labelled examples; and the same model with another decision rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linnaeus import storage
from linnaeus.errors import UserError
from linnaeus.experiments import area_interval, draw_figures, evaluation_verdict
from linnaeus.io.collection import Part
from linnaeus.io.options import ReadOptions
from linnaeus.metrics import Report
from linnaeus.metrics.baseline import Baseline, baseline
from linnaeus.metrics.coverage import Coverage, coverage
from linnaeus.metrics.inputs import Pair
from linnaeus.model import Model, inputs_of
from linnaeus.workflow.parts import Step
from linnaeus.workflow.rows import read_examples


class Seen(NamedTuple):
    """Rows that the model was trained on, or copies of such, among those that it is judged by."""

    rows: int
    of: int
    without: Report | None  # the report on all others; None where there are none

    def __str__(self) -> str:
        """The warning; empty where there is nothing to warn of."""
        if not self.rows:
            return ""
        said = f"{self.rows:,} of {self.of:,} rows were in the training data"
        if self.without is None:
            return f"{said}, so the figures say nothing about new rows. Use rows of another file."
        names = ("micro_f1", "macro_f1", "hierarchical_f1", "zero_one_loss")
        figures = ", ".join(f"{_words(name)} {self.without[name]:.4f}" for name in names)
        return f"{said}; without them: {figures}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        without = None if self.without is None else self.without.to_dict()
        return {"rows": self.rows, "of": self.of, "without": without}


def _words(name: str) -> str:
    return name.replace("_", " ").replace("f1", "F1").replace("zero one", "zero-one")


class Evaluated(NamedTuple):
    """A report on a part, and the trade-off between precision and recall where asked for."""

    model: Model
    part: Part
    report: Report
    sweep: Any
    closed: Any  # decided label sets
    scores: Any
    verdict: str = ""  # in plain words
    seen: Seen | None = None  # None where the model does not know its training rows
    coverage: Coverage | None = None  # None where the model has no confidence

    def to_dict(self) -> dict[str, Any]:
        """All values, for JSON."""
        found = {"verdict": self.verdict, **self.report.to_dict()}
        found["rule"] = self.model.rule_name
        found["seen_in_training"] = None if self.seen is None else self.seen.to_dict()
        found["coverage"] = None if self.coverage is None else self.coverage.to_dict()
        if self.sweep is not None:
            found["sweep"] = self.sweep.to_dict()
        return found


def load_model(path: str | Path) -> Model:
    """A model that `linnaeus train` has written."""
    found = storage.load(path)
    if not isinstance(found, Model):
        raise no_model(path, found)
    return found


def no_model(path: str | Path, found: Any) -> UserError:
    """What to say where something else than a model was written."""
    said = f"{path} holds a {type(found).__name__} without features and decision rule. "
    return UserError(
        f"{said}Use linnaeus.load, or a model written by linnaeus train.",
        f"{said}Name a model that linnaeus train has written.",
    )


def evaluate(
    path: str | Path,
    data: str | Path,
    *,
    part: str = "test",
    rule: str | None = None,
    with_sweep: bool = False,
    skip_bad: bool = False,
    options: ReadOptions | Mapping[str, Any] | None = None,
    step: Step | None = None,
) -> Evaluated:
    """Judge a model by a part of a collection, or by a file."""
    step = step or (lambda *_: None)
    step("load", 0, 3)
    model = load_model(path)
    if rule is not None:
        model = model.with_rule(rule)
    step("read", 1, 3)
    examples = read_examples(data, model, part, skip_bad, options)
    step("score", 2, 3)
    X = model.transform(inputs_of(examples))
    scores = np.asarray(model.estimator.class_scores(X))
    closed = model.decide(X, scores)
    report, best = _weighed(model, examples, closed, scores)
    sure = model.confidence(X, scores)
    found = None
    if with_sweep:
        from linnaeus.metrics.sweep import sweep

        found = sweep(
            examples.labels, scores, model.taxonomy, model.columns, decided=closed, lifted=True
        )
    return Evaluated(
        model, examples, report, found, closed, scores, evaluation_verdict(report, best),
        _seen(model, examples, closed, scores),
        None if sure is None else coverage(sure, report.own),
    )  # fmt: skip


def _weighed(model: Model, part: Part, closed: Any, scores: Any) -> tuple[Report, Baseline | None]:
    """The report with intervals and with what always answering the same would reach."""
    taxonomy, known, seed = model.taxonomy, model.frequencies, int(model.about.get("seed", 0))
    report = model.report(part.labels, closed, scores)
    truth = taxonomy.closure(taxonomy.encode(part.labels))
    intervals = draw_figures(report.own, Pair(truth, closed), seed).intervals()
    area = area_interval(truth, scores, taxonomy, model.columns, seed)
    if area is not None:
        intervals["au_prc"] = list(area)
    best = None if known is None else baseline(truth, taxonomy, known)
    values = None if best is None else best.to_dict()
    return replace(report, intervals=intervals, baseline=values), best


def _seen(model: Model, part: Part, closed: Any, scores: Any) -> Seen | None:
    known = model.seen(inputs_of(part))
    if known is None:
        return None
    new = np.flatnonzero(~known)
    without = None
    if known.any() and new.size:
        labels = [part.labels[i] for i in new.tolist()]
        without = model.report(labels, closed[new], scores[new])
    return Seen(int(known.sum()), len(part), without)


def change_rule(
    path: str | Path,
    rule: str,
    target: str | Path | None = None,
    *,
    data: str | Path | None = None,
    part: str = "valid",
    parameters: dict[str, Any] | None = None,
) -> Model:
    """Another decision rule for a trained model, in place or in a copy; nothing is retrained."""
    model = load_model(path)
    inputs, labels = None, None
    if data is not None:
        examples = read_examples(data, model, part)
        inputs, labels = inputs_of(examples), examples.labels
    model = model.with_rule(rule, inputs, labels, **parameters or {})
    model.save(path if target is None else target)
    return model
