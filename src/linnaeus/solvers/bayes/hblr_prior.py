"""Hyper-parameters of hierarchical Bayesian logistic regression from the Fisher information.

For leaf n with class frequency p, kept half an example away from 0 and 1, [GopalYang2015,
section 3.4]

    I(n) = p (1 - p) X'X + eps 1,      a_n = 1,      b_n[j] = (I(n)^-1)[j, j],

and an inner node takes the sums over its children: a_n leaves below, b_n / a_n their mean. M1 and
M3 have one precision for all features: a and b are summed over the features too, which keeps the
weight of the prior against the data that it has in M2 ("mean" divides both by their number).

One eigendecomposition of X'X serves all leaves. With many features, or where X'X is singular,
1 / I(n)[j, j] is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.solvers.bayes.hblr_model import ClassTree, Gamma, HBLRModel, Values

EPSILON = 1e-8
DENSE = 2000  # features up to which X'X is inverted
SINGULAR = 1e-10  # ratio of eigenvalues below which it is not
BLOCK = 1 << 22  # numbers at once


def fisher(
    model: HBLRModel, X: Any, Y: sp.csr_array, *, bias: float = 0.0, sample_weight: Any = None,
    pool: str = "sum", unit_information: bool = False,
) -> Gamma:  # fmt: skip
    """The prior of every owner, for examples X (n, d) and classes Y (n, n_classes).

    bias : size of the constant feature, the last one; 0 for none
    unit_information : the information of one example instead of all, a wider prior
    """
    if pool not in ("sum", "mean"):
        raise UserError(f"pool={pool!r} is not known. Use 'sum' or 'mean'.")
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, float)
    total = float(weight.sum())
    least = 0.5 / max(total, float(np.count_nonzero(weight)))
    p = np.clip(np.asarray(weight @ Y).ravel() / total, least, 1 - least)
    scale = p * (1 - p)
    diagonal, eigen = _second_moments(X, weight, bias)
    rate = (_by_feature if model.by_feature else _pooled)(scale, diagonal, eigen)
    rate *= total if unit_information else 1.0
    shape = 1.0 if model.by_feature else float(diagonal.size)
    if pool == "mean" and not model.by_feature:
        rate, shape = rate / shape, 1.0
    leaves_below, sums = _upwards(model.tree, np.ones((p.size, 1))), _upwards(model.tree, rate)
    return Gamma(shape * leaves_below[model.owners], sums[model.owners])


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
