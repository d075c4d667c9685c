"""Files that are written whole or not at all, by one process at a time."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError

fcntl: Any = None
with suppress(ImportError):  # not on Windows; there nothing is locked
    fcntl = importlib.import_module("fcntl")


def write_text(path: str | Path, text: str) -> None:
    """Write a text under a temporary name beside `path`, then rename it."""
    path = Path(path)
    if not path.parent.is_dir():
        raise UserError(f"There is no folder {path.parent} to write {path.name} into. Make it.")
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as handle:
            handle.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which ends with the process; wait for it if need be."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
