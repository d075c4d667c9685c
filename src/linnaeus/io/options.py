"""How a table is to be read, where that is not left to be guessed; and what a folder remembers.

A folder may hold a small file `collection.toml` that says so once for all commands::

    taxonomy = "categories.xlsx"
    train = "books.csv"

    [table]
    text = ["Title", "Blurb"]
    labels = "Category"
    label_separator = ";"
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from linnaeus.errors import FormatError, UserError, nearest, shorten
from linnaeus.files import atomic_write, read_text

NAME = "collection.toml"
MOST_BAD = 0.1
FILES = ("taxonomy", "train", "valid", "test")
_NAMED = {"tab": "\t", "\\t": "\t", "newline": "\n", "\\n": "\n", "space": " "}


@dataclass(frozen=True)
class ReadOptions:
    """How files are read; what is left at its default is guessed from header and content.

    Attributes
    ----------
    text : tuple of str
        Columns that make up the text, joined in this order.
    labels : str or None
        Column of the labels.
    levels : tuple of str
        Columns that make a path from the top of the taxonomy down.
    id : str or None
        Column that names the rows.
    label_separator : str or None
        What stands between the labels of a cell.
    path_separator : str or None
        What stands between the names of a path.
    delimiter : str or None
        What stands between the cells of a line.
    encoding : str or None
        Encoding of the file.
    sheet : str or None
        Sheet of a spreadsheet.
    most_bad : float
        Share of the rows that may be left out where bad rows are; more are an error.

    Examples
    --------
    >>> ReadOptions(text="Title, Blurb", delimiter="tab")
    ReadOptions(text=('Title', 'Blurb'), delimiter='\\t')
    """

    text: tuple[str, ...] = ()
    labels: str | None = None
    levels: tuple[str, ...] = ()
    id: str | None = None
    label_separator: str | None = None
    path_separator: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    most_bad: float = MOST_BAD

    def __post_init__(self) -> None:
        for name in ("text", "levels"):
            object.__setattr__(self, name, _several(getattr(self, name)))
        for name in ("label_separator", "path_separator", "delimiter"):
            value = getattr(self, name)
            object.__setattr__(self, name, _NAMED.get(value, value))
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise UserError(
                f"The delimiter is {shorten(self.delimiter)}. It must be one character, such as "
                f"a comma or a semicolon, or the word tab."
            )
        for name in ("label_separator", "path_separator"):
            if getattr(self, name) == "":
                raise UserError(f"The {name.replace('_', ' ')} is empty. Give it, or leave it out.")
        if not 0 <= self.most_bad <= 1:
            raise UserError(f"The share of bad rows is {self.most_bad}. It must be from 0 to 1.")
        if self.labels is not None and self.levels:
            raise UserError(
                "Both a column of labels and columns of levels are named. Name one of them."
            )

    @classmethod
    def of(cls, given: ReadOptions | Mapping[str, Any] | None) -> ReadOptions:
        """The same options, or those that a dict names.

        Parameters
        ----------
        given : ReadOptions, dict or None
            Options; None to guess all.

        Returns
        -------
        ReadOptions
        """
        return given if isinstance(given, ReadOptions) else cls(**given or {})

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.given().items())
        return f"ReadOptions({given})"

    def given(self) -> dict[str, Any]:
        """What is not left to be guessed, by name.

        Returns
        -------
        dict
        """
        plain = {"most_bad": MOST_BAD}
        return {
            name: value
            for name, value in asdict(self).items()
            if value not in (None, ()) and value != plain.get(name)
        }

    def over(self, other: ReadOptions) -> ReadOptions:
        """These options, and those of another where these say nothing.

        Parameters
        ----------
        other : ReadOptions
            What is asked next.

        Returns
        -------
        ReadOptions
        """
        own, next_ = self.given(), other.given()
        if "labels" in own or "levels" in own:
            next_ = {k: v for k, v in next_.items() if k not in ("labels", "levels")}
        return ReadOptions(**next_ | own)


@dataclass(frozen=True)
class Remembered:
    """What the `collection.toml` of a folder says: which files there are, and how to read them.

    Attributes
    ----------
    files : dict
        Names of files in the folder by what they are: taxonomy, train, valid, test.
    table : ReadOptions
        How the tables are read.
    """

    files: Mapping[str, str]
    table: ReadOptions

    def about(self, file: Path | None) -> ReadOptions:
        """The options for a file: none, if others are named here and not this one.

        Parameters
        ----------
        file : Path or None
            A file of the folder; None for whatever is named here.

        Returns
        -------
        ReadOptions
        """
        named = {name for what, name in self.files.items() if what != "taxonomy"}
        return self.table if file is None or not named or file.name in named else ReadOptions()


def remembered(folder: Path) -> Remembered:
    """What a folder remembers; nothing if it has no `collection.toml`.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    Remembered
    """
    path = folder / NAME
    if not path.is_file():
        return Remembered({}, ReadOptions())
    try:
        found = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(path, f"it is not valid TOML ({error}). Correct or remove it.") from None
    table = found.pop("table", {})
    _check(path, found, FILES, str)
    known = {field.name for field in fields(ReadOptions)}
    _check(
        path, table if isinstance(table, dict) else {"table": table}, known, (str, list, float, int)
    )
    try:
        return Remembered(found, ReadOptions(**table))
    except UserError as error:
        raise FormatError(path, str(error)) from None


def remember(folder: Path, files: Mapping[str, str], table: ReadOptions) -> Path:
    """Write the `collection.toml` of a folder.

    Parameters
    ----------
    folder : Path
        The folder.
    files : dict
        Names of files in it by what they are.
    table : ReadOptions
        How the tables are read.

    Returns
    -------
    Path
        The file written.
    """
    lines = [f"{what} = {_toml(files[what])}" for what in FILES if what in files]
    if table.given():
        lines += ["", "[table]", *(f"{k} = {_toml(v)}" for k, v in table.given().items())]
    with atomic_write(folder / NAME) as handle:
        handle.write("# How linnaeus reads this folder; made by linnaeus check --write.\n")
        handle.write("\n".join(lines) + "\n")
    return folder / NAME


def without_columns(options: ReadOptions) -> ReadOptions:
    """Options of the file alone, for one whose columns may have other names.

    Parameters
    ----------
    options : ReadOptions
        The options.

    Returns
    -------
    ReadOptions
    """
    return replace(options, text=(), labels=None, levels=(), id=None)


def _several(value: Any) -> tuple[str, ...]:
    """Names of columns: a text with commas between them, or a list."""
    parts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(part.strip() for part in parts if part.strip())


def _check(path: Path, found: Mapping[str, Any], known: Any, kinds: Any) -> None:
    for name, value in found.items():
        if name not in known:
            raise FormatError(
                path,
                f"{shorten(name)} is not known{nearest(name, known)}. "
                f"Known are {', '.join(known)}.",
            )
        if not isinstance(value, kinds):
            raise FormatError(path, f"{name} is {shorten(value)}. Write a text in quotes.")


def _toml(value: Any) -> str:
    """A text or a list of texts as TOML writes them: as JSON does."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
