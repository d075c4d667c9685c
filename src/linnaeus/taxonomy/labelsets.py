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


def plain(Y: Any, n_columns: int) -> Any:
    """Label sets with data frames, and rows of 0 and 1 in plain lists, turned into arrays.

    A list of more than two zeros and ones repeats itself, so it cannot be a list of labels.
    """
    if is_matrix(Y) or isinstance(Y, np.ndarray):
        return Y
    if hasattr(Y, "__array__"):
        return np.asarray(Y)
    if n_columns > 2 and isinstance(Y, list | tuple) and len(Y):
        rows_of_bits = all(
            isinstance(row, list | tuple) and len(row) == n_columns and set(row) <= {0, 1}
            for row in Y
        )
        return np.asarray(Y) if rows_of_bits else Y
    return Y


def _is_signs(Y: Any) -> bool:
    """Whether an indicator says -1 and +1 for off and on."""
    return isinstance(Y, np.ndarray) and bool((Y == -1).any() and (np.abs(Y) == 1).all())


def as_indicator(taxonomy: Taxonomy, Y: Any) -> sp.csr_array:
    """Label sets in any form as a CSR 0/1 indicator over the nodes, int8, no stored zeros.

    An indicator holds 0 and 1, or is dense and holds -1 and +1.
    """
    Y = plain(Y, len(taxonomy))
    if not is_matrix(Y):
        return encode(taxonomy, Y)
    if Y.shape[1] != len(taxonomy):
        raise UserError(
            f"The label indicator has {Y.shape[1]} columns, but the taxonomy has "
            f"{len(taxonomy)} nodes. Make it with taxonomy.encode(labels)."
        )
    Y = Y > 0 if _is_signs(Y) else Y
    out = sp.csr_array(Y, copy=sp.issparse(Y))  # tidied in place below: never the caller's arrays
    out.sum_duplicates()
    odd = (out.data != 0) & (out.data != 1)
    if odd.any():
        bad = out.data[odd][0]
        raise UserError(
            f"The label indicator holds the value {bad!s}; only 0 and 1 mean something here. "
            f"Use (Y > 0) to turn scores into an indicator."
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
    Y = plain(Y, len(taxonomy))
    closed = _counts_below(taxonomy, as_indicator(taxonomy, Y).astype(np.int32))
    closed.data[:] = 1
    closed.sort_indices()
    return _like(closed, Y)


def _counts_below(taxonomy: Taxonomy, given: sp.csr_array) -> sp.csr_array:
    """How many labels of each row lie at or below each node.

    Only the ancestors of labels that occur are looked up, so a deep taxonomy costs no more than
    it must.
    """
    used = np.unique(given.indices)
    return given[:, used] @ taxonomy.ancestor_rows(used)


def most_specific(taxonomy: Taxonomy, Y: Any) -> Any:
    """Drop the labels that have a descendant in the same set."""
    Y = plain(Y, len(taxonomy))
    given = as_indicator(taxonomy, Y).astype(np.int32)
    counts = _counts_below(taxonomy, given)
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
        rows = [[n] if isinstance(n, str | int | np.generic) else _ordered(n) for n in labels]
        used = taxonomy.numbers(plain_names(name for row in rows for name in row))
    values, first = np.unique(used, return_index=True)
    out: IntArray = values[np.argsort(first, kind="stable")].astype(np.int32)
    return out


def _ordered(row: Any) -> Any:
    """Sets have no order of their own: take that of their names."""
    return sorted(row, key=repr) if isinstance(row, set | frozenset) else row


def _like(out: sp.csr_array, Y: Any) -> Any:
    """Dense for dense, sparse for sparse, in the value type of the question."""
    if isinstance(Y, np.ndarray) and Y.ndim == 2:
        dense = out.toarray().astype(Y.dtype)
        return 2 * dense - 1 if _is_signs(Y) else dense
    if isinstance(Y, sp.spmatrix):
        return sp.csr_matrix(out.astype(Y.dtype))
    return out.astype(Y.dtype if sp.issparse(Y) else np.int8)
