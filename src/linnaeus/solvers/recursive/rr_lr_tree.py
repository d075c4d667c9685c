"""Logistic losses on a forest, all classes at once: the weights of RR-LR, and of HBLR.

    minimise_W  1/2 sum_n A_n (w_n - f_n w_parent)^2 + sum_i c_i loss(W_T x_i, y_i)

over the weights of all nodes; only the leaves T see data, by the logistic loss class by class or by
softmax. A node has one precision A_n, or one for every feature. Two models are of this form:

    RR-LR   [GopalYang2015] (16), (17): 1/2 tr(W' L W) with a grounded Laplacian L. Children
            eliminated before parents, A are the pivots and f_n = -L_np / A_n;
    HBLR    steps 1 and 3 of partial MAP [GopalYang2015, section 3.3] together: f = 1, w above the
            root = 0, A the expected precisions, which change from round to round.

In u_n = w_n - f_n w_parent the pull is a norm, and two ways lead to the minimum:

    TreeAscent  coordinate ascent in the dual, all leaves of one example at a time; its variables
                do not depend on A, so that a round goes on where the last one stopped;
    TreeNewton  truncated Newton's method over b_n = A_n^1/2 u_n, for few features, where ascent is
                slow, and for close answers.

Both certify the distance to the minimum (`gap`). Alternation has to wait until what one class
learns has gone up the tree and down again; here it is known to all classes at once. Loops are in
`rr_lr_tree_fast`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit, softmax

from linnaeus.execution import Executor, over_blocks
from linnaeus.solvers.linear import logistic_fast as flat
from linnaeus.solvers.numerics import coordinate_ascent, elimination, newton
from linnaeus.solvers.numerics.coordinate_ascent import Values
from linnaeus.solvers.numerics.elimination import forest_of
from linnaeus.solvers.numerics.examples import FloatArray, Rows
from linnaeus.solvers.numerics.rounds import Kept, Record, Rounds, relative
from linnaeus.solvers.numerics.row_parts import RowParts
from linnaeus.solvers.recursive import rr_lr_tree_fast as fast
from linnaeus.solvers.recursive.alternation import Structure
from linnaeus.solvers.recursive.rr_lr_passes import Labels, Passes

MANY = 500  # nodes up to which Newton's method eliminates blocks of features
LEAST = 0.01  # of the largest curvature: rows that count for the preconditioner
MOMENTS = 16  # rows a feature that it takes
LEAVES = 16  # for which it takes them at once
SHARE = 0.1  # of its part of the gap to go for: an example below it is not visited
TIMES = 10  # epochs for which that counts
PASSES = 1000  # over the data in one round
LOOSE = 1e4  # 1 / A of a root left free: what its dual variables leave over, times this, is w


class IncrementTree(NamedTuple):
    """A forest, parents before children, leaves last: w_n = f_n w_parent + u_n."""

    parent: npt.NDArray[np.int64]  # -1 for roots
    factor: Values  # f
    inverse: FloatArray  # 1 / A, (1 or n_features + 1, n_nodes)

    def at(self, features: slice) -> IncrementTree:
        """For some features alone."""
        alike = self.inverse.shape[0] == 1
        return self if alike else self._replace(inverse=self.inverse[features])

    def with_precisions(self, A: Values, dtype: Any) -> IncrementTree:
        """A (1 or n_features + 1, n_nodes)."""
        kind = np.float64 if A.shape[0] == 1 else dtype
        return self._replace(inverse=np.ascontiguousarray(1.0 / A, dtype=kind))


def plain_tree(parent: npt.NDArray[np.int64]) -> IncrementTree:
    """With f = 1 and unit precisions."""
    return IncrementTree(parent, np.ones(parent.size), np.ones((1, parent.size)))


def tree_of(structure: Structure) -> IncrementTree | None:
    """The forest of a grounded Laplacian, or None if the graph is another."""
    L = sp.csr_array(
        sp.block_array(
            [[structure.L_II, structure.L_IT], [structure.L_IT.T, sp.diags_array(structure.S)]]
        )
    )
    forest = forest_of(L)
    if forest is None or not (np.isfinite(forest.pivot).all() and (forest.pivot > 0).all()):
        return None  # another graph, or a part without any ground
    return IncrementTree(forest.parent, -forest.edge / forest.pivot, 1.0 / forest.pivot[None])


class TreeExamples(NamedTuple):
    """Examples and their classes, as the loops take them."""

    rows: Rows
    bias: Any  # size of the constant feature, of the rows' type
    weight: Values  # (n,)
    cost: Values  # (2, leaves) of negatives and positives; ones for softmax
    y: npt.NDArray[np.uint8]  # (n, leaves)
    softmax: bool
    n_features: int

    def part(self, here: slice, rows: Rows) -> TreeExamples:
        """Some of them, whose rows are at hand."""
        return self._replace(rows=rows, weight=self.weight[here], y=self.y[here])

    def costs(self) -> Values:
        """(n, leaves)"""
        return np.asarray(np.where(self.y, self.cost[1], self.cost[0]) * self.weight[:, None])

    @classmethod
    def of(
        cls, X: sp.csr_array, Y: sp.csr_array, weight: Values, cost: Values | None, bias: float,
        softmax: bool, dtype: Any,
    ) -> TreeExamples:  # fmt: skip
        y = np.zeros(Y.shape, dtype=np.uint8)
        y[Y.nonzero()] = 1
        cost = np.ones((2, y.shape[1])) if cost is None else np.ascontiguousarray(cost)
        size = np.dtype(dtype).type(bias)
        return cls(Rows.of(X, dtype), size, weight, cost, y, softmax, X.shape[1])


class TreeAnswer(NamedTuple):
    """Weights of leaves and internal nodes, the constant feature last, and what certifies them."""

    W_T: FloatArray  # (n_leaves, d + 1)
    W_I: FloatArray  # (n_internal, d + 1)
    objective: float
    dual: float
    n_passes: int
    trace: list[Record]


def solve(
    examples: TreeExamples, tree: IncrementTree, *, start: FloatArray | None = None, tol: float,
    max_passes: int, seed: int, executor: Executor | None = None,
) -> TreeAnswer:  # fmt: skip
    """Solve until the relative duality gap is `tol`, or after `max_passes` over the data.

    start : (n_features + 1, nodes), weights
    """
    from linnaeus.solvers.recursive import rr_lr_span  # which builds on this file

    n, K = examples.y.shape
    close = coordinate_ascent.target_gap(tol, examples.rows.data.dtype)
    by_span = rr_lr_span.suits(examples, tree, close)
    run, done, n_passes = TreeNewton(examples, tree, executor), False, 0
    if start is not None:
        run.resume(start)
    if not newton.suits(n, examples.n_features) and tree.inverse.max() <= LOOSE:
        ascent = TreeAscent(examples, tree, executor, seed)
        if start is not None:
            ascent.resume(start)
        done = ascent.improve(close, max_passes)
        n_passes, run.rounds = ascent.rounds.n, ascent.rounds
        run.W, run.objective, run.gap = ascent.W, ascent.objective, ascent.gap
        run.rounds.saving = None  # which knows the ascent
        del ascent
    if not done and n_passes < max_passes:
        if by_span:
            rr_lr_span.improve(run, close, max_passes - n_passes)
        else:
            run.improve(close, max_passes - n_passes)
        n_passes += run.rounds.n
    dual = -np.inf
    for entry in run.rounds.trace:  # no bound is worse than one before
        dual = min(max(dual, entry["objective"] * (1.0 - entry["gap"])), entry["objective"])
        entry["gap"] = relative(entry["objective"] - dual, entry["objective"])
    W_T, W_I = (np.ascontiguousarray(W.T) for W in (run.W[:, -K:], run.W[:, :-K]))
    return TreeAnswer(W_T, W_I, run.objective, dual, n_passes, run.rounds.trace)


class TreeWeights(ABC):
    """Weights (n_features + 1, nodes) on their way to the minimum.

    executor : where passes that leave the weights alone run, in parts
    scale : what the gap is measured by where the objective is smaller
    """

    def __init__(
        self, examples: TreeExamples, tree: IncrementTree, executor: Executor | None = None,
        scale: float = 0.0,
    ) -> None:  # fmt: skip
        self.examples, self.tree = examples, tree
        shape = examples.n_features + 1, examples.y.shape[1]
        self.over, self.executor = RowParts(examples.rows, shape, executor), executor
        self.dtype, self.n_leaves = examples.rows.data.dtype, examples.y.shape[1]
        self.W = np.zeros((examples.n_features + 1, tree.parent.size), dtype=self.dtype)
        self.H = np.empty(examples.y.shape, dtype=self.dtype)
        self.h = np.empty((examples.n_features + 1, self.n_leaves), dtype=self.dtype)
        self.objective, self.gap, self.change = np.inf, np.inf, np.inf
        self.rounds = Rounds(PASSES, floor=scale)  # passes over the data

    def resume(self, W: FloatArray) -> None:
        """Begin with these weights (n_features + 1, nodes)."""
        self.W = np.ascontiguousarray(W, dtype=self.dtype)

    def take(self) -> Any:
        """The state before precisions are set and weights improved."""
        return self.W

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.W = found

    def set_precisions(self, A: Values) -> None:
        """A (1 or n_features + 1, nodes); what was certified before no longer counts."""
        self.objective = self.gap = np.inf
        self.tree = self.tree.with_precisions(A, self.dtype)

    @abstractmethod
    def improve(self, close: float, max_passes: int = PASSES) -> bool:
        """Go on until the gap is small enough; false if that is slow."""

    def _note(self, objective: float, gap: float) -> None:
        self.objective, self.gap = objective, gap
        self.rounds.note(objective, gap)

    def curvature(self) -> FloatArray:
        """h (n_features + 1, leaves) = sum_i c_i x_ij^2 p_ik (1 - p_ik), always one array"""
        self.h[:] = 0
        H, bias = self._curvatures(), self.examples.bias
        self.over.summed(lambda part, rows, h: flat.diagonal(rows, bias, H[part], h), self.h)
        return self.h

    def _curvatures(self) -> FloatArray:
        """c_i p_ik (1 - p_ik), (n, leaves)"""
        return self.H


class TreeAscent(TreeWeights):
    """Coordinate ascent in the dual. e = |y - pi| and V are kept in step."""

    def __init__(
        self, examples: TreeExamples, tree: IncrementTree, executor: Executor | None, seed: int,
        scale: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(examples, tree, executor, scale)
        self.seed, self.n_since = seed, 0  # epochs since the last look
        n_columns = self.n_leaves if tree.inverse.shape[0] == 1 else tree.parent.size
        self.V = np.zeros((examples.n_features + 1, n_columns), dtype=self.dtype)
        self.active = np.ones(examples.y.shape[0], dtype=bool)
        self.resumed, self.e = False, self._start()

    def resume(self, W: FloatArray) -> None:
        """pi = y + tau (p - y) at the probabilities p of these weights, tau V nearest to them."""
        super().resume(W)
        self.resumed, bias, y = True, self.examples.bias, self.examples.y
        leaves = np.ascontiguousarray(self.W[:, -self.n_leaves :])
        self.over.each(lambda part, rows: flat.margins(rows, bias, leaves, self.H[part]))
        if self.examples.softmax:
            p = softmax(self.H, axis=1)
            e = np.where(y, np.where(y, 0, p).sum(axis=1, keepdims=True), p).astype(self.dtype)
        else:
            e = expit(np.where(y, -self.H, self.H)).astype(self.dtype)
        self._set_residuals(e)
        size = np.array([fast.energy(self.tree, self.V)])
        along = np.array([np.vdot(leaves, self.V[:, -self.n_leaves :])], dtype=np.float64)
        tau = coordinate_ascent.projection(along, size).astype(self.dtype)
        self.V *= tau
        self.e = np.asarray(e * tau)

    def _start(self) -> FloatArray:
        """pi = y + tau (p - y): class frequencies p, shrunk towards the truth as the dual likes."""
        weight, cost, y = self.examples.weight, self.examples.cost, self.examples.y
        mass = weight @ y
        positive, negative = cost[1] * mass, cost[0] * (weight.sum() - mass)
        if self.examples.softmax:
            p = coordinate_ascent.class_shares(y.sum(axis=0))
        else:
            p = coordinate_ascent.frequencies(positive, negative, y.shape[0])
        e = np.where(y, 1 - p, p).astype(self.dtype)
        self._set_residuals(e)
        size = np.array([fast.energy(self.tree, self.V)])
        tau = (
            coordinate_ascent.softmax_ray(p, mass, size)
            if self.examples.softmax
            else coordinate_ascent.binary_ray(p, positive, negative, size)
        ).astype(self.dtype)
        self.V *= tau
        return np.asarray(e * tau)

    def _set_residuals(self, e: FloatArray) -> None:
        """V = sum_i D_in x_i"""

        def add(part: slice, rows: Rows, V: FloatArray) -> None:
            fast.add_residuals(self.examples.part(part, rows), self.tree, e[part], V)

        self.V[:] = 0
        self.over.summed(add, self.V)

    def improve(self, close: float, max_passes: int = PASSES) -> bool:
        """Epochs until the gap is small enough; false if that is slow."""
        known = self.rounds.trace or self.resumed
        n, n_first = self.e.shape[0], 0 if known else coordinate_ascent.FIRST_LOOK
        self.rounds.restart(max_passes, close)
        self.active[:] = True
        about = "tree", self.examples, self.tree, self.V, self.e, self.W
        kept = Kept(about, self._taken, self._restored)
        done = coordinate_ascent.ascend(self, n, n_first, self.seed, kept)
        if self.rounds.n:  # rounding errors must not add up over the rounds
            self._set_residuals(self.e)
        change, largest = fast.move(self.tree, self.V, self.W)
        self.change = change / max(1.0, largest)
        return done

    def take(self) -> Any:
        return self.W, self.V, self.e, self.rounds.trace, self.resumed

    def restore(self, found: Any) -> None:
        self.W, self.V, self.e, self.rounds.trace, self.resumed = found

    def _taken(self) -> Any:
        """The state after an epoch."""
        return self.V, self.e, self.active, self.n_since

    def _restored(self, found: Any) -> None:
        """Take up such a state."""
        self.V, self.e, self.active, self.n_since = found

    def sweep(self, order: Any) -> None:
        """Visit the examples that the gap was made of, in this order; after some times all."""
        self.n_since += 1
        some = order[self.active[order]] if self.n_since <= TIMES else order
        fast.sweep(some, self.examples, self.tree, self.V, self.e)

    def look(self) -> None:
        """Measure objective and gap."""
        gaps, self.n_since = np.empty(self.e.shape[0]), 0

        def measure(part: slice, rows: Rows) -> float:
            examples, arrays = self.examples.part(part, rows), (self.e, self.H, gaps)
            value: float = fast.measure(examples, self.tree, self.V, *(a[part] for a in arrays))
            return value

        self._note(sum(self.over.each(measure)), float(gaps.sum()))
        self.active = gaps > SHARE * self.rounds.target / gaps.size

    def narrow(self) -> None:
        """Nothing to leave out: the classes belong together."""


class TreeNewton(TreeWeights):
    """Newton's method over B (n_features + 1, nodes); also the problem that it sees.

    With `frozen` parents (the alternation of the paper) no node has a parent, all are leaves, and
    `origin` is the weights of the nodes above them. If only some nodes are `free`, and with each
    node all below it, then B of all others stays what it is.
    """

    free: Any = None  # (nodes,), or None

    def __init__(self, *start: Any) -> None:
        super().__init__(*start)
        tree, examples = self.tree, self.examples
        self.first, self.loss = tree.parent.size - self.n_leaves, np.inf
        self.origin: FloatArray | None = None
        t = np.argmax(examples.y, axis=1).astype(np.int64)
        own = examples.bias, examples.softmax, examples.weight, examples.cost, examples.y, t
        self.passes = Passes(self.over, Labels(*own))

    def improve(self, close: float, max_passes: int = PASSES) -> bool:
        """Search until the gap is at most `close` of the objective."""
        B, origin = np.empty_like(self.W), 0 if self.origin is None else self.origin
        fast.from_weights(self.tree, self.W - origin, B)
        bound = self.objective - self.gap if np.isfinite(self.gap) else -np.inf
        self.rounds.restart(max_passes, close)
        found = newton.minimise(
            self, B, None, np.array([bound]), tol=close, max_passes=max_passes, about=self._about()
        )  # fmt: skip
        self._note(float(found.value[0]), float((found.value - found.bound)[0]))
        self.rounds.n = found.n_passes
        W = self._weights(found.W) + origin
        if self.free is not None:  # to the last bit
            W[:, ~self.free] = self.W[:, ~self.free]
        self.change = float(np.abs(W - self.W).max()) / max(1.0, float(np.abs(W).max()))
        self.W = W
        return True

    def _about(self) -> Any:
        """The problem as a plain value."""
        return "tree", self.examples, self.tree, self.origin, self.free

    def _weights(self, B: FloatArray) -> FloatArray:
        W = np.empty_like(B)
        self.over.features(lambda j: fast.to_weights(self.tree.at(j), B[j], W[j]), *B.shape)
        return W

    def _leaf_weights(self, B: FloatArray) -> FloatArray:
        return np.ascontiguousarray(self._weights(B)[:, self.first :])

    def evaluate(self, B: FloatArray) -> tuple[Values, FloatArray]:
        W = self._leaf_weights(B)
        if self.origin is not None:
            W += self.origin
        G, out = np.zeros_like(W), B.copy()
        loss = self.passes.losses(W, G, self.H).sum()
        self._add_gradient(G, False, out)
        self.loss = float(loss)
        return 0.5 * self.dot(B, B) + loss, out

    def product(self, D: FloatArray) -> FloatArray:
        V = self._leaf_weights(D)
        HV, out = np.zeros_like(V), D.copy()
        self.passes.products(V, self.H, HV)
        self._add_gradient(HV, False, out)
        return out

    def _add_gradient(self, G: FloatArray, squared: bool, out: FloatArray) -> None:
        """Carry what the leaves have to all nodes; those that are held have none."""

        def add(j: slice) -> None:
            fast.add_gradient(self.tree.at(j), G[j], squared, out[j])

        self.over.features(add, *out.shape)
        if self.free is not None and not squared:
            out[:, ~self.free] = 0

    def value(self) -> float:
        """The objective at the weights."""
        return float(self._evaluated()[0][0])

    def distance(self) -> float:
        """The largest that the objective may lie above its minimum."""
        g = self._evaluated()[1]
        return float(0.5 * self.dot(g, g)[0])

    def _evaluated(self) -> tuple[Values, FloatArray]:
        B = np.empty_like(self.W)
        fast.from_weights(self.tree, self.W, B)
        return self.evaluate(B)

    def _curvatures(self) -> FloatArray:
        if not self.examples.softmax:
            return self.H
        return np.asarray(self.examples.weight[:, None].astype(self.dtype) * self.H * (1 - self.H))

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        """With few features all but what softmax has between classes; else the diagonal."""
        few = self.examples.n_features <= newton.FEW and self.tree.parent.size <= MANY
        if few and self.free is None:
            try:
                return self._by_leaf()
            except np.linalg.LinAlgError:  # numbers too far apart for a factorisation
                pass
        M = np.ones_like(self.W)
        self._add_gradient(self.curvature(), True, M)
        return lambda R: np.asarray(R / M)

    def _by_leaf(self) -> Callable[[FloatArray], FloatArray]:
        """The Hessian with Q_k = X' diag(c p (1 - p)) X at every leaf, eliminated along the tree.

        Over W it is diag(A_n + sum_c f_c^2 A_c) - (f_n A_n at edges) + Q; B = T W takes it there.
        """
        parent, Q = self.tree.parent, self._moments()
        N, size = parent.size, Q.shape[1]
        A = np.broadcast_to(1.0 / self.tree.inverse.T.astype(np.float64), (N, size))
        root, below = np.sqrt(A), np.flatnonzero(parent >= 0)
        factor = self.tree.factor[below]
        carry = sp.csr_array((factor, (below, parent[below])), (N, N))
        diagonal = A + carry.multiply(carry).T @ A
        matrices = [np.diag(values) for values in diagonal]
        for k in range(self.n_leaves):
            matrices[self.first + k] += Q[k]
        edges: list[dict[int, Values]] = [{} for _ in range(N)]
        for v, f in zip(below.tolist(), factor.tolist(), strict=True):
            edges[v] = {int(parent[v]): -f * A[v]}
        solve = elimination.eliminated(elimination.Blocks(matrices, edges))

        def apply(R: FloatArray) -> FloatArray:
            r = root * R.T
            x = solve(r - carry.T @ r)
            return np.ascontiguousarray((root * (x - carry @ x)).T, dtype=R.dtype)

        return apply

    def _moments(self) -> Values:
        """Q (leaves, d + 1, d + 1), from some of the rows that have weight for a leaf."""
        H, width = self._curvatures(), self.examples.n_features + 1
        least = LEAST * H.max(axis=0)
        stride = np.maximum((least <= H).sum(axis=0) // (MOMENTS * width), 1)
        Q, kept = np.zeros((self.n_leaves, width, width)), np.zeros(self.n_leaves)
        data = self.examples.rows, self.examples.bias

        def moments(here: slice) -> None:
            own = np.ascontiguousarray(H[:, here]), least[here], stride[here]
            fast.leaf_moments(*data, *own, Q[here], kept[here])

        blocks = [slice(k, k + LEAVES) for k in range(0, self.n_leaves, LEAVES)]
        list(over_blocks(moments, (), blocks, self.executor))
        share = H.sum(axis=0, dtype=np.float64) / np.maximum(kept, 1e-300)
        return np.asarray(Q * share[:, None, None])

    def dot(self, A: FloatArray, B: FloatArray) -> Values:
        """The inner product over all entries, as an array of one."""
        out = np.empty(A.shape[1])
        flat.column_dots(A, B, out)
        return np.array([out.sum()])
