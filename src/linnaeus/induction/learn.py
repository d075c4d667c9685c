"""Learn a taxonomy of classes from their instances: Algorithm 8 of [Cai2008], and others.

centroids   average linkage of the class means, cut where inconsistent    `linkage`
kmeans      a balanced tree by halving, for very many classes             `kmeans`
confusion   classes that a classifier confuses                            `confusion`
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from linnaeus.errors import UserError, check_choice, shorten
from linnaeus.induction import classes as points
from linnaeus.induction import confusion, kmeans, shape
from linnaeus.induction.classes import Callback
from linnaeus.taxonomy import Taxonomy

METHODS = ("auto", "centroids", "kmeans", "confusion")
METRICS = ("euclidean", "cosine")
LARGE = 20_000  # classes beyond which "auto" takes kmeans
BRANCHING = 32
MEMORY = 4 << 30


def learn_taxonomy(
    X: Any,
    y: Any,
    *,
    classes: Iterable[Any] | None = None,
    method: str = "auto",
    kernel: Any = "linear",
    metric: str = "euclidean",
    levels: int | str | Sequence[float] | None = None,
    branching: int | None = None,
    estimator: Any = None,
    cv: int = 3,
    root: Any = "root",
    memory: float = MEMORY,
    random_state: Any = 0,
    callback: Callback | None = None,
) -> Taxonomy:
    """A taxonomy whose leaves are the classes of `y`, by what their instances have in common.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        One row per sample; with a kernel what the kernel takes.
    y : array-like, sparse matrix or list of lists
        One label per row, lists of labels, or an indicator.
    classes : iterable or None, default=None
        The names of the classes in order, also of some without instances; None for the labels that
        occur, sorted, or the numbers of the columns of an indicator.
    method : {'auto', 'centroids', 'kmeans', 'confusion'}, default='auto'
        'centroids' is Algorithm 8 of [Cai2008]; 'kmeans' a balanced tree; 'confusion' joins the
        classes that `estimator` confuses; 'auto' takes centroids up to 20,000 classes, where
        `memory` allows it, and kmeans beyond.
    kernel : 'linear', 'precomputed' or Kernel, default='linear'
        'precomputed' where X holds the kernel of every two rows; or a kernel of
        `linnaeus.kernels`. Kernels other than linear are for 'centroids'.
    metric : {'euclidean', 'cosine'}, default='euclidean'
        'cosine' first scales the class means to length 1.
    levels : int, 'links', sequence of float or None, default=None
        For centroids and confusion a number of levels of clusters (None for 1, as in the thesis),
        a list of thresholds of the inconsistency, or 'links', which keeps the inconsistent links
        as nodes; for kmeans a number of levels.
    branching : int or None, default=None
        For kmeans: most children, with as many levels as that takes; 32 if neither this nor
        `levels` is given.
    estimator : object or None, default=None
        For confusion: a classifier.
    cv : int, default=3
        For confusion: the number of folds.
    root : object, default='root'
        Name of the root; None for several roots.
    memory : float, default=4294967296
        Bytes that the distances of the classes may take.
    random_state : int, RandomState instance or None, default=0
        Seed, for kmeans and for the folds.
    callback : callable or None, default=None
        Told how much is done, and how much there is to do.

    Returns
    -------
    Taxonomy

    Examples
    --------
    >>> X = [[0.0, 1.0], [0.1, 1.0], [0.1, 0.8], [5.0, 0.0], [5.1, 0.1], [5.3, 0.0]]
    >>> tax = learn_taxonomy(X, ["cat", "dog", "cow", "oak", "elm", "ash"])
    >>> [tax.children(cluster) for cluster in tax.children("root")]
    [('ash', 'elm', 'oak'), ('cat', 'cow', 'dog')]
    """
    names, Y = points.memberships(y, classes)
    method = _method(method, len(names), memory)
    _check(method, kernel, metric, levels, branching, estimator)
    if not Y.nnz:
        raise UserError("No row has a label, so there is nothing to learn from. Give labels.")
    if method == "confusion":
        points.check_memory(len(names), memory)
        seed = check_random_state(random_state)
        N = confusion.cross_confusion(estimator, X, y, names, Y, cv, seed, callback)
        return shape.to_taxonomy(
            confusion.confusion_shape(N, 1 if levels is None else levels), names, root
        )
    seen = points.n_instances(Y) > 0
    if method == "kmeans":
        parent = _balanced(X, Y, metric, levels, branching, random_state, callback)
        return shape.to_taxonomy(_with_unseen(parent, seen), names, root)
    points.check_memory(int(seen.sum()), memory)
    apart = _distances(X, Y, kernel, metric, callback)
    parent = shape.from_distances(apart, 1 if levels is None else levels)
    return shape.to_taxonomy(shape.with_singletons(parent, seen), names, root)


def _distances(
    X: Any, Y: sp.csr_array, kernel: Any, metric: str, callback: Callback | None
) -> np.ndarray:
    """Distances of the class means, condensed."""
    if isinstance(kernel, str) and kernel == "linear":
        C = points.centroids(points.features(X, Y.shape[0]), Y)
        C = points.to_length_one(C) if metric == "cosine" else C
        return points.of_points(C, callback)
    B = points.block_means(points.kernel_matrix(kernel, X), Y)
    if metric == "cosine":
        length = np.sqrt(np.maximum(np.diag(B), 0.0))
        length = np.where(length > 0, length, 1.0)
        B = B / np.outer(length, length)
    return points.of_products(B, callback)


def _balanced(
    X: Any, Y: sp.csr_array, metric: str, levels: Any, branching: int | None, random_state: Any,
    callback: Callback | None,
) -> np.ndarray:  # fmt: skip
    """The balanced tree of the classes that have instances."""
    C = points.centroids(points.features(X, Y.shape[0]), Y)
    C = points.to_length_one(C) if metric == "cosine" else C
    n_levels = levels or kmeans.levels_for(C.shape[0], branching or BRANCHING)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    return kmeans.kmeans_shape(C, n_levels, metric == "cosine", rng, callback)


def _with_unseen(parent: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Classes without instances have nothing to go by: they share a cluster below the root."""
    out = shape.with_singletons(parent, seen)
    n_unseen = int((~seen).sum())
    if not n_unseen:
        return out
    out = out[: out.size - n_unseen + 1]
    out[: seen.size][~seen] = out.size - 1
    return out


