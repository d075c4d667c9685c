"""Orthogonal transfer: the weights of a node are to be orthogonal to those of its ancestors.

    minimise_W   1/2 sum_ij K_ij |w_i.w_j| + sum_k c_k xi_k,
                 w_i.x_k - w_j.x_k >= 1 - xi_k,  xi_k >= 0

for every node i on the path of example k and every sibling j of i; K_ij > 0 where i = j or one is
an ancestor of the other, else 0; c_k = C / N for N examples [Zhou2011]. This is convex where the
comparison matrix (K_ii on, -K_ij off the diagonal) is positive definite. There, with signs s_ij,

    1/2 sum_ij K_ij |w_i.w_j| = max_{-1 <= s_ij <= 1} 1/2 sum_ij M_ij w_i.w_j,    M_ij = s_ij K_ij,

s_ii = 1, is a maximum of convex quadratics, linear in s, and the problem has a concave dual:

    maximise_{alpha, s}  D = sum_kp alpha_kp - 1/2 tr V' M(s)^-1 V,
                         alpha >= 0,  sum_p alpha_kp <= c_k,

V = sum alpha_kp (e_i - e_j) x_k', p = (i, j), and W = M^-1 V. Ascent in turn over the examples (s
fixed) and over the signs (V fixed) is monotone; the gap

    P - D = sum_{i<j} K_ij (|w_i.w_j| - s_ij w_i.w_j) + sum_k (c_k xi_k - sum_p alpha_kp h_kp)

is a true certificate, none of whose terms is negative. `ot_fast` has the loops,
docs/maths/ot.md the derivation, and `ot_rda` the dual averaging of the paper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from linnaeus.execution import one_blas_thread
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.solvers.recursive import ot_fast as fast
from linnaeus.solvers.recursive import ot_nodes
from linnaeus.solvers.recursive.ot_nodes import Coupling, TransferForest, TransferProblem, Values

STEPS = 20  # in one visit of an example, at most
ENOUGH = 0.1  # part of the violation at which a visit ends
SWEEPS = 10  # over the examples between two looks at the signs, at most
FALL = 0.2  # sweeps go on until the gap that they meet has fallen to this part
PATIENCE = 20  # looks without a smaller gap, after which rounding hides the rest


class _TransferState(NamedTuple):
    """What loops change; U = L'W."""

    U: Any  # (d + 1, m)
    D: Values
    L: Values
    alpha: Values


def solve(
    X: sp.csr_array,
    t: Any,
    forest: TransferForest,
    K: Coupling,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    **given: Any,
) -> Solution:
    """The weights of the nodes of the forest, for examples of the classes t.

    max_iter : sweeps over the examples
    given : C, bias, sample_weight and dtype of `TransferProblem.of`
    """
    problem = TransferProblem.of(X, t, forest, K, **given)
    run = _Ascent(problem, seed, ot_nodes.Looks(max_iter, tol, unit=problem.scale**2))
    run.run()
    return problem.solution(run.weights(), run.looks)


