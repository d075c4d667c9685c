"""A model as a directory of plain files.

    model.json          what it is, the checksums of the others, and the state of the object
    taxonomy.tsv        the taxonomy as an edge list, for people and other programs
    vocabulary.json     large lists of names and words
    arrays.safetensors  all numbers, memory-mapped when the model is loaded
    made.json           date, versions of the libraries, and measured seconds
    index.safetensors   many sparse weights by feature (index-2 where there are two); may be deleted

Equal objects give equal bytes, made.json excepted: nothing else depends on the machine, the time or
the place. Nothing is ever pickled, and nothing in a file is ever run.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linnaeus.errors import FormatError, UserError, nearest, shorten
from linnaeus.files import not_writable
from linnaeus.storage import arrays, document, made, replacing
from linnaeus.storage.folders import Folder
from linnaeus.storage.state import State, from_state, to_state
from linnaeus.taxonomy import Taxonomy, formats

ARRAYS, TEXTS = "arrays.safetensors", "vocabulary.json"
# made of the arrays, and checked against them when they are used
INDEXES = ("index.safetensors", "index-2.safetensors")
TAXONOMIES = ("taxonomy.tsv", "taxonomy.json")  # the second where names hold tabs or line breaks
_CHECKED = frozenset((ARRAYS, TEXTS, *TAXONOMIES))  # by the checksums of model.json
FILES = _CHECKED | {document.NAME, made.NAME, *INDEXES}
_TRIES = 20  # a model may be replaced by another while it is read


def save(
    obj: Any,
    path: str | Path,
    about: Mapping[str, Any] | None = None,
    seconds: Mapping[str, float] | None = None,
) -> None:
    """Write a fitted object as a directory, whole or not at all.

    Parameters
    ----------
    obj : object
        An estimator or decision of linnaeus, a `Model`, a `Taxonomy`, or plain data around these.
    path : str or Path
        The directory; a model that is there already is replaced.
    about : dict or None, default=None
        What to tell people, as JSON; None for the class and its parameters.
    seconds : dict or None, default=None
        How long the work took, by its steps, for made.json.
    """
    target = replacing.recover(Path(path).resolve())
    check_target(target)
    found = to_state(obj)
    told = document.plain(dict(_description(obj) if about is None else about))
    told, spent = made.split(told, "about")
    with replacing.replaced(target) as folder:
        entries = {
            "format": document.FORMAT,
            "format_version": document.VERSION,
            "linnaeus": _version(),
            "about": told,
            "taxonomy": _write_taxonomy(folder, found.taxonomy),
        }
        arrays.write(folder / ARRAYS, found.arrays)
        (folder / TEXTS).write_text(document.dump(found.texts) + "\n", "utf-8", newline="\n")
        entries["files"] = {file.name: _fingerprint(file) for file in sorted(folder.iterdir())}
        entries["state"] = found.tree
        (folder / document.NAME).write_bytes(document.compose(entries))
        made.write(folder, _version(), {**(seconds or {}), **spent, **found.seconds})


def load(path: str | Path, verify: bool = True) -> Any:
    """The object that was saved in a directory; its arrays are read when they are used.

    Parameters
    ----------
    path : str or Path
        The directory.
    verify : bool, default=True
        Whether to compare the checksums of all files, which reads them once; without it sizes
        only.

    Returns
    -------
    object
        The object.
    """
    for last in [False] * (_TRIES - 1) + [True]:
        with _readable(path):
            folder = model_folder(Path(path))
            with replacing.held(folder) as pinned:
                try:
                    return _read(pinned, verify)
                except (FormatError, OSError) as error:
                    if last or not replacing.is_replaced(pinned, folder):
                        raise _about_folder(error, pinned, folder) from None


def read_about(path: str | Path) -> dict[str, Any]:
    """What is told about a model; arrays are not looked at.

    Parameters
    ----------
    path : str or Path
        The directory.

    Returns
    -------
    dict
        Format, format_version, linnaeus, about, taxonomy and files of model.json; made: what
        made.json says, if it is there.
    """
    with _readable(path):
        folder = model_folder(Path(path))
        entries = _entries(folder) | {"made": made.read(folder)}
    return {key: value for key, value in entries.items() if key not in ("state", "checksum")}


def folder_of(path: str | Path) -> Folder:
    """The files of a model as what tasks are given to open.

    Parameters
    ----------
    path : str or Path
        The directory.

    Returns
    -------
    Folder
    """
    with _readable(path):
        names = [document.NAME, *sorted(FILES - {document.NAME})]
        return Folder.of(model_folder(Path(path)), names)


# -- writing --------------------------------------------------------------------------------


def check_target(target: Path) -> None:
    """Refuse to replace what is not a model, or to lose files that are not of a model.

    Parameters
    ----------
    target : Path
        Directory that is to be written.
    """
    if not target.parent.is_dir() or (target.exists() and not target.is_dir()):
        raise not_writable(target)
    with _readable(target):
        held = sorted(file.name for file in target.iterdir()) if target.is_dir() else []
    if not held:
        return
    if document.NAME not in held:
        raise UserError(
            f"The folder {target} holds {_some(held)} and no model. Name another folder, which "
            f"need not exist; only models and empty folders are replaced."
        )
    try:
        read_about(target)
    except UserError as error:
        raise UserError(
            f"The folder {target} is not replaced. {error} Or name another folder."
        ) from None
    others = [name for name in held if name not in FILES]
    if others:
        raise UserError(
            f"The model {target} is not replaced: {_some(others)} beside it would be lost. Move "
            f"that elsewhere, or name another folder."
        )


def _write_taxonomy(folder: Path, taxonomy: Taxonomy | None) -> dict[str, Any] | None:
    """The taxonomy in a format that holds its names, if there is one."""
    if taxonomy is None:
        return None
    told: dict[str, Any] = {"nodes": len(taxonomy), "digest": taxonomy.digest()}
    for name in TAXONOMIES if len(taxonomy) else ():
        try:
            text = formats.as_text(taxonomy, Path(name).suffix[1:])
            (folder / name).write_text(text, "utf-8", newline="\n")
            return {"file": name, **told}
        except UserError:  # a tab in a name; 1 and "1" are two names, but one text
            continue
    return {"file": None, **told}


def _fingerprint(file: Path) -> dict[str, Any]:
    with file.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return {"sha256": digest, "size": file.stat().st_size}


def _version() -> str:
    """Of linnaeus; asked for by name, since its front door knows every layer."""
    return str(importlib.import_module("linnaeus").__version__)


def _description(obj: Any) -> dict[str, Any]:
    """The class of an object and its parameters; nothing about its parts that are objects."""
    told: dict[str, Any] = {"class": type(obj).__name__}
    if hasattr(obj, "get_params"):
        never = getattr(obj, "_never_saved", ())
        found = obj.get_params(deep=False)
        told["parameters"] = {key: value for key, value in found.items() if key not in never}
    return told


# -- reading --------------------------------------------------------------------------------


def model_folder(path: Path) -> Path:
    """The folder to read; an error that says what is there instead."""
    place = path.resolve()
    found = replacing.recover(place)
    folder = path if found == place else found
    if (folder / document.NAME).is_file():
        return folder
    if path.is_file():
        hint = " Name the folder of a model."
        if path.name in FILES:
            hint = f" Did you mean the folder {path.parent}?"
        raise UserError(f"{path} is a file; a model is a folder.{hint}")
    if not path.exists():
        known = [p.parent.name for p in sorted(path.parent.glob(f"*/{document.NAME}"))]
        raise UserError(f"There is no model {path}{nearest(path.name, known)}. Check the path.")
    inside = sorted(path.glob(f"*/{document.NAME}"))
    if inside:
        raise UserError(
            f"The folder {path} is no model, having no {document.NAME}. Did you mean the folder "
            f"{inside[0].parent}?"
        )
    held = sorted(file.name for file in path.iterdir())
    raise UserError(
        f"The folder {path} is no model: it holds {_some(held) if held else 'nothing'}, and no "
        f"{document.NAME}. Name the folder that a model was saved in."
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


@contextmanager
def _readable(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror or error}. Check its permissions."
        ) from None


def _about_folder(error: FormatError | OSError, pinned: Path, folder: Path) -> Exception:
    """The error with the path that the user knows."""
    if isinstance(error, FormatError):
        return FormatError(error.path.replace(str(pinned), str(folder), 1), error.reason)
    return error


def _entries(folder: Path) -> dict[str, Any]:
    """What model.json says, its form checked."""
    path = folder / document.NAME
    entries = document.read(path)
    files = entries.get("files")
    if not isinstance(files, dict) or not {ARRAYS, TEXTS} <= files.keys() <= _CHECKED:
        raise document.damaged(path, "names other files than a model has")
    return entries


def _read(folder: Path, verify: bool) -> Any:
    entries = _entries(folder)
    for name, known in entries["files"].items():
        _check_file(folder / name, known, verify)
    texts = document.parse(folder / TEXTS, (folder / TEXTS).read_bytes())
    if not isinstance(texts, dict):
        raise document.damaged(folder / TEXTS, "holds no lists by name")
    state = State(
        entries.get("state"), texts, arrays.read(folder / ARRAYS),
        seconds=made.seconds(made.read(folder)), version=entries["format_version"],
    )  # fmt: skip
    try:
        return from_state(state, verify)
    except FormatError:
        raise
    except UserError as error:
        raise FormatError(folder / document.NAME, f"it cannot be loaded: {error}") from None


def _check_file(file: Path, known: Any, verify: bool) -> None:
    if not file.is_file():
        raise document.damaged(file, "is missing")
    size = file.stat().st_size
    if not isinstance(known, dict) or size != known.get("size"):
        told = known.get("size") if isinstance(known, dict) else shorten(known)
        raise document.damaged(file, f"has {size:,} bytes, and should have {told}")
    if verify and _fingerprint(file)["sha256"] != known.get("sha256"):
        raise document.damaged(file, "was changed since it was written: its checksum is wrong")
