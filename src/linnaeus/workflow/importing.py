"""Collections as their makers publish them, turned into a collection folder."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.io.collection import Collection, Part


class Imported(NamedTuple):
    """What was read and written."""

    path: str
    format: str
    nodes: int
    edges: int
    related: int  # links without a direction
    parts: dict[str, dict[str, Any]]  # rows, labelled rows, labels a row, features
    files: list[str]
    notes: list[str]  # what the original held that was left out

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def import_collection(
    format: str, source: str | Path, target: str | Path, *, compress: bool = True, **options: Any
) -> Imported:
    """Read a published collection and write it as a folder, whole or not at all.

    format : one of `linnaeus.io.originals.READERS`
    options : those of its reader, such as `select`
    """
    from linnaeus.io import write_collection
    from linnaeus.io.originals import READERS
    from linnaeus.storage.replacing import replaced

    if format not in READERS:
        raise UserError(
            f"{shorten(format)} is not a known format{nearest(format, READERS)}. Use one of "
            f"{', '.join(READERS)}."
        )
    check_options(format, options)
    target = Path(target)
    check_folder(target)
    collection = READERS[format](source, **options)
    with replaced(target) as folder:
        files = write_collection(collection, folder, compress=compress)
    return Imported(
        str(target),
        format,
        len(collection.taxonomy),
        collection.taxonomy.dag.parents.size,
        len(collection.taxonomy.related_numbers),
        {name: _counts(part) for name, part in collection.parts()},
        [file.name for file in files],
        _notes(collection),
    )


def import_options(format: str) -> list[str]:
    """The names of the options that the reader of a format takes."""
    from linnaeus.io.originals import READERS

    parameters = inspect.signature(READERS[format]).parameters.values()
    return [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]


def check_options(format: str, options: dict[str, Any]) -> None:
    """Refuse options that the reader of a format does not take."""
    known = import_options(format)
    for name in options:
        if name not in known:
            raise UserError(
                f"The format {format!r} takes {', '.join(known)}, not {name!r}"
                f"{nearest(name, known)}. Leave it out."
            )


def check_folder(target: Path) -> None:
    """Refuse a folder to write that has something in it, or that cannot be made."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserError(f"{target} already exists. Remove it, or choose another output folder.")
    if not target.resolve().parent.is_dir():
        raise UserError(f"There is no folder {target.parent} to write {target.name} into.")


def _counts(part: Part) -> dict[str, Any]:
    n_labels = sum(map(len, part.labels))
    return {
        "rows": len(part),
        "labelled": sum(1 for row in part.labels if row),
        "labels_per_row": n_labels / len(part) if len(part) else 0.0,
        "features": None if part.X is None else int(part.X.shape[1]),
    }


def _notes(collection: Collection) -> list[str]:
    return [f"{name}: {note}" for name, part in collection.parts() for note in part.skipped]
