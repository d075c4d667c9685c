"""The memory that recursive machines take, planned beforehand (`rr_svm`).

Three ways, the first that fits is taken: all weights dense; the joint dual with sparse rows of D
and the answer in parts; or, where there is no joint dual, alternation. A class keeps a list of
examples: those with a > 0, and where memory is short LISTED others. Row v of D = B' V has the
features of all examples with a > 0 below v.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.execution.memory import Plan
from linnaeus.solvers.linear import svm
from linnaeus.solvers.numerics.occurring import n_occurring
from linnaeus.solvers.recursive.alternation import MEMORY, Structure
from linnaeus.solvers.recursive.rr_machine import Coupling
from linnaeus.solvers.recursive.rr_svm_blocks import LISTED, LONG
from linnaeus.solvers.recursive.rr_svm_dual import AT_ONCE, CLOSE_BY

SUPPORT = 100.0  # examples with a > 0, beside the positives, times the root of their number
ALIKE = 0.75  # as many examples with nothing in common have the features of one of a class
ENTRY = 8  # bytes of a listed example beside its dual variable and label
COPIES = 2  # of the lists: with those of classes solved for themselves
INDEX = 4  # bytes of the number of a feature or a node


class Ways(NamedTuple):
    """What there is to choose from; `parts` and their `answer` only where there is a joint dual."""

    shape: str
    dense: Plan
    parts: Plan | None = None
    answer: Plan | None = None

    def workers(self, wished: int) -> int:
        """How many run on the way that is taken, or why it does not fit."""
        plan = self.taken()
        if plan is self.parts and self.answer is not None:  # told, or refused, with what both need
            most = max(plan, self.answer, key=lambda one: one.needed)
            if most.needed > most.limit:
                return most.workers(wished)
            self.answer.workers(1)
        return plan.workers(wished)

    def taken(self) -> Plan:
        """The dense one if it fits."""
        fits = self.dense.needed <= self.dense.limit
        return self.dense if fits or self.parts is None else self.parts


def ways(
    X: sp.csr_array, Y: sp.csr_array, structure: Structure, found: Coupling | None, dtype: Any,
    limit: int,
) -> Ways:  # fmt: skip
    """The plans; `found` is None where alternation is taken."""
    size = np.dtype(dtype).itemsize
    n_classes, n_inner = structure.mix.shape
    shape = f"this graph of {n_classes:,} classes and {n_inner:,} other nodes"
    sizes = _Sizes(X, Y, n_inner, size)
    if found is None:
        return Ways(shape, Plan(limit, sizes.alternating(), sizes.worker(0)))
    longest = int(min(LONG, np.diff(found.upward.indptr).max(initial=0) + svm.LANES))
    rows = sizes.worker(longest)
    rounds, answer, waiting = sizes.parts(found)
    parts = Plan(limit, rounds, rows), Plan(limit, answer, waiting)
    return Ways(shape, Plan(limit, sizes.dense(), rows), *parts)


class _Sizes:
    """Bytes of what a fit keeps."""

    def __init__(self, X: sp.csr_array, Y: sp.csr_array, n_inner: int, size: int) -> None:
        self.X, self.size, self.n_inner = X, size, n_inner
        (self.n, self.d), self.K = X.shape, Y.shape[1]
        given = X.nnz * (X.data.itemsize + X.indices.itemsize) + self.n * X.indptr.itemsize
        rows = X.nnz * (size + INDEX) + 3.0 * 8 * self.n
        self.data = {"examples": given + rows, "labels": 40.0 * Y.nnz + 8.0 * (self.n + self.K)}
        positives = np.bincount(Y.indices[Y.data != 0], minlength=self.K)
        self.support = np.minimum(SUPPORT * np.sqrt(positives) + positives, self.n)

    def _lists(self, others: int, copies: int) -> float:
        """Dual variables that are listed, some of them 0."""
        listed = np.minimum(self.support + others, self.n).sum()
        return float(copies * (ENTRY + 2 * self.size) * listed)

    def _matrix(self) -> float:
        """One matrix of those that are not 0, and what makes it."""
        return float(3 * (ENTRY + self.size) * self.support.sum())

    def worker(self, n_rows: int) -> float:
        """Arrays of a block, of its rows of D, and the features of its examples anew."""
        lanes = min(svm.LANES, self.K)
        block = lanes * (self.n * (3 * self.size + 12) + self.d * (4 * self.size + 8))
        return float(block + 2 * n_rows * (self.d + 1) * self.size)

    def dense(self) -> dict[str, float]:
        """Weights, D, and the features of each class numbered anew."""
        weights = self.K * self.d * self.size
        named = self.K * self.d * (2 * INDEX + INDEX / 2)
        inner = 3.0 * self.n_inner * self.d * self.size
        duals = self._lists(LISTED, COPIES) + self._matrix()
        kept = {"dual variables": duals, "weights": float(weights)}
        return self.data | kept | {"numbers of features": named, "other nodes": inner}

    def alternating(self) -> dict[str, float]:
        """Weights and differences from the means; other nodes in some earlier rounds."""
        weights = 2.0 * self.K * self.d * self.size
        inner = (2.0 * MEMORY + 6) * self.n_inner * self.d * self.size
        duals = self._lists(LISTED, COPIES) + self._matrix()
        kept = {"dual variables": duals, "weights": weights}
        return self.data | kept | {"other nodes": inner}

    def parts(self, found: Coupling) -> tuple[dict[str, float], dict[str, float], float]:
        """What the rounds take, what their answer takes, and the part of it that waits."""
        number, row = self.size + INDEX, float(self.d * self.size)
        features = n_occurring(self.X, ALIKE * found.sum_below(self.support))
        paths = 2.0 * found.upward.nnz * (8 + INDEX) + 2.0 * svm.LANES * self.size * self.K
        listed = svm.LANES * (LISTED + np.mean(self.support))
        changed = CLOSE_BY * LONG * float(n_occurring(self.X, [listed])[0]) * self.size
        own = float(n_occurring(self.X, ALIKE * self.support).sum()) * number
        rounds = {
            "dual variables": self._lists(LISTED, COPIES), "paths": paths, "changes": changed,
            "weights of other nodes": float(np.minimum(features * number, row).sum()),
        }  # fmt: skip
        answer = {
            "dual variables": self._lists(LISTED, 1) + self._matrix(), "paths": paths,
            "weights of classes": own, "weights of other nodes": float(features.sum()) * number,
        }  # fmt: skip
        waiting = own * min(1.0, AT_ONCE * svm.LANES / self.K)
        return self.data | rounds, self.data | answer, waiting
