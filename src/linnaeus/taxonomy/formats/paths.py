"""One path a line, such as ``A/B/C`` or ``A > B > C``: ids are the paths, titles the last parts.

The separator is the one that continues most lines by others, else the one on most lines. A path
that ends in its separator is the same as without; one before every path is left out.

The Google product taxonomy comes in this form, with a header line and, in one of its two
versions, an id before every path; that version is read by `google`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from linnaeus.errors import FormatError, TaxonomyError, shorten
from linnaeus.taxonomy import lines
from linnaeus.taxonomy.formats import google
from linnaeus.taxonomy.formats.draft import PATH_LIMIT, build
from linnaeus.taxonomy.formats.notes import note
from linnaeus.taxonomy.formats.tables import open_text
from linnaeus.taxonomy.formats.writing import warn_left_out
from linnaeus.taxonomy.taxonomy import Taxonomy

SEPARATORS = (" > ", "/", ">", "::", "|", "»", "→", "\\")


def read(path: Path, sep: str | None = None) -> Taxonomy:
    """Read paths; the separator is guessed unless given."""
    with open_text(path) as file:
        entries = [(file.line, text.strip()) for text in file if text.strip()]
    if entries and entries[0][1].startswith(google.HEADER):
        entries = entries[1:]
    if not entries:
        return build(path, [])
    if google.has_id(entries[0][1]):
        return google.read(path, entries)
    if sep is None:
        sep = guess_separator(text for _, text in entries)
        others = [s for s in SEPARATORS if s.strip() != sep.strip() and _found(s, entries)]
        note(f"paths with {sep.strip()!r} between their parts", guess=bool(others))
    texts = without_start([text for _, text in entries], sep)
    for (line, _), text in zip(entries, texts, strict=True):
        _check(path, line, text, sep)
    return Taxonomy.from_paths(texts, sep)


def without_start(texts: list[str], sep: str) -> list[str]:
    """Paths without the separator before them, if all have one."""
    start = sep.strip()
    if not start or not all(text.startswith(start) for text in texts):
        return texts
    return [text.removeprefix(start).strip() for text in texts]


def _found(sep: str, entries: list[tuple[int, str]]) -> bool:
    return any(sep in text for _, text in entries)


def guess_separator(texts: Iterable[str]) -> str:
    """The separator by which most lines continue others, or else that on most lines."""
    texts = list(dict.fromkeys(texts))
    known = {text.strip() for text in texts}

    def weight(sep: str) -> tuple[int, int]:
        found = [text for text in texts if sep in text]
        return sum(text.rpartition(sep)[0].strip() in known for text in found), len(found)

    return max(SEPARATORS, key=weight)


def _check(path: Path, line: int, text: str, sep: str) -> None:
    parts = lines.without_end(text, sep).split(sep)
    if not all(part.strip() for part in parts):
        start = (
            f"the path {shorten(text)} has an empty part. Write one name between every two "
            f"separators {sep!r}"
        )
        raise FormatError(path, f"{start}, or give another separator with sep=.", line, f"{start}.")
    if len(parts) * len(text) > PATH_LIMIT:
        start = (
            f"the path {shorten(text)} has {len(parts):,} parts, too many for ids that are "
            f"whole paths. Is {sep!r} the separator?"
        )
        remedy = " Put another one between the parts."
        raise FormatError(path, f"{start} If not, give it with sep=.", line, start + remedy)


def write(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write the ids of a tree, if they are paths: every id its parent's and one more part."""
    if not taxonomy.is_tree:
        twice = taxonomy.nodes[int((taxonomy.n_parents > 1).argmax())]
        raise TaxonomyError(
            f"Node {shorten(twice)} has several parents, and so several paths. Write tsv, csv, "
            f"json, obo or skos instead."
        )
    sep = guess_separator(taxonomy.nodes)
    for name, p in zip(taxonomy.nodes, taxonomy.tree.parent.tolist(), strict=True):
        above = taxonomy.nodes[p] if p >= 0 else ""
        if not _continues(name, above, sep):
            below = f" below {shorten(above)}" if above else " (a root)"
            raise TaxonomyError(
                f"Node {shorten(name)}{below} has an id that is no path with the separator "
                f"{sep!r}. Write tsv, csv, json, obo or skos, which keep any id."
            )
    odd = sum(name.split(sep)[-1] != title for name, title in taxonomy.titles.items())
    warn_left_out("titles other than the last part of a path", odd, "paths")
    warn_left_out("related links", len(taxonomy.related), "paths")
    handle.writelines(f"{name}\n" for name in taxonomy.nodes)


def _continues(name: str, above: str, sep: str) -> bool:
    """Whether a name will be read again as the path `above` and one more part."""
    parts = [part.strip() for part in name.split(sep)]
    is_path = all(parts) and sep.join(parts) == name and sep.join(parts[:-1]) == above
    special = google.has_id(name) or name.startswith(google.HEADER)
    return is_path and not special and "\n" not in name and "\r" not in name
