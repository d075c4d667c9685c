"""How many labels to answer, learned from batch after batch.

The threshold t(x) = <beta, f(x)> of `decisions.SetSize` is linear in features f of the scores, by
least squares: the sums of f f' and of t f over all examples so far determine it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions import SetSize
from linnaeus.decisions.top import top_scores
from linnaeus.estimators._ranked import MANY, TOP


class RunningSizes:
    """A `SetSize` rule whose regression goes over all batches given."""

    def __init__(self) -> None:
        self.rule: Any = None
        self._sums: Any = None

    def add(self, scores: np.ndarray, Y: sp.csr_array) -> None:
        """Take in the scores of a batch and its label sets."""
        q = scores.shape[1]
        rule = SetSize(top_k=TOP if q > MANY else None).fit_scores(scores, sp.csr_array(Y))
        f = (scores if rule.top_k is None else top_scores(scores, rule.top_k)).astype(np.float64)
        A = np.hstack([f, np.ones((len(f), 1))])
        sums = A.T @ np.column_stack([A, rule.thresholds_])
        if self._sums is not None and self._sums.shape == sums.shape:
            sums += self._sums
            beta = np.linalg.lstsq(sums[:, :-1], sums[:, -1], rcond=None)[0]
            rule.coef_, rule.intercept_ = beta[:-1], float(beta[-1])
        self.rule, self._sums = rule, sums
