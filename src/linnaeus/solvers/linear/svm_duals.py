"""Dual variables of hinge losses from one solve to the next, and the values of weights and duals.

Between solves they are one sparse matrix (n, n_classes) of y_ik A_ik, 0 <= A_ik <= C c_ik: signed,
so that a variable whose label has changed shows, and is dropped. Any such A is feasible for another
problem over these examples once it is cut to its box, and so is one with zeros for new examples and
new classes: a start is never wrong, only more or less near.

    P_k = S/2 ||w_k||^2 + sum_i C c_ik loss(y_ik w_k.x_i)
    D_k = sum_i A_ik - conj - ||V_k||^2 / 2S

hold for any weights and any A, whether they belong together or not; V_k = sum_i y_ik A_ik x_i, and
conj = A^2 / (4 C c) for the squared hinge, 0 for the hinge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.solvers.numerics.examples import FloatArray

ENTRIES = 1 << 22  # scores at once

Values = npt.NDArray[np.float64]


def signed(A: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """y A, for the 0/1 matrix Y."""
    return sp.csr_array(2 * A.multiply(Y) - A)


def unsigned(duals: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """A, with 0 where the sign is not that of the label any more."""
    A = signed(duals, Y)
    A.data = np.maximum(A.data, 0)
    A.eliminate_zeros()
    return A


def of_weighted(duals: sp.csr_array, weight: Any) -> sp.csr_array:
    """The rows of examples that have a weight: those that solvers see."""
    if weight is None or np.all(weight):
        return duals
    return sp.csr_array(duals[np.asarray(weight) > 0])


def of_everybody(duals: sp.csr_array, weight: Any) -> sp.csr_array:
    """The inverse: rows of zeros for examples without weight."""
    if weight is None or np.all(weight):
        return duals
    count = np.zeros(len(weight), dtype=np.int64)
    count[np.asarray(weight) > 0] = np.diff(duals.indptr)
    ends = np.concatenate([[0], np.cumsum(count)])
    return sp.csr_array((duals.data, duals.indices, ends), (len(weight), duals.shape[1]))


def losses(
    X: sp.csr_array, Y: sp.csr_array, coef: Any, intercept: Any, weight: Values, cost: Values,
    squared: bool,
) -> Values:  # fmt: skip
    """sum_i C c_ik loss(y_ik w_k.x_i) of every class, (n_classes,).

    weight : (n,) of examples; cost : (2, n_classes), C times class weights of negatives, positives
    """
    out = np.zeros(Y.shape[1])
    step = max(1, ENTRIES // max(1, Y.shape[1]))
    for rows in (slice(i, i + step) for i in range(0, X.shape[0], step)):
        S = X[rows] @ coef.T
        y = Y[rows].toarray() > 0
        z = np.where(y, 1.0, -1.0) * ((S.toarray() if sp.issparse(S) else S) + intercept)
        over = np.maximum(0.0, 1.0 - z)
        out += weight[rows] @ (np.where(y, cost[1], cost[0]) * (over**2 if squared else over))
    return out


def gains(
    X: sp.csr_array, Y: sp.csr_array, duals: sp.csr_array, weight: Values, cost: Values,
    bias: float, squared: bool,
) -> tuple[Values, FloatArray]:  # fmt: skip
    """sum_i A_ik - conj of every class, and V (n_classes, d + 1), the constant feature last."""
    A = sp.coo_array(unsigned(duals, Y).astype(np.float64))
    positive = np.asarray(Y[A.row, A.col]).ravel() > 0
    most = cost[positive.astype(int), A.col] * weight[A.row]
    a = A.data if squared else np.minimum(A.data, most)
    gained = a - a**2 / (4 * most) if squared else a
    y = sp.csr_array((np.where(positive, a, -a), (A.row, A.col)), A.shape)
    V = np.empty((Y.shape[1], X.shape[1] + 1))
    V[:, :-1], V[:, -1] = (y.T @ X).toarray(), bias * np.asarray(y.sum(axis=0))
    return np.bincount(A.col, gained, Y.shape[1]).astype(np.float64), V
