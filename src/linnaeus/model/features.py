"""Which features suit the examples: words, pieces of sequences, or the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from linnaeus.errors import UserError, check_like, nearest, shorten
from linnaeus.io.collection import Part
from linnaeus.io.text_files import Room, room_of
from linnaeus.model.tables import TableFeatures
from linnaeus.storage.sparse_files import open_rows, rows_written
from linnaeus.text import TfidfVectorizer
from linnaeus.text.choosing import (
    MOST,
    characters,
    pieces,
    spectrum,
    suited_to_language,
    unspaced_share,
    words,
)
from linnaeus.text.counting import text_blocks

SAMPLE = 500  # texts that are looked at
LONG, ALPHABET = 20, 40  # a sequence has no blanks, so many symbols at least, few different ones


class Kind(NamedTuple):
    """A kind of features: what it takes and what it makes."""

    of: str  # "texts" or "a table"
    advice: str
    make: Callable[..., Any]


class Choice(NamedTuple):
    """Features for a collection, unfitted, and why these.

    Attributes
    ----------
    kind : str
        The kind of features.
    features : object
        The transformer, not fitted.
    why : str
        A sentence.
    """

    kind: str
    features: Any
    why: str


def _table(part: Part, **own: Any) -> TableFeatures:
    return TableFeatures(**{"feature_names": part.feature_names} | own)


KINDS: dict[str, Kind] = {
    "words": Kind("texts", "words weighted by TF-IDF; for documents", words),
    "pieces": Kind("texts", "words and runs of 4 to 5 letters in them; for compounds", pieces),
    "characters": Kind("texts", "runs of 2 to 4 characters; for names, codes, typos", characters),
    "spectrum": Kind("texts", "substrings of 3 to 5 symbols; for proteins, DNA, logs", spectrum),
    "table": Kind("a table", "columns, standardised or scaled by row", _table),
}


def choose_features(
    part: Part, kind: str = "auto", parameters: Mapping[str, Any] | None = None
) -> Choice:
    """Features of a kind, or of the kind that suits the examples.

    Parameters
    ----------
    part : Part
        Examples with labels.
    kind : str, default='auto'
        A kind in `linnaeus.model.KINDS`, or 'auto'.
    parameters : dict or None, default=None
        Parameters by name; None for the defaults.

    Returns
    -------
    Choice

    Examples
    --------
    >>> choose_features(Part([["a"]], ["1"], texts=["good morning, world"])).kind
    'words'
    """
    why = "because you chose it"
    if kind == "auto":
        kind, why = _suited(part)
    if kind not in KINDS:
        known = ("auto", *KINDS)
        raise UserError(
            f"The features {shorten(kind)} are not known{nearest(kind, known)}. "
            f"Use one of: {', '.join(known)}."
        )
    there = "a table" if part.texts is None else "texts"
    if KINDS[kind].of != there:
        fitting = [name for name, entry in KINDS.items() if entry.of == there]
        raise UserError(
            f"The features {kind!r} are made of {KINDS[kind].of}, but the examples are {there}. "
            f"Use one of: {', '.join(fitting)}."
        )
    own = {name: tuple(v) if isinstance(v, list) else v for name, v in (parameters or {}).items()}
    takes = KINDS[kind].make(part).get_params()
    for name, value in own.items():
        if name not in takes:
            raise UserError(
                f"The features {kind!r} have no parameter {shorten(name)}{nearest(name, takes)}. "
                f"They have: {', '.join(takes)}."
            )
        check_like(takes[name], value, f"The parameter {name!r} of the features {kind!r}")
    return Choice(kind, KINDS[kind].make(part, **own), why)


def fit_rows_to(room: Room, choice: Choice, inputs: Any) -> Any:
    """The rows that features make of the texts that they learn from, on disk as these are.

    Parameters
    ----------
    room : Room
        Where the texts are.
    choice : Choice
        The features, which are fitted.
    inputs : sequence of str
        The texts.

    Returns
    -------
    csr_array of shape (n_rows, n_features)
    """
    if not isinstance(choice.features, TfidfVectorizer):
        said = f"The features {choice.kind!r} need all texts in memory, where they do not fit. "
        raise UserError(
            f"{said}Use features='characters' or 'words', or allow more memory.",
            f"{said}Use --features characters or words, or allow more memory.",
        )
    return choice.features.fit_transform_to(room.folder / "X", inputs, room.limit)


def known_rows(features: Any, inputs: Any) -> Any:
    """The rows that fitted features make of examples, on disk where these are.

    Parameters
    ----------
    features : object
        A fitted transformer.
    inputs : sequence of str, {ndarray, csr_array} of shape (n_rows, n_columns)
        Texts or a table.

    Returns
    -------
    {ndarray, csr_array} of shape (n_rows, n_features)
    """
    room = room_of(inputs)
    if room is None:
        return features.transform(inputs)
    with rows_written(room.folder / "X") as writer:
        for block in text_blocks(inputs):
            writer.append(features.transform(block))
    return open_rows(room.folder / "X")


def make_features(kind: str, part: Part, parameters: Mapping[str, Any] | None = None) -> Any:
    """A transformer of this kind, with parameters of its own, before it has seen any example.

    Parameters
    ----------
    kind : str
        A kind in `linnaeus.model.KINDS`, or 'auto'.
    part : Part
        Examples with labels.
    parameters : dict or None, default=None
        Parameters by name; None for the defaults.

    Returns
    -------
    object
        The transformer.
    """
    return choose_features(part, kind, parameters).features


def _suited(part: Part) -> tuple[str, str]:
    """The kind of features for these examples, and the reason."""
    if part.texts is None:
        return "table", "the examples are tables of numbers"
    if _are_sequences(part.texts):
        return "spectrum", "the texts are long runs of few symbols without blanks"
    return suited_to_language(part)


def _are_sequences(texts: Sequence[str]) -> bool:
    """Whether nearly all of the first texts look like proteins or DNA."""
    sample = [text for text in islice(texts, SAMPLE) if text]
    runs = [text for text in sample if len(text) >= LONG and not any(map(str.isspace, text))]
    if not sample or len(runs) < 0.95 * len(sample):
        return False
    return len(set().union(*runs)) <= ALPHABET and unspaced_share(sample) < MOST
