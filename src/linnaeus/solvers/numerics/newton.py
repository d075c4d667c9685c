"""Truncated Newton's method for several strongly convex problems side by side.

    minimise  f_b(w_b) = 1/2 ||w_b - m_b||^2 + (a smooth convex loss of w_b),      b = 1 ... m

The columns of W (features, B) are the variables: every column a problem of its own (m = B), or
all columns together one problem (m = 1). Each step solves H p = -g by preconditioned conjugate
gradients, then halves p until the value has fallen enough. Far from the optimum the system is
solved roughly, near it closely, so that convergence is superlinear.

Preconditioners: the diagonal of H; or with few features (`FEW`), where rows are correlated and
the diagonal says little, H_b = I + X' diag(h_b) X is taken for I + s_b Q, s_b = sum_i h_ib and Q
the mean of x x' under sum_b h_ib. One eigendecomposition of Q serves all columns.

Certificate: f is strongly convex with modulus one, hence f(w) - min f <= 1/2 ||g||^2. For the
logistic losses this bound is a duality gap (docs/maths/logistic.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from linnaeus.solvers.numerics import newton_fast as fast
from linnaeus.solvers.numerics.examples import FloatArray, Rows
from linnaeus.solvers.numerics.rounds import Rounds

Values = npt.NDArray[np.float64]

FEW = 200  # features up to which correlations among them are worth a dense matrix
ROWS = 20  # rows a feature from which correlations are taken
ROUGHEST = 0.3  # residual of the linear system, as a share of the gradient
MAX_HALVINGS = 30
SUFFICIENT = 1e-4  # share of the decrease promised by the gradient that a step must bring


class SmoothProblem(Protocol):
    """m problems over the columns of W."""

    def evaluate(self, W: FloatArray) -> tuple[Values, FloatArray]:
        """The values (m,) and the gradients at W; later products use the curvature there."""

    def product(self, D: FloatArray) -> FloatArray:
        """The Hessians times the columns of D."""

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        """What takes residuals to about the Hessians' inverse times them."""

    def dot(self, A: FloatArray, B: FloatArray) -> Values:
        """The inner products (m,)."""


def suits(n_rows: int, n_features: int) -> bool:
    """Whether there are few features for many rows: coordinate ascent would be slow."""
    return n_features <= FEW and n_rows >= ROWS * (n_features + 1)


