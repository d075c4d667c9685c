"""Which method suits the data, said in one sentence."""

from __future__ import annotations

from typing import Any, NamedTuple

from linnaeus.collection import Part
from linnaeus.taxonomy import Taxonomy


class MethodChoice(NamedTuple):
    """A method, parameters of it that differ from its defaults, and why."""

    method: str
    parameters: dict[str, Any]
    why: str


def choose_method(
    method: str | None, part: Part, taxonomy: Taxonomy, several: bool
) -> MethodChoice:
    """The method asked for, or the one that suits the data."""
    if method == "hblr" and several:
        return MethodChoice(method, {"link": "binary"}, "as asked, for several labels a row")
    if method is not None:
        return MethodChoice(method, {}, "as asked")
    if not several:
        return MethodChoice("msvm", {}, "every row has one label: one model of all classes")
    return MethodChoice("svm", {}, "rows have several labels or none: one machine per class")
