"""Losses between two label sets, row by row, over sparse indicators.

With microlabels y (truth) and u (candidate), one per node [Rousu2006] section 2.1:

    zero_one   [y != u]
    delta      sum_j [y_j != u_j]
    H          sum_j c_j [y_j != u_j and every ancestor of j agrees]
    H~         sum_j c_j [y_j != u_j and every parent of j agrees]

H and H~ are equal when both sets are closed upwards. With anc(Y) all labels and everything above
them, and subscription volumes s_v, [Cai2008] (3.11) weighs what is missed and what is added:

    c_miss s(anc Y \\ anc Yhat) + c_false s(anc Yhat \\ anc Y),      s(S) = sum_{v in S} s_v.

What each node is worth: the coefficients c_j of the hierarchical losses.

    unif      c_j = 1
    sibl      c_root = 1 / (number of roots),  c_j = sum over parents p of  c_p / (children of p)
    subtree   c_j = (nodes at or below j) / (all nodes)

[Rousu2006] section 2.1, where there is one root and one parent; the division among several
roots and the sum over several parents are ours, and keep the total of a level at most 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.taxonomy import Taxonomy


def difference(Y: sp.csr_array, U: sp.csr_array) -> sp.csr_array:
    """Y - U for two indicators: +1 where U misses a label, -1 where it adds one, sorted.

    Parameters
    ----------
    Y : csr_array of shape (n_rows, n_columns)
        The truth.
    U : csr_array of shape (n_rows, n_columns)
        The prediction.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
    """
    if Y.shape != U.shape:
        raise UserError(
            f"Two label indicators must have one shape, but {Y.shape} and {U.shape} are given. "
            f"Give one row for every example and one column for every class in both."
        )
    out = sp.csr_array(Y.astype(np.int8) - U.astype(np.int8))
    out.eliminate_zeros()
    out.sort_indices()
    return out


def label_set_loss(
    Y: Any, U: Any, taxonomy: Taxonomy, loss: str = "delta", ancestors: str = "parent"
) -> FloatArray:
    """The loss of each row of U when the same row of Y is the truth.

    Parameters
    ----------
    Y : array-like, sparse matrix or list of lists
        True label sets, in any form.
    U : array-like, sparse matrix or list of lists
        Predicted label sets, in any form.
    taxonomy : Taxonomy
        The taxonomy.
    loss : {'delta', 'zero_one', 'unif', 'sibl', 'subtree'}, default='delta'
        The last three are scalings of a hierarchical loss.
    ancestors : {'parent', 'all'}, default='parent'
        'parent' gives H~ and 'all' gives H; matters for the hierarchical losses only.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> label_set_loss([["animal", "dog", "poodle"]], [["animal", "cat"]], tax, "delta")
    array([3.])
    >>> label_set_loss([["animal", "dog", "poodle"]], [["animal", "cat"]], tax, "unif")
    array([2.])
    """
    wrong = difference(taxonomy.encode(Y), taxonomy.encode(U))
    if loss == "zero_one":
        return np.minimum(n_entries(wrong), 1.0)
    if loss == "delta":
        return n_entries(wrong)
    if loss in SCALINGS:
        return row_sums(first_errors(wrong, taxonomy, ancestors), node_coefficients(taxonomy, loss))
    known = ", ".join(("zero_one", "delta", *SCALINGS))
    raise UserError(f"The loss {loss!r} is not known. Use one of: {known}.")


def first_errors(
    wrong: sp.csr_array, taxonomy: Taxonomy, ancestors: str = "parent"
) -> sp.csr_array:
    """Of the wrong microlabels (`difference`), those with no wrong parent (or ancestor).

    Parameters
    ----------
    wrong : csr_array of shape (n_rows, n_nodes)
        What `difference` gave.
    taxonomy : Taxonomy
        The taxonomy.
    ancestors : {'parent', 'all'}, default='parent'
        'parent' gives H~ and 'all' gives H; matters for the hierarchical losses only.

    Returns
    -------
    csr_array of shape (n_rows, n_nodes)
    """
    if ancestors == "parent":
        ptr, nodes = taxonomy.dag.parent_ptr, taxonomy.dag.parents
    elif ancestors == "all":
        ptr, nodes = taxonomy.ancestor_lists
    else:
        raise UserError(f"ancestors={ancestors!r} is not known. Use 'parent' or 'all'.")
    above = sp.csr_array((np.ones(nodes.size, np.int8), nodes, ptr), shape=(len(taxonomy),) * 2)
    row, v = np.repeat(np.arange(wrong.shape[0]), np.diff(wrong.indptr)), wrong.indices
    lists = above[v]  # the nodes that have to agree, for each wrong microlabel
    entry = np.repeat(np.arange(v.size), np.diff(lists.indptr))
    known = row * np.int64(len(taxonomy)) + v  # ascending, as the rows and columns are
    asked = row[entry] * np.int64(len(taxonomy)) + lists.indices
    at = np.minimum(np.searchsorted(known, asked), max(known.size - 1, 0))
    n_wrong_above = np.bincount(entry[known[at] == asked], minlength=v.size)
    first = n_wrong_above == (ancestors == "all")  # a node is its own ancestor
    kept = np.bincount(row[first], minlength=wrong.shape[0])
    indptr = np.concatenate([[0], np.cumsum(kept)])
    return sp.csr_array((wrong.data[first], v[first], indptr), shape=wrong.shape)


def set_loss(
    Y: Any,
    Yhat: Any,
    taxonomy: Taxonomy,
    volumes: Any = None,
    c_miss: float = 1.0,
    c_false: float = 1.0,
) -> FloatArray:
    """The subscription loss between label sets, [Cai2008] (3.11).

    Parameters
    ----------
    Y : array-like, sparse matrix or list of lists
        True label sets, in any form.
    Yhat : array-like, sparse matrix or list of lists
        Predicted label sets, in any form.
    taxonomy : Taxonomy
        The taxonomy.
    volumes : dict, array-like of shape (n_nodes,) or None, default=None
        Volume of each node, {name: s} (0 for a node not named); None for 1 each.
    c_miss : float, default=1.0
        What missing a unit of volume costs.
    c_false : float, default=1.0
        What wrongly assigning a unit of volume costs.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> set_loss([["cat"]], [["poodle"]], tax, c_miss=10)
    array([12.])
    """
    s = node_volumes(taxonomy, volumes)
    check_costs(c_miss, c_false)
    Y, Yhat = taxonomy.encode(Y), taxonomy.encode(Yhat)
    wrong = difference(taxonomy.closure(Y), taxonomy.closure(Yhat))
    missed, added = row_sums(wrong, s, wrong.data > 0), row_sums(wrong, s, wrong.data < 0)
    return c_miss * missed + c_false * added


def n_entries(matrix: sp.csr_array) -> FloatArray:
    """How many entries each row has, (n_rows,)."""
    out: FloatArray = np.diff(matrix.indptr).astype(np.float64)
    return out


def row_sums(entries: sp.csr_array, weight: FloatArray, where: Any = None) -> FloatArray:
    """The weights of the columns in which each row has an entry, summed.

    Parameters
    ----------
    entries : csr_array of shape (n_rows, n_columns)
        The entries.
    weight : ndarray of shape (n_columns,)
        Weight of each column.
    where : array-like of bool of shape (n_entries,) or None, default=None
        Entries that count; None for all.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    row = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
    values = weight[entries.indices]
    values = values if where is None else values * where
    out: FloatArray = np.bincount(row, values, minlength=entries.shape[0]).astype(np.float64)
    return out


