"""Class attributes: how classes share weights through the nodes above them.

Class y has the attribute vector L(y) = (l_v(y)) over the nodes v, and its weights are
W_y = sum_v l_v(y) w_v, [Cai2008] (3.9). Only the class kernel K = L L' enters a dual. With
l_v(y) = 0 outside anc(y), and U the universal nodes, which lie above every class:

    flat      identity: one attribute per class
    ones      1
    depth     0 on U, else 1/sqrt(D),  D = max_y |anc(y) \\ U|      (balanced trees)
    perclass  0 on U, else 1/sqrt(|anc(y) \\ U|)                    (unbalanced trees, DAGs)

A virtual root above several roots would be universal, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.losses.pairwise import class_ancestors
from linnaeus.losses.sets import FloatArray
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.dag import IntArray

SCHEMES = ("flat", "ones", "depth", "perclass")


def universal_nodes(taxonomy: Taxonomy) -> IntArray:
    """The nodes above (or equal to) every class, as numbers.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.

    Returns
    -------
    ndarray of int of shape (n_universal,)
    """
    n_classes_below = np.bincount(class_ancestors(taxonomy).indices, minlength=len(taxonomy))
    return np.flatnonzero(n_classes_below == taxonomy.leaf_numbers.size).astype(np.int32)


def class_attributes(
    taxonomy: Taxonomy, scheme: str | Callable[[Any, Any], float] | Any = "depth"
) -> sp.csr_array:
    """The attributes of the classes (leaves in node order).

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    scheme : {'depth', 'flat', 'ones', 'perclass'}, array-like or callable, default='depth'
        A name; a matrix with a row per class; or a function t(v, y) of the names of a node and of
        a class below it. The columns are the nodes, but the classes for 'flat' and one's own for a
        matrix.

    Returns
    -------
    csr_array of shape (n_classes, n_attributes)

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> class_attributes(tax, "ones").toarray()
    array([[1., 1., 0., 0.],
           [1., 0., 1., 1.]])
    """
    if callable(scheme):
        return _tabulated(taxonomy, scheme)
    if not isinstance(scheme, str):
        return _own(taxonomy, scheme)
    if scheme == "flat":
        return sp.csr_array(sp.eye_array(taxonomy.leaf_numbers.size))
    anc = class_ancestors(taxonomy).astype(float)
    if scheme == "ones":
        return anc
    if scheme not in SCHEMES:
        raise UserError(
            f"The attribute scheme {scheme!r} is not known. Use one of: {', '.join(SCHEMES)}, "
            f"a matrix with a row per class, or a function t(node, class)."
        )
    anc.data[np.isin(anc.indices, universal_nodes(taxonomy))] = 0.0
    anc.eliminate_zeros()
    n_above = np.diff(anc.indptr)
    if scheme == "depth":
        n_above = np.full_like(n_above, n_above.max(initial=0))
    anc.data /= np.repeat(np.sqrt(n_above), np.diff(anc.indptr))
    return anc


def class_kernel(attributes: Any) -> FloatArray:
    """The kernel K = L L' of attributes L.

    Parameters
    ----------
    attributes : {array-like, sparse matrix} of shape (n_classes, n_attributes)
        The attributes.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    attributes = sp.csr_array(attributes, dtype=float)
    out: FloatArray = (attributes @ attributes.T).toarray()
    return out


def _tabulated(taxonomy: Taxonomy, t: Callable[[Any, Any], float]) -> sp.csr_array:
    anc = class_ancestors(taxonomy).astype(float)
    nodes = taxonomy.names(anc.indices.tolist())
    classes = np.repeat(taxonomy.leaf_numbers, np.diff(anc.indptr))
    anc.data[:] = [t(v, y) for v, y in zip(nodes, taxonomy.names(classes.tolist()), strict=True)]
    return _finite(anc)


def _own(taxonomy: Taxonomy, matrix: Any) -> sp.csr_array:
    n = taxonomy.leaf_numbers.size
    out = sp.csr_array(matrix, dtype=float)
    if out.ndim != 2 or out.shape[0] != n:
        raise UserError(
            f"The class attributes have the shape {out.shape}, but there are {n} classes. "
            f"Give one row per leaf of the taxonomy, in node order."
        )
    return _finite(out)


def _finite(attributes: sp.csr_array) -> sp.csr_array:
    if not np.isfinite(attributes.data).all():
        row = np.repeat(np.arange(attributes.shape[0]), np.diff(attributes.indptr))
        first = row[~np.isfinite(attributes.data)][0]
        raise UserError(f"The attributes of class number {first} are not finite. Check them.")
    return attributes