def _method(method: str, n_classes: int, memory: float) -> str:
    check_choice("method", method, METHODS)
    if method != "auto":
        return method
    small = n_classes <= LARGE and points.linkage_bytes(n_classes) <= memory
    return "centroids" if small else "kmeans"


def _check(
    method: str, kernel: Any, metric: str, levels: Any, branching: int | None, estimator: Any
) -> None:
    """Refuse what a method does not know, so that nothing is ignored."""
    check_choice("metric", metric, METRICS)
    if method != "centroids" and not (isinstance(kernel, str) and kernel == "linear"):
        raise UserError(
            f"kernel is {shorten(kernel)}, but method={method!r} does not compare class means by a "
            f"kernel. Use method='centroids'."
        )
    if estimator is not None and method != "confusion":
        raise UserError(f"estimator is given, but method={method!r}. Use method='confusion'.")
    if method != "kmeans":
        if branching is not None:
            raise UserError(f"branching is {branching}, but method={method!r}. Use 'kmeans'.")
        return
    if branching is not None and (levels is not None or branching < 2):
        raise UserError(
            f"branching is {branching} and levels is {shorten(levels)}. Give one of them: a number "
            f"of children from 2 up, or a number of levels from 1 up."
        )
    whole = isinstance(levels, int | np.integer) and not isinstance(levels, bool)
    if levels is not None and (not whole or levels < 1):
        raise UserError(
            f"levels is {shorten(levels)}. For method='kmeans' give a number of levels from 1 up."
        )
