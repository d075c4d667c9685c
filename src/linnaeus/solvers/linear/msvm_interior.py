"""The Crammer-Singer machine to its optimum by an interior point method, whatever its scale.

    minimise_W  1/2 sum_k ||w_k||^2 + sum_i c_i max_k h_ik,     h_ik = [k != t_i] + (w_k - w_t).x_i

is a problem of `interior` with one linear function for each class. Its multipliers sum to c_i; that
of the own class t is what the others leave. The system of a step has K p unknowns, with blocks

    G_kl = - sum_i d_ik d_il / (sum_j d_ij) x_i x_i'  (k != l),      G_kk = - sum_{l != k} G_kl.

It is worth while for few classes and features, where features differ in size or C is large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.solvers.numerics import interior
from linnaeus.solvers.numerics.gram import Examples, Values


class Polished(NamedTuple):
    """All classes: 0 <= U, with column sums of at most the costs; dual <= optimum <= primal."""

    W: Values  # (n_classes, p), the weight of the constant feature last
    U: Values  # (n_classes, n), 0 for the own classes
    primal: float
    dual: float
    n_iter: int


def polish(
    examples: Examples, target: npt.NDArray[Any], n_classes: int, cost: Values, *, tol: float,
    dtype: Any = np.float64,
) -> Polished:  # fmt: skip
    """Solve for all classes.

    target, cost : (n,) class and c of every example, all costs positive
    tol : stop when P - D <= tol P
    dtype : what the weights are rounded to, before their value is measured
    """
    small, basis = examples.reduced()
    problem = _MulticlassMachine(small, target, cost, n_classes)
    best = interior.minimise(problem, np.zeros(n_classes * small.shape[1]), tol=0.3 * tol)
    machine = _MulticlassMachine(examples, target, cost, n_classes)
    U = machine.rivals(best.U)
    W = -machine.adjoint(U).astype(dtype).astype(float)
    primal, dual = machine.primal(W), machine.dual(U)
    if primal - dual > tol * primal:  # then the search may know better weights than those of U
        V = best.v.reshape(n_classes, -1)
        other = (V if basis is None else V @ basis.T).ravel().astype(dtype).astype(float)
        W, primal = min((W, primal), (other, machine.primal(other)), key=lambda pair: pair[1])
    return Polished(
        W.reshape(n_classes, -1), U, primal, float(np.minimum(primal, dual)), best.n_iter
    )


class _MulticlassMachine:
    """A problem of `interior`; the variables are the weights, class after class."""

    def __init__(
        self, examples: Examples, target: npt.NDArray[Any], cost: Values, n_classes: int
    ) -> None:
        self.examples, self.cost, self.shape = examples, cost, (n_classes, examples.shape[1])
        self.own = target.astype(np.int64), np.arange(cost.size)
        self.base = np.ones((n_classes, cost.size))
        self.base[self.own] = 0.0

    def forward(self, v: Values) -> Values:
        scores = (self.examples.X @ v.reshape(self.shape).T).T
        return np.asarray(scores - scores[self.own])

    def adjoint(self, U: Values) -> Values:
        Z = U.copy()
        Z[self.own] -= U.sum(axis=0)
        return np.asarray((self.examples.X.T @ Z.T).T).ravel()

    def solver(self, d: Values) -> Callable[[Values], Values]:
        (K, p), total = self.shape, d.sum(axis=0)
        H = np.zeros((K, p, K, p))
        for k in range(K):
            for j in range(k):
                G = np.tril(self.examples.gram(d[k] * (d[j] / total)))
                H[k, :, k] += G
                H[j, :, j] += G
                H[k, :, j] = -G - np.tril(G, -1).T
        return interior.factorised(H.reshape(K * p, K * p))

    def primal(self, v: Values) -> float:
        losses = (self.base + self.forward(v)).max(axis=0)
        return 0.5 * float(v @ v) + float(self.cost @ losses)

    def dual(self, U: Values) -> float:
        pull = self.adjoint(U)
        return float(U.sum()) - 0.5 * float(pull @ pull)

    def rivals(self, U: Values) -> Values:
        """Without the own classes; feasible."""
        U = U.copy()
        U[self.own] = 0.0
        U *= np.minimum(1.0, self.cost / np.maximum(U.sum(axis=0), self.cost))
        return U
