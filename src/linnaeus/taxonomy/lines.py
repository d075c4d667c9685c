"""The ways in which people write a taxonomy down, as one flat list: parent, child, parent, child.

A parent None declares its child a root.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from linnaeus.errors import TaxonomyError, nearest, shorten
from linnaeus.labels import plain_names


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


def from_paths(paths: Iterable[str], sep: str) -> tuple[list[Any], dict[Any, str]]:
    """Paths such as "A/B/C" as lines over path ids, with the last parts as titles."""
    above: dict[str, str | None] = {}
    titles: dict[str, str] = {}
    for path in paths:
        if not isinstance(path, str):
            raise TaxonomyError(
                f"A path must be a text such as 'A{sep}B', but {shorten(path)} is not one."
            )
        parts = [part.strip() for part in path.split(sep)]
        if not all(parts):
            raise TaxonomyError(
                f"Path {shorten(path)} has an empty part. "
                f"Write one name between every two separators {sep!r}."
            )
        parent = None
        for i, part in enumerate(parts):
            name = sep.join(parts[: i + 1])
            if name not in above:
                above[name] = parent
                if part != name:
                    titles[name] = part
            parent = name
    return [v for name, parent in above.items() for v in (parent, name)], titles


def from_labels(labels: Iterable[Any]) -> list[Any]:
    """Labels without a hierarchy."""
    names = plain_names(sorted(labels, key=repr) if isinstance(labels, set) else labels)
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise TaxonomyError(f"The label {shorten(name)} is given twice. Ids must be unique.")
        seen.add(name)
    return [v for name in names for v in (None, name)]
