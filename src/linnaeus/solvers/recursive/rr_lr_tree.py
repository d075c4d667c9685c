"""Recursive regularisation with the logistic loss on a tree, all classes at once.

    minimise_W  1/2 tr(W' L W) + C sum_{leaves n} sum_i c_i log(1 + exp(-y_in w_n.x_i))

L is the grounded Laplacian of a forest: RR-LR of [GopalYang2015] (16), (17). With K = L^-1 on the
leaves, pi_in probabilities, u_in = C c_i and V_n = sum_i u_in (y_in - pi_in) x_i, y = 0 or 1,

    D(pi) = sum u H(pi) - 1/2 tr(V' K V),    W_T = K V,    P - D = sum u KL(pi || sigma(W_T x)).

The way is that of `softmax`: a start at class frequencies, coordinate ascent that makes all
probabilities of one example optimal (a small problem on the tree, each Newton step two passes over
the nodes), and only where that is slow Newton's method in the primal. There the variables are
increments B along the tree, in which tr(W' L W) = ||B||^2. Alternation has to wait until what one
class learns has gone up the tree and down again; here it is known to all classes at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.solvers.linear import logistic_fast as fast
from linnaeus.solvers.numerics import coordinate_ascent, newton
from linnaeus.solvers.numerics.coordinate_ascent import Values
from linnaeus.solvers.numerics.elimination import forest_of, pivots
from linnaeus.solvers.numerics.examples import FloatArray, Rows, squared_norms
from linnaeus.solvers.numerics.rounds import Record, Rounds
from linnaeus.solvers.recursive import rr_lr_tree_fast as increments
from linnaeus.solvers.recursive.rr_svm import Structure

MANY = 500  # nodes up to which Newton's method decomposes a matrix over nodes


class Tree(NamedTuple):
    """A grounded forest, parents before children, leaves last."""

    parent: npt.NDArray[np.int64]  # -1 for roots
    edge: Values  # L_vp, negative; 0 for roots
    diagonal: Values  # L_vv
    ground: Values  # L_vv + sum of the row's other entries
    inverse: Values  # 1 / pivots of L, children eliminated first
    inner_inverse: Values  # (n_internal,) likewise without the leaves


def tree_of(structure: Structure) -> Tree | None:
    """The forest, or None if the graph is another."""
    n_inner = structure.L_II.shape[0]
    L = sp.csr_array(
        sp.block_array(
            [[structure.L_II, structure.L_IT], [structure.L_IT.T, sp.diags_array(structure.S)]]
        )
    )
    forest = forest_of(L)
    if forest is None:
        return None
    parent, edge, pivot = forest
    ground = np.maximum(np.asarray(L.sum(axis=1)).ravel(), 0.0)
    if not (np.isfinite(pivot).all() and (pivot > 0).all()):
        return None  # a part without any ground
    inner = pivots(parent[:n_inner], edge, structure.L_II.diagonal())
    return Tree(parent, edge, L.diagonal(), ground, 1.0 / pivot, 1.0 / inner)


class Answer(NamedTuple):
    """Weights of leaves and internal nodes, the constant feature last, and what certifies them."""

    W_T: FloatArray  # (n_leaves, d + 1)
    W_I: FloatArray  # (n_internal, d + 1)
    objective: float
    dual: float
    n_passes: int
    trace: list[Record]


def solve(
    X: sp.csr_array,
    Y: sp.csr_array,
    tree: Tree,
    cost: Values,
    weight: Values,
    *,
    bias: float,
    tol: float,
    max_iter: int,
    dtype: Any,
    seed: int,
) -> Answer:
    """Solve until the relative duality gap is `tol`, or after `max_iter` passes over the data.

    cost, weight : (2, n_leaves) and (n,), u_in = weight_i cost[y_in, n]
    """
    run = _Run(X, Y, tree, cost, weight, bias, tol, dtype)
    by_newton = newton.suits(*X.shape)
    run.rounds.limit = 0 if by_newton else max_iter
    n_first = 0 if by_newton else coordinate_ascent.FIRST_LOOK
    if not coordinate_ascent.ascend(run, X.shape[0], n_first, seed):
        run.finish(max_iter - run.rounds.n)
    W_T, W_I = (np.ascontiguousarray(W.T) for W in (run.W, run.inner))
    return Answer(W_T, W_I, run.objective, run.dual, run.rounds.n, run.rounds.trace)


class _Run:
    """The state of the problem while it is solved; also what Newton's method sees of it."""

    def __init__(
        self, X: sp.csr_array, Y: sp.csr_array, tree: Tree, cost: Values, weight: Values,
        bias: float, tol: float, dtype: Any,
    ) -> None:  # fmt: skip
        (n, K), self.tree = Y.shape, tree
        self.rows, self.norms = Rows.of(X, dtype), squared_norms(X, bias)
        self.weight, self.cost = weight, np.ascontiguousarray(cost)
        self.bias, self.target = (
            np.dtype(dtype).type(bias),
            coordinate_ascent.target_gap(tol, dtype),
        )
        self.y = np.zeros((n, K), dtype=np.uint8)
        self.y[Y.nonzero()] = 1
        self.z = np.empty(K, dtype=dtype)
        self.work, self.nodes = np.empty((9, K)), np.empty((2, tree.parent.size))
        self.objective, self.dual = np.inf, -np.inf
        self.rounds = Rounds(0, self.target)
        self.inner = np.zeros((X.shape[1] + 1, tree.parent.size - K), dtype=dtype)
        self.W, self.r, self.pi = self._prior(X.shape[1], dtype)

    def _prior(self, d: int, dtype: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Start at the frequency p of each class, shrunk towards the truth."""
        positive = self.cost[1] * (self.weight @ self.y)
        negative = self.cost[0] * (self.weight.sum() - self.weight @ self.y)
        half = 0.5 / (self.y.shape[0] + 1)
        p = np.clip(positive / (positive + negative), half, 1 - half)
        W = np.zeros((d + 1, p.size), dtype=dtype)
        rest = np.where(self.y, self.cost[1] * (1 - p), -self.cost[0] * p) * self.weight[:, None]
        fast.add_rows(self.rows, self.bias, rest.astype(dtype, copy=False), W)
        size = fast.tree_products(self.tree, W)

        def slope(tau: Values) -> Values:  # of the dual along the ray
            a, b = tau * p, tau * (1 - p)
            entropy = negative * p * np.log((1 - a) / a) + positive * (1 - p) * np.log((1 - b) / b)
            return np.asarray(entropy.sum(keepdims=True) - tau * size)

        tau = coordinate_ascent.best_scale(slope, 1)
        pi = np.where(self.y, 1 - tau * (1 - p), tau * p)
        r = np.where(self.y, np.log(pi / (tau * (1 - p))), np.log(pi / (1 - tau * p)))
        return W * tau.astype(dtype), r.astype(dtype), pi.astype(dtype)

    def sweep(self, order: Any) -> None:
        fast.tree_sweep(
            order, self.rows, self.bias, self.norms, self.weight, self.cost, self.y, self.tree,
            self.W, self.r, self.pi, self.z, self.work, self.nodes,
        )  # fmt: skip

    def look(self) -> None:
        loss, gap = np.empty((2, self.z.size))
        fast.binary_certificate(
            self.rows, self.bias, self.weight, self.cost, self.y, self.W, self.r, self.z, loss, gap
        )
        energy = increments.extend(self.tree, self.W, self.inner)
        self._note(0.5 * energy + float(loss.sum()), float(gap.sum()))

    def _note(self, objective: float, gap: float) -> None:
        self.objective = objective
        self.dual = min(max(self.dual, objective - gap), objective)
        self.rounds.note(self.objective, self.objective - self.dual)

    def narrow(self) -> None:
        """Nothing to leave out: the classes belong together."""

    def finish(self, max_passes: int) -> None:
        """Newton's method over increments, where coordinate ascent is slow."""
        if max_passes <= 0:
            return
        B = np.empty((self.W.shape[0], self.tree.parent.size), dtype=self.W.dtype)
        increments.from_weights(self.tree, np.hstack([self.inner, self.W]), B)
        found = newton.minimise(
            self, B, np.zeros_like(B), np.array([self.dual]), tol=self.target,
            max_passes=max_passes,
        )  # fmt: skip
        self.inner, self.W = np.hsplit(self._weights(found.W), [self.inner.shape[1]])
        self.rounds.n += found.n_passes
        self._note(float(found.value[0]), float(found.value[0] - found.bound[0]))

    def _weights(self, B: FloatArray) -> FloatArray:
        W = np.empty_like(B)
        increments.to_weights(self.tree, B, W)
        return W

    def _leaf_weights(self, B: FloatArray) -> FloatArray:
        return np.ascontiguousarray(self._weights(B)[:, self.inner.shape[1] :])

    def evaluate(self, B: FloatArray) -> tuple[Values, FloatArray]:
        G, loss, out = np.zeros_like(self.W), np.empty(self.z.size), B.copy()
        fast.binary_evaluate(
            self.rows, self.bias, self.weight, self.cost, self.y, self._leaf_weights(B), G,
            self.pi, self.z, loss,
        )  # fmt: skip
        increments.add_gradient(self.tree, G, False, out)
        return 0.5 * self.dot(B, B) + loss.sum(), out

    def product(self, D: FloatArray) -> FloatArray:
        HD, out = np.zeros_like(self.W), D.copy()
        fast.binary_product(self.rows, self.bias, self.pi, self._leaf_weights(D), HD, self.z)
        increments.add_gradient(self.tree, HD, False, out)
        return out

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        """Diagonal; or I + (F' diag(s) F) x Q, where W = B F' and H_n is taken for s_n Q."""
        d, N = self.W.shape[0] - 1, self.tree.parent.size
        if d <= newton.FEW and N <= MANY:
            h = self.pi.sum(axis=1, dtype=np.float64)
            Q = newton.second_moments(self.rows, float(self.bias), d, h)
            F = self._leaf_weights(np.eye(N))
            values, basis = np.linalg.eigh((F * self.pi.sum(axis=0, dtype=np.float64)) @ F.T)
            return newton.correlated(Q, np.maximum(values, 0.0), basis)
        H, M = np.zeros_like(self.W), np.ones((d + 1, N), dtype=self.W.dtype)
        fast.diagonal(self.rows, self.bias, self.pi, H)
        increments.add_gradient(self.tree, H, True, M)
        return lambda R: np.asarray(R / M)

    def dot(self, A: FloatArray, B: FloatArray) -> Values:
        """The inner product over all entries, as an array of one."""
        out = np.empty(A.shape[1])
        fast.column_dots(A, B, out)
        return np.array([out.sum()])
