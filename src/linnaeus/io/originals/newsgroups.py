"""20 newsgroups (collected by Ken Lang), the version "by date": posts of 1993 to 20 groups.

Two forms are known.

- Raw posts: ``20news-bydate-train/<group>/<number>`` and ``20news-bydate-test/...``, latin-1. A
  folder whose subfolders are groups is one part, for training (20_newsgroups, 20news-18828).
- Rennie's matlab files: ``train.data`` with lines ``document word count``, all from 1;
  ``train.label`` with the group of each document, one a line; ``train.map`` with lines
  ``group number``; the same for ``test``. ``vocabulary.txt`` beside them or above, a word a line.

The taxonomy follows from the names: a group lies below the part before its first dot, so that 20
groups have 7 nodes above them ([GopalYang2015] Table I: 27 nodes).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linnaeus.errors import FormatError, UserError, shorten
from linnaeus.files import open_lines
from linnaeus.io.build import collect
from linnaeus.io.collection import Collection, Part
from linnaeus.io.originals.source import check_parts, folder_of, missing, named_file
from linnaeus.io.rows import Example
from linnaeus.taxonomy import Taxonomy

_WANTED = (
    "20news-bydate-train and 20news-bydate-test, or train.data, train.label and train.map, or "
    "folders called by newsgroups (alt.atheism, ...)"
)
_ORIGIN = (
    "Jason Rennie's page on 20 newsgroups offers 20news-bydate.tar.gz and the matlab version "
    "20news-bydate-matlab.tgz: unpack one of them, and give its folder."
)


def read_newsgroups(
    path: str | Path, *, strip_headers: bool = False, parts: Any = ("train", "test")
) -> Collection:
    """Read raw posts as texts, or Rennie's matlab files as word counts.

    Parameters
    ----------
    path : str or Path
        The folder with the two parts, or a folder of groups.
    strip_headers : bool, default=False
        Leave out everything up to the first empty line of a post.
    parts : sequence of str, default=('train', 'test')
        Train, test or both.

    Returns
    -------
    Collection
    """
    folder = folder_of(path, _WANTED, _ORIGIN)
    wanted = [part for part in check_parts(parts) if part != "valid"]
    if named_file(folder, ["train", "test"], ["data"]) is not None:
        if strip_headers:
            raise UserError(
                f"{folder} holds word counts, from which no headers can be stripped. Give the raw "
                f"posts, or leave strip_headers out."
            )
        return _read_counts(folder, wanted)
    places = _places(folder, wanted)
    read = {name: collect(_posts(place, strip_headers)) for name, place in places.items()}
    return Collection(group_tree(_groups_of(read)), **read, name="newsgroups")


def group_tree(groups: Sequence[str]) -> Taxonomy:
    """Groups below the first part of their names; a name without a dot is a root."""
    ordered = sorted(groups)
    tops = dict.fromkeys(group.partition(".")[0] for group in ordered)
    edges: list[tuple[str | None, str]] = [(None, top) for top in tops]
    edges += [(group.partition(".")[0], group) for group in ordered if "." in group]
    return Taxonomy.from_edges(edges)


def _groups_of(parts: dict[str, Part]) -> list[str]:
    return list({label for part in parts.values() for row in part.labels for label in row})


# -- raw posts ------------------------------------------------------------------------------------


def _places(folder: Path, wanted: list[str]) -> dict[str, Path]:
    """The folder of each part."""
    below = [path for path in sorted(folder.iterdir()) if path.is_dir()]
    found = {}
    for name in wanted:
        ends = [path for path in below if path.name.lower().split("-")[-1] == name]
        if ends:
            found[name] = ends[0]
    if found:
        return found
    if "train" in wanted and any("." in path.name.strip(".") for path in below):
        return {"train": folder}
    raise missing(folder, _WANTED, _ORIGIN)


def _posts(place: Path, strip_headers: bool) -> Iterator[Example]:
    """The posts of one part, by group and number."""
    empty = True
    for group in sorted(path for path in place.iterdir() if path.is_dir()):
        for file in sorted((f for f in group.iterdir() if f.is_file()), key=_number):
            empty = False
            text = file.read_bytes().decode("latin-1")
            if strip_headers:
                text = without_headers(text)
            yield Example(f"{group.name}/{file.name}", [group.name], text)
    if empty:
        raise missing(place, "posts <group>/<number>", _ORIGIN)


def _number(file: Path) -> tuple[int, str]:
    return (int(file.name) if file.name.isdigit() else 0, file.name)


def without_headers(text: str) -> str:
    """What follows the first empty line; all of a text that has none."""
    text = text.replace("\r\n", "\n")
    _, blank, body = text.partition("\n\n")
    return body if blank else text


# -- matlab files ---------------------------------------------------------------------------------


def _read_counts(folder: Path, wanted: list[str]) -> Collection:
    found = [name for name in wanted if named_file(folder, [name], ["data"]) is not None]
    if not found:
        raise missing(folder, " and ".join(f"{name}.data" for name in wanted), _ORIGIN)
    words = _vocabulary(folder)
    labels = {name: _labels(folder, name) for name in found}
    counts = {name: _counts(folder, name, len(labels[name])) for name in found}
    width = max(len(words or ()), *(X.shape[1] for X in counts.values()))
    if words is not None and width > len(words):
        raise UserError(
            f"The vocabulary of {folder} has {len(words):,} words, but word {width:,} occurs. Give "
            f"the vocabulary.txt that belongs to these files, or remove it."
        )
    read = {
        name: Part(
            labels=[[group] for group in labels[name]],
            ids=[str(i) for i in range(1, len(labels[name]) + 1)],
            X=sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width)),
            feature_names=words,
        )
        for name, X in counts.items()
    }
    return Collection(group_tree(_groups_of(read)), **read, name="newsgroups")


def _vocabulary(folder: Path) -> list[str] | None:
    for place in (folder, folder.parent):
        file = named_file(place, ["vocabulary"], ["txt"])
        if file is not None:
            with open_lines(file) as lines:
                return [line.strip() for line in lines]
    return None


def _labels(folder: Path, name: str) -> list[str]:
    """The group of every document."""
    names: dict[int, str] = {}
    for line, cells, file in _cells(folder, name, "map", 2):
        if not cells[1].isdigit():
            raise FormatError(file, f"{shorten(cells[1])} is not the number of a group.", line)
        names[int(cells[1])] = cells[0]
    groups = []
    for line, cells, file in _cells(folder, name, "label", 1):
        if not cells[0].isdigit() or int(cells[0]) not in names:
            raise FormatError(
                file, f"the group {shorten(cells[0])} is not in {name}.map. Add it there.", line
            )
        groups.append(names[int(cells[0])])
    return groups


def _counts(folder: Path, name: str, n_documents: int) -> sp.csr_array:
    """The counts of all words, one row a document."""
    numbers = array("i")
    for line, cells, file in _cells(folder, name, "data", 3):
        try:
            document, word, count = map(int, cells)
        except ValueError:
            raise FormatError(
                file,
                f"{shorten(' '.join(cells))} is not three whole numbers: document, word, count.",
                line,
            ) from None
        if not (0 < document <= n_documents and 0 < word < 2**31 and 0 < count < 2**31):
            raise FormatError(
                file,
                f"{shorten(' '.join(cells))} is out of range: documents run from 1 to "
                f"{n_documents} (the lines of {name}.label), words and counts from 1.",
                line,
            )
        numbers.extend((document - 1, word - 1, count))
    table: NDArray[np.int32] = np.frombuffer(numbers, dtype=np.int32).reshape(-1, 3)
    documents, words, counts = table.T
    width = int(words.max()) + 1 if words.size else 0
    shape = (n_documents, width)
    return sp.csr_array(sp.coo_array((counts.astype(np.float32), (documents, words)), shape=shape))


def _cells(folder: Path, name: str, suffix: str, n: int) -> Iterator[tuple[int, list[str], Path]]:
    """The cells of each line of ``name.suffix``, with the line's number and the file."""
    file = named_file(folder, [name], [suffix])
    if file is None:
        raise missing(folder, f"{name}.{suffix}", _ORIGIN)
    with open_lines(file) as lines:
        for text in lines:
            cells = text.split()
            if not cells:
                continue
            if len(cells) != n:
                raise lines.error(
                    f"found {len(cells)} columns in {shorten(text)}, where {name}.{suffix} has {n}."
                )
            yield lines.line, cells, file
