"""One table into parts: stratified, with copies of a text on one side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import UserError
from linnaeus.io import Collection, Part, ReadOptions, read_collection, write_collection
from linnaeus.io.archive import unpacked
from linnaeus.model import inputs_of
from linnaeus.splits import train_test_split
from linnaeus.splits.copies import Copies
from linnaeus.storage.replacing import replaced
from linnaeus.workflow.importing import check_folder


class Divided(NamedTuple):
    """What was written."""

    path: str
    parts: dict[str, int]
    copies: int
    files: list[str]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return self._asdict() | {"skipped": list(self.skipped), "notes": list(self.notes)}


def split(
    data: str | Path,
    target: str | Path,
    *,
    test: float = 0.2,
    valid: float = 0.0,
    taxonomy: str | Path | None = None,
    skip_bad: bool = False,
    options: ReadOptions | Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Divided:
    """Divide the rows of a file, or of the training part of a folder, and write a folder."""
    if not (0 <= test < 1 and 0 <= valid < 1 and 0 < test + valid < 1):
        raise UserError(
            f"The shares are {test} for test and {valid} for valid. Give shares from 0 to 1 that "
            f"leave something to train on."
        )
    check_folder(Path(target))
    found = read_collection(unpacked(data), taxonomy=taxonomy, skip_bad=skip_bad, options=options)
    if found.test is not None or found.valid is not None:
        raise UserError(
            f"{data} is divided already: it has {', '.join(name for name, _ in found.parts())}. "
            f"Give the file that is to be divided."
        )
    part = found.part("train")
    copies = Copies.of(inputs_of(part))
    divided = divide(part, found, {"test": test, "valid": valid}, copies.groups, seed)
    with replaced(Path(target)) as folder:
        files = write_collection(divided, folder, compress=False)
    counts = {name: len(p) for name, p in divided.parts()}
    names = [file.name for file in files]
    return Divided(str(target), counts, copies.n, names, part.skipped, part.notes)


def divide(
    part: Part, found: Collection, shares: dict[str, float], groups: Any, seed: int
) -> Collection:
    """The collection with the shares of its rows taken out as parts of their own."""
    left, parts = np.arange(len(part)), dict[str, Part]()
    Y = found.taxonomy.encode(part.labels)
    for name, share in shares.items():
        n = round(share * len(part))
        if share and not 0 < n < left.size:
            raise UserError(
                f"A share of {share} of {len(part):,} rows is {n} for {name}. Give more rows, or "
                f"another share."
            )
        if n:
            own = None if groups is None else groups[left]
            rest, taken = train_test_split(Y[left], n, seed, groups=own)
            parts[name] = part.take(left[taken].tolist())
            left = left[rest]
    return Collection(found.taxonomy, part.take(left.tolist()), **parts, name=found.name)
