"""Classes as points: who belongs to which class, where its middle lies, how far two are apart.

    c_k = mean of x_i over the instances i of class k

An instance counts for each of its labels. A class without instances has no middle.

Distances of every two classes, condensed as SciPy wants them: (0,1), (0,2), ..., (1,2), ...

Few classes are compared coordinate by coordinate, which loses nothing. For many the distances come
from inner products,

    |a - b|^2 = <a,a> + <b,b> - 2 <a,b>,

block by block, and what rounding leaves of equal classes is taken for 0. Average linkage keeps the
distances twice: 16 bytes for every two classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from linnaeus.errors import UserError, shorten
from linnaeus.labels import by_kind, found, moved, plain_names
from linnaeus.taxonomy import Taxonomy


def memberships(y: Any, classes: Iterable[Any] | None) -> tuple[tuple[Any, ...], sp.csr_array]:
    """The names of the classes, and the (n, n_classes) 0/1 matrix of who is in which.

    y : labels in any form (see `linnaeus.labels`)
    classes : the names, in order; by default the labels that occur, sorted, or the numbers of the
        columns of an indicator
    """
    if classes is None:
        seen, Y = found(y)
        names = tuple(by_kind(seen))
        Y = moved(Y, seen, names)
    else:
        names = tuple(plain_names(classes))
        Y = _over(y, names)
    if not names:
        raise UserError("There are no classes to arrange: y has no labels. Give some.")
    return names, Y


def _over(y: Any, names: tuple[Any, ...]) -> sp.csr_array:
    """The indicator over these classes; the columns of an indicator are these."""
    dense = isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biuf" and y.shape[1] > 1
    if (dense or sp.issparse(y)) and y.shape[1] != len(names):
        raise UserError(
            f"The label indicator has {y.shape[1]} columns, but `classes` has {len(names)} names. "
            f"Give one name per column."
        )
    return Taxonomy.flat(names).encode(y)


def features(X: Any, n: int) -> Any:
    """A feature matrix with n rows, CSR or dense, checked to be finite."""
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[0] != n:
        raise UserError(
            f"X has the shape {X.shape}, but y has {n} rows. Give a row of features for each."
        )
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind not in "fiub":
        raise UserError(f"X is of type {values.dtype}. Give numbers; texts need a vectoriser.")
    if not np.isfinite(values).all():
        bad = values[~np.isfinite(values)].flat[0]
        raise UserError(
            f"X holds the value {bad}. Classes are compared by their means, so fill in or leave "
            f"out what is missing."
        )
    return X


def centroids(X: Any, Y: sp.csr_array) -> Any:
    """The mean of every class that has instances, one row each: dense for dense, CSR for CSR."""
    size = n_instances(Y)
    seen = size > 0
    sums = sp.csr_array(Y[:, seen].T, dtype=np.float64) @ X
    if sp.issparse(sums):
        return sp.csr_array(sp.diags_array(1.0 / size[seen]) @ sums)
    return np.asarray(sums / size[seen, None])


def block_means(K: Any, Y: sp.csr_array) -> np.ndarray:
    """Inner products of the class means in the space of a kernel: means of blocks of K."""
    K = np.asarray(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.shape[0] != Y.shape[0]:
        raise UserError(
            f"The kernel matrix has the shape {K.shape}, but y has {Y.shape[0]} rows. Give the "
            f"kernel of every two instances."
        )
    K = features(K, Y.shape[0])
    size = n_instances(Y)
    M = sp.csr_array(Y[:, size > 0].T, dtype=np.float64)
    sums = M @ (M @ K).T
    return np.asarray(sums / np.outer(size[size > 0], size[size > 0]))


def n_instances(Y: sp.csr_array) -> np.ndarray:
    """How many instances each class has."""
    return np.bincount(Y.indices, minlength=Y.shape[1])


def to_length_one(C: Any) -> Any:
    """Rows divided by their length; a row of zeros stays."""
    if sp.issparse(C):
        length = np.sqrt(np.asarray(C.multiply(C).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ C)
    length = np.linalg.norm(C, axis=1, keepdims=True)
    return C / np.where(length > 0, length, 1.0)


def kernel_matrix(kernel: Any, X: Any) -> Any:
    """The kernel of every two instances."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return X
    if not hasattr(kernel, "gram"):
        raise UserError(
            f"kernel is {shorten(kernel)}. Use 'linear', 'precomputed' or a kernel of "
            f"linnaeus.kernels."
        )
    return kernel.gram(X, dtype=np.float64)


# -- distances ------------------------------------------------------------------------------------


Callback = Callable[[int, int], None]

DIRECT = 1 << 32  # so many coordinates are compared at most
DENSE = 1 << 24  # so many entries are made dense at most: 128 MB
BLOCK = 1 << 21  # entries of a block of inner products: 16 MB
DIGITS = 13  # of squared distances, relative to the largest squared length


def linkage_bytes(n_classes: int) -> int:
    """What average linkage of so many classes takes."""
    return 8 * n_classes * (n_classes - 1)


def check_memory(n_classes: int, memory: float) -> None:
    """Refuse what would not fit."""
    if linkage_bytes(n_classes) > memory:
        raise UserError(
            f"Average linkage of {n_classes:,} classes takes {linkage_bytes(n_classes) / 1e9:.1f} "
            f"GB, more than memory={memory:.3g} bytes. Use method='kmeans', or raise memory."
        )


def of_points(C: Any, callback: Callback | None = None) -> np.ndarray:
    """Euclidean distances of the rows of C, dense or CSR."""
    n, d = C.shape
    if n * n // 2 * d <= DIRECT and n * d <= DENSE:
        out = np.asarray(pdist(C.toarray() if sp.issparse(C) else C, "euclidean"))
        if callback is not None:
            callback(n, n)
        return out
    if sp.issparse(C):
        squares = np.asarray(C.multiply(C).sum(axis=1)).ravel()
        across = sp.csr_array(C.T)
    else:
        squares, across = np.einsum("ij,ij->i", C, C), C.T
    return _from_products(squares, lambda rows: C[rows] @ across, callback)


def of_products(B: np.ndarray, callback: Callback | None = None) -> np.ndarray:
    """Distances of points of which all inner products are known."""
    return _from_products(np.diag(B), lambda rows: B[rows], callback)


def _from_products(
    squares: np.ndarray, products: Callable[[slice], Any], callback: Callback | None
) -> np.ndarray:
    n = squares.size
    out, scale = np.empty(n * (n - 1) // 2), float(squares.max(initial=0.0)) or 1.0
    step, at = max(1, BLOCK // max(n, 1)), 0
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        block = products(rows)
        block = block.toarray() if sp.issparse(block) else block
        square = (squares[rows, None] + squares - 2.0 * block) / scale
        length = np.sqrt(np.maximum(np.round(square, DIGITS), 0.0) * scale)
        for i in range(start, rows.stop):
            out[at : at + n - 1 - i] = length[i - start, i + 1 :]
            at += n - 1 - i
        if callback is not None:
            callback(rows.stop, n)
    return out
