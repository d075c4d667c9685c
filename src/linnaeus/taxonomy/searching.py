"""Find a node by what a person calls it: its id, its title, or part of them."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from linnaeus.errors import UserError, shorten

if TYPE_CHECKING:
    from linnaeus.taxonomy.taxonomy import Taxonomy

_SHOWN = 5


def search(taxonomy: Taxonomy, text: str) -> list[Any]:
    """The nodes that a text means: by id, or else by title, or else by either in other case."""
    if text in taxonomy:
        return [text]
    names = {v: (str(v), taxonomy.title(v)) for v in taxonomy.nodes}
    if exact := [v for v, both in names.items() if text in both]:
        return exact
    folded = text.strip().casefold()
    return [v for v, both in names.items() if folded in map(str.casefold, both)]


def similar(taxonomy: Taxonomy, text: str) -> list[Any]:
    """Nodes whose id or title holds a text, or looks like it."""
    folded = text.strip().casefold()
    names = {v: (str(v).casefold(), taxonomy.title(v).casefold()) for v in taxonomy.nodes}
    holding = [v for v, both in names.items() if folded and any(folded in part for part in both)]
    if holding:
        return sorted(holding, key=lambda v: len(names[v][1]))[:_SHOWN]
    texts = {part: v for v, both in reversed(names.items()) for part in both}
    close = difflib.get_close_matches(folded, list(texts)[:20_000], _SHOWN)
    return list(dict.fromkeys(texts[part] for part in close))


def find(taxonomy: Taxonomy, text: str) -> Any:
    """The node that a text means; an error with what it may mean where that is not clear."""
    found = search(taxonomy, text)
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(map(_shown(taxonomy), found[:_SHOWN]))
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        raise UserError(
            f"{shorten(text)} is the title of {len(found):,} nodes: {shown}{more}. Give the id of "
            f"one of them."
        )
    near = similar(taxonomy, text)
    hint = f" (did you mean {' or '.join(map(_shown(taxonomy), near))}?)" if near else ""
    raise UserError(
        f"{shorten(text)} is neither the id nor the title of a node{hint}. Give one of the "
        f"{len(taxonomy):,} nodes."
    )


def _shown(taxonomy: Taxonomy) -> Any:
    def show(v: Any) -> str:
        title = taxonomy.titles.get(v)
        return shorten(v) if title is None else f"{shorten(v)} ({title})"

    return show
