"""Alternation, then second-order steps: for classes that lean on hardly anything.

Where a part of the graph has no ground, all of its weights may be shifted at no cost. In a round of
alternation the root follows the leaves, which are held to it: hardly a step for small C. And the
dual asks that sum_n,i A_in y_in x_i be (almost) 0: a part r that
is left takes ||r||^2 / (2 g) from the dual value, g = 1e-6 being the ground that stands for none,
so that close weights have a worthless certificate. Newton's method over all nodes
(`rr_svm_newton`) takes the shift as one more block and meets the condition at its end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.solvers.numerics.examples import Joint
from linnaeus.solvers.numerics.gram import Values
from linnaeus.solvers.numerics.rounds import record
from linnaeus.solvers.recursive import rr_svm_newton
from linnaeus.solvers.recursive.alternation import Structure, joint_answer
from linnaeus.solvers.recursive.rr_machine import Coupling, coupling

INNER_EPOCHS = 5  # of a leaf in a round of alternation; doubled every third round
MOST_EPOCHS = 5000
FIRST = 6  # rounds of alternation at least
CHEAP = 2e9  # work of second-order steps that need not wait longer than that
TIMES = 20.0  # the work of alternation, that they may cost


def epochs(n_rounds: int) -> int:
    """How closely alternation solves its leaves after so many rounds."""
    return min(INNER_EPOCHS << (n_rounds // 3), MOST_EPOCHS)


class Finish(NamedTuple):
    """The problem as second-order steps see it."""

    X: sp.csr_array
    Y: sp.csr_array
    found: Coupling
    weight: Values  # (n,)
    cost: Values  # (2, n_classes)
    loss: str
    bias: float
    share_bias: bool

    def work(self) -> float:
        """The time of second-order steps, in multiplications of coordinate descent."""
        if self.found.tangled or not (self.cost > 0).all():
            return np.inf
        return rr_svm_newton.work(self.X, self.found, self.loss)

    def n_rounds(self, limit: int) -> tuple[int, bool]:
        """Rounds of alternation before second-order steps, and whether these pay then."""
        each = TIMES * (self.X.nnz + self.X.shape[0]) * self.Y.shape[1]
        n, left = 0, self.work() - CHEAP
        while n < limit and (n < FIRST or left > 0):
            left -= each * epochs(n)
            n += 1
        return n, left <= 0

    def __call__(self, result: Joint, A: Any, tol: float, dtype: Any) -> tuple[Joint, Any]:
        """The better of an answer and what second-order steps find, with dual variables.

        A : (n, n_classes) dual variables to start from, or None
        """
        P, D = float(result.solution.objective[0]), float(result.solution.dual[0])
        if tol * abs(P) >= P - D:
            return result, A
        start = np.zeros(self.Y.T.shape) if A is None else A.T.toarray()
        done = rr_svm_newton.finish(
            self.X, self.Y, self.found, self.weight, self.cost, start, loss=self.loss,
            bias=self.bias, share_bias=self.share_bias, tol=tol, dtype=dtype,
        )  # fmt: skip
        if done.dual > D:
            A = sp.csr_array(done.A.T)
        low, best = max(D, done.dual), min(P, done.primal)
        trace = result.solution.trace
        trace.append(record(trace[-1]["seconds"], best, best - low))
        if done.primal < P:
            return joint_answer(done.W, done.W_I, (best, min(low, best)), self.bias, trace), A
        solution = result.solution._replace(dual=np.array([min(low, P)]), n_iter=len(trace))
        return result._replace(solution=solution), A


def finish_of(
    X: sp.csr_array, Y: sp.csr_array, structure: Structure, weight: Values, cost: Values, loss: str,
    bias: float, share_bias: bool,
) -> Finish | None:  # fmt: skip
    """The problem, or None where its factors would be too many numbers."""
    found = coupling(structure.S, structure.mix, structure.reduced())
    if found is None:
        return None
    return Finish(X, Y, found, weight, cost, loss, float(bias), share_bias)
