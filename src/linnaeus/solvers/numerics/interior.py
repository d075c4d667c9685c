"""An interior point method for machines whose loss is the largest of a few linear functions.

    minimise_v  P(v) = 1/2 ||v||^2 + sum_i c_i max_k h_ik,      h = h0 + L v,      k = 1 ... m

The dual has multipliers U_ik >= 0 with sum_k U_ik = c_i:

    maximise_U  D(U) = sum_ik U_ik h0_ik - 1/2 ||L'U||^2,       v = -L'U.

With slacks S_ik = xi_i - h_ik >= 0 the optimum has U S = 0. The method follows the points with
U S = mu to mu = 0 by Newton steps, each predicted and then corrected [Mehrotra1992]. With
d = U / S, all but v is eliminated, and a step solves one system of the size of v:

    (I + sum_i L_i' B_i L_i) dv = ...,      B_i = diag(d_i) - d_i d_i' / sum_k d_ik.

It takes some twenty steps whatever the scale of the features. U is feasible at every step, so that
P(v) - D(U) is a true certificate, whether or not v = -L'U holds exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from linnaeus.execution import one_blas_thread
from linnaeus.solvers.numerics.gram import DENSE, STEPS, Values
from linnaeus.solvers.numerics.rounds import Rounds

CLOSE = 0.995  # of the way to the boundary that a step may go
PATIENCE = 10  # steps without a smaller gap, after which rounding hides the rest
MOST = 3000  # unknowns of crossed functions
LARGE = 1 << 26  # numbers in an array
OVERHEAD = 1e6  # of a step
RANK = 1e-12  # squares of singular values, by the largest, that are none


class LargestOfLinear(Protocol):
    """Who the examples are: all arrays are (m, n), one row for each linear function."""

    cost: Values  # (n,) all positive
    base: Values  # (m, n), h0

    def forward(self, v: Values) -> Values:
        """L v."""

    def adjoint(self, U: Values) -> Values:
        """L'U."""

    def solver(self, d: Values) -> Callable[[Values], Values]:
        """What solves a system with I + sum_i L_i' B_i L_i."""


class Optimum(NamedTuple):
    """The best point of either problem."""

    v: Values
    U: Values
    primal: float
    dual: float
    n_iter: int


class _Inside(NamedTuple):
    """A point inside: U and S are positive, the columns of U sum to the costs. Also a step."""

    v: Values
    xi: Values
    U: Values
    S: Values


@one_blas_thread()
def minimise(problem: LargestOfLinear, v: Values, *, tol: float, max_iter: int = 100) -> Optimum:
    """Start at v and stop when P - D <= tol P, or when rounding hides the rest.

    Zero is a good start; a point where descent got stuck need not be (docs/maths/svm.md).
    """
    state = _centred(problem, v)
    best, stalled = Optimum(v, state.U, np.inf, -np.inf, 0), 0
    rounds = Rounds(max_iter, tol)
    while True:
        h = problem.base + problem.forward(state.v)
        pull = problem.adjoint(state.U)
        best, last = _better(problem, state, h, pull, best)._replace(n_iter=rounds.n), rounds.gap
        rounds.note(best.primal, best.primal - best.dual)
        stalled = 0 if rounds.gap < last else stalled + 1
        if stalled >= PATIENCE or not rounds.go_on():
            return best
        try:
            state = _step(problem, state, h, pull)
        except np.linalg.LinAlgError:  # numbers out of range
            return best
        rounds.n += 1


def _centred(problem: LargestOfLinear, v: Values) -> _Inside:
    """The point over v with U S = mu: the level xi_i solves sum_k mu / (xi_i - h_ik) = c_i."""
    h = problem.base + problem.forward(v)
    mu = (0.5 * float(v @ v) + float(problem.cost @ h.max(axis=0))) / h.size
    xi = h.max(axis=0) + mu / problem.cost
    for _ in range(20):  # Newton's method for 1 / sum_k ..., concave: never beyond the root
        S = xi - h
        total = (mu / S).sum(axis=0)
        xi += (total - problem.cost) * total / (problem.cost * (mu / S**2).sum(axis=0))
    S = xi - h
    return _Inside(v, xi, _feasible(problem, mu / S), S)


def _feasible(problem: LargestOfLinear, U: Values) -> Values:
    return np.asarray(U * (problem.cost / U.sum(axis=0)))


def _better(
    problem: LargestOfLinear, state: _Inside, h: Values, pull: Values, best: Optimum
) -> Optimum:
    """The best value of either problem so far."""
    primal = 0.5 * float(state.v @ state.v) + float(problem.cost @ h.max(axis=0))
    dual = float((state.U * problem.base).sum()) - 0.5 * float(pull @ pull)
    if primal < best.primal:
        best = best._replace(v=state.v, primal=primal)
    if dual > best.dual:
        best = best._replace(U=state.U, dual=dual)
    return best


def _step(problem: LargestOfLinear, state: _Inside, h: Values, pull: Values) -> _Inside:
    """Predict with mu = 0, then correct towards what the prediction reached."""
    v, xi, U, S = state
    newton = _Newton(problem, U, S)
    error, US, slip = -(v + pull), U * S, S - (xi - h)
    mu = US.mean()
    _, _, dU, dS = newton.direction(error, slip, -US)
    size = _length(U, dU, S, dS)
    ahead = ((U + size * dU) * (S + size * dS)).mean()
    target = (ahead / mu) ** 3 * mu - US - dU * dS
    dv, dxi, dU, dS = newton.refined(error, slip, target)
    size = min(1.0, CLOSE * _length(U, dU, S, dS))
    U = _feasible(problem, U + size * dU)
    return _Inside(v + size * dv, xi + size * dxi, U, S + size * dS)


