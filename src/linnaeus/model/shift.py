"""Whether rows differ from earlier ones: tests of shares and of counts.

A share is R = sum a_i / sum b_i over rows. Its variance is that of the residuals,
sum (a_i - R b_i)^2 / (sum b_i)^2, so that words of one row need not be independent. The distance of
two distributions is the total variation, half the sum of |p_k - q_k|; how large it gets by chance
is found by dealing the pooled rows out again, many times.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

DRAWS = 1999  # deals of the pooled rows
_BLOCK = 100  # of them at a time


class Share(NamedTuple):
    """A share of something over all rows, and how sure it is.

    Attributes
    ----------
    part, whole : float
        The sums that are divided.
    spread : float
        Sum of squared residuals of the rows.
    """

    part: float
    whole: float
    spread: float

    @classmethod
    def of(cls, parts: Any, wholes: Any = None) -> Share:
        """From the numbers of each row.

        Parameters
        ----------
        parts : array-like of shape (n_rows,)
            What is counted.
        wholes : array-like of shape (n_rows,) or None, default=None
            Of how many; None for 1 each.

        Returns
        -------
        Share

        Examples
        --------
        >>> Share.of([1, 0, 3], [10, 10, 20]).value
        0.1
        """
        a = np.asarray(parts, dtype=float)
        b = np.ones(a.size) if wholes is None else np.asarray(wholes, dtype=float)
        part, whole = float(a.sum()), float(b.sum())
        spread = ((a - part / whole * b) ** 2).sum() if whole else 0.0
        return cls(part, whole, float(spread))

    @classmethod
    def of_count(cls, part: float, whole: float) -> Share:
        """Of so many rows that all count the same, some.

        Parameters
        ----------
        part : float
            How many have it.
        whole : float
            How many there are.

        Returns
        -------
        Share
        """
        return cls(part, whole, part * (1 - part / whole) if whole else 0.0)

    @property
    def value(self) -> float:
        """The share itself; 0 where there is nothing."""
        return self.part / self.whole if self.whole else 0.0

    @property
    def variance(self) -> float:
        """How far chance moves it, squared."""
        return self.spread / self.whole**2 if self.whole else 0.0


def share_p(before: Share, now: Share) -> float:
    """How probable so large a difference is by chance (two-sided, normal approximation).

    Parameters
    ----------
    before, now : Share
        The shares.

    Returns
    -------
    float
    """
    gap = abs(now.value - before.value)
    if not gap or not before.whole or not now.whole:
        return 1.0
    return mean_p(gap, before.variance + now.variance)


def mean_p(gap: float, variance: float) -> float:
    """How probable it is that chance makes a difference at least so large.

    Parameters
    ----------
    gap : float
        The difference.
    variance : float
        Its variance.

    Returns
    -------
    float
    """
    if not gap:
        return 1.0
    return math.erfc(abs(gap) / math.sqrt(2 * variance)) if variance > 0 else 0.0


class Distance(NamedTuple):
    """How far two distributions are apart.

    Attributes
    ----------
    value : float
        Their total variation.
    chance : float
        What it is on average if only chance makes a difference.
    p : float
        How probable so large a value is by chance.
    """

    value: float
    chance: float
    p: float


def distance(before: Any, now: Any, seed: int = 0) -> Distance:
    """How far the counts of two sets of rows are apart, each row counted once.

    Parameters
    ----------
    before, now : array-like of int of shape (n_kinds,)
        Rows of each kind.
    seed : int, default=0
        Seed of the deals.

    Returns
    -------
    Distance

    Examples
    --------
    >>> found = distance([50, 50], [90, 10])
    >>> found.value, found.p < 0.001
    (0.4, True)
    """
    a, b = np.asarray(before, dtype=np.int64), np.asarray(now, dtype=np.int64)
    used = a + b > 0
    pooled, m = (a + b)[used], int(b.sum())
    if not m or not a.sum():
        return Distance(0.0, 0.0, 1.0)
    value = float(_variation(pooled, b[used][None, :])[0])
    rng = np.random.default_rng(seed)
    sizes = [min(_BLOCK, DRAWS - done) for done in range(0, DRAWS, _BLOCK)]
    drawn = np.concatenate(
        [_variation(pooled, rng.multivariate_hypergeometric(pooled, m, n, "marginals"))
         for n in sizes]
    )  # fmt: skip
    p = (1 + int((drawn >= value - 1e-12).sum())) / (DRAWS + 1)
    return Distance(value, float(drawn.mean()), p)


def _variation(pooled: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Total variation of each of several deals of the pooled rows."""
    before = pooled - now
    m, n = now.sum(axis=1, keepdims=True), before.sum(axis=1, keepdims=True)
    return np.asarray(np.abs(now / m - before / n).sum(axis=1) / 2)
