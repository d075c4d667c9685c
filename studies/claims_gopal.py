"""Claims of [GopalYang2015], from the runs of its Tables II, III, IV and VI to IX.

Collections are pooled: one sign test over decisions, one Wilcoxon test over differences in F1 of
the classes, so large collections weigh most. Where several pairs of methods are compared on the
same collection, each decision counts once, by which side got it right more often, and each class
once, with its mean difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from linnaeus.metrics import sign_test, wilcoxon_test
from studies.gopal import COLLECTIONS
from studies.gopal_bayes import HIERARCHICAL, ONE_LABEL
from studies.gopal_views import FLAT, PAIRS, unit_name
from studies.judging import (
    FAILS,
    HOLDS,
    OPEN,
    Claim,
    Results,
    Verdict,
    decide,
    no_data,
)
from studies.packing import unpack
from studies.results import Outcome

PAPER = "[GopalYang2015]"
SMALL = 10  # training rows of a small class
TIMES = (1.4, 3.0)  # what "about twice" allows


class Pair(NamedTuple):
    """Two methods on a collection; the claim is that the first is better."""

    collection: str
    first: str
    second: str
    a: Outcome
    b: Outcome


def pairs(
    results: Results, table: str, collections: Iterable[str], methods: Iterable[tuple[str, str]]
) -> list[Pair]:
    """Those pairs (better, worse) of which both were run."""
    outcomes, found = results.outcomes(table), []
    for collection, (first, second) in product(collections, list(methods)):
        a, b = (outcomes.get(unit_name(collection, method)) for method in (first, second))
        if a is not None and b is not None:
            found.append(Pair(collection, first, second, a, b))
    return found


def judged(
    results: Results, table: str, collections: Sequence[str], methods: Sequence[tuple[str, str]],
    judge: Callable[[list[Pair]], Verdict],
) -> Verdict:  # fmt: skip
    """The verdict on all pairs; it tells which were not run yet."""
    found = pairs(results, table, collections, methods)
    verdict = judge(found)
    done = {(pair.collection, pair.first) for pair in found}
    left = [f"{c} {first}" for c, (first, _) in product(collections, methods)
            if (c, first) not in done]  # fmt: skip
    if not found or not left:
        return verdict
    told = f"{verdict.evidence}. Not compared yet: {', '.join(left)}"
    return verdict._replace(evidence=told)


RECURSIVE = [(recursive, flat) for flat, recursive in PAIRS]


def micro(found: list[Pair], table: str) -> Verdict:
    """Pooled over decisions."""
    if not found:
        return no_data(table)
    names = dict.fromkeys(pair.collection for pair in found)
    nets = {name: _net_wins([pair for pair in found if pair.collection == name]) for name in names}
    test = _signs(np.concatenate(list(nets.values())))
    own = {name: _signs(net) for name, net in nets.items()}
    each = {name: (t.wins - t.losses, t.pvalue) for name, t in own.items()}
    evidence = (
        f"{test.wins:,} decisions won, {test.losses:,} lost. {_figures(found, 'micro_f1')}"
        f"{_apart(each)}"
    )
    return decide(test.wins - test.losses, test.pvalue, evidence)


def _signs(net: np.ndarray) -> Any:
    return sign_test(int((net > 0).sum()), int((net < 0).sum()))


def _apart(each: Mapping[str, tuple[float, float]]) -> str:
    """The direction and p-value of every collection, where there are several."""
    if len(each) < 2:
        return ""
    ways = {1: "better", -1: "worse", 0: "even"}
    told = (f"{c} {ways[int(np.sign(gain))]} (p {p:.2g})" for c, (gain, p) in each.items())
    return f". Apart: {', '.join(told)}"


def _net_wins(group: list[Pair]) -> np.ndarray:
    """For every decision that some method got wrong: wins less losses of the better side."""
    parts = [(unpack(out.facts["wrong"]), sign)
             for pair in group for out, sign in ((pair.a, -1), (pair.b, 1))]  # fmt: skip
    numbers = np.concatenate([part for part, _ in parts])
    signs = np.concatenate([np.full(part.size, sign) for part, sign in parts])
    _, place = np.unique(numbers, return_inverse=True)
    return np.bincount(place, weights=signs)


def macro(found: list[Pair], table: str) -> Verdict:
    """Pooled over classes."""
    return _ranks(found, table, "class_f1", lambda facts: slice(None), "macro_f1")


def _ranks(
    found: list[Pair], table: str, values: str, choose: Callable[[dict[str, Any]], Any], shown: str
) -> Verdict:
    """Wilcoxon's test over the differences in F1 of some classes or nodes of all collections."""
    parts = [
        np.subtract(pair.a.facts[values], pair.b.facts[values])[choose(pair.a.facts)]
        for pair in found
    ]
    names = dict.fromkeys(pair.collection for pair in found)
    means = [
        np.mean(
            [g for pair, g in zip(found, parts, strict=True) if pair.collection == name], axis=0
        )
        for name in names
    ]
    gains = np.concatenate(means) if means else np.empty(0)
    if not gains.size:
        return no_data(table)
    test = wilcoxon_test(gains)
    tests = {c: wilcoxon_test(part) for c, part in zip(names, means, strict=True) if part.any()}
    each = {c: (own.statistic - own.w_minus, own.pvalue) for c, own in tests.items()}
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    evidence = (
        f"F1 rises in {better} and falls in {worse} of {gains.size} classes, "
        f"{100 * float(gains.mean()):+.2f} points on average. "
        f"{_figures(found, shown) if shown else _gains(found, parts)}{_apart(each)}"
    )
    return decide(test.statistic - test.w_minus, test.pvalue, evidence)


