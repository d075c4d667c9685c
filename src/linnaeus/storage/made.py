"""The file made.json: when and with what a model was made, and all seconds that were measured.

It is the only file that differs when the same is trained again, so nothing depends on it: no
checksum covers it, and a model without it is whole but for its seconds, which are then not numbers.

    date       when it was written, in universal time
    versions   of Python, of linnaeus and of the libraries below it
    seconds    of reading and training, where they are known; and by the path in the state, where
               or what is told about the model has a number of that name, such as
               "model/estimator/trace_/0/seconds"
"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError
from linnaeus.storage import document

NAME = "made.json"
MEASURED = "seconds"  # the name of what is measured, and so never the same twice
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def write(folder: Path, version: str, seconds: Mapping[str, float]) -> None:
    """Write the file; `version` is of linnaeus."""
    told = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"linnaeus": version, "python": platform.python_version(), **_versions()},
        "seconds": document.plain(dict(seconds)),
    }
    (folder / NAME).write_text(document.dump(told, 1) + "\n", "utf-8", newline="\n")


@cache
def _versions() -> dict[str, str]:
    """Of the libraries; looked up without importing them, once."""
    found = {}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def read(folder: Path) -> dict[str, Any]:
    """What the file says; nothing if it is missing or damaged."""
    with suppress(OSError, UserError):
        told = document.parse(folder / NAME, (folder / NAME).read_bytes())
        return told if isinstance(told, dict) else {}
    return {}


def seconds(told: Mapping[str, Any]) -> dict[str, float]:
    """The seconds that the file holds by name, of those that are numbers."""
    held = told.get("seconds")
    items = held.items() if isinstance(held, dict) else ()
    return {name: float(s) for name, s in items if type(s) in (int, float) and math.isfinite(s)}


def split(value: Any, path: str) -> tuple[Any, dict[str, float]]:
    """What people are told without what was measured, and this by its path."""
    found: dict[str, float] = {}
    return _kept(value, path, found), found


def _kept(value: Any, path: str, found: dict[str, float]) -> Any:
    if isinstance(value, list):
        return [_kept(part, f"{path}/{i}", found) for i, part in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get(MEASURED), float):
        value = dict(value)
        found[f"{path}/{MEASURED}"] = value.pop(MEASURED)
    return {key: _kept(part, f"{path}/{key}", found) for key, part in value.items()}
