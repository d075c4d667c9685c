"""Which files of a folder make up a collection."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from linnaeus.errors import UserError

PARTS = ("train", "valid", "test")
_ALSO = {  # what else files are called
    "train": ("training",), "valid": ("validation", "val", "dev"), "test": ("testing",),
    "taxonomy": (
        "categories", "category_tree", "hierarchy", "thesaurus", "classification", "taxonomie",
        "kategorien",
    ),
}  # fmt: skip


def find_file(
    folder: Path, stem: str, given: str | Path | None, suffixes: Iterable[str] | None
) -> Path | None:
    """The file given, by path or by its name in the folder; else the one called ``stem.*``.

    `suffixes` are those that count (None: any).
    """
    if given is not None:
        return _explicit(folder, stem, Path(given))
    found = _called(folder, (stem,), suffixes)
    if not found and stem in PARTS:
        found = _called(folder, _ALSO[stem], suffixes)
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        said = f"{folder} has {len(found)} files for {stem}: {names}. Remove all but one, or name "
        shell = "it instead of the folder." if stem != "taxonomy" else "one with --taxonomy."
        raise UserError(f'{said}one: {stem}="{found[0].name}".', said + shell)
    return found[0] if found else None


def _called(folder: Path, stems: Iterable[str], suffixes: Iterable[str] | None) -> list[Path]:
    """The files of these names, of these suffixes or of any."""
    return [
        path
        for path in sorted(folder.iterdir())
        if _stem(path) in stems
        and (suffix_of(path) in suffixes if suffixes else path.suffix)
        and path.is_file()
    ]


def _stem(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem.casefold()


def other_taxonomy(folder: Path, parts: Iterable[Path]) -> Path | None:
    """The only file beside the parts that is called as taxonomies are, as categories.csv."""
    found = [path for path in _called(folder, _ALSO["taxonomy"], None) if path not in parts]
    return found[0] if len(found) == 1 else None


def only_table(folder: Path, suffixes: Iterable[str]) -> Path | None:
    """The only file of a folder that can hold examples, whatever it is called; None if several."""
    beside = ("taxonomy", "labels", "titles", "related", "readme", *PARTS)
    found = [
        path
        for path in sorted(folder.iterdir())
        if path.is_file()
        and suffix_of(path) in suffixes
        and _stem(path) not in beside
        and not path.name.startswith((".", "~"))
    ]
    if len(found) > 1:
        found = [path for path in found if _stem(path) not in _ALSO["taxonomy"]]
    return found[0] if len(found) == 1 else None


def suffix_of(path: Path) -> str:
    """What the name of a file ends in, without ``.gz``: "jsonl" for train.jsonl.gz."""
    return Path(path.name.removesuffix(".gz")).suffix[1:].lower()


def _explicit(folder: Path, stem: str, given: Path) -> Path:
    for path in (folder / given, given):
        if path.is_file():
            return path
    said = f"was given, but there is neither {folder / given} nor {given}. Check the path."
    raise UserError(f"{stem}={str(given)!r} {said}", f"The {stem} {str(given)!r} {said}")


def listing(folder: Path) -> str:
    """What is in a folder, for messages."""
    names = sorted(path.name for path in folder.iterdir())
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"It holds: {shown}." if names else "It is empty."
