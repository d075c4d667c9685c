"""Node scores from the scores of some nodes, mostly the leaves: the best at or below each node."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.inference import lift_fast, rows
from linnaeus.taxonomy import Taxonomy


def lift(taxonomy: Taxonomy, scores: Any, numbers: Any = None) -> npt.NDArray[np.float64]:
    """Scores where a node has the largest score at or below it.

    A node with no score at or below it gets the lowest score of the row.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    scores : array-like of shape (n_rows, n_columns)
        The scores.
    numbers : array-like of int of shape (n_columns,) or None, default=None
        The nodes that the columns belong to; None for the leaves.

    Returns
    -------
    ndarray of shape (n_rows, n_nodes)

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> lift(tax, [[0.5, 2.0]]).tolist()
    [[2.0, 0.5, 2.0]]
    """
    matrix = rows.as_matrix(scores)
    at = taxonomy.leaf_numbers if numbers is None else np.asarray(numbers)
    if matrix.shape[1] != at.size:
        raise UserError(
            f"The scores have {matrix.shape[1]} columns, but {at.size} nodes are to be scored. "
            f"Give one column per {'leaf' if numbers is None else 'number'}."
        )
    out = np.full((matrix.shape[0], len(taxonomy)), -np.inf)
    out[:, at] = matrix
    lift_fast.lift_rows(taxonomy.dag.parent_ptr, taxonomy.dag.parents, out)
    if at.size:
        np.maximum(out, matrix.min(axis=1, keepdims=True), out=out)
    return out
