"""Results of all folds as one table: a row per setting, the best first."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from linnaeus.decisions.rules import RULES
from linnaeus.model.model import OWN
from linnaeus.search.strategy import Unit

RANK = {name: place for place, name in enumerate((OWN, *RULES))}


class Table:
    """Settings with their values on the folds, added unit by unit.

    A setting counts when it is done on all folds. Its row has features, parameters, C and rule; the
    mean of `metric` over the folds with its standard `error` (None for one fold); the means of all
    metrics; and over all folds the seconds and the fits that stopped early (`doubts`).

    Of equals the one is best that changes fewer features, then the simpler rule, then the smaller
    C, then the one that came first.
    """

    def __init__(self, folds: int, metric: str) -> None:
        self.folds, self.metric = folds, metric
        self.best: dict[str, Any] | None = None
        self._rows: list[dict[str, Any]] = []
        self._open: dict[str, list[dict[str, Any]]] = {}  # settings that lack folds

    def add(self, unit: Unit, records: Iterable[Mapping[str, Any]]) -> None:
        """The results of a unit, as `fit_path` gives them."""
        path = {"features": unit.path.features, "parameters": unit.path.parameters}
        for record in records:
            for rule, values in record["rules"].items():
                setting = {**path, "C": record["C"], "rule": rule}
                self._add(setting, {**values, **{k: record[k] for k in ("seconds", "doubts")}})

    def rows(self) -> list[dict[str, Any]]:
        """All settings, the best first."""
        return sorted(self._rows, key=_order)

    def _add(self, setting: dict[str, Any], values: dict[str, Any]) -> None:
        key = json.dumps(setting, sort_keys=True)
        folds = self._open.setdefault(key, [])
        folds.append(values)
        if len(folds) < self.folds:
            return
        row = {**setting, **_summary(self._open.pop(key), self.metric)}
        self._rows.append(row)
        if self.best is None or _order(row) < _order(self.best):
            self.best = row


def _summary(folds: list[dict[str, Any]], metric: str) -> dict[str, Any]:
    """Means over the folds, the error of the one that decides, and sums of what was spent."""
    n, sums = len(folds), {name: math.fsum(fold[name] for fold in folds) for name in folds[0]}
    spent = {"seconds": sums.pop("seconds"), "doubts": int(sums.pop("doubts"))}
    means = {name: total / n for name, total in sums.items()}
    spread = math.fsum((fold[metric] - means[metric]) ** 2 for fold in folds)
    error = math.sqrt(spread / (n - 1) / n) if n > 1 else None
    return {"mean": means[metric], "error": error, **means, **spent}


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return -row["mean"], len(row["features"]), RANK[row["rule"]], row["C"] or 0.0
