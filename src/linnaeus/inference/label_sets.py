"""The best label set, and the one that a margin with a loss between label sets fears most.

A set U of classes (leaves) has the score F(U) = sum_{y in U} F(y). Loss-augmented search finds

    argmax_U  F(U) + c_miss s(anc Y \\ anc U) + c_false s(anc U \\ anc Y),

the subscription loss of [Cai2008] (3.11) with volumes s_v and the truth Y. Up to the constant
c_miss s(anc Y) every node above U pays its own price,

    g_v = c_false s_v  outside anc Y,      g_v = -c_miss s_v  inside,

so that on trees the search is exact and linear (`label_sets_fast`). On a DAG it is not so simple.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference import label_sets_fast, rows
from linnaeus.losses.sets import check_costs, node_volumes
from linnaeus.taxonomy import Taxonomy


def label_set_argmax(
    taxonomy: Taxonomy,
    scores: Any,
    Y: Any = None,
    *,
    volumes: Any = None,
    c_miss: float = 1.0,
    c_false: float = 1.0,
    nonempty: bool = True,
) -> tuple[sp.csr_array, npt.NDArray[np.float64]]:
    """The label set with the largest score, plus its loss where the truth is given.

    Parameters
    ----------
    taxonomy : Taxonomy
        A tree or a forest.
    scores : array-like of shape (n_rows, n_leaves)
        One column per leaf.
    Y : array-like, sparse matrix, list of lists or None, default=None
        The true label sets, in any form; None searches for the largest score alone.
    volumes : dict, array-like of shape (n_nodes,) or None, default=None
        Volume of each node, {name: s} (0 for a node not named); None for 1 each.
    c_miss : float, default=1.0
        What missing a unit of volume costs.
    c_false : float, default=1.0
        What wrongly assigning a unit of volume costs.
    nonempty : bool, default=True
        Whether a set must hold at least one label.

    Returns
    -------
    U : csr_array of shape (n_rows, n_nodes)
        Indicator of int8 with leaves only.
    value : ndarray of shape (n_rows,)
        Score plus loss.

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> U, value = label_set_argmax(tax, [[0.5, -0.5, -3.0]])
    >>> tax.decode(U), value.tolist()
    ([['cat']], [0.5])
    >>> U, value = label_set_argmax(tax, [[0.5, -0.5, -3.0]], [["cat"]])
    >>> tax.decode(U), value.tolist()
    ([['dog']], [1.5])
    """
    tree, leaves = taxonomy.tree, taxonomy.leaf_numbers
    S = rows.as_matrix(scores)
    if S.shape[1] != leaves.size:
        raise UserError(
            f"The scores have {S.shape[1]} columns, but the taxonomy has {leaves.size} leaves. "
            f"Give one score per leaf, in node order."
        )
    truth, constant = np.zeros(S.shape[0] + 1, dtype=np.int64), np.zeros(S.shape[0])
    outside = inside = np.zeros(len(taxonomy))
    above = np.zeros(0, dtype=np.int32)
    if Y is not None:
        s = node_volumes(taxonomy, volumes)
        check_costs(c_miss, c_false)
        closed = _closed(taxonomy, Y, S.shape[0])
        truth, above = closed.indptr.astype(np.int64), closed.indices.astype(np.int32)
        outside, inside = c_false * s, -c_miss * s
        constant = c_miss * np.asarray(closed @ s, dtype=np.float64)
    value = np.zeros(S.shape[0])

    def blocks() -> Iterator[rows.BoolArray]:
        n = len(taxonomy)
        work = np.empty(n), np.empty(n), np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
        for at, block in rows.finite_blocks(S):
            on = np.empty((len(block), n), dtype=bool)
            label_sets_fast.best_leaf_sets(
                tree.parent, tree.n_children, leaves, np.ascontiguousarray(block, np.float64),
                outside, inside, truth[at.start : at.stop + 1], above, nonempty, *work, on,
                value[at],
            )  # fmt: skip
            yield on

    found = rows.stack(blocks(), len(taxonomy))
    return found, value + constant


def _closed(taxonomy: Taxonomy, Y: Any, n: int) -> sp.csr_array:
    """The true label sets with all ancestors."""
    closed = taxonomy.closure(taxonomy.encode(Y))
    if closed.shape[0] != n:
        raise UserError(
            f"Y has {closed.shape[0]} rows, but the scores have {n}. Give a label set for each."
        )
    return closed
