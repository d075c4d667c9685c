"""Classes that a classifier confuses belong together.

With N_yz how often class y was taken for z, and P its rows divided by their sums,

    similarity  S = (P + P') / 2,     distance  1 - S_yz,

and the classes are linked as in Algorithm 8 of [Cai2008]. Classes never confused, at distance 1,
are not linked at all; a class that does not occur is a cluster of its own.

In a label set that misses y, y counts as taken for each label wrongly added, in equal shares.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from linnaeus.errors import UserError, shorten
from linnaeus.induction import shape
from linnaeus.induction.classes import Callback, memberships
from linnaeus.labels import name_array
from linnaeus.splits import k_folds
from linnaeus.splits.copies import Copies
from linnaeus.taxonomy import Taxonomy

NEVER = 1.0 - 1e-12


def taxonomy_from_confusion(
    confusion: Any,
    classes: Iterable[Any] | None = None,
    *,
    levels: Any = 1,
    root: Any = "root",
) -> Taxonomy:
    """A taxonomy of the classes that are taken for each other.

    Parameters
    ----------
    confusion : array-like of shape (n_classes, n_classes)
        How often each class (row) was taken for each other (column).
    classes : iterable or None, default=None
        The names of the classes; their numbers if not given.
    levels : int, 'links' or sequence of float, default=1
        Levels of clusters, as in `learn_taxonomy`.
    root : object, default='root'
        Name of the root; None for several roots.

    Returns
    -------
    Taxonomy

    Examples
    --------
    >>> tax = taxonomy_from_confusion([[5, 4, 0], [3, 6, 0], [0, 0, 9]], ["cat", "dog", "oak"])
    >>> tax.children("cluster 1"), tax.children("cluster 2")
    (('cat', 'dog'), ('oak',))
    """
    N = _checked(confusion)
    names = tuple(range(len(N))) if classes is None else tuple(classes)
    if len(names) != len(N):
        raise UserError(
            f"The confusion matrix has {len(N)} rows, but {len(names)} classes are named. "
            f"Give one name per row."
        )
    return shape.to_taxonomy(confusion_shape(N, levels), names, root)


def confusion_counts(
    y: Any, predicted: Any, classes: Iterable[Any] | None = None
) -> tuple[tuple[Any, ...], np.ndarray]:
    """The names of the classes, and how often each was taken for each.

    Parameters
    ----------
    y : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    predicted : array-like, sparse matrix or list of lists
        Predicted labels of the same rows.
    classes : iterable or None, default=None
        Names of the classes, in order; None for the labels that occur.

    Returns
    -------
    names : tuple
        The names of the classes.
    counts : ndarray of shape (n_classes, n_classes)
        How often each class (row) was taken for each (column).
    """
    names, Y = memberships(y, classes)
    _, U = memberships(predicted, names)
    if Y.shape != U.shape:
        raise UserError(
            f"y has {Y.shape[0]} rows, but {U.shape[0]} were predicted. Give the same rows."
        )
    Y, U = Y.astype(np.float64), U.astype(np.float64)
    hit = Y.multiply(U)
    missed, added = sp.csr_array(Y - hit), sp.csr_array(U - hit)
    share = 1.0 / np.maximum(np.asarray(added.sum(axis=1)).ravel(), 1.0)
    N = (missed.T @ (sp.diags_array(share) @ added)).toarray()
    N[np.diag_indices_from(N)] += np.asarray(hit.sum(axis=0)).ravel()
    return names, N


def confusion_shape(N: np.ndarray, levels: Any) -> np.ndarray:
    """The shape (see `shape`) of the classes of a confusion matrix."""
    occurs = (N.sum(axis=0) > 0) | (N.sum(axis=1) > 0)
    if not occurs.any():
        raise UserError("The confusion matrix holds only 0. Count some predictions.")
    N = N[np.ix_(occurs, occurs)]
    P = N / np.maximum(N.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    S = (P + P.T) / 2
    distances = 1.0 - S[np.triu_indices_from(S, 1)]
    return shape.with_singletons(shape.from_distances(distances, levels, NEVER), occurs)


def cross_confusion(
    estimator: Any, X: Any, y: Any, classes: tuple[Any, ...], Y: sp.csr_array, cv: int,
    random_state: Any, callback: Callback | None,
) -> np.ndarray:  # fmt: skip
    """How often each class was taken for each, by models that had not seen the row."""
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
        raise UserError(
            f"estimator is {shorten(estimator)}. method='confusion' needs a classifier, for "
            f"example linnaeus.FlatSVM(); with a confusion matrix of your own use "
            f"taxonomy_from_confusion."
        )
    one_each = getattr(y, "ndim", 1) == 1 and (np.diff(Y.indptr) == 1).all()
    target = name_array(classes)[Y.indices] if one_each else Y
    N = np.zeros((len(classes),) * 2)
    folds = k_folds(Y, cv, random_state, Copies.of(X).groups)
    for f, (train, test) in enumerate(folds):
        model = clone(estimator).fit(_safe_indexing(X, train), target[train])
        predicted = model.predict(_safe_indexing(X, test))
        N += confusion_counts(Y[test], memberships(predicted, classes)[1], classes)[1]
        if callback is not None:
            callback(f + 1, len(folds))
    return N


def _checked(confusion: Any) -> np.ndarray:
    N = confusion.toarray() if sp.issparse(confusion) else np.asarray(confusion)
    if N.ndim != 2 or N.shape[0] != N.shape[1] or not N.size or N.dtype.kind not in "fiub":
        raise UserError(
            f"The confusion matrix has the shape {N.shape} and the type {N.dtype}. Give numbers, a "
            f"row and a column per class."
        )
    N = N.astype(np.float64)
    if not (np.isfinite(N) & (N >= 0)).all():
        i, j = np.argwhere(~(np.isfinite(N) & (N >= 0)))[0].tolist()
        raise UserError(
            f"The confusion matrix holds {N[i, j]} in row {i}, column {j}. Counts are 0 or more."
        )
    return N
