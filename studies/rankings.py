"""The methods of the matrix ranked, within groups of collections that all of them can take.

A method that does not apply to some collection of a group, or was not run there, is left out of
the group; one that did not finish on a collection is last there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from studies.ranks import Ranking, rank_methods

NAME = "matrix"  # of the table with the results
Facts = dict[str, Any]  # of one method on one collection
GROUPS: dict[str, Callable[[Facts], bool]] = {  # by what the data of a collection are
    "one label": lambda data: not data["several"],
    "several labels": lambda data: data["several"],
    "several labels, trees": lambda data: data["several"] and data["tree"],
}
LEAST = 2  # collections


def rankings(results: Sequence[Facts], figure: str = "micro_f1") -> list[Ranking]:
    """A ranking for each of `GROUPS` that has collections enough."""
    found = []
    for name, belongs in GROUPS.items():
        ranking = ranking_of(name, [f for f in results if belongs(f["data"])], figure)
        if ranking is not None:
            found.append(ranking)
    return found


def ranking_of(name: str, results: Sequence[Facts], figure: str = "micro_f1") -> Ranking | None:
    """The methods that were run on all collections of these results; None where that is too few."""
    entries = {(f["collection"], f["method"]): f for f in results if "unsuited" not in f}
    collections = list(dict.fromkeys(f["collection"] for f in results))
    every = list(dict.fromkeys(f["method"] for f in results))
    methods = [m for m in every if all((c, m) in entries for c in collections)]
    if len(collections) < LEAST or len(methods) < 3:
        return None
    values = [[value(entries[c, m], figure) for m in methods] for c in collections]
    return rank_methods(name, methods, collections, values)


def value(facts: Facts, figure: str) -> float:
    """A figure where larger is better; NaN where there is none."""
    found = float(facts.get("figures", {}).get(figure, np.nan))
    return -found if figure == "zero_one_loss" else found


def friedman_tests(results: Sequence[Facts]) -> list[dict[str, Any]]:
    """The tests of all groups, as they are stored beside the matrix."""
    return [
        {
            "name": "Friedman",
            "first": ranking.name,
            "second": f"{len(ranking.methods)} methods, {len(ranking.collections)} collections",
            "statistic": ranking.friedman.statistic,
            "pvalue": ranking.friedman.pvalue,
            "critical_difference": ranking.difference,
            "ranks": dict(zip(ranking.methods, ranking.ranks, strict=True)),
        }
        for ranking in rankings(results)
    ]
