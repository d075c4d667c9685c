"""Truncated Newton's method for several strongly convex problems side by side.

    minimise  f_b(w_b) = 1/2 ||w_b - m_b||^2 + (a smooth convex loss of w_b),      b = 1 ... m

The columns of W (features, B) are the variables: every column a problem of its own (m = B), or
all columns together one problem (m = 1). Each step solves H p = -g by conjugate gradients with
the diagonal of H as preconditioner, then halves p until the value has fallen enough. Far from the
optimum the system is solved roughly, near it closely, so that convergence is superlinear.

Certificate: f is strongly convex with modulus one, hence f(w) - min f <= 1/2 ||g||^2. For the
logistic losses this bound is a duality gap (docs/maths/logistic.md).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from linnaeus.solvers.problem import FloatArray

Values = npt.NDArray[np.float64]

MAX_HALVINGS = 30
SUFFICIENT = 1e-4  # share of the decrease promised by the gradient that a step must bring


class Problem(Protocol):
    """m problems over the columns of W."""

    def evaluate(self, W: FloatArray) -> tuple[Values, FloatArray]:
        """The values (m,) and the gradients at W; later products use the curvature there."""

    def product(self, D: FloatArray) -> FloatArray:
        """The Hessians times the columns of D."""

    def diagonal(self) -> FloatArray:
        """The diagonals of the Hessians."""

    def dot(self, A: FloatArray, B: FloatArray) -> Values:
        """The inner products (m,)."""


class Minimum(NamedTuple):
    """Where the search ended; `bound` never lies above the least value."""

    W: FloatArray
    value: Values  # (m,)
    bound: Values  # (m,)
    n_passes: int  # evaluations and products


def minimise(
    problem: Problem, W: FloatArray, other: FloatArray, bound: Values, *, tol: float,
    max_passes: int,
) -> Minimum:  # fmt: skip
    """Search until every value is at most `tol` times itself above the best lower bound.

    W, other : where to start; every problem takes the better of the two
    bound : (m,) lower bounds known before, or -inf
    """
    elsewhere, _ = problem.evaluate(other)
    value, g = problem.evaluate(W)
    n_passes = 2
    if (elsewhere < value).any():
        W = np.where(elsewhere < value, other, W)
        value, g = problem.evaluate(W)
        n_passes += 1
    open_ = np.ones(value.size, dtype=bool)  # problems that still move
    while True:
        squared = problem.dot(g, g)
        bound = np.maximum(bound, value - 0.5 * squared)
        open_ &= value - bound > tol * np.abs(value)
        if not open_.any() or n_passes >= max_passes:
            return Minimum(W, value, np.minimum(bound, value), n_passes)
        share = 0.5 * squared / np.maximum(np.abs(value), 1e-300)
        rough = np.clip(share ** (2 / 3), np.finfo(W.dtype).eps ** (1 / 3), 0.1)
        p, n_products = _direction(problem, g, open_, rough, max_passes - n_passes)
        slope = problem.dot(g, p)
        open_ &= slope < -np.finfo(W.dtype).eps * np.abs(value)  # more is lost in rounding
        W, value, g, n_evaluations = _step(problem, W, value, p, slope, open_)
        n_passes += n_products + n_evaluations


def _direction(
    problem: Problem, g: FloatArray, open_: npt.NDArray[np.bool_], rough: Values, limit: int
) -> tuple[FloatArray, int]:
    """Solve H p = -g to a residual of `rough` times ||g|| where `open_`; elsewhere p = 0."""
    dtype, M = g.dtype, problem.diagonal()
    p, residual = np.zeros_like(g), -g
    target = rough**2 * problem.dot(g, g)
    y = residual / M
    d, ry = y.copy(), problem.dot(residual, y)
    active, n = open_.copy(), 0
    while active.any() and n < max(limit, 1):
        Hd = problem.product(d)
        n += 1
        curvature = problem.dot(d, Hd)
        active &= curvature > 0.0
        alpha = np.where(active, ry / np.where(active, curvature, 1.0), 0.0).astype(dtype)
        p += alpha * d
        residual -= alpha * Hd
        active &= problem.dot(residual, residual) > target
        y = residual / M
        before, ry = ry, problem.dot(residual, y)
        beta = np.where(active, ry / np.where(active, before, 1.0), 0.0).astype(dtype)
        d = y + beta * d
    return p, n


def _step(
    problem: Problem, W: FloatArray, value: Values, p: FloatArray, slope: Values,
    open_: npt.NDArray[np.bool_],
) -> tuple[FloatArray, Values, FloatArray, int]:  # fmt: skip
    """Go along p, as far as each value falls; where it does not, stay and close the problem."""
    t = open_.astype(np.float64)
    slack = 4.0 * np.finfo(np.float64).eps * np.abs(value)
    n = 0
    while True:
        new = W + t.astype(W.dtype) * p
        new_value, new_g = problem.evaluate(new)
        n += 1
        poor = ~(new_value <= value + SUFFICIENT * t * slope + slack) & (t > 0)  # also if NaN
        if not poor.any():
            open_ &= t > 0
            return new, new_value, new_g, n
        t[poor] = 0.5 * t[poor] if n < MAX_HALVINGS else 0.0
