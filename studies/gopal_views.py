"""The cells of the tables of [GopalYang2015], from outcomes by collection and method.

Figures that were not run are cells without one of ours, so that a table shows what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.figures_gopal import FIGURES, LEVELS, NAMES, SIZES
from studies.gopal_runs import COLUMNS
from studies.results import Cell
from studies.tables import Outcomes

PAIRS = (("BSVM", "RR-SVM"), ("BLR", "RR-LR"))
FLAT = {"RR-SVM": "BSVM", "RR-LR": "BLR", "HBLR": "MLR"}  # the same loss without a hierarchy


def unit_name(collection: str, method: str) -> str:
    """A method on a collection.

    >>> unit_name("news20", "TD")
    'news20: TD'
    """
    return f"{collection}: {method}"


def figures(
    outcomes: Outcomes, collections: Sequence[str], methods: Sequence[str],
    paper: Mapping[str, Mapping[str, tuple[float, ...]]] = FIGURES,
) -> list[Cell]:  # fmt: skip
    """Micro and macro F1 of methods on collections, as the runs gave them."""
    cells: list[Cell] = []
    for collection in collections:
        printed = paper[NAMES[collection]]
        for method in methods:
            name = unit_name(collection, method)
            if name in outcomes:
                cells += outcomes[name].cells
            elif method in printed:
                pairs = zip(COLUMNS, printed[method], strict=False)
                cells += [Cell(name, column, None, None, value) for column, value in pairs]
    return cells


def minutes(outcomes: Outcomes, collections: Sequence[str], methods: Sequence[str]) -> list[Cell]:
    """Minutes of training, and how many times those of the flat method with the same loss."""
    cells: list[Cell] = []
    for collection in collections:
        printed = FIGURES[NAMES[collection]]
        for method in methods:
            if method not in printed:
                continue
            name = unit_name(collection, method)
            mine = _minutes(outcomes, name)
            cells.append(Cell(name, "minutes", mine, None, printed[method][2]))
            flat = FLAT.get(method, "")
            theirs = _minutes(outcomes, unit_name(collection, flat))
            if flat in printed:
                ratio = mine / theirs if mine is not None and theirs else None
                known = printed[method][2] / printed[flat][2]
                cells.append(Cell(name, "times the flat one", ratio, None, known))
    return cells


def _minutes(outcomes: Outcomes, name: str) -> float | None:
    return outcomes[name].facts["fit_seconds"] / 60 if name in outcomes else None


def levels(outcomes: Outcomes, collections: Sequence[str]) -> list[Cell]:
    """Macro F1 by level, collection by collection; then the paper's."""
    ours = _groups(outcomes, collections, "levels", lambda entry: f"level {entry['level']}")
    return ours + _printed({f"level {level}": values for level, values in LEVELS.items()})


def sizes(outcomes: Outcomes, collections: Sequence[str]) -> list[Cell]:
    """Macro F1 by number of training rows, collection by collection; then the paper's."""
    ours = _groups(outcomes, collections, "sizes", lambda entry: f"{entry['train']} rows")
    return ours + _printed({f"{size} rows": values for size, values in SIZES.items()})


def _groups(
    outcomes: Outcomes, collections: Sequence[str], fact: str, named: Callable[[Any], str]
) -> list[Cell]:
    """Flat and recursive methods group by group, where both were run."""
    cells: list[Cell] = []
    for collection in collections:
        for flat, recursive in PAIRS:
            names = [unit_name(collection, method) for method in (flat, recursive)]
            if not all(name in outcomes for name in names):
                continue
            columns = (outcomes[name].facts[fact] for name in names)
            for a, b in zip(*columns, strict=True):
                cells += _beside(f"{collection}, {recursive}: {named(a)}", a, b)
    return cells


def _beside(row: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Cell]:
    """Flat, recursive, gain and size of one group; nothing where no class is in it."""
    if not a["nodes"]:
        return []
    gain = b["macro_f1"] - a["macro_f1"]
    return [
        Cell(row, "flat", a["macro_f1"], a["error"]),
        Cell(row, "recursive", b["macro_f1"], b["error"]),
        Cell(row, "gain", gain),
        Cell(row, "classes", a["nodes"]),
    ]


def _printed(rows: Mapping[str, tuple[float, float, int]]) -> list[Cell]:
    return [
        Cell(f"paper, DMOZ-2012: {name}", column, None, None, value)
        for name, (flat, recursive, n) in rows.items()
        for column, value in (
            ("flat", flat), ("recursive", recursive), ("gain", recursive - flat), ("classes", n)
        )
    ]  # fmt: skip
