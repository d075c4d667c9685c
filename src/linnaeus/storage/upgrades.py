"""What older formats wrote, as this version has it; nothing else knows of the past.

    1   classes by the module and name that they had then, seconds among the other numbers
    2   classes by tag; seconds in made.json, so that equal training gives equal files
    3   estimators say what a row without a label gets (`empty`); `classes_` is made from the labels
    4   models keep what confidence means, and the digests and a profile of their training rows

An object whose attributes (or a named tuple whose fields) change needs a new format: raise
`document.VERSION`, add to `CHANGES` a function that makes the new attributes of the old, and keep
models of the new format in tests/models. Tags stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from linnaeus.storage import document, registry

Parts = dict[str, Any]


def _emptiness_2(parts: Parts) -> Parts:
    """Where several labels may be answered: a row without any got none."""
    rest = {key: value for key, value in parts.items() if key not in ("classes_", "answers_")}
    return {"empty": "none", **rest}


def _ranked_2(parts: Parts) -> Parts:
    """Those that rank classes gave such a row its best one."""
    return {**_emptiness_2(parts), "empty": "best"}


def _topdown_2(parts: Parts) -> Parts:
    """So did this one, unless it went by signs."""
    return {**_emptiness_2(parts), "empty": "none" if parts.get("decode") == "signs" else "best"}


def _hieron_2(parts: Parts) -> Parts:
    """The rival went with averaging."""
    rest = {key: value for key, value in parts.items() if key != "classes_"}
    return {"rival": "hinge" if parts.get("averaged", True) else "predicted", **rest}


def _model_3(parts: Parts) -> Parts:
    """How sure it was, and what it was trained on, was not kept; labels might be whole paths."""
    rest = {key: value for key, value in parts.items() if key != "closed_answers"}
    return {**rest, "confidence_map": None, "digests": None, "profile": None}


# By tag and format: from the attributes of that format to those of the next
CHANGES: Mapping[tuple[str, int], Callable[[Parts], Parts]] = {
    **{
        (tag, 2): _emptiness_2
        for tag in ("flat-svm", "flat-logistic", "recursive-svm", "recursive-logistic", "hblr",
                    "hm3", "graph-m3", "hierarchical-rls")
    },
    ("ranking-svm", 2): _ranked_2,
    ("hierarchical-perceptron", 2): _ranked_2,
    ("top-down", 2): _topdown_2,
    ("hieron", 2): _hieron_2,
    ("model", 3): _model_3,
}  # fmt: skip


@cache
def names_1() -> dict[str, str]:
    """The tags of the classes by the modules and names that they had in format 1."""
    text = resources.files(__package__).joinpath("names_1.json").read_text("utf-8")
    return dict(json.loads(text))


def tag_named(name: Any, version: int) -> str:
    """The tag of what a file of some format calls a class; a `UserError` if there is none."""
    known = names_1() if version == 1 else registry.CLASSES
    if not isinstance(name, str) or name not in known:
        raise registry.unknown(name)
    return names_1()[name] if version == 1 else name


def upgraded(parts: Parts, tag: str, version: int) -> Parts:
    """The attributes or fields of an object of some format, as they are called now."""
    for step in range(version, document.VERSION):
        parts = CHANGES.get((tag, step), dict)(parts)
    return parts
