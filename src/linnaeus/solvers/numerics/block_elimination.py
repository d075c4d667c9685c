"""A symmetric positive matrix of square blocks over a graph, nodes eliminated from last to first.

    M_vv = C C'      Z_vu = C^-1 M_vu      M_ut -= Z_vu' Z_vt        for neighbours u, t < v of v

On a forest numbered from parents to children no block is added; other graphs are filled in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri

from linnaeus.solvers.numerics.gram import Values


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
