"""A zip of a folder, unpacked where nobody sees it until the program ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from functools import lru_cache
from pathlib import Path

from linnaeus.errors import FormatError
from linnaeus.files import missing

GROWTH, SMALL = 200, 1 << 30  # an archive may grow so many times, or to so many bytes


def unpacked(data: str | Path) -> Path:
    """The folder or file itself; for a zip what it holds, a folder or a single file.

    Parameters
    ----------
    data : str or Path
        Folder, file or zip.

    Returns
    -------
    Path
    """
    data = Path(data)
    if not data.exists():
        raise missing(data)
    if data.suffix.lower() != ".zip" or data.is_dir():
        return data
    return _inner(_extracted(str(data.resolve()), data.stat().st_mtime_ns))


@lru_cache(maxsize=8)
def _extracted(path: str, changed: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="linnaeus-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = folder / Path(path).stem
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if not m.is_dir() and _is_meant(m.filename)]
            size = sum(m.file_size for m in members)
            if size > max(SMALL, GROWTH * Path(path).stat().st_size):
                raise FormatError(path, f"it would unpack to {size:,} bytes. Unpack it yourself.")
            for member in members:
                archive.extract(member, target)  # names that lead outside are cut by zipfile
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise FormatError(path, f"the zip cannot be unpacked ({error}). Zip it again.") from None
    if not members:
        raise FormatError(path, "the zip is empty. Zip the folder again.")
    return target


def _is_meant(name: str) -> bool:
    """Whether a member is no helper file of an operating system."""
    return not any(part.startswith((".", "__MACOSX")) for part in Path(name).parts)


def _inner(folder: Path) -> Path:
    """The folder that holds the files, below folders that hold nothing else; or the only file."""
    inside = list(folder.iterdir())
    while len(inside) == 1 and inside[0].is_dir():
        folder = inside[0]
        inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 else folder
