"""Claims of [Cai2008] section 7, from values of folds, draws and blocks of test rows.

Two methods under the same condition are paired value by value. The differences of all conditions
are pooled into one paired permutation test. Where rows were learnt in two orders, the mean of both
differences counts; claims about online learning are judged on shuffled rows, and tell what the
order by groups gives. Synthetic data count with the ratio of variances of the table itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from linnaeus.metrics import permutation_test
from studies.cai import SHUFFLED
from studies.judging import (
    FAILS,
    HOLDS,
    LEVEL,
    Claim,
    Results,
    Verdict,
    decide,
    no_data,
    pooled,
)

PAPER = "[Cai2008]"
RATIO = ", ratio "
LOSSES = ("top loss", "max loss", "rloss")  # less is better
FLAT_AND_HIERARCHICAL = (
    ("cai-7.5", "H-SVM", "F-SVM"),
    ("cai-7.10", "H-SVM", "F-SVM"),
    ("cai-7.13", "H-SVM", "F-SVM"),
    ("cai-7.20", "HaPERC", "FaPERC"),
    ("cai-7.20", "HaHieron", "FaHieron"),
    ("cai-images", "H-SVM", "F-SVM"),
)
Gains = dict[str, np.ndarray]  # by conditions


def gains(
    results: Results, table: str, first: str, second: str, measure: str, order: str = "both"
) -> Gains:
    """How much better the first method is than the second, for every fold, draw or block.

    order : "both" averages over the orders of rows, "shuffled" and "given" take one
    """
    outcomes = results.outcomes(table)
    sign = -1.0 if measure in LOSSES else 1.0
    found: dict[str, list[np.ndarray]] = {}
    for name, outcome in outcomes.items():
        condition, _, method = name.rpartition(": ")
        other = outcomes.get(f"{condition}: {second}")
        if method != first or other is None or RATIO in condition:
            continue
        if order != "both" and condition.endswith(SHUFFLED) != (order == "shuffled"):
            continue
        x, y = (np.asarray(out.facts["values"][measure]) for out in (outcome, other))
        if x.size == y.size:
            found.setdefault(condition.removesuffix(SHUFFLED), []).append(sign * (x - y))
    return {condition: np.mean(both, axis=0) for condition, both in found.items()}


def hierarchical(results: Results, measure: str, unit: str) -> Verdict:
    """Hierarchical against flat methods, over all tables that have both."""
    found = [
        (f"{table} {first} {condition}", differences)
        for table, first, second in FLAT_AND_HIERARCHICAL
        for condition, differences in gains(results, table, first, second, measure).items()
    ]
    return pooled(found, "cai-7.10", unit)


def few_examples(results: Results) -> Verdict:
    """The gain of H-SVM falls with the number of training rows: a rank correlation."""
    found = gains(results, "cai-7.10", "H-SVM", "F-SVM", "pacc")
    ordered = sorted(found.items(), key=lambda item: _rows(item[0]))
    if len(ordered) < 3:
        return no_data("cai-7.10")
    place = np.concatenate([np.full(d.size, i) for i, (_, d) in enumerate(ordered)])
    test = spearmanr(place, np.concatenate([d for _, d in ordered]))
    means = "; ".join(f"{condition} {d.mean():+.2f}" for condition, d in ordered)
    evidence = (
        f"Gain in parent accuracy in points: {means}; rank correlation with the number of rows "
        f"{test.statistic:+.2f}"
    )
    return decide(-float(test.statistic), float(test.pvalue), evidence)


def _rows(condition: str) -> float:
    """Training rows per class: "t = 5" is 5, "all" is more than any."""
    return float(condition.removeprefix("t = ")) if condition.startswith("t = ") else np.inf


def random_hierarchies(
    results: Results, other: str, judge: Callable[[list[tuple[str, np.ndarray]]], Verdict]
) -> Verdict:
    """The mean of the random hierarchies of a draw against another method."""
    drawn: dict[str, list[np.ndarray]] = {}
    names = {name.rpartition(": ")[2] for name in results.outcomes("cai-7.18")}
    for method in sorted(name for name in names if " rand" in name):
        for condition, found in gains(results, "cai-7.18", method, other, "prec").items():
            drawn.setdefault(condition, []).append(found)
    return judge([(condition, np.mean(found, axis=0)) for condition, found in drawn.items()])


def no_help(found: list[tuple[str, np.ndarray]]) -> Verdict:
    """Random hierarchies do not help: judged by a one-sided test of a gain."""
    if not found:
        return no_data("cai-7.18")
    every = np.concatenate([differences for _, differences in found])
    test = permutation_test(every, alternative="greater", random_state=0)
    means = "; ".join(f"{condition} {d.mean():+.2f}" for condition, d in found)
    evidence = (
        f"Average precision with random hierarchies less that without: {means}. Judged by whether "
        "a gain is significant (one-sided)."
    )
    return Verdict(FAILS if test.pvalue < LEVEL else HOLDS, evidence, test.pvalue)


def true_over_random(found: list[tuple[str, np.ndarray]]) -> Verdict:
    """The true hierarchy is better than random ones."""
    turned = [(condition, -differences) for condition, differences in found]
    return pooled(turned, "cai-7.18", "points of average precision")


def one_pair(results: Results, table: str, pairs: Any, measure: str) -> Verdict:
    """Pairs of methods of one table, judged on shuffled rows where there are such."""

    def found(order: str) -> list[tuple[str, np.ndarray]]:
        return [
            (f"{first} {condition}", differences)
            for first, second in pairs
            for condition, differences in gains(
                results, table, first, second, measure, order
            ).items()
        ]

    shuffled, given = found("shuffled"), found("given")
    unit = f"points of {measure}"
    verdict = pooled(shuffled or given, table, unit)
    if not (shuffled and given):
        return verdict
    means = "; ".join(f"{name} {differences.mean():+.2f}" for name, differences in given)
    evidence = f"{verdict.evidence}. Rows shuffled; in order by groups: {means}"
    return verdict._replace(evidence=evidence)


CLAIMS = (
    Claim("hierarchical-loss", "Hierarchical methods have a lower maximal loss than flat ones",
          f"{PAPER} Tables 7.5 to 7.20",
          partial(hierarchical, measure="max loss", unit="edges of maximal loss")),
    Claim("hierarchical-parent", "Hierarchical methods find the right parent more often",
          f"{PAPER} Tables 7.5 to 7.20",
          partial(hierarchical, measure="pacc", unit="points of parent accuracy")),
    Claim("hierarchical-ranking", "Hierarchical methods rank better (average precision)",
          f"{PAPER} Tables 7.5 to 7.20",
          partial(hierarchical, measure="prec", unit="points of average precision")),
    Claim("few-examples", "The gain of a hierarchy is largest with few examples",
          f"{PAPER} Table 7.10", few_examples),
    Claim("random", "Random hierarchies do not help", f"{PAPER} Table 7.18",
          partial(random_hierarchies, other="F-SVM", judge=no_help)),
    Claim("true-random", "The true hierarchy is better than random ones", f"{PAPER} Table 7.18",
          partial(random_hierarchies, other="H-SVM", judge=true_over_random)),
    Claim("online", "Online Perceptron and Hieron gain by a hierarchy", f"{PAPER} Table 7.21",
          partial(one_pair, table="cai-7.21", measure="prec",
                  pairs=(("HoPERC", "FoPERC"), ("HoHieron", "FoHieron")))),
    Claim("learned", "Learnt hierarchies help", f"{PAPER} Table 7.24",
          partial(one_pair, table="cai-7.24", measure="prec", pairs=(("HaPERCa", "FaPERC"),))),
)  # fmt: skip
