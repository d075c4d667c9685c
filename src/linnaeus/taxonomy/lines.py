"""The ways in which people write a taxonomy down, as one flat list: parent, child, parent, child.

A parent None declares its child a root. Graphs of networkx are read and made here too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import MissingExtraError, TaxonomyError, check_choice, nearest, shorten
from linnaeus.labels import is_collection, plain_names, read_paths
from linnaeus.taxonomy.naming import Numbered, number_nodes

if TYPE_CHECKING:
    import networkx as nx

    from linnaeus.taxonomy.taxonomy import Taxonomy

Path = tuple[Any, ...]


def from_edges(edges: Iterable[Sequence[Any]]) -> list[Any]:
    """(parent, child) pairs, as any iterable or an (n, 2) array."""
    if isinstance(edges, np.ndarray):
        if edges.ndim == 2 and edges.shape[1] == 2:
            flat: list[Any] = edges.ravel().tolist()
            return flat
        edges = edges.tolist()
    edges = edges if isinstance(edges, list) else list(edges)
    try:
        if set(map(len, edges)) <= {2}:
            return list(chain.from_iterable(edges))
    except TypeError:
        pass
    bad = next((e for e in edges if not hasattr(e, "__len__") or len(e) != 2), edges)
    raise TaxonomyError(f"An edge must be a (parent, child) pair, but {shorten(bad)} is not one.")


def from_parents(parents: Mapping[Any, Any]) -> list[Any]:
    """{child: parent}, {child: [parents]} or {root: None}; every parent is a key too."""
    lines: list[Any] = []
    if not hasattr(parents, "items"):
        raise TaxonomyError(
            f"Parents must be given as {{child: parent}}, but {shorten(parents)} is a "
            f"{type(parents).__name__}."
        )
    for child, given in parents.items():
        for p in _in_order(given) or [None]:
            if p is not None and p not in parents:
                raise TaxonomyError(
                    f"Node {shorten(child)} has the unknown parent {shorten(p)}"
                    f"{nearest(p, parents)}. Add an entry for it; {{{p!r}: None}} is a root."
                )
            lines += (p, child)
    return lines


def _in_order(given: Any) -> list[Any]:
    """One parent or several as a list; sets in the order of their names, NaN for none."""
    if isinstance(given, set | frozenset):
        return sorted(given, key=repr)
    if isinstance(given, list | tuple | np.ndarray):
        return plain_names(given)
    missing = given is None or (isinstance(given, float) and given != given)
    return [] if missing else [given]


def from_paths(paths: Any, sep: str, ids: str) -> tuple[list[Any], dict[Any, str]]:
    """Paths as lines over their ids, with the last parts as titles where ids are paths.

    paths : texts such as "A/B/C", or rows of names
    ids : "path" or "name"; in rows a name that stands in one place only is its own id
    """
    check_choice("ids", ids, ("path", "name"))
    if isinstance(paths, str):
        raise TaxonomyError(f"The paths are the text {shorten(paths)}. Give a list of paths.")
    paths = paths if hasattr(paths, "__array__") else list(paths)
    rows = np.ndim(paths) > 1 if hasattr(paths, "__array__") else False
    kinds = set() if rows else set(map(type, paths))
    rows |= bool(kinds) and all(map(is_collection, kinds))
    split = _rows(paths) if rows else [_parts(path, sep) for path in paths]
    keys = [path[: i + 1] for path in split for i in range(len(path))]
    places = dict.fromkeys(keys)  # in order of appearance
    name = _ids(places, sep, ids, every=not rows)
    below = {name[key] for key in places if len(key) > 1}
    flat: list[Any] = []
    for key in places:
        if len(key) > 1:
            flat += (name[key[:-1]], name[key])
        elif name[key] not in below:
            flat += (None, name[key])
    return flat, {name[key]: str(key[-1]) for key in places if name[key] != key[-1]}


def _ids(places: Iterable[Path], sep: str, ids: str, every: bool) -> dict[Path, Any]:
    """The id of the node at each place: its path, or its name."""
    if ids == "name":
        return {key: key[-1] for key in places}
    often = Counter(key[-1] for key in places)
    name = {
        key: sep.join(map(str, key)) if len(key) > 1 and (every or often[key[-1]] > 1) else key[-1]
        for key in places
    }
    seen: dict[Any, Path] = {}
    for key, own in name.items():
        if seen.setdefault(own, key) != key:
            raise TaxonomyError(
                f"The paths {shorten(list(seen[own]))} and {shorten(list(key))} both get the id "
                f"{shorten(own)}. Give another separator with sep=..."
            )
    return name


def _rows(rows: Any) -> list[Path]:
    """The paths of rows of names; a name that differs from another in blanks only is refused."""
    read = read_paths(rows).content.paths
    first = {name: i for i, row in reversed([*enumerate(read)]) for path in row for name in path}
    for name, i in first.items():
        if isinstance(name, str) and name != name.strip() and name.strip() in first:
            raise TaxonomyError(
                f"Row {i}: {shorten(name)} differs from {shorten(name.strip())} in blanks only. "
                f"Strip the blanks around the names."
            )
    return [path for row in read for path in row]


def _parts(path: Any, sep: str) -> Path:
    """The names in a text such as "A/B/C"."""
    if not isinstance(path, str):
        raise TaxonomyError(
            f"A path must be a text such as 'A{sep}B', but {shorten(path)} is not one."
        )
    parts = tuple(part.strip() for part in without_end(path, sep).split(sep))
    if not all(parts):
        raise TaxonomyError(
            f"Path {shorten(path)} has an empty part. "
            f"Write one name between every two separators {sep!r}."
        )
    return parts


def without_end(path: str, sep: str) -> str:
    """A path without the separator at its end, which makes no other node of it."""
    end = sep.rstrip() or sep
    shorter = path.rstrip().removesuffix(end) if path.rstrip() != end else path
    return shorter if shorter.strip() else path


def from_labels(labels: Iterable[Any]) -> list[Any]:
    """Labels without a hierarchy."""
    names = plain_names(sorted(labels, key=repr) if isinstance(labels, set) else labels)
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise TaxonomyError(f"The label {shorten(name)} is given twice. Ids must be unique.")
        seen.add(name)
    return [v for name in names for v in (None, name)]


# -- graphs of networkx ---------------------------------------------------------------------------


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
