"""How good a model is on labelled examples; and the same model with another decision rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linnaeus import storage
from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.metrics import Report
from linnaeus.model import Model, inputs_of
from linnaeus.workflow.parts import Step, read_examples


class Evaluated(NamedTuple):
    """A report on a part, and the trade-off between precision and recall where asked for."""

    model: Model
    part: Part
    report: Report
    sweep: Any
    closed: Any  # decided label sets
    scores: Any

    def to_dict(self) -> dict[str, Any]:
        """All values, for JSON."""
        found = self.report.to_dict()
        found["rule"] = self.model.rule_name
        if self.sweep is not None:
            found["sweep"] = self.sweep.to_dict()
        return found


def load_model(path: str | Path) -> Model:
    """A model that `linnaeus train` has written."""
    found = storage.load(path)
    if not isinstance(found, Model):
        raise UserError(
            f"{path} holds a {type(found).__name__} without features and decision rule. Use "
            f"linnaeus.load in Python, or a model written by linnaeus train."
        )
    return found


def evaluate(
    path: str | Path,
    data: str | Path,
    *,
    part: str = "test",
    rule: str | None = None,
    with_sweep: bool = False,
    skip_bad: bool = False,
    step: Step | None = None,
) -> Evaluated:
    """Judge a model by a part of a collection, or by a file."""
    step = step or (lambda *_: None)
    step("load", 0, 3)
    model = load_model(path)
    if rule is not None:
        model = model.with_rule(rule)
    step("read", 1, 3)
    examples = read_examples(data, model, part, skip_bad)
    step("score", 2, 3)
    X = model.transform(inputs_of(examples))
    scores = np.asarray(model.estimator.class_scores(X))
    closed = model.decide(X, scores)
    report = model.report(examples.labels, closed, scores)
    found = None
    if with_sweep:
        from linnaeus.metrics.sweep import sweep

        found = sweep(
            examples.labels, scores, model.taxonomy, model.columns, decided=closed, lifted=True
        )
    return Evaluated(model, examples, report, found, closed, scores)


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
