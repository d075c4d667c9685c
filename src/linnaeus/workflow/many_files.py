"""Files to predict for, those that are written of them, and what an earlier run has finished."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError
from linnaeus.execution import Checkpoint
from linnaeus.execution.checkpoints import MISSING, version
from linnaeus.execution.values import digest
from linnaeus.files import missing
from linnaeus.io import find_rows, format_of
from linnaeus.io.archive import unpacked
from linnaeus.io.find import PARTS, find_file, suffix_of
from linnaeus.io.options import remembered
from linnaeus.io.predictions import FORMATS, PACKED
from linnaeus.io.readers import READERS
from linnaeus.storage.folders import digest_of
from linnaeus.workflow.predicting import Source
from linnaeus.workflow.rows import count_rows

MAGIC = frozenset("*?[")


def are_many(data: Sequence[str | Path], target: str | Path) -> bool:
    """Whether files are to be written into a folder: for several, or since a folder is named."""
    if len(data) != 1 or Path(target).is_dir() or str(target).endswith(("/", "\\")):
        return True
    path = Path(data[0])
    if not path.exists():
        return bool(MAGIC & set(str(path)))
    return path.is_dir() and not is_collection(path)


def count_all(data: str | Path | Sequence[str | Path], part: str) -> int | None:
    """How many rows there are in many files, if that is quickly counted."""
    counts = [count_rows(file, part) for _, file in files_of(data, part)]
    known = [n for n in counts if n is not None]
    return sum(known) if len(known) == len(counts) else None


def files_of(data: str | Path | Sequence[str | Path], part: str = "test") -> list[tuple[str, Path]]:
    """The files to read, and what each is called: patterns and folders of files taken apart."""
    given = [data] if isinstance(data, str | Path) else list(data)
    found = [named for path in given for named in _found(Path(path), part)]
    return list(dict.fromkeys(found))


def _found(path: Path, part: str) -> list[tuple[str, Path]]:
    if not path.exists():
        there = sorted(glob.glob(str(path))) if MAGIC & set(str(path)) else []
        if not there:
            raise missing(path)
        return [named for name in there for named in _found(Path(name), part)]
    data = unpacked(path)
    if not data.is_dir():
        return [(data.name, data)]
    if is_collection(data):
        file = find_rows(data, part)
        ending = "".join(file.suffixes[-2:]) if file.suffix == ".gz" else file.suffix
        return [(path.resolve().name.removesuffix(".zip") + ending, file)]
    found = [p for p in sorted(data.iterdir()) if p.is_file() and suffix_of(p) in READERS]
    found = [p for p in found if not p.name.startswith((".", "~"))]
    if not found:
        raise UserError(
            f"{data} holds no file that could be read. Known are {', '.join(READERS)}, each also "
            f"with .gz."
        )
    return [(p.name, p) for p in found]


def is_collection(folder: Path) -> bool:
    """Whether a folder has parts or a taxonomy, and is not just a folder of files."""
    known = remembered(folder).files
    if any(find_file(folder, name, known.get(name), READERS) for name in PARTS):
        return True
    return find_file(folder, "taxonomy", known.get("taxonomy"), None) is not None


def sources_of(
    data: str | Path | Sequence[str | Path], folder: Path, part: str, format: str | None
) -> list[Source]:
    """What is read and what is written; an error where two would be written to one file."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, where a folder is to be written. Name a folder.")
    if not folder.exists() and suffix_of(folder) in FORMATS:
        raise UserError(
            f"There are several files to predict for, and {folder} is one. Name a folder, such as "
            f"{folder.with_suffix('')}/, for a file each."
        )
    found: dict[Path, Source] = {}
    for name, file in files_of(data, part):
        target = folder / written_name(name, format)
        if target in found:
            raise UserError(
                f"Both {found[target].file} and {file} would be written to {target}. Give one of "
                f"them another name, or write them into two folders."
            )
        if target.exists() and target.samefile(file):
            raise UserError(f"{target} would be written over what is read. Name another folder.")
        found[target] = Source(file, target, format_of(target, format))
    return list(found.values())


def written_name(name: str, format: str | None) -> str:
    """What the predictions of a file are called: its own name, with the suffix of the format."""
    own = suffix_of(Path(name))
    if own in FORMATS and (format is None or format == own):
        return name.removesuffix(".gz") if own in PACKED else name
    return f"{Path(name.removesuffix('.gz')).stem}.{format or 'jsonl'}"


class Finished:
    """What a checkpoint knows of a file that was written: done, if neither file has changed."""

    def __init__(self, kept: Checkpoint, about: Any, source: Source) -> None:
        self.kept, self.target = kept, source.target
        told = version(), "file", about, digest_of(source.file), str(source.target.resolve())
        self.key = digest(*told, source.format)
        self.before = set(kept.used)

    def load(self) -> tuple[Any, ...] | None:
        """What was said of the file when it was written; None where it is to be written."""
        found = self.kept.load(self.key)
        if found is MISSING or not self.target.is_file():
            return None
        content, said = found
        return tuple(said) if content == digest_of(self.target) else None

    def save(self, said: tuple[Any, ...]) -> None:
        """Keep that the file is done; its blocks are no longer needed."""
        self.kept.save(self.key, (digest_of(self.target), said))
        self.kept.drop(self.kept.used - self.before - {self.key})
