"""The best closed label set of every row of a score matrix.

    maximise  sum_{v in S} s_v   subject to   v in S  =>  every parent of v in S

On a forest by dynamic programming (`closed_fast`), on a DAG by a minimum cut (`mincut_fast`);
both are exact, and both give the smallest of several best sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference import closed_fast, mincut_fast, rows
from linnaeus.taxonomy import Dag, Taxonomy


def closed_argmax(
    taxonomy: Taxonomy, scores: Any, nonempty: bool = False
) -> tuple[sp.csr_array, npt.NDArray[np.float64]]:
    """The label set with the largest sum of scores among those closed under "parent of".

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    scores : array-like of shape (n_rows, n_nodes)
        One column per node of the taxonomy.
    nonempty : bool, default=False
        Whether a set must hold at least one label; else a row whose scores do not pay gets none.

    Returns
    -------
    Y : csr_array of shape (n_rows, n_nodes)
        Indicator of int8.
    value : ndarray of shape (n_rows,)
        Sums of scores.

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> Y, value = closed_argmax(tax, [[-1.0, -0.5, -0.2, 2.0]])
    >>> tax.decode(Y), value.round(3).tolist()
    ([['animal', 'dog', 'poodle']], [0.8])
    """
    matrix = rows.as_matrix(scores)
    if matrix.shape[1] != len(taxonomy):
        raise UserError(
            f"The scores have {matrix.shape[1]} columns, but the taxonomy has {len(taxonomy)} "
            f"nodes. Give one score per node; linnaeus.inference.lift makes them from leaf scores."
        )
    value = np.zeros(matrix.shape[0])
    solve = _forest if taxonomy.is_tree else _dag
    return rows.stack(solve(taxonomy, matrix, nonempty, value), len(taxonomy)), value


def _forest(
    taxonomy: Taxonomy, scores: rows.FloatArray, nonempty: bool, value: rows.FloatArray
) -> Iterator[rows.BoolArray]:
    """Best sets block by block; their scores are written into `value`."""
    parent, gain = taxonomy.tree.parent, np.empty(len(taxonomy))
    for at, block in rows.finite_blocks(scores):
        s = np.ascontiguousarray(block, dtype=np.float64)
        on = np.empty(s.shape, dtype=bool)
        closed_fast.closed_argmax_rows(parent, s, nonempty, gain, on, value[at])
        yield on


def _dag(
    taxonomy: Taxonomy, scores: rows.FloatArray, nonempty: bool, value: rows.FloatArray
) -> Iterator[rows.BoolArray]:
    """The same for a graph in which nodes have several parents."""
    net = _network(taxonomy.dag)
    work, trial = _work(net), _work(net)
    found = np.empty(len(taxonomy), dtype=bool)
    for at, block in rows.finite_blocks(scores):
        s = np.ascontiguousarray(block, dtype=np.float64)
        on = np.empty(s.shape, dtype=bool)
        mincut_fast.closed_argmax_rows(net, _in_units(s), nonempty, work, trial, found, on)
        value[at] = np.einsum("ij,ij->i", s, on)
        yield on


def _network(dag: Dag) -> mincut_fast.Network:
    edge = np.argsort(dag.parents, kind="stable")  # edges by parent, then by child
    return mincut_fast.Network(
        dag.parent_ptr, dag.parents, dag.child_ptr, dag.children, edge.astype(np.int64)
    )


def _work(net: mincut_fast.Network) -> mincut_fast.CutWork:
    n, m = net.parent_ptr.size - 1, net.parents.size
    excess, room, distance, queue = (np.zeros(n, dtype=np.int64) for _ in range(4))
    return mincut_fast.CutWork(excess, room, np.zeros(m, dtype=np.int64), distance, queue)


def _in_units(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The scores of each row in units of the power of two u with n max|s| < 2^61 u."""
    _, exponent = np.frexp(np.abs(scores).max(axis=1, initial=0.0))
    bits = 61 - scores.shape[1].bit_length() - exponent
    units: npt.NDArray[np.int64] = np.rint(np.ldexp(scores, bits[:, None])).astype(np.int64)
    return units
