"""Is the difference between two systems more than chance?

    sign_test         decisions on which exactly one system is right; exact binomial
    wilcoxon_test     signed ranks of paired values, such as the F1 of every class
    permutation_test  random signs of paired differences, such as those of folds

The first two are the tests of [GopalYang2015] section 6.2 for micro and macro F1, the third is
that of [Cai2008] section 7.3. "greater" asks whether the first system is better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from linnaeus.errors import UserError
from linnaeus.losses import difference
from linnaeus.metrics.inputs import label_sets
from linnaeus.taxonomy import Taxonomy

_EXACT = 20  # up to so many differences all signs are tried
_DIGITS = 12  # values that agree so far are ties: ratios come with rounding errors
_ALTERNATIVES = ("two-sided", "greater", "less")


class SignTest(NamedTuple):
    """Decisions that only the first, and only the second system got right.

    Attributes
    ----------
    wins : int
        Decisions that only the first got right.
    losses : int
        Decisions that only the second got right.
    pvalue : float
        P-value.
    """

    wins: int
    losses: int
    pvalue: float


class WilcoxonTest(NamedTuple):
    """Sums of the ranks of the positive and of the negative differences.

    Attributes
    ----------
    statistic : float
        W+, the sum of the ranks of positive differences.
    w_minus : float
        W-, that of negative ones.
    n : int
        Differences that are not zero.
    z : float
        The normal deviate, corrected for ties.
    exact : bool
        Whether all signs were counted.
    pvalue : float
        P-value.
    """

    statistic: float
    w_minus: float
    n: int
    z: float
    exact: bool
    pvalue: float


class PermutationTest(NamedTuple):
    """The mean difference, and how often random signs give as much.

    Attributes
    ----------
    statistic : float
        The mean difference.
    n : int
        Differences.
    n_permutations : int
        Sign vectors tried.
    exact : bool
        Whether all signs were tried.
    pvalue : float
        P-value.
    """

    statistic: float
    n: int
    n_permutations: int
    exact: bool
    pvalue: float


def sign_test(wins: int, losses: int, alternative: str = "two-sided") -> SignTest:
    """The exact binomial test of `wins` against `losses`; ties are left out beforehand.

    Parameters
    ----------
    wins : int
        Decisions that only the first got right.
    losses : int
        Decisions that only the second got right.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        What is tested.

    Returns
    -------
    SignTest

    Examples
    --------
    >>> round(sign_test(10, 2).pvalue, 4)
    0.0386
    """
    if not (wins >= 0 and losses >= 0 and wins == int(wins) and losses == int(losses)):
        raise UserError(f"wins is {wins} and losses is {losses}. Both must be counts: 0, 1, 2, ...")
    wins, losses = int(wins), int(losses)
    n = wins + losses
    at_least, at_most = (
        (float(special.bdtrc(wins - 1, n, 0.5)), float(special.bdtr(wins, n, 0.5)))
        if n
        else (1.0, 1.0)
    )
    return SignTest(wins, losses, _pvalue(at_least, at_most, alternative))


def count_wins(
    Y_true: Any, A: Any, B: Any, taxonomy: Taxonomy | None = None, *, unit: str = "auto"
) -> tuple[int, int]:
    """On how many decisions only A is right, and on how many only B.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    A, B : array-like, sparse matrix or list of lists
        Predictions of the two systems, in any form.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    unit : {'auto', 'decision', 'row'}, default='auto'
        A row and a class; a row; or 'auto', rows where truth and both predictions have one label
        each, decisions elsewhere.

    Returns
    -------
    wins : int
        How often only A is right.
    losses : int
        How often only B is right.

    Examples
    --------
    >>> count_wins(["cat", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"])
    (1, 1)
    """
    if unit not in ("auto", "decision", "row"):
        raise UserError(f"unit={unit!r} is not known. Use 'auto', 'decision' or 'row'.")
    (true, a, b), _ = label_sets(taxonomy, Y_true=Y_true, A=A, B=B)
    wrong_a, wrong_b = difference(true, a), difference(true, b)
    single = all((np.diff(Y.indptr) == 1).all() for Y in (true, a, b))
    if unit == "row" or (unit == "auto" and single):
        bad_a, bad_b = np.diff(wrong_a.indptr) > 0, np.diff(wrong_b.indptr) > 0
        return int((bad_b & ~bad_a).sum()), int((bad_a & ~bad_b).sum())
    both = wrong_a.multiply(wrong_b).nnz  # errors on one decision have one sign
    return wrong_b.nnz - both, wrong_a.nnz - both


def wilcoxon_test(
    x: Any, y: Any = None, alternative: str = "two-sided", method: str = "auto"
) -> WilcoxonTest:
    """Wilcoxon's signed rank test of paired values (or of differences, if only x is given).

    Zeros are dropped and ties get mid-ranks.

    Parameters
    ----------
    x : array-like of shape (n,)
        Values, or differences.
    y : array-like of shape (n,) or None, default=None
        Values paired with them.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        What is tested.
    method : {'auto', 'exact', 'normal'}, default='auto'
        All signs of these very ranks; the normal deviate (corrected for ties, not for continuity);
        or 'auto', exact up to 20 differences.

    Returns
    -------
    WilcoxonTest

    Examples
    --------
    >>> wilcoxon_test([3, 4, 1, 5], [1, 3, 4, 1]).statistic
    7.0
    """
    if method not in ("auto", "exact", "normal"):
        raise UserError(f"method={method!r} is not known. Use 'auto', 'exact' or 'normal'.")
    d = _differences(x, y)
    d = d[d != 0]
    _, group, size = np.unique(np.abs(d), return_inverse=True, return_counts=True)
    rank = (np.cumsum(size) - (size - 1) / 2)[group]
    w_plus, w_minus = float(rank[d > 0].sum()), float(rank[d < 0].sum())
    variance = float((rank**2).sum()) / 4  # mid-ranks hold the correction for ties
    z = (w_plus - w_minus) / 2 / np.sqrt(variance) if d.size else 0.0
    exact = method == "exact" or (method == "auto" and d.size <= _EXACT)
    if exact:
        tails = _rank_sum_tails(rank, w_plus)
    else:
        tails = float(special.ndtr(-z)), float(special.ndtr(z))
    pvalue = _pvalue(*tails, alternative)
    return WilcoxonTest(w_plus, w_minus, int(d.size), float(z), exact, pvalue)


def permutation_test(
    x: Any,
    y: Any = None,
    alternative: str = "two-sided",
    n_permutations: int = 9999,
    random_state: Any = None,
) -> PermutationTest:
    """The paired permutation test: how often random signs give so large a mean difference.

    All 2^n signs are tried up to n = 20, else `n_permutations` random ones, where the observed
    signs count as one more.

    Parameters
    ----------
    x : array-like of shape (n,)
        Values, or differences.
    y : array-like of shape (n,) or None, default=None
        Values paired with them.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        What is tested.
    n_permutations : int, default=9999
        Random sign vectors to try.
    random_state : int, RandomState instance or None, default=None
        Seed of the random signs.

    Returns
    -------
    PermutationTest

    Examples
    --------
    >>> permutation_test([1.0] * 10).pvalue
    0.001953125
    """
    d = _differences(x, y)
    if n_permutations < 1:
        raise UserError(f"n_permutations is {n_permutations}. It must be at least 1.")
    exact = d.size <= _EXACT
    sums = _all_sums(d) if exact else _random_sums(d, n_permutations, random_state)
    observed, slack = d.sum(), 1e-9 * np.abs(d).sum()
    one = 0 if exact else 1
    if alternative == "two-sided":
        hits = np.sum(np.abs(sums) >= abs(observed) - slack)
        pvalue = float((hits + one) / (sums.size + one))
    else:
        at_least = (np.sum(sums >= observed - slack) + one) / (sums.size + one)
        at_most = (np.sum(sums <= observed + slack) + one) / (sums.size + one)
        pvalue = _pvalue(float(at_least), float(at_most), alternative)
    return PermutationTest(float(d.mean()), int(d.size), int(sums.size), exact, pvalue)


def _differences(x: Any, y: Any) -> np.ndarray:
    """Paired differences, rounded so that equal ones compare equal."""
    a = np.asarray(x, dtype=float)
    b = np.zeros_like(a) if y is None else np.asarray(y, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise UserError(
            f"Paired values must be two lists of one length, but their shapes are {a.shape} and "
            f"{b.shape}."
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise UserError("Paired values must be finite. Leave out pairs with NaN in them.")
    scale = float(max(np.abs(a).max(), np.abs(b).max())) or 1.0
    rounded: np.ndarray = np.round((a - b) / scale, _DIGITS) * scale
    return rounded


def _pvalue(at_least: float, at_most: float, alternative: str) -> float:
    """From the probabilities of a value at least, and at most, as large as the observed one."""
    if alternative not in _ALTERNATIVES:
        raise UserError(
            f"alternative={alternative!r} is not known. Use one of: {', '.join(_ALTERNATIVES)}."
        )
    if alternative == "two-sided":
        return min(1.0, 2.0 * min(at_least, at_most))
    return at_least if alternative == "greater" else at_most


def _rank_sum_tails(rank: np.ndarray, w_plus: float) -> tuple[float, float]:
    """P(W+ >= w_plus) and P(W+ <= w_plus) over all signs, by adding one rank at a time.

    Mid-ranks are halves, so twice the ranks are whole numbers and index the table of sums.
    """
    steps = np.rint(2 * rank).astype(int)
    share = np.zeros(int(steps.sum()) + 1)
    share[0] = 1.0
    for step in steps:
        share[step:] = (share[step:] + share[: share.size - step]) / 2
        share[:step] /= 2
    at = round(2 * w_plus)
    return float(share[at:].sum()), float(share[: at + 1].sum())


def _all_sums(d: np.ndarray) -> np.ndarray:
    """The sums of d under every choice of signs, 2^n of them."""
    sums = np.zeros(1)
    for step in d:
        sums = np.concatenate([sums + step, sums - step])
    return sums


def _random_sums(d: np.ndarray, n: int, random_state: Any) -> np.ndarray:
    rng = np.random.default_rng(random_state)
    size = max(1, (1 << 22) // d.size)
    parts = [min(size, n - start) for start in range(0, n, size)]
    return np.concatenate([(2.0 * rng.integers(0, 2, (m, d.size)) - 1.0) @ d for m in parts])
