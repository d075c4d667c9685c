"""The file model.json: what a model is, the checksums of its files, and its state.

The first entry is the SHA-256 of everything behind it, so a change of a single byte is noticed.
The other entries are one per line: format, format_version, linnaeus (the version that wrote it),
about, taxonomy, files and state. What was measured is not here but in made.json.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from linnaeus.errors import FormatError, shorten

NAME = "model.json"
FORMAT, VERSION = "linnaeus model", 4  # older ones are read as well; see upgrades.py
_FIRST = b'{\n"checksum": "'
_HEX = 64


def dump(value: Any, indent: int | None = None) -> str:
    """Strict JSON; escaped throughout where there are lone surrogates, which UTF-8 cannot hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, allow_nan=False, indent=indent)
    return text


def parse(path: Path, raw: bytes) -> Any:
    """The value of a JSON file."""
    try:
        return json.loads(raw.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"is not valid JSON ({error})") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def damaged(path: Path, what: str) -> FormatError:
    """An error about a file that is not as it was written."""
    return FormatError(
        path, f"the file {what}. Copy the model again from where it is whole, or train it again."
    )


def compose(entries: dict[str, Any]) -> bytes:
    """The bytes of the file; `about` is indented, for people."""
    lines = [f"{dump(key)}: {dump(v, 1 if key == 'about' else None)}" for key, v in entries.items()]
    rest = ('",\n' + ",\n".join(lines) + "\n}\n").encode()
    return _FIRST + hashlib.sha256(rest).hexdigest().encode() + rest


def read(path: Path) -> dict[str, Any]:
    """The entries of the file, once it is seen to be what was written."""
    raw = path.read_bytes()
    found = parse(path, raw)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise FormatError(
            path,
            f"it was not written by linnaeus: its format is not {FORMAT!r}. Name the folder of a "
            f"saved model.",
        )
    _check_version(path, found.get("format_version"))
    at = len(_FIRST) + _HEX
    if raw[:at] != _FIRST + hashlib.sha256(raw[at:]).hexdigest().encode():
        raise damaged(path, "was changed since it was written: its checksum is wrong")
    return found


def _check_version(path: Path, version: Any) -> None:
    """Refuse formats that are not known."""
    whole = type(version) is int
    if whole and 1 <= version <= VERSION:
        return
    raise FormatError(
        path,
        f"it was written by a newer linnaeus (format {version}); this one reads 1 to {VERSION}. "
        f"Upgrade: pip install -U linnaeus."
        if whole and version > VERSION
        else f"it is of the unknown format {shorten(version)}; this linnaeus reads 1 to {VERSION}. "
        f"Copy the model again from where it is whole, or train it again.",
    )


def plain(value: Any) -> Any:
    """What people are told, as JSON: NumPy's numbers as Python's, not-a-number as null."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        values = value if isinstance(value, list | tuple) else sorted(value, key=repr)
        return [plain(v) for v in values]
    return getattr(value, "__name__", type(value).__name__)
