"""Features of single edges beside those of the whole example: a list with a block for every edge.

A block is a matrix with a row per example, or None for an edge without features of its own;
`solvers.hm3_local` has the mathematics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from linnaeus.errors import UserError
from linnaeus.estimators._linear import check_range, tidy

Blocks = list[Any] | None


def learn(local: Sequence[Any] | None, dtype: Any) -> Blocks:
    """The blocks as sparse matrices of finite numbers that can be squared."""
    if local is None:
        return None
    blocks = [None if block is None else _checked(block) for block in local]
    for block in blocks:
        if block is not None:
            check_range(block, dtype)
    return blocks


def new(local: Sequence[Any] | None, weights: Blocks, n_rows: int) -> Blocks:
    """The blocks of new examples, once they are seen to fit the weights learned."""
    if weights is None:
        if local is not None:
            raise UserError("local is given, but none was given to fit. Leave it out.")
        return None
    if local is None and all(v is None for v in weights):
        return None
    if local is None or len(local) != len(weights):
        given = "no" if local is None else str(len(local))
        raise UserError(
            f"There are {given} blocks of local features, but {len(weights)} were given to fit. "
            f"Give local the same blocks for the new examples."
        )
    blocks = [
        None if v is None or block is None else _checked(block)
        for block, v in zip(local, weights, strict=True)
    ]
    for e, (block, v) in enumerate(zip(blocks, weights, strict=True)):
        shape = None if block is None else block.shape
        expected = None if v is None else (n_rows, len(v))
        if shape != expected:
            raise UserError(
                f"The local features of edge {e} have shape {shape}. Give {expected}: the rows of "
                f"X, and the columns given to fit."
            )
    return blocks


def rows_of(blocks: Blocks, rows: slice) -> Blocks:
    """Some rows of every block."""
    return None if blocks is None else [None if b is None else b[rows] for b in blocks]


def _checked(block: Any) -> Any:
    return tidy(check_array(block, accept_sparse="csr", dtype=np.float64, input_name="local"))
