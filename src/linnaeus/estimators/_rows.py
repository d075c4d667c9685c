"""The rows of X as estimators take them; what is wrong with them in a sentence of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from linnaeus.errors import UserError, shorten

FLOATS = (np.float64, np.float32)
SMALL = 100_000  # numbers
_PLAIN = (np.ndarray, sp.csr_array, sp.csr_matrix)


def read_rows(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """The rows of X as scikit-learn reads them; what is wrong with them in a sentence of ours."""
    if not reset and options == {"accept_sparse": "csr"} and is_plain(estimator, X):
        return X
    try:
        return validate_data(estimator, X, reset=reset, **{"dtype": list(FLOATS)} | options)
    except ValueError as error:
        raise UserError(_wrong_entry(X) or _wrong_shape(X) or _with_remedy(str(error))) from None


def is_plain(estimator: Any, X: Any) -> bool:
    """Whether X is a small array or CSR matrix with which all is in order, seen at a glance."""
    if type(X) not in _PLAIN or X.ndim != 2 or X.dtype.char not in "fd":
        return False
    values = X if type(X) is np.ndarray else X.data
    if not 0 < values.size <= SMALL or X.shape[1] != getattr(estimator, "n_features_in_", -1):
        return False
    return not hasattr(estimator, "feature_names_in_") and bool(np.isfinite(values).all())


def _wrong_entry(X: Any) -> str:
    """What is wrong with the first entry that is not a finite number; empty if all are."""
    if sp.issparse(X):
        X = sp.coo_array(X)
        bad = ~np.isfinite(X.data) if X.dtype.kind == "f" else np.zeros(X.nnz, dtype=bool)
        k = int(bad.argmax()) if bad.any() else -1
        return _not_finite(X.data[k], (X.row[k], X.col[k])) if k >= 0 else ""
    array = _as_array(X)
    if array.dtype.kind in "biufc":
        bad = np.argwhere(~np.isfinite(np.atleast_1d(array)))[:1]
        return _not_finite(array[tuple(bad[0])], tuple(bad[0])) if array.ndim and bad.size else ""
    for place, value in np.ndenumerate(array) if array.ndim else ():
        if isinstance(value, str) and not _is_number(value):
            return (
                f"X holds the text {shorten(str(value))} {_where(place)}. Turn texts into numbers "
                f"first, for example with TfidfVectorizer in a pipeline."
            )
        if _is_missing(value) or (isinstance(value, float) and not np.isfinite(value)):
            return _not_finite(value, place)
    return ""


def _as_array(X: Any) -> np.ndarray:
    """X as an array of numbers or texts if it is one, else of objects."""
    try:
        return np.asarray(X)
    except ValueError:  # rows of several lengths
        return np.asarray(X, dtype=object)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType"


def _not_finite(value: Any, place: tuple[int, ...]) -> str:
    shown = str(value) if _is_missing(value) else "NaN" if np.isnan(value) else f"{value:+}"
    return (
        f"X holds {shown} {_where(place)}. Give finite numbers; fill what is missing, for example "
        f"with sklearn.impute.SimpleImputer."
    )


def _where(place: tuple[int, ...]) -> str:
    row, *column = map(int, place)
    return f"in row {row}" + "".join(f", column {j}" for j in column)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wrong_shape(X: Any) -> str:
    """What is wrong with the shape of rows; empty where scikit-learn says it well."""
    if sp.issparse(X):
        return ""
    array = _as_array(X)
    if array.ndim == 0:
        return f"X is {shorten(X)}. Give an array or a sparse matrix with a row for each example."
    if array.ndim > 1:
        return ""
    lengths = [len(row) for row in array if hasattr(row, "__len__")]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            return (
                f"Row {i} of X has {length} values, but row 0 has {lengths[0]}. Give every row the "
                f"same columns."
            )
    return (
        f"X has one dimension, with {array.size} values, where rows and columns are needed. "
        f"Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
    )


def _with_remedy(reason: str) -> str:
    """Scikit-learn's own words, and what to do where they do not say it."""
    missing = {"0 sample(s)": "Give at least one row.", "0 feature(s)": "Give at least one column."}
    return " ".join([reason, *(remedy for part, remedy in missing.items() if part in reason)])
