"""What several workflows share: parts of a collection, the rows that a model is judged by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnaeus.errors import FormatError
from linnaeus.io import find_rows
from linnaeus.io.collection import Collection, Part
from linnaeus.io.read import check_kind
from linnaeus.taxonomy import Taxonomy

if TYPE_CHECKING:
    from linnaeus.model import Model  # looking at a taxonomy needs no learning library

Step = Callable[[str, int, int], None]


def training_part(folder: Path) -> tuple[Taxonomy | None, Part]:
    """The taxonomy of a collection, if it has one, and its training part."""
    from linnaeus.io import collect, iter_rows, read_collection
    from linnaeus.io.find import find_file
    from linnaeus.io.read import READERS

    if folder.is_dir() and find_file(folder, "taxonomy", None, None) is None:
        file = find_file(folder, "train", None, READERS)
        if file is not None and ".arff" not in file.suffixes:  # those bring their taxonomy
            return None, collect(iter_rows(file))
    data = read_collection(folder, parts=["train"])
    return data.taxonomy, data.part("train")


def features_of(
    part: Part, features: str = "auto", parameters: Mapping[str, Any] | None = None
) -> tuple[str, Any]:
    """The kind of features that a model would be trained on, and the rows that they make."""
    from linnaeus.model import inputs_of
    from linnaeus.model.features import choose_features

    choice = choose_features(part, features, parameters)
    return choice.kind, choice.features.fit_transform(inputs_of(part))


def train_and_test(collection: Collection, seed: int) -> tuple[Part, Part]:
    """The training part and the test part, or a stratified quarter of the training part."""
    train = collection.part("train")
    if collection.test is not None:
        return train, collection.test
    from linnaeus.splits import train_test_split

    rest, held = train_test_split(collection.Y("train"), 0.25, seed)
    return train.take(rest.tolist()), train.take(held.tolist())


# -- rows that a model is judged by ---------------------------------------------------------------


def count_rows(data: str | Path, part: str, most: int = 64 << 20) -> int | None:
    """How many rows there are, for a plain text file that is quickly counted; else None."""
    file = find_rows(data, part)
    if file.suffix not in (".jsonl", ".csv", ".tsv", ".svm") or file.stat().st_size > most:
        return None
    with file.open("rb") as handle:
        lines = sum(block.count(b"\n") for block in iter(lambda: handle.read(1 << 20), b""))
    return lines - (file.suffix in (".csv", ".tsv"))


def read_examples(
    data: str | Path, model: Model, part: str = "test", skip_bad: bool = False
) -> Part:
    """All rows of a part of a folder, or of a file, with labels of the model's taxonomy."""
    from linnaeus.io import collect, iter_rows

    file = find_rows(data, part)
    skipped: list[str] | None = [] if skip_bad else None
    rows = iter_rows(
        file, taxonomy=model.taxonomy, feature_names=model.feature_names, skipped=skipped
    )
    found = replace(collect(rows), skipped=tuple(skipped or ()))
    if not len(found):
        first = f" {len(skipped)} were bad, the first: {skipped[0]}" if skipped else ""
        raise FormatError(file, f"there are no rows.{first} Check the file.")
    check_kind(found, model.kind, file)
    if not any(found.labels):
        raise FormatError(
            file,
            "no row has a label, so there is nothing to compare with. Put the labels into a column "
            "or field called 'labels', or use linnaeus predict.",
        )
    return found
