"""What the newsroom is made of (newsroom.toml), and its taxonomy."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from linnaeus.taxonomy import Taxonomy


@cache
def material() -> dict[str, Any]:
    """Names, sentences and nodes with their words, as the file has them."""
    return tomllib.loads(resources.files(__package__).joinpath("newsroom.toml").read_text("utf-8"))


@cache
def newsroom_taxonomy() -> Taxonomy:
    """The taxonomy of the newsroom: four levels, several nodes with two parents.

    Returns
    -------
    Taxonomy

    Examples
    --------
    >>> newsroom_taxonomy().parents("sports-business")
    ('companies', 'sport')
    """
    nodes, related = material()["nodes"], material()["taxonomy"]["related"]
    edges = [(p, v) for v, node in nodes.items() for p in (node["parents"] or (None,))]
    titles = {v: node["title"] for v, node in nodes.items()}
    return Taxonomy.from_edges(edges, related=related, titles=titles)