class _Ascent:
    """The multipliers, the signs and the weights that they make, while they get better."""

    def __init__(self, problem: TransferProblem, seed: int, looks: ot_nodes.Looks) -> None:
        self.problem, self.forest, self.K = problem, problem.forest, problem.K
        self.rows, self.bias, self.arrays = problem.rows, problem.bias, problem.arrays
        n_pairs = int(problem.room[self.arrays.cls].sum())
        self.state = _TransferState(
            problem.weights(self.rows.data.dtype), self.K.own.copy(),
            np.zeros_like(self.K.pairs), np.zeros(n_pairs),
        )  # fmt: skip
        self.local = problem.local()
        self.signs = np.zeros_like(self.K.pairs)
        self.rng = np.random.default_rng(seed)
        self.looks, self.stalled = looks, 0

    def take(self) -> Any:
        """The state after a look."""
        return self.state, self.signs, self.stalled, self.looks.best, self.rng.bit_generator.state

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.state, self.signs, self.stalled, self.looks.best, self.rng.bit_generator.state = found

    @one_blas_thread()
    def run(self) -> None:
        """Sweeps and signs in turn, until the gap is at most `tol` times the objective."""
        begun = "transfer", self.problem, self.rng.bit_generator.state
        self.looks.keep(begun, self.take, self.restore)
        while True:
            last = self.looks.gap
            self._sweeps(last)
            self._turn()
            self._look()
            self.stalled = 0 if self.looks.gap < last else self.stalled + 1
            if self.stalled >= PATIENCE or not self.looks.go_on():
                return
            self.looks.save()

    def _sweeps(self, gap: float) -> None:
        """Sweeps over the examples, until the gap that they meet has fallen enough."""
        first = gap if np.isfinite(gap) else None
        for _ in range(min(SWEEPS, self.looks.left)):
            order = self.rng.permutation(self.arrays.cls.size)
            met = fast.sweep(
                order, self.rows, self.bias, self.problem.norms, self.arrays, self.state,
                self.local, STEPS, ENOUGH,
            )  # fmt: skip
            self.looks.n += 1
            first = met if first is None else first
            if met <= FALL * first:
                break

    def _turn(self) -> None:
        """Make the signs the best for these multipliers, and the weights those of both."""
        ptr, above = self.forest.ptr, self.forest.above
        V = self.state.U
        V[:] = 0.0  # and made anew from the multipliers, so that no rounding adds up
        fast.collect(self.rows, self.bias, self.arrays, self.state, self.local, V)
        if above.size:
            self.signs = best_signs(self.forest, self.K, V, self.signs)
            self.state.D[:], self.state.L[:] = ot_nodes.factors(self.forest, self.K, self.signs)
        fast.up(ptr, above, self.state.D, self.state.L, V)

    def _look(self) -> None:
        """Measure, and keep what is best."""
        sums = np.zeros(3)
        fast.certify(self.rows, self.bias, self.arrays, self.state, self.local, sums)
        own, _ = self.problem.products(self.state.U)
        dual = sums[2] - 0.5 * float(self.state.D @ own)
        self.looks.measured(self.problem.regulariser(self.weights()) + sums[0], dual)

    def weights(self) -> Any:
        """W (d + 1, m)."""
        W = self.state.U.copy()
        fast.down(self.forest.ptr, self.forest.above, self.state.L, W)
        return W


def best_signs(forest: TransferForest, K: Coupling, V: Any, start: Values) -> Values:
    """The signs with the least tr V' M(s)^-1 V, where V is (p, m).

    The gradient is -2 K_ij y_i.y_j with Y = M^-1 V. Only products of rows of the same tree matter:
    V is rotated, tree by tree, into as few columns as it has nodes.
    """
    R = _rotated(forest, V)
    size = float(np.einsum("jf,jf,f->", R, R, 1.0 / K.own)) or 1.0

    def value(signs: Values) -> tuple[float, Values]:
        D, L = ot_nodes.factors(forest, K, signs)
        Y = R.copy()
        fast.up(forest.ptr, forest.above, D, L, Y)
        own, pairs = np.zeros(forest.size), np.zeros_like(signs)
        fast.products(forest.ptr, forest.above, Y, own, pairs)
        quadratic = float(D @ own)
        fast.down(forest.ptr, forest.above, L, Y)
        own[:], pairs[:] = 0.0, 0.0
        fast.products(forest.ptr, forest.above, Y, own, pairs)
        return quadratic / size, -2.0 * K.pairs * pairs / size

    found = minimize(
        value, start, jac=True, method="L-BFGS-B", bounds=[(-1.0, 1.0)] * start.size,
        options={"maxiter": 100, "ftol": 1e-15, "gtol": 1e-12},
    )  # fmt: skip
    return np.asarray(found.x)


def _rotated(forest: TransferForest, V: Any) -> Values:
    """Rows (r, m) with the inner products of the columns of V within every tree."""
    depth = np.diff(forest.ptr)
    top = np.arange(forest.size)
    top[depth > 0] = forest.above[forest.ptr[:-1][depth > 0]]
    parts = []
    for root in np.flatnonzero(depth == 0):
        nodes = np.flatnonzero(top == root)
        A: Any = V[:, nodes].astype(np.float64)
        if A.shape[0] > A.shape[1]:
            A = np.linalg.qr(A, mode="r")
        parts.append((nodes, A))
    R = np.zeros((max(part.shape[0] for _, part in parts), forest.size))
    for nodes, part in parts:
        R[: part.shape[0], nodes] = part
    return R
