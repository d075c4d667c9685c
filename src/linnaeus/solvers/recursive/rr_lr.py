"""Recursive regularisation with the logistic loss: RR-LR of [GopalYang2015] (16), (17).

The problem is that of `rr_svm` with loss(z) = log(1 + exp(-z)). On a forest all classes are solved
at once (`rr_lr_tree`). On other graphs, with intercepts of their own, with so many examples and
classes that a number for each pair is too much (`PAIRS`), and in the other schedules, it is
`alternation`: a round solves every leaf around its present mean, from where it was, and moves the
internal nodes. Leaves are solved as closely as the gap of the whole warrants. Where a part of the
graph has no ground second-order steps end it (`rr_finish`).

Certificate of a round. The multipliers A_in = C c_i sigma(-y_in w_n.x_i) of any weights are
feasible, and their entropy sum C c H(A / C c) is the loss plus sum_n <w_n, V_n>. So one pass over
data gives both values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.execution import Executor, Serial, task
from linnaeus.solvers.linear import logistic
from linnaeus.solvers.linear import logistic_fast as fast
from linnaeus.solvers.linear.logistic import LANES
from linnaeus.solvers.numerics.coordinate_ascent import TIGHT
from linnaeus.solvers.numerics.elimination import solver_of
from linnaeus.solvers.numerics.examples import FloatArray, Joint, Rows, Solution, weighted_examples
from linnaeus.solvers.recursive import alternation, rr_lr_tree
from linnaeus.solvers.recursive.alternation import (
    LATER,
    Alternation,
    Measured,
    Parts,
    Structure,
)
from linnaeus.solvers.recursive.rr_finish import finish_of

PAIRS = 1 << 26  # examples times classes up to which all are solved at once: 1 GB in float64
PASSES = 20  # over the data that count as a round, when all classes are solved at once


class LeafBlock(NamedTuple):
    """Classes that are measured together."""

    labels: sp.csr_array  # (n, B)
    cost: FloatArray  # (2, B)
    W: FloatArray  # (B, d + 1)
    bias: float


@task
def measure_block(
    rows: Rows, n_features: Any, norms: Any, weight: Any, block: LeafBlock
) -> tuple[float, FloatArray]:
    """The summed loss of a block, and V of its classes (B, d + 1), in one pass over the data."""
    y = np.zeros(block.labels.shape, dtype=np.uint8)
    y[block.labels.nonzero()] = 1
    W = np.ascontiguousarray(block.W.T)
    G, H, loss = np.zeros_like(W), np.empty(y.shape, dtype=W.dtype), np.empty(y.shape[1])
    z, bias = np.empty(y.shape[1], dtype=W.dtype), W.dtype.type(block.bias)
    fast.binary_evaluate(rows, bias, weight, block.cost, y, W, G, H, z, loss)
    return float(loss.sum()), -G.T


def solve(
    X: sp.csr_array,
    Y: sp.csr_array,
    structure: Structure,
    *,
    C: float = 1.0,
    bias: float = 0.0,
    share_bias: bool = True,
    schedule: str = "two-block",
    sample_weight: Any = None,
    class_weight: Any = None,
    start: FloatArray | None = None,
    start_inner: FloatArray | None = None,
    origin: FloatArray | None = None,
    tol: float = 1e-3,
    max_iter: int = 50,
    dtype: Any = np.float64,
    seed: int = 0,
    executor: Executor | None = None,
) -> Joint:
    """Solve until the relative duality gap is `tol`, in at most `max_iter` rounds.

    start : (n_classes, d + 1), weights of the classes, the constant feature last; NaN for a class
        that is new, which starts with the weights of what is above it
    start_inner : not needed: internal nodes begin where they fit the classes best
    origin : likewise, beside nodes that are held (`alternation`)
    """
    executor = executor or Serial()
    X, Y, weight = weighted_examples(X, Y, C, sample_weight)
    if start is not None:
        start = _without_new(structure, start, origin, share_bias)
    factor = np.ones(2)[:, None] if class_weight is None else np.asarray(class_weight, float)
    factor = np.broadcast_to(factor, (2, Y.shape[1]))
    cost = C * factor
    small = origin is None and X.shape[0] * Y.shape[1] <= PAIRS
    if schedule == "two-block" and (share_bias or not bias) and small:
        tree = rr_lr_tree.tree_of(structure)
        if tree is not None:
            examples = rr_lr_tree.TreeExamples.of(X, Y, weight, cost, bias, False, dtype)
            answer = rr_lr_tree.solve(
                examples, tree, start=None if start is None else _all_nodes(structure, start),
                tol=tol, max_passes=PASSES * max_iter, seed=seed, executor=executor,
            )  # fmt: skip
            return _tree_answer(answer, bias)
    outer = Alternation(structure, X.shape[1], dtype, schedule, share_bias, origin)
    shared, columns = logistic.share(X, weight, bias, dtype, executor), sp.csc_array(Y)

    def solve_leaves(here: Any, m: FloatArray, start: Any, close: float) -> Solution:
        return logistic.solve(
            X, sp.csr_array(columns[:, here]), C=C, mean=m[:, :-1],
            mean_intercept=bias * m[:, -1] if bias else None, strength=structure.S[here],
            bias=bias, sample_weight=weight, class_weight=factor[:, here].T, start=start,
            tol=close, dtype=dtype, seed=seed, executor=executor, shared=shared,
        )  # fmt: skip

    def measure(here: Any, W: FloatArray) -> tuple[float, FloatArray]:
        return _measured(executor, shared, columns, cost, bias, here, W)

    target = tol if tol >= TIGHT else 0.1 * tol  # exact weights: the error's root
    pays, finish = False, None
    if schedule == "two-block" and origin is None:
        finish = finish_of(X, Y, structure, weight, cost, "logistic", bias, share_bias)
        if finish is not None and finish.found.stretched:
            max_iter, pays = finish.n_rounds(max_iter)
    about = X, Y, weight, cost, bias, str(np.dtype(dtype)), seed
    leaves = _LogisticLeaves(outer, solve_leaves, measure, bias, tol, about)
    if start is not None:
        leaves.resume(start.astype(dtype))
    result = outer.run(leaves, bias, target, max_iter)
    return finish(result, None, target, dtype)[0] if finish is not None and pays else result


def _without_new(
    structure: Structure, start: FloatArray, origin: FloatArray | None, share_bias: bool
) -> FloatArray:
    """Weights of all classes."""
    new = np.flatnonzero(np.isnan(start).any(axis=1))
    start = np.nan_to_num(start)
    if origin is not None:
        start[new] = origin[new]
    elif new.size:
        n_inner = structure.L_II.shape[0]
        W_I = np.zeros((n_inner, start.shape[1]), dtype=start.dtype)
        alternation.beside_held(structure, start, W_I, new, np.arange(n_inner))
        start[new, -1] *= share_bias
    return start


def certificate(
    X: sp.csr_array, Y: sp.csr_array, structure: Structure, W_T: FloatArray, W_I: FloatArray,
    n_seen: Any, *, C: float, bias: float, share_bias: bool, sample_weight: Any, class_weight: Any,
    dtype: Any, **_: Any,
) -> tuple[float, float]:  # fmt: skip
    """The primal value of any weights, and the dual value of the multipliers that they give.

    n_seen : (n_classes,) the multipliers of later examples are 0: those that a class did not see
        would take V far away from its weights
    """
    cost = C * np.broadcast_to(1.0 if class_weight is None else class_weight, (2, Y.shape[1]))
    P, gain = alternation.pull(structure, W_T, W_I), 0.0
    V = np.zeros(W_T.shape)
    for n in np.unique(n_seen).tolist():
        here = np.flatnonzero(n_seen == n)
        for part in (slice(0, n), slice(n, None)):
            each = None if sample_weight is None else sample_weight[part]
            rows, y, weight = weighted_examples(X[part], Y[part], C, each)
            if rows.shape[0]:
                shared = logistic.share(rows, weight, bias, dtype, Serial())
                W = W_T[here].astype(dtype)
                loss, found = _measured(Serial(), shared, sp.csc_array(y), cost, bias, here, W)
                P += loss
                if part.start == 0:
                    V[here] = found
                    gain += loss + alternation.dot(W_T[here], V[here])
    return P, gain - alternation.dual_pull(structure, V, share_bias)


def _measured(
    executor: Executor, shared: Any, columns: sp.csc_array, cost: Any, bias: float, here: Any,
    W: FloatArray,
) -> tuple[float, FloatArray]:  # fmt: skip
    """The summed loss of some classes with weights W, and their V."""
    lanes = [slice(k, k + LANES) for k in range(0, here.size, LANES)]
    blocks = [
        LeafBlock(sp.csr_array(columns[:, here[k]]), cost[:, here[k]].copy(), W[k], bias)
        for k in lanes
    ]
    found = list(executor.map(measure_block, shared, blocks))
    return sum(loss for loss, _ in found), np.vstack([V for _, V in found])


def _all_nodes(structure: Structure, W_T: FloatArray) -> FloatArray:
    """(d + 1, nodes): internal nodes where they fit the leaves best, then these."""
    W_I = solver_of(structure.L_II)(-np.asarray(structure.L_IT @ W_T))
    return np.ascontiguousarray(np.vstack([W_I, W_T]).T)


class _LogisticLeaves:
    """Groups of leaves with their solutions; W are weights without their origin."""

    relative = measures = resumed = False
    entered: Any = None

    def __init__(
        self, outer: Alternation, solve_leaves: Callable[..., Solution],
        measure_leaves: Callable[..., tuple[float, FloatArray]], bias: float, tol: float,
        about: Any,
    ) -> None:  # fmt: skip
        self.structure, self.bias, self.tol, self._about = outer.structure, bias, tol, about
        self.solve_leaves, self.measure_leaves = solve_leaves, measure_leaves
        self.groups = [leaves for leaves, _ in outer.groups]
        self.solutions: dict[int, Solution] = {}
        self.W: dict[int, FloatArray] = {}
        width, dtype = outer.W_I.shape[1], outer.W_I.dtype
        origin = outer.origin
        self.origin = np.zeros((1, width)) if origin is None else origin
        self.origin = np.broadcast_to(self.origin.astype(dtype), (outer.structure.S.size, width))

    def resume(self, start: FloatArray) -> None:
        """Begin with these weights."""
        self.resumed, none = True, np.zeros(0)
        for group, here in enumerate(self.groups):
            if here.size:
                W = start[here]
                found = Solution(W[:, :-1], self.bias * W[:, -1], none, none, 0, [])
                self.solutions[group], self.W[group] = found, W - self.origin[here]

    def about(self) -> Any:
        """The examples, the costs and what it starts from."""
        return self._about, self.tol, list(self.W.items()), self.origin

    def take(self) -> Any:
        """The solutions so far."""
        return list(self.solutions.items()), list(self.W.items())

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.solutions, self.W = dict(found[0]), dict(found[1])

    def weights(self, group: int, W_I: FloatArray) -> Parts:
        """The weights of a group."""
        return [(self.groups[group], self.W[group])]

    def parts(self) -> Parts:
        """The weights of every group."""
        return [(self.groups[g], W) for g, W in self.W.items()]

    def visit(self, group: int, W_I: FloatArray, n_rounds: int, gap: float) -> Parts:
        """Solve the leaves of a group, from where they were."""
        here = self.groups[group]
        n_rounds += LATER * self.resumed
        close = max(min(0.1 * gap, 0.1 * 0.3**n_rounds), 1e-4 * self.tol)
        m = alternation.means(self.structure.mix, here, W_I) + self.origin[here]
        found = self.solve_leaves(here, m, self.solutions.get(group), close)
        last = found.intercept / self.bias if self.bias else np.zeros(here.size)
        self.solutions[group] = found
        W = np.hstack([found.coef, last[:, None]]).astype(W_I.dtype)
        self.W[group] = W - self.origin[here]
        return self.weights(group, W_I)

    def measure(self, W_I: FloatArray) -> Measured:
        """One pass over the data."""
        S, (away2, norm2) = self.structure.S, np.zeros((2, self.structure.S.size))
        loss, gain = 0.0, 0.0
        parts: Parts = []
        for here, W in self.parts():
            whole = W + self.origin[here]
            value, V = self.measure_leaves(here, whole)
            away, U = W - alternation.means(self.structure.mix, here, W_I), V / S[here, None]
            away2[here] = np.einsum("ij,ij->i", away, away)
            norm2[here] = np.einsum("ij,ij->i", U, U)
            loss, gain = loss + value, gain + value + alternation.dot(whole, V)
            parts.append((here, U))
        return Measured(loss, gain, away2, norm2, parts)


def _tree_answer(answer: rr_lr_tree.TreeAnswer, bias: float) -> Joint:
    values, n_rounds = (answer.objective, answer.dual), max(1, -(-answer.n_passes // PASSES))
    return alternation.joint_answer(answer.W_T, answer.W_I, values, bias, answer.trace, n_rounds)
