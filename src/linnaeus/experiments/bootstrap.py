"""Standard errors by drawing test rows again, with replacement.

With c_bi, how often row i is in draw b, the counts of class k in that draw are sums over rows,

    TP_bk = sum_i c_bi true_ik predicted_ik,    A_bk = sum_i c_bi (true_ik + predicted_ik),

so all draws together are a product of c with a sparse matrix, and F1_bk = 2 TP_bk / A_bk. The
standard error is the standard deviation over the draws. A class that a draw lacks scores 0 there.
`spread_of_sums` does the same for any figures that are functions of sums over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.metrics.inputs import Pair

NUMBERS = 1 << 22  # of counts held at a time


class Spread(NamedTuple):
    """Standard errors.

    Attributes
    ----------
    micro_f1 : float
        Of the micro F1.
    macro_f1 : float
        Of the macro F1.
    """

    micro_f1: float
    macro_f1: float


def f1_spread(pair: Pair, n_draws: int = 1000, random_state: Any = 0) -> Spread:
    """Bootstrap standard errors of the F1 of label sets over the rows, classes as given.

    Parameters
    ----------
    pair : Pair
        Truth and prediction as indicators.
    n_draws : int, default=1000
        Draws of the rows.
    random_state : int, RandomState instance or None, default=0
        Seed.

    Returns
    -------
    Spread

    Examples
    --------
    >>> pair = Pair(sp.csr_array(np.eye(4)), sp.csr_array(np.eye(4)))
    >>> f1_spread(pair, 10).micro_f1
    0.0
    """
    right = sp.csr_array(pair.true.multiply(pair.pred), dtype=np.float64)
    either = sp.csr_array(pair.true, dtype=np.float64) + pair.pred
    both = sp.csr_array(sp.hstack([right, either], format="csr"))
    return Spread(*map(float, spread_of_sums(both, _micro_and_macro, n_draws, random_state)))


def _micro_and_macro(sums: np.ndarray) -> np.ndarray:
    """Both F1 of every draw, from its counts of right labels and of all, class by class."""
    tp, total = np.split(sums, 2, axis=1)
    micro = _f1(tp.sum(axis=1), total.sum(axis=1))
    return np.column_stack([micro, _f1(tp, total).mean(axis=1)])


def spread_of_sums(
    counts: Any,
    figures: Callable[[np.ndarray], np.ndarray],
    n_draws: int = 1000,
    random_state: Any = 0,
) -> np.ndarray:
    """Bootstrap standard errors of figures that depend on sums over the rows alone.

    Parameters
    ----------
    counts : {array-like, sparse matrix} of shape (n_rows, n_counts)
        What each row adds.
    figures : callable
        From sums (n_draws, n_counts) to figures (n_draws, n_figures).
    n_draws : int, default=1000
        Draws of the rows.
    random_state : int, RandomState instance or None, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_figures,)

    Examples
    --------
    >>> spread_of_sums(np.ones((9, 1)), lambda sums: sums / 9, 10)
    array([0.])
    """
    check_draws(n_draws)
    n = counts.shape[0]
    size = max(1, NUMBERS // max(*counts.shape, 1))
    found = [figures(times @ counts) for times in _draws(n, n_draws, size, random_state)]
    return np.asarray(np.concatenate(found).std(axis=0, ddof=1))


def check_draws(n_draws: int) -> None:
    """Refuse fewer draws than have a deviation."""
    if n_draws < 2:
        raise UserError(f"n_draws is {n_draws}. A deviation needs at least 2 draws.")


def _draws(n: int, n_draws: int, size: int, random_state: Any) -> Iterator[np.ndarray]:
    """How often each of n rows is drawn, (draws, n), up to `size` draws at a time."""
    rng = np.random.default_rng(random_state)
    for start in range(0, n_draws, size):
        m = min(size, n_draws - start)
        rows = rng.integers(0, n, (m, n))
        rows += n * np.arange(m)[:, None]
        yield np.bincount(rows.ravel(), minlength=m * n).reshape(m, n).astype(np.float64)


def _f1(tp: np.ndarray, total: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(2 * tp, total, out=np.zeros_like(total), where=total > 0))
