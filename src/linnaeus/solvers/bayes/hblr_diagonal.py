"""Diagonal covariances of the leaves of HBLR, for many features and sparse examples.

The best q(w_n) with a diagonal Psi_n has

    Psi_jj = 1 / H_jj,      H mu_n = sum_i c_i (y_in - 1/2 + 2 lambda_in beta_i) x_i + A_n mu_parent

with H = 2 X' diag(c lambda_n) X + diag(A_n). The mean is approached by conjugate gradients with the
preconditioner Psi, from the old mean: every step raises the bound, and a few are enough since the
equations change from sweep to sweep. Nothing of size d^2 is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.execution import Executor, task
from linnaeus.solvers.bayes.hblr_model import Given, Leaves, Values, side_by_side
from linnaeus.solvers.numerics.examples import FloatArray
from linnaeus.solvers.numerics.newton import conjugate_gradients

GAIN, STEPS = 0.1, 25  # end when the residual has shrunk to this share, or after so many steps


class Diagonal:
    """The examples (n, d), dense or sparse, and what to do with them."""

    covariance, rough = None, False

    def __init__(self, X: Any, n_classes: int) -> None:
        self.X = sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X)
        self.squares = _squared(self.X)

    def refine(self) -> None:
        """All is in double precision already."""

    def products(self, w: Values) -> Values:
        """X w."""
        return np.asarray(self.X @ w)

    def examples(self, variance: Values) -> tuple[Any, ...]:
        """What `scores` needs: X, its squares and the diagonals (d, K)."""
        return self.X, self.squares, np.ascontiguousarray(variance.T)

    @staticmethod
    def scores(examples: tuple[Any, ...], mu: Values, rows: slice) -> tuple[Values, Values]:
        """m and s (rows, K) of some examples."""
        X, squares, spread = examples
        return X[rows] @ mu.T, squares[rows] @ spread

    def update(self, given: Given, executor: Executor | None) -> Leaves:
        """A better q(w) of some leaves."""
        arrays = (self.X, self.squares, *given)
        return Leaves(*side_by_side(executor, _by_gradients, arrays, given.mean.shape[0]))


def _squared(X: Any) -> Any:
    if sp.issparse(X):
        return sp.csr_array((X.data**2, X.indices, X.indptr), shape=X.shape)
    return X**2


@task
def _by_gradients(
    X: Any, squares: Any, curvature: Any, beta: Any, base: Any, A: Any, above: Any, mean: Any,
    leaves: slice,
) -> tuple[Values, Values, Values]:  # fmt: skip
    """Means, variances and log|Psi| of some leaves; features come first inside."""
    half = np.ascontiguousarray(curvature[:, leaves])
    A = A[leaves].T
    inverse = 2.0 * (squares.T @ half) + A
    pull = base[leaves].T + 2.0 * (X.T @ (half * beta[:, None])) + A * above[leaves].T

    def product(V: FloatArray) -> FloatArray:
        return np.asarray(2.0 * (X.T @ (half * (X @ V))) + A * V)

    W = np.ascontiguousarray(mean[leaves].T)
    residual = pull - product(W)
    enough = GAIN**2 * _dots(residual, residual / inverse)
    step, _ = conjugate_gradients(
        product, lambda R: R / inverse, _dots, residual, lambda _, size: size > enough, STEPS
    )
    return np.asarray(W + step, dtype=np.float64).T, 1.0 / inverse.T, -np.log(inverse).sum(axis=0)


def _dots(A: FloatArray, B: FloatArray) -> Values:
    return np.asarray((A * B).sum(axis=0), dtype=np.float64)
