"""What a threshold trades: precision against recall, overall and at every level.

The points shown are spread evenly over recall, and the best F1 is among them; `thresholds` does
the counting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import UserError
from linnaeus.metrics import plots
from linnaeus.metrics.counts import prf
from linnaeus.metrics.display import table
from linnaeus.metrics.evaluate import evaluate
from linnaeus.metrics.report import Report, plain_dict
from linnaeus.metrics.thresholds import (
    ScoredNodes,
    ThresholdCounts,
    counts_at,
    shown_thresholds,
    tried_thresholds,
)
from linnaeus.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Sweep:
    """Precision, recall and F1 of closed label sets by threshold.

    Attributes
    ----------
    points : list of dict
        A dict per threshold, ascending: threshold, precision, recall, f1, labels_per_row (the most
        specific), empty_rows (the share of rows with no label), and levels: a list of depth,
        precision, recall, f1.
    best : dict
        Overall the threshold with the best F1, with precision, recall and f1; and levels: the same
        for every depth (its own best threshold).
    decided : dict or None
        The values of the label sets that the rule in use decided on, where given.
    """

    points: list[dict[str, Any]]
    best: dict[str, Any]
    decided: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        return plain_dict({"points": self.points, "best": self.best, "decided": self.decided})

    def __str__(self) -> str:
        depths = [level["depth"] for level in self.best["levels"]]
        head = ["threshold", "precision", "recall", "F1", "labels/row", "no label"]
        bests = [self.best, *self.best["levels"]]
        marked = [_nearest(self.points, best["threshold"]) for best in bests]
        rows = [_cells(p, [k == at for at in marked]) for k, p in enumerate(self.points)]
        if self.decided is not None:
            rows.append(_cells({**self.decided, "threshold": None}, [False] * len(bests)))
        lines = [table([*head, *(f"F1 at {d}" for d in depths)], rows)]
        lines.append(f"* best F1: overall {_best_text(self.best)}")
        lines += [f"  at depth {level['depth']} {_best_text(level)}" for level in bests[1:]]
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None) -> Any:
        """Precision against recall by level; also written if a path is given.

        Stars are the best thresholds, dots what the rule in use decided.

        Parameters
        ----------
        path : str, Path or None, default=None
            File to write, .png, .svg or .pdf; None for none.

        Returns
        -------
        matplotlib figure
        """
        figure = plots.empty("Sweep.plot", 7, 5)
        axes = figure.subplots()
        _curve(axes, "all", self.points, self.best, self.decided, color="black", linewidth=2)
        for k, best in enumerate(self.best["levels"]):
            points = [point["levels"][k] for point in self.points]
            decided = None if self.decided is None else self.decided["levels"][k]
            _curve(axes, f"depth {best['depth']}", points, best, decided, color=f"C{k}")
        axes.plot([], [], "*", color="0.5", markersize=11, label="best F1")
        if self.decided is not None:
            axes.plot([], [], "o", color="0.5", markersize=7, label="rule in use")
        axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
        axes.set_title(f"best F1 {self.best['f1']:.3f} at {self.best['threshold']:.3g}")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
        return plots.written(figure, path)


def sweep(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy,
    classes: Sequence[Any] | None = None,
    points: int = 25,
    decided: Any = None,
    *,
    lifted: bool | None = None,
) -> Sweep:
    """Precision, recall and F1 of closed label sets for thresholds over the useful range.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        Label sets in any form; they are closed upwards.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`.
    taxonomy : Taxonomy
        The taxonomy.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).
    points : int, default=25
        How many thresholds to show.
    decided : Report, array-like, sparse matrix, list of lists or None, default=None
        Label sets, or the report on them: what the rule in use decided on the same rows.
    lifted : bool or None, default=None
        Whether a node takes the highest score at or below it; None: unless every node has a score.
        Scores of all nodes that are not lifted may give sets that are not closed.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> found = sweep([["cat"], ["dog"], ["oak"]], [[2, -1, 0], [1, 2, 0], [0, 0, 1.0]], tax)
    >>> found.best["threshold"], round(found.best["f1"], 4)
    (1.0, 0.9231)
    """
    if points < 1:
        raise UserError(f"points is {points}. Use 1 or more.")
    given = ScoredNodes.of(taxonomy, Y_true, scores, classes, lifted)
    tried = tried_thresholds(given, points)
    counts = counts_at(given, tried)
    own = [prf(part) for part in counts.parts]
    top = [int(values.f1.argmax()) for values in own]
    shown = shown_thresholds(counts.parts[0].tp, points, top[0])
    values = _Values(tried, own, counts, len(given.scores))
    best = {**values.at(top[0]), "levels": [values.level(d, k) for d, k in enumerate(top[1:])]}
    mark = None if decided is None else operating_point(Y_true, decided, taxonomy)
    return Sweep([values.point(k) for k in shown], best, mark)


def operating_point(Y_true: Any, Y_pred: Any, taxonomy: Taxonomy) -> dict[str, Any]:
    """Where label sets lie among the thresholds: the values of one point of a `Sweep`.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    Y_pred : Report, array-like, sparse matrix or list of lists
        Predicted labels, in any form; or the report on them, which says all.
    taxonomy : Taxonomy
        The taxonomy.

    Returns
    -------
    dict
    """
    report = Y_pred if isinstance(Y_pred, Report) else evaluate(Y_true, Y_pred, taxonomy)
    values = report.metrics
    named = {key: float(values[f"hierarchical_{key}"]) for key in ("precision", "recall", "f1")}
    keys = ("depth", "precision", "recall", "f1")
    return {
        **named,
        "labels_per_row": values["predicted_per_row"],
        "empty_rows": values["empty_predictions"] / values["rows"],
        "levels": [{key: level[key] for key in keys} for level in report.levels],
    }


class _Values(NamedTuple):
    """Values at every threshold tried."""

    tried: np.ndarray
    own: list[Any]  # PRF overall, then of each depth
    counts: ThresholdCounts
    n_rows: int

    def at(self, k: int, part: int = 0) -> dict[str, float]:
        p, r, f, _ = self.own[part]
        values = {"precision": float(p[k]), "recall": float(r[k]), "f1": float(f[k])}
        return {"threshold": float(self.tried[k]), **values}

    def level(self, depth: int, k: int) -> dict[str, float]:
        return {"depth": depth, **self.at(k, depth + 1)}

    def point(self, k: int) -> dict[str, Any]:
        levels = [self.level(d, k) for d in range(len(self.own) - 1)]
        for level in levels:
            del level["threshold"]
        return {
            **self.at(k),
            "labels_per_row": float(self.counts.specific[k] / self.n_rows),
            "empty_rows": float(1 - self.counts.filled[k] / self.n_rows),
            "levels": levels,
        }


def _nearest(points: list[dict[str, Any]], threshold: float) -> int:
    return int(np.argmin([abs(point["threshold"] - threshold) for point in points]))


def _cells(point: dict[str, Any], marks: Sequence[bool]) -> list[str]:
    """A line of the table; F1 values are marked where they are best."""
    threshold = point["threshold"]
    f1, *levels = (
        f"{values['f1']:.3f}{'*' if mark else ' '}"
        for values, mark in zip([point, *point["levels"]], marks, strict=True)
    )
    numbers = [f"{point[key]:.3f}" for key in ("precision", "recall")]
    sizes = [f"{point['labels_per_row']:.2f}", f"{point['empty_rows']:.1%}"]
    return [
        "rule in use" if threshold is None else f"{threshold:.4g}",
        *numbers,
        f1,
        *sizes,
        *levels,
    ]


def _best_text(best: dict[str, Any]) -> str:
    return (
        f"{best['f1']:.3f} at {best['threshold']:.4g} "
        f"(precision {best['precision']:.3f}, recall {best['recall']:.3f})"
    )


def _curve(axes: Any, name: str, points: Any, best: Any, decided: Any, **style: Any) -> None:
    """A line without the thresholds that find nothing, where precision says nothing."""
    color, found = style["color"], [point for point in points if point["recall"] > 0]
    axes.plot([p["recall"] for p in found], [p["precision"] for p in found], label=name, **style)
    axes.plot(best["recall"], best["precision"], "*", color=color, markersize=11)
    if decided is not None:
        axes.plot(decided["recall"], decided["precision"], "o", color=color, markersize=7)
