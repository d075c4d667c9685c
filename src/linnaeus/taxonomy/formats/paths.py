"""One path a line, such as ``A/B/C`` or ``A > B > C``: ids are the paths, titles the last parts.

The Google product taxonomy comes in this form, with a header line and, in one of its two
versions, an id before every path; that version is read by `google`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from linnaeus.errors import FormatError, TaxonomyError, shorten
from linnaeus.files import open_lines
from linnaeus.taxonomy.formats import google
from linnaeus.taxonomy.formats.draft import PATH_LIMIT, build
from linnaeus.taxonomy.formats.writing import warn_left_out
from linnaeus.taxonomy.taxonomy import Taxonomy

SEPARATORS = (" > ", "/")


def read(path: Path, sep: str | None = None) -> Taxonomy:
    """Read paths; the separator is guessed unless given."""
    with open_lines(path) as lines:
        entries = [(lines.line, text.strip()) for text in lines if text.strip()]
    if entries and entries[0][1].startswith(google.HEADER):
        entries = entries[1:]
    if not entries:
        return build(path, [])
    if google.has_id(entries[0][1]):
        return google.read(path, entries)
    sep = sep or guess_separator(text for _, text in entries)
    for line, text in entries:
        _check(path, line, text, sep)
    return Taxonomy.from_paths((text for _, text in entries), sep)


def guess_separator(lines: Iterable[str]) -> str:
    """The separator that is found on more lines."""
    lines = list(lines)
    return max(SEPARATORS, key=lambda sep: sum(sep in text for text in lines))


def _check(path: Path, line: int, text: str, sep: str) -> None:
    parts = text.split(sep)
    if not all(part.strip() for part in parts):
        raise FormatError(
            path,
            f"the path {shorten(text)} has an empty part. Write one name between every two "
            f"separators {sep!r}, or give another separator with sep=.",
            line,
        )
    if len(parts) * len(text) > PATH_LIMIT:
        raise FormatError(
            path,
            f"the path {shorten(text)} has {len(parts):,} parts, too many for ids that are "
            f"whole paths. Is {sep!r} the separator? If not, give it with sep=.",
            line,
        )


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
