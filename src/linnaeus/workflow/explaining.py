"""Why a model labels a text or a row as it does; what it has learned about a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.errors import UserError, shorten
from linnaeus.explanation import (
    Explanation,
    NodeExplanation,
    explain_node,
    explanation_html,
    node_html,
)
from linnaeus.explanation import explain as explain_input
from linnaeus.files import atomic_write
from linnaeus.io import blocks
from linnaeus.io.collection import Part
from linnaeus.model import Model, inputs_of
from linnaeus.taxonomy.searching import find
from linnaeus.workflow.evaluating import load_model
from linnaeus.workflow.rows import open_rows


class Place(NamedTuple):
    """A row of a data file: by its number from 1, or by its id."""

    data: str | Path
    row: int | None = None
    id: str | None = None
    part: str = "test"


def explain(
    path: str | Path,
    text: str | None = None,
    *,
    place: Place | None = None,
    why_not: Sequence[str] = (),
    top: int = 10,
    rule: str | None = None,
    html: str | Path | None = None,
) -> Explanation:
    """Why the model gives a text, or a row of a file, its labels.

    why_not : nodes to explain in addition to the decided ones
    html : where to write a page that says the same
    """
    if (text is None) == (place is None):
        raise UserError("Give either a text or a row of a data file to explain.")
    if text is not None and not text.strip():
        raise UserError("The text is empty. Give at least one word.")
    model = load_model(path)
    if rule is not None:
        model = model.with_rule(rule)
    named = [find(model.taxonomy, name) for name in why_not]
    example = _input(model, place) if place else text
    found = explain_input(model, example, top=top, nodes=named)
    if html is not None:
        _write(html, explanation_html(found))
    return found


def explain_label(
    path: str | Path, node: str, *, top: int = 15, html: str | Path | None = None
) -> NodeExplanation:
    """What the model has learned about a node."""
    model = load_model(path)
    found = explain_node(model, find(model.taxonomy, node), top)
    if html is not None:
        _write(html, node_html(found))
    return found


def _input(model: Model, place: Place) -> Any:
    """The text or the features of a row."""
    part = _row(model, place)
    inputs = inputs_of(part)
    return inputs[0] if part.texts is not None else inputs


def _row(model: Model, place: Place) -> Part:
    if (place.row is None) == (place.id is None):
        raise UserError("Name one row of the data: by its number from 1, or by its id.")
    if place.row is not None and place.row < 1:
        raise UserError(f"The row is {place.row}. Rows are counted from 1.")
    reading, seen = open_rows(place.data, place.part, model), 0
    for block in blocks(reading, model.kind):
        for i in _wanted(block, place, seen):
            return block.take([i])
        seen += len(block)
    what = f"row {place.row}" if place.id is None else f"row with the id {shorten(place.id)}"
    raise UserError(f"{reading.path} has no {what}; it has {seen:,} rows. Name another.")


def _wanted(block: Part, place: Place, seen: int) -> Iterator[int]:
    """The place of the row in a block, if it is there."""
    if place.row is not None:
        if place.row <= seen + len(block):
            yield place.row - 1 - seen
    else:
        yield from (i for i, name in enumerate(block.ids) if str(name) == place.id)


def _write(target: str | Path, page: str) -> None:
    with atomic_write(target) as handle:
        handle.write(page)
