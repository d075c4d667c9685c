"""Newton's method of `rr_lr_tree` for fewer examples than features: in the space of the examples.

With X X' = U L U' the rows of R = U L^1/2 are the examples in coordinates of an orthonormal basis
of what they span, that of their principal directions: the diagonal of the Hessian says more there
than among features. Products are dense, and arrays have as many rows as there are examples. Weights
of features are X' U L^-1/2 times those found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.special import expit

from linnaeus.execution import Executor, one_blas_thread
from linnaeus.solvers.numerics.coordinate_ascent import Values
from linnaeus.solvers.numerics.examples import FloatArray, Rows
from linnaeus.solvers.recursive.rr_lr_tree import IncrementTree, TreeExamples, TreeNewton

MOST = 4000  # examples
EXACT = 1e-6  # the least relative gap
LEAST = 1e-14  # of the largest eigenvalue: below this rounding is all there is


def suits(examples: TreeExamples, tree: IncrementTree, tol: float) -> bool:
    """Whether this is less work, and exact enough."""
    n, d = examples.y.shape[0], examples.n_features
    plain = not examples.softmax and tree.inverse.shape[0] == 1
    return bool(plain and 2 * n <= d and n <= MOST and tol >= EXACT)


def improve(run: TreeNewton, close: float, max_passes: int) -> None:
    """Newton's method from where it is, here; the value is that of the weights as rounded."""
    span = SpanNewton(run.examples, run.tree, run.executor)
    span.W, span.rounds = span.narrowed(run.W), run.rounds
    span.objective, span.gap = run.objective, run.gap
    span.improve(close, max_passes)
    run.W, bound = span.widened(run.dtype), span.objective - span.gap
    value = run.value()
    run._note(value, value - bound)


class SpanNewton(TreeNewton):
    """The problem in coordinates R; `widened` brings the weights back."""

    def __init__(
        self, examples: TreeExamples, tree: IncrementTree, executor: Executor | None
    ) -> None:
        rows, d = examples.rows, examples.n_features
        n = rows.indptr.size - 1
        self.X = sp.csr_array(
            (rows.data.astype(float), rows.indices.view(np.int32), rows.indptr), (n, d)
        )
        with one_blas_thread():
            values, U = eigh((self.X @ self.X.T).toarray(), overwrite_a=True, check_finite=False)
        kept = values > LEAST * max(float(values[-1]), 0.0)
        root = np.sqrt(values[kept])
        self.R, self.basis = U[:, kept] * root, U[:, kept] / root
        none = Rows(np.zeros(n + 1, rows.indptr.dtype), rows.indices[:0], np.zeros(0))
        super().__init__(examples._replace(rows=none, n_features=root.size), tree, executor)
        self.costs, self.single = examples.costs(), self.R.astype(np.float32)

    def _about(self) -> Any:
        return super()._about(), self.R

    def narrowed(self, W: FloatArray) -> FloatArray:
        """Weights of the features (d + 1, nodes) in these coordinates: their projection."""
        out = np.empty((self.R.shape[1] + 1, W.shape[1]))
        out[:-1], out[-1] = self.basis.T @ (self.X @ W[:-1].astype(float)), W[-1]
        return out

    def widened(self, dtype: np.dtype[Any]) -> FloatArray:
        """The weights of the features."""
        out = np.empty((self.X.shape[1] + 1, self.W.shape[1]), dtype=dtype)
        out[:-1], out[-1] = self.X.T @ (self.basis @ self.W[:-1]), self.W[-1]
        return out

    def improve(self, close: float, max_passes: int = 1000) -> bool:
        with one_blas_thread():
            return super().improve(close, max_passes)

    def _times(self, W: FloatArray) -> Values:
        return np.asarray(self.R @ W[:-1] + float(self.examples.bias) * W[-1])

    def _summed(self, Z: Values) -> Values:
        """R' Z, the constant feature last."""
        last = float(self.examples.bias) * Z.sum(axis=0, keepdims=True)
        return np.vstack([self.R.T @ Z, last])

    def evaluate(self, B: FloatArray) -> tuple[Values, FloatArray]:
        z, out = self._times(self._leaf_weights(B)), B.copy()
        z = np.where(self.examples.y, -z, z)  # log(1 + exp(z)) is the loss
        p = expit(z)
        self.loss = float(np.vdot(self.costs, np.logaddexp(0.0, z)))
        self.H = self.costs * p * (1.0 - p)
        p *= self.costs
        self._add_gradient(self._summed(np.where(self.examples.y, -p, p)), False, out)
        return 0.5 * self.dot(B, B) + self.loss, out

    def product(self, D: FloatArray) -> FloatArray:
        """In single precision: steps are not solved for as exactly as that."""
        out, V, bias = D.copy(), self._leaf_weights(D), float(self.examples.bias)
        Z = self.single @ V[:-1].astype(np.float32) + (bias * V[-1]).astype(np.float32)
        Z *= self.H
        HV = np.vstack([self.single.T @ Z, bias * Z.sum(axis=0, dtype=float, keepdims=True)])
        self._add_gradient(HV.astype(float), False, out)
        return out

    def curvature(self) -> FloatArray:
        bias2 = float(self.examples.bias) ** 2
        self.h = np.vstack([(self.R**2).T @ self.H, bias2 * self.H.sum(axis=0)])
        return self.h