def second_moments(rows: Rows, bias: float, n_features: int, h: Values) -> Values:
    """Q = sum_i h_i x_i x_i' over sum h, (d + 1, d + 1), from some rows if they are many."""
    Q = np.zeros((n_features + 1, n_features + 1))
    step = max(1, h.size // (ROWS * (n_features + 1)))
    fast.second_moments(rows, bias, h, step, Q)
    return Q / max(float(h[::step].sum()), 1e-300)


def correlated(
    Q: Values, columns: Values, basis: Values | None = None
) -> Callable[[FloatArray], FloatArray]:
    """R -> (I + columns_b Q)^-1 r_b for every column; columns are rotated by `basis` before."""
    values, vectors = np.linalg.eigh(Q)
    share = 1.0 / (1.0 + np.maximum(values, 0.0)[:, None] * columns)

    def apply(R: FloatArray) -> FloatArray:
        V, scale = vectors.astype(R.dtype), share.astype(R.dtype)
        if basis is None:
            return _product(V, scale * _product(V.T, R))
        U = basis.astype(R.dtype)
        return _product(_product(V, scale * _product(_product(V.T, R), U)), U.T)

    return apply


def _product(A: FloatArray, B: FloatArray) -> FloatArray:
    out = np.empty((A.shape[0], B.shape[1]), dtype=B.dtype)
    fast.product(np.ascontiguousarray(A), np.ascontiguousarray(B), out)
    return out


class Minimum(NamedTuple):
    """Where the search ended; `bound` never lies above the least value."""

    W: FloatArray
    value: Values  # (m,)
    bound: Values  # (m,)
    n_passes: int  # evaluations and products


def minimise(
    problem: SmoothProblem, W: FloatArray, other: FloatArray | None, bound: Values, *, tol: float,
    max_passes: int, about: Any = None,
) -> Minimum:  # fmt: skip
    """Search until every value is at most `tol` times itself above the best lower bound.

    W, other : where to start; every problem takes the better of the two, if there is another
    bound : (m,) lower bounds known before, or -inf
    about : the problem as a plain value; then the state is kept where the fit has a checkpoint
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of huge features; the gap stays open
        return _minimised(problem, W, other, bound, tol, max_passes, about)


def _minimised(
    problem: SmoothProblem, W: FloatArray, other: FloatArray | None, bound: Values, tol: float,
    max_passes: int, about: Any,
) -> Minimum:  # fmt: skip
    rounds, begun = Rounds(max_passes), ("newton", about, W, other, bound, tol)
    elsewhere = np.inf if other is None else problem.evaluate(other)[0]
    value, g = problem.evaluate(W)
    rounds.n = 2
    if other is not None and (elsewhere < value).any():
        W = np.where(elsewhere < value, other, W)
        value, g = problem.evaluate(W)
        rounds.n += 1
    open_ = np.ones(value.size, dtype=bool)  # problems that still move

    def restore(found: Any) -> None:
        nonlocal W, bound, open_, value, g
        W, bound, open_ = found
        value, g = problem.evaluate(W)  # which knows the curvature there again

    if about is not None:
        rounds.keep(begun, lambda: (W, bound, open_), restore)
    while True:
        squared = problem.dot(g, g)
        bound = np.maximum(bound, value - 0.5 * squared)
        open_ &= value - bound > tol * np.abs(value)
        rounds.enter(objective=float(value.sum()), gap=float((value - bound).sum()))
        if not open_.any() or not rounds.go_on():
            return Minimum(W, value, np.minimum(bound, value), rounds.n)
        share = 0.5 * squared / np.maximum(np.abs(value), 1e-300)
        enough = 0.5 * np.sqrt(tol / np.maximum(share, 1e-300))  # brings the bound to tol / 4
        close = np.maximum(share ** (2 / 3), np.finfo(W.dtype).eps ** (1 / 3))
        rough = np.minimum(np.maximum(close, enough), ROUGHEST)
        p, n_products = _direction(problem, g, open_, rough, rounds.left)
        slope = problem.dot(g, p)
        open_ &= slope < -np.finfo(W.dtype).eps * np.abs(value)  # more is lost in rounding
        W, value, g, n_evaluations = _step(problem, W, value, p, slope, open_)
        rounds.n += n_products + n_evaluations
        rounds.save()


def _direction(
    problem: SmoothProblem, g: FloatArray, open_: npt.NDArray[np.bool_], rough: Values, limit: int
) -> tuple[FloatArray, int]:
    """Solve H p = -g to a residual of `rough` times ||g|| where `open_`; elsewhere p = 0."""
    target = rough**2 * problem.dot(g, g)

    def going(residual: FloatArray, _: Values) -> npt.NDArray[np.bool_]:
        return np.asarray(open_ & (problem.dot(residual, residual) > target))

    return conjugate_gradients(
        problem.product, problem.preconditioner(), problem.dot, -g, going, max(limit, 1)
    )


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray], precondition: Callable[[FloatArray], FloatArray],
    dot: Callable[[FloatArray, FloatArray], Values], residual: FloatArray,
    going: Callable[[FloatArray, Values], npt.NDArray[np.bool_]], limit: int,
) -> tuple[FloatArray, int]:  # fmt: skip
    """Approach the solution p of H p = residual, which is overwritten, for m systems side by side.

    going : which systems to go on with, from their residuals r and <r, M^-1 r>
    limit : of the products with H, whose number is returned too
    """
    dtype, p = residual.dtype, np.zeros_like(residual)
    y = precondition(residual)
    d, ry = y.copy(), dot(residual, y)
    active, n = going(residual, ry), 0
    while active.any() and n < limit:
        Hd = product(d)
        n += 1
        curvature = dot(d, Hd)
        active &= curvature > 0.0
        alpha = np.where(active, ry / np.where(active, curvature, 1.0), 0.0).astype(dtype)
        p += alpha * d
        residual -= alpha * Hd
        y = precondition(residual)
        before, ry = ry, dot(residual, y)
        active &= going(residual, ry)
        beta = np.where(active, ry / np.where(active, before, 1.0), 0.0).astype(dtype)
        d = y + beta * d
    return p, n


def _step(
    problem: SmoothProblem, W: FloatArray, value: Values, p: FloatArray, slope: Values,
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
