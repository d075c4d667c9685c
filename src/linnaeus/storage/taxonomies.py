"""A taxonomy as a few plain parts, and back: the same nodes with the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.dag import build
from linnaeus.taxonomy.naming import Numbered

_NAMES = {str, int}


def parts(taxonomy: Taxonomy) -> dict[str, Any]:
    """Names, the parents of every node as lists one after the other, and what else there is."""
    more = {
        "related": taxonomy.related_numbers if taxonomy.related_numbers.size else None,
        "titles": dict(taxonomy.titles) or None,
        "misc": dict(taxonomy.misc) or None,
    }
    return {
        "nodes": taxonomy.nodes,
        "parent_ptr": taxonomy.dag.parent_ptr,
        "parents": taxonomy.dag.parents,
        **{name: value for name, value in more.items() if value is not None},
    }


def rebuild(found: Mapping[str, Any]) -> Taxonomy:
    """The taxonomy of such parts, which are checked: compiled loops trust them."""
    nodes, parents = found["nodes"], np.array(found["parents"], dtype=np.int32)
    ptr = np.asarray(found["parent_ptr"], dtype=np.int64)
    related = np.array(found.get("related", np.zeros((0, 2))), dtype=np.int32).reshape(-1, 2)
    n = len(nodes)
    if type(nodes) is not tuple or set(map(type, nodes)) - _NAMES or len(set(nodes)) < n:
        raise UserError("the names of a taxonomy are not distinct texts and integers.")
    if ptr.shape != (n + 1,) or ptr[0] != 0 or ptr[-1] != parents.size or (np.diff(ptr) < 0).any():
        raise UserError("the parents of a taxonomy do not belong to its nodes.")
    child = np.repeat(np.arange(n, dtype=np.int32), np.diff(ptr))
    if (parents < 0).any() or (parents >= child).any():
        raise UserError("a taxonomy has a node before its parent.")
    if (related < 0).any() or (related >= n).any():
        raise UserError("a link of a taxonomy is between nodes that it has not.")
    graph = build(n, parents, child)
    return Taxonomy(Numbered(nodes, graph, related), found.get("titles"), found.get("misc"))
