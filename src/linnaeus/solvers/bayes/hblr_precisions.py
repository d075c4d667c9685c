"""Precisions of hierarchical Bayesian logistic regression: the update, and a longer step.

The update of `hblr_model.update_precisions` maps the logarithms x of expected precisions to F(x),
and partial MAP ends where F(x) = x. Repeated as it stands, it creeps: weights about which the data
say nothing have variance 1 / A, so A hardly changes, and it takes hundreds of rounds. The step is

    x <- x + (1 - J)^-1 (F(x) - x),     J about dF/dx, each step at most LIMIT.

J follows from log F = log(2 tau) - log T, T = 2 b + sum of Q. With s_n = A_n + sum_c A_c, the
curvature h of the data at a leaf, and load_n, what the subtree below n puts on w_n,

    d/dx_n  1 / (h + A_n) = - A_n / (h + A_n)^2          d/dx_m  1 / s_n = - A_m / s_n^2
    d/dx_n  u_n^2  ~  - 2 u_n^2 A_n / (load_n + A_n),     load_n = sum_c A_c load_c / (A_c + load_c)

J has no negative entry. The last term is cut so that rows sum to less than one: then the step goes
where the update goes, only farther, and both stop at the same points. M2 takes the diagonal of J.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import MatrixRankWarning, spsolve

from linnaeus.execution import Executor, over_blocks
from linnaeus.solvers.bayes import hblr_precisions_fast as fast
from linnaeus.solvers.bayes.hblr_model import Gamma, HBLRModel, Order, Values, from_squares
from linnaeus.solvers.numerics.examples import FloatArray

LIMIT = float(np.log(4.0))  # of a step
HIGHEST = 0.95  # row sums of J, as far as the weights raise them
ROWS = 1 << 12  # features in a block


class Update(NamedTuple):
    """The new distributions, and the step in the logarithms of their means."""

    q: Gamma
    step: Values  # (n_owners, 1 or d)


def update(
    model: HBLRModel, prior: Gamma, order: Order, A: Values, W: FloatArray, h: FloatArray,
    executor: Executor | None, moves: Any = True,
) -> Update:  # fmt: skip
    """From weights W (d, nodes) and curvatures h (d, leaves), both in the order of the loops.

    A : (1 or d, nodes), the precisions for which W is the best
    moves : (n_owners, 1), whether the precisions may change; the others stay as they are
    """
    first = W.shape[1] - h.shape[1]
    blocks = [slice(j, j + ROWS) for j in range(0, W.shape[0], ROWS)]
    shared = (order.parent, model.owner[order.nodes], A, W, h)
    if model.by_feature:
        parts = list(over_blocks(_features, shared, blocks, executor))
        total, slope = (np.vstack(part).T for part in zip(*parts, strict=True))
        now = _owned(model, order, A)
        q = _held(from_squares(model, prior, total, W.shape[0]), now, moves)
        J = np.minimum(slope / (2.0 * q.rate), HIGHEST)
        step = (np.log(q.mean) - np.log(now)) / (1.0 - J)
        return Update(q, np.clip(step, -LIMIT, LIMIT))
    sums = np.sum(list(over_blocks(_sums, shared, blocks, executor)), axis=0)
    return _scalar(model, prior, order, A[0], sums, first, W.shape[0], moves)


def _held(q: Gamma, now: Values, moves: Any) -> Gamma:
    """The new distributions, with the means of old where they are held."""
    return Gamma(q.shape, np.where(moves, q.rate, q.shape / now))


def _features(parent: Any, owner: Any, A: Any, W: Any, h: Any, here: slice) -> Any:
    n_owners = int(owner.max()) + 1
    total, slope = np.zeros((2, W[here].shape[0], n_owners))
    fast.summarise_features(parent, owner, A[here], W[here], h[here], total, slope)
    return total, slope


def _sums(parent: Any, owner: Any, A: Any, W: Any, h: Any, here: slice) -> Any:
    out = np.zeros((4, parent.size))
    fast.summarise(parent, A[0], W[here], h[here], *out)
    return out


def _owned(model: HBLRModel, order: Order, A: Values) -> Values:
    """(n_owners, 1 or d): the precisions of the owners, from those of the nodes."""
    out = np.empty((model.owners.size, A.shape[0]))
    below = order.parent >= 0
    out[model.owner[order.nodes][below]] = A.T[below]
    return out


def _scalar(
    model: HBLRModel, prior: Gamma, order: Order, A: Values, sums: Values, first: int, d: int,
    moves: Any,
) -> Update:  # fmt: skip
    """One precision an owner: M1 and M3."""
    variance, slope, away, pull = sums
    parent, below = order.parent, np.flatnonzero(order.parent >= 0)
    s = A + np.bincount(parent[below], A[below], minlength=A.size)
    variance[:first] = d / s[:first]
    Q = np.zeros(A.size)
    Q[below] = variance[below] + variance[parent[below]] + away[below]
    owner = model.owner[order.nodes][below]
    n_owners = model.owners.size
    squares: Values = np.bincount(owner, Q[below], n_owners)[:, None].astype(np.float64)
    free, now = from_squares(model, prior, squares, d), _owned(model, order, A[None])
    q, T = _held(free, now, moves), 2.0 * free.rate[:, 0]
    # log s of inner nodes = shares times x; T falls by direct x + through log s
    inner = below[below < first]
    at = np.concatenate([parent[below], inner])
    of = np.concatenate([owner, owner[np.searchsorted(below, inner)]])
    share = np.concatenate([A[below] / s[parent[below]], A[inner] / s[inner]])
    shares = sp.csr_array((share, (at, of)), (first, n_owners))
    through = sp.csr_array(
        (np.concatenate([variance[parent[below]], variance[inner]]), (of, at)), (n_owners, first)
    )
    direct = np.bincount(owner, slope[below], n_owners)
    rows = direct + through @ (shares @ np.ones(n_owners))
    room = np.maximum(HIGHEST * T - rows, 0.0)
    direct += np.minimum(np.bincount(owner, pull[below], n_owners), room)
    residual = np.log(q.mean[:, 0]) - np.log(now[:, 0])
    scale = sp.diags_array(1.0 / T)
    system = sp.block_array(
        [[sp.diags_array(1.0 - direct / T), -(scale @ through)], [-shares, sp.eye_array(first)]]
    )
    with warnings.catch_warnings():  # singular only for huge features, which are refused later
        warnings.simplefilter("ignore", MatrixRankWarning)
        step = spsolve(sp.csc_array(system), np.concatenate([residual, np.zeros(first)]))[:n_owners]
    return Update(q, np.clip(step, -LIMIT, LIMIT)[:, None] * moves)
