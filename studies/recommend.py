"""From the matrix of all methods to the method that is recommended for a kind of data.

A method is recommended where it takes such data, finished on all collections with as many labels a
row, and has the best mean rank in micro F1; ties go to the faster one. Kinds with a single
collection are left to wider groups, trees and DAGs together, or all with such labels: one
collection is no evidence for others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.model import MANY_CLASSES, MANY_ROWS, Kind, kind_of, unsuited
from studies.files import write_text
from studies.rankings import NAME, Facts, ranking_of
from studies.ranks import Ranking
from studies.results import Cell
from studies.store import Store, as_text

LABELS = {"one": "one label a row", "several": "several labels a row"}
COMMAND = "python -m studies recommend -o src/linnaeus/recommendations.json"


def write(store: Store, path: str | Path) -> None:
    """The recommendations from a stored matrix, as a file; equal results give equal bytes."""
    found = recommend([outcome.facts for outcome in store.outcomes(NAME).values()])
    write_text(path, as_text({"made": _made(Path(path), found), **found}))


def _made(path: Path, found: dict[str, Any]) -> str:
    """The day on which such recommendations were first made: that of the file, else today."""
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
        made = str(old.pop("made"))
    except (OSError, ValueError, KeyError):
        old = made = None
    return made if made and old == found else datetime.now(UTC).date().isoformat()


def cells(found: Sequence[Facts]) -> list[Cell]:
    """The recommendations as a table: a row for every kind of data, with its method."""
    try:
        advice = recommend(found)
    except UserError:  # the study has hardly begun
        return []
    rows = {f"all with {LABELS[labels]}": entry for labels, entry in advice["general"].items()}
    rows |= {str(Kind.of(group)): group for group in advice["groups"]}
    columns = {"mean rank": "rank", "of so many methods": "of", "CPU s to train": "train_seconds"}
    return [
        cell
        for kind, entry in rows.items()
        for cell in (
            *(Cell(f"{kind}: {entry['method']}", c, entry[key]) for c, key in columns.items()),
            Cell(f"{kind}: {entry['method']}", "collections", len(entry["collections"])),
        )
    ]


def recommend(found: Sequence[Facts]) -> dict[str, Any]:
    """The recommendations, as plain data."""
    by_labels = {labels: [f for f in found if _kind(f).labels == labels] for labels in LABELS}
    return {
        "from": {
            "records": f"studies/records/{NAME}.json",
            "results": len(found),
            "figure": "micro_f1",
            "command": COMMAND,
        },
        "many": {"rows": MANY_ROWS, "classes": MANY_CLASSES},
        "general": {labels: _general(labels, own) for labels, own in by_labels.items()},
        "groups": [group for own in by_labels.values() for group in _groups(own)],
        "ranks": {labels: _ranks(own) for labels, own in by_labels.items()},
    }


def _kind(facts: Facts) -> Kind:
    data = facts["data"]
    return kind_of(data["several"], data["tree"], data["rows"], data["classes"])


def _general(labels: str, found: list[Facts]) -> dict[str, Any]:
    """The best of the methods that take any taxonomy."""
    ranking = ranking_of(labels, found)
    best = None if ranking is None else _best(ranking, found, found, tree=False)
    if best is None:
        raise UserError(
            f"The stored matrix has too few results with {labels} label(s) a row to recommend a "
            f"method. Run python -m studies run --table {NAME} first."
        )
    return best


def _groups(found: list[Facts]) -> list[dict[str, Any]]:
    """The kinds of data with evidence enough, each with its best method; also over all shapes."""
    kinds = {_kind(f) for f in found}
    wider = {kind.any_shape() for kind in kinds}
    groups = []
    for kind in (*sorted(kinds), *sorted(wider)):
        own = [f for f in found if kind.covers(_kind(f))]
        if kind in wider and len({_kind(f).shape for f in own}) == 1:
            continue  # the same as the group of this shape
        alike = [f for f in found if kind in wider or kind.shape == _kind(f).shape]
        ranking = ranking_of(str(kind), own)
        best = None if ranking is None else _best(ranking, own, alike, kind.shape == "tree")
        if best is not None:
            groups.append(kind._asdict() | best)
    return groups


def _best(
    ranking: Ranking, found: list[Facts], must: list[Facts], tree: bool
) -> dict[str, Any] | None:
    """The method that takes such taxonomies, has all results that it must, and ranks best."""
    several = found[0]["data"]["several"]
    entries = [
        (rank, _seconds(method, found), method)
        for method, rank in zip(ranking.methods, ranking.ranks, strict=True)
        if not unsuited(method, several, tree) and _proven(method, must)
    ]
    if not entries:
        return None
    rank, seconds, method = min(entries)
    return {
        "method": method,
        "rank": round(rank, 4),
        "of": len(ranking.methods),
        "train_seconds": seconds,
        "collections": list(ranking.collections),
    }


def _proven(method: str, must: list[Facts]) -> bool:
    """Whether a method has a result on every collection that it takes."""
    done = {
        f["collection"] for f in must if f["method"] == method and {"figures", "unsuited"} & set(f)
    }
    return done == {f["collection"] for f in must}


def _seconds(method: str, found: list[Facts]) -> float:
    """The mean CPU seconds of training."""
    own = [f["costs"]["train_seconds"] for f in found if f["method"] == method and "costs" in f]
    return round(float(np.mean(own)), 2)


def _ranks(found: list[Facts]) -> dict[str, Any]:
    """All methods by rank, on the trees: there all that take such labels apply."""
    ranking = ranking_of("", [f for f in found if f["data"]["tree"]])
    if ranking is None:
        return {"collections": [], "methods": {}}
    pairs = zip(ranking.methods, ranking.ranks, strict=True)
    return {
        "collections": list(ranking.collections),
        "methods": {method: {"rank": round(rank, 4)} for method, rank in pairs},
    }
