"""What the linear solvers share: rows of examples, costs, and what a solution is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int32]


class Rows(NamedTuple):
    """Examples as CSR arrays, the one form that loops accept."""

    indptr: npt.NDArray[np.int64]  # (n_rows + 1,)
    indices: npt.NDArray[np.uint32]  # (n_nonzeros,) unsigned: no code for negative indices
    data: FloatArray  # (n_nonzeros,)

    @classmethod
    def of(cls, X: sp.csr_array, dtype: Any) -> Rows:
        """The arrays of a CSR matrix in the types of the loops; shared where they fit."""
        return cls(
            X.indptr.astype(np.int64, copy=False),
            np.ascontiguousarray(X.indices).astype(np.int32, copy=False).view(np.uint32),
            X.data.astype(dtype, copy=False),
        )


class Solution(NamedTuple):
    """Weights of every class, with the certificate of every class.

    The intercept is what is added to the scores: the weight of the constant feature times its
    size. `objective` is the primal value; `dual` never lies above it.
    """

    coef: Any  # (n_classes, n_features), an array or csr_array
    intercept: FloatArray  # (n_classes,)
    objective: npt.NDArray[np.float64]  # (n_classes,), or (1,) for a joint problem
    dual: npt.NDArray[np.float64]  # likewise
    n_iter: int  # passes over the data, the largest of all classes
    trace: list[dict[str, float]]  # seconds, objective, gap

    @property
    def gap(self) -> float:
        """The relative duality gap of all classes together: (P - D) / max(1, |P|)."""
        total = float(self.objective.sum())
        return (total - float(self.dual.sum())) / max(1.0, abs(total))
