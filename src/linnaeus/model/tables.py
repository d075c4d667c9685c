"""Tables of numbers as rows of length near 1, so that one C serves many tables.

    standard   x_j <- (x_j - mean_j) / (deviation_j sqrt(d)),  missing cells at the mean
    unit       x   <- x / ||x||,                               missing cells at 0, rows sparse
    none       as given,                                       missing cells at the mean

A column that never varies becomes 0 under "standard". With `idf` the columns are weighed by
log2(N / N_j) before rows get their length, N_j rows of N having something in column j. Of very wide
sparse tables those columns are left out, at the end, that no training row fills: nothing is
learned about them, and weights for all would take much memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from linnaeus.errors import UserError, shorten
from linnaeus.text.frames import as_configured

SCALES = ("auto", "standard", "unit", "none")
WIDE = 100_000  # columns from which on the empty ones are left out
FEW = 0.3  # share of cells that are not 0, up to which a table of counts is taken for sparse


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Feature tables, dense (NaN where missing) or sparse, to rows for linear models.

    Parameters
    ----------
    scale : {'auto', 'standard', 'unit', 'none'}, default='auto'
        'standard' for measurements, 'unit' for counts and sparse data; 'auto' takes 'unit' for
        sparse tables and for those with few and no negative values, else 'standard'.
    idf : bool, default=False
        Whether to weigh columns by how rare they are ('unit' only).
    feature_names : sequence of str or None, default=None
        Names of the columns, for those who read explanations.

    Attributes
    ----------
    scale_ : str
        What was chosen.
    sparse_ : bool
        Whether the table was sparse.
    mean_, deviation_ : ndarray of shape (n_features,)
        Of the values that are there.
    idf_ : ndarray of shape (n_features,)
        The weights of the columns.
    kept_ : ndarray of int of shape (n_kept,) or None
        The columns that `transform` gives, where it leaves out some; else None.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> X = np.array([[1.0, 10.0], [3.0, np.nan], [5.0, 30.0]])
    >>> TableFeatures().fit_transform(X).round(2).tolist()
    [[-0.87, -0.71], [0.0, 0.0], [0.87, 0.71]]
    """

    def __init__(
        self,
        scale: str = "auto",
        *,
        idf: bool = False,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.scale = scale
        self.idf = idf
        self.feature_names = feature_names

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what columns look like.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        y : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        Self
            The fitted estimator.
        """
        X = self._valid(X, reset=True)
        if self.scale not in SCALES:
            raise UserError(f"scale is {shorten(self.scale)}. Use one of: {', '.join(SCALES)}.")
        self.sparse_ = sp.issparse(X)
        self.scale_ = self._suited(X) if self.scale == "auto" else self.scale
        if sp.issparse(X) and self.scale_ == "standard":
            said = "scale='standard' would fill a sparse table. Use 'unit' or 'none', or give "
            raise UserError(f"{said}a dense array.", f"{said}a table such as csv.")
        self.mean_, self.deviation_ = _moments(X)
        present = _present(X)
        weights = np.log2(max(1, X.shape[0]) / np.maximum(present, 1))
        self.idf_ = np.where(present > 0, weights, 0.0) if self.idf else np.ones(X.shape[1])
        filled = np.flatnonzero(present)
        narrow = self.sparse_ and X.shape[1] >= WIDE and 0 < filled.size < X.shape[1]
        self.kept_ = filled if narrow else None
        return self

    def transform(self, X: Any) -> Any:
        """The rows for a linear model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_kept) or csr_array
            CSR for 'unit'.
        """
        check_is_fitted(self)
        X = self._valid(_as_wide(X, self.n_features_in_), reset=False)
        if self.scale_ == "unit":
            X = self._unit(X)
        if sp.issparse(X):
            return as_configured(self, X if self.kept_ is None else sp.csr_array(X[:, self.kept_]))
        filled = np.where(np.isnan(X), self.mean_, X)
        if self.scale_ == "none":
            return filled
        spread = self.deviation_ * np.sqrt(X.shape[1])
        return np.divide(filled - self.mean_, spread, out=np.zeros_like(filled), where=spread > 0)

    def _unit(self, X: Any) -> sp.csr_array:
        rows = X.copy() if sp.issparse(X) else sp.csr_array(np.nan_to_num(X, nan=0.0))
        rows.data = rows.data * self.idf_[rows.indices].astype(rows.dtype)
        rows.eliminate_zeros()
        return sp.csr_array(normalize(rows, copy=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns, or their numbers from 1.

        Parameters
        ----------
        input_features : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        ndarray of str of shape (n_kept,)
        """
        check_is_fitted(self)
        names = self.feature_names or getattr(self, "feature_names_in_", None)
        if names is None or len(names) != self.n_features_in_:
            names = [str(j) for j in range(1, self.n_features_in_ + 1)]
        given = np.array(list(names), dtype=object)
        return given if self.kept_ is None else given[self.kept_]

    def _valid(self, X: Any, reset: bool) -> Any:
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset,
            ensure_all_finite="allow-nan",
        )  # fmt: skip
        return sp.csr_array(X) if sp.issparse(X) else X

    def _suited(self, X: Any) -> str:
        if sp.issparse(X):
            return "unit"
        present = ~np.isnan(X)
        few = np.count_nonzero(X[present]) <= FEW * max(1, present.sum())
        return "unit" if few and (X[present] >= 0).all() else "standard"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _as_wide(X: Any, width: int) -> Any:
    """A sparse table with so many columns: those that training never saw weigh nothing."""
    if not sp.issparse(X) or X.shape[1] == width:
        return X
    X = sp.csr_array(X)
    if X.shape[1] > width:
        return X[:, :width]
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _moments(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of every column of a dense table; 0 and 1 for sparse ones."""
    if sp.issparse(X):
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    there = ~np.isnan(X)
    n = np.maximum(there.sum(axis=0), 1)
    values = np.where(there, X, 0.0).astype(np.float64)
    mean = values.sum(axis=0) / n
    variance = (np.where(there, values - mean, 0.0) ** 2).sum(axis=0) / n
    deviation = np.sqrt(variance)
    constant = deviation <= 1e-12 * np.maximum(1.0, np.abs(mean))
    return mean, np.where(constant, 0.0, deviation)


def _present(X: Any) -> np.ndarray:
    """How many rows have something in each column."""
    if sp.issparse(X):
        return np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    return np.asarray(np.count_nonzero(np.nan_to_num(X, nan=0.0), axis=0))
