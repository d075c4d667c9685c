"""Recursive regularisation with the logistic loss: RR-LR of [GopalYang2015] (16), (17).

The problem is that of `solvers.recursive` with loss(z) = log(1 + exp(-z)). On a forest all classes
are solved at once (`tree_logistic`). On other graphs, with intercepts of their own, with so many
examples and classes that a number for each pair is too much (`PAIRS`), and in the other
schedules, a round solves every leaf around its present mean, from where it was, and moves the
internal nodes. Leaves are solved as closely as the gap of the whole warrants.

Certificate of a round. The multipliers A_in = C c_i sigma(-y_in w_n.x_i) of any weights are
feasible; with V_n = sum_i A_in y_in x_i, u_n = V_n / S_n and G = -L_IT U

    D = E - 1/2 (sum_n S_n ||u_n||^2 + <G, (L_II - L_IT S^-1 L_TI)^-1 G>)

where the entropy E = sum C c H(A / C c) is the loss plus sum_n <w_n, V_n>. So one pass over data
gives both values. At the optimum w_n = m_n + u_n and D = P.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.execution import Executor, Serial
from linnaeus.solvers.linear import logistic
from linnaeus.solvers.linear import logistic_fast as fast
from linnaeus.solvers.linear.logistic import LANES
from linnaeus.solvers.numerics.coordinate_ascent import TIGHT
from linnaeus.solvers.numerics.elimination import solver_of
from linnaeus.solvers.numerics.examples import FloatArray, Joint, Rows, Solution, weighted_examples
from linnaeus.solvers.recursive import rr_lr_tree
from linnaeus.solvers.recursive.rr_svm import MEMORY, Mixing, Structure, dot, visiting_groups

PAIRS = 1 << 26  # examples times classes up to which all are solved at once: 1 GB in float64
PASSES = 20  # over the data that count as a round, when all classes are solved at once


class _State:
    """Weights of leaves and internal nodes, the constant feature last, and what certifies them."""

    def __init__(self, structure: Structure, d: int, dtype: Any, share_bias: bool) -> None:
        self.s, self.share_bias = structure, share_bias
        self.W_T = np.zeros((structure.S.size, d + 1), dtype=dtype)
        self.W_I = np.zeros((structure.L_II.shape[0], d + 1), dtype=dtype)
        self.solve_inner, self.solve_reduced = (
            solver_of(structure.L_II),
            solver_of(structure.reduced()),
        )
        self.mixing = Mixing(MEMORY)
        self.degree = structure.L_II.diagonal()

    def mean(self) -> FloatArray:
        return np.asarray(self.s.mix @ self.W_I, dtype=self.W_T.dtype)

    def to_inner(self, leaves: FloatArray) -> FloatArray:
        """-L_IT times leaf vectors; own intercepts do not take part."""
        out = np.asarray(-(self.s.L_IT @ leaves), dtype=self.W_I.dtype)
        if not self.share_bias:
            out[:, -1] = 0.0
        return out

    def move(self, inner: Any, exact: bool, old: FloatArray) -> None:
        """Internal nodes given the leaves: exactly all, or those of one group by averaging."""
        H = self.to_inner(self.W_T)
        if exact:
            self.W_I = self.mixing(old, self.solve_inner(H))
        elif inner.size:
            off = sp.csr_array(self.s.L_II - sp.diags_array(self.degree))[inner]
            self.W_I[inner] = (H[inner] - off @ old) / self.degree[inner, None]

    def certificate(self, seen: list[Measured]) -> tuple[float, float]:
        """Primal and dual value of the present weights."""
        loss = sum(block.loss for block in seen)
        V = np.vstack([block.V for block in seen])
        m = self.mean()
        U = V / self.s.S[:, None]
        away2 = np.einsum("ij,ij->i", self.W_T - m, self.W_T - m)
        P = 0.5 * float(self.s.S @ (away2 - np.einsum("ij,ij->i", m, m)))
        P += 0.5 * dot(self.W_I, self.s.L_II @ self.W_I) + loss
        G = self.to_inner(U)
        D = loss + dot(self.W_T, V) - 0.5 * float(self.s.S @ np.einsum("ij,ij->i", U, U))
        return P, D - 0.5 * dot(G, self.solve_reduced(G))


class _Group(NamedTuple):
    """Nodes that are visited together."""

    leaves: Any
    inner: Any
    labels: sp.csr_array  # (n, leaves)
    factor: FloatArray  # (leaves, 2)


class Block(NamedTuple):
    """Classes that are measured together."""

    labels: sp.csr_array  # (n, B)
    cost: FloatArray  # (2, B)
    W: FloatArray  # (B, d + 1)
    bias: float


class Measured(NamedTuple):
    """The summed loss of a block, and V of its classes."""

    loss: float
    V: FloatArray  # (B, d + 1)


def measure_block(rows: Rows, n_features: Any, norms: Any, weight: Any, block: Block) -> Measured:
    """One pass over the data."""
    y = np.zeros(block.labels.shape, dtype=np.uint8)
    y[block.labels.nonzero()] = 1
    W = np.ascontiguousarray(block.W.T)
    G, H, loss = np.zeros_like(W), np.empty(y.shape, dtype=W.dtype), np.empty(y.shape[1])
    z, bias = np.empty(y.shape[1], dtype=W.dtype), W.dtype.type(block.bias)
    fast.binary_evaluate(rows, bias, weight, block.cost, y, W, G, H, z, loss)
    return Measured(float(loss.sum()), -G.T)


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
    tol: float = 1e-3,
    max_iter: int = 50,
    dtype: Any = np.float64,
    seed: int = 0,
    executor: Executor | None = None,
) -> Joint:
    """Solve until the relative duality gap is `tol`, in at most `max_iter` rounds."""
    executor = executor or Serial()
    X, Y, weight = weighted_examples(X, Y, C, sample_weight)
    factor = np.ones(2)[:, None] if class_weight is None else np.asarray(class_weight, float)
    factor = np.broadcast_to(factor, (2, Y.shape[1]))
    cost = C * factor
    if schedule == "two-block" and (share_bias or not bias) and X.shape[0] * Y.shape[1] <= PAIRS:
        tree = rr_lr_tree.tree_of(structure)
        if tree is not None:
            answer = rr_lr_tree.solve(
                X, Y, tree, cost, weight, bias=bias, tol=tol, max_iter=PASSES * max_iter,
                dtype=dtype, seed=seed,
            )  # fmt: skip
            return _joint_result(answer, bias)
    shared = logistic.share(X, weight, bias, dtype, executor)
    state = _State(structure, X.shape[1], dtype, share_bias)
    groups = [
        _Group(leaves, inner, sp.csr_array(Y[:, leaves]), factor[:, leaves].T)
        for leaves, inner in visiting_groups(structure, schedule)
    ]
    columns = sp.csc_array(Y)
    every = [slice(k, min(k + LANES, Y.shape[1])) for k in range(0, Y.shape[1], LANES)]
    fixed = [(sp.csr_array(columns[:, k]), np.ascontiguousarray(cost[:, k])) for k in every]

    def solve_leaves(group: _Group, m: FloatArray, start: Any, close: float) -> Solution:
        return logistic.solve(
            X, group.labels, C=C, mean=m[:, :-1],
            mean_intercept=bias * m[:, -1] if bias else None, strength=structure.S[group.leaves],
            bias=bias, sample_weight=weight, class_weight=group.factor, start=start, tol=close,
            dtype=dtype, seed=seed, executor=executor, shared=shared,
        )  # fmt: skip

    def measure() -> list[Measured]:
        blocks = [Block(*f, state.W_T[k], bias) for f, k in zip(fixed, every, strict=True)]
        return list(executor.map(measure_block, shared, blocks))

    exact = schedule == "two-block"
    return _alternate(state, groups, solve_leaves, measure, exact, bias, tol, max_iter)


def _alternate(
    state: _State, groups: list[_Group], solve_leaves: Callable[..., Solution],
    measure: Callable[[], list[Measured]], exact: bool, bias: float, tol: float, max_iter: int,
) -> Joint:  # fmt: skip
    """Rounds over all groups until the gap is small enough."""
    parts: list[Solution | None] = [None] * len(groups)
    trace: list[dict[str, float]] = []
    best, gap, started = (np.inf, state.W_T, state.W_I), 1.0, time.perf_counter()
    dual_value = -np.inf
    target = tol if tol >= TIGHT else 0.1 * tol  # exact weights: their error is the square root
    for n_rounds in range(max_iter):
        close = max(min(0.1 * gap, 0.1 * 0.3**n_rounds), 1e-4 * tol)  # how closely to solve leaves
        for g, group in enumerate(groups):
            old, leaves = state.W_I.copy(), group.leaves
            if leaves.size:
                parts[g] = part = solve_leaves(group, state.mean()[leaves], parts[g], close)
                state.W_T[leaves, :-1] = part.coef
                state.W_T[leaves, -1] = part.intercept / bias if bias else 0.0
            state.move(group.inner, exact, old)
        P, D = state.certificate(measure())
        if best[0] > P:
            best = (P, state.W_T.copy(), state.W_I.copy())
        else:
            state.mixing.restart()
        dual_value = max(dual_value, D)
        gap = (best[0] - dual_value) / max(1.0, abs(best[0]))
        seconds = time.perf_counter() - started
        trace.append({"seconds": seconds, "objective": best[0], "gap": gap})
        if gap <= target:
            break
    return _result(*best, dual_value, bias, len(trace), trace)


def _joint_result(answer: rr_lr_tree.Answer, bias: float) -> Joint:
    n_rounds, trace = -(-answer.n_passes // PASSES), answer.trace
    return _result(answer.objective, answer.W_T, answer.W_I, answer.dual, bias, n_rounds, trace)


def _result(
    objective: float, W_T: FloatArray, W_I: FloatArray, dual_value: float, bias: float,
    n_rounds: int, trace: list[dict[str, float]],
) -> Joint:  # fmt: skip
    solution = Solution(
        np.ascontiguousarray(W_T[:, :-1]), bias * W_T[:, -1].astype(np.float64),
        np.array([objective]), np.array([dual_value]), n_rounds, trace,
    )  # fmt: skip
    return Joint(solution, W_I)
