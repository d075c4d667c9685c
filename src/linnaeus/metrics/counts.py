"""How often each class was found, missed and added; precision, recall and F1 from that.

    P = TP / (TP + FP),    R = TP / (TP + FN),    F1 = 2 TP / (2 TP + FP + FN)

A ratio 0/0 is `zero`, by default 0: a class that is neither true nor predicted then scores 0 and
still counts in a macro average over all classes. [GopalYang2015] section 5.3 leaves this open.

`Truth` counts decided label sets of one part of the rows after another, such as folds:

    tp, fp, fn                       of every node, on most specific labels
    closed_tp, closed_fp, closed_fn  of all nodes together, on label sets closed upwards
    empty                            rows with labels that were left without any

`answered_f1` is the hierarchical F1 with a penalty: a row with labels that was left empty counts as
a wrong answer, of as many nodes as the other answers have on average,

    2 TP / (2 TP + FP + FN + empty (TP + FP) / (rows - empty)).

Micro and macro F1 are then over the leaves and the inner nodes that carry true labels of their
own; which these are is known once all parts are added, so every node keeps its counts until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.metrics.inputs import NodePair, Pair
from linnaeus.taxonomy import Taxonomy

OVER = ("all", "support", "union")
METRICS = ("micro_f1", "macro_f1", "hierarchical_f1", "answered_f1")
VALUES = (*METRICS, "precision", "recall", "labels_per_row")


class Counts(NamedTuple):
    """Per class, over all rows."""

    tp: np.ndarray  # true and predicted
    fp: np.ndarray  # predicted only
    fn: np.ndarray  # true only

    def take(self, classes: Any) -> Counts:
        """The counts of some classes."""
        return Counts(self.tp[classes], self.fp[classes], self.fn[classes])

    def pooled(self) -> Counts:
        """The sums over the classes, for micro averages."""
        return Counts(self.tp.sum(), self.fp.sum(), self.fn.sum())


class PRF(NamedTuple):
    """Precision, recall and F1, with the number of true labels; numbers or arrays over classes.

    Attributes
    ----------
    precision : float or ndarray of shape (n_classes,)
        Of what is predicted, the share that is true.
    recall : float or ndarray of shape (n_classes,)
        Of what is true, the share that is predicted.
    f1 : float or ndarray of shape (n_classes,)
        Their harmonic mean.
    support : int or ndarray of shape (n_classes,)
        True labels.
    """

    precision: Any
    recall: Any
    f1: Any
    support: Any


def count(pair: Pair | NodePair) -> Counts:
    """The counts of a truth and a prediction."""
    tp = _per_column(pair.true.multiply(pair.pred).tocsr())
    return Counts(tp, _per_column(pair.pred) - tp, _per_column(pair.true) - tp)


def prf(counts: Counts, zero: float = 0.0) -> PRF:
    """Precision, recall and F1, elementwise."""
    tp, fp, fn = counts
    return PRF(
        _ratio(tp, tp + fp, zero),
        _ratio(tp, tp + fn, zero),
        _ratio(2 * tp, 2 * tp + fp + fn, zero),
        tp + fn,
    )


def micro(counts: Counts, zero: float = 0.0) -> PRF:
    """Precision, recall and F1 of the pooled counts, as plain numbers."""
    p, r, f, support = prf(counts.pooled(), zero)
    return PRF(float(p), float(r), float(f), int(support))


def macro(counts: Counts, over: str = "all", zero: float = 0.0) -> float:
    """The mean F1 of the classes: all, those with a true label, or with a true or predicted one."""
    if over not in OVER:
        raise UserError(f"over={over!r} is not known. Use one of: {', '.join(OVER)}.")
    tp, fp, fn = counts
    used = {"all": tp >= 0, "support": tp + fn > 0, "union": tp + fp + fn > 0}[over]
    f1 = prf(counts, zero).f1[used]
    return float(f1.mean()) if f1.size else zero


@dataclass(frozen=True, eq=False)
class Truth:
    """The true label sets of some rows, twice: the most specific labels, and closed upwards."""

    taxonomy: Taxonomy
    own: sp.csr_array
    closed: sp.csr_array

    @classmethod
    def of(cls, taxonomy: Taxonomy, Y: sp.csr_array) -> Self:
        return cls(taxonomy, taxonomy.most_specific(Y), taxonomy.closure(Y))

    def counts(self, predicted: sp.csr_array) -> dict[str, Any]:
        """The counts of predicted label sets, closed upwards."""
        own = count(Pair(self.own, self.taxonomy.most_specific(predicted)))
        closed = count(Pair(self.closed, predicted)).pooled()
        named = {f"closed_{key}": int(n) for key, n in closed._asdict().items()}
        empty = (np.diff(predicted.indptr) == 0) & (np.diff(self.closed.indptr) > 0)
        return {
            "rows": predicted.shape[0], "empty": int(empty.sum()), **own._asdict(), **named
        }  # fmt: skip


def add(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The counts of several parts together; what is no count is that of the first."""
    keys = ("rows", "empty", *Counts._fields, *(f"closed_{key}" for key in Counts._fields))
    return {**records[0], **{key: sum(r[key] for r in records) for key in keys}}


def measure(taxonomy: Taxonomy, record: dict[str, Any]) -> dict[str, float]:
    """Values between 0 and 1, and labels per row, from the counts of `Truth`."""
    every = Counts(*(record[key] for key in Counts._fields))
    closed = Counts(*(record[f"closed_{key}"] for key in Counts._fields))
    said_or_true = every.tp + every.fn + (every.fp if taxonomy.is_graph else 0) > 0
    own = every.take(taxonomy.class_numbers(np.flatnonzero(said_or_true)))
    precision, recall, f1, _ = micro(own)
    said = int((own.tp + own.fp).sum())
    return {
        "micro_f1": f1,
        "macro_f1": macro(own),
        "hierarchical_f1": float(prf(closed).f1),
        "answered_f1": _answered(closed, record["rows"], record["empty"]),
        "precision": precision,
        "recall": recall,
        "labels_per_row": said / record["rows"] if record["rows"] else 0.0,
    }


def _answered(closed: Counts, rows: int, empty: int) -> float:
    tp, fp, fn = closed
    guessed = empty * (tp + fp) / max(1, rows - empty)
    return float(2 * tp / max(1, 2 * tp + fp + fn + guessed))


def _ratio(a: Any, b: Any, zero: float) -> Any:
    return np.where(b > 0, a / np.maximum(b, 1), zero)


def _per_column(matrix: sp.csr_array) -> np.ndarray:
    return np.bincount(matrix.indices, minlength=matrix.shape[1])
