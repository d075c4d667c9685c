"""The problem of `rr_svm_newton` in weights, and its systems by blocks of features.

    W_T = U + B D,    v = (sqrt(S) U, D),    K = diag(1 / S) + B B',    B = mix F^-T,    R = F F'

With G_n = X' diag(t_n) X the classes are eliminated, each by itself, and what is left is a system
over the weights W_I of the other nodes, D = F'W_I, of blocks of the size of the features:

    (R + sum_n mix_n mix_n' T_n) dW_I = ...,      T_n = S_n - S_n^2 (S_n + G_n)^-1.

It has the graph of R (`elimination`): a tree takes one block for each node and edge. Where such
blocks are too large, `rr_rows` has another way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotri

from linnaeus.solvers.numerics import elimination
from linnaeus.solvers.numerics.examples import FloatArray
from linnaeus.solvers.numerics.gram import Examples, Values
from linnaeus.solvers.recursive.rr_factor import factor_of
from linnaeus.solvers.recursive.rr_losses import MarginLoss

STRETCH = 50.0  # K_nn S_n from which a class leans on hardly anything
CLASSES = 4096  # whose paths are looked at together
STEEP = 200  # longer paths than this, over more than 2,000 nodes, are too much for Newton's method
SMALL = 2000


class Coupling(NamedTuple):
    """K = diag(1 / S) + B B' over the classes, B = mix F^-T, R = F F'."""

    S: npt.NDArray[np.float64]  # (n_classes,)
    mix: sp.csr_array  # (n_classes, n_inner)
    reduced: sp.csr_array  # R, (n_inner, n_inner)
    upward: sp.csr_array  # F^-T, (n_inner, n_inner)
    rank: npt.NDArray[np.int64]  # (n_inner,): nodes above come before nodes below

    def paths(self, classes: Any = slice(None)) -> sp.csr_array:
        """Rows of B."""
        return sp.csr_array(self.mix[classes] @ self.upward)

    def diagonal(self) -> npt.NDArray[np.float64]:
        """K_nn of every class."""
        K = 1.0 / self.S
        for k in range(0, K.size, CLASSES):
            B = self.paths(slice(k, k + CLASSES))
            K[k : k + CLASSES] += B.multiply(B).sum(axis=1)
        return np.asarray(K)

    def n_below(self) -> npt.NDArray[np.float64]:
        """How many classes lean on each node, one with two ways to it counted twice."""
        return self.sum_below(np.ones(self.S.size))

    def sum_below(self, numbers: Any) -> npt.NDArray[np.float64]:
        """The sums of numbers of the classes below each node."""
        up, mix = self.upward.astype(bool).astype(float), self.mix.astype(bool).astype(float)
        return np.asarray(up.T @ (mix.T @ numbers))

    @property
    def stretched(self) -> bool:
        """Whether some class leans on hardly anything: coordinates of the dual would crawl."""
        return bool((self.diagonal() * self.S).max(initial=0.0) > STRETCH)

    @property
    def tangled(self) -> bool:
        """Whether too many nodes are joined once others are eliminated, for blocks of features."""
        steep = int(np.diff(self.upward.indptr).max(initial=0)) > STEEP
        return steep and self.upward.shape[0] > SMALL


def coupling(S: Any, mix: sp.csr_array, reduced: sp.csr_array) -> Coupling | None:
    """The factors of K, or None where these would be too many numbers."""
    found = factor_of(reduced)
    return None if found is None else Coupling(np.asarray(S, float), mix, reduced, *found)


class JointMachine:
    """The problem; the constant feature is the last. Arrays over examples are (n_classes, n).

    v holds weights as they are; a step eliminates blocks of the size of the features.
    """

    def __init__(
        self, examples: Examples, sign: Values, costs: Values, found: Coupling,
        kind: MarginLoss, share_bias: bool,
    ) -> None:  # fmt: skip
        self.examples, self.sign, self.costs, self.found = examples, sign, costs, found
        self.kind, self.root = kind, np.sqrt(found.S)[:, None]
        self.shape, self.n_inner = (found.S.size, examples.shape[1]), found.mix.shape[1]
        self.B = found.paths()
        self.F = sp.csr_array(found.reduced @ found.upward)
        self.shared = np.ones(self.shape[1])  # 0 for a feature that other nodes have no part in
        self.shared[-1] = share_bias

    def split(self, v: Values) -> tuple[Values, Values]:
        """sqrt(S) U and D."""
        K, p = self.shape
        return v[: K * p].reshape(K, p), v[K * p :].reshape(self.n_inner, p)

    def lift(self, A: Values) -> Values:
        """L'A, the v that dual variables make: V / sqrt(S) and B'V."""
        V = (self.sign * A) @ self.examples.X
        D = self.B.T @ (V * self.shared)
        return np.concatenate([(V / self.root).ravel(), D.ravel()])

    def weights(self, v: Values) -> tuple[Values, Values]:
        """W and W_I."""
        Q, D = self.split(v)
        return Q / self.root + (self.B @ D) * self.shared, np.asarray(self.found.upward @ D)

    def margins(self, W: Values) -> Values:
        """y w.x"""
        return np.asarray(self.sign * (W @ self.examples.X.T))

    def loss(self, z: Values) -> float:
        return self.kind.value(self.costs, z)

    def measured(self, W: Values, W_I: Values, dtype: Any) -> tuple[float, FloatArray, FloatArray]:
        """The primal value of rounded weights, and these."""
        W_out, W_I_out = W.astype(dtype), W_I.astype(dtype)
        W, W_I = W_out.astype(float), W_I_out.astype(float)
        away = (W - (self.found.mix @ W_I) * self.shared) * self.root
        size = _dot(away, away) + _dot(W_I, self.found.reduced @ W_I)
        return 0.5 * size + self.loss(self.margins(W)), W_out, W_I_out

    def gain(self, A: Values) -> float:
        """sum A - conj(A)"""
        return self.kind.gain(self.costs, A)

    def dual(self, A: Values) -> float:
        v = self.lift(A)
        return self.gain(A) - 0.5 * self.dot(v, v)

    def dot(self, v: Values, other: Values) -> float:
        return float(v @ other)

    def reached(self, v: Values) -> Values:
        """The margins y w.x of v."""
        return self.margins(self.weights(v)[0])

    def solver(self, t: Values, rough: float) -> Callable[[Values], Values]:
        """What solves a system with I + L' diag(t) L; as exactly as can be, whatever `rough`."""
        S, found = self.found.S[:, None], self.found
        inverse = self._inverses(t)
        over_nodes = elimination.eliminated(self._node_blocks(inverse))

        def solve(b: Values) -> Values:
            r, r_D = self.split(b)
            r = r * self.root
            left = r - S * np.einsum("kij,kj->ki", inverse, r)
            W_I = over_nodes(self.F @ r_D - found.mix.T @ (left * self.shared))
            mean = (found.mix @ W_I) * self.shared
            W = np.einsum("kij,kj->ki", inverse, r + S * mean)
            return np.concatenate([(self.root * (W - mean)).ravel(), (self.F.T @ W_I).ravel()])

        return solve

    def _inverses(self, t: Values) -> Values:
        """(S_n + G_n)^-1 of every class."""
        p = self.shape[1]
        out = np.empty((self.shape[0], p, p))
        for k, S in enumerate(self.found.S.tolist()):
            out[k] = _inverse(self.examples.gram(t[k]), S)
        return out

    def _node_blocks(self, inverse: Values) -> elimination.Blocks:
        """R + sum_n mix_n mix_n' T_n."""
        mix, unit = self.found.mix, np.eye(self.shape[1])
        blocks = elimination.Blocks.of(self.found.reduced, self.shape[1])
        for k, S in enumerate(self.found.S.tolist()):
            T = (S * unit - S**2 * inverse[k]) * self.shared * self.shared[:, None]
            near = slice(mix.indptr[k], mix.indptr[k + 1])
            nodes = list(zip(mix.indices[near].tolist(), mix.data[near].tolist(), strict=True))
            for i, (v, share) in enumerate(nodes):
                for u, other in nodes[: i + 1]:
                    blocks.add(v, u, share * other * T)
        return blocks


def _dot(A: Values, B: Values) -> float:
    return float(np.vdot(A, B))


def _inverse(G: Values, S: float) -> Values:
    """(S + G)^-1, of which the lower triangle is given and overwritten.

    The diagonal is scaled to 1; directions that rounding hides get a little weight.
    """
    if not np.isfinite(G).all():
        raise np.linalg.LinAlgError("the matrix has numbers out of range")
    p = G.shape[0]
    G[np.diag_indices(p)] += S
    scale = 1.0 / np.sqrt(np.diagonal(G))
    G = np.asfortranarray(G * scale * scale[:, None])
    factor, failed = dpotrf(G, lower=1)
    extra = 1e-15 * p
    while failed:
        factor, failed = dpotrf(G + extra * np.eye(p), lower=1)
        extra *= 10
    below = np.tril(dpotri(factor, lower=1)[0])
    return np.asarray((below + np.tril(below, -1).T) * scale * scale[:, None])
