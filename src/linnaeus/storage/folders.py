"""Folders that tasks open by path, such as a model: all workers of a machine share their pages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Folder(NamedTuple):
    """A folder of files, known by the digest of the first, which tells the checksums of the others.

    A plain value: tasks take it as it is. A machine that does not see the folder is sent it once.
    """

    path: str
    names: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, path: Path, names: Sequence[str]) -> Folder:
        """A folder with those of the named files that are in it, the first of which must be."""
        path = path.resolve()
        there = tuple(name for name in names if (path / name).is_file())
        return cls(str(path), there, digest_of(path / names[0]))

    def is_at(self, path: Path) -> bool:
        """Whether these very files are in a folder, as far as its first file tells."""
        first = path / self.names[0]
        return first.is_file() and digest_of(first) == self.digest


def digest_of(path: Path) -> str:
    """A name for a file by its content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
