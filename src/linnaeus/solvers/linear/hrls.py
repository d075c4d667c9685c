"""Regularised least squares at every node of a hierarchy, among the examples of its parents.

    w_j = argmin 1/2 ||w||^2 + C/2 sum_{i in S_j} c_i (y_ij - w.x_i)^2,     y = +1 or -1

S_j holds the examples that carry all parents of node j (roots: all examples), c_i their weights.
H-RLS ([Rousu2006] section 5, C = 1) puts the test point x, without a label, among the examples;
by Sherman and Morrison its margin is

    p / (1 + C q),    p = w_j.x,    q = x'(I + C S S')^-1 x

so labels are those of plain ridge regression, and nothing is inverted per test point. With
G = S'S, k = S'x and D = diag(1 / (C c)) the kernel form is

    p = k'(D + G)^-1 y,     q = K(x, x) - k'(D + G)^-1 k

One Cholesky factor serves all nodes with the same examples: siblings share it. It is of the form
that is smaller, features x features or examples x examples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from linnaeus.taxonomy import Dag

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Family(NamedTuple):
    """Nodes that learn from the same examples."""

    nodes: IntArray
    rows: IntArray
    primal: bool  # whether the factor is over features
    factor: FloatArray | None  # lower Cholesky factor; None if margins are not wanted


class Ridge(NamedTuple):
    """The solution at all nodes."""

    A: Any  # (n_examples, n_nodes) for kernels: p = K(x, .) A; else None
    W: Any  # (n_nodes, n_features) for the linear kernel: p = W x; else None
    families: list[Family]
    objective: float
    dual: float


def solve(
    Y: sp.csr_array, dag: Dag, *, X: sp.csr_array | None = None, K: Any = None, C: float = 1.0,
    weight: FloatArray | None = None, keep_factors: bool = True,
) -> Ridge:  # fmt: skip
    """Solve all nodes; give X (linear kernel) or K.

    Y : (n, n_nodes) 0/1, closed
    """
    n, k = Y.shape
    c = np.ones(n) if weight is None else weight
    W: Any = np.zeros((k, X.shape[1])) if X is not None else None
    A: Any = np.zeros((n, k)) if X is None else None
    families, values = [], np.zeros(2)
    for nodes, rows in _families(Y, dag, c):
        signs = 2.0 * Y[:, nodes].toarray()[rows] - 1.0
        primal = X is not None and X.shape[1] < rows.size
        S: Any = X[rows] if X is not None else None
        G = _system(S, K, rows, C * c[rows], primal)
        factor = cho_factor(G, lower=True, overwrite_a=True, check_finite=False)[0]
        if primal:
            w = cho_solve((factor, True), S.T @ (signs * (C * c[rows])[:, None]))
            f = S @ w
            a = C * c[rows][:, None] * (signs - f)
        else:
            a = cho_solve((factor, True), signs)
            f = signs - a / (C * c[rows])[:, None]
            w = S.T @ a if S is not None else None
        if W is not None:
            W[nodes] = w.T
        else:
            A[np.ix_(rows, nodes)] = a
        values += _objectives(a, f, signs, C * c[rows])
        families.append(Family(nodes, rows, primal, factor if keep_factors else None))
    return Ridge(A, W, families, float(values[0]), float(values[1]))


def leverages(family: Family, points: Any, against: Any, diagonal: Any) -> FloatArray:
    """q = x'(I + C S S')^-1 x of test points, in blocks that the caller chooses.

    points : (m, n_features) in the primal form
    against : (m, n_rows) kernel of the points with the examples of the family, otherwise
    diagonal : (m,) K(x, x)
    """
    if family.primal:
        half = solve_triangular(family.factor, points.T, lower=True, check_finite=False)
        return np.asarray(np.einsum("ij,ij->j", half, half))
    half = solve_triangular(family.factor, against.T, lower=True, check_finite=False)
    return np.asarray(np.maximum(0.0, diagonal - np.einsum("ij,ij->j", half, half)))


def _system(S: Any, K: Any, rows: IntArray, cost: FloatArray, primal: bool) -> FloatArray:
    """I + S' diag(cost) S over features, or diag(1 / cost) + S S' over examples."""
    if primal:
        G = _dense(S.T @ S.multiply(cost[:, None]))
        G[np.diag_indices_from(G)] += 1.0
        return G
    G = _dense(S @ S.T) if S is not None else np.array(K[np.ix_(rows, rows)], dtype=np.float64)
    G[np.diag_indices_from(G)] += 1.0 / cost
    return G


def _dense(G: Any) -> FloatArray:
    return np.asarray(G.toarray() if sp.issparse(G) else G, dtype=np.float64)


def _objectives(a: FloatArray, f: FloatArray, signs: FloatArray, cost: FloatArray) -> FloatArray:
    """Primal and dual value, summed over the nodes of a family."""
    norm2 = np.vdot(a, f)
    primal = 0.5 * norm2 + 0.5 * np.sum(cost[:, None] * (signs - f) ** 2)
    dual = np.vdot(a, signs) - 0.5 * np.sum(a**2 / cost[:, None]) - 0.5 * norm2
    return np.array([primal, dual])


def _families(Y: sp.csr_array, dag: Dag, c: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """Groups of nodes with the same, not empty, set of examples; the roots' comes first."""
    columns = sp.csc_array(Y)
    everyone = np.flatnonzero(c > 0)
    groups: dict[bytes, tuple[list[int], IntArray]] = {}
    known: dict[tuple[int, ...], IntArray] = {(): everyone}
    for v in range(Y.shape[1]):
        parents = tuple(sorted(dag.parents[dag.parent_ptr[v] : dag.parent_ptr[v + 1]].tolist()))
        if parents not in known:
            count = np.bincount(
                np.concatenate([_column(columns, p) for p in parents]), minlength=Y.shape[0]
            )
            known[parents] = np.flatnonzero((count == len(parents)) & (c > 0))
        rows = known[parents]
        if rows.size:
            groups.setdefault(rows.tobytes(), ([], rows))[0].append(v)
    return [(np.array(nodes, dtype=np.int64), rows) for nodes, rows in groups.values()]


def _column(Y: sp.csc_array, v: int) -> IntArray:
    rows: IntArray = Y.indices[Y.indptr[v] : Y.indptr[v + 1]]
    return rows
