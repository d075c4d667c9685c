"""Elimination of nodes on a forest, and solving with symmetric positive sparse matrices.

On a forest numbered from parents to children, matrix M, children c of n, parent p of n:

    up      D_n = M_nn - sum_c M_nc^2 / D_c        r_n = h_n - sum_c (M_nc / D_c) r_c
    down    w_n = (r_n - M_np w_p) / D_n

solves M w = h in two passes. Other graphs are left to a sparse factorisation.

In a matrix of square blocks over any graph nodes are eliminated from last to first:

    M_vv = C C'      Z_vu = C^-1 M_vu      M_ut -= Z_vu' Z_vt        for neighbours u, t < v of v

On a forest numbered from parents to children no block is added; other graphs are filled in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri
from scipy.sparse.linalg import splu

from linnaeus.solvers.numerics.examples import FloatArray
from linnaeus.solvers.numerics.gram import Values

FEATURES = 4096  # right-hand sides solved at once


class Forest(NamedTuple):
    """A symmetric matrix whose nodes have at most one neighbour of lower number, their parent."""

    parent: npt.NDArray[np.int64]  # -1 for roots
    edge: npt.NDArray[np.float64]  # M_np; 0 for roots
    pivot: npt.NDArray[np.float64]  # D, children eliminated first


def forest_of(matrix: sp.csr_array) -> Forest | None:
    """The forest, eliminated, or None if the graph is another."""
    below = sp.csr_array(sp.tril(matrix, -1))
    below.eliminate_zeros()
    if (np.diff(below.indptr) > 1).any():
        return None
    n = matrix.shape[0]
    parent, edge = np.full(n, -1, dtype=np.int64), np.zeros(n)
    has = np.flatnonzero(np.diff(below.indptr))
    parent[has], edge[has] = below.indices, below.data
    return Forest(parent, edge, pivots(parent, edge, matrix.diagonal()))


def pivots(
    parent: npt.NDArray[np.int64], edge: FloatArray, diagonal: FloatArray
) -> npt.NDArray[np.float64]:
    """D of every node."""
    D = diagonal.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # a part without any ground
        for v in np.flatnonzero(parent >= 0)[::-1].tolist():
            D[parent[v]] -= edge[v] ** 2 / D[v]
    return D


def solver_of(matrix: sp.csr_array) -> Callable[[FloatArray], FloatArray]:
    """Solve with this sparse symmetric positive matrix for many right-hand sides."""
    if matrix.shape[0] == 0:
        return lambda rhs: rhs
    tiny = 1e-12 * float(matrix.diagonal().max())  # a component without ground is singular
    matrix = sp.csr_array(matrix + tiny * sp.eye_array(matrix.shape[0]))
    forest = forest_of(matrix)
    if forest is not None:
        return _two_passes(forest)
    factor = splu(sp.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A")

    def solve_all(rhs: FloatArray) -> FloatArray:
        out = np.empty_like(rhs)
        for j in range(0, rhs.shape[1], FEATURES):
            out[:, j : j + FEATURES] = factor.solve(rhs[:, j : j + FEATURES].astype(np.float64))
        return out

    return solve_all


def _two_passes(forest: Forest) -> Callable[[FloatArray], FloatArray]:
    parent, edge, D = forest

    def solve_all(rhs: FloatArray) -> FloatArray:
        w = rhs.copy()
        kind = w.dtype.type
        for v in range(D.size - 1, -1, -1):
            if parent[v] >= 0:
                w[parent[v]] -= kind(edge[v] / D[v]) * w[v]
        for v in range(D.size):
            if parent[v] >= 0:
                w[v] -= kind(edge[v]) * w[parent[v]]
            w[v] /= kind(D[v])
        return w

    return solve_all


# -- blocks ---------------------------------------------------------------------------------------


class Blocks(NamedTuple):
    """The blocks M_vu, u <= v, that are not zero; a vector stands for a diagonal block."""

    diagonal: list[Values]
    below: list[dict[int, Values]]

    @classmethod
    def of(cls, matrix: sp.csr_array, size: int) -> Blocks:
        """A matrix of numbers, each times the identity."""
        unit = np.eye(size)
        diagonal = [value * unit for value in matrix.diagonal().tolist()]
        below: list[dict[int, Values]] = [{} for _ in diagonal]
        entries = sp.coo_array(sp.tril(matrix, -1))
        for v, u, value in zip(
            *map(np.ndarray.tolist, (*entries.coords, entries.data)), strict=True
        ):
            below[v][u] = value * unit
        return cls(diagonal, below)

    def add(self, v: int, u: int, block: Values) -> None:
        """Add a symmetric block at (v, u), and at (u, v)."""
        if u == v:
            self.diagonal[v] += block
        else:
            below = self.below[max(u, v)]
            below[min(u, v)] = below[min(u, v)] + block if min(u, v) in below else block


def eliminated(blocks: Blocks) -> Callable[[Values], Values]:
    """What solves a system, right-hand sides (n_nodes, size); the blocks are overwritten."""
    diagonal, below = blocks
    for v in reversed(range(len(diagonal))):
        C = cholesky(diagonal[v], lower=True, check_finite=False)
        diagonal[v] = inverse = dtrtri(C, lower=1)[0]
        below[v] = {u: inverse * M if M.ndim == 1 else inverse @ M for u, M in below[v].items()}
        for u, Z in below[v].items():
            diagonal[u] -= Z.T @ Z
            for t, other in below[v].items():
                if t < u:
                    so_far = below[u].get(t)
                    below[u][t] = -Z.T @ other if so_far is None else so_far - Z.T @ other

    def solve(right: Values) -> Values:
        x = right.copy()
        for v in reversed(range(len(diagonal))):
            x[v] = diagonal[v] @ x[v]
            for u, Z in below[v].items():
                x[u] -= x[v] @ Z
        for v in range(len(diagonal)):
            for u, Z in below[v].items():
                x[v] -= Z @ x[u]
            x[v] = x[v] @ diagonal[v]
        return x

    return solve


def n_products(matrix: sp.csr_array) -> int:
    """How many blocks are factorised, solved for or multiplied on the way."""
    entries = sp.coo_array(sp.tril(matrix, -1))
    below: list[set[int]] = [set() for _ in range(matrix.shape[0])]
    for v, u in zip(*map(np.ndarray.tolist, entries.coords), strict=True):
        below[v].add(u)
    total = 0
    for v in reversed(range(len(below))):
        near = below[v]
        total += 1 + len(near) * (len(near) + 3) // 2
        for u in near:
            below[u] |= {t for t in near if t < u}
    return total
