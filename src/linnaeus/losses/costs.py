"""What each node is worth: the coefficients c_j of the hierarchical losses.

    unif      c_j = 1
    sibl      c_root = 1 / (number of roots),  c_j = sum over parents p of  c_p / (children of p)
    subtree   c_j = (nodes at or below j) / (all nodes)

[Rousu2006] section 2.1, where there is one root and one parent; the division among several
roots and the sum over several parents are ours, and keep the total of a level at most 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.taxonomy import Taxonomy

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
