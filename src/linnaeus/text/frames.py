"""Sparse rows as a data frame of sparse columns, where `set_output(transform="pandas")` says so.

scikit-learn's own wrapping refuses sparse output. A data frame it leaves alone but for its names.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.utils._set_output import _get_output_config


def as_configured(transformer: Any, X: sp.csr_array) -> Any:
    """The rows as they are, or as the data frame that was asked for."""
    if _get_output_config("transform", transformer)["dense"] != "pandas":
        return X
    import pandas as pd

    names = transformer.get_feature_names_out()
    return pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X), columns=names)
