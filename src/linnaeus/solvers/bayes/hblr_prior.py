"""Hyper-parameters of hierarchical Bayesian logistic regression from the Fisher information.

For leaf n with class frequency p, kept half an example away from 0 and 1, [GopalYang2015,
section 3.4]

    I(n) = p (1 - p) X'X + eps 1,      a_n = 1,      b_n[j] = (I(n)^-1)[j, j],

and an inner node takes the sums over its children: a_n leaves below, b_n / a_n their mean. M1 and
M3 have one precision for all features: a and b are summed over the features too, which keeps the
weight of the prior against the data that it has in M2 ("mean" divides both by their number). The
sum of b is that of variances, which features of a few examples make: thousands of rare words, and
the precision is small. With "information" b is a over the mean information of the features, the
constant left out: the mean of precisions, which frequent features make.

p may also be what a logistic regression of the class says of every example, [GopalYang2015,
section 5.2], "blr".

One eigendecomposition of X'X serves all leaves. With many features, or where X'X is singular,
1 / I(n)[j, j] is taken.

An earlier posterior is the start for another tree, other features, other examples. A
node keeps what is known of it; a new one starts with what is known of the node above it, which is
where the prior has it. Weights of new features are 0, as they were; new precisions are those of the
prior.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from linnaeus.errors import UserError
from linnaeus.solvers.bayes.hblr_model import (
    ClassTree,
    Gamma,
    HBLRModel,
    Numbers,
    Posterior,
    Start,
    Values,
)

POOLS = ("sum", "information", "mean")
EPSILON = 1e-8
DENSE = 2000  # features up to which X'X is inverted
SINGULAR = 1e-10  # ratio of eigenvalues below which it is not
BLOCK = 1 << 22  # numbers at once


def fisher(
    model: HBLRModel, X: Any, Y: sp.csr_array, *, bias: float = 0.0, sample_weight: Any = None,
    pool: str = "sum", unit_information: bool = False, weights: Any = None,
) -> Gamma:  # fmt: skip
    """The prior of every owner, for examples X (n, d) and classes Y (n, n_classes).

    bias : size of the constant feature, the last one; 0 for none
    unit_information : the information of one example instead of all, a wider prior
    weights : (n_classes, d [+ 1]) of logistic regressions that say p(x); None for frequencies
    """
    if pool not in POOLS:
        raise UserError(f"pool={pool!r} is not known. Use 'sum', 'information' or 'mean'.")
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, float)
    total = float(weight.sum())
    rate = (
        _by_frequencies(model, X, Y, weight, bias, pool)
        if weights is None
        else _by_scores(model, X, weight, bias, pool, weights)
    )
    rate *= total if unit_information else 1.0
    d = X.shape[1] + bool(bias)
    shape = 1.0 if model.by_feature else float(d)
    if pool == "mean" and not model.by_feature:
        rate, shape = rate / d, 1.0
    leaves_below = _upwards(model.tree, np.ones((Y.shape[1], 1)))
    return Gamma(shape * leaves_below[model.owners], _upwards(model.tree, rate)[model.owners])


def _by_frequencies(
    model: HBLRModel, X: Any, Y: sp.csr_array, weight: Values, bias: float, pool: str
) -> Values:
    """b (n_classes, 1 or d), p(x) being the frequency of a class."""
    total = float(weight.sum())
    least = 0.5 / max(total, float(np.count_nonzero(weight)))
    p = np.clip(np.asarray(weight @ Y).ravel() / total, least, 1 - least)
    scale, (diagonal, eigen) = p * (1 - p), _second_moments(X, weight, bias)
    if model.by_feature:
        return _by_feature(scale, diagonal, eigen)
    if pool == "information":
        own = diagonal[:-1] if bias and diagonal.size > 1 else diagonal
        return _harmonic(scale * own.mean(), diagonal.size)
    return _pooled(scale, diagonal, eigen)


def _by_scores(
    model: HBLRModel, X: Any, weight: Values, bias: float, pool: str, weights: Values
) -> Values:
    """The same, p(x) being what logistic regressions say of every example.

    1 / I(n)[j, j] is taken: every class would have a matrix of its own to invert.
    """
    X, d = sp.csr_array(X), X.shape[1] + bool(bias)
    squares, out = sp.csr_array(X.multiply(X)), []
    step = max(1, BLOCK // max(1, X.shape[0]))
    for k in range(0, len(weights), step):
        W = weights[k : k + step]
        p = expit(X @ W[:, : X.shape[1]].T + (bias * W[:, -1] if bias else 0.0))
        h = weight[:, None] * p * (1 - p)
        information = np.asarray((squares.T @ h).T)
        if pool == "information" and not model.by_feature and X.shape[1]:
            out.append(_harmonic(information.mean(axis=1), d))
            continue
        if bias:
            information = np.hstack([information, bias**2 * h.sum(axis=0)[:, None]])
        rate = 1.0 / (information + EPSILON)
        out.append(rate if model.by_feature else rate.sum(axis=1, keepdims=True))
    return np.vstack(out)


def _harmonic(information: Values, d: int) -> Values:
    """b (n_classes, 1) of d features with this mean information."""
    return np.asarray(d / (information + EPSILON))[:, None]


def _second_moments(X: Any, weight: Values, bias: float) -> tuple[Values, Any]:
    """The diagonal of X'X and, if it can be inverted, its eigenvalues and eigenvectors."""
    X = sp.csr_array(X)
    scaled = sp.csr_array(X.multiply(weight[:, None]))
    diagonal = np.asarray(scaled.multiply(X).sum(axis=0), dtype=float).ravel()
    if bias:
        diagonal = np.append(diagonal, bias**2 * weight.sum())
    if diagonal.size > DENSE:
        return diagonal, None
    G = np.diag(diagonal)
    G[: X.shape[1], : X.shape[1]] = (X.T @ scaled).toarray()
    if bias:
        G[-1, :-1] = G[:-1, -1] = bias * np.asarray(scaled.sum(axis=0)).ravel()
    values, vectors = np.linalg.eigh(G)
    return diagonal, (values, vectors) if values[0] > SINGULAR * values[-1] else None


def _by_feature(scale: Values, diagonal: Values, eigen: Any) -> Values:
    """b (n_classes, d)."""
    if eigen is None:
        return np.asarray(1.0 / (scale[:, None] * diagonal + EPSILON))
    values, vectors = eigen
    return np.asarray(1.0 / (scale[:, None] * values + EPSILON) @ (vectors.T**2))


def _pooled(scale: Values, diagonal: Values, eigen: Any) -> Values:
    """The sums of b over the features, (n_classes, 1)."""
    values = diagonal if eigen is None else eigen[0]  # the trace of the inverse
    out = np.empty((scale.size, 1))
    step = max(1, BLOCK // values.size)
    for k in range(0, scale.size, step):
        out[k : k + step, 0] = (1.0 / (scale[k : k + step, None] * values + EPSILON)).sum(axis=1)
    return out


def _upwards(tree: ClassTree, values: Values) -> Values:
    """(n_nodes, ...): values of leaves, and above them the sums over the children."""
    out = np.zeros((tree.n_nodes, values.shape[1]))
    out[tree.leaves] = values
    for level in reversed(tree.levels):
        out[level.nodes] = level.sums @ out[level.children]
    return out


# -- an earlier posterior -------------------------------------------------------------------------


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
