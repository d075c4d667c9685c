"""Recursive regularisation to its optimum by second-order steps, whatever the scale of features.

    minimise_U,D  P(v) = 1/2 ||v||^2 + sum_n,i c_in loss(y_in w_n.x_i),    v = (sqrt(S) U, D),
                  W_T = U + B D                           (`rr_svm_dual`, `rr_svm_blocks`)

The squared hinge and the logistic loss (`rr_losses`) have a Newton's method at once. For the hinge
the dual takes proximal steps, which are augmented Lagrangians of the primal: around dual variables
A, with s_in = s c_in,

    minimise_v  1/2 ||v||^2 + sum phi(z),     -phi'(z) = a(z) = clip(A + s_in (1 - z), 0, c_in).

The a(z) at its minimum are the next A; the gradient is v - L'a(z), and half of its square is how
far the minimum may be. It is minimised by Newton's method too: only examples with 0 < a < c have a
curvature t_in = s_in, and an exact search along the line makes it safe. s grows while few steps
are enough.

The systems of a step are solved by blocks of features (`rr_machine`), whatever their scale, or
where these are too large by conjugate gradients over the examples (`rr_rows`).

The certificate is the primal value of the weights as they are returned, and the dual value

    D(A) = sum A - conj(A) - 1/2 (sum_n ||V_n||^2 / S_n + ||B'V||^2),     V_n = sum_i A_in y_in x_i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.execution import one_blas_thread
from linnaeus.solvers.numerics import elimination, gram
from linnaeus.solvers.numerics.examples import FloatArray
from linnaeus.solvers.numerics.gram import Examples, Values
from linnaeus.solvers.recursive import rr_rows
from linnaeus.solvers.recursive.rr_losses import LOSSES
from linnaeus.solvers.recursive.rr_machine import Coupling, JointMachine

MOST_SCORES = 1 << 23  # examples times classes
MOST_BLOCKS = 1 << 25  # numbers in the blocks of a step
MOST_STEPS = 300
STEPS = 50  # that it usually takes
SMOOTH = 0.2  # of them, for a smooth loss
START = 0.5  # s at first
ROUGHEST = 0.2  # residual of a system, as a share of its right-hand side
CLOSE = 0.1  # of the gap: how exactly a proximal step is taken
QUICK = 8  # Newton steps after which s is made larger
SHORT = 0.1  # late steps shorter than this give all examples some curvature
LEAST = 1e-7  # of that of the others: below this, none
ACTIVE = 0.2  # of the examples that a step weighs
PATIENCE = 6  # proximal steps without a smaller gap, after which rounding hides the rest


class Finished(NamedTuple):
    """Weights of classes and of other nodes; dual <= optimum <= primal."""

    W: FloatArray  # (n_classes, d + 1), the constant feature last
    W_I: FloatArray  # (n_inner, d + 1)
    primal: float
    dual: float
    n_iter: int
    A: Values  # (n_classes, n) dual variables, which have this dual value


def work(X: sp.csr_array, found: Coupling, loss: str = "hinge") -> float:
    """The time of `finish`, in multiplications of coordinate descent."""
    if X.shape[0] * found.S.size > MOST_SCORES:
        return float("inf")
    blocks = _by_blocks(X, found)
    each = blocks if blocks < np.inf else rr_rows.work(X, found)
    return SMOOTH * each if LOSSES[loss].smooth else each


def _by_blocks(X: sp.csr_array, found: Coupling) -> float:
    """The same where steps eliminate blocks of features."""
    (n, d), K = X.shape, found.S.size
    p = min(n, d) + 1
    if (K + found.reduced.nnz) * p**2 > MOST_BLOCKS:
        return float("inf")
    dense = n < d or X.nnz >= gram.SPARSE * n * d
    scores = gram.DENSE * n * p if dense else X.nnz
    product = gram.DENSE * n * p**2 if dense else X.nnz**2 / n
    block = gram.OVERHEAD + 3 * gram.DENSE * p**3
    nodes = elimination.n_products(found.reduced) * block
    return float(STEPS * (K * (block + ACTIVE * product + 4 * scores + 20 * n) + nodes))


def finish(
    X: sp.csr_array, Y: sp.csr_array, found: Coupling, weight: Values, cost: Values, A: FloatArray,
    *, loss: str, bias: float, share_bias: bool, tol: float, dtype: Any,
) -> Finished:  # fmt: skip
    """Solve for all classes.

    weight : (n,) of examples; cost : (2, n_classes), of negatives and positives; all positive
    A : (n_classes, n) dual variables to start from, if they are worth more than none
    tol : stop when P - D <= tol P
    dtype : what the weights are rounded to, before their value is measured
    """
    plain, basis = Examples(sp.csr_array(X, dtype=float)), None
    sign = np.where(Y.T.toarray() > 0, 1.0, -1.0)
    costs = np.where(sign > 0, cost[1][:, None], cost[0][:, None]) * weight
    problem = sign, costs, found, LOSSES[loss], share_bias
    whole = JointMachine(_with_constant(plain, bias), *problem)
    if _by_blocks(X, found) == np.inf:
        part: JointMachine = rr_rows.RowMachine(plain, bias, *problem)
    else:
        small, basis = plain.reduced()
        part = JointMachine(_with_constant(small, bias), *problem)
    start = np.clip(A.astype(float), 0.0, costs if part.kind.bounded else np.inf)
    if part.dual(start) <= 0.0:
        start = np.zeros_like(start)
    search = _Search(part, start, 0.8 * tol)
    # threads of a matrix product are no gain for blocks of this size, and wait for each other
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        search.run()
    answers = []
    for v in (search.v_best, part.lift(search.a_best)):
        W, W_I = part.weights(v)
        answers.append(whole.measured(_widened(W, basis), _widened(W_I, basis), dtype))
    primal, W_T, W_inner = min(answers, key=lambda answer: answer[0])
    dual = float(np.minimum(primal, whole.dual(search.a_best)))
    return Finished(W_T, W_inner, primal, dual, search.n_steps, search.a_best)


def _with_constant(examples: Examples, bias: float) -> Examples:
    X, column = examples.X, np.full((examples.shape[0], 1), bias)
    return Examples(
        sp.csr_array(sp.hstack([X, column])) if sp.issparse(X) else np.hstack([X, column])
    )


def _widened(W: Values, basis: Values | None) -> Values:
    """Weights of the features themselves; those of the constant are as they are."""
    return W if basis is None else np.hstack([W[:, :-1] @ basis.T, W[:, -1:]])


class _Search:
    """The weights v with their margins z, and the best of either problem so far."""

    def __init__(self, machine: JointMachine, A: Values, tol: float) -> None:
        self.machine, self.tol, self.n_steps, self.damping = machine, tol, 0, 0.0
        self.A, self.slope = A, START * machine.costs
        self.v = self.v_best = machine.lift(self.A)
        self.z = machine.reached(self.v)
        self.a_best, self.primal, self.dual = self.A, np.inf, -np.inf
        self._note(self.A, self.v)

    def run(self) -> None:
        """Proximal steps, each by Newton's method; one is enough for a smooth loss."""
        least, stalled = np.inf, 0
        while not self._done() and stalled < PATIENCE and self.n_steps < MOST_STEPS:
            try:
                n_steps = self._minimise()
            except np.linalg.LinAlgError:  # numbers out of range
                return
            self.A = self._duals(self.z)
            stalled = 0 if self.primal - self.dual < 0.9 * least else stalled + 1
            least = min(least, self.primal - self.dual)
            if n_steps <= 2 * QUICK:
                self.slope = self.slope * (4.0 if n_steps <= QUICK else 2.0)

    def _done(self) -> bool:
        return self.primal - self.dual <= self.tol * self.primal

    def _duals(self, z: Values) -> Values:
        """a(z)"""
        if self.machine.kind.smooth:
            return self.machine.kind.multipliers(self.machine.costs, z)
        return np.clip(self.A + self.slope * (1.0 - z), 0.0, self.machine.costs)

    def _minimise(self) -> int:
        """Newton's method, until the gradient is small beside the gap; returns its steps."""
        for n_steps in range(MOST_STEPS):
            a = self._duals(self.z)
            pull = self.machine.lift(a)
            self._note(a, pull)
            g = self.v - pull
            near = 0.0 if self.machine.kind.smooth else CLOSE * (self.primal - self.dual)
            if (
                self._done()
                or 0.5 * self.machine.dot(g, g) <= near
                or not self._step(a, g, n_steps > 2 * QUICK)
            ):
                return n_steps
        return MOST_STEPS

    def _note(self, a: Values, pull: Values) -> None:
        primal = 0.5 * self.machine.dot(self.v, self.v) + self.machine.loss(self.z)
        dual = self.machine.gain(a) - 0.5 * self.machine.dot(pull, pull)
        if primal < self.primal:
            self.v_best, self.primal = self.v, primal
        if dual > self.dual:
            self.a_best, self.dual = a, dual

    def _rough(self) -> float:
        """How exactly to solve for a step: far from the end it is not worth much."""
        share = (self.primal - self.dual) / max(self.primal, 1e-300)
        return float(np.clip(0.5 * np.sqrt(self.tol / max(share, 1e-300)), share, ROUGHEST))

    def _step(self, a: Values, g: Values, late: bool) -> bool:
        """One step of Newton's method; False if rounding hides any descent."""
        machine, costs = self.machine, self.machine.costs
        if machine.kind.smooth:
            t = machine.kind.curvature(costs, a)
        else:
            t = self.slope * np.where((a > 0) & (a < costs), 1.0, self.damping)
        dv = machine.solver(t, self._rough())(-g)
        dz = machine.reached(dv)
        along, length = machine.dot(self.v, dv), machine.dot(dv, dv)

        def slope(size: float) -> float:
            return along + size * length - float(np.vdot(self._duals(self.z + size * dz), dz))

        size = _root(slope)
        self.n_steps += 1
        if (late or self.damping) and size < SHORT:
            self.damping = min(max(10.0 * self.damping, 1e4 * LEAST), 1.0)
        else:
            self.damping = 0.25 * self.damping if self.damping > LEAST else 0.0
        self.v = self.v + size * dv
        self.z = machine.reached(self.v)
        return size > 0


def _root(slope: Callable[[float], float]) -> float:
    """About where a rising function, negative at 0, is 0: by doubling, then by halving."""
    first, low, high, size = slope(0.0), 0.0, np.inf, 1.0
    if not first < 0:
        return 0.0
    for _ in range(40):
        here = slope(size)
        if abs(here) <= -0.1 * first:
            break
        low, high = (size, high) if here < 0 else (low, size)
        size = 0.5 * (low + high) if high < np.inf else 2.0 * size
    return size
