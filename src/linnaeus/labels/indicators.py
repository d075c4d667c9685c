"""Label sets as CSR 0/1 indicators over named columns, int8, sorted, no stored zeros."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.labels.names import places


def zero_one(Y: Any) -> sp.csr_array:
    """A matrix as such an indicator. It holds 0 and 1, or is dense and holds -1 and +1."""
    Y = Y > 0 if has_signs(Y) else Y
    out = sp.csr_array(Y, copy=sp.issparse(Y))  # tidied in place below: never the caller's arrays
    out.sum_duplicates()
    odd = (out.data != 0) & (out.data != 1)
    if odd.any():
        bad = out.data[odd][0]
        raise UserError(
            f"The label indicator holds the value {bad!s}; only 0 and 1 mean something here. "
            f"Use (Y > 0) to turn scores into an indicator."
        )
    out.eliminate_zeros()
    return out.astype(np.int8)


def has_signs(Y: Any) -> bool:
    """Whether an indicator says -1 and +1 for off and on."""
    return isinstance(Y, np.ndarray) and bool((Y == -1).any() and (np.abs(Y) == 1).all())


def moved(Y: sp.csr_array, old: tuple[Any, ...], new: tuple[Any, ...]) -> sp.csr_array:
    """The columns named `new`, in that order; names that `old` lacks become empty columns."""
    if old == new:
        return Y
    position = places(new)
    target = np.array([position.get(name, -1) for name in old], dtype=np.int64)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    columns = target[Y.indices]
    kept = columns >= 0
    ones = np.ones(int(kept.sum()), dtype=np.int8)
    return sp.csr_array((ones, (rows[kept], columns[kept])), shape=(Y.shape[0], len(new)))


def to_lists(Y: sp.csr_array, columns: Sequence[Any]) -> list[list[Any]]:
    """The names of the labels of each row, in the order of the columns."""
    Y.sort_indices()
    names = [columns[j] for j in Y.indices.tolist()]
    return [names[a:b] for a, b in pairwise(Y.indptr.tolist())]
