"""Losses divided over the edges of the Markov tree.

Every node j carries a microlabel y_j. Given the truth y we want tables l_e(y_e, .) with

    sum_e l_e(y_e, u_e) = loss(y, u)     for every candidate u, consistent or not,

where u_e is the pair of labels that edge e = (parent, child) sees, as the code
``2 [parent on] + [child on]``. The losses, with y_pa the label of the parent of j:

    delta   sum_j [y_j != u_j]
    H~      sum_j c_j [y_j != u_j and (j is a root or y_pa = u_pa)]

`delta` may be divided in any way; the neighbours of a node share its loss equally, or all of it
lies on the edge above. A term of H~ is seen by the edge above j alone, so only the term of a
root without a top edge is divided, over its child edges: [Rousu2006] section 2.1, where sharing
among neighbours is stated for H~ as well, which is wrong from depth 2 on.

A top edge joins an always positive node, written -1, to a root: codes 0 and 1 do not exist
there, and their slots hold 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.losses.sets import SCALINGS, FloatArray, node_coefficients
from linnaeus.taxonomy import Taxonomy, Tree
from linnaeus.taxonomy.dag import IntArray


class Edges(NamedTuple):
    """The edges of the Markov tree, ordered by child; a top edge has the parent -1.

    Attributes
    ----------
    parent : ndarray of int of shape (n_edges,)
        Parents.
    child : ndarray of int of shape (n_edges,)
        Children.
    """

    parent: IntArray
    child: IntArray


def markov_edges(tree: Tree, root_edges: str = "none") -> Edges:
    """One edge per node that has a parent, and top edges above roots.

    Parameters
    ----------
    tree : Tree
        `Taxonomy.tree`.
    root_edges : {'none', 'all'}, default='none'
        'none': a top edge only above a root without children, which would otherwise be seen by no
        edge. 'all': above every root.

    Returns
    -------
    Edges

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("a", "b"), (None, "lone")])
    >>> markov_edges(tax.tree)
    Edges(parent=array([ 0, -1], dtype=int32), child=array([1, 2], dtype=int32))
    """
    if root_edges not in ("none", "all"):
        raise UserError(f"root_edges={root_edges!r} is not known. Use 'none' or 'all'.")
    seen = (tree.parent >= 0) | (tree.n_children == 0)
    child = np.flatnonzero(seen | (root_edges == "all")).astype(np.int32)
    return Edges(tree.parent[child], child)


def edge_losses(
    taxonomy: Taxonomy,
    Y: Any,
    loss: str = "delta",
    root_edges: str = "none",
    share: str = "neighbours",
) -> FloatArray:
    """The tables l_e(y_e, u) of every row of Y, edges as `markov_edges`.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    Y : array-like, sparse matrix or list of lists
        True label sets, in any form.
    loss : {'delta', 'unif', 'sibl', 'subtree'}, default='delta'
        Wrong labels; or the scaling of H~.
    root_edges : {'none', 'all'}, default='none'
        As in `markov_edges`.
    share : {'neighbours', 'parent'}, default='neighbours'
        The edges at a node share its loss equally; or the edge above has all of it (without one,
        the child edges share it). Matters for 'delta' only.

    Returns
    -------
    ndarray of shape (n_rows, n_edges, 4)
    """
    edges = markov_edges(taxonomy.tree, root_edges)
    if loss == "delta":
        above, below = _delta_weights(len(taxonomy), edges, share)
    elif loss in SCALINGS:
        c = node_coefficients(taxonomy, loss)
        above, below = np.where(_is_open(edges), c[edges.parent] / _fan(edges), 0.0), c[edges.child]
    else:
        known = ", ".join(("delta", *SCALINGS))
        raise UserError(f"The loss {loss!r} is not known. Use one of: {known}.")
    y = taxonomy.encode(Y).toarray().astype(bool)
    wrong_above, wrong_below = _wrong(y, edges)
    if loss != "delta":
        wrong_below = wrong_below & ~wrong_above
    tables: FloatArray = wrong_above * above[:, None] + wrong_below * below[:, None]
    tables[:, edges.parent < 0, :2] = 0.0
    return tables


def _wrong(
    y: npt.NDArray[np.bool_], edges: Edges
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether code u is wrong about the parent, and about the child: (n_rows, n_edges, 4) each."""
    code = np.arange(4)
    parent_on = y[:, edges.parent] | (edges.parent < 0)
    return (
        parent_on[:, :, None] != (code >= 2),
        y[:, edges.child][:, :, None] != (code % 2 == 1),
    )


def _delta_weights(n_nodes: int, edges: Edges, share: str) -> tuple[FloatArray, FloatArray]:
    """How much of a wrong parent, and of a wrong child, an edge carries."""
    real = edges.parent >= 0
    if share == "neighbours":
        ends = np.concatenate([edges.parent[real], edges.child])
        degree = np.maximum(np.bincount(ends, minlength=n_nodes), 1)
        return np.where(real, 1.0 / degree[edges.parent], 0.0), 1.0 / degree[edges.child]
    if share == "parent":
        return np.where(_is_open(edges), 1.0 / _fan(edges), 0.0), np.ones(edges.child.size)
    raise UserError(f"share={share!r} is not known. Use 'neighbours' or 'parent'.")


def _is_open(edges: Edges) -> npt.NDArray[np.bool_]:
    """Whether nothing lies above the parent: a root without a top edge."""
    return (edges.parent >= 0) & ~np.isin(edges.parent, edges.child)


def _fan(edges: Edges) -> npt.NDArray[np.int64]:
    """How many edges leave the parent of each edge."""
    _, group, count = np.unique(edges.parent, return_inverse=True, return_counts=True)
    return count[group]
