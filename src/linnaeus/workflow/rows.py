"""The rows that a model is given: found, read at once or block by block, and seen to suit it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import scipy.sparse as sp

from linnaeus.errors import FormatError, UserError
from linnaeus.io.collection import Part
from linnaeus.model import Model

BLOCK = 2048  # rows in memory at a time


def find_rows(data: str | Path, part: str) -> Path:
    """The file to read: the one given, or that of a part of a folder."""
    from linnaeus.io.find import find_file, listing
    from linnaeus.io.read import READERS

    data = Path(data)
    if not data.is_dir():
        if not data.exists():
            raise UserError(f"There is no file or folder {data}. Check the path.")
        return data
    file = find_file(data, part, None, READERS)
    if file is None:
        raise UserError(
            f"{data} has no part {part!r}: looked for {part}.* with one of the suffixes "
            f"{', '.join(READERS)}, plain or .gz. {listing(data)} Name another with --part, or a "
            f"file instead of the folder."
        )
    return file


def count_rows(data: str | Path, part: str, most: int = 64 << 20) -> int | None:
    """How many rows there are, for a plain text file that is quickly counted; else None."""
    file = find_rows(data, part)
    if file.suffix not in (".jsonl", ".csv", ".tsv", ".svm") or file.stat().st_size > most:
        return None
    with file.open("rb") as handle:
        lines = sum(block.count(b"\n") for block in iter(lambda: handle.read(1 << 20), b""))
    return lines - (file.suffix in (".csv", ".tsv"))


def blocks(
    file: Path, model: Model, skipped: list[str] | None = None, size: int = BLOCK
) -> Iterator[Part]:
    """The rows of a file in blocks, none of which is kept."""
    from linnaeus.io import collect, iter_rows

    examples = iter_rows(file, feature_names=table_names(model), skipped=skipped)
    while True:
        block = collect(islice(examples, size))
        if not len(block):
            return
        check_kind(model, block, file)
        yield block


def read_examples(
    data: str | Path, model: Model, part: str = "test", skip_bad: bool = False
) -> Part:
    """All rows of a part of a folder, or of a file, with labels of the model's taxonomy."""
    from linnaeus.io import collect, iter_rows

    file = find_rows(data, part)
    skipped: list[str] | None = [] if skip_bad else None
    rows = iter_rows(
        file, taxonomy=model.taxonomy, feature_names=table_names(model), skipped=skipped
    )
    found = replace(collect(rows), skipped=tuple(skipped or ()))
    if not len(found):
        first = f" {len(skipped)} were bad, the first: {skipped[0]}" if skipped else ""
        raise FormatError(file, f"there are no rows.{first} Check the file.")
    check_kind(model, found, file)
    if not any(found.labels):
        raise FormatError(
            file,
            "no row has a label, so there is nothing to compare with. Put the labels into a column "
            "or field called 'labels', or use linnaeus predict.",
        )
    return found


def table_names(model: Model) -> list[str] | None:
    """The columns that a table must have for this model; None for texts and sparse rows."""
    names = getattr(model.features, "feature_names", None)
    return None if names is None else list(names)


def check_kind(model: Model, rows: Part, file: Path) -> None:
    """Refuse rows of another kind than the model was trained on."""
    given = "texts"
    if rows.texts is None:
        given = "sparse features" if sp.issparse(rows.X) else "a table of features"
    wanted = "texts"
    if hasattr(model.features, "n_features_in_"):
        wanted = "sparse features" if model.features.sparse_ else "a table of features"
    if given == wanted:
        return
    raise UserError(
        f"The model was trained on {wanted}, but {file} holds {given}. Give rows of the same "
        f"kind, or train a model on these."
    )
