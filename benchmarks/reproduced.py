"""Tables of `linnaeus.reproduction` as records: what is not stored yet is run first.

Looks for the folder ``shared/data`` beside the checkout, or the one that COLLECTIONS names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.recording import publish
from linnaeus.reproduction.registry import TABLES
from linnaeus.reproduction.running import reproduce
from linnaeus.reproduction.store import Store
from linnaeus.reproduction.tables import Outcomes

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "docs" / "reproduction"
HEADS = ("row", "figure", "ours", "±", "paper")


def folder() -> Path | None:
    """Where the collections are, if anywhere."""
    path = Path(os.environ.get("COLLECTIONS", ROOT.parent / "shared" / "data"))
    return path if path.is_dir() else None


def outcomes_of(name: str) -> Outcomes:
    """Of a table: those that are stored, and those that can be had now."""
    where, table = folder(), TABLES[name]
    if where is not None:
        for done in reproduce([name], where, STORE):
            if done.reason:
                print(f"{done.table}, {done.unit}: {done.state}, {done.reason}", file=sys.stderr)
    return Store(STORE).outcomes(table.of or name)


def publish_table(
    name: str, record: str, *, needs: str = "", benchmark: str, plots: Sequence[str] = ()
) -> None:
    """A table of the reproduction as ``results/<record>.json``."""
    table = TABLES[name]
    cells: list[Any] = [list(cell) for cell in table.cells(outcomes_of(name))]
    publish(
        record, f"{table.title}, beside {table.source}", HEADS, cells,
        notes=f"{table.protocol} {table.why}", plots=plots, needs=needs, benchmark=benchmark,
    )  # fmt: skip
