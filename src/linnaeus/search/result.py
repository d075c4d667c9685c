"""What a search found, and how to say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linnaeus.model import Model


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    best : the first row of `table`
    default : the best row with the settings that `train` takes by itself, if they were tried
    table : a dict per setting, the best first; see `linnaeus.search.table`
    model : trained on all rows with the best setting, if asked for
    """

    method: str
    why: str
    kind: str  # of the features
    parameters: dict[str, Any]  # fixed ones
    feature_parameters: dict[str, Any]  # fixed ones
    metric: str
    folds: int
    seed: int
    fits: int
    resumed: int  # units that an older journal had
    seconds: float
    table: list[dict[str, Any]]
    default: dict[str, Any] | None
    model: Model | None = None

    @property
    def best(self) -> dict[str, Any]:
        return self.table[0]

    @property
    def doubts(self) -> int:
        """Fits that stopped before they reached their tolerance."""
        fits = {str([row[k] for k in ("features", "parameters", "C")]): row for row in self.table}
        return sum(row["doubts"] for row in fits.values())

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
        """All that a model keeps of its search, for JSON."""
        names = ("metric", "folds", "seed", "fits", "seconds", "doubts", "best", "default", "table")
        return {name: getattr(self, name) for name in names}


def short(row: Mapping[str, Any]) -> str:
    """A setting in a few words, after its value."""
    return f"{row['mean']:.3f}".removeprefix("0") + ": " + ", ".join(setting(row))


def setting(row: Mapping[str, Any]) -> list[str]:
    """What a row of the table stands for: name=value each, and the rule."""
    C = {} if row["C"] is None else {"C": f"{row['C']:g}"}
    named = {**C, **row["parameters"], **row["features"]}
    return [f"{name}={value}" for name, value in named.items()] + [row["rule"]]
