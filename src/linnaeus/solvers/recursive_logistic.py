"""Recursive regularisation with the logistic loss: RR-LR of [GopalYang2015] (16), (17).

The problem is that of `solvers.recursive` with loss(z) = log(1 + exp(-z)). A round solves every
leaf around its present mean, from where it was, and moves the internal nodes. Leaves are solved as
closely as the gap of the whole warrants, so that early rounds are cheap.

Certificate. The multipliers A_in = C c_i sigma(-y_in w_n.x_i) of any weights are feasible; with
V_n = sum_i A_in y_in x_i, u_n = V_n / S_n and G = -L_IT U

    D = sum C c H(A / C c) - 1/2 (sum_n S_n ||u_n||^2 + <G, (L_II - L_IT S^-1 L_TI)^-1 G>)

with the entropy H(p) = -p log p - (1 - p) log(1 - p). At the optimum w_n = m_n + u_n and D = P.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import entr, expit, log_expit

from linnaeus.execution import Executor
from linnaeus.solvers import logistic
from linnaeus.solvers.problem import FloatArray, Solution, weighted_examples
from linnaeus.solvers.recursive import (
    MEMORY,
    Mixing,
    Result,
    Structure,
    dot,
    solver_of,
    visiting_groups,
)

BLOCK = 32  # classes measured at once


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

    def certificate(self, X: Any, Y: Any, cost: Any) -> tuple[float, float]:
        """Primal and dual value of the present weights."""
        loss, entropy, V = measure(X, Y, self.W_T, cost)
        m = self.mean()
        U = V / self.s.S[:, None]
        away2 = np.einsum("ij,ij->i", self.W_T - m, self.W_T - m)
        P = 0.5 * float(self.s.S @ (away2 - np.einsum("ij,ij->i", m, m)))
        P += 0.5 * dot(self.W_I, self.s.L_II @ self.W_I) + loss
        G = self.to_inner(U)
        D = entropy - 0.5 * float(self.s.S @ np.einsum("ij,ij->i", U, U))
        return P, D - 0.5 * dot(G, self.solve_reduced(G))


def measure(X: sp.csr_array, Y: sp.csc_array, W: FloatArray, cost: Any) -> Any:
    """The summed loss and entropy of all classes, and V of every class.

    X : (n, d + 1), the constant feature last; cost : (2, n_classes) times (n,) weights
    """
    factor, weight = cost
    loss, entropy, V = 0.0, 0.0, np.empty(W.shape, dtype=np.float64)
    for k in range(0, W.shape[0], BLOCK):
        here = slice(k, min(k + BLOCK, W.shape[0]))
        y = 2.0 * Y[:, here].toarray() - 1.0
        c = np.where(y > 0, factor[1, here], factor[0, here]) * weight[:, None]
        z = y * (X @ W[here].T)
        p = expit(-z)
        loss -= float((c * log_expit(z)).sum())
        entropy += float((c * (entr(p) + entr(1.0 - p))).sum())
        V[here] = (X.T @ (c * p * y)).T
    return loss, entropy, V


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
) -> Result:
    """Alternate between leaves and internal nodes until the relative duality gap is `tol`."""
    X, Y, weight = weighted_examples(X, Y, C, sample_weight)
    factor = np.ones((2, Y.shape[1])) if class_weight is None else np.asarray(class_weight)
    wide = sp.csr_array(sp.hstack([X, np.full((X.shape[0], 1), bias)], format="csr"))
    columns, cost = sp.csc_array(Y), (C * factor, weight)
    groups = visiting_groups(structure, schedule)
    state = _State(structure, X.shape[1], dtype, share_bias)
    parts: list[Solution | None] = [None] * len(groups)
    trace: list[dict[str, float]] = []
    best, gap, started = (np.inf, state.W_T, state.W_I), 1.0, time.perf_counter()
    dual_value = -np.inf
    for n_rounds in range(max_iter):
        close = max(min(0.1 * gap, 0.1 * 0.3**n_rounds), 1e-4 * tol)  # how closely to solve leaves
        for g, (leaves, inner) in enumerate(groups):
            old, m = state.W_I.copy(), state.mean()
            if leaves.size:
                parts[g] = part = logistic.solve(
                    X,
                    sp.csr_array(columns[:, leaves]),
                    C=C,
                    mean=m[leaves, :-1],
                    mean_intercept=bias * m[leaves, -1] if bias else None,
                    strength=structure.S[leaves],
                    bias=bias,
                    sample_weight=weight,
                    class_weight=factor[:, leaves].T,
                    start=parts[g],
                    tol=close,
                    dtype=dtype,
                    seed=seed,
                    executor=executor,
                )
                state.W_T[leaves, :-1] = part.coef
                state.W_T[leaves, -1] = part.intercept / bias if bias else 0.0
            state.move(inner, schedule == "two-block", old)
        P, D = state.certificate(wide, columns, cost)
        if best[0] > P:
            best = (P, state.W_T.copy(), state.W_I.copy())
        else:
            state.mixing.restart()
        dual_value = max(dual_value, D)
        gap = (best[0] - dual_value) / max(1.0, abs(best[0]))
        seconds = time.perf_counter() - started
        trace.append({"seconds": seconds, "objective": best[0], "gap": gap})
        if gap <= tol:
            break
    return _result(best, dual_value, bias, trace)


def _result(
    best: tuple[float, FloatArray, FloatArray], dual_value: float, bias: float, trace: Any
) -> Result:
    objective, W_T, W_I = best
    solution = Solution(
        np.ascontiguousarray(W_T[:, :-1]),
        bias * W_T[:, -1].astype(np.float64),
        np.array([objective]),
        np.array([dual_value]),
        len(trace),
        trace,
    )
    return Result(solution, W_I)
