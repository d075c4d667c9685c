"""The problem of `rr_svm_newton` in the space of the examples: conjugate gradients, no blocks.

Weights are sums of examples, V = T X and W = K V with T (n_classes, n), and v is T beside the
scores Z = K T G, G = X X'. By Woodbury's formula, with s = sqrt(t) and M = K (.) G,

    (I + L' diag(t) L)^-1 v = v - L' s (I + s M s)^-1 s L v,

a system that is well conditioned where examples have little in common. The rest of it is for the
preconditioner, which takes K = K_0 + sum b b' apart: the columns b of B of nodes without a parent,
and those below,

    P_0 = I + s (K_0 (.) diag G_0) s             every example for itself, eliminated on a tree
    P_1 = P_0 + s (b b' (.) G) s                 what all classes share: a matrix of n x n
    P   = P_1 + bias^2 s (K_0 (.) 1 1') s        the constant feature, at least in part

of which P_0 and P_1 are inverted exactly. So neither a root left free, which b is huge for, nor an
intercept that is hardly regularised slows it down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from linnaeus.solvers.numerics import gram
from linnaeus.solvers.numerics.elimination import forest_of
from linnaeus.solvers.numerics.examples import FloatArray, squared_norms
from linnaeus.solvers.numerics.gram import Examples, Values
from linnaeus.solvers.numerics.newton import conjugate_gradients
from linnaeus.solvers.recursive.rr_machine import Coupling, JointMachine

MOST_PAIRS = 1 << 25  # of examples, of which G has a number each
ROOTS = 4  # nodes without a parent at most, that are taken apart
PRODUCTS = 400  # with M that it usually takes
PASSES = 30  # over scores beside each
LIMIT = 300  # products for one system


def work(X: sp.csr_array, found: Coupling) -> float:
    """The time of all steps, in multiplications of coordinate descent."""
    n, K = X.shape[0], found.S.size
    if n * n > MOST_PAIRS:
        return float("inf")
    each = K * (gram.DENSE * n * n + PASSES * n)
    return float(PRODUCTS * (each + 0.1 * gram.DENSE * n**3 + gram.OVERHEAD) + X.nnz * n)


class RowMachine(JointMachine):
    """v is (2, n_classes, n): T and Z."""

    def __init__(self, examples: Examples, bias: float, *problem: Any) -> None:
        self.sign, self.costs, self.found, self.kind, share_bias = problem
        X, self.bias, self.share_bias = examples.X, float(bias), bool(share_bias)
        self.examples, self.B = examples, self.found.paths()
        G = X @ X.T
        self.G = np.asarray(G.toarray() if sp.issparse(G) else G)
        self.own = squared_norms(X, 0.0) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
        self.shared_G = self.G + self.bias**2 if self.share_bias else self.G
        self.roots = _roots(self.found, self.B)

    def lift(self, A: Values) -> Values:
        """T and Z of dual variables."""
        T = self.sign * A
        return np.stack([T, self._scores(T)])

    def _scores(self, T: Values) -> Values:
        """K T G, with the constant feature."""
        B, over_S = self.B, 1.0 / self.found.S[:, None]
        if self.share_bias or not self.bias:
            V = T @ self.shared_G
            return np.asarray(over_S * V + B @ (B.T @ V))
        V = T @ self.G
        constant = self.bias**2 * over_S * T.sum(axis=1, keepdims=True)
        return np.asarray(over_S * V + B @ (B.T @ V) + constant)

    def dot(self, v: Values, other: Values) -> float:
        return float(np.vdot(v[0], other[1]))

    def reached(self, v: Values) -> Values:
        """y w.x"""
        return np.asarray(self.sign * v[1])

    def weights(self, v: Values) -> tuple[Values, Values]:
        """W and W_I, over the features."""
        T, found, last = v[0], self.found, self.bias * v[0].sum(axis=1, keepdims=True)
        V = np.hstack([np.asarray(T @ self.examples.X), last])
        D = np.asarray(self.B.T @ V)
        if not self.share_bias:
            D[:, -1] = 0.0
        return V / found.S[:, None] + self.B @ D, np.asarray(found.upward @ D)

    def solver(self, t: Values, rough: float) -> Callable[[Values], Values]:
        """What solves a system with I + L' diag(t) L, to a residual of `rough`."""
        s = self.sign * np.sqrt(t)
        precondition = self._preconditioner(s, t)

        def product(x: FloatArray) -> FloatArray:
            return np.asarray(x + s * self._scores(s * x))

        def solve(v: Values) -> Values:
            check = _Check(product, rough**2 * self.dot(v, v))
            x, _ = conjugate_gradients(product, precondition, _dots, s * v[1], check, LIMIT)
            return np.asarray(v - self.lift(np.sqrt(t) * x))

        return solve

    def _preconditioner(self, s: Values, t: Values) -> Callable[[FloatArray], FloatArray]:
        """P^-1; a bound of what the constant feature would take keeps it positive."""
        alone = _Alone(self.found, self.B, self.roots, self.own, t)
        shared = [_Shared(self.B[:, [j]].toarray(), s, alone, self.shared_G)
                  for j in self.roots]  # fmt: skip

        def without(x: FloatArray) -> FloatArray:
            y = alone(s, x)
            for node in shared:
                y -= node(y)
            return y

        if not self.bias:
            return without
        S = self.found.S[:, None]
        load = (t / (1.0 + t * self.own / S)).sum(axis=1, keepdims=True)
        if self.share_bias:
            constant: Any = _Alone(
                self.found, self.B, self.roots, np.array([self.bias**2]), load
            ).solve
        else:
            constant = lambda a: a / (S / self.bias**2 + load)  # noqa: E731

        def whole(x: FloatArray) -> FloatArray:
            y = without(x)
            return y - without(s * constant((s * y).sum(axis=1, keepdims=True)))

        return whole


