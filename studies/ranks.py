"""Methods ranked over collections: mean ranks, Friedman's test, Nemenyi's critical difference.

With r_ij the rank of method j of k on collection i of n (1 is the best, ties share their mean
rank, what has no result is last),

    R_j  = 1/n sum_i r_ij
    chi2 = 12 n / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4)    Friedman; with ties divided by
                                                                 1 - sum (t^3 - t) / (n (k^3 - k))
    CD   = q sqrt(k (k + 1) / (6 n))                             Nemenyi

where chi2 has nearly k - 1 degrees of freedom if all methods are alike, and q is the quantile of
the range of k normal deviates divided by the root of 2. Methods whose mean ranks differ by no more
than CD cannot be told apart. [Demsar2006] section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from linnaeus.errors import UserError

ALPHA = 0.05


class Friedman(NamedTuple):
    """A test of whether some method is better than another."""

    statistic: float
    pvalue: float


@dataclass(frozen=True)
class Ranking:
    """Methods by their mean rank, the best first.

    name : of the group of collections
    ranks : mean ranks, as many as methods
    difference : between mean ranks, above which methods differ (Nemenyi)
    """

    name: str
    methods: tuple[str, ...]
    collections: tuple[str, ...]
    ranks: tuple[float, ...]
    friedman: Friedman
    difference: float

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """The largest groups of methods that cannot be told apart, of two or more."""
        return [self.methods[a:b] for a, b in cliques(self.ranks, self.difference)]


def rank_methods(
    name: str, methods: Sequence[str], collections: Sequence[str], values: Any, alpha: float = ALPHA
) -> Ranking:
    """Methods ranked by their values, the larger the better.

    values : (n_collections, n_methods), NaN where there is no result
    """
    ranks = mean_ranks(values)
    order = np.argsort(ranks, kind="stable")
    return Ranking(
        name,
        tuple(methods[j] for j in order),
        tuple(collections),
        tuple(float(ranks[j]) for j in order),
        friedman(values),
        critical_difference(len(methods), len(collections), alpha),
    )


def ranks_of(values: Any) -> np.ndarray:
    """Ranks within each row, 1 for the largest value; NaN comes last, several share that rank.

    >>> ranks_of([[0.5, 0.9, 0.5, np.nan]]).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    table = np.asarray(values, dtype=np.float64)
    lowest = np.where(np.isnan(table), -np.inf, table)
    return np.asarray(rankdata(-lowest, axis=1))


def mean_ranks(values: Any) -> np.ndarray:
    """The mean rank of every column."""
    return np.asarray(ranks_of(values).mean(axis=0))


def friedman(values: Any) -> Friedman:
    """Friedman's test on the ranks within rows; p is 1 where all rows are ties.

    >>> round(friedman([[3, 2, 1], [3, 2, 1], [3, 1, 2], [3, 2, 1]]).statistic, 9)
    6.5
    """
    ranks = ranks_of(values)
    if ranks.shape[1] < 3:
        raise UserError(
            f"There are {ranks.shape[1]} methods. Friedman's test needs at least 3; compare two "
            f"with the Wilcoxon test."
        )
    if (ranks == ranks[:, :1]).all():
        return Friedman(0.0, 1.0)
    found = friedmanchisquare(*ranks.T)
    return Friedman(float(found.statistic), float(found.pvalue))


def critical_difference(n_methods: int, n_collections: int, alpha: float = ALPHA) -> float:
    """Nemenyi's critical difference of mean ranks.

    >>> round(critical_difference(4, 14), 2)  # the example of [Demsar2006] section 3.2.2
    1.25
    """
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_collections)))


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Runs [a, b) of ascending ranks no further apart than the difference, none within another.

    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.3)
    [(0, 3)]
    """
    found: list[tuple[int, int]] = []
    for a, rank in enumerate(ranks):
        b = a + sum(1 for other in ranks[a:] if other - rank <= difference)
        if b - a > 1 and (not found or b > found[-1][1]):
            found.append((a, b))
    return found
