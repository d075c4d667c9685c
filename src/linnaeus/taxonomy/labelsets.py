"""Label sets over the nodes of a taxonomy: names to indicators and back, closure, specificity."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.taxonomy.naming import plain_names
from linnaeus.taxonomy.tree import IntArray

if TYPE_CHECKING:
    from linnaeus.taxonomy.taxonomy import Taxonomy


def is_matrix(Y: Any) -> bool:
    """Whether label sets are given as a two-dimensional indicator."""
    return sp.issparse(Y) or (isinstance(Y, np.ndarray) and Y.ndim == 2)


def as_indicator(taxonomy: Taxonomy, Y: Any) -> sp.csr_array:
    """Label sets in any form as a CSR 0/1 indicator over the nodes, int8, no stored zeros."""
    if not is_matrix(Y):
        return encode(taxonomy, Y)
    if Y.shape[1] != len(taxonomy):
        raise UserError(
            f"The label indicator has {Y.shape[1]} columns, but the taxonomy has "
            f"{len(taxonomy)} nodes. Make it with taxonomy.encode(labels)."
        )
    out = sp.csr_array(Y, copy=sp.issparse(Y))  # tidied in place below: never the caller's arrays
    out.sum_duplicates()
    odd = (out.data != 0) & (out.data != 1)
    if odd.any():
        bad = out.data[odd][0]
        raise UserError(
            f"The label indicator holds the value {bad!s}; only 0 and 1 mean something here. "
            f"Use (Y > 0) to turn scores or -1/+1 labels into an indicator."
        )
    out.eliminate_zeros()
    return out.astype(np.int8)


def encode(taxonomy: Taxonomy, labels: Iterable[Any]) -> sp.csr_array:
    """Label lists, or one label per row, to a CSR indicator; repeated labels count once."""
    indptr, indices = [0], []
    for row, names in enumerate(labels):
        one = names is not None and (isinstance(names, str | int | np.generic))
        row_names = plain_names([names] if one else names if names is not None else [])
        try:
            indices.extend(sorted({taxonomy.index(name) for name in row_names}))
        except UserError as error:
            raise UserError(f"Row {row}: {error}") from None
        indptr.append(len(indices))
    data = np.ones(len(indices), dtype=np.int8)
    shape = (len(indptr) - 1, len(taxonomy))
    kind = sp.get_index_dtype(maxval=len(indices))
    return sp.csr_array((data, np.array(indices, kind), np.array(indptr, kind)), shape)


def decode(taxonomy: Taxonomy, indicator: Any) -> list[list[Any]]:
    """The names of the labels of each row, in node order."""
    Y = as_indicator(
        taxonomy, np.atleast_2d(indicator) if not sp.issparse(indicator) else indicator
    )
    Y.sort_indices()
    nodes, ptr = taxonomy.nodes, Y.indptr.tolist()
    names = [nodes[v] for v in Y.indices.tolist()]
    return [names[a:b] for a, b in pairwise(ptr)]


def closure(taxonomy: Taxonomy, Y: Any) -> Any:
    """Every ancestor of a label becomes a label; the answer has the form of the question."""
    closed = as_indicator(taxonomy, Y).astype(np.int32) @ taxonomy.ancestor_matrix
    closed.data[:] = 1
    closed.sort_indices()
    return _like(closed, Y)


def most_specific(taxonomy: Taxonomy, Y: Any) -> Any:
    """Drop the labels that have a descendant in the same set."""
    given = as_indicator(taxonomy, Y).astype(np.int32)
    counts = given @ taxonomy.ancestor_matrix  # how many labels lie at or below each node
    alone = given.multiply(counts == 1) if given.nnz else given
    out = sp.csr_array(alone)
    out.eliminate_zeros()
    out.sort_indices()
    return _like(out, Y)


def label_numbers(taxonomy: Taxonomy, labels: Any) -> IntArray:
    """The nodes that occur in label sets of any form, in order of first occurrence."""
    if is_matrix(labels):
        used = as_indicator(taxonomy, labels).indices
    else:
        rows = [[n] if isinstance(n, str | int | np.generic) else n for n in labels]
        used = taxonomy.numbers(plain_names(name for row in rows for name in row))
    values, first = np.unique(used, return_index=True)
    out: IntArray = values[np.argsort(first, kind="stable")].astype(np.int32)
    return out


def _like(out: sp.csr_array, Y: Any) -> Any:
    """Dense for dense, sparse for sparse, in the value type of the question."""
    if isinstance(Y, np.ndarray):
        return out.toarray().astype(Y.dtype)
    if isinstance(Y, sp.spmatrix):
        return sp.csr_matrix(out.astype(Y.dtype))
    return out.astype(Y.dtype if sp.issparse(Y) else np.int8)