class _Newton:
    """The linear equations of a step, and their solution with all but dv eliminated:

    dv + L'dU = error,   dxi - L dv - dS = slip,   S dU + U dS = target,   sum_k dU = 0.
    """

    def __init__(self, problem: LargestOfLinear, U: Values, S: Values) -> None:
        self.problem, self.U, self.S, self.d = problem, U, S, U / S
        self.total = self.d.sum(axis=0)
        self.solve = problem.solver(self.d)

    def direction(self, error: Values, slip: Values, target: Values) -> _Inside:
        d, total, problem = self.d, self.total, self.problem
        g = target / self.S + d * slip
        level = g.sum(axis=0) / total
        dv = self.solve(error - problem.adjoint(g - d * level))
        dh = problem.forward(dv)
        dxi = level + (d * dh).sum(axis=0) / total
        dS = dxi - dh - slip
        return _Inside(dv, dxi, (target - self.U * dS) / self.S, dS)

    def refined(self, error: Values, slip: Values, target: Values) -> _Inside:
        """The same, with the first equation repaired where rounding broke it."""
        step, nothing = self.direction(error, slip, target), np.zeros_like(target)
        left = error - step.v - self.problem.adjoint(step.U)
        repair = self.direction(left, nothing, nothing)
        return _Inside(*(a + b for a, b in zip(step, repair, strict=True)))


def _length(U: Values, dU: Values, S: Values, dS: Values) -> float:
    """How far U and S stay positive, at most a little over 1."""
    most = max(float((-dU / U).max()), float((-dS / S).max()), 1.0 / (1.0 + 1e-2))
    return 1.0 / most


def factorised(H: Values) -> Callable[[Values], Values]:
    """What solves a system with I + H, of which the lower triangle is given and overwritten.

    The diagonal is scaled to 1; directions that rounding hides get a little weight.
    """
    if not np.isfinite(H).all():
        raise np.linalg.LinAlgError("the matrix has numbers out of range")
    H[np.diag_indices_from(H)] += 1.0
    scale = 1.0 / np.sqrt(np.diagonal(H))
    H *= scale
    H *= scale[:, None]
    extra = 0.0
    while True:
        try:
            factor = cho_factor(H + extra * np.eye(scale.size) if extra else H, lower=True)
            return lambda b: scale * cho_solve(factor, scale * b)
        except np.linalg.LinAlgError:
            extra = max(10 * extra, 1e-15 * scale.size)


# -- labels crossed with features -----------------------------------------------------------------


class Crossed:
    """Functions h_ik = h0_ik + u_ik'M x_i, where v is the matrix M, row by row.

    cost : (n,);   base : (m, n);   u : (m, n, r) directions of labels;   X : (n, f)
    """

    def __init__(self, cost: Values, base: Values, u: Values, X: Values) -> None:
        self.cost, self.base, self.u, self.X = cost, base, u, X
        self.shape = u.shape[2], X.shape[1]
        self.squares = np.einsum("if,ig->ifg", X, X).reshape(len(X), -1)

    @property
    def zero(self) -> Values:
        """No weights."""
        return np.zeros(self.shape[0] * self.shape[1])

    def forward(self, v: Values) -> Values:
        """u'M x of all."""
        return np.asarray(np.einsum("kir,ir->ki", self.u, self.X @ v.reshape(self.shape).T))

    def adjoint(self, U: Values) -> Values:
        """The sum of U_ik u_ik x_i'."""
        return np.asarray((np.einsum("ki,kir->ri", U, self.u) @ self.X).ravel())

    def solver(self, d: Values) -> Callable[[Values], Values]:
        """By Cholesky's factors of the matrix for all of M."""
        r, f = self.shape
        total = np.einsum("ki,kir->ir", d, self.u) / np.sqrt(d.sum(axis=0))[:, None]
        weighted = self.u * d[:, :, None]
        B: Any = np.matmul(weighted.transpose(1, 2, 0), self.u.transpose(1, 0, 2))
        B -= total[:, :, None] * total[:, None, :]
        H = (B.reshape(len(B), -1).T @ self.squares).reshape(r, r, f, f)
        return factorised(np.ascontiguousarray(H.transpose(0, 2, 1, 3)).reshape(r * f, -1))


def crossed_work(n: int, r: int, f: int) -> float:
    """Nanoseconds, about, of one optimum; infinite where it is out of the question."""
    if r * f > MOST or n * max(r, f) ** 2 > LARGE:
        return float("inf")
    return float(STEPS * (DENSE * (n * (r * f) ** 2 + (r * f) ** 3) + OVERHEAD))


def coordinates(A: Values) -> tuple[Values, Values]:
    """Rows with the same products in no more columns than rows, and the basis of those."""
    if A.shape[1] <= A.shape[0]:
        return A, np.eye(A.shape[1])
    Q, R = np.linalg.qr(A.T)
    return R.T, Q


def kernel_coordinates(K: Any) -> Values:
    """Rows whose products are those of a kernel matrix."""
    values, vectors = np.linalg.eigh(np.asarray(K, dtype=np.float64))
    kept = values > RANK * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
