"""How many rows can go without a second look, and how good these are.

Rows are kept where the confidence is at least some threshold. For every threshold there is the
share of the rows that is kept, and the precision: the share of the labels given to them that is
right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.metrics.display import table
from linnaeus.metrics.inputs import Pair

PRECISIONS = (0.5, 0.8, 0.9, 0.95)
HEADS = ("precision of", "min confidence", "rows kept", "share")
POINTS = 100  # kept of a curve


class Coverage(NamedTuple):
    """Thresholds of the confidence, highest first, and what they keep.

    Attributes
    ----------
    confidence : ndarray of shape (n_points,)
        The thresholds.
    rows : ndarray of int of shape (n_points,)
        Rows at or above each.
    precision : ndarray of shape (n_points,)
        Of the labels given to these rows, the share that is right.
    n : int
        All rows.
    """

    confidence: np.ndarray
    rows: np.ndarray
    precision: np.ndarray
    n: int

    def at(self, precision: float) -> dict[str, float] | None:
        """The threshold that keeps the most rows with such a precision.

        Parameters
        ----------
        precision : float
            The least precision.

        Returns
        -------
        dict or None
            confidence, rows, kept (the share of the rows) and precision; None if it is not reached.
        """
        good = np.flatnonzero(self.precision >= precision)
        return self._point(int(good[-1])) if good.size else None

    def _point(self, i: int) -> dict[str, float]:
        return {
            "confidence": float(self.confidence[i]),
            "rows": int(self.rows[i]),
            "kept": float(self.rows[i] / self.n),
            "precision": float(self.precision[i]),
        }

    def points(self) -> list[dict[str, float]]:
        """The curve, thinned to about 100 points.

        Returns
        -------
        list of dict
        """
        last = self.rows.size - 1
        chosen = np.unique(np.linspace(0, last, min(POINTS, last + 1)).round().astype(int))
        return [self._point(i) for i in chosen.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the curve, and what reaches 50, 80, 90 and 95 % precision.

        Returns
        -------
        dict
        """
        return {"points": self.points(), "at": {f"{p:g}": self.at(p) for p in PRECISIONS}}

    def rows_at(self) -> list[list[str]]:
        """For 50, 80, 90 and 95 % precision: the least confidence, and how many rows it keeps.

        Returns
        -------
        list of list of str
        """
        out = []
        for p in PRECISIONS:
            found, cells = self.at(p), ["not reached", "0", "0.0%"]
            if found is not None:  # rounded down, so that the rows at the threshold are kept
                least = np.floor(found["confidence"] * 1e4) / 1e4
                cells = [f"{least:.4f}", f"{found['rows']:,}", f"{found['kept']:.1%}"]
            out.append([f"{p:.0%}", *cells])
        return out

    def __str__(self) -> str:
        return table(HEADS, self.rows_at())


def coverage(confidence: Any, own: Pair) -> Coverage:
    """The curve of a model's confidence in each row and the labels that it gives.

    Parameters
    ----------
    confidence : array-like of shape (n_rows,)
        From 0 to 1.
    own : Pair
        True and predicted most specific labels.

    Returns
    -------
    Coverage

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> found = coverage([0.9, 0.4], Pair(sp.csr_array([[1, 0], [1, 0]]), sp.csr_array(np.eye(2))))
    >>> found.at(0.9)["kept"], found.at(0.5)["kept"]
    (0.5, 1.0)
    """
    order = np.argsort(-np.asarray(confidence, dtype=float), kind="stable")
    values = np.asarray(confidence, dtype=float)[order]
    rows = np.repeat(np.arange(order.size), np.diff(own.pred.indptr))
    both = own.true.multiply(own.pred).tocsr()
    right = np.cumsum(np.diff(both.indptr)[order])
    given = np.cumsum(np.bincount(rows, minlength=order.size)[order])
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True) & (given > 0))
    return Coverage(values[last], last + 1, right[last] / given[last], order.size)
