"""Scores and label sets that agree with the taxonomy.

lift: node scores from those of some nodes, mostly the leaves: the best at or below each node;
repair: label sets closed under "parent of", by switching labels off or on,

down: breadth-first from the roots, a label with a parent that is off after repair goes off
      ([Rousu2006]; on a DAG all parents must be on, so that the result is closed);
up:   every ancestor of a label goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference import consistency_fast, rows
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
    consistency_fast.lift_rows(taxonomy.dag.parent_ptr, taxonomy.dag.parents, out)
    if at.size:
        np.maximum(out, matrix.min(axis=1, keepdims=True), out=out)
    return out


def repair(taxonomy: Taxonomy, Y: Any, mode: str = "down") -> sp.csr_array:
    """The label sets `Y` made closed.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    Y : array-like, sparse matrix or list of lists
        Label sets in any form.
    mode : {'down', 'up'}, default='down'
        'down' switches off labels with a parent that is off; 'up' switches on the ancestors of
        every label.

    Returns
    -------
    csr_array of shape (n_rows, n_nodes)
        Indicator of int8 over the nodes.
    """
    if mode not in ("down", "up"):
        raise UserError(
            f"mode={mode!r} is not known. Use 'down' (switch orphans off) or 'up' "
            f"(switch their ancestors on)."
        )
    given = taxonomy.encode(Y)
    if mode == "up":
        return taxonomy.closure(given)
    given.sort_indices()
    ptr, labels = given.indptr.astype(np.int64), given.indices.astype(np.int32)
    keep = np.empty(labels.size, dtype=bool)
    mark = np.full(len(taxonomy), -1, dtype=np.int64)
    dag = taxonomy.dag
    consistency_fast.keep_closed(dag.parent_ptr, dag.parents, ptr, labels, mark, keep)
    kept = np.concatenate([[0], np.cumsum(keep)])[ptr]
    ones = np.ones(int(kept[-1]), dtype=np.int8)
    return sp.csr_array((ones, labels[keep], kept), shape=given.shape)
