"""OHSUMED (Hersh and others, 1994): MEDLINE abstracts of 1987 to 1991, with MeSH terms.

``ohsumed.87`` to ``ohsumed.91`` hold records; each field is a line with its name, then its text:

    .I 54711                                        .T
    .U                                              A title.
    88000001                                        .P
    .S                                              JOURNAL ARTICLE.
    Alcohol Alcohol 8801; 22(2):103-12              .W
    .M                                              The abstract.
    Acetaldehyde/*ME; Buffers; Human.               .A
                                                    Some I; Body E.

The MeSH trees, ``mtrees2003.bin`` or another year's, hold lines ``name;tree-number``, such as
``Body Regions;A01``. A term stands at one tree number or several, and all of them become labels
([Cai2008] 7.1.4); qualifiers (/ME) and stars are removed first. Terms that the trees lack, such as
check tags and old names, are left out and counted. The tree number less its last part is the one
above; above the first numbers stand letters, A to Z.

[Cai2008] Table 7.4 works on one letter at a time (``select="H"``): the documents with a label
there, and of their labels those.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from linnaeus.errors import FormatError, UserError, shorten
from linnaeus.files import open_lines
from linnaeus.io.build import collect
from linnaeus.io.collection import Collection, Part
from linnaeus.io.originals.source import missing
from linnaeus.io.rows import Example
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.formats.mesh import numbered_names

_FIELD = re.compile(r"\.([IUSMTPWA]):?(?:\s+(.*))?")
_FILE = re.compile(r"ohsumed\.(8[7-9]|9[01])(?:\.gz)?")
_TREES = re.compile(r"(?:mtrees|mesh.?tree).*\.(?:bin|txt|asc)(?:\.gz)?", re.IGNORECASE)
_ORIGIN = (
    "OHSUMED comes with the TREC-9 filtering track (ohsu-trec), and the National Library of "
    "Medicine offers the MeSH trees of each year (mtrees2003.bin)."
)


def read_ohsumed(
    path: str | Path,
    *,
    hierarchy: str | Path | None = None,
    select: str | None = None,
    restrict: bool = True,
) -> Collection:
    """Read OHSUMED records with the MeSH trees.

    Parameters
    ----------
    path : str or Path
        One file of records, which is for training; or a folder with ohsumed.87 (training) and any
        of ohsumed.88 to ohsumed.91 (testing).
    hierarchy : str, Path or None, default=None
        The file of the MeSH trees; if not given it is looked for beside the records.
    select : str or None, default=None
        A letter or tree number; only labels at it or below, and documents that have one.
    restrict : bool, default=True
        Whether to keep of the trees only what occurs, and what lies above.

    Returns
    -------
    Collection
    """
    source = Path(path)
    files = _record_files(source)
    places, taxonomy = read_trees(_tree_file(source, hierarchy))
    if select is not None:
        taxonomy = taxonomy.subtree(select)
        kept = set(taxonomy.nodes)
        places = {term: [n for n in numbers if n in kept] for term, numbers in places.items()}
    read = {name: _part(found, places) for name, found in files.items()}
    read = {name: part for name, part in read.items() if len(part)}
    if not read:
        raise UserError(
            f"No document of {source} has a label{f' below {select}' if select else ''}. Check "
            f"that the trees fit, and that select is a letter or tree number."
        )
    if restrict:
        taxonomy = taxonomy.restrict([row for part in read.values() for row in part.labels])
    return Collection(taxonomy, **read, name=f"ohsumed-{select}" if select else "ohsumed")


def read_trees(path: Path) -> tuple[dict[str, list[str]], Taxonomy]:
    """The tree numbers of every term (in lower case), and the tree of the numbers."""
    places: dict[str, list[str]] = {}
    edges: dict[tuple[str | None, str], int] = {}
    titles: dict[str, str] = {}
    for line, name, _, number in numbered_names(path):
        places.setdefault(name.lower(), []).append(number)
        titles[number] = name
        if "." not in number:
            edges.setdefault((None, number[0]), line)
        edges.setdefault((number.rpartition(".")[0] or number[0], number), line)
    for (parent, child), line in edges.items():
        if parent is not None and len(parent) > 1 and parent not in titles:
            raise FormatError(
                path,
                f"nothing has the tree number {shorten(parent)} above {shorten(child)}. Add the "
                f"line of its parent.",
                line,
            )
    if not edges:
        raise FormatError(path, f"there is no tree number in the file. {_ORIGIN}")
    return places, Taxonomy.from_edges(edges, titles=titles)


def plain_term(term: str) -> str:
    """A MeSH term without qualifiers, stars and case: ``Acetaldehyde/*ME`` is acetaldehyde."""
    return term.partition("/")[0].replace("*", "").strip().lower()


def _record_files(source: Path) -> dict[str, list[Path]]:
    """The files of each part."""
    if source.is_file():
        return {"train": [source]}
    if not source.is_dir():
        raise UserError(
            f"{source} is not there; it should be ohsumed.87 or a folder with it. {_ORIGIN}"
        )
    found = sorted(f for f in source.rglob("ohsumed.*") if _FILE.fullmatch(f.name))
    if not found:
        raise missing(source, "files ohsumed.87 to ohsumed.91", _ORIGIN)
    early = [f for f in found if f.name.startswith("ohsumed.87")]
    late = [f for f in found if f not in early]
    parts = {"train": early or late, "test": late if early else []}
    return {name: files for name, files in parts.items() if files}


def _tree_file(source: Path, given: str | Path | None) -> Path:
    if given is not None:
        return Path(given)
    folder = source if source.is_dir() else source.parent
    found = sorted(f for f in folder.iterdir() if _TREES.fullmatch(f.name))
    if not found:
        raise missing(folder, "the MeSH trees (mtrees*.bin); or name them with hierarchy=", _ORIGIN)
    if len(found) > 1:
        names = ", ".join(f.name for f in found)
        raise UserError(f"{folder} has several MeSH trees: {names}. Name one with hierarchy=.")
    return found[0]


def _part(files: list[Path], places: dict[str, list[str]]) -> Part:
    """The documents that have a label."""
    lost: Counter[str] = Counter()
    part = collect(example for file in files for example in _documents(file, places, lost))
    if not lost:
        return part
    term, n = min(lost.items(), key=lambda item: (-item[1], item[0]))
    note = (
        f"{len(lost):,} MeSH terms are not in the trees and were left out, most often "
        f"{shorten(term)} ({n:,} documents)."
    )
    return replace(part, skipped=(note,))


def _documents(file: Path, places: dict[str, list[str]], lost: Counter[str]) -> Iterator[Example]:
    for record in _records(file):
        terms = {plain_term(t) for t in record.get("M", "").rstrip(" .").split(";")} - {""}
        lost.update(term for term in terms if term not in places)
        labels = sorted({number for term in terms for number in places.get(term, ())})
        if labels:
            text = "\n".join(record[name] for name in ("T", "W") if record.get(name))
            yield Example(record.get("U") or record["I"], labels, text)


def _records(file: Path) -> Iterator[dict[str, str]]:
    """The fields of each record by their letters."""
    record: dict[str, list[str]] = {}
    name = ""
    with open_lines(file) as lines:
        for text in lines:
            match = _FIELD.fullmatch(text)
            if match is None:
                if not record and text.strip():
                    raise lines.error(
                        f"{shorten(text)} stands before the first record. A record begins with "
                        f".I and its number."
                    )
                record.setdefault(name, []).append(text.strip())
                continue
            name, rest = match[1], (match[2] or "").strip()
            if name == "I":
                if record:
                    yield _joined(record)
                if not rest:
                    raise lines.error("the record has no number. Write it as in '.I 54711'.")
                record = {}
            elif not record:
                raise lines.error(f"the field .{name} stands before the first record (.I).")
            record[name] = [rest] if rest else []
    if record:
        yield _joined(record)


def _joined(record: dict[str, list[str]]) -> dict[str, str]:
    return {name: " ".join(" ".join(texts).split()) for name, texts in record.items()}
