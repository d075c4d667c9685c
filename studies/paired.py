"""Figures with standard errors, and tests between methods, from values that are paired.

A unit stores what it measured on every fold, draw or block of test rows. Two units that used the
same ones are compared by the paired permutation test of [Cai2008] section 7.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linnaeus.metrics import permutation_test
from studies.tables import Outcomes

DIGITS = 6  # of stored values


def standard_error(values: Any) -> float | None:
    """Of a mean; None for a single value.

    >>> standard_error([1.0, 3.0])
    1.0
    """
    found = np.asarray(values, dtype=np.float64)
    if found.size < 2:
        return None
    return round(float(found.std(ddof=1) / np.sqrt(found.size)), DIGITS)


def rounded(values: Any) -> list[float]:
    """Values as they are stored."""
    return [round(float(value), DIGITS) for value in values]


def facts_of(condition: str, method: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What `paired_tests` needs: {measure: a value for every fold, draw or block}."""
    plain = {measure: rounded(found) for measure, found in values.items()}
    return {"condition": condition, "method": method, **more, "values": plain}


def paired_tests(outcomes: Outcomes, pairs: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """The test of every pair of methods in every condition and measure that both have.

    difference : of the means, first minus second, in the unit of the values
    """
    found = {(out.facts["condition"], out.facts["method"]): out for out in outcomes.values()}
    conditions = dict.fromkeys(condition for condition, _ in found)
    tests = []
    for condition in conditions:
        for first, second in pairs:
            a, b = found.get((condition, first)), found.get((condition, second))
            if a is None or b is None:
                continue
            for measure, x in a.facts["values"].items():
                y = b.facts["values"].get(measure)
                if y is not None and len(x) == len(y):
                    tests.append(_test(condition, measure, first, second, x, y))
    return tests


def _test(
    condition: str, measure: str, first: str, second: str, x: list[float], y: list[float]
) -> dict[str, Any]:
    test = permutation_test(x, y, random_state=0)
    return {
        "name": f"permutation test, {condition}, {measure}",
        "condition": condition,
        "measure": measure,
        "first": first,
        "second": second,
        "statistic": round(test.statistic, DIGITS),
        "difference": round(test.statistic, DIGITS),
        "pvalue": test.pvalue,
        "n": len(x),
    }
