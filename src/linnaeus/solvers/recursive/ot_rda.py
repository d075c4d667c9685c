"""Orthogonal transfer by regularised dual averaging, the optimiser of its publication.

    minimise_W   P(W) = Omega(W) + sum_k c_k xi_k(W),    Omega(W) = 1/2 sum_ij K_ij |w_i.w_j|,
                 xi_k = max over the pairs (i, j) of example k of  1 - w_i.x_k + w_j.x_k,  0 if less

[Zhou2011]. Omega is strongly convex: sigma is the least eigenvalue of the comparison matrix (K_ii
on, -K_ij off the diagonal). Regularised dual averaging [Xiao2010] keeps Psi = sigma/2 ||W||^2 and
averages subgradients of the rest, f = P - Psi. With W_1 = 0, at step t

    g_t in df(W_t),      G_t = (t-1)/t G_{t-1} + 1/t g_t,                               (average)
    W_{t+1} = argmin_W <G_t, W> + sigma/2 ||W||^2 + beta/(2t) ||W||^2                    (proximal)
            = -t G_t / (sigma t + beta),     that is, steps of about 1 / (sigma t),

    (g_t)_i = sum_j K_ij sign(w_i.w_j) w_j - sigma w_i + losses,   where loss k > 0 adds -c_k x_k to
              the node i and +c_k x_k to the node j of its worst pair.

P(W_t) comes down like log t / t. beta = max_i sum_j K_ij - sigma damps the first steps: there the
curvature of f, not sigma, says how far to go. A pass is B steps, each with a part of the examples.

Certificate. With s_t = sign(w_i.w_j) at W_t, Omega(W) >= 1/2 sum_ij s_t K_ij w_i.w_j for all W,
with equality at W_t; a loss lies above its tangent. Every example is met once a pass, so the mean
of these quadratics over whole passes lies below P, and its least value is a lower bound of the
optimum: a - 1/2 tr V' M(s)^-1 V, the dual of `ot` at averaged signs s and multipliers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.execution import one_blas_thread
from linnaeus.solvers.numerics.examples import Solution
from linnaeus.solvers.recursive import ot_fast, ot_nodes, ot_rda_fast
from linnaeus.solvers.recursive.ot_nodes import Coupling, TransferForest, TransferProblem, Values

LOOKS = 1.2  # passes between two looks grow by this factor
HALVINGS = 60  # of the interval that holds sigma


class _Mean(NamedTuple):
    """The weights and what is summed over steps, in passes; (d + 1, m) but for the pairs."""

    W: Values
    total: Values  # of W
    V: Values  # of c_k (e_i - e_j) x_k'
    R: Values  # of M(s) W - sigma W
    signs: Values  # of s
    dots: Values  # w_f.w_a now


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
    """The weights of the nodes of the forest, as `ot.solve` gives them.

    The answer is the best of the iterates and averages that were looked at.
    """
    problem = TransferProblem.of(X, t, forest, K, **given)
    run = Averaging(problem, seed, ot_nodes.Looks(max_iter, tol, unit=problem.scale**2))
    run.run()
    return problem.solution(run.best, run.looks)


def convexity(forest: TransferForest, K: Coupling) -> float:
    """sigma: less the last digits, the least eigenvalue of the comparison matrix.

    The greatest number without which, on the diagonal, the matrix is still positive definite.
    """
    if not forest.size:
        return 1.0
    low, high = 0.0, float(K.own.min())
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        D = K.own - middle
        bad = ot_fast.factorise(forest.ptr, forest.above, D, -K.pairs)
        low, high = (middle, high) if bad < 0 else (low, middle)
    return low


def curvature(forest: TransferForest, K: Coupling) -> float:
    """max_i sum_j K_ij, not below any eigenvalue of M(s)."""
    node = np.repeat(np.arange(forest.size), np.diff(forest.ptr))
    sums = K.own + np.bincount(node, K.pairs, forest.size)
    return float((sums + np.bincount(forest.above, K.pairs, forest.size)).max(initial=1.0))


def steps(problem: TransferProblem) -> int:
    """B: so many that steps, which touch all weights, cost about as much as the examples."""
    nonzeros = np.diff(problem.rows.indptr) + 1
    examples = float(nonzeros @ problem.room[problem.arrays.cls])
    forest = problem.forest
    step = 3.0 * (problem.n_features + 1) * (forest.size + forest.above.size)
    return int(np.clip(examples / max(step, 1.0), 1, max(nonzeros.size, 1)))


class Averaging:
    """The averages, the best weights and the certificate, pass by pass."""

    def __init__(self, problem: TransferProblem, seed: int, looks: ot_nodes.Looks) -> None:
        self.problem, self.forest, self.K = problem, problem.forest, problem.K
        self.sigma = convexity(self.forest, self.K)
        self.beta = max(0.0, curvature(self.forest, self.K) - self.sigma)
        self.n_steps = steps(problem)
        sums = [problem.weights(np.float64) for _ in range(4)]
        self.mean = _Mean(*sums, *np.zeros((2, self.forest.above.size)))
        self.local = problem.local()
        self.active = 0.0  # sum of the costs of positive losses
        self.rng = np.random.default_rng(seed)
        self.looks = looks
        self.best, self.least = self.mean.W.copy(), self._value(self.mean.W)

    def take(self) -> Any:
        """The state after a look."""
        own = self.looks.best, self.rng.bit_generator.state
        return self.mean, self.active, self.best, self.least, own

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.mean, self.active, self.best, self.least, own = found
        self.looks.best, self.rng.bit_generator.state = own

    @one_blas_thread()
    def run(self) -> None:
        """Passes and looks, until the gap is at most `tol` times the objective."""
        begun = "averaging", self.problem, self.rng.bit_generator.state
        self.looks.keep(begun, self.take, self.restore)
        while True:
            ahead = max(1, int((LOOKS - 1.0) * self.looks.n))
            for _ in range(min(ahead, self.looks.left)):
                self._pass()
            self._keep(self.mean.W)
            self._keep(self.mean.total / self.looks.n)
            self.looks.measured(self.least, self.bound())
            if not self.looks.go_on():
                return
            self.looks.save()

    def _pass(self) -> None:
        problem = self.problem
        order = self.rng.permutation(problem.arrays.cls.size)
        self.active += ot_rda_fast.sweep(
            order, self.n_steps, float(self.looks.n), self.sigma, self.beta, problem.rows,
            problem.bias, problem.arrays, self.K, self.local, self.mean,
        )  # fmt: skip
        self.looks.n += 1

    def _value(self, W: Values) -> float:
        """P(W)."""
        problem = self.problem
        loss = ot_rda_fast.losses(problem.rows, problem.bias, problem.arrays, W, self.local)
        return problem.regulariser(W) + float(loss)

    def _keep(self, W: Values) -> None:
        """Remember these weights where none were better."""
        value = self._value(W)
        if value < self.least:
            self.best[:], self.least = W, value

    def bound(self) -> float:
        """The least value of the mean quadratic, a lower bound of the optimum."""
        mean, forest = self.mean, self.forest
        D, L = ot_nodes.factors(forest, self.K, mean.signs / self.looks.n)
        U = mean.V / self.looks.n
        ot_fast.up(forest.ptr, forest.above, D, L, U)
        own, _ = self.problem.products(U)
        return self.active / self.looks.n - 0.5 * float(D @ own)
