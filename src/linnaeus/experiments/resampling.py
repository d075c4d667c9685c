"""Figures of rows drawn again with replacement: intervals, and whether two methods differ.

Every figure is made of sums over the rows: labels found, labels true or given, rows with a mistake.
Rows that add the same are counted together, so a draw costs no more than there are kinds of rows.
The draws depend on the seed and the number of rows alone; what two methods reach on the same draw
are pairs, and the test of their difference d is

    p = 2 min(share of draws with d <= 0, share with d >= 0),    the observed d counted as a draw.

It asks whether the figure itself would still differ with other rows of the same kind. Macro F1 of a
draw is the mean over the classes that it has, times the share of classes that all rows have: 0 for
every class that a draw lacks would pull it down.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.inference.consistency import lift
from linnaeus.metrics.au_prc import ScoredRows, counted
from linnaeus.metrics.inputs import Pair
from linnaeus.taxonomy import Taxonomy

WORK = 50_000_000  # rows and classes that all draws together go through
FEWEST, MOST = 1_000, 9_999  # draws
LEVEL = 0.95  # of intervals
NUMBERS = 1 << 22  # of counts held at a time
CELLS, STEPS = 5_000_000, 200  # scores up to which an area has an interval, and its thresholds


class Draws(NamedTuple):
    """Figures of all rows and of every draw, by name.

    Attributes
    ----------
    values : dict of str to float
        Of all rows.
    drawn : dict of str to ndarray of shape (n_draws,)
        Of each draw.
    """

    values: dict[str, float]
    drawn: dict[str, np.ndarray]

    def interval(self, figure: str, level: float = LEVEL) -> tuple[float, float]:
        """Where the figure lies in the middle share of the draws.

        Parameters
        ----------
        figure : str
            Name of the figure.
        level : float, default=0.95
            The share.

        Returns
        -------
        tuple of float
            From and to.
        """
        ends = np.quantile(self.drawn[figure], [(1 - level) / 2, (1 + level) / 2])
        return float(ends[0]), float(ends[1])

    def error(self, figure: str) -> float:
        """The standard error of a figure.

        Parameters
        ----------
        figure : str
            Name of the figure.

        Returns
        -------
        float
        """
        return float(self.drawn[figure].std(ddof=1))

    def intervals(self) -> dict[str, list[float]]:
        """The intervals of all figures.

        Returns
        -------
        dict of str to list
            {name: [from, to]}.
        """
        return {figure: list(self.interval(figure)) for figure in self.drawn}


def draw_figures(own: Pair, closed: Pair, seed: int = 0, n_draws: int | None = None) -> Draws:
    """Micro, macro and hierarchical F1 and the zero-one loss of rows drawn again.

    Parameters
    ----------
    own : Pair
        True and predicted most specific labels, over the classes.
    closed : Pair
        The same closed upwards, over the nodes.
    seed : int, default=0
        Seed of the draws.
    n_draws : int or None, default=None
        How many; None for 9,999, and fewer (1,000 at least) for many rows and classes.

    Returns
    -------
    Draws

    Examples
    --------
    >>> pair = Pair(sp.csr_array(np.eye(4)), sp.csr_array(np.eye(4)))
    >>> draw_figures(pair, pair, n_draws=9).interval("micro_f1")
    (1.0, 1.0)
    """
    counts, kind = _kinds(_row_counts(own, closed))
    n = kind.size
    if n_draws is None:
        n_draws = int(np.clip(WORK // (n + 2 * own.true.shape[1]), FEWEST, MOST))
    everything = np.bincount(kind, minlength=counts.shape[0])[None, :].astype(float)
    rng, size = np.random.default_rng(seed), max(1, NUMBERS // max(counts.shape))
    whole = everything @ counts
    found = [_figures(whole, whole, n)]
    for start in range(0, n_draws, size):
        times = np.empty((min(size, n_draws - start), counts.shape[0]))
        for one in times:
            rows = rng.integers(n, size=n, dtype=np.int32)
            one[:] = np.bincount(kind[rows], minlength=one.size)
        found.append(_figures(times @ counts, whole, n))
    all_ = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
    return Draws({k: float(v[0]) for k, v in all_.items()}, {k: v[1:] for k, v in all_.items()})


def area_interval(
    Y_true: Any, scores: Any, taxonomy: Taxonomy, classes: Any, seed: int = 0
) -> tuple[float, float] | None:
    """The 95 % interval of the pooled AU(PRC); None where it would take long.

    The curve is made of `STEPS` thresholds, and the interval is moved by how far that is from the
    exact area.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    scores : ndarray of shape (n_rows, n_columns)
        Scores.
    taxonomy : Taxonomy
        The taxonomy.
    classes : sequence
        Names of the columns of the scores.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    tuple of float or None
    """
    n, used = np.shape(scores)[0], counted(taxonomy)
    if n * len(taxonomy) > CELLS:
        return None
    rows = ScoredRows.of(Y_true, scores, taxonomy, classes)
    true = rows.true.toarray().astype(bool)[:, used]
    if not true.any():
        return None
    lifted = lift(taxonomy, scores, rows.columns)[:, used]
    cuts = np.unique(np.quantile(lifted[true], np.linspace(0, 1, STEPS), method="nearest"))
    place = np.searchsorted(cuts, lifted, side="right")  # how many thresholds each score reaches
    place += (cuts.size + 1) * np.arange(n)[:, None]
    all_, right = (
        np.bincount(cells, minlength=n * (cuts.size + 1)).reshape(n, -1)[:, :0:-1]
        for cells in (place.ravel(), place[true])
    )
    exact, rng = rows.area(used), np.random.default_rng(seed)
    whole = _binned_area(right.sum(axis=0), all_.sum(axis=0))
    drawn = np.empty(FEWEST)
    for b in range(FEWEST):
        times = np.bincount(rng.integers(n, size=n, dtype=np.int32), minlength=n)
        drawn[b] = _binned_area(times @ right, times @ all_)
    ends = np.quantile(drawn - whole, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) + exact
    return float(max(0.0, ends[0])), float(min(1.0, ends[1]))


def _binned_area(right: np.ndarray, given: np.ndarray) -> float:
    """The area under the curve, from the scores that reach each threshold but not the one above."""
    hits, all_ = np.cumsum(right), np.cumsum(given)
    steps = np.divide(right * hits, all_, out=np.zeros(right.size), where=all_ > 0)
    return float(steps.sum() / max(1, hits[-1]))


def paired_pvalue(first: Draws, second: Draws, figure: str) -> float:
    """Whether a figure of two methods on the same rows differs, two-sided.

    Parameters
    ----------
    first, second : Draws
        Of the same rows, with the same seed and number of draws.
    figure : str
        Name of the figure.

    Returns
    -------
    float
    """
    d = first.drawn[figure] - second.drawn[figure]
    less, more = np.count_nonzero(d <= 1e-12), np.count_nonzero(d >= -1e-12)
    return float(min(1.0, 2 * (min(less, more) + 1) / (d.size + 1)))


def _row_counts(own: Pair, closed: Pair) -> sp.csr_array:
    """What each row adds: right labels and all labels of each class, the same of its closure
    together, and whether something is wrong."""
    right = sp.csr_array(own.true.multiply(own.pred), dtype=np.float64)
    either = sp.csr_array(own.true, dtype=np.float64) + own.pred
    hits = np.diff(sp.csr_array(closed.true.multiply(closed.pred)).indptr)
    size = np.diff(closed.true.indptr) + np.diff(closed.pred.indptr)
    rest = sp.csr_array(np.column_stack([hits, size, 2 * hits < size]).astype(float))
    return sp.csr_array(sp.hstack([right, either, rest], format="csr"))


def _kinds(counts: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """The distinct rows of counts, and which of them each row is."""
    counts.sort_indices()
    keys: dict[bytes, int] = {}
    kind = np.empty(counts.shape[0], dtype=np.int64)
    for i, (a, b) in enumerate(pairwise(counts.indptr.tolist())):
        content = counts.indices[a:b].tobytes() + counts.data[a:b].tobytes()
        kind[i] = keys.setdefault(content, len(keys))
    first = np.unique(kind, return_index=True)[1]
    return counts[first], kind


def _figures(sums: np.ndarray, whole: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """The figures of draws of n rows, from their sums and those of all rows."""
    classes = (sums.shape[1] - 3) // 2
    tp, total = sums[:, :classes], sums[:, classes:-3]
    f1, drawn = _f1(tp, total).sum(axis=1), np.count_nonzero(total, axis=1)
    share = np.count_nonzero(whole[:, classes:-3]) / max(1, classes)
    return {
        "micro_f1": _f1(tp.sum(axis=1), total.sum(axis=1)),
        "macro_f1": share * f1 / np.maximum(1, drawn),
        "hierarchical_f1": _f1(sums[:, -3], sums[:, -2]),
        "zero_one_loss": sums[:, -1] / n,
    }


def _f1(hits: Any, size: Any) -> np.ndarray:
    return np.asarray(np.divide(2 * hits, size, out=np.zeros_like(size), where=size > 0))
