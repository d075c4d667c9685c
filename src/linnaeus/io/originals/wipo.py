"""WIPO-alpha: patent applications as XML files, classified by the IPC.

A folder, with ``train`` and ``test`` in it or not, holds files ``A/01/B/001/*.xml`` or the like.
What counts is in the files:

    <record ... pn="WO9700001" ...>
      <ipcs ed="6" mc="A01B00102"> <ipc ic="A01B00304"/> ... </ipcs>
      <tis><ti xml:lang="EN">...</ti></tis>  <abs><ab xml:lang="EN">...</ab></abs>
      <cls><cl xml:lang="EN">...</cl></cls>  <txts><te xml:lang="EN">...</te></txts>
    </record>

``mc`` is the main class, ``ic`` are further ones. A code is a section (A), a class (A01), a
subclass (A01B), a main group of three digits (A01B001), and a subgroup, which is left out: the
classes are main groups, all on the fourth level ([Cai2008] 7.1.2). The taxonomy holds the groups
that occur, and what lies above them.

`select` is a section, class or subclass. One label each, documents count whose main class lies
there; with `multilabel` all documents that have a class there, with those of their classes
([Cai2008] Tables 7.1 and 7.2). Cai took titles and claims; of long descriptions the first 300
words are usual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from linnaeus.errors import FormatError, UserError, check_choice, shorten
from linnaeus.io.build import collect
from linnaeus.io.collection import Collection
from linnaeus.io.originals.source import folder_of, missing
from linnaeus.io.originals.xml_records import read_xml
from linnaeus.io.rows import Example
from linnaeus.taxonomy import Taxonomy

TAGS = {
    "title": {"ti", "tis", "title"},
    "abstract": {"ab", "abs", "abstract"},
    "claims": {"cl", "cls", "claims"},
    "description": {"te", "txt", "txts", "description"},
}
_CODE = re.compile(r"([A-H])(\d\d)([A-Z])(\d{3})\d*")
_LANGUAGE = ("xml:lang", "lang", "l")
_WANTED = "files *.xml with <record> and <ipcs mc=...>, in folders train and test or A to H"
_ORIGIN = (
    "The World Intellectual Property Organization offers the WIPO-alpha collection on request: "
    "unpack it, and give its folder."
)


@dataclass(frozen=True)
class _Choice:
    """What of a record is wanted."""

    text: tuple[str, ...]
    words: int
    language: str
    select: str
    multilabel: bool


def read_wipo(
    path: str | Path,
    *,
    select: str | None = None,
    multilabel: bool = False,
    text: Sequence[str] = ("title", "claims"),
    words: int = 300,
    language: str = "EN",
) -> Collection:
    """Read the XML files of a folder.

    Parameters
    ----------
    path : str or Path
        The folder with train and test; or any folder of XML files, which are all for training.
    select : str or None, default=None
        A section such as "D", a class or a subclass.
    multilabel : bool, default=False
        Whether to take the further classes of a document too.
    text : sequence of str, default=('title', 'claims')
        Which of title, abstract, claims, description make the text, in this order.
    words : int, default=300
        Most words of the description.
    language : str, default='EN'
        Texts that are marked as of another language are left out.

    Returns
    -------
    Collection
    """
    folder = folder_of(path, _WANTED, _ORIGIN)
    wanted = (text,) if isinstance(text, str) else tuple(text)
    for piece in wanted:
        check_choice("text", piece, TAGS)
    if not wanted:
        raise UserError(f"text is empty. Name some of {', '.join(TAGS)}.")
    choice = _Choice(wanted, words, language.upper(), select or "", multilabel)
    below = {p.name.lower(): p for p in sorted(folder.iterdir()) if p.is_dir()}
    places = {name: below[name] for name in ("train", "test") if name in below}
    read = {
        name: collect(_documents(place, choice))
        for name, place in (places or {"train": folder}).items()
    }
    groups = {label for part in read.values() for row in part.labels for label in row}
    if not groups:
        raise UserError(
            f"No document of {folder} has a class that begins with {shorten(choice.select)}. Give "
            f"select= a section (A to H), a class such as D01 or a subclass such as D01B."
        )
    taxonomy = ipc_tree(sorted(groups))
    if select is not None:
        taxonomy = taxonomy.subtree(select)
    return Collection(taxonomy, **read, name=f"wipo-{select}" if select else "wipo")


def main_group(code: str) -> str | None:
    """Section, class, subclass and main group of a code, as one name; None if it is no code."""
    match = _CODE.fullmatch("".join(code.split()).upper())
    return None if match is None else "".join(match.groups())


def ipc_tree(groups: Sequence[str]) -> Taxonomy:
    """Main groups below subclasses, classes and sections."""
    edges: dict[tuple[str | None, str], None] = {}
    for group in groups:
        section, class_, subclass = group[:1], group[:3], group[:4]
        edges |= dict.fromkeys(
            [(None, section), (section, class_), (class_, subclass), (subclass, group)]
        )
    return Taxonomy.from_edges(edges)


def _documents(place: Path, choice: _Choice) -> Iterator[Example]:
    files = sorted(f for f in place.rglob("*") if f.suffix.lower() == ".xml" and f.is_file())
    if not files:
        raise missing(place, _WANTED, _ORIGIN)
    for file in files:
        top = read_xml(file)
        for record in [top] if top.tag == "record" else top.iter("record"):
            labels = _labels(file, record, choice)
            if labels:
                key = record.get("pn") or record.get("an") or file.stem
                yield Example(key, labels, _text(record, choice))


def _labels(file: Path, record: Element, choice: _Choice) -> list[str]:
    """The main groups of a record that are wanted, the main one first."""
    ipcs = record.find(".//ipcs")
    if ipcs is None or not ipcs.get("mc"):
        raise FormatError(
            file, "the record has no main class: <ipcs mc=...> is missing. Remove the file."
        )
    codes = [ipcs.get("mc", "")]
    if choice.multilabel:
        codes += [ipc.get("ic", "") for ipc in ipcs.iter("ipc")]
    groups = []
    for code in codes:
        group = main_group(code)
        if group is None:
            raise FormatError(
                file,
                f"the class {shorten(code)} is not a code of the IPC such as A01B00102. Correct "
                f"or remove it.",
            )
        groups.append(group)
    return [group for group in dict.fromkeys(groups) if group.startswith(choice.select)]


def _text(record: Element, choice: _Choice) -> str:
    pieces = []
    for name in choice.text:
        found = " ".join(" ".join(_pieces(record, TAGS[name], choice.language)).split())
        if name == "description":
            found = " ".join(found.split()[: choice.words])
        pieces.append(found)
    return "\n".join(piece for piece in pieces if piece)


def _pieces(element: Element, tags: set[str], language: str) -> Iterator[str]:
    """The texts of the innermost elements with these tags, less those in other languages."""
    for child in element:
        marked = next((child.get(a, "") for a in _LANGUAGE if child.get(a)), language)
        if marked.upper() != language:
            continue
        around = any(inner.tag in tags for inner in child.iter() if inner is not child)
        if child.tag in tags and not around:
            yield "".join(child.itertext())
        else:
            yield from _pieces(child, tags, language)
