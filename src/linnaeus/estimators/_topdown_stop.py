"""Where predictions stop: thresholds with the best hierarchical F1 of out-of-fold predictions.

    maximise_theta  F1 = 2 |found & true| / (|found| + |true|),   of closed label sets, pooled

First one threshold for all levels; then, if asked, one level at a time, the others fixed, until no
change helps. Every change raises F1, so that levels are never worse than one threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.estimators._topdown_decode import Decoder

THRESHOLDS = (1e-9, *np.linspace(0.05, 0.95, 19).round(2).tolist())
ROUNDS = 5  # over all levels at most


class Held(NamedTuple):
    """Predictions for examples that their models have not seen."""

    decoder: Decoder
    offered: sp.csr_array  # (n, n_nodes) probabilities of possible answers
    true: sp.csr_array  # (n, n_nodes) 0/1 closed label sets
    real: np.ndarray  # (n_nodes,) bool, nodes that count: not misc

    def f1(self, level: np.ndarray) -> float:
        """The hierarchical F1 with these thresholds of the levels."""
        found = self.decoder.partial_sets(self.offered, level[self.decoder.taxonomy.depth])
        right = found.multiply(self.true).tocsr()
        n_right, n_found, n_true = (
            int(self.real[Y.indices].sum()) for Y in (right, found, self.true)
        )
        return 2 * n_right / max(1, n_found + n_true)


def candidates(decoder: Decoder, decode: str) -> Sequence[float]:
    """The thresholds to try; 10^-9 takes all that is offered, which must then be few."""
    return THRESHOLDS if decoder.one or decode == "greedy" else THRESHOLDS[1:]


def one_threshold(held: Held, values: Sequence[float]) -> tuple[float, float]:
    """The threshold with the largest F1, the lowest of equal ones; and that F1."""
    n_levels = int(held.decoder.taxonomy.depth.max()) + 1
    f1 = [held.f1(np.full(n_levels, value)) for value in values]
    at = int(np.argmax(f1))
    return values[at], f1[at]


def level_thresholds(
    held: Held, values: Sequence[float], start: float, f1: float
) -> tuple[np.ndarray, float]:
    """A threshold for each level, from `start` at all of them with its `f1`; and their F1."""
    level = np.full(int(held.decoder.taxonomy.depth.max()) + 1, start)
    for _ in range(ROUNDS):
        before = f1
        for d in range(level.size):
            for value in values:
                other = level.copy()
                other[d] = value
                reached = held.f1(other)
                if reached > f1:
                    level, f1 = other, reached
        if f1 == before:
            break
    return level, f1
