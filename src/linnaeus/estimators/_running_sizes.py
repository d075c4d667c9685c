"""How many labels to answer, learned from batch after batch.

The threshold t(x) = <beta, f(x)> of `decisions.SetSize` is linear in features f of the scores, by
least squares: the sums of f f' and of t f over all examples so far determine it. When classes come,
the scores that they would have had on the examples of the past are guessed from those of the old
classes, f' = f T with a variance C that is left: the sums become T' (sum f f') T + n C and
T' (sum t f). T and C are by least squares, on the means of the old classes with the scatter of the
batch around them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions import SetSize
from linnaeus.estimators._ranked import MANY, TOP
from linnaeus.inference.rows import top_scores
from linnaeus.solvers.online.newcomers import SCATTERED


class RunningSizes:
    """A `SetSize` rule whose regression goes over all batches given."""

    def __init__(self) -> None:
        self.rule: Any = None
        self._sums: Any = None

    def add(self, scores: np.ndarray, Y: sp.csr_array) -> None:
        """Take in the scores of a batch and its label sets."""
        top = (TOP if scores.shape[1] > MANY else None) if self.rule is None else self.rule.top_k
        rule = SetSize(top_k=top).fit_scores(scores, sp.csr_array(Y))
        f = (scores if rule.top_k is None else top_scores(scores, rule.top_k)).astype(np.float64)
        A = np.hstack([f, np.ones((len(f), 1))])
        sums = A.T @ np.column_stack([A, rule.thresholds_])
        if self._sums is not None:
            sums += self._sums
            beta = np.linalg.lstsq(sums[:, :-1], sums[:, -1], rcond=None)[0]
            rule.coef_, rule.intercept_ = beta[:-1], float(beta[-1])
        self.rule, self._sums = rule, sums

    def grow(self, place: np.ndarray, means: np.ndarray, scores: np.ndarray, Y: Any) -> None:
        """Make room for new classes; class y of old is now place[y].

        means : (k, n_classes), scores of the means of old classes
        scores, Y : of the batch that brought the new ones
        """
        if self._sums is None or self.rule.top_k is not None:
            return
        labels = Y.toarray().astype(np.float64)
        scatter = scores - labels @ np.linalg.lstsq(labels, scores, rcond=None)[0]
        each = np.repeat(np.arange(len(means)), SCATTERED)
        rows = np.vstack([means, means[each] + scatter[np.arange(each.size) % len(scatter)]])
        if not rows.size:
            rows = scores
        q, new = rows.shape[1], np.setdiff1d(np.arange(rows.shape[1]), place)
        A = np.column_stack([rows[:, place], np.ones(len(rows))])
        T = np.zeros((place.size + 1, q + 1))
        T[np.arange(place.size + 1), [*place, q]] = 1.0
        T[:, new] = np.linalg.lstsq(A, rows[:, new], rcond=None)[0]
        left = rows[:, new] - A @ T[:, new]
        G, h = self._sums[:, :-1], self._sums[:, -1]
        sums = np.column_stack([T.T @ G @ T, T.T @ h])
        sums[np.ix_(new, new)] += G[-1, -1] * (left.T @ left) / len(rows)
        self._sums = sums
