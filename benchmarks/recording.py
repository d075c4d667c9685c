"""Results of a run: a table on the screen, and the same as JSON in ``benchmarks/results``.

A record says with what command, on what machine and with which versions it was measured.
`benchmarks.report` makes one page of all records.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
DATA = RESULTS.parents[2] / "shared" / "data"  # beside the checkout
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def collections() -> Path | None:
    """The folder of the collections, if there is one: that of COLLECTIONS, or shared/data."""
    path = Path(os.environ.get("COLLECTIONS", DATA))
    return path if path.is_dir() else None


def circumstances() -> dict[str, Any]:
    """Versions, machine and date."""
    versions = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return {
        "versions": versions,
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def publish(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    notes: str = "",
    plots: Sequence[str] = (),
    needs: str = "",
    benchmark: str = "",
    facts: dict[str, Any] | None = None,
) -> None:
    """Print the table and write ``results/<name>.json``.

    plots : names of pictures in the folder of results
    needs : variables to set before the command, "PEERS_DATA=data", say
    benchmark : what to run, where that is not `name`
    facts : figures beside the table that others reckon with
    """
    record = {
        "title": title,
        "command": f"{needs} python -m benchmarks {benchmark or name}".strip(),
        **circumstances(),
        "notes": notes,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "plots": list(plots),
        **({} if facts is None else {"facts": facts}),
    }
    print(title)
    print(as_text(columns, rows))
    if notes:
        print(notes)
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")


def shown(value: Any) -> str:
    """A cell of a table: three digits of a float, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def as_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of aligned columns: the first to the left, the others to the right."""
    cells = [list(columns), *([shown(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if j else text.ljust(width)
            for j, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def in_fresh_process(module: str, *arguments: str, **variables: str) -> dict[str, Any]:
    """What ``python -m module arguments`` prints last, which must be JSON."""
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, **variables},
        cwd=RESULTS.parents[1],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return answer
