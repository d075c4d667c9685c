"""What the readers of original files share: finding files, and saying what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from linnaeus.errors import UserError, shorten
from linnaeus.io.find import PARTS, listing
from linnaeus.taxonomy.formats.guess import stem_and_suffix


def folder_of(path: str | Path, wanted: str, origin: str) -> Path:
    """The path, if it is a folder; `wanted` says what it should hold, `origin` who publishes it."""
    folder = Path(path)
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "is not there"
        raise UserError(f"{folder} {what}; it should be a folder with {wanted}. {origin}")
    return folder


def missing(folder: Path, wanted: str, origin: str) -> UserError:
    """An error for a folder that lacks what was looked for."""
    return UserError(f"{folder} lacks {wanted}. {listing(folder)} {origin}")


def named_file(folder: Path, stems: Iterable[str], suffixes: Sequence[str]) -> Path | None:
    """The first file called by one of these stems, with one of these suffixes, plain or .gz."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    for stem in stems:
        for path in files:
            found, suffix = stem_and_suffix(path)
            if found.lower() == stem and suffix in suffixes:
                return path
    return None


def check_parts(parts: Sequence[str]) -> tuple[str, ...]:
    """The parts asked for, in their order; a single one may be given as a text."""
    wanted = (parts,) if isinstance(parts, str) else tuple(parts)
    if not wanted or not set(wanted) <= set(PARTS):
        raise UserError(f"parts is {shorten(parts)}. Use some of {', '.join(PARTS)}, as a list.")
    return tuple(part for part in PARTS if part in wanted)
