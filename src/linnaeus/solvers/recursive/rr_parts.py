"""Weights of classes as what each has of its own and what it has in common with others.

    w_n = own_n + sum_v paths_nv common_v,      x.w_n = x.own_n + sum_v paths_nv (x.common_v)

with paths = links inner_paths: a class has links to the nodes right above it, and these have
their paths. A row is nearly dense once something near a root is added to it, while the parts hold
few numbers: own_n = V_n / S_n and common = D = B' V have the features of the examples that matter
to the class, or below the node. So the whole is never made;
scores are those of the parts, added up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.solvers.numerics.examples import starts
from linnaeus.solvers.numerics.products import linear_scores

CLASSES = 4096  # scored at a time: what is made for them beside the scores stays small


class PathWeights(NamedTuple):
    """The parts of the weights of classes and of inner nodes."""

    own: sp.csr_array  # (n_classes, d)
    common: sp.csr_array  # (n_inner, d)
    links: sp.csr_array  # (n_classes, n_inner): times weights of inner nodes, what a class leans on
    inner_paths: sp.csr_array  # (n_inner, n_inner): times common, the weights of inner nodes

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return int(self.own.nnz + self.common.nnz)

    def paths(self, classes: Any = slice(None)) -> sp.csr_array:
        """The share of some classes in `common`."""
        return sp.csr_array(self.links[classes] @ self.inner_paths)

    def rows(self, classes: Any) -> sp.csr_array:
        """The whole weights of some classes, a row for each."""
        return sp.csr_array(self.own[classes] + self.paths(classes) @ self.common)

    def inner_rows(self, nodes: Any) -> sp.csr_array:
        """The whole weights of some inner nodes."""
        return sp.csr_array(self.inner_paths[nodes] @ self.common)

    def row_bytes(self, inner: bool = False) -> int:
        """An upper bound of the bytes that all whole rows of classes (or inner nodes) take."""
        d = self.own.shape[1]
        counts = self.inner_paths.astype(bool).astype(np.int64) @ np.diff(self.common.indptr)
        if not inner:
            counts = self.links.astype(bool).astype(np.int64) @ np.minimum(counts, d)
            counts = counts + np.diff(self.own.indptr)
        return int(np.minimum(counts, d).sum() * (self.own.dtype.itemsize + 4))

    def scores(self, X: Any, intercept: Any, n_jobs: int | None = None) -> npt.NDArray[Any]:
        """X W' + intercept, (n, n_classes), by the parts."""
        shared = linear_scores(X, self.common, np.zeros(self.common.shape[0]), n_jobs)
        nodes = np.ascontiguousarray(self.inner_paths @ shared.T)
        out = linear_scores(X, self.own, intercept, n_jobs)
        for k in range(0, out.shape[1], CLASSES):
            here = slice(k, k + CLASSES)
            out[:, here] += (self.links[here] @ nodes).T
        return out


def assembled(counts: Any, d: int, dtype: Any) -> tuple[Any, Any, Any]:
    """Empty CSR arrays for rows of so many numbers: data, indices, indptr."""
    ptr = starts(counts)
    kind = np.int32 if max(int(ptr[-1]), d) < 2**31 else np.int64
    return np.empty(ptr[-1], dtype), np.empty(ptr[-1], kind), ptr


def put_rows(arrays: tuple[Any, Any, Any], at: Any, rows: sp.csr_array) -> None:
    """Place rows where there is room for them."""
    data, indices, ptr = arrays
    for k, row in enumerate(at.tolist()):
        here, there = slice(ptr[row], ptr[row + 1]), slice(rows.indptr[k], rows.indptr[k + 1])
        data[here], indices[here] = rows.data[there], rows.indices[there]


def dense_bytes(n_rows: int, d: int, dtype: Any) -> int:
    """What dense weights of classes, or of nodes, take."""
    return int(n_rows * d * np.dtype(dtype).itemsize)
