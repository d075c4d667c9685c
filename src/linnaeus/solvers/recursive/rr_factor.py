"""R = F F' with few numbers, and what follows from it for every node (`rr_machine`).

    F' w = s,    w_v = (s_v - sum_u F_uv w_u) / F_vv,    u above v

On a tree nodes are eliminated children first, and the path of a node is what is above it. On
another graph an order that fills in little is found (minimum degree, by SuperLU), and the path is
that of the elimination tree. A tree to which links between random nodes are added has a core in
which all are joined in the end: about a sixth of the number of its independent cycles. Paths
lead through it, so F^-T has about (nodes) x (core) numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from linnaeus.solvers.numerics.elimination import Forest, forest_of
from linnaeus.solvers.numerics.examples import starts
from linnaeus.solvers.recursive import rr_factor_fast as fast

CYCLES = 40_000  # independent cycles up to which a graph is factorised: a core of some 7,000 nodes
NUMBERS = 1 << 26  # of F^-T: 800 MB
EXACT = 1e-9  # how far L and U may be from each other's transpose


class Factor(NamedTuple):
    """F^-T of R = F F'."""

    upward: sp.csr_array  # (n, n): row v has an entry for each node of the path of v
    rank: npt.NDArray[np.int64]  # (n,): nodes above before nodes below, close by in the tree


def factor_of(reduced: sp.csr_array) -> Factor | None:
    """The factor; None where it would be too many numbers, or R is not positive."""
    forest = forest_of(reduced)
    if forest is not None:
        return Factor(_tree_inverse(forest), np.arange(reduced.shape[0]))
    return _graph_inverse(reduced) if n_cycles(reduced) <= CYCLES else None


def n_cycles(matrix: sp.csr_array) -> int:
    """Independent cycles of its graph: edges - nodes + parts."""
    n_edges = sp.tril(matrix, -1).count_nonzero()
    n_parts = sp.csgraph.connected_components(matrix, directed=False)[0]
    return int(n_edges - matrix.shape[0] + n_parts)


def _tree_inverse(forest: Forest) -> sp.csr_array:
    """F^-T of a forest: 1 / sqrt(D), carried down every path."""
    parent, edge, D = forest
    n, child = parent.size, np.flatnonzero(parent >= 0)
    up = sp.csr_array((-edge[child] / D[child], (child, parent[child])), shape=(n, n))
    total = power = sp.csr_array(sp.eye_array(n))
    while (power := sp.csr_array(power @ up)).nnz:
        total = sp.csr_array(total + power)
    return sp.csr_array(total.multiply(1.0 / np.sqrt(D)[None, :]))


def _graph_inverse(reduced: sp.csr_array) -> Factor | None:
    """The same for any graph, in an order that fills in little."""
    found = _lower(reduced)
    if found is None:
        return None
    lower, place = found
    n, node = place.size, np.argsort(place)
    placed = sp.csr_array(reduced[node][:, node])
    parent, depth = np.empty((2, n), dtype=np.int64)
    fast.parents(placed.indptr, placed.indices, parent, depth)
    depth[:] = 0
    for v in np.flatnonzero(parent >= 0).tolist():
        depth[v] = depth[parent[v]] + 1
    ptr = starts(depth + 1)
    if ptr[-1] > NUMBERS:
        return None
    nodes, values = np.empty(ptr[-1], np.int32), np.empty(ptr[-1])
    fast.inverse_rows(parent, depth, ptr, lower.indptr, lower.indices, lower.data, nodes, values)
    upward = sp.csr_array((values, node.astype(np.int32)[nodes], ptr), shape=(n, n))[place]
    upward.sort_indices()
    return Factor(sp.csr_array(upward), place)


def _lower(reduced: sp.csr_array) -> tuple[sp.csr_array, npt.NDArray[np.int64]] | None:
    """F' for nodes from the last to the first, and the place of each node; None if not positive."""
    n = reduced.shape[0]
    try:
        found = splu(
            sp.csc_matrix(reduced), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:  # exactly singular
        return None
    D, L = found.U.diagonal(), sp.csc_matrix(found.L)
    if (found.perm_r != found.perm_c).any() or not (D > 0).all():
        return None
    away = abs(found.U - sp.diags(D) @ L.T)
    if away.max() > EXACT * float(D.max()):
        return None
    F = sp.csc_matrix(L @ sp.diags(np.sqrt(D)))
    upper = sp.csr_array(F.T)[::-1][:, ::-1]  # the first node is eliminated last
    upper.eliminate_zeros()
    upper.sort_indices()
    return sp.csr_array(upper), n - 1 - found.perm_c.astype(np.int64)
