"""Read a collection: find its files, read them row by row, check that they fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.io.arff import read_arff
from linnaeus.io.build import collect
from linnaeus.io.collection import Collection, Part
from linnaeus.io.find import PARTS, find_file, listing, suffix_of
from linnaeus.io.jsonl import read_jsonl
from linnaeus.io.labels import Labels, read_label_ids
from linnaeus.io.parquet import read_parquet
from linnaeus.io.reading import Reading
from linnaeus.io.rows import Example
from linnaeus.io.svm import read_svm
from linnaeus.io.table import read_csv, read_tsv
from linnaeus.taxonomy import Taxonomy

BLOCK = 2048  # rows in memory at a time
READERS: dict[str, Callable[[Reading], Iterator[Example]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "tsv": read_tsv,
    "svm": read_svm,
    "parquet": read_parquet,
    "arff": read_arff,
}


def read_collection(
    path: str | Path = ".",
    *,
    taxonomy: Taxonomy | str | Path | None = None,
    train: str | Path | None = None,
    valid: str | Path | None = None,
    test: str | Path | None = None,
    parts: Sequence[str] = PARTS,
    skip_bad: bool = False,
    dtype: Any = None,
) -> Collection:
    """Read a folder with ``taxonomy.*`` and ``train.*``, ``valid.*``, ``test.*``.

    A sole top node called ``root`` or ``Root`` that no row carries is dropped. Rows without an id
    are called by their number in the file, from 0.

    Parameters
    ----------
    path : str or Path, default='.'
        The folder; where all files are named by their own paths it does not matter.
    taxonomy : Taxonomy, str, Path or None, default=None
        The taxonomy, or its file, by its path or its name in the folder; None for the one that the
        folder's names suggest. Without a taxonomy file the header of an ARFF part is taken.
    train, valid, test : str, Path or None, default=None
        The file of a part, likewise.
    parts : sequence of str, default=('train', 'valid', 'test')
        Which parts to read.
    skip_bad : bool, default=False
        Leave out rows that cannot be read; `Part.skipped` says why. Otherwise the first one raises
        a `FormatError` with the file and the line.
    dtype : dtype or None, default=None
        Value type of features; by default float32 for svm and float64 for tables.

    Returns
    -------
    Collection
    """
    folder = Path(path)
    if not folder.is_dir():
        what = "a file" if folder.exists() else "not there"
        raise UserError(
            f"{folder} is {what}, but the folder of a collection is expected. Give the folder, "
            f"and name files in it with train=, valid=, test= and taxonomy=."
        )
    if not parts or not set(parts) <= set(PARTS):
        raise UserError(f"parts is {shorten(parts)}. Use some of {', '.join(PARTS)}, as a list.")
    given = {"train": train, "valid": valid, "test": test}
    files = _part_files(folder, {name: given[name] for name in PARTS if name in parts})
    tax, smaller = _taxonomy(folder, taxonomy, list(files.values()))
    read: dict[str, Part] = {}
    names: list[str] | None = None
    for name, file in files.items():
        reading = _reading(file, tax, [] if skip_bad else None, names, dtype)
        reading.needs_labels = name == "train"
        read[name] = _read_part(reading)
        names = names or reading.feature_names
    read = _same_width(folder, read)
    carried = (label for part in read.values() for row in part.labels for label in row)
    if smaller is not tax and all(label in smaller for label in carried):
        tax = smaller
    return Collection(tax, **read, name=folder.resolve().name)


def read_training(
    data: str | Path, taxonomy: str | Path | None = None, skip_bad: bool = False
) -> tuple[Taxonomy, Part]:
    """The taxonomy and the training part of a folder, or of a file and the taxonomy beside it.

    Parameters
    ----------
    data : str or Path
        The folder or file.
    taxonomy : str, Path or None, default=None
        The taxonomy's file; None to look for it beside the data.
    skip_bad : bool, default=False
        Leave out rows that cannot be read; `Part.skipped` says why.

    Returns
    -------
    taxonomy : Taxonomy
        The taxonomy.
    part : Part
        The examples.
    """
    data = Path(data)
    if not data.exists():
        raise UserError(f"There is no file or folder {data}. Check the path.")
    folder = data if data.is_dir() else data.parent
    file = None if data.is_dir() else data.resolve()
    collection = read_collection(
        folder, taxonomy=taxonomy, train=file, parts=["train"], skip_bad=skip_bad
    )
    return collection.taxonomy, collection.part("train")


def iter_rows(
    path: str | Path,
    *,
    taxonomy: Taxonomy | None = None,
    feature_names: list[str] | None = None,
    skipped: list[str] | None = None,
    dtype: Any = None,
) -> Iterator[Example]:
    """The examples of one file, one at a time; none is kept.

    Parameters
    ----------
    path : str or Path
        The file.
    taxonomy : Taxonomy or None, default=None
        With one labels are checked; without they stay as written.
    feature_names : list of str or None, default=None
        Columns that a table must have; None for any.
    skipped : list of str or None, default=None
        Where to put a message for each bad row, which is then left out; None raises.
    dtype : dtype or None, default=None
        Type of the features; None for float32 for svm and float64 for tables.

    Returns
    -------
    iterator of Example
    """
    reading = _reading(Path(path), taxonomy, skipped, feature_names, dtype)
    return _reader(reading.path)(reading)


def find_rows(data: str | Path, part: str) -> Path:
    """The file to read: the one given, or that of a part of a folder.

    Parameters
    ----------
    data : str or Path
        A file, or a folder.
    part : {'train', 'valid', 'test'}
        Part of the folder.

    Returns
    -------
    Path
    """
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


def blocks(
    file: Path,
    feature_names: list[str] | None = None,
    skipped: list[str] | None = None,
    kind: str | None = None,
    size: int = BLOCK,
) -> Iterator[Part]:
    """The rows of a file in blocks, none of which is kept; see `iter_rows`.

    Parameters
    ----------
    file : Path
        The file.
    feature_names : list of str or None, default=None
        Columns that a table must have; None for any.
    skipped : list of str or None, default=None
        Where to put a message for each bad row, which is then left out; None raises.
    kind : str or None, default=None
        What rows must be, the `Part.kind` that a model was trained on; None for any.
    size : int, default=2048
        Rows of a block.

    Yields
    ------
    Part
        A block.
    """
    examples = iter_rows(file, feature_names=feature_names, skipped=skipped)
    while len(block := collect(islice(examples, size))):
        check_kind(block, kind, file)
        yield block


def check_kind(rows: Part, kind: str | None, file: Path) -> None:
    """Refuse rows of another kind than a model was trained on."""
    if kind not in (None, rows.kind):
        raise UserError(
            f"The model was trained on {kind}, but {file} holds {rows.kind}. Give rows of the same "
            f"kind, or train a model on these."
        )


def _reading(
    file: Path,
    taxonomy: Taxonomy | None,
    skipped: list[str] | None,
    feature_names: list[str] | None,
    dtype: Any,
) -> Reading:
    if dtype not in (None, float, "float32", "float64", np.float32, np.float64):
        raise UserError(f"dtype is {shorten(dtype)}. Features are 'float32' or 'float64'.")
    labels = Labels(taxonomy)
    if suffix_of(file) == "svm":
        beside = (file.with_name("labels.tsv"), file.with_name("labels.tsv.gz"))
        source = next(filter(Path.is_file, beside), None)
        if source is not None:
            labels = Labels(taxonomy, read_label_ids(source), source)
    return Reading(file, labels, skipped, feature_names, dtype=dtype)


def _reader(file: Path) -> Callable[[Reading], Iterator[Example]]:
    suffix = suffix_of(file)
    if suffix not in READERS:
        raise UserError(
            f"{file} has the unknown suffix {suffix!r}. Known are {', '.join(READERS)}, each also "
            f"with .gz."
        )
    return READERS[suffix]


def _part_files(folder: Path, given: dict[str, str | Path | None]) -> dict[str, Path]:
    """The file of each part that there is."""
    found = {name: find_file(folder, name, file, READERS) for name, file in given.items()}
    files = {name: file for name, file in found.items() if file is not None}
    for file in files.values():
        _reader(file)  # an unknown suffix is an error that names it
    if not files:
        raise UserError(
            f"{folder} has no examples: looked for {', '.join(given)} with one of the suffixes "
            f"{', '.join(READERS)}, plain or .gz. {listing(folder)} Rename a file, or name it: "
            f'{next(iter(given))}="..." (on the command line give the file instead of the folder).'
        )
    return files


def _taxonomy(
    folder: Path, given: Taxonomy | str | Path | None, files: list[Path]
) -> tuple[Taxonomy, Taxonomy]:
    """The taxonomy given, that of the folder, or that in the header of an ARFF file.

    Also the same without an artificial top: its only root, if that is called root.
    """
    if isinstance(given, Taxonomy):
        return given, given.without_top()
    file = find_file(folder, "taxonomy", given, None)
    headers = [f for f in files if suffix_of(f) == "arff"]
    if file is not None or headers:
        found = Taxonomy.read(file) if file else Taxonomy.read(headers[0], format="arff")
        return found, found.without_top()
    raise UserError(
        f"{folder} has no taxonomy: looked for taxonomy.* (an edge list taxonomy.tsv, say, with "
        f"lines 'parent<tab>child'). {listing(folder)} For labels without a hierarchy write lines "
        f"with an empty parent, or pass taxonomy=Taxonomy.flat(labels). A file of another name is "
        f"given by taxonomy= (--taxonomy)."
    )


def _read_part(reading: Reading) -> Part:
    part = collect(_reader(reading.path)(reading))
    skipped = tuple(reading.skipped or ())
    if not len(part):
        first = f" {len(skipped)} were bad, the first: {skipped[0]}" if skipped else ""
        raise reading.error(f"there are no rows.{first} Check the file.")
    return replace(part, feature_names=reading.feature_names, skipped=skipped)


def _same_width(folder: Path, parts: dict[str, Part]) -> dict[str, Part]:
    """Check that all parts hold the same kind of thing; sparse ones become equally wide."""
    kinds = {name: part.kind for name, part in parts.items()}
    if len(set(kinds.values())) > 1:
        said = ", ".join(f"{name} holds {kind}" for name, kind in kinds.items())
        raise UserError(f"The parts of {folder} differ: {said}. Give all parts the same form.")
    if set(kinds.values()) != {"sparse features"}:
        return parts
    width = max(max(part.X.shape[1], len(part.feature_names or ())) for part in parts.values())
    return {name: replace(part, X=_widened(part.X, width)) for name, part in parts.items()}


def _widened(X: sp.csr_array, width: int) -> sp.csr_array:
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
