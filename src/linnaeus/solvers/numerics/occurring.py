"""How many features some examples have together, before anybody counts them: for plans of memory.

If each of q examples were drawn by itself, feature j, which is in a share p_j of all, would be in
one of them with probability 1 - (1 - p_j)^q. Examples of one class have more in common than that,
so this is rather too many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

POINTS = 48  # numbers of examples for which the sum is made; between them lie straight lines


def n_occurring(X: sp.csr_array, n_examples: Any) -> npt.NDArray[np.float64]:
    """Expected features of so many examples of X, for an array of numbers."""
    n = X.shape[0]
    wanted = np.minimum(np.asarray(n_examples, dtype=float), n)
    often, alike = np.unique(np.bincount(X.indices, minlength=X.shape[1]), return_counts=True)
    with np.errstate(divide="ignore"):
        missed = np.log1p(-often / n)  # of one example
    points = np.unique(np.concatenate([[0.0, 1.0], np.geomspace(1.0, max(n, 1.0), POINTS)]))
    some = often > 0
    here = [float(alike[some] @ -np.expm1(q * missed[some])) if q else 0.0 for q in points.tolist()]
    return np.asarray(np.interp(wanted, points, here))
