"""``python -m benchmarks report``: all records in ``benchmarks/results`` as one HTML page.

The page holds everything it shows, pictures included, and can be sent as one file.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.recording import RESULTS, shown

STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15em .8em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
p.how { color: #666; font-size: 13px; }
img { max-width: 100%; }
"""


def main() -> None:
    page = RESULTS / "report.html"
    records = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    if not records:
        print("There are no results yet. Measure first: python -m benchmarks [name ...]")
        return
    page.write_text(render(records, RESULTS), encoding="utf-8")
    print(f"{len(records)} results in {page}")


def render(records: dict[str, dict[str, Any]], folder: Path) -> str:
    """The page of named records whose pictures are in `folder`."""
    sections = "\n".join(_section(name, record, folder) for name, record in records.items())
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>linnaeus, measured</title><style>{STYLE}</style></head>\n"
        f"<body><h1>linnaeus, measured</h1>\n{sections}\n</body></html>\n"
    )


def _section(name: str, record: dict[str, Any], folder: Path) -> str:
    columns, rows = table_of(record)
    parts = [f"<h2 id='{escape(name)}'>{escape(record.get('title', name))}</h2>"]
    parts += [_picture(folder / plot) for plot in record.get("plots", [])]
    parts.append(_table(columns, rows))
    if record.get("notes"):
        parts.append(f"<p>{escape(record['notes'])}</p>")
    parts.append(f"<p class='how'><code>{escape(record['command'])}</code> {_machine(record)}</p>")
    return "\n".join(parts)


def table_of(record: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows; ``results[group][model] = {column: value}`` is spread out to such."""
    if "columns" in record:
        return record["columns"], record["rows"]
    flat = [
        (f"{group} {model}", values)
        for group, models in record["results"].items()
        for model, values in models.items()
    ]
    columns = list(dict.fromkeys(key for _, values in flat for key in values))
    return ["", *columns], [[name, *(values.get(c) for c in columns)] for name, values in flat]


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(shown(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _picture(path: Path) -> str:
    """An SVG picture inside the page."""
    if not path.exists():
        return f"<p>The picture {escape(path.name)} is missing.</p>"
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f"<img alt='{escape(path.stem)}' src='data:image/svg+xml;base64,{data}'>"


def _machine(record: dict[str, Any]) -> str:
    if "versions" not in record:
        return ""
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    cpus, machine, load = record["cpus"], record["machine"], record["load"]
    return escape(f"- {record['date']}, {cpus} cores ({machine}), load {load}; {versions}")
