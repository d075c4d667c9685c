"""Write examples so that they can be read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from linnaeus.collection import Part
from linnaeus.errors import UserError
from linnaeus.files import atomic_write


def write_jsonl(part: Part, path: str | Path) -> None:
    """Write a part of texts as JSON lines, whole or not at all; gzip when the name ends in .gz."""
    if part.texts is None:
        raise UserError(
            f"Only texts can be written to {path}, but this part has features. Keep its own file."
        )
    metadata = part.metadata or [{}] * len(part)
    with atomic_write(path) as handle:
        rows = zip(part.ids, part.texts, part.labels, metadata, strict=True)
        for name, text, labels, others in rows:
            handle.write(_line(others | {"id": name, "text": text, "labels": labels}))


def _line(row: dict[str, Any]) -> str:
    first = ("id", "text", "labels")
    row = {key: row[key] for key in (*first, *(k for k in row if k not in first))}
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can only escape
        line = json.dumps(row)
    return f"{line}\n"
