"""What several workflows share: the parts of a collection that they take, and progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.io.collection import Collection, Part
from linnaeus.io.options import ReadOptions
from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]


class Training(NamedTuple):
    """What to learn from: a taxonomy, a training part, and a validation part where there is one."""

    taxonomy: Taxonomy
    train: Part
    valid: Part | None

    @property
    def skipped(self) -> tuple[str, ...]:
        """Messages about rows left out on request."""
        return self.train.skipped + (() if self.valid is None else self.valid.skipped)


def read_parts(
    data: str | Path,
    taxonomy: str | Path | None = None,
    skip_bad: bool = False,
    valid: bool = True,
    options: ReadOptions | None = None,
) -> Training:
    """The parts to learn from of a folder, or of a file and the taxonomy beside it.

    valid : whether to take the validation part, where the folder has one
    options : how a table is read, where that is not to be guessed
    """
    from linnaeus.io import read_collection
    from linnaeus.io.archive import unpacked

    wanted = ["train", "valid"] if valid else ["train"]
    found = read_collection(
        unpacked(data), taxonomy=taxonomy, parts=wanted, skip_bad=skip_bad, options=options
    )
    return Training(found.taxonomy, found.part("train"), found.valid)


def training_part(folder: Path) -> tuple[Taxonomy | None, Part]:
    """The taxonomy of a collection, if it has one, and its training part."""
    from linnaeus.io import collect, iter_rows, read_collection
    from linnaeus.io.find import find_file
    from linnaeus.io.readers import READERS

    if folder.is_dir() and find_file(folder, "taxonomy", None, None) is None:
        file = find_file(folder, "train", None, READERS)
        if file is not None and ".arff" not in file.suffixes:  # those bring their taxonomy
            return None, collect(iter_rows(file))
    data = read_collection(folder, parts=["train"])
    return data.taxonomy, data.part("train")


def columns_of(part: Part) -> dict[str, Any]:
    """Which columns of a table were the text, labels and ids, for a model to keep."""
    return {"columns": part.columns.given()} if part.columns is not None else {}


def option_words(options: ReadOptions | None) -> list[str]:
    """Options of reading as one types them."""
    given = {} if options is None else options.given()
    pairs = ((name, v if isinstance(v, str | float) else ",".join(v)) for name, v in given.items())
    return [word for name, v in pairs for word in (f"--{name.replace('_', '-')}", str(v))]


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
    from linnaeus.io.copies import Copies
    from linnaeus.model import inputs_of
    from linnaeus.splits import train_test_split

    groups = Copies.of(inputs_of(train)).groups
    rest, held = train_test_split(collection.Y("train"), 0.25, seed, groups=groups)
    return train.take(rest.tolist()), train.take(held.tolist())
