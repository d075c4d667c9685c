"""Examples of few features, or few examples, for methods that solve with sums of x x'.

    H = sum_i d_i x_i x_i',      d_i >= 0

Dense rows go through a symmetric product in pieces, sparse ones through a sparse product. With
fewer examples than features, all that a machine needs lies in the space of the examples: their
coordinates in an orthonormal basis of it are the features there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.linalg.blas import dsyrk

from linnaeus.solvers.numerics.examples import Rows

Values = npt.NDArray[np.float64]

SPARSE = 0.05  # density below which products of sparse rows are faster
DENSE_SIZE = 1 << 26  # numbers that may lie in a dense matrix
CHUNK = 1 << 21  # numbers in a piece of it
FEW = 256  # features that need no reduction
MOST = 4000  # unknowns of a system
STEPS = 25  # of an interior point method
DENSE = 0.05  # time of a multiplication in a dense product, by that in coordinate descent
OVERHEAD = 1.5e5  # of a step of whatever size, in the same unit


class Examples:
    """Rows of float64, dense or CSR, with the products that a step needs."""

    def __init__(self, X: Any) -> None:
        n, p = self.shape = X.shape
        self.sparse = sp.issparse(X) and X.nnz < SPARSE * n * p
        dense = sp.issparse(X) and not self.sparse and n * p <= DENSE_SIZE
        self.X = X.toarray() if dense else X

    @classmethod
    def of(cls, rows: Rows, n_features: int, bias: float) -> Examples:
        """The rows with the constant feature as their last."""
        shape = rows.indptr.size - 1, n_features
        X = sp.csr_array((rows.data, rows.indices.view(np.int32), rows.indptr), shape=shape)
        return cls(sp.csr_array(sp.hstack([X.astype(float), np.full((shape[0], 1), bias)])))

    def gram(self, weight: Values) -> Values:
        """sum_i weight_i x_i x_i' for weights that are not negative: its lower triangle."""
        p = self.shape[1]
        used, root = np.flatnonzero(weight), np.sqrt(weight)
        if self.sparse:
            Z = self.X[used] * root[used][:, None]
            return np.asarray((Z.T @ Z).toarray())
        H = np.zeros((p, p), order="F")
        for some in np.array_split(used, -(-used.size * p // CHUNK) or 1):
            part = self.X[some]
            Z = (part.toarray() if sp.issparse(part) else part) * root[some][:, None]
            H = dsyrk(1.0, Z.T, beta=1.0, c=H, lower=1, overwrite_c=1)
        return np.asarray(H)

    def reduced(self) -> tuple[Examples, Values | None]:
        """With fewer rows than many features: coordinates in the space of the rows, and its basis.

        Large features first and large rows first: the rounding of a feature is by its own size.
        """
        n, p = self.shape
        if not 0 < n < p or p <= FEW or n * p > DENSE_SIZE:
            return self, None
        X = self.X.toarray() if self.sparse else self.X
        by_size = np.argsort(-np.abs(X).max(axis=0), kind="stable")
        Q, R, rows = qr(X[:, by_size].T, mode="economic", pivoting=True)
        basis, coordinates = np.empty_like(Q), np.empty((n, n))
        basis[by_size], coordinates[rows] = Q, R.T
        return Examples(coordinates), basis


def work(n_rows: int, n_features: int, n_entries: int, n_classes: int = 1) -> float:
    """The time of an interior point method, in multiplications of coordinate descent.

    n_entries : of all rows together
    n_classes : that share one system
    """
    small, large = sorted((n_rows, n_features + 1))
    if n_classes * small > MOST:
        return float("inf")
    product = DENSE * large * small**2
    if n_rows > n_features and n_entries < SPARSE * n_rows * n_features:
        product = n_entries**2 / n_rows
    products = max(1, n_classes * (n_classes - 1) // 2) * product
    rest = DENSE * (n_classes * small) ** 3 + n_classes * (2 * n_entries + 8 * n_rows)
    return STEPS * (OVERHEAD + products + rest)
