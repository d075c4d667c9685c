"""What one method reached: figures with standard errors, cost, rule, certificate, mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.experiments.cost import Cost, array_bytes, mean_cost
from linnaeus.experiments.mistakes import Confusion, Errors, Mistake, confusions, mistakes
from linnaeus.experiments.pair_tests import RowCounts
from linnaeus.experiments.resampling import Draws, draw_figures
from linnaeus.io.collection import Part
from linnaeus.metrics import Calibration, Report, calibration, evaluate
from linnaeus.metrics.coverage import Coverage, coverage
from linnaeus.metrics.inputs import Pair
from linnaeus.metrics.report import plain_dict
from linnaeus.metrics.sweep import Sweep, sweep
from linnaeus.model import Model
from linnaeus.taxonomy import Taxonomy

FIGURES = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "hierarchical_f1": "hierarchical F1",
    "zero_one_loss": "zero-one loss",
}
LESS_IS_BETTER = frozenset({"zero_one_loss"})


class Answers(NamedTuple):
    """What a fitted model said about some test rows."""

    rows: np.ndarray  # their numbers
    sets: sp.csr_array  # closed, over the nodes of the taxonomy that methods are judged by
    scores: np.ndarray
    columns: tuple[Any, ...]
    probabilities: np.ndarray | None
    closed: bool  # whether the columns are all nodes, and sets closed
    seconds: float  # that the answers took
    cost: Cost | None  # of the fit
    rule: str
    why: str  # this rule
    gap: float | None
    model_bytes: int
    confidence: np.ndarray | None = None  # in each row

    @classmethod
    def of(
        cls, model: Model, rows: np.ndarray, sets: sp.csr_array, scores: np.ndarray,
        probabilities: np.ndarray | None, seconds: float, cost: Cost | None,
        confidence: np.ndarray | None = None,
    ) -> Answers:  # fmt: skip
        told, proof = model.about.get("rule", {}), model.about.get("certificate", {})
        return cls(
            rows, sets, scores, model.columns, probabilities, model.closed, seconds, cost,
            model.rule_name, str(told.get("why", "")), proof.get("gap"),
            array_bytes(model.estimator), confidence,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class MethodResult:
    """A method's results on all rows together; where there are none, why not.

    Attributes
    ----------
    name : str
        Name of the method.
    parameters : dict
        What it was given.
    error : str
        Why there is no result.
    report : Report or None
        Everything about its predictions, out of fold where there are folds.
    errors : dict of str to float
        Standard errors of `FIGURES`: by the bootstrap, or over the folds.
    folds : dict of str to list
        Value of each figure in every fold, where there are folds.
    cost : Cost or None
        Of a fit with the choice of the rule, means over the folds; None if not measured.
    rows_per_second : float
        Rows that are scored and decided per second.
    model_bytes : int
        Size of the estimator's arrays.
    rule : str
        How scores became label sets.
    why : tuple of str
        Why so.
    gap : float or None
        The relative duality gap, the largest of the folds.
    calibration : Calibration or None
        Of the probabilities, where there are any.
    confusions : list
        Pairs of classes that are taken for each other most.
    mistakes : list
        Rows with the worst mistakes.
    sweep : Sweep or None
        What one threshold for all scores would give.
    predicted : csr_array of shape (n_rows, n_nodes) or None
        Predicted label sets, closed.
    rows : object
        Counts of every row, for tests.
    draws : Draws or None
        The figures of rows drawn again, for intervals and tests.
    coverage : Coverage or None
        What confidence in rows is worth, where the method has one.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    report: Report | None = None
    errors: dict[str, float] = field(default_factory=dict)
    folds: dict[str, list[float]] = field(default_factory=dict)
    cost: Cost | None = None
    rows_per_second: float = 0.0
    model_bytes: int = 0
    rule: str = ""
    why: tuple[str, ...] = ()
    gap: float | None = None
    calibration: Calibration | None = None
    confusions: list[Confusion] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    sweep: Sweep | None = None
    predicted: sp.csr_array | None = field(default=None, repr=False)
    rows: RowCounts | None = field(default=None, repr=False)
    draws: Draws | None = field(default=None, repr=False)
    coverage: Coverage | None = None

    @property
    def figures(self) -> dict[str, float]:
        """The values by which methods are ranked; none without a result."""
        return {} if self.report is None else {name: float(self.report[name]) for name in FIGURES}

    @property
    def intervals(self) -> dict[str, list[float]]:
        """From where to where the figures lie in 95 % of the draws."""
        return {} if self.draws is None else self.draws.intervals()

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        if self.report is None:
            return plain_dict({"parameters": self.parameters, "error": self.error})
        own = {
            "parameters": self.parameters,
            **self.figures,
            "standard_error": self.errors,
            "intervals": self.intervals,
            "folds": self.folds,
            "cost": None if self.cost is None else self.cost._asdict(),
            "rows_per_second": self.rows_per_second,
            "model_bytes": self.model_bytes,
            "rule": {"name": self.rule, "why": list(self.why)},
            "gap": self.gap,
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "confusions": [pair._asdict() for pair in self.confusions],
            "mistakes": [_plain_mistake(row) for row in self.mistakes],
            "report": self.report.to_dict(),
            "sweep": None if self.sweep is None else self.sweep.to_dict(),
            "coverage": None if self.coverage is None else self.coverage.to_dict(),
        }
        return plain_dict(own)


