"""Claims of [Rousu2006] section 5, from values of blocks of test rows.

Blocks are the same for all methods of a collection, so methods are compared block by block.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from studies.figures_rousu import POOLED
from studies.judging import Claim, Results, Verdict, no_data, pooled
from studies.results import Outcome

PAPER = "[Rousu2006]"
TABLE = "rousu-2"
SUBTREE = "H-M3, subtree"
DEEP = 2  # the level from which on labels are deep, the root being level 0


def methods_of(results: Results, collection: str) -> dict[str, Outcome]:
    """{method: outcome} of the methods that were run on a collection."""
    outcomes = results.outcomes(TABLE)
    names = {method: f"{collection}, {method}" for method in POOLED[collection]}
    return {method: outcomes[name] for method, name in names.items() if name in outcomes}


def values_of(outcome: Outcome, measure: str) -> np.ndarray:
    """A measure on every block."""
    return np.asarray(outcome.facts["values"][measure])


def lowest_zero_one(results: Results) -> Verdict:
    """The better H-M3 against the best other method in 0/1 loss."""
    found = []
    for collection in POOLED:
        loss = {m: values_of(out, "0/1 %") for m, out in methods_of(results, collection).items()}
        markov = {m: v for m, v in loss.items() if m.startswith("H-M3")}
        others = {m: v for m, v in loss.items() if m not in markov}
        if markov and others:
            mine, theirs = (min(group, key=lambda m: group[m].mean()) for group in (markov, others))
            row = f"{collection}, {mine} against {theirs}"
            found.append((row, others[theirs] - markov[mine]))
    return pooled(found, TABLE, "points of 0/1 loss")


def recall_at_depth(results: Results) -> Verdict:
    """The subtree loss against the other method with most right labels on the deep levels."""
    found = []
    for collection in POOLED:
        hits = {m: _deep_hits(out) for m, out in methods_of(results, collection).items()}
        mine = hits.pop(SUBTREE, None)
        if mine is not None and hits:
            other = max(hits, key=lambda m: hits[m].mean())
            found.append((f"{collection}, against {other}", mine - hits[other]))
    if not found:
        return no_data(TABLE)
    return pooled(found, TABLE, "right labels a row from level 2 on")


def _deep_hits(outcome: Outcome) -> np.ndarray:
    """Right labels a row on the deep levels, on every block."""
    levels = range(DEEP, len(outcome.facts["levels"]))
    return np.asarray(sum(values_of(outcome, f"hits at level {k}") for k in levels))


def fewer_errors(results: Results, measure: str) -> Verdict:
    """H-M3 trained for the symmetric difference against the flat SVM."""
    found = []
    for collection in POOLED:
        methods = methods_of(results, collection)
        if "SVM" in methods and "H-M3, delta" in methods:
            mine, flat = (values_of(methods[m], measure) for m in ("H-M3, delta", "SVM"))
            found.append((collection, flat - mine))
    return pooled(found, TABLE, f"of {measure}")


CLAIMS = (
    Claim("hm3-zero-one", "H-M3 has the lowest 0/1 loss", f"{PAPER} Table 2", lowest_zero_one),
    Claim("hm3-delta", "H-M3 has a lower symmetric difference than the flat SVM",
          f"{PAPER} Table 2", partial(fewer_errors, measure="delta")),
    Claim("hm3-recall", "The subtree loss gives the best recall at depth", f"{PAPER} Table 3",
          recall_at_depth),
)  # fmt: skip
