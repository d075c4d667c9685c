"""Input of estimators with kernels: linear (rows of numbers), a kernel matrix, or a kernel object.

    kernel="linear"        X is (n, n_features), dense or sparse
    kernel="precomputed"   X is the kernel matrix: (n, n) to fit, (n_new, n) to predict
    a kernel object        has ``gram(A, B=None)`` (`linnaeus.kernels`); X is what it takes

An intercept is the weight of one more feature of size s: K(x, x') + s^2.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import UserError
from linnaeus.estimators._base import Classifier
from linnaeus.estimators._linear import LARGE, LinearClassifier, check_range, tidy
from linnaeus.estimators._rows import read_rows
from linnaeus.kernels import Kernel
from linnaeus.kernels.gram import check_inner_products
from linnaeus.parameters import Limits, choice, thing
from linnaeus.solvers.numerics.products import linear_scores


class Kernelized(Classifier):
    """Base of all estimators with the parameters `kernel` and `fit_intercept`."""

    kernel: Any
    needs_inner_products = True  # another matrix would make the certificate void
    limits = Limits(
        kernel=choice("linear", "precomputed")
        | thing("a kernel of linnaeus.kernels", lambda v: hasattr(v, "gram"))
    )

    def _kernel_is(self, name: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == name

    def _is_linear(self) -> bool:
        return self._kernel_is("linear")

    def _gram(self, X: Any, fitting: bool = False) -> np.ndarray:
        """Kernel values of X with the examples learned from, (n, n_fitted), without a constant."""
        if self._kernel_is("precomputed"):
            K = read_rows(self, X, reset=fitting)
        else:
            if fitting:
                self.X_fit_ = X
            K = self._kernel_values(X, None if fitting else self.X_fit_)
        if fitting and K.shape[0] != K.shape[1]:
            raise UserError(
                f"The kernel matrix has the shape {K.shape}. Give a square one, of the training "
                f"examples with each other."
            )
        if fitting and self.needs_inner_products:
            check_inner_products(K)
        return np.asarray(K)

    def _kernel_values(self, A: Any, B: Any = None) -> np.ndarray:
        """The kernel matrix of inputs, by as many threads and in the type that was asked for."""
        if not isinstance(self.kernel, Kernel):  # of which no more is known than that it has `gram`
            return np.asarray(self.kernel.gram(A, B))
        a, b = (C.shape[0] if hasattr(C, "shape") else len(C) for C in (A, A if B is None else B))
        return self.kernel.gram(
            A, B, dtype=self._kernel_type(a * b, B is None), n_jobs=getattr(self, "n_jobs", None)
        )

    def _kernel_type(self, size: int, fitting: bool) -> Any:
        """The type of a kernel matrix of so many entries."""
        return np.float64

    def _with_constant(self, X: sp.csr_array) -> sp.csr_array:
        if not self.fit_intercept:
            return X
        constant = np.full((X.shape[0], 1), self._bias())
        return sp.csr_array(sp.hstack([X, constant], format="csr"))

    def _split(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights, one row per output, as those of the features and what is added to scores."""
        if not self.fit_intercept:
            return W, np.zeros(W.shape[0])
        return W[:, :-1], self._bias() * W[:, -1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._kernel_is("precomputed")
        tags.input_tags.sparse &= not tags.input_tags.pairwise
        return tags


def has_weights(model: Kernelized) -> bool:
    """Whether there are weights of features."""
    return model._kernel_is("linear")


class LinearOrKernel(Kernelized, LinearClassifier):
    """Base of linear estimators that take other kernels as well."""

    def _kernel_type(self, size: int, fitting: bool) -> Any:
        return self._float_type(size >= LARGE) if fitting else self.dual_coef_.dtype

    def _gram_to_fit(self, X: Any) -> np.ndarray:
        """The kernel matrix to learn from, the constant included, in the type to compute in."""
        K = self._gram(X, fitting=True)
        K = K.astype(self._float_type(K.size >= LARGE or K.dtype == np.float32), copy=False)
        return K + K.dtype.type(self._bias() ** 2) if self.fit_intercept else K

    @available_if(has_weights)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Self:
        """Store `coef_` as a sparse matrix; predictions stay the same.

        Returns
        -------
        Self
            The same object.
        """
        return super().sparsify()

    def _checked(self, X: Any) -> Any:
        if self._is_linear():
            return super()._checked(X)
        check_is_fitted(self, "dual_coef_")
        return self._gram(X)


class KernelClassifier(Kernelized):
    """Base of estimators that learn in double precision from features or from a kernel matrix."""

    classes = "nodes"
    C: float

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[sp.csr_array | None, np.ndarray | None, sp.csr_array, Any]:
        """Rows of features or else the kernel matrix; labels; weights: all seen to be in order."""
        features, K = None, None
        if self._is_linear():
            X = read_rows(self, X, reset=True, accept_sparse="csr", dtype=np.float64)
            features = self._with_constant(self._features(X))
        else:
            K = self._gram(X, fitting=True) + self._bias() ** 2
        n = (K if features is None else features).shape[0]  # type: ignore[union-attr]
        return features, K, self._learn_targets(y, n), self._weights(sample_weight, n)

    def _new_inputs(self, X: Any) -> Any:
        """Rows of features (no constant), or the kernel between new and training examples."""
        check_is_fitted(self)
        if self._is_linear():
            X = read_rows(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            return self._features(X)
        return self._gram(X) + self._bias() ** 2

    def _features(self, X: Any) -> sp.csr_array:
        X = tidy(X)
        check_range(X, np.float64)
        return X

    def _outputs(self, new: Any) -> np.ndarray:
        """A number for each row of weights, (n_new, n_outputs), from `_new_inputs`."""
        if self._is_linear():
            return linear_scores(new, self.coef_, self.intercept_, getattr(self, "n_jobs", None))
        return np.asarray(new @ self.dual_coef_, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._kernel_is("linear")
        return tags
