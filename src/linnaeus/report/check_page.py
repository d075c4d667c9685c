"""What `linnaeus check` found, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linnaeus import __version__
from linnaeus.files import atomic_write
from linnaeus.report.page import environment


def write_check(found: dict[str, Any], path: str | Path) -> None:
    """Write the findings as one HTML file, whole or not at all.

    Parameters
    ----------
    found : dict
        What `linnaeus check --json` prints.
    path : str or Path
        File to write.
    """
    levels = {
        "warning": "Probably mistakes",
        "note": "Worth knowing",
    }
    reading = [f for f in found["findings"] if f["kind"] == "reading"]
    others = [f for f in found["findings"] if f["kind"] != "reading"]
    groups = [(title, [f for f in others if f["level"] == key]) for key, title in levels.items()]
    page = (
        environment()
        .get_template("check.html")
        .render(
            found=found,
            reading=reading,
            groups=[group for group in groups if group[1]],
            version=__version__,
        )
    )
    with atomic_write(path) as file:
        file.write(page)
