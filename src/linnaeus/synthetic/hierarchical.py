"""Linear data drawn from a perfect tree, whose true weights are known.

    v_z ~ N(0, sigma_k^2 I)  at every node z of depth k,   w_y = sum of v_z on the path to class y,
    x ~ N(0, I),   Y = {y : <w_y, x> > 0},   x is kept when  0 < |Y| < sqrt(q).

q is the number of classes (leaves). The generator of [Cai2008] section 7.1.1; the variances
sigma_k^2 = 2^-k (root k = 0) are our choice, the thesis says only that they fall with depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.taxonomy import Taxonomy

_BLOCK = 4096  # examples drawn at a time; the result does not depend on it
_HOPELESS = 1_000_000  # stop when so many draws in a row were all rejected


def make_hierarchical(
    n_samples: int = 200,
    n_features: int = 20,
    fan_out: int = 3,
    depth: int = 3,
    variances: Sequence[float] | None = None,
    random_state: Any = None,
    return_weights: bool = False,
) -> tuple[Any, ...]:
    """Draw examples of a perfect tree with ``fan_out ** depth`` leaves.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features : int, default=20
        Number of features.
    fan_out : int, default=3
        Children of every inner node.
    depth : int, default=3
        Steps from the root to a leaf.
    variances : sequence of float or None, default=None
        Depth + 1 numbers, from the root down; None for 1, 1/2, 1/4, ...
    random_state : int, Generator or None, default=None
        Seed or generator, as for ``numpy.random.default_rng``.
    return_weights : bool, default=False
        Whether to return the true node weights too.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    Y : csr_array of shape (n_samples, n_nodes)
        Indicator over ``taxonomy.nodes``; leaf labels only, not closed.
    taxonomy : Taxonomy
        The tree, with the nodes "root", "1", "1.1", "1.2", ...
    W : ndarray of shape (n_nodes, n_features)
        The node weights v_z, with `return_weights` only. The class weights are
        ``taxonomy.ancestor_matrix @ W``.

    Examples
    --------
    >>> X, Y, taxonomy = make_hierarchical(random_state=0)
    >>> X.shape, Y.shape, len(taxonomy.leaves)
    ((200, 20), (200, 40), 27)
    """
    sigma2 = _check(n_samples, n_features, fan_out, depth, variances)
    rng = np.random.default_rng(random_state)
    taxonomy = perfect_tree(fan_out, depth)
    W = rng.normal(size=(len(taxonomy), n_features)) * np.sqrt(sigma2)[taxonomy.depth, None]
    leaves = taxonomy.leaf_numbers
    class_weights = (taxonomy.ancestor_matrix @ W)[leaves]
    X, positive = _accepted(class_weights, n_samples, rng)
    row, column = np.nonzero(positive)
    ones = np.ones(row.size, dtype=np.int8)
    Y = sp.csr_array(
        (ones, (row.astype(np.int32), leaves[column])), shape=(n_samples, len(taxonomy))
    )
    return (X, Y, taxonomy, W) if return_weights else (X, Y, taxonomy)


def perfect_tree(fan_out: int, depth: int) -> Taxonomy:
    """The tree in which every inner node has `fan_out` children and every leaf depth `depth`."""
    level = [""]
    edges: list[tuple[str | None, str]] = [(None, "root")]
    for _ in range(depth):
        below = []
        for name in level:
            for k in range(1, fan_out + 1):
                child = f"{name}.{k}" if name else str(k)
                edges.append((name or "root", child))
                below.append(child)
        level = below
    return Taxonomy.from_edges(edges)


def _accepted(
    class_weights: np.ndarray, n_samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The first `n_samples` draws that have some labels but fewer than sqrt(q)."""
    q, d = class_weights.shape
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    found = in_vain = 0
    while found < n_samples:
        x = rng.normal(size=(_BLOCK, d))
        positive = x @ class_weights.T > 0
        count = positive.sum(axis=1)
        keep = (count > 0) & (count**2 < q)
        kept.append((x[keep], positive[keep]))
        found += int(keep.sum())
        in_vain = 0 if keep.any() else in_vain + _BLOCK
        if in_vain >= _HOPELESS:
            raise UserError(
                f"None of {in_vain:,} examples had between 1 and sqrt({q}) labels. "
                f"Use more classes (fan_out, depth) or larger variances near the leaves."
            )
    X = np.concatenate([np.empty((0, d)), *(x for x, _ in kept)])[:n_samples]
    labels = np.concatenate([np.empty((0, q), bool), *(y for _, y in kept)])[:n_samples]
    return X, labels


def _check(
    n_samples: int, n_features: int, fan_out: int, depth: int, variances: Sequence[float] | None
) -> np.ndarray:
    """The variances, one per level; an error for sizes that make no sense."""
    for name, value, least in (
        ("n_samples", n_samples, 0),
        ("n_features", n_features, 1),
        ("fan_out", fan_out, 2),
        ("depth", depth, 1),
    ):
        if value < least:
            raise UserError(f"{name} is {value}; it must be at least {least}.")
    if variances is None:
        return 2.0 ** -np.arange(depth + 1)
    sigma2 = np.asarray(variances, dtype=float)
    if sigma2.shape != (depth + 1,) or not (sigma2 >= 0).all():
        raise UserError(
            f"variances is {variances!r}; give {depth + 1} numbers that are not negative, one "
            f"for each level from the root (depth 0) to the leaves (depth {depth})."
        )
    return sigma2
