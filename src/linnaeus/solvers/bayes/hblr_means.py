"""The best weights of hierarchical Bayesian logistic regression for given precisions.

    maximise_W  J(W) = log p(labels | W, X) - 1/2 sum_n A_n (w_n - w_parent)^2,    w above root = 0

over all nodes at once: steps 1 and 3 of partial MAP [GopalYang2015, section 3.3] together. J is
concave. In u_n = w_n - w_parent the prior is a norm, and two ways lead to the maximum:

    Ascent  coordinate ascent in the dual, all leaves of one example at a time; its variables
            do not depend on A, so that a round goes on where the last one stopped;
    Newton  truncated Newton's method over b_n = A_n^1/2 u_n, for few features, where ascent is
            slow, and for close answers.

Both certify the distance to the maximum (`gap`). Loops are in `hblr_map_fast`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.solvers.bayes import hblr_map_fast as fast
from linnaeus.solvers.bayes.hblr_model import Numbers, Tree, Values
from linnaeus.solvers.linear import logistic_fast as flat
from linnaeus.solvers.numerics import coordinate_ascent, newton
from linnaeus.solvers.numerics.examples import FloatArray, Rows

MANY = 500  # nodes up to which Newton's method eliminates blocks of features
LEAST = 0.01  # of the largest curvature: rows that count for the preconditioner
MOMENTS = 16  # rows a feature that it takes
SLOW = 30  # epochs of one round after which coordinate ascent gives up
TIMES = 10  # visits to the examples that the gap is made of, between two looks at it
PASSES = 1000  # over the data in one round of Newton's method


class Order(NamedTuple):
    """Nodes in the order of the loops: parents first, leaves last."""

    nodes: Numbers  # (n_nodes,) node at each place
    parent: Numbers  # (n_nodes,) place of the parent, -1 for the root

    @classmethod
    def of(cls, tree: Tree) -> Order:
        is_leaf = np.zeros(tree.n_nodes, dtype=bool)
        is_leaf[tree.leaves] = True
        inner = np.flatnonzero(~is_leaf)
        nodes = np.concatenate([inner[np.argsort(tree.depth[inner], kind="stable")], tree.leaves])
        place = np.empty(tree.n_nodes, dtype=np.int64)
        place[nodes] = np.arange(tree.n_nodes)
        above = tree.parent[nodes]
        return cls(nodes, np.where(above < 0, -1, place[above]))


class Data(NamedTuple):
    """Examples and their classes."""

    rows: Rows
    n_features: int
    bias: Any  # size of the constant feature, of the rows' type
    weight: Values  # (n,)
    y: npt.NDArray[np.uint8]  # (n, leaves)
    softmax: bool

    @classmethod
    def of(
        cls,
        X: sp.csr_array,
        Y: sp.csr_array,
        weight: Values,
        bias: float,
        softmax: bool,
        dtype: Any,
    ) -> Data:
        y = np.zeros(Y.shape, dtype=np.uint8)
        y[Y.nonzero()] = 1
        return cls(Rows.of(X, dtype), X.shape[1], np.dtype(dtype).type(bias), weight, y, softmax)


class Means:
    """Weights (n_features + 1, nodes) on their way to the maximum; nodes in the order of loops."""

    def __init__(self, data: Data, parent: Numbers) -> None:
        self.data, self.parent = data, parent
        self.dtype = data.rows.data.dtype
        self.W = np.zeros((data.n_features + 1, parent.size), dtype=self.dtype)
        self.inverse = np.ones((1, parent.size), dtype=self.dtype)
        self.H = np.empty(data.y.shape, dtype=self.dtype)
        self.h = np.empty((data.n_features + 1, data.y.shape[1]), dtype=self.dtype)
        self.objective, self.gap, self.change = -np.inf, np.inf, np.inf

    @property
    def n_leaves(self) -> int:
        return int(self.data.y.shape[1])

    def set_precisions(self, A: Values) -> None:
        """A (1 or n_features + 1, nodes)."""
        self.inverse = np.ascontiguousarray(1.0 / A, dtype=self.dtype)

    def target(self, close: float) -> float:
        """The gap to go for: `close` of the objective, or of a nat an example if that is more.

        Where the fit is all but perfect, the objective is no measure any more.
        """
        return close * max(abs(self.objective), float(self.data.weight.sum()))

    def curvature(self) -> FloatArray:
        """h (n_features + 1, leaves) = sum_i c_i x_ij^2 p_ik (1 - p_ik), always one array"""
        self.h[:] = 0
        flat.diagonal(self.data.rows, self.data.bias, self._curvatures(), self.h)
        return self.h

    def _curvatures(self) -> FloatArray:
        """c_i p_ik (1 - p_ik), (n, leaves)"""
        return self.H

    def _moved(self, V: FloatArray, squared: bool) -> None:
        change, largest = fast.move(self.parent, self.inverse, V, squared, self.W)
        self.change = change / max(1.0, largest)


class Ascent(Means):
    """Coordinate ascent in the dual. e = |y - pi| and V are kept in step."""

    def __init__(self, data: Data, parent: Numbers, A: Values, seed: int) -> None:
        super().__init__(data, parent)
        self.set_precisions(A)
        self.rng = np.random.default_rng(seed)
        K, N = self.n_leaves, parent.size
        self.s, self.V = np.empty(N, dtype=self.dtype), np.zeros_like(self.W)
        self.work, self.nodes = np.empty((6, K)), np.empty((5, N))
        self.gaps = np.empty(data.y.shape[0])
        self.e = self._start()

    def _start(self) -> FloatArray:
        """pi = y + tau (p - y): class frequencies p, shrunk towards the truth as the dual likes."""
        data, K = self.data, self.n_leaves
        mass, total = data.weight @ data.y, data.weight.sum()
        count = data.y.sum(axis=0, dtype=np.float64) + 0.5
        p = count / (count.sum() if data.softmax else data.y.shape[0] + 1.0)
        e = np.where(data.y, 1 - p, p).astype(self.dtype)
        self._add(e)
        size = np.array([np.sum(self._squares(self.V) * self.inverse, dtype=np.float64)])

        def slope(tau: Values) -> Values:  # of the dual along the ray
            own, other = tau * (1 - p), tau * p
            if data.softmax:
                rest = p * np.log(other)
                entropy = (1 - p) * np.log1p(-own) - (rest.sum() - rest)
                return np.asarray(mass @ entropy - tau * size)
            gain = (total - mass) * p * np.log((1 - other) / other)
            gain += mass * (1 - p) * np.log((1 - own) / own)
            return np.asarray(gain.sum(keepdims=True) - tau * size)

        tau = (
            coordinate_ascent.best_scale(slope, 1).astype(self.dtype)
            if K > 1 or not data.softmax
            else 1
        )
        self.V *= tau
        return np.asarray(e * tau)

    def _squares(self, V: FloatArray) -> Values:
        """Sums of squares over the features, or the squares if every feature counts by itself."""
        if self.inverse.shape[0] > 1:
            return np.square(V, dtype=np.float64)
        out = np.empty(V.shape[1])
        flat.column_dots(V, V, out)
        return out

    def _add(self, e: FloatArray) -> None:
        d = self.data
        fast.add_residuals(d.rows, d.bias, d.weight, d.y, self.parent, e, self.s, self.V)

    def improve(self, close: float) -> bool:
        """Visits until the gap is small enough; false if that is slow.

        The first pass visits all examples, later ones those that the gap is made of.
        """
        n, n_visits = self.data.y.shape[0], 0
        self._look()
        order = self.rng.permutation(n)
        while self.gap > self.target(close) and n_visits < SLOW * n:
            self._sweep(order)
            n_visits += order.size
            self._look()
            active = np.flatnonzero(self.gaps > 0.1 * self.target(close) / n)
            n_times = np.clip(n // (2 * max(active.size, 1)), 1, TIMES)
            order = np.concatenate([self.rng.permutation(active) for _ in range(n_times)])
        if n_visits:  # rounding errors must not add up over the rounds
            self.V[:] = 0
            self._add(self.e)
        self._moved(self.V, True)
        return self.gap <= self.target(close)

    def _sweep(self, order: Numbers) -> None:
        d = self.data
        fast.sweep(
            order, d.softmax, d.rows, d.bias, d.weight, d.y, self.parent, self.inverse, self.V,
            self.e, self.s, self.work, self.nodes,
        )  # fmt: skip

    def _look(self) -> None:
        d = self.data
        loss = fast.measure(
            d.softmax, d.rows, d.bias, d.weight, d.y, self.parent, self.inverse, self.V, self.e,
            self.s, self.work, self.H, self.gaps,
        )  # fmt: skip
        energy = np.sum(self._squares(self.V) * self.inverse, dtype=np.float64)
        self.objective, self.gap = -0.5 * float(energy) - loss, float(self.gaps.sum())


class Newton(Means):
    """Newton's method over B (n_features + 1, nodes); also the problem that it sees.

    With `frozen` parents (the alternation of the paper) `parent` holds no edge, all nodes are
    leaves, and `origin` is the weights of the nodes above them.
    """

    def __init__(self, data: Data, parent: Numbers) -> None:
        super().__init__(data, parent)
        K = self.n_leaves
        self.first, self.loss = parent.size - K, np.inf
        self.origin: FloatArray | None = None
        self.z, self.work = np.empty(K, dtype=self.dtype), np.empty((4, K))
        self.t = np.argmax(data.y, axis=1).astype(np.int64)

    def improve(self, close: float) -> bool:
        """Search until the gap is at most `close` of the objective."""
        B = np.empty_like(self.W)
        start = self.W if self.origin is None else self.W - self.origin
        fast.from_weights(self.parent, self.inverse, start, B)
        found = newton.minimise(self, B, None, np.array([-np.inf]), tol=close, max_passes=PASSES)
        self.objective, self.gap = -float(found.value[0]), float((found.value - found.bound)[0])
        if self.origin is None:
            self._moved(found.W, False)
        else:
            self.W = self._weights(found.W) + self.origin
        return True

    def _weights(self, B: FloatArray) -> FloatArray:
        W = np.empty_like(B)
        fast.to_weights(self.parent, self.inverse, B, W)
        return W

    def _leaf_weights(self, B: FloatArray) -> FloatArray:
        return np.ascontiguousarray(self._weights(B)[:, self.first :])

    def evaluate(self, B: FloatArray) -> tuple[Values, FloatArray]:
        d, W = self.data, self._leaf_weights(B)
        if self.origin is not None:
            W += self.origin
        G, out = np.zeros_like(W), B.copy()
        if d.softmax:
            loss = flat.softmax_evaluate(
                d.rows, d.bias, d.weight, self.t, W, G, self.H, self.z, self.work
            )
        else:
            each, ones = np.empty(self.z.size), np.ones((2, self.z.size))
            flat.binary_evaluate(d.rows, d.bias, d.weight, ones, d.y, W, G, self.H, self.z, each)
            loss = each.sum()
        fast.add_gradient(self.parent, self.inverse, G, False, out)
        self.loss = float(loss)
        return 0.5 * self.dot(B, B) + loss, out

    def product(self, D: FloatArray) -> FloatArray:
        d, V = self.data, self._leaf_weights(D)
        HV, out = np.zeros_like(V), D.copy()
        if d.softmax:
            flat.softmax_product(d.rows, d.bias, d.weight, self.H, V, HV, self.z)
        else:
            flat.binary_product(d.rows, d.bias, self.H, V, HV, self.z)
        fast.add_gradient(self.parent, self.inverse, HV, False, out)
        return out

    def _curvatures(self) -> FloatArray:
        if not self.data.softmax:
            return self.H
        return np.asarray(self.data.weight[:, None].astype(self.dtype) * self.H * (1 - self.H))

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        """With few features all but what softmax has between classes; else the diagonal."""
        if self.data.n_features <= newton.FEW and self.parent.size <= MANY:
            return self._by_leaf()
        M = np.ones_like(self.W)
        fast.add_gradient(self.parent, self.inverse, self.curvature(), True, M)
        return lambda R: np.asarray(R / M)

    def _by_leaf(self) -> Callable[[FloatArray], FloatArray]:
        """The Hessian with Q_k = X' diag(c p (1 - p)) X at every leaf, eliminated along the tree.

        Over all nodes it is diag(S) - (A_n at edges), S_n = A_n + sum_c A_c (+ Q_n), times factors.
        """
        parent, Q = self.parent.tolist(), self._moments()
        A = np.broadcast_to(1.0 / self.inverse.T.astype(np.float64), (len(parent), Q.shape[1]))
        root, inverse = np.sqrt(A), np.zeros((len(parent), *Q.shape[1:]))
        inverse[self.first :] = Q
        for v in reversed(range(len(parent))):
            inverse[v][np.diag_indices(Q.shape[1])] += A[v]
            inverse[v] = np.linalg.inv(inverse[v])
            if parent[v] >= 0:
                inverse[parent[v]] -= A[v][:, None] * inverse[v] * A[v]
                inverse[parent[v]][np.diag_indices(Q.shape[1])] += A[v]

        def apply(R: FloatArray) -> FloatArray:
            r = root * R.T
            x = np.empty_like(r)
            for v in reversed(range(len(parent))):
                x[v] = inverse[v] @ r[v]
                if parent[v] >= 0:  # the rest of a child's share of the gradient
                    r[parent[v]] += A[v] * x[v] - root[v] * R[:, v]
            for v, p in enumerate(parent):
                if p >= 0:
                    x[v] += inverse[v] @ (A[v] * x[p])
            below = self.parent >= 0
            x[below] -= x[self.parent[below]]
            return np.ascontiguousarray((root * x).T, dtype=R.dtype)

        return apply

    def _moments(self) -> Values:
        """Q (leaves, d + 1, d + 1), from some of the rows that have weight for a leaf."""
        H, width = self._curvatures(), self.data.n_features + 1
        least = LEAST * H.max(axis=0)
        stride = np.maximum((least <= H).sum(axis=0) // (MOMENTS * width), 1)
        Q, kept = np.zeros((self.n_leaves, width, width)), np.zeros(self.n_leaves)
        fast.leaf_moments(self.data.rows, self.data.bias, H, least, stride, Q, kept)
        share = H.sum(axis=0, dtype=np.float64) / np.maximum(kept, 1e-300)
        return np.asarray(Q * share[:, None, None])

    def dot(self, A: FloatArray, B: FloatArray) -> Values:
        """The inner product over all entries, as an array of one."""
        out = np.empty(A.shape[1])
        flat.column_dots(A, B, out)
        return np.array([out.sum()])
