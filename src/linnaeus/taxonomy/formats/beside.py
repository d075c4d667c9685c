"""Files beside an edge list called ``taxonomy``: titles in ``labels``, links in ``related``.

``labels.tsv`` holds an id and a title on every line, ``related.tsv`` two ids. In the folder of a
collection (with a train, valid or test part, or .svm files) ``labels.tsv`` means something else
and is left alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator
from pathlib import Path

from linnaeus.taxonomy.formats.draft import add_title, column_error
from linnaeus.taxonomy.formats.guess import stem_and_suffix
from linnaeus.taxonomy.formats.tables import open_rows

_PARTS = ("train", "valid", "test")


def titles(path: Path, nodes: Container[object]) -> dict[str, str]:
    """Titles from ``labels.tsv`` or ``labels.tsv.gz``; those of other ids are left out."""
    labels = _companion(path, "labels")
    if labels is None or _in_collection(path):
        return {}
    found: dict[str, str] = {}
    for line, name, title in _pairs(labels):
        if name in nodes:
            add_title(labels, found, name, title, line)
    return found


def related(path: Path, nodes: Container[object]) -> list[tuple[str, str]]:
    """Links from ``related.tsv`` or ``related.tsv.gz``; those of other ids are left out."""
    links = _companion(path, "related")
    if links is None:
        return []
    pairs = [(a, b) for _, a, b in _pairs(links)]
    kept = [(a, b) for a, b in pairs if a in nodes and b in nodes]
    if len(kept) < len(pairs):
        warnings.warn(
            f"{links}: {len(pairs) - len(kept)} of {len(pairs)} related links are left out "
            f"because they name nodes that {path.name} does not have.",
            stacklevel=2,
        )
    return kept


def _companion(path: Path, stem: str) -> Path | None:
    if stem_and_suffix(path)[0] != "taxonomy":
        return None
    candidates = (path.parent / f"{stem}.tsv", path.parent / f"{stem}.tsv.gz")
    return next((c for c in candidates if c.is_file()), None)


def _in_collection(path: Path) -> bool:
    names = (stem_and_suffix(other) for other in path.parent.iterdir())
    return any(stem in _PARTS or suffix == "svm" for stem, suffix in names)


def _pairs(path: Path) -> Iterator[tuple[int, str, str]]:
    with open_rows(path, "\t") as rows:
        for line, cells in rows:
            if len(cells) != 2:
                remedy = "Write two, with a tab between them."
                raise column_error(path, line, "\t".join(cells), len(cells), remedy)
            yield line, cells[0], cells[1]
