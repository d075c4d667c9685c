"""What several workflows share: checks of arguments, the parts of a collection, and progress.

Nothing heavy is loaded with this module: what was typed wrong is answered at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus.files import missing, not_writable
from linnaeus.model.methods import check_choices

if TYPE_CHECKING:
    from linnaeus.io import Collection, Part, ReadOptions
    from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]


class Where(NamedTuple):
    """Where fits run, and the folder that keeps what they have done; see `execution.placing`."""

    backend: str | None = None
    address: str | None = None
    checkpoint: str | Path | None = None


def check_arguments(
    data: str | Path | None = None,
    target: str | Path | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    rule: str | None = None,
    model: str | Path | None = None,
    options: ReadOptions | Mapping[str, Any] | None = None,
) -> None:
    """Refuse paths that are not there, and names and values that cannot be.

    target : the folder of a model to write;  model : of one to read
    options : how tables are read, where they are not read at once
    """
    if data is not None and not Path(data).exists():
        raise missing(Path(data))
    place = None if target is None else Path(target)
    if place and (not place.parent.is_dir() or (place.exists() and not place.is_dir())):
        raise not_writable(place)
    if method is not None or parameters or rule is not None:
        check_choices(method, parameters, rule)
    if options:
        from linnaeus.io.options import ReadOptions

        ReadOptions.of(options)
    if model is not None:
        from linnaeus.storage.directory import model_folder

        model_folder(Path(model))


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


def option_words(options: ReadOptions | Mapping[str, Any] | None) -> list[str]:
    """Options of reading as one types them."""
    from linnaeus.io import ReadOptions

    given = ReadOptions.of(options).given()
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
    from linnaeus.model import inputs_of
    from linnaeus.splits import train_test_split
    from linnaeus.splits.copies import Copies

    groups = Copies.of(inputs_of(train)).groups
    rest, held = train_test_split(collection.Y("train"), 0.25, seed, groups=groups)
    return train.take(rest.tolist()), train.take(held.tolist())
