"""Taxonomies from networkx graphs and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnaeus.errors import MissingExtraError
from linnaeus.taxonomy.naming import Numbered, number_nodes

if TYPE_CHECKING:
    import networkx as nx

    from linnaeus.taxonomy.taxonomy import Taxonomy


def from_networkx(g: nx.Graph) -> tuple[Numbered, dict[Any, str]]:
    """Nodes, edges and titles of a graph; its nodes count as seen in their own order."""
    titles = {v: t for v, t in g.nodes(data="title") if t is not None}
    seen = list(g.nodes)
    if not g.is_directed():
        return number_nodes([], list(g.edges()), seen), titles
    lines = [v for edge in g.edges() for v in edge]
    return number_nodes(lines, g.graph.get("related", ()), seen), titles


def to_networkx(taxonomy: Taxonomy) -> nx.DiGraph:
    """A graph with edges parent -> child, titles as node attributes, links as a graph attribute."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError("to_networkx", "networkx", "formats") from None
    g = nx.DiGraph(related=taxonomy.related)
    for v in taxonomy.nodes:
        g.add_node(v, **({"title": taxonomy.titles[v]} if v in taxonomy.titles else {}))
    g.add_edges_from(taxonomy.edges)
    return g