def _figures(found: list[Pair], figure: str) -> str:
    """The figures of every pair, in %."""
    return "; ".join(
        f"{p.collection} {p.first} {100 * p.a.facts[figure]:.2f}, "
        f"{p.second} {100 * p.b.facts[figure]:.2f}"
        for p in found
    )


def _gains(found: list[Pair], parts: list[np.ndarray]) -> str:
    """The mean gain of every pair, in points."""
    return "; ".join(
        f"{p.collection} {p.first} {100 * float(gains.mean()):+.2f} ({gains.size})"
        for p, gains in zip(found, parts, strict=True)
        if gains.size
    )


def recursive_over_flat(
    results: Results, table: str, judge: Callable[[list[Pair], str], Verdict]
) -> Verdict:
    """RR against the flat classifier with the same loss, on all collections."""
    return judged(results, "gopal-2", COLLECTIONS, RECURSIVE, lambda found: judge(found, table))


def deepest(found: list[Pair], table: str) -> Verdict:
    """Over the nodes of the deepest level."""

    def choose(facts: dict[str, Any]) -> np.ndarray:
        level = np.asarray(facts["node_level"])
        return np.flatnonzero(level == level.max())

    return _ranks(found, table, "node_f1", choose, "")


def small_classes(found: list[Pair], table: str) -> Verdict:
    """Over classes with few training rows."""

    def choose(facts: dict[str, Any]) -> np.ndarray:
        size = np.asarray(facts["class_train"])
        return np.flatnonzero((size >= 1) & (size <= SMALL))

    return _ranks(found, table, "class_f1", choose, "")


def best_on_clef(results: Results) -> Verdict:
    """HBLR against the best other method on ImCLEF07A."""
    ranked = _ranked(results, "ImCLEF07A")
    others = [method for method in ranked if method != "HBLR"]
    if "HBLR" not in ranked or not others:
        return no_data("gopal-2")
    return micro(pairs(results, "gopal-2", ["ImCLEF07A"], [("HBLR", others[0])]), "gopal-2")


def over_top_down(results: Results) -> Verdict:
    """RR and HBLR against TD, on all collections."""
    against = [(method, "TD") for method in ("RR-SVM", "RR-LR", "HBLR")]
    return judged(results, "gopal-2", COLLECTIONS, against, partial(micro, table="gopal-3"))


def _ranked(results: Results, collection: str) -> list[str]:
    """The methods that were run on a collection, the best micro F1 first."""
    prefix = unit_name(collection, "")
    found = {
        name.removeprefix(prefix): outcome.facts["micro_f1"]
        for name, outcome in results.outcomes("gopal-2").items()
        if name.startswith(prefix)
    }
    return sorted(found, key=lambda method: -found[method])


def models(results: Results, better: str, worse: str) -> Verdict:
    """One model of HBLR against another, by partial MAP."""
    pair = (f"{better}-map", f"{worse}-map")
    return judged(results, "gopal-6", ONE_LABEL, [pair], partial(micro, table="gopal-6"))


def hierarchical_priors(results: Results) -> Verdict:
    """Hierarchical priors against flat ones of the same model."""
    judge = partial(macro, table="gopal-7")
    return judged(results, "gopal-6", ["ImCLEF07A"], HIERARCHICAL, judge)


def twice_the_time(results: Results) -> Verdict:
    """The time of RR-SVM as a multiple of that of BSVM."""
    found = pairs(results, "gopal-2", COLLECTIONS, [("RR-SVM", FLAT["RR-SVM"])])
    if not found:
        return no_data("gopal-4")
    times = [pair.a.facts["fit_seconds"] / pair.b.facts["fit_seconds"] for pair in found]
    mean = float(np.exp(np.mean(np.log(times))))
    each = ", ".join(f"{pair.collection} {t:.1f}" for pair, t in zip(found, times, strict=True))
    low, high = TIMES
    evidence = (
        f"{mean:.1f} times on (geometric) average: {each}. Judged by whether that is between "
        f"{low} and {high}."
    )
    if len(found) < 2:
        return Verdict(OPEN, evidence)
    return Verdict(HOLDS if low <= mean <= high else FAILS, evidence)


CLAIMS = (
    Claim("rr-micro", "Recursive regularisation beats flat classifiers in micro F1",
          f"{PAPER} Table II", partial(recursive_over_flat, table="gopal-2", judge=micro)),
    Claim("rr-macro", "Recursive regularisation beats flat classifiers in macro F1",
          f"{PAPER} Table II", partial(recursive_over_flat, table="gopal-2", judge=macro)),
    Claim("rr-deep", "Recursive regularisation gains at the deepest level",
          f"{PAPER} Table VIII", partial(recursive_over_flat, table="gopal-8", judge=deepest)),
    Claim("rr-small", f"Recursive regularisation gains for classes with up to {SMALL} rows",
          f"{PAPER} Table IX",
          partial(recursive_over_flat, table="gopal-9", judge=small_classes)),
    Claim("rr-cost", "RR-SVM costs about twice BSVM", f"{PAPER} Table IV", twice_the_time),
    Claim("over-td", "Recursive regularisation and HBLR beat top-down classification in micro F1",
          f"{PAPER} Table III", over_top_down),
    Claim("hblr-best", "HBLR is the best method on CLEF", f"{PAPER} Tables II, III", best_on_clef),
    Claim("m3-m1", "HBLR: M3 is better than M1", f"{PAPER} Table VI",
          partial(models, better="M3", worse="M1")),
    Claim("m1-m2", "HBLR: M1 is better than M2", f"{PAPER} Table VI",
          partial(models, better="M1", worse="M2")),
    Claim("priors", "HBLR: hierarchical priors beat flat ones in macro F1",
          f"{PAPER} Table VII", hierarchical_priors),
)  # fmt: skip