def node_volumes(taxonomy: Taxonomy, volumes: Any) -> FloatArray:
    """Subscription volumes as an array over the nodes.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    volumes : dict, array-like of shape (n_nodes,) or None
        Volume of each node, {name: s} (0 for a node not named); None for 1 each.

    Returns
    -------
    ndarray of shape (n_nodes,)
    """
    if volumes is None:
        return np.ones(len(taxonomy))
    if isinstance(volumes, Mapping):
        s = np.zeros(len(taxonomy))
        s[taxonomy.numbers(volumes)] = np.array(list(volumes.values()), dtype=float)
    else:
        s = np.array(volumes, dtype=float)
    if s.shape != (len(taxonomy),):
        raise UserError(
            f"The volumes have the shape {s.shape}, but the taxonomy has {len(taxonomy)} nodes. "
            f"Give one number per node, or {{name: volume}}."
        )
    bad = np.flatnonzero(~((s >= 0) & np.isfinite(s)))
    if bad.size:
        raise UserError(
            f"The volume of node {shorten(taxonomy.nodes[bad[0]])} is {s[bad[0]]}. "
            f"Volumes must be 0 or positive."
        )
    return s


def check_costs(c_miss: float, c_false: float) -> None:
    """Refuse costs that are negative, not finite, or both zero."""
    for name, value in (("c_miss", c_miss), ("c_false", c_false)):
        if not (np.isfinite(value) and value >= 0):
            raise UserError(f"{name} is {value}. A cost must be 0 or positive.")
    if c_miss == 0 and c_false == 0:
        raise UserError("c_miss and c_false are both 0, so nothing costs anything. Raise one.")


# -- what each node is worth ----------------------------------------------------------------------


FloatArray = npt.NDArray[np.float64]

SCALINGS = ("unif", "sibl", "subtree")


def node_coefficients(taxonomy: Taxonomy, scaling: str = "unif") -> FloatArray:
    """The coefficient of every node.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    scaling : {'unif', 'sibl', 'subtree'}, default='unif'
        How a node's coefficient follows from the one above it.

    Returns
    -------
    ndarray of shape (n_nodes,)

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> node_coefficients(tax, "sibl")
    array([1. , 0.5, 0.5, 0.5])
    >>> node_coefficients(tax, "subtree")
    array([1.  , 0.25, 0.5 , 0.25])
    """
    if scaling == "unif":
        return np.ones(len(taxonomy))
    if scaling == "sibl":
        return _shared_among_siblings(taxonomy)
    if scaling == "subtree":
        n_below = np.bincount(taxonomy.ancestor_lists.nodes, minlength=len(taxonomy))
        return n_below / max(len(taxonomy), 1)
    raise UserError(f"The scaling {scaling!r} is not known. Use one of: {', '.join(SCALINGS)}.")


def _shared_among_siblings(taxonomy: Taxonomy) -> FloatArray:
    dag = taxonomy.dag
    share = 1.0 / taxonomy.n_children[dag.parents]
    from_parents = sp.csr_array((share, dag.parents, dag.parent_ptr), shape=(len(taxonomy),) * 2)
    c = np.zeros(len(taxonomy))
    c[taxonomy.root_numbers] = 1.0 / max(taxonomy.root_numbers.size, 1)
    for level in taxonomy.level_numbers[1:]:
        c[level] = from_parents[level] @ c
    return c
