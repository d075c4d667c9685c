"""The description of a published table: where it is from, by what protocol, and its units of work.

A unit is the smallest piece that is stored and not run again: a method on a collection, say. A
table may instead be a view of another one whose units give its figures too, as training times come
from the runs that give F1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies.results import Cell, Outcome

Step = Callable[[str, int, int], None]
Outcomes = Mapping[str, Outcome]  # by the names of units


def no_step(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class Context:
    """What a unit is run with.

    data : the folder with the collections
    step : told what is done, how much of it, and of how much
    quick : few folds and repetitions, for tests only
    """

    data: Path
    seed: int = 0
    jobs: int = 1
    step: Step = no_step
    quick: bool = False


@dataclass(frozen=True)
class Unit:
    """A piece of work.

    needs : the folders of collections that it reads
    settings : what its outcome depends on besides the seed (grids, numbers of folds); when they
        change, a stored outcome is out of date
    """

    name: str
    needs: tuple[str, ...]
    run: Callable[[Context], Outcome]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def missing(self, data: Path) -> list[str]:
        """The collections that are not there."""
        return [name for name in self.needs if not (data / name).is_dir()]


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper.

    Attributes
    ----------
    source : "[Rousu2006] Table 1"
    protocol : folds, repetitions, choice of C, cut-off and tests, in a sentence or two
    unit_of_figures : "micro F1 in %", say
    digits : after the point
    why : why our figures differ from the paper's
    minutes : CPU minutes of all units, as measured
    tests_of : from all outcomes of the table, tests between units
    of, view : the table whose outcomes this one shows, and the cells it makes of them
    picture : draws the outcomes, where there is a picture, into a file (SVG)
    """

    name: str
    title: str
    source: str
    protocol: str
    unit_of_figures: str
    digits: int
    units: tuple[Unit, ...]
    why: str
    minutes: float
    tests_of: Callable[[Outcomes], list[dict[str, Any]]] | None = None
    of: str = ""
    view: Callable[[Outcomes], list[Cell]] | None = None
    picture: Callable[[Outcomes, Path], None] | None = None

    def cells(self, outcomes: Outcomes) -> list[Cell]:
        """The figures, in the order of the units."""
        if self.view is not None:
            return self.view(outcomes)
        found = (outcomes[unit.name] for unit in self.units if unit.name in outcomes)
        return [cell for outcome in found for cell in outcome.cells]