class _Check:
    """Whether what is left of a system, r, is too much: r' s M s r is how far v is off, squared.

    It takes a product, and is looked at now and then.
    """

    def __init__(self, product: Callable[[FloatArray], FloatArray], enough: float) -> None:
        self.product, self.enough, self.n, self.next = product, enough, 0, 2

    def __call__(self, left: FloatArray, _: Values) -> Any:
        self.n += 1
        if self.n < self.next:
            return np.ones(1, dtype=bool)
        self.next += 1 + self.n // 2
        return _dots(left, self.product(left) - left) > self.enough


class _Alone:
    """Every example for itself: systems with K_0^-1 / q + diag(t), q (n,) and t (n_classes, n).

    On a tree nodes are eliminated from the last to the first; on other graphs K_0 is taken for its
    diagonal.
    """

    def __init__(
        self, found: Coupling, B: sp.csr_array, cut: list[int], q: Values, t: Values
    ) -> None:
        self.q, self.mix, self.S, self.cut = q, found.mix, found.S[:, None], cut
        self.forest = forest_of(found.reduced)
        if (np.diff(found.mix.indptr) > 1).any():
            self.forest = None
        if self.forest is None:
            B = B.multiply(B)
            size = 1.0 / found.S + B.sum(axis=1) - B[:, cut].sum(axis=1)
            self.inverse = size[:, None] * q / (1.0 + size[:, None] * q * t)
            return
        self.over = self.S + q * t
        self.share = self.S / self.over
        self.pivot = found.reduced.diagonal()[:, None] + np.asarray(
            found.mix.multiply(found.mix).T @ (q * t * self.share)
        )
        self.edges = [
            (v, int(u), edge)
            for v, (u, edge) in enumerate(zip(self.forest.parent, self.forest.edge, strict=True))
            if u >= 0 and u not in cut and v not in cut
        ]
        for v, u, edge in reversed(self.edges):
            self.pivot[u] -= edge**2 / self.pivot[v]

    def __call__(self, s: Values, x: FloatArray) -> Values:
        """P_0^-1 x"""
        return np.asarray(x - s * self.solve(s * x))

    def solve(self, r: Values) -> Values:
        if self.forest is None:
            return np.asarray(self.inverse * r)
        r = self.q * r
        W = np.asarray(self.mix.T @ (self.share * r))
        W[self.cut] = 0.0
        for v, u, edge in reversed(self.edges):
            W[u] -= edge / self.pivot[v] * W[v]
        W /= self.pivot
        for v, u, edge in self.edges:
            W[v] -= edge / self.pivot[v] * W[u]
        return np.asarray((r + self.S * (self.mix @ W)) / self.over)


class _Shared:
    """P_1^-1 = P_0^-1 - F C F', F = P_0^-1 s b, C = (G^-1 + diag(g))^-1, for one column b."""

    def __init__(self, b: Values, s: Values, alone: _Alone, G: Values) -> None:
        E = s * b
        self.E, self.F, self.G = E, alone(s, E), G
        g = np.einsum("kn,kn->n", E, self.F)
        self.root = np.sqrt(np.maximum(g, 0.0))
        A = self.root[:, None] * G * self.root
        A[np.diag_indices_from(A)] += 1.0
        self.factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, y: Values) -> Values:
        """What to take from y = P_0^-1 x."""
        a = self.G @ np.einsum("kn,kn->n", self.E, y)
        a -= self.G @ (self.root * cho_solve(self.factor, self.root * a, check_finite=False))
        return np.asarray(self.F * a)


def _roots(found: Coupling, B: sp.csr_array) -> list[int]:
    """Nodes that most classes share: without a parent, so that no class is below two of them."""
    size = np.asarray(B.multiply(B).sum(axis=0)).ravel()
    best: list[int] = np.argsort(-size, kind="stable").tolist()
    forest = forest_of(found.reduced)
    if forest is None:
        return best[:1]
    return [j for j in best if forest.parent[j] < 0][:ROOTS]


def _dots(A: FloatArray, B: FloatArray) -> Values:
    return np.array([np.vdot(A, B)])
