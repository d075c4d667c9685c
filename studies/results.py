"""What a rerun of a published study gives: figures beside the paper's, tests and facts.

An `Outcome` becomes plain data and comes back unchanged, so what is stored is all there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Cell(NamedTuple):
    """One figure of a table; None where there is none.

    error : the standard error of our figure
    paper : the figure printed in the paper
    """

    row: str
    column: str
    ours: float | None
    error: float | None = None
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper

    @property
    def differs(self) -> bool | None:
        """Whether the difference is more than two standard errors; None where unknown."""
        if self.difference is None or self.error is None:
            return None
        return abs(self.difference) > 2 * self.error


@dataclass(frozen=True)
class Outcome:
    """What one unit of work gave.

    Attributes
    ----------
    cells : the figures of the table
    tests : of significance; each has at least name, first, second, statistic and pvalue
    facts : whatever else claims and other tables need: values by level, the C chosen, sizes
    seconds : CPU time
    notes : sentences for the reader
    """

    cells: list[Cell] = field(default_factory=list)
    tests: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON.

        >>> Outcome([Cell("a", "b", np.float32(0.5))]).to_dict()["cells"]
        [['a', 'b', 0.5, None, None]]
        """
        return {
            "cells": plain(self.cells),
            "tests": plain(self.tests),
            "facts": plain(self.facts),
            "seconds": round(float(self.seconds), 3),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Outcome:
        """What `to_dict` made."""
        return cls(
            [Cell(*cell) for cell in stored["cells"]], stored["tests"], stored["facts"],
            stored["seconds"], stored["notes"],
        )  # fmt: skip


def plain(value: Any) -> Any:
    """A value in terms of JSON: numbers of NumPy become Python's, arrays lists, NaN null."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
