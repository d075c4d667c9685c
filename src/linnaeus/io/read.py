"""Read a collection: find its files, read them row by row, check that they fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.io.archive import unpacked
from linnaeus.io.build import collect, shared
from linnaeus.io.collection import Collection, Part
from linnaeus.io.columns import PARTS as PART_WORDS
from linnaeus.io.find import PARTS, find_file, listing, only_table, other_taxonomy, suffix_of
from linnaeus.io.joining import joined_rows
from linnaeus.io.labels import Labels, taxonomy_of
from linnaeus.io.options import ReadOptions, Remembered, remembered
from linnaeus.io.readers import READERS, check_dtype, labels_of, reader_of
from linnaeus.io.reading import Reading
from linnaeus.io.stream import rows_of
from linnaeus.io.text_files import Room, room_of
from linnaeus.taxonomy import Taxonomy


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
    options: ReadOptions | Mapping[str, Any] | None = None,
    room: Room | None = None,
) -> Collection:
    """Read a folder with ``taxonomy.*`` and ``train.*``, ``valid.*``, ``test.*``.

    A sole top node called ``root`` or ``Root`` that no row carries is dropped. Rows without an id
    are called by their number in the file, from 0. Without a taxonomy one is made of the labels:
    of paths or levels, else a flat one. What is guessed about a table is said in `Part.notes`.

    Parameters
    ----------
    path : str or Path, default='.'
        The folder, a zip of it, or a single file with all examples (the training part); where all
        files are named by their own paths it does not matter.
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
    options : ReadOptions, dict or None, default=None
        Which columns are what, separators, encoding, the share of rows that may be left out; None
        to look for ``collection.toml``, and to guess.
    room : Room or None, default=None
        How much memory the texts of a part may take, and the folder that holds those of a part
        where they do not fit; None for any number in memory.

    Returns
    -------
    Collection
    """
    if not parts or not set(parts) <= set(PARTS):
        raise UserError(f"parts is {shorten(parts)}. Use some of {', '.join(PARTS)}, as a list.")
    named = {"train": train, "valid": valid, "test": test}
    files, folder, known = _files(Path(path), named, parts)
    check_dtype(dtype)
    asked = ReadOptions.of(options).over(known.about(next(iter(files.values()))))
    tax, smaller = _taxonomy(folder, taxonomy or known.files.get("taxonomy"), list(files.values()))
    read_by = Labels(options=asked, infer=True) if tax is None else None
    how = _How(tax, asked, skip_bad, dtype, read_by, room)
    read = _same_width(folder, _read_parts(files, how))
    if tax is None:
        tax, read = _inferred(read, _unread(folder, files, how), read_by)
    carried = (label for part in read.values() for row in part.labels for label in row)
    if smaller is not None and smaller is not tax and all(label in smaller for label in carried):
        tax = smaller
    wanted = {
        name: replace(part, notes=(*tax.notes, *part.notes))
        for name, part in read.items()
        if name in parts
    }
    return Collection(tax, **wanted, name=folder.resolve().name)


class Training(NamedTuple):
    """What to learn from: a taxonomy, a training part, and a validation part where there is one."""

    taxonomy: Taxonomy
    train: Part
    valid: Part | None
    skipped: tuple[str, ...]  # messages about rows left out on request


def read_parts(
    data: str | Path,
    taxonomy: str | Path | None = None,
    skip_bad: bool = False,
    valid: bool = True,
    options: ReadOptions | Mapping[str, Any] | None = None,
    room: Room | None = None,
) -> Training:
    """What to learn from: of a folder, or of a file and the taxonomy beside it.

    Parameters
    ----------
    data : str or Path
        The folder, a zip of it, or a file.
    taxonomy : str, Path or None, default=None
        The taxonomy's file; None to look for it beside the data.
    skip_bad : bool, default=False
        Leave out rows that cannot be read; `Training.skipped` says why.
    valid : bool, default=True
        Whether to take the validation part, where the folder has one.
    options : ReadOptions, dict or None, default=None
        How a table is read; None to guess.
    room : Room or None, default=None
        How much memory texts may take, and where they go beyond it; None for any.

    Returns
    -------
    Training
    """
    wanted = ["train", "valid"] if valid else ["train"]
    found = read_collection(
        unpacked(data), taxonomy=taxonomy, parts=wanted, skip_bad=skip_bad, options=options,
        room=room,
    )  # fmt: skip
    train = found.part("train")
    more = () if found.valid is None else found.valid.skipped
    return Training(found.taxonomy, train, found.valid, train.skipped + more)


def read_training(
    data: str | Path,
    taxonomy: str | Path | None = None,
    skip_bad: bool = False,
    *,
    options: ReadOptions | Mapping[str, Any] | None = None,
) -> tuple[Taxonomy, Part]:
    """The taxonomy and the training part of a folder, or of a file and the taxonomy beside it.

    Parameters
    ----------
    data : str or Path
        The folder, a zip of it, or a file.
    taxonomy : str, Path or None, default=None
        The taxonomy's file; None to look for it beside the data.
    skip_bad : bool, default=False
        Leave out rows that cannot be read; `Part.skipped` says why.
    options : ReadOptions, dict or None, default=None
        How a table is read; None to guess.

    Returns
    -------
    taxonomy : Taxonomy
        The taxonomy.
    part : Part
        The examples.
    """
    found = read_parts(data, taxonomy, skip_bad, valid=False, options=options)
    return found.taxonomy, found.train


class _How(NamedTuple):
    """How the files of a collection are read; all of them alike."""

    taxonomy: Taxonomy | None
    options: ReadOptions
    skip_bad: bool
    dtype: Any
    shared: Labels | None  # where there is no taxonomy: what all labels are read by
    room: Room | None = None

    def room_for(self, name: str) -> Room | None:
        """Where the texts of a part go that do not fit in memory."""
        return self.room and self.room._replace(folder=self.room.folder / name)

    def reading(self, file: Path) -> Reading:
        skipped: list[str] | None = [] if self.skip_bad else None
        labels = self.shared or labels_of(file, self.taxonomy, self.options)
        return Reading(file, labels, skipped, dtype=self.dtype, options=self.options)


def _files(
    path: Path, given: dict[str, Any], parts: Sequence[str]
) -> tuple[dict[str, Path], Path, Remembered]:
    """The file of each part, the folder of the taxonomy, and what the folder remembers."""
    path = path if any(given.values()) and not path.exists() else unpacked(path)
    if path.is_dir():
        known = remembered(path)
        asked = {name: given[name] or known.files.get(name) for name in PARTS if name in parts}
        return _part_files(path, asked), path, known
    if any(given.values()):
        raise UserError(
            f"{path} is a file, and files of parts are named too. Give the folder, or one file."
        )
    reader_of(path)  # an unknown suffix is an error that names it
    if path.name.casefold().startswith("taxonomy."):
        raise UserError(f"{path} is the taxonomy. Give the file of the examples, or the folder.")
    return {"train": path}, path.parent, remembered(path.parent)


def _read_parts(files: dict[str, Path], how: _How) -> dict[str, Part]:
    """The parts, which share features, and what was found out about their tables."""
    read: dict[str, Part] = {}
    names: list[str] | None = None
    for name, file in files.items():
        reading = how.reading(file)
        reading.feature_names, reading.needs_labels = names, name == "train"
        reading.before = next((p.columns for p in read.values() if p.columns), ReadOptions())
        read[name] = _read_part(reading, how.room_for(name))
        names = names or reading.feature_names
        if len(files) == 1 and reading.layout is not None and reading.layout.part is not None:
            _check_room(reading, read[name], reading.layout.names[reading.layout.part])
            return by_part(read[name], reading.layout.names[reading.layout.part])
    return read


def _check_room(reading: Reading, part: Part, column: str) -> None:
    if room_of(part.texts) is not None:
        raise reading.error(
            f"the column {shorten(column)} tells the parts, but the texts do not fit in memory. "
            f"Write a file for each part, or allow more memory."
        )


def by_part(part: Part, column: str) -> dict[str, Part]:
    """The parts that a column of one table tells apart.

    Parameters
    ----------
    part : Part
        All rows.
    column : str
        The column, whose values are such as train and test.

    Returns
    -------
    dict of str to Part
    """
    told = [PART_WORDS.get(str(row[column]).strip().casefold()) for row in part.metadata or ()]
    rows = {name: [i for i, said in enumerate(told) if said == name] for name in PARTS}
    sizes = ", ".join(f"{name} {len(found):,}" for name, found in rows.items() if found)
    note = f"The column {shorten(column)} tells the parts: {sizes} rows."
    return {
        name: replace(part.take(found), skipped=part.skipped, notes=(*part.notes, note))
        for name, found in rows.items()
        if found
    }


def _unread(folder: Path, files: dict[str, Path], how: _How) -> list[Part]:
    """The parts that were not asked for, of whose labels a taxonomy is made too."""
    if not set(files.values()) <= set(folder.iterdir()):
        return []
    others = {name: find_file(folder, name, None, READERS) for name in PARTS if name not in files}
    there = {name: file for name, file in others.items() if file is not None}
    if how.room is not None:  # apart from the parts that are wanted
        how = how._replace(room=how.room._replace(folder=how.room.folder / "others"))
    return list(_read_parts(there, how).values())


def _inferred(
    read: dict[str, Part], others: list[Part], labels: Any
) -> tuple[Taxonomy, dict[str, Part]]:
    """A taxonomy of the labels of all parts, and the parts with its nodes as labels."""
    first = next(iter(read.values()))
    levels = bool(first.columns and first.columns.levels)
    rows = [row for part in [*read.values(), *others] for row in part.labels]
    tax, names = taxonomy_of(rows, levels, labels.path_separator)
    flat = len(tax.roots) == len(tax)
    made = f"{len(tax):,} labels without a hierarchy" if flat else f"{len(tax):,} nodes"
    note = f"There is no taxonomy file: the labels make a taxonomy of {made}."

    def named(part: Part) -> Part:
        rows = (list(dict.fromkeys(names[path] for path in row)) for row in part.labels)
        labels = list(rows) if room_of(part.texts) is None else shared(rows)
        return replace(part, labels=labels, notes=(*part.notes, note))

    return tax, {name: named(part) for name, part in read.items()}


def _part_files(folder: Path, given: dict[str, str | Path | None]) -> dict[str, Path]:
    """The file of each part that there is."""
    found = {name: find_file(folder, name, file, READERS) for name, file in given.items()}
    files = {name: file for name, file in found.items() if file is not None}
    for file in files.values():
        reader_of(file)  # an unknown suffix is an error that names it
    if (
        not files
        and "train" in given
        and (only := only_table(folder, [s for s in READERS if s != "txt"])) is not None
    ):
        return {"train": only}
    if not files:
        for other in (find_file(folder, name, None, None) for name in given):
            if other is not None:
                reader_of(other)  # which says what is wrong with its suffix
        said = (
            f"{folder} has no examples: looked for {', '.join(given)} with one of the suffixes "
            f"{', '.join(READERS)}, plain or .gz. {listing(folder)} Rename a file, or "
        )
        raise UserError(
            f'{said}name it: {next(iter(given))}="...".', f"{said}give it instead of the folder."
        )
    return files


def _taxonomy(
    folder: Path, given: Taxonomy | str | Path | None, files: list[Path]
) -> tuple[Taxonomy | None, Taxonomy | None]:
    """The taxonomy given, that of the folder, or that in the header of an ARFF file; or None.

    Also the same without an artificial top: its only root, if that is called root.
    """
    if isinstance(given, Taxonomy):
        return given, given.without_top()
    file = find_file(folder, "taxonomy", given, None)
    headers = [f for f in files if suffix_of(f) == "arff"]
    if file is None and not headers and (other := other_taxonomy(folder, files)) is not None:
        return _other(other)
    if file is not None or headers:
        found = Taxonomy.read(file) if file else Taxonomy.read(headers[0], format="arff")
        return found, found.without_top()
    if all(suffix_of(f) != "svm" for f in files):
        return None, None
    said = (
        f"{folder} has no taxonomy: looked for taxonomy.* (an edge list taxonomy.tsv, say, with "
        f"lines 'parent<tab>child'). {listing(folder)} For labels without a hierarchy write lines "
        f"with an empty parent{{}}. A file of another name is given {{}}."
    )
    raise UserError(
        said.format(", or pass taxonomy=Taxonomy.flat(labels)", "by taxonomy=..."),
        said.format("", "with --taxonomy"),
    )


def _other(file: Path) -> tuple[Taxonomy, Taxonomy]:
    """The taxonomy of a file that is called otherwise, with a note that says so."""
    found = Taxonomy.read(file)
    smaller = found.without_top()
    for tax in {id(found): found, id(smaller): smaller}.values():
        tax.__dict__["notes"] = (f"the taxonomy is {file.name}", *found.notes)
    return found, smaller


def _read_part(reading: Reading, room: Room | None = None) -> Part:
    part = collect(rows_of(reading), room=room)
    skipped = tuple(reading.skipped or ())
    if not len(part):
        first = f" {len(skipped)} were bad, the first: {skipped[0]}" if skipped else ""
        raise reading.error(f"there are no rows.{first} Check the file.")
    reading.check_share()
    made = replace(
        part, feature_names=reading.feature_names, skipped=skipped, columns=reading.columns,
        notes=(*reading.say(), *_said_of_room(reading.path, part)),
    )  # fmt: skip
    return made if reading.layout is None else joined_rows(made, reading.layout.id is not None)


def _said_of_room(file: Path, part: Part) -> list[str]:
    """That texts are on disk, and what is not kept of them."""
    if room_of(part.texts) is None:
        return []
    return [
        f"{file.name}: the texts do not fit in the memory allowed, so they are read from disk; "
        f"other columns are left out."
    ]


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
