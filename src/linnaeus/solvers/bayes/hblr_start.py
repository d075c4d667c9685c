"""An earlier posterior of HBLR as the start for another tree, other features, other examples.

A node keeps what is known of it; a new one starts with what is known of the node above it, which is
where the prior has it. Weights of new features are 0, as they were; new precisions are those of the
prior.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from linnaeus.solvers.bayes.hblr_model import Gamma, HBLRModel, Numbers, Posterior, Start


class Known(NamedTuple):
    """A posterior, and what its rows and columns are called."""

    posterior: Posterior
    nodes: Sequence[Hashable]
    leaves: Numbers  # (n_classes,) which of the nodes are classes
    owners: Sequence[Hashable]
    features: Numbers  # (d,), in ascending order


def start(
    known: Known, model: HBLRModel, prior: Gamma, nodes: Sequence[Hashable],
    owners: Sequence[Hashable], features: Numbers,
) -> Start:  # fmt: skip
    """Where a model begins whose nodes, owners of precisions and features are called so."""
    at = _known_or_above(rows_of(nodes, known.nodes), model)
    old, new = np.intersect1d(known.features, features, return_indices=True)[1:]
    posterior = known.posterior
    mu = np.zeros((len(nodes), features.size), dtype=posterior.mu.dtype)
    variance = np.ones(mu.shape, dtype=mu.dtype)
    has = np.flatnonzero(at >= 0)
    mu[np.ix_(has, new)] = posterior.mu[np.ix_(at[has], old)]
    variance[np.ix_(has, new)] = posterior.variance[np.ix_(at[has], old)]
    mean = _precisions(known, model, prior, rows_of(owners, known.owners), (old, new),
                       features.size)  # fmt: skip
    same = np.array_equal(known.features, features)
    full = _covariances(known, at[model.tree.leaves], variance[model.tree.leaves]) if same else None
    return Start(mu, variance, full, mean)


def rows_of(names: Sequence[Hashable], old: Sequence[Hashable]) -> Numbers:
    """Where each name was, or -1."""
    place = {name: j for j, name in enumerate(old)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _known_or_above(at: Numbers, model: HBLRModel) -> Numbers:
    """For each node the row of the posterior that is its own, or that of the node above it."""
    for level in model.tree.levels:
        below = level.children[at[level.children] < 0]
        at[below] = at[model.tree.parent[below]]
    return at


def _precisions(
    known: Known, model: HBLRModel, prior: Gamma, at: Numbers, columns: tuple[Any, Any],
    n_features: int,
) -> Any:  # fmt: skip
    """Expected precisions (n_owners, 1 or d)."""
    q, mean = known.posterior.precisions.mean, prior.mean.copy()
    if q.shape[1] != (known.features.size if model.by_feature else 1):
        return mean  # of another model
    has = np.flatnonzero(at >= 0)
    if not model.by_feature:
        mean[has] = q[at[has]]
        return mean
    old, new = columns
    mean = np.broadcast_to(mean, (mean.shape[0], n_features)).copy()
    mean[np.ix_(has, new)] = q[np.ix_(at[has], old)]
    return mean


def _covariances(known: Known, at: Numbers, variance: Any) -> Any:
    """(n_classes, d, d): those of classes that had one, variances alone for others; or None."""
    full = known.posterior.covariance
    if full is None:
        return None
    place = {v: k for k, v in enumerate(known.leaves.tolist())}
    return np.array([
        full[place[v]] if v in place else np.diag(values)
        for v, values in zip(at.tolist(), variance, strict=True)
    ])  # fmt: skip
