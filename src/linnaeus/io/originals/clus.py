"""The collections of Clus: ARFF files that are called by a collection and a part.

``cellcycle_GO.train.arff``, ``.valid.arff`` and ``.test.arff``, or ``.trainvalid.arff`` for both
of the first two, plain or gzip; ``ImCLEF07A_Train.arff`` is understood as well. The class hierarchy
is in their headers (see `linnaeus.io.arff`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.io.collection import Collection
from linnaeus.io.find import PARTS
from linnaeus.io.originals.source import check_parts, folder_of, missing
from linnaeus.io.read import read_collection
from linnaeus.taxonomy import Taxonomy

_FILE = re.compile(r"(.+)[._-](train|valid|trainvalid|test)\.arff(?:\.gz)?", re.IGNORECASE)
_WANTED = "files such as NAME.train.arff (or NAME.trainvalid.arff) and NAME.test.arff"
_ORIGIN = (
    "The groups behind Clus (KU Leuven and the Jozef Stefan Institute) publish hierarchical "
    "multi-label collections in this form."
)


def read_clus(
    path: str | Path,
    *,
    name: str | None = None,
    parts: Any = PARTS,
    skip_bad: bool = False,
    dtype: Any = None,
) -> Collection:
    """Read the ARFF files of one collection.

    Parameters
    ----------
    path : str or Path
        The folder.
    name : str or None, default=None
        Which collection, where the folder holds several: what stands before .train.arff.
    parts : sequence of str, default=('train', 'valid', 'test')
        Which of train, valid, test to read; NAME.trainvalid.arff is for training, where there is
        no NAME.train.arff.
    skip_bad : bool, default=False
        Leave out rows that cannot be read; `Part.skipped` says why.
    dtype : dtype or None, default=None
        Type of the features; None for float32 for svm and float64 for tables.

    Returns
    -------
    Collection
    """
    folder = folder_of(path, _WANTED, _ORIGIN)
    name, files = _files(folder, name)
    if "trainvalid" in files:
        both = files.pop("trainvalid")
        files.setdefault("train", both)
    chosen: dict[str, Any] = {part: files[part] for part in check_parts(parts) if part in files}
    if not chosen:
        raise missing(folder, f"the parts {', '.join(check_parts(parts))}", _ORIGIN)
    header = Taxonomy.read(next(iter(files.values())), format="arff")
    collection = read_collection(
        folder, taxonomy=header, parts=tuple(chosen), skip_bad=skip_bad, dtype=dtype, **chosen
    )
    return replace(collection, name=name)


def _files(folder: Path, name: str | None) -> tuple[str, dict[str, Path]]:
    """The name of the collection, and its files by their parts."""
    found: dict[str, dict[str, Path]] = {}
    for file in sorted(folder.iterdir()):
        match = _FILE.fullmatch(file.name)
        if match is None or not file.is_file():
            continue
        parts = found.setdefault(match[1], {})
        if match[2].lower() in parts:
            raise UserError(
                f"{folder} has {parts[match[2].lower()].name} and {file.name} for one part. "
                f"Remove one of them."
            )
        parts[match[2].lower()] = file
    if not found:
        raise missing(folder, _WANTED, _ORIGIN)
    if name is None and len(found) > 1:
        raise UserError(f"{folder} holds {', '.join(found)}. Choose one with name=.")
    chosen = next(iter(found)) if name is None else name
    if chosen not in found:
        raise UserError(
            f"{folder} has no collection {shorten(chosen)}{nearest(chosen, found)}. It has: "
            f"{', '.join(found)}."
        )
    return chosen, found[chosen]
