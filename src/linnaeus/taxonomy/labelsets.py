"""Label sets over the nodes of a taxonomy: what lies above them, what is most specific, names."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus import labels as forms
from linnaeus.taxonomy.dag import IntArray

if TYPE_CHECKING:
    from linnaeus.taxonomy.taxonomy import Taxonomy


def decode(taxonomy: Taxonomy, indicator: Any) -> list[list[Any]]:
    """The names of the labels of each row, in node order."""
    one_row = not sp.issparse(indicator) and np.ndim(indicator) == 1
    Y = taxonomy.encode(np.atleast_2d(indicator) if one_row else indicator)
    return forms.to_lists(Y, taxonomy.nodes)


def encode(taxonomy: Taxonomy, labels: Any, classes: Any = None) -> sp.csr_array:
    """Labels, understood already or not, as an indicator over all nodes."""
    if classes is None:
        given = forms.parse(labels, taxonomy)
    else:
        given = forms.named(labels, classes, taxonomy)
    Y = given.Y
    if given.numbers is None:
        return Y
    indices = given.numbers.astype(Y.indices.dtype)[Y.indices]
    out = sp.csr_array((Y.data, indices, Y.indptr), shape=(Y.shape[0], len(taxonomy.nodes)))
    out.sort_indices()
    return out


def closure(taxonomy: Taxonomy, Y: Any) -> Any:
    """Every ancestor of a label becomes a label; the answer has the form of the question."""
    given = None if _is_tidy(taxonomy, Y) else forms.parse(Y, taxonomy)
    sets = Y if given is None else encode(taxonomy, given)
    closed = _counts_below(taxonomy, sets.astype(np.int32))
    closed.data[:] = 1
    closed.sort_indices()
    return closed.astype(np.int8) if given is None else _like(closed, given)


def _is_tidy(taxonomy: Taxonomy, Y: Any) -> bool:
    """Whether label sets are as `encode` makes them, so that there is nothing to understand."""
    return (
        isinstance(Y, sp.csr_array)
        and Y.dtype == np.int8
        and Y.shape[1] == len(taxonomy.nodes)
        and Y.has_canonical_format
        and bool((Y.data == 1).all())
    )


def _counts_below(taxonomy: Taxonomy, given: sp.csr_array) -> sp.csr_array:
    """How many labels of each row lie at or below each node.

    Only the ancestors of labels that occur are looked up, so a deep taxonomy costs no more than
    it must.
    """
    used = np.unique(given.indices)
    return given[:, used] @ taxonomy.ancestor_rows(used)


def most_specific(taxonomy: Taxonomy, Y: Any) -> Any:
    """Drop the labels that have a descendant in the same set."""
    given = None if _is_tidy(taxonomy, Y) else forms.parse(Y, taxonomy)
    sets = (Y if given is None else encode(taxonomy, given)).astype(np.int32)
    counts = _counts_below(taxonomy, sets)
    out = sp.csr_array(sets.multiply(counts == 1) if sets.nnz else sets)
    out.eliminate_zeros()
    out.sort_indices()
    return out.astype(np.int8) if given is None else _like(out, given)


def same_sets(taxonomy: Taxonomy, given: Any, others: Any) -> npt.NDArray[np.bool_]:
    """Whether label sets are the same, row by row, with all that is above their labels."""
    a, b = (taxonomy.closure(taxonomy.encode(Y)) for Y in (given, others))
    return np.asarray(np.diff(sp.csr_array(a != b).indptr) == 0)


def label_numbers(taxonomy: Taxonomy, labels: Any) -> IntArray:
    """The nodes that occur in label sets of any form, in order of first occurrence."""
    values, first = np.unique(taxonomy.encode(ordered(labels)).indices, return_index=True)
    out: IntArray = values[np.argsort(first, kind="stable")].astype(np.int32)
    return out


def ordered(labels: Any) -> Any:
    """Sets have no order of their own: take that of their names."""
    return sorted(labels, key=repr) if isinstance(labels, set | frozenset) else labels


def _like(out: sp.csr_array, given: forms.Labels) -> Any:
    """Dense for dense, sparse for sparse, in the value type of the question."""
    kind, like = given.form.kind, given.form.like
    if kind == "dense":
        dense = out.toarray().astype(like.dtype)
        return 2 * dense - 1 if forms.has_signs(given.given) else dense
    if kind == "sparse":
        out = out.astype(like.dtype)
        return sp.csr_matrix(out) if isinstance(like, sp.spmatrix) else out
    return out.astype(np.int8)


def commonest_set(own: sp.csr_array) -> npt.NDArray[np.int64]:
    """The label set that most rows have; of equals the one that comes first."""
    own = own.sorted_indices()
    seen: dict[bytes, int] = {}
    indices = own.indices.astype(np.int64)
    for a, b in pairwise(own.indptr.tolist()):
        key = indices[a:b].tobytes()
        seen[key] = seen.get(key, 0) + 1
    best = max(seen, key=lambda key: seen[key], default=b"")
    return np.frombuffer(best, dtype=np.int64)
