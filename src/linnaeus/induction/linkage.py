"""Algorithm 8 of [Cai2008]: average linkage, cut where a link is inconsistent with those below it.

A link joins two clusters at a height, the mean distance between their classes. With S the height of
a link and of the (0 to 2) links directly below it,

    IC = (height - mean S) / sd S     (sd with n - 1; 0 if S has one member or sd = 0)
    m  = mean of the IC that are not 0

Links with IC > m are cut, and every link above a cut one. What still hangs together is a cluster.
A link with one link below has IC = 1/sqrt(2) exactly, so m often equals some IC: `SLACK` decides.

Several thresholds t_1 < t_2 < ... give nested clusters, the higher the coarser. By default t_1 = m
and t_{k+1} is the mean of the IC above t_k. "links" keeps the cut links with IC > m as nodes above
the clusters and forgets the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import inconsistent, linkage

from linnaeus.errors import UserError, shorten

SLACK = 1e-9
ZERO = 1e-12
LEVELS = (
    "levels is {levels}. Give a number of levels, a list of thresholds of the inconsistency, "
    "or 'links'."
)


class Links(NamedTuple):
    """The links of a clustering, in the order in which they were made; SciPy's numbering.

    Attributes
    ----------
    merges : ndarray of shape (n_classes - 1, 4)
        Two clusters, height, classes below; link j is cluster n_classes + j.
    inconsistency : ndarray of shape (n_classes - 1,)
        The inconsistency of each link.
    threshold : float
        The cut m of the inconsistency; inf if nothing is inconsistent.
    cut : ndarray of bool of shape (n_classes - 1,)
        Links that are cut, with the links above cut ones.
    """

    merges: np.ndarray
    inconsistency: np.ndarray
    threshold: float
    cut: np.ndarray

    def clusters(self) -> np.ndarray:
        """The cluster of every class, numbered by the smallest class in it.

        Returns
        -------
        ndarray of int of shape (n_classes,)
        """
        return partition(self.merges, self.cut)


def average_links(distances: Any, apart: float = np.inf) -> Links:
    """Average linkage of condensed distances, with the cut of Algorithm 8.

    Parameters
    ----------
    distances : array-like of shape (n_classes * (n_classes - 1) / 2,)
        Condensed distances.
    apart : float, default=inf
        Links as high as this are cut in any case.

    Returns
    -------
    Links

    Examples
    --------
    >>> average_links([1.0, 9.0, 8.0]).clusters()
    array([0, 0, 0])
    """
    distances = np.asarray(distances, dtype=np.float64)
    if distances.size == 0:
        return Links(np.empty((0, 4)), np.empty(0), np.inf, np.empty(0, dtype=bool))
    Z = linkage(distances, method="average")
    IC = np.asarray(inconsistent(Z, d=2)[:, 3])
    m = _mean_above(IC, ZERO)
    return Links(Z, IC, m, cut_above(Z, _over(IC, m) | (Z[:, 2] >= apart)))


def cut_above(Z: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Links cut, and every link above them."""
    q, out = len(Z) + 1, cut.copy()
    for j, pair in enumerate(Z[:, :2].astype(int).tolist()):
        out[j] |= any(child >= q and out[child - q] for child in pair)
    return out


def partition(Z: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """The cluster of every class when some links are cut, numbered by the smallest class."""
    q = len(Z) + 1
    top = np.arange(2 * q - 1)  # the highest uncut link above each cluster
    for j in range(q - 2, -1, -1):
        if not cut[j]:
            top[Z[j, :2].astype(int)] = top[q + j]
    _, first, number = np.unique(top[:q], return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[number]


def thresholds(links: Links, levels: Any) -> list[float]:
    """The thresholds of `levels`: a number of levels, or thresholds as they are; ascending."""
    if isinstance(levels, int | np.integer) and not isinstance(levels, bool):
        if levels < 1:
            raise UserError(f"levels is {levels}. Ask for at least one level of clusters.")
        found = [links.threshold]
        while len(found) < levels and np.isfinite(found[-1]):
            found.append(_mean_above(links.inconsistency, found[-1] + SLACK))
        return [t for t in found if np.isfinite(t)] or [np.inf]
    try:
        found = sorted(float(t) for t in levels)
    except (TypeError, ValueError):
        found = []
    if not found or not np.isfinite(found).all():
        raise UserError(LEVELS.format(levels=shorten(levels)))
    return found


def nested(links: Links, levels: Any, apart: float = np.inf) -> list[np.ndarray]:
    """The clusters of every level, the finest first."""
    Z, IC = links.merges, links.inconsistency
    far = Z[:, 2] >= apart
    cuts = [cut_above(Z, _over(IC, t) | far) for t in thresholds(links, levels)]
    return [partition(Z, cut) for cut in cuts]


def _over(values: np.ndarray, threshold: float) -> np.ndarray:
    return np.asarray(values > threshold + SLACK)


def _mean_above(values: np.ndarray, least: float) -> float:
    kept = values[values > least]
    return float(kept.mean()) if kept.size else np.inf
