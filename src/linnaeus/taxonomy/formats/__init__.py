"""Taxonomy files: what can be read and written, and under which names.

`read` guesses the format from the name and the content of a file; `write` follows the name. All
files may be plain or gzip (``.gz``). Names are text: integer names are written as text and come
back as text. What a format says about edges comes back the same; tsv, csv, json, obo and skos
also keep titles, related links and the order of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from linnaeus.errors import FormatError, UserError, shorten
from linnaeus.files import atomic_write
from linnaeus.taxonomy.formats import (
    arff,
    edge_list,
    enzclass,
    guess,
    json_tree,
    lshtc,
    mesh,
    obo,
    outline,
    paths,
    skos,
    skos_write,
)  # fmt: skip
from linnaeus.taxonomy.formats.notes import Notes, noted
from linnaeus.taxonomy.formats.writing import with_text_names
from linnaeus.taxonomy.taxonomy import Taxonomy

Writer = Callable[[Taxonomy, TextIO], None]
_XML_SUFFIXES = ("rdf", "xml")


class Format(NamedTuple):
    """A known format: what it is, how it is read, and how it is written if it can be."""

    about: str
    read: Callable[..., Taxonomy]
    write: Writer | None = None
    options: tuple[str, ...] = ()


FORMATS = {
    "tsv": Format(
        "table with tabs: parent, child; or as its header says",
        edge_list.read_tsv, edge_list.write_tsv,
    ),
    "csv": Format(
        "the same with commas or semicolons; or level columns",
        edge_list.read_csv, edge_list.write_csv,
    ),
    "paths": Format(
        "one path per line: A/B/C or A > B > C; the Google product taxonomy",
        paths.read, paths.write, ("sep",),
    ),
    "obo": Format("OBO ontology: is_a and part_of", obo.read, obo.write),
    "skos": Format(
        "SKOS thesaurus: Turtle or RDF/XML", skos.read, skos_write.write_turtle, ("language",)
    ),
    "json": Format("nested, AudioSet-like, or our own form", json_tree.read, json_tree.write),
    "lshtc": Format("cat_hier: parent, space, child", lshtc.read, lshtc.write),
    "outline": Format("names indented below one another", outline.read, outline.write),
    "mesh": Format("MeSH: name;tree-number, or a table with mesh_tree_number", mesh.read),
    "enzclass": Format("ENZYME nomenclature, enzclass.txt", enzclass.read),
    "arff": Format("the class hierarchy in a Clus ARFF header", arff.read),
    "xlsx": Format("as csv, on the first sheet of a workbook", edge_list.read_xlsx),
}  # fmt: skip


def read(path: str | Path, format: str | None = None, **options: Any) -> Taxonomy:
    """Read a taxonomy file; `Taxonomy.notes` says what had to be guessed.

    format : one of `FORMATS`; guessed from the name and the content when not given
    options : ``sep`` for paths; ``language`` of the titles for skos
    """
    return read_noted(path, format, **options)[0]


def read_noted(
    path: str | Path, format: str | None = None, **options: Any
) -> tuple[Taxonomy, Notes]:
    """A taxonomy file, and how it was understood."""
    with noted() as notes:
        taxonomy = _read(Path(path), format, **options)
    taxonomy.__dict__["notes"] = tuple(notes.guesses)  # of a taxonomy that nobody else has yet
    return taxonomy, notes


def _read(path: Path, format: str | None, **options: Any) -> Taxonomy:
    if format is None:
        format, first = guess.by_name_and_content(path)
        if format is None:
            start = (
                f"the format cannot be guessed from the name or the content, which begins with "
                f"{shorten(first)}."
            )
            python, shell = _ask(_names())
            raise FormatError(path, f"{start} {python}", shell=f"{start} {shell}")
    known = _format(format)
    for name in options:
        if name not in known.options:
            takes = f"takes {', '.join(known.options)}" if known.options else "takes no options"
            raise UserError(f"The format {format!r} {takes}, not {name!r}. Leave it out.")
    return known.read(path, **options)


def write(taxonomy: Taxonomy, path: str | Path, format: str | None = None) -> None:
    """Write a taxonomy file, whole or not at all; gzip when the name ends in ``.gz``.

    format : one of the writable `FORMATS`; follows from the name when not given. SKOS is written
        as RDF/XML under the suffixes .rdf and .xml, as Turtle under any other
    """
    path = Path(path)
    writer = _writer(path, format)
    if not len(taxonomy):
        raise UserError(f"The taxonomy has no nodes, so there is nothing to write to {path}.")
    text = _written(taxonomy, writer)
    with atomic_write(path) as handle:
        handle.write(text)


def as_text(taxonomy: Taxonomy, format: str) -> str:
    """What a file of this format says."""
    return _written(taxonomy, _writer(Path(f"taxonomy.{format}"), format))


def _written(taxonomy: Taxonomy, writer: Writer) -> str:
    handle = StringIO()
    try:
        writer(with_text_names(taxonomy), handle)
        handle.getvalue().encode()
    except UnicodeEncodeError as error:
        bad = error.object[max(0, error.start - 20) : error.end]
        raise UserError(
            f"The text {shorten(bad)} cannot be written as UTF-8 ({error.reason}). "
            f"Remove the broken character from the name or title."
        ) from None
    return handle.getvalue()


def check_target(path: str | Path, format: str | None = None) -> None:
    """Refuse a file that could not be written, before long work begins."""
    path = Path(path)
    _writer(path, format)
    if not path.parent.is_dir():
        raise UserError(f"There is no folder {path.parent} to write {path.name} into.")


def _writer(path: Path, format: str | None) -> Writer:
    suffix = guess.stem_and_suffix(path)[1]
    chosen = format or guess.by_name(path) or ("paths" if suffix == "txt" else None)
    if chosen is None:
        start = f"The name {path.name} does not say in which format to write. Use a suffix such as"
        known = _names(writable=True)
        raise UserError(
            f"{start} .tsv, or pass format= one of {known}.",
            f"{start} .tsv, or give one with --to: {known}.",
        )
    writer = _format(chosen).write
    if writer is None:
        python, shell = _ask(_names(writable=True), "--to")
        start = f"The format {chosen!r} can be read but not written."
        raise UserError(f"{start} {python}", f"{start} {shell}")
    return skos_write.write_xml if chosen == "skos" and suffix in _XML_SUFFIXES else writer


def _format(name: str) -> Format:
    if name not in FORMATS:
        python, shell = _ask(_names())
        start = f"{shorten(name)} is not a known taxonomy format."
        raise UserError(f"{start} {python}", f"{start} {shell}")
    return FORMATS[name]


def _ask(known: str, option: str = "--format") -> tuple[str, str]:
    """How to name a format, in Python and at the shell."""
    return f"Pass format= one of {known}.", f"Give one with {option}: {known}."


def _names(writable: bool = False) -> str:
    return ", ".join(name for name, f in FORMATS.items() if f.write or not writable)
