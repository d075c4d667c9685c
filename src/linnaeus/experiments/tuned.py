"""What a search found: a row per setting with what it reached on all folds, the best first."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from linnaeus.decisions.rules import RULES
from linnaeus.experiments.strategy import FoldPath
from linnaeus.model.methods import OWN
from linnaeus.model.model import Model

RANK = {name: place for place, name in enumerate((OWN, *RULES))}


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes
    ----------
    method : str
        Name of the method.
    why : str
        Why this method.
    kind : str
        Kind of the features.
    parameters : dict
        Fixed parameters.
    feature_parameters : dict
        Fixed parameters of the features.
    metric : str
        What decided.
    folds : int
        Folds of the cross-validation.
    seed : int
        Seed of everything that is drawn.
    fits : int
        Fits done.
    resumed : int
        Units that an older journal had.
    seconds : float
        Time taken.
    table : list of dict
        A dict per setting, the best first.
    default : dict or None
        The best row with the settings that `train` takes by itself, if they were tried.
    model : Model or None
        Trained on all rows with the best setting, if asked for.
    """

    method: str
    why: str
    kind: str
    parameters: dict[str, Any]
    feature_parameters: dict[str, Any]
    metric: str
    folds: int
    seed: int
    fits: int
    resumed: int
    seconds: float
    table: list[dict[str, Any]]
    default: dict[str, Any] | None
    model: Model | None = None

    @property
    def best(self) -> dict[str, Any]:
        """The first row of `table`."""
        return self.table[0]

    @property
    def unconverged(self) -> int:
        """Fits that stopped before they reached their tolerance."""
        fits = {str([row[k] for k in ("features", "parameters", "C")]): row for row in self.table}
        return sum(row["unconverged"] for row in fits.values())

    @property
    def best_parameters(self) -> dict[str, Any]:
        """Everything that `train` needs as `parameters`."""
        C = {} if self.best["C"] is None else {"C": self.best["C"]}
        return {**self.parameters, **self.best["parameters"], **C}

    @property
    def best_feature_parameters(self) -> dict[str, Any]:
        """Everything that `train` needs as `feature_parameters`."""
        return {**self.feature_parameters, **self.best["features"]}

    def to_dict(self) -> dict[str, Any]:
        """All that a model keeps of its search, for JSON.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        names = "metric folds seed fits seconds unconverged best default table"
        return {name: getattr(self, name) for name in names.split()}


def short(row: Mapping[str, Any]) -> str:
    """A setting in a few words, after its value."""
    return f"{row['mean']:.3f}".removeprefix("0") + ": " + ", ".join(setting_words(row))


def setting_words(row: Mapping[str, Any]) -> list[str]:
    """What a row of the table stands for: name=value each, and the rule.

    Parameters
    ----------
    row : dict
        A row of `Tuned.table`.

    Returns
    -------
    list of str
    """
    C = {} if row["C"] is None else {"C": f"{row['C']:g}"}
    named = {**C, **row["parameters"], **row["features"]}
    return [f"{name}={value}" for name, value in named.items()] + [row["rule"]]


class SettingsTable:
    """Settings with their values on the folds, added unit by unit.

    A setting counts when it is done on all folds. Its row has features, parameters, C and rule; the
    mean of `metric` over the folds with its standard `error` (None for one fold); the means of all
    metrics; and over all folds the seconds and the fits that stopped early (`unconverged`).

    Of equals the one is best that changes fewer features, then the simpler rule, then the smaller
    C, then the one that came first.
    """

    def __init__(self, folds: int, metric: str) -> None:
        self.folds, self.metric = folds, metric
        self.best: dict[str, Any] | None = None
        self._rows: list[dict[str, Any]] = []
        self._open: dict[str, list[dict[str, Any]]] = {}  # settings that lack folds

    def add(self, unit: FoldPath, records: Iterable[Mapping[str, Any]]) -> None:
        """The results of a unit, as `fit_path` gives them."""
        path = {"features": unit.path.features, "parameters": unit.path.parameters}
        for record in records:
            for rule, values in record["rules"].items():
                setting = {**path, "C": record["C"], "rule": rule}
                self._add(setting, {**values, **{k: record[k] for k in ("seconds", "unconverged")}})

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
    spent = {"seconds": sums.pop("seconds"), "unconverged": int(sums.pop("unconverged"))}
    means = {name: total / n for name, total in sums.items()}
    spread = math.fsum((fold[metric] - means[metric]) ** 2 for fold in folds)
    error = math.sqrt(spread / (n - 1) / n) if n > 1 else None
    return {"mean": means[metric], "error": error, **means, **spent}


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return -row["mean"], len(row["features"]), RANK[row["rule"]], row["C"] or 0.0