def judge(
    name: str,
    parameters: dict[str, Any],
    taxonomy: Taxonomy,
    part: Part,
    train_counts: np.ndarray,
    answers: Sequence[Answers],
    seed: int,
) -> MethodResult:
    """Put the answers about all folds together and judge them."""
    truth = sp.csr_array(taxonomy.encode(part.labels))
    closed = taxonomy.closure(truth)
    order = np.argsort(np.concatenate([a.rows for a in answers]), kind="stable")
    sets = sp.csr_array(sp.vstack([a.sets for a in answers], format="csr")[order])
    columns = _all_columns(taxonomy, answers)
    scores = _pooled([a.scores for a in answers], answers, columns)[order]
    report = evaluate(truth, sets, taxonomy, scores, train_counts=train_counts, classes=columns)
    wrong = Errors.of(taxonomy, closed, sets)
    folds = _fold_values(taxonomy, truth, answers) if len(answers) > 1 else {}
    draws = draw_figures(report.own, Pair(closed, sets), seed)
    costs = [a.cost for a in answers if a.cost is not None]
    seconds = sum(a.seconds for a in answers)
    return MethodResult(
        name=name,
        parameters=parameters,
        report=report,
        errors=_fold_errors(folds) if folds else {name: draws.error(name) for name in FIGURES},
        folds=folds,
        cost=mean_cost(costs) if costs else None,
        rows_per_second=len(part) / max(seconds, 1e-9),
        model_bytes=max(a.model_bytes for a in answers),
        rule=_named([a.rule for a in answers]),
        why=tuple(dict.fromkeys(a.why for a in answers if a.why)),
        gap=max((a.gap for a in answers if a.gap is not None), default=None),
        calibration=_calibrated(taxonomy, truth, closed, columns, answers, order),
        confusions=confusions(taxonomy, wrong),
        mistakes=mistakes(taxonomy, wrong, part, scores, columns),
        sweep=sweep(closed, scores, taxonomy, columns, decided=report, lifted=True),
        predicted=sets,
        rows=RowCounts.of(closed, sets),
        draws=draws,
        coverage=_covered(answers, order, report),
    )


def _all_columns(taxonomy: Taxonomy, answers: Sequence[Answers]) -> tuple[Any, ...]:
    """The nodes that are scored in some fold, in node order."""
    known = {name for a in answers for name in a.columns if name in taxonomy}
    return taxonomy.names(np.sort(taxonomy.numbers(known)))


def _pooled(
    parts: Sequence[np.ndarray], answers: Sequence[Answers], columns: tuple[Any, ...],
    missing: float | None = None,
) -> np.ndarray:  # fmt: skip
    """Values of all folds over the same columns; a class unknown to a fold gets its row's least."""
    position = {name: j for j, name in enumerate(columns)}
    out = []
    for values, a in zip(parts, answers, strict=True):
        fill = values.min(axis=1, keepdims=True) if missing is None else np.full((1, 1), missing)
        wide = np.broadcast_to(fill, (values.shape[0], len(columns))).astype(np.float32)
        known = [j for j, name in enumerate(a.columns) if name in position]
        wide[:, [position[a.columns[j]] for j in known]] = values[:, known]
        out.append(wide)
    return np.vstack(out)


def _calibrated(
    taxonomy: Taxonomy, truth: sp.csr_array, closed: sp.csr_array, columns: tuple[Any, ...],
    answers: Sequence[Answers], order: np.ndarray,
) -> Calibration | None:  # fmt: skip
    parts = [a.probabilities for a in answers if a.probabilities is not None]
    if len(parts) < len(answers):
        return None
    P = np.clip(_pooled(parts, answers, columns, missing=0.0)[order], 0.0, 1.0)
    true = closed if answers[0].closed else taxonomy.most_specific(truth)
    return calibration(true, P, taxonomy, classes=columns)


def _fold_values(
    taxonomy: Taxonomy, truth: sp.csr_array, answers: Sequence[Answers]
) -> dict[str, list[float]]:
    reports = [evaluate(truth[a.rows], a.sets, taxonomy) for a in answers]
    return {name: [float(r[name]) for r in reports] for name in FIGURES}


def _fold_errors(folds: dict[str, list[float]]) -> dict[str, float]:
    return {name: float(np.std(v, ddof=1) / np.sqrt(len(v))) for name, v in folds.items()}


def _covered(answers: Sequence[Answers], order: np.ndarray, report: Report) -> Coverage | None:
    parts = [a.confidence for a in answers if a.confidence is not None]
    if len(parts) < len(answers):
        return None
    return coverage(np.concatenate(parts)[order], report.own)


def _named(rules: list[str]) -> str:
    """One rule, or how often each was chosen."""
    if len(set(rules)) == 1:
        return rules[0]
    counts = {rule: rules.count(rule) for rule in sorted(set(rules))}
    return ", ".join(f"{rule} ({n} of {len(rules)} folds)" for rule, n in counts.items())


def _plain_mistake(row: Mistake) -> dict[str, Any]:
    scores = {str(name): value for name, value in row.scores.items()}
    return row._asdict() | {"scores": scores}
