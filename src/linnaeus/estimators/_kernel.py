"""Input of estimators with kernels: linear (rows of numbers), a kernel matrix, or a kernel object.

    kernel="linear"        X is (n, n_features), dense or sparse
    kernel="precomputed"   X is the kernel matrix: (n, n) to fit, (n_new, n) to predict
    a kernel object        has ``gram(A, B=None)`` (`linnaeus.kernels`); X is what it takes

An intercept is the weight of one more feature of size s: K(x, x') + s^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from linnaeus.errors import UserError, shorten
from linnaeus.estimators._linear import check_range, tidy

BLOCK_BYTES = 64 << 20


class KernelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of estimators with the parameters `kernel`, `fit_intercept` and `intercept_scaling`."""

    kernel: Any
    fit_intercept: bool
    intercept_scaling: float

    def _learn_inputs(self, X: Any) -> tuple[sp.csr_array | None, np.ndarray | None]:
        """Rows of features for the linear kernel, or else the kernel matrix."""
        if self._is_linear():
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
            return self._with_constant(self._features(X)), None
        if self._is_precomputed():
            K = validate_data(self, X, dtype=[np.float64, np.float32])
            if K.shape[0] != K.shape[1]:
                raise UserError(
                    f"X has shape {K.shape}, but kernel='precomputed' needs the square matrix of "
                    f"the kernel between all examples."
                )
            return None, K + self._constant()
        self.X_fit_ = X
        return None, np.asarray(self.kernel.gram(X)) + self._constant()

    def _new_inputs(self, X: Any) -> Any:
        """Rows of features (no constant), or the kernel between new and training examples."""
        check_is_fitted(self)
        if self._is_linear():
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
            return self._features(X)
        if self._is_precomputed():
            K = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
            return K + self._constant()
        return np.asarray(self.kernel.gram(X, self.X_fit_)) + self._constant()

    def _features(self, X: Any) -> sp.csr_array:
        X = tidy(X)
        check_range(X, np.float64)
        return X

    def _with_constant(self, X: sp.csr_array) -> sp.csr_array:
        if not self.fit_intercept:
            return X
        constant = np.full((X.shape[0], 1), float(self.intercept_scaling))
        return sp.csr_array(sp.hstack([X, constant], format="csr"))

    def _constant(self) -> float:
        return float(self.intercept_scaling) ** 2 if self.fit_intercept else 0.0

    def _weights(self, sample_weight: Any, n: int) -> Any:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, np.empty((n, 1)), ensure_non_negative=True)
        if not (weight > 0).any():
            raise UserError("All sample weights are 0. Give some example a positive weight.")
        return weight

    def _check_cost(self, C: float) -> None:
        if not (C > 0 and math.isfinite(C)):
            raise UserError(f"C is {C}. Use a positive number.")

    def _is_linear(self) -> bool:
        named = isinstance(self.kernel, str)
        if (named and self.kernel not in ("linear", "precomputed")) or (
            not named and not hasattr(self.kernel, "gram")
        ):
            raise UserError(
                f"kernel={shorten(self.kernel)} is not known. Use 'linear', 'precomputed' or a "
                f"kernel of linnaeus.kernels."
            )
        return named and self.kernel == "linear"

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _split(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights, one row per output, as those of the features and what is added to scores."""
        if not self.fit_intercept:
            return W, np.zeros(W.shape[0])
        return np.ascontiguousarray(W[:, :-1]), W[:, -1] * float(self.intercept_scaling)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.kernel, str) and self.kernel == "linear"
        tags.input_tags.pairwise = self._is_precomputed()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        return tags


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """Slices over rows, so that so many numbers a row stay within bounded memory."""
    step = max(1, BLOCK_BYTES // (8 * max(1, width)))
    return (slice(a, min(a + step, n)) for a in range(0, n, step))
