"""Random taxonomies of any size, for trials and benchmarks.

One root at depth 0 and all leaves at depth D; level k has about L^(k/D) nodes for L leaves, so
the fan-out is even down the tree. Each node has at least one child; the children beyond the
first go to node j of the level above with probability proportional to 1 / (j + 1)^(1/2), so
that a few nodes are much larger than the others.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.taxonomy import Taxonomy

_SKEW = 0.5


def random_taxonomy(
    n_leaves: int, depth: int, random_state: Any = None, dag: float = 0.0
) -> Taxonomy:
    """A random taxonomy with nodes "n0" (the root), "n1", ...; see `random_edges`.

    Parameters
    ----------
    n_leaves : int
        Number of leaves.
    depth : int
        Steps from the root to a leaf.
    random_state : int, Generator or None, default=None
        Seed or generator, as for ``numpy.random.default_rng``.
    dag : float, default=0.0
        Share of nodes that get a second parent one level up, where that level has two.

    Returns
    -------
    Taxonomy

    Examples
    --------
    >>> random_taxonomy(50, 3, random_state=0)
    <Taxonomy: tree of 69 nodes, 68 edges, 1 root, 50 leaves>
    """
    parent, child = random_edges(n_leaves, depth, random_state, dag).T
    names = [f"n{v}" for v in range(int(child.max()) + 1)]
    pairs = zip(parent.tolist(), child.tolist(), strict=True)
    return Taxonomy.from_edges([(names[p], names[c]) for p, c in pairs])


def random_edges(
    n_leaves: int, depth: int, random_state: Any = None, dag: float = 0.0
) -> npt.NDArray[np.int64]:
    """The (parent, child) pairs of a random taxonomy.

    Numbers run level by level from the root, 0, so a parent precedes its children; edges are
    ordered by child.

    Parameters
    ----------
    n_leaves : int
        How many leaves, all at depth `depth`.
    depth : int
        Steps from the root (number 0) to a leaf.
    random_state : int, Generator or None, default=None
        Seed or generator, as for ``numpy.random.default_rng``.
    dag : float, default=0.0
        The share of nodes that get a second parent one level up, where that level has two.

    Returns
    -------
    ndarray of int of shape (n_edges, 2)
    """
    if n_leaves < 1 or depth < 1:
        raise UserError(f"n_leaves is {n_leaves} and depth is {depth}; both must be at least 1.")
    if not 0 <= dag <= 1:
        raise UserError(f"dag is {dag}; it is a share of the nodes, between 0 and 1.")
    rng = np.random.default_rng(random_state)
    sizes = [max(1, round(n_leaves ** (k / depth))) for k in range(depth)] + [n_leaves]
    above, edges = 0, []
    for n_above, n in pairwise(sizes):
        parent = _parents(n_above, n, rng)
        edges.append(_level_edges(parent, n_above, dag, rng) + (above, above + n_above))
        above += n_above
    return np.vstack(edges)


def _parents(n_above: int, n: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A parent for each node of a level; every node above gets at least one child."""
    share = np.cumsum((np.arange(n_above) + 1.0) ** -_SKEW)
    rest = np.searchsorted(share, rng.random(n - n_above) * share[-1])
    parent = np.concatenate([np.arange(n_above), np.minimum(rest, n_above - 1)])
    rng.shuffle(parent)
    return parent


def _level_edges(
    parent: npt.NDArray[np.int64], n_above: int, dag: float, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """(parent, child) pairs of a level, with second parents for a share of the children."""
    child = np.arange(parent.size)
    if dag > 0 and n_above > 1:
        twice = np.flatnonzero(rng.random(parent.size) < dag)
        second = rng.integers(n_above - 1, size=twice.size)
        second += second >= parent[twice]
        parent, child = np.concatenate([parent, second]), np.concatenate([child, twice])
        order = np.argsort(child, kind="stable")
        parent, child = parent[order], child[order]
    return np.column_stack([parent, child]).astype(np.int64)
