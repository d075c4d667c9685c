"""How often each class was found, missed and added; precision, recall and F1 from that.

    P = TP / (TP + FP),    R = TP / (TP + FN),    F1 = 2 TP / (2 TP + FP + FN)

A ratio 0/0 is `zero`, by default 0: a class that is neither true nor predicted then scores 0 and
still counts in a macro average over all classes. [GopalYang2015] section 5.3 leaves this open.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.metrics.inputs import NodePair, Pair

OVER = ("all", "support", "union")


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
    """Precision, recall and F1, with the number of true labels; numbers or arrays over classes."""

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


def _ratio(a: Any, b: Any, zero: float) -> Any:
    return np.where(b > 0, a / np.maximum(b, 1), zero)


def _per_column(matrix: sp.csr_array) -> np.ndarray:
    return np.bincount(matrix.indices, minlength=matrix.shape[1])
