"""Is one method better than another, or is it chance? Every pair, and every level and size.

    bootstrap     would the figure itself still differ with other rows? (any figure; the stars)
    sign          of the decisions that only one of the two has right, does each have half? Whoever
                  gives more labels takes more such decisions, right and wrong
    wilcoxon      is the F1 of a class as often and as far higher as lower?
    permutation   do the rows add to the difference in hierarchical F1 as often as they take away?

With h_i the right labels of row i and s_i its true and predicted labels together, on closures,
F = 2 sum h_i / sum s_i. Between two methods a and b, with F half-way between their F1,

    d_i = 2 (h_i^a - h_i^b) - F (s_i^a - s_i^b)   sums to   (F_a - F_b) (sum s^a + sum s^b) / 2,

so the d_i share out the difference among the rows.

The p-values of one test over all pairs are corrected together after Holm (1979): in ascending
order p_(1) <= ... <= p_(m) becomes  max over j <= i of  min(1, (m - j + 1) p_(j)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.experiments.resampling import Draws, paired_pvalue
from linnaeus.metrics import (
    PermutationTest,
    Report,
    SignTest,
    WilcoxonTest,
    count_wins,
    permutation_test,
    sign_test,
    wilcoxon_test,
)
from linnaeus.metrics.counts import count, micro, prf
from linnaeus.metrics.inputs import Pair

TESTS = {  # besides the bootstrap: of what each is a test
    "sign": "decisions that only one has right",
    "wilcoxon": "F1 of each class",
    "permutation": "what each row adds to hierarchical F1",
}
_SIGNS = 100_000_000  # drawn for one permutation test at most, about a second's worth
_DRAWS = (1_999, 9_999)


class RowCounts(NamedTuple):
    """Labels of every row, on closures."""

    hits: np.ndarray  # true and predicted
    size: np.ndarray  # true labels and predicted ones, both counted

    @classmethod
    def of(cls, true: sp.csr_array, predicted: sp.csr_array) -> RowCounts:
        hits = np.diff(sp.csr_array(true.multiply(predicted)).indptr)
        return cls(hits, np.diff(true.indptr) + np.diff(predicted.indptr))

    @property
    def f1(self) -> float:
        """Of all rows together."""
        return 2.0 * float(self.hits.sum()) / max(1, int(self.size.sum()))


class PairTest(NamedTuple):
    """Two methods: differences (first less second) by metric, tests, and p-values after Holm.

    Attributes
    ----------
    first : str
        The first method.
    second : str
        The second method.
    differences : dict of str to float
        First less second, by figure.
    bootstrap : dict of str to float
        P-values of the paired bootstrap, by figure.
    sign : SignTest
        Over decisions.
    wilcoxon : WilcoxonTest
        Over the F1 of the classes.
    permutation : PermutationTest
        Over the rows.
    adjusted : dict of str to float
        Those of the bootstrap after Holm, by figure.
    """

    first: str
    second: str
    differences: dict[str, float]
    bootstrap: dict[str, float]
    sign: SignTest
    wilcoxon: WilcoxonTest
    permutation: PermutationTest
    adjusted: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        tests = {name: getattr(self, name)._asdict() for name in TESTS}
        return self._asdict() | tests


class GroupTest(NamedTuple):
    """A method against the best one among some classes: a level, or classes of one size.

    Attributes
    ----------
    group : str
        Which classes.
    best : str
        The best method among them.
    method : str
        The other method.
    difference : float
        Difference of the micro F1, best less method.
    sign : SignTest
        Over decisions.
    wilcoxon : WilcoxonTest
        Over the F1 of the classes.
    adjusted_sign : float
        P-value after Holm.
    adjusted_wilcoxon : float
        P-value after Holm.
    """

    group: str
    best: str
    method: str
    difference: float
    sign: SignTest
    wilcoxon: WilcoxonTest
    adjusted_sign: float
    adjusted_wilcoxon: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        tests = {"sign": self.sign._asdict(), "wilcoxon": self.wilcoxon._asdict()}
        return self._asdict() | tests


def pair_tests(
    reports: Mapping[str, Report],
    rows: Mapping[str, RowCounts],
    draws: Mapping[str, Draws],
    seed: int = 0,
) -> tuple[PairTest, ...]:
    """Every two methods, in the order given."""
    found = [
        _pair_test(a, b, (reports[a], reports[b]), (rows[a], rows[b]), (draws[a], draws[b]), seed)
        for a, b in combinations(reports, 2)
    ]
    figures = found[0].bootstrap if found else ()
    adjusted = {figure: holm([pair.bootstrap[figure] for pair in found]) for figure in figures}
    return tuple(
        pair._replace(adjusted={figure: float(p[i]) for figure, p in adjusted.items()})
        for i, pair in enumerate(found)
    )


def _pair_test(
    a: str, b: str, reports: tuple[Report, Report], rows: tuple[RowCounts, RowCounts],
    draws: tuple[Draws, Draws], seed: int,
) -> PairTest:  # fmt: skip
    tests = reports[0].compare(reports[1])
    figures = draws[0].values
    differences = {name: float(reports[0][name] - reports[1][name]) for name in figures}
    drawn = {name: paired_pvalue(*draws, name) for name in figures}
    permutation = _permutation(*rows, seed)
    return PairTest(a, b, differences, drawn, tests.micro, tests.macro, permutation, {})


def _permutation(a: RowCounts, b: RowCounts, seed: int) -> PermutationTest:
    """The test over rows; its statistic is the difference in F1.

    Rows that do not differ stay out: their signs change no sum.
    """
    d = row_shares(a, b)
    d = d[d != 0]
    if not d.size:
        return PermutationTest(0.0, 0, 1, True, 1.0)
    draws = int(np.clip(_SIGNS // d.size, *_DRAWS))
    found = permutation_test(d, n_permutations=draws, random_state=seed)
    return found._replace(statistic=found.statistic * d.size)


def row_shares(a: RowCounts, b: RowCounts) -> np.ndarray:
    """What each row adds to the difference in F1 between two methods."""
    middle = (a.f1 + b.f1) / 2
    d = 2.0 * (a.hits - b.hits) - middle * (a.size - b.size)
    return np.asarray(2 * d / max(1, int(a.size.sum() + b.size.sum())))


def holm(pvalues: Sequence[float]) -> np.ndarray:
    """The p-values of several tests, corrected for their number.

    Parameters
    ----------
    pvalues : sequence of float
        The p-values.

    Returns
    -------
    ndarray of shape (n_tests,)

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, p[order] * np.arange(p.size, 0, -1))
    out = np.empty_like(p)
    out[order] = np.maximum.accumulate(steps) if p.size else steps
    return out


