"""Stored outcomes: a JSON file per table, written whole after every unit.

    {"table", "seed", "versions", "machine": {"cores"}, "units": {name: outcome}, "tests"}

Every outcome carries the digest of the settings it was made with. A unit whose outcome is there
with the same digest need not run again; one with another digest is out of date.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from linnaeus.errors import FormatError
from studies.files import locked, write_text
from studies.results import Outcome, plain
from studies.tables import Context, Table, Unit

PACKAGES = ("linnaeus", "numpy", "scipy", "numba", "scikit-learn")


def digest(unit: Unit, context: Context) -> str:
    """What the outcome of a unit depends on, in twelve letters."""
    about = {
        "unit": unit.name, "settings": plain(unit.settings), "seed": context.seed,
        "quick": context.quick,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]


class Store:
    """The outcomes in a folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, table: str) -> Path:
        """The file of a table."""
        return self.folder / f"{table}.json"

    def record(self, table: str) -> dict[str, Any]:
        """Everything stored about a table; empty where nothing is."""
        path = self.path(table)
        if not path.exists():
            return {}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            units = found["units"]
            if found["table"] != table or not isinstance(units, dict):
                raise KeyError("table")
        except (ValueError, KeyError, TypeError):
            raise FormatError(
                path, f"this is not a record of the table {table}. Remove it, or use --fresh."
            ) from None
        return dict(found)

    def outcomes(self, table: str) -> dict[str, Outcome]:
        """{unit: outcome} of a table."""
        units = self.record(table).get("units", {})
        return {name: Outcome.from_dict(stored) for name, stored in units.items()}

    def tests(self, table: str) -> list[dict[str, Any]]:
        """The tests of a table: those of its units, then those between units."""
        record = self.record(table)
        own = [test for unit in record.get("units", {}).values() for test in unit["tests"]]
        return own + list(record.get("tests", []))

    def has(self, table: str, unit: Unit, context: Context) -> bool:
        """Whether a unit is there, made with these settings."""
        stored = self.record(table).get("units", {}).get(unit.name)
        return stored is not None and stored.get("settings") == digest(unit, context)

    def add(self, table: Table, unit: Unit, outcome: Outcome, context: Context) -> None:
        """Keep an outcome; when this returns it is on disk. Other processes may add theirs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            record = self._with(table, unit, outcome, context)
            write_text(self.path(table.name), as_text(record))

    def _with(self, table: Table, unit: Unit, outcome: Outcome, context: Context) -> dict[str, Any]:
        """The record of a table, with one more outcome; units that it has no more are dropped."""
        units = self.record(table.name).get("units", {})
        units[unit.name] = {"settings": digest(unit, context), **outcome.to_dict()}
        units = {known.name: units[known.name] for known in table.units if known.name in units}
        outcomes = {name: Outcome.from_dict(stored) for name, stored in units.items()}
        tests = [] if table.tests_of is None else plain(table.tests_of(outcomes))
        return {
            "table": table.name,
            "seed": context.seed,
            "versions": versions(),
            "machine": {"cores": os.cpu_count()},
            "units": units,
            "tests": tests,
        }

    def clear(self, table: str) -> None:
        """Forget a table."""
        self.path(table).unlink(missing_ok=True)


def versions() -> dict[str, str]:
    """Of Python and the packages that figures depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def as_text(record: Any) -> str:
    """JSON with a line for every cell, test and fact: small changes make small differences."""
    return _lines(record, 0) + "\n"


def _lines(value: Any, depth: int) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or not value or (depth > 1 and len(flat) < 100):
        return flat
    inner, outer = " " * (depth + 1), " " * depth
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_lines(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{outer}}}"
    if all(isinstance(item, int | float) for item in value):
        return flat
    parts = [_lines(item, depth + 1) for item in value]
    return "[\n" + ",\n".join(inner + part for part in parts) + f"\n{outer}]"
