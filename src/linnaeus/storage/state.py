"""An object as plain data: a JSON tree, large lists of texts, and named arrays.

None, truth values, finite numbers, texts, lists, and dictionaries with texts for keys stand for
themselves. Everything else is an object whose first key begins with "$":

    $tuple $set $frozenset $list   items, one by one or {"$text": name}, a list of its own
    $dict      [[key, value], ...]       $names   a dictionary with keys that begin with "$"
    $terms     items: a dictionary from texts to 0, 1, 2, ...
    $float     "nan", "inf", "-inf"      $scalar, $dtype, $type   of NumPy's
    $slice, $range                       [start, stop, step]
    $array     the name of an array, order "F" if it is stored transposed
    $texts     an array of texts or of objects: items, dtype, shape
    $sparse    csr or csc, array or matrix: shape, data, indices, indptr
    $taxonomy  nodes, parents, links, titles
    $random    the state of a NumPy RandomState
    $named     a named tuple: its tag (of `linnaeus.storage.registry`) and fields
    $object    an object: its tag and attributes
    $seconds   a measured time, kept in made.json under this path
    $same      a path: the object that was met there before

Paths are "model/estimator/coef_"; a "/" or "~" inside a key is written ~1 or ~0.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.storage import document
from linnaeus.storage.arrays import Array
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.dag import build
from linnaeus.taxonomy.naming import Numbered

ROOT = "model"
MANY = 1000  # plain values from which on a list goes to a file of its own
DEEPEST = 100  # levels
LONGEST = 10_000  # bits of an integer

SPARSE = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
}
TYPES: dict[str, Any] = {kind.__name__: kind for kind in (bool, int, float, str, object)} | {
    f"numpy.{np.dtype(code).name}": np.dtype(code).type
    for code in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
}
_PLAIN = {str, int, bool, type(None)}


class State(NamedTuple):
    """What an object is made of."""

    tree: Any  # as JSON
    texts: Mapping[str, list[Any]]  # large lists of plain values
    arrays: Mapping[str, Array]
    taxonomy: Taxonomy | None = None  # the first one met, for other programs
    seconds: Mapping[str, float] = MappingProxyType({})  # measured times by path
    version: int = document.VERSION  # of the format


def to_state(value: Any) -> State:
    """An object as plain data; an error that says where, if some of it cannot be."""
    from linnaeus.storage.encoding import Encoder

    encoder = Encoder()
    tree = encoder.encode(value, ROOT)
    return State(tree, encoder.texts, encoder.arrays, encoder.taxonomy, encoder.seconds)


def from_state(found: State, check: bool = True) -> Any:
    """The object again.

    check : look at every index of sparse matrices, and not at their sizes only
    """
    from linnaeus.storage.decoding import decoded

    return decoded(found, check)


def below(path: str, key: str) -> str:
    """The path of what a key leads to."""
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"


def are_plain(values: Iterable[Any]) -> bool:
    """Whether JSON holds all of the values as they are."""
    kinds = set(map(type, values))
    return kinds <= _PLAIN or (
        kinds <= _PLAIN | {float}
        and all(math.isfinite(value) for value in values if type(value) is float)
    )


def sklearn_version() -> str:
    """The version of scikit-learn; asked only where one of its objects exists."""
    return str(sys.modules["sklearn"].__version__)


# -- taxonomies -----------------------------------------------------------------------------------


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


def rebuilt(found: Mapping[str, Any]) -> Taxonomy:
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
