"""All tables by their names, paper by paper.

Every module named here holds ``TABLES``, a sequence of `Table`.
"""

from __future__ import annotations

import importlib
import importlib.util

from linnaeus.reproduction.tables import Table

SOURCES = ("rousu", "cai", "gopal", "matrix")


def _all() -> dict[str, Table]:
    found: dict[str, Table] = {}
    for source in SOURCES:
        name = f"linnaeus.reproduction.{source}"
        if importlib.util.find_spec(name) is None:
            continue
        for table in importlib.import_module(name).TABLES:
            found[table.name] = table
    return found


TABLES: dict[str, Table] = _all()
