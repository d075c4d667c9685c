"""A journal of finished work: one line of JSON each, on disk before the next begins.

The first line tells what the work belongs to. A search that was stopped, even by a crash, takes up
its journal and goes on: what is in there is not done again. A last line that was cut off while it
was written is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from linnaeus.errors import FormatError, UserError
from linnaeus.files import atomic_write

MARK = "linnaeus tune journal"


class Journal:
    """Results by key, in memory and where there is a path also on disk.

    path : the file; None keeps results in memory only
    about : what the results depend on, {name: value}; a journal about anything else is refused
    fresh : start over, whatever an older journal holds
    """

    def __init__(
        self, path: str | Path | None, about: Mapping[str, Any], fresh: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self.done: dict[str, Any] = {}
        self._lock = Lock()
        if self.path is None:
            return
        head = {"kind": MARK, "about": json.loads(json.dumps(about, default=str))}
        found = self._read(self.path)
        if found is None or fresh:
            with atomic_write(self.path) as handle:
                handle.write(json.dumps(head) + "\n")
        else:
            self._take_up(self.path, found, head["about"])

    def add(self, key: str, result: Any) -> None:
        """Keep a result; when this returns it is on disk."""
        with self._lock:
            self.done[key] = result
            if self.path is None:
                return
            with self.path.open("ab") as handle:
                handle.write(json.dumps({"key": key, "result": result}).encode() + b"\n")
                handle.flush()
                os.fsync(handle.fileno())

    # -- reading ------------------------------------------------------------------------------

    @staticmethod
    def _read(path: Path) -> bytes | None:
        """What the file holds; None where there is none, or nothing in it."""
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except IsADirectoryError:
            raise UserError(f"The journal {path} is a folder. Name a file.") from None
        if raw and not _is_head(raw.partition(b"\n")[0]):
            raise UserError(
                f"{path} is there, but not a journal of linnaeus tune, so nothing is written to "
                f"it. Name another file with --journal."
            )
        return raw or None

    def _take_up(self, path: Path, raw: bytes, about: dict[str, Any]) -> None:
        """Take over what is done, and drop a last line that was cut off."""
        whole = raw[: raw.rfind(b"\n") + 1]
        head, *lines = whole.splitlines()
        _refuse_other(path, json.loads(head)["about"], about)
        for number, line in enumerate(lines, 2):
            try:
                entry = json.loads(line)
                self.done[entry["key"]] = entry["result"]
            except (ValueError, TypeError, KeyError):
                raise FormatError(
                    path, "the journal is damaged. Start over with --fresh.", number
                ) from None
        if len(whole) < len(raw):
            os.truncate(path, len(whole))


def _is_head(line: bytes) -> bool:
    try:
        found = json.loads(line)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("kind") == MARK and "about" in found


def _refuse_other(path: Path, found: dict[str, Any], about: dict[str, Any]) -> None:
    other = [name for name in about if found.get(name) != about[name]]
    if other:
        raise UserError(
            f"The journal {path} belongs to another search: {', '.join(other)} differ. Start over "
            f"with --fresh, name another file with --journal, or give what was given then."
        )
