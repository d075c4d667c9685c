"""Full covariances of the leaves of HBLR.

    Psi_n^-1 = 2 X' diag(c lambda_n) X + diag(A_n),      s_in = x_i' Psi_n x_i

cost N d^2 for every leaf. Both are linear in the products x_ij x_ik, which are the same for all
leaves: with Z (pairs j <= k, examples) their matrix, Psi^-1 is Z (c lambda) and s is Z' Psi, each
one matrix product for all leaves and half the work of a product for every leaf. Z is made in blocks
that stay in the cache, and never stored.

Where this is much work, sweeps begin in single precision (`rough`): a Psi that is not quite the
best loses in the bound what is of second order only, means are corrected in double precision, and
an update forgets all errors before it. `refine` goes over to double precision, for good.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.execution import Executor, over_blocks, task
from linnaeus.solvers.bayes.hblr_model import ROWS, Given, Leaves, Values, row_blocks, side_by_side

PAIRS = 256  # pairs of features at once, about: with ROWS examples they stay in the cache
LARGEST = 5000  # features
MUCH = 1 << 27  # products (examples x pairs x leaves) that make sweeps begin in single precision


class Full:
    """Covariances (K, d, d), at first I; the examples are kept dense, features first."""

    def __init__(self, X: Any, n_classes: int) -> None:
        n, d = X.shape
        if d > LARGEST:
            raise UserError(
                f"There are {d:,} features, but full covariances are for {LARGEST:,} at most. "
                "Use diagonal ones, or inference='map'."
            )
        self.X = [_dense(X[rows]) for rows in row_blocks(n)]
        self.covariance = np.tile(np.eye(d), (n_classes, 1, 1))
        self.pairs = np.triu_indices(d)
        self.rough = n * self.pairs[0].size * n_classes >= MUCH
        self.inputs = [x.astype(np.float32) for x in self.X] if self.rough else self.X

    def refine(self) -> None:
        """Everything in double precision from now on."""
        self.rough, self.inputs = False, self.X

    def products(self, w: Values) -> Values:
        """X w."""
        return np.concatenate([x.T @ w for x in self.X])

    def examples(self, variance: Values) -> tuple[Any, ...]:
        """What `scores` needs: X, X for Z, and Psi (pairs, K), pairs j < k counted twice."""
        j, k = self.pairs
        packed = self.covariance[:, j, k]
        packed *= np.where(j == k, 1.0, 2.0)
        return self.X, self.inputs, packed.T.astype(self.inputs[0].dtype, order="C")

    @staticmethod
    def scores(examples: tuple[Any, ...], mu: Values, rows: slice) -> tuple[Values, Values]:
        """m and s (rows, K) of a block of examples."""
        X, inputs, spread = examples
        x = inputs[rows.start // ROWS]
        s, room = np.zeros((x.shape[1], mu.shape[0])), _room(x)
        for block in feature_blocks(x.shape[0]):
            s += _products(x, block, room).T @ spread[block.pairs]
        return X[rows.start // ROWS].T @ mu.T, np.maximum(s, 0.0, out=s)

    def update(self, given: Given, executor: Executor | None) -> Leaves:
        """The best q(w) of some leaves.

        The bound is quadratic in the means: a step of Newton's method leads to the best. What Psi
        lacks in precision touches the step only; a second step removes that.
        """
        curvature = given.curvature.astype(self.inputs[0].dtype, copy=False)
        blocks = feature_blocks(given.mean.shape[1])
        moments = over_blocks(_second_moments, (self.inputs, curvature), blocks, executor)
        packed = np.concatenate(list(moments))
        arrays = (packed, *self.pairs, given.A)
        covariance, log_det = side_by_side(executor, _inverted, arrays, given.A.shape[0])
        mean = given.mean
        for _ in range(2 if self.rough else 1):
            slope = self._slope(given, mean, executor)
            mean = mean + (covariance @ slope[:, :, None])[:, :, 0]
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        return Leaves(mean, variance, log_det, covariance)

    def _slope(self, given: Given, mean: Values, executor: Executor | None) -> Values:
        """The gradient of the bound in the means (k, d)."""
        slope = given.base + given.A * (given.above - mean)
        arrays = (self.X, given.curvature, given.beta, mean)
        for part in over_blocks(_slope_of, arrays, row_blocks(given.beta.size), executor):
            slope += part
        return slope


def _dense(X: Any) -> Values:
    """Some examples, features first."""
    return np.ascontiguousarray((X.toarray() if sp.issparse(X) else X).T, dtype=np.float64)


def _slope_of(X: Any, curvature: Values, beta: Values, mean: Values, rows: slice) -> Values:
    """What a block of examples adds to the gradient of the bound in the means."""
    x = X[rows.start // ROWS]
    away = beta[rows, None] - x.T @ mean.T
    away *= curvature[rows]
    return np.asarray(2.0 * (x @ away).T)


class LeafBlock(NamedTuple):
    """Pairs (j, k), j <= k < d, of consecutive features j."""

    first: int
    last: int
    pairs: slice


@cache
def feature_blocks(d: int) -> list[LeafBlock]:
    """All pairs, in the order of `triu_indices`, about PAIRS in a block."""
    blocks, first, begin = [], 0, 0
    while first < d:
        last, end = first, begin
        while last < d and (last == first or end - begin + d - last <= PAIRS):
            end += d - last
            last += 1
        blocks.append(LeafBlock(first, last, slice(begin, end)))
        first, begin = last, end
    return blocks


def _room(x: Any) -> Any:
    """Work space for `_products` of x (d, examples)."""
    return np.empty((max(PAIRS, x.shape[0]), x.shape[1]), x.dtype)


def _products(x: Any, block: LeafBlock, room: Any) -> Any:
    """x_j x_k of the pairs of a block: (pairs, examples)."""
    (d, n), at = x.shape, 0
    for j in range(block.first, block.last):
        np.multiply(x[j], x[j:], out=room[at : at + d - j, :n])
        at += d - j
    return room[:at, :n]


@task
def _second_moments(inputs: Any, curvature: Any, block: LeafBlock) -> Values:
    """2 sum_i c_i lambda_in x_ij x_ik of the pairs of a block: (pairs, k)."""
    total = np.zeros((block.pairs.stop - block.pairs.start, curvature.shape[1]))
    Z = _room(inputs[0])
    for x, rows in zip(inputs, row_blocks(curvature.shape[0]), strict=True):
        total += _products(x, block, Z) @ curvature[rows]
    total *= 2.0
    return total


@task
def _inverted(packed: Any, first: Any, second: Any, A: Any, leaves: slice) -> tuple[Values, Values]:
    """Psi and log|Psi| of some leaves, from Psi^-1 without A (pairs, k)."""
    A = A[leaves]
    d = int(first[-1]) + 1
    inverse = np.empty((A.shape[0], d, d))
    inverse[:, second, first] = inverse[:, first, second] = packed[:, leaves].T
    inverse[:, np.arange(d), np.arange(d)] += A
    try:
        factor = np.linalg.cholesky(inverse)
    except np.linalg.LinAlgError:  # not positive only by rounding: no eigenvalue is below min A
        values, vectors = np.linalg.eigh(inverse)
        values = np.maximum(values, A.min(axis=1, keepdims=True))
        root, log_det = vectors / np.sqrt(values)[:, None], -np.log(values).sum(axis=1)
    else:
        root = np.linalg.inv(factor).swapaxes(1, 2)
        log_det = -2.0 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    return root @ root.swapaxes(1, 2), log_det
