"""A taxonomy as an undirected weighted graph: colours for parallel updates, and its Laplacian.

    R(W) = 1/2 sum_e c_e ||w_i - w_j||^2 + 1/2 sum_v g_v ||w_v||^2 = 1/2 tr(W' (L + diag g) W)

is the regulariser of [GopalYang2015]; g_v is the conductance of an edge to a fixed zero vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.taxonomy.dag import IntArray
from linnaeus.taxonomy.reshape import edge_arrays

if TYPE_CHECKING:
    from linnaeus.taxonomy.taxonomy import Taxonomy


def undirected_edges(taxonomy: Taxonomy) -> IntArray:
    """Edges and related links as ascending pairs; a pair that is both counts once."""
    pairs = np.vstack([np.column_stack(edge_arrays(taxonomy)), taxonomy.related_numbers])
    return np.unique(pairs, axis=0).astype(np.int32)


def coloring(taxonomy: Taxonomy) -> IntArray:
    """Greedy colouring, largest degree first; parity of depth where that is enough."""
    if taxonomy.is_tree and taxonomy.related_numbers.size == 0:
        return taxonomy.depth % 2
    n, pairs = len(taxonomy), undirected_edges(taxonomy)
    both = np.vstack([pairs, pairs[:, ::-1]])
    neighbours = sp.csr_array((np.ones(len(both), bool), (both[:, 0], both[:, 1])), shape=(n, n))
    degree = np.diff(neighbours.indptr)
    color = np.full(n, -1, dtype=np.int32)
    for v in np.argsort(-degree, kind="stable").tolist():
        taken = set(color[neighbours.indices[neighbours.indptr[v] : neighbours.indptr[v + 1]]])
        color[v] = next(c for c in range(n) if c not in taken)
    return color


def laplacian(
    taxonomy: Taxonomy,
    conductance: Mapping[tuple[Any, Any], float] | None,
    ground: Any,
    root: str,
) -> sp.csr_array:
    """L + diag(g) over the nodes."""
    n, pairs = len(taxonomy), undirected_edges(taxonomy)
    c = np.ones(len(pairs))
    where = {tuple(pair): e for e, pair in enumerate(pairs.tolist())} if conductance else {}
    for (a, b), value in (conductance or {}).items():
        key = tuple(sorted((taxonomy.index(a), taxonomy.index(b))))
        if key not in where:
            raise UserError(
                f"A conductance is given for ({shorten(a)}, {shorten(b)}), but there is no such "
                f"edge or link. Use pairs from taxonomy.edges or taxonomy.related."
            )
        if not value > 0:
            raise UserError(f"The conductance of ({a!r}, {b!r}) is {value}; it must be positive.")
        c[where[key]] = value
    i, j = pairs[:, 0], pairs[:, 1]
    g = _ground(taxonomy, ground, root)
    degree = np.bincount(i, c, n) + np.bincount(j, c, n) + g
    v = np.arange(n)
    rows, cols = np.concatenate([v, i, j]), np.concatenate([v, j, i])
    return sp.csr_array((np.concatenate([degree, -c, -c]), (rows, cols)), shape=(n, n))


def _ground(taxonomy: Taxonomy, ground: Any, root: str) -> npt.NDArray[np.float64]:
    if root not in ("zero", "free"):
        raise UserError(f"root={root!r} is not known here. Use 'zero' or 'free'.")
    g = np.zeros(len(taxonomy))
    if isinstance(ground, Mapping):
        for name, value in ground.items():
            g[taxonomy.index(name)] = value
    elif ground is not None:
        g += np.asarray(ground, dtype=float)
    if root == "zero":
        g[taxonomy.root_numbers] += 1.0
    return g