def group_tests(
    true: sp.csr_array, predicted: Mapping[str, sp.csr_array], groups: Mapping[str, np.ndarray]
) -> tuple[GroupTest, ...]:
    """In every group of columns, the best method against each of the others.

    Groups without a true label are passed over; corrections are made within each group.
    """
    out: list[GroupTest] = []
    for group, columns in groups.items():
        truth = sp.csr_array(true[:, columns])
        if truth.nnz and len(predicted) > 1:
            sets = {name: sp.csr_array(Y[:, columns]) for name, Y in predicted.items()}
            out += _in_group(group, truth, sets)
    return tuple(out)


def _in_group(group: str, true: sp.csr_array, sets: dict[str, sp.csr_array]) -> list[GroupTest]:
    counts = {name: count(Pair(true, Y)) for name, Y in sets.items()}
    f1 = {name: micro(c).f1 for name, c in counts.items()}
    best = max(f1, key=lambda name: f1[name])
    others = [name for name in sets if name != best]
    signs = [sign_test(*count_wins(true, sets[best], sets[name])) for name in others]
    ranks = [wilcoxon_test(prf(counts[best]).f1, prf(counts[name]).f1) for name in others]
    p_sign, p_rank = (holm([test.pvalue for test in tests]) for tests in (signs, ranks))
    return [
        GroupTest(
            group, best, name, f1[best] - f1[name], signs[i], ranks[i], float(p_sign[i]),
            float(p_rank[i]),
        )
        for i, name in enumerate(others)
    ]  # fmt: skip


def stars(pvalue: float) -> str:
    """The marks of significance: ** below 1 %, * below 5 %.

    Parameters
    ----------
    pvalue : float
        The p-value.

    Returns
    -------
    str
    """
    return "**" if pvalue < 0.01 else "*" if pvalue < 0.05 else ""
