"""The tests of [GopalYang2015] section 6.2, from what is stored about two methods.

Micro F1: the sign test over decisions that exactly one of the two got right. Macro F1: Wilcoxon's
signed rank test over the F1 of the classes. Both two-sided.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linnaeus.metrics import sign_test, wilcoxon_test
from studies.packing import unpack
from studies.results import Outcome
from studies.tables import Outcomes


def _wins_losses(a: Outcome, b: Outcome) -> tuple[int, int]:
    """Decisions that only the first, and only the second method got right."""
    wrong_a, wrong_b = unpack(a.facts["wrong"]), unpack(b.facts["wrong"])
    both = np.intersect1d(wrong_a, wrong_b, assume_unique=True).size
    return wrong_b.size - both, wrong_a.size - both


def against(first: str, second: str, a: Outcome, b: Outcome, **about: Any) -> list[dict[str, Any]]:
    """Both tests of one method against another on the same test rows."""
    signs = sign_test(*_wins_losses(a, b))
    ranks = wilcoxon_test(a.facts["class_f1"], b.facts["class_f1"])
    common = {"first": first, "second": second, **about}
    micro, macro = (a.facts[key] - b.facts[key] for key in ("micro_f1", "macro_f1"))
    return [
        {"name": "sign test, micro F1", **common, "statistic": signs.wins - signs.losses,
         "difference": 100 * micro, "pvalue": signs.pvalue},
        {"name": "Wilcoxon, macro F1", **common, "statistic": ranks.statistic,
         "difference": 100 * macro, "pvalue": ranks.pvalue},
    ]  # fmt: skip


def pairs_of(
    outcomes: Outcomes, pairs: Iterable[tuple[str, str]], table: str
) -> list[dict[str, Any]]:
    """The tests of all pairs of units of which both are there."""
    return [
        test
        for first, second in pairs
        if first in outcomes and second in outcomes
        for test in against(first, second, outcomes[first], outcomes[second], table=table)
    ]
