"""Hierarchical Bayesian logistic regression by partial MAP: weights are points, not distributions.

Rounds [GopalYang2015, section 3.3; corrected as in `hblr_model`]:

    1. weights of the leaves      maximise log p(labels | W, X) - 1/2 sum_n A_n (w_n - w_parent)^2
    2. variances of the leaves    1 / (h + A),  h_nj = sum_i c_i x_ij^2 p_in (1 - p_in)
    3. inner nodes                in closed form
    4. precisions                 q(prec) from means and variances

mode="joint" does 1 and 3 together, to the maximum over all nodes (`recursive.rr_lr_tree`), and
takes longer steps in 4 (`hblr_precisions`); mode="paper" alternates as the paper does, level by
level, and mode="parity" between nodes of odd and of even depth. All end at the same points: where
no mean moves by more than `tol` (of the largest one, if that is above 1), and the update 4 changes
no logarithm of an expected precision by more than `tol`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.execution import Executor, one_blas_thread, unkept
from linnaeus.solvers.bayes import hblr_model, hblr_precisions
from linnaeus.solvers.bayes.hblr_model import (
    Gamma,
    HBLRModel,
    Level,
    Numbers,
    Order,
    Posterior,
    Start,
    Values,
)
from linnaeus.solvers.numerics import newton
from linnaeus.solvers.numerics.coordinate_ascent import TIGHT
from linnaeus.solvers.numerics.examples import FloatArray, weighted_examples
from linnaeus.solvers.numerics.rounds import Record, Rounds
from linnaeus.solvers.recursive import rr_lr_tree
from linnaeus.solvers.recursive.rr_lr_tree import TreeAscent, TreeExamples, TreeNewton, TreeWeights

LINKS = ("softmax", "binary")
MODES = ("joint", "paper", "parity")
ROUGHEST = 1e-2  # gap of the weights, as a share of the objective
LITTLE = 1 << 20  # nonzeros times classes up to which weights are found exactly
PATIENCE = 20  # rounds after which weights are found more closely from round to round
SEED = 0  # of the order in which examples are visited


def solve(
    X: sp.csr_array,
    Y: sp.csr_array,
    model: HBLRModel,
    prior: Gamma,
    *,
    link: str = "softmax",
    bias: float = 0.0,
    sample_weight: Any = None,
    mode: str = "joint",
    start: Start | None = None,
    free: Any = None,
    tol: float = 1e-4,
    max_iter: int = 100,
    dtype: Any = np.float64,
    executor: Executor | None = None,
    progress: Callable[[Record], None] | None = None,
) -> Posterior:
    """Rounds until nothing moves by more than `tol`, or `max_iter` of them.

    Y : (n, n_classes) 0/1, columns in the order of ``model.tree.leaves``; one a row for softmax
    bias : size of a constant feature, the last one of the answer; 0 for none
    mode : "joint", or the paper's alternation: "paper" level by level, "parity" by odd and even
    start : means and precisions to begin with
    free : (n_nodes,) in mode "joint", the nodes whose weights may move, and with each all below it;
        the others, and precisions of which they have a part, stay as `start` has them. It has
        converged if even so the whole has: its gap is the last one of the trace.
    """
    _check(X, Y, model, prior, link, mode, bias)
    X, Y, weight = weighted_examples(X, Y, 1.0, sample_weight)
    data = TreeExamples.of(X, Y, weight, None, bias, link == "softmax", dtype)
    if model.by_feature:
        wide = (model.owners.size, X.shape[1] + bool(bias))
        prior = Gamma(prior.shape, np.broadcast_to(prior.rate, wide))
    rounds = Rounds(max_iter)
    with unkept():  # the rounds keep what there is
        run: _Joint | _Paper = (
            _Joint(data, model, prior, tol, executor) if mode == "joint"
            else _Paper(data, model, prior, tol, executor, hblr_model.steps(model.tree, mode))
        )  # fmt: skip
        if start is not None:
            run.resume(start, free)
    about = "hblr map", data, model, prior, mode, start, free, tol
    rounds.keep(about, run.take, run.restore)
    for _ in rounds:
        with unkept(), one_blas_thread():
            change = run.run()
        rounds.done = change <= tol
        entry = rounds.enter(objective=run.objective, gap=run.gap, change=change)
        if progress is not None:
            progress(entry)
    converged = rounds.done
    if isinstance(run, _Joint) and run.free is not None:
        gap = run.whole_gap()
        converged &= gap <= 10 * tol * run.mass
        rounds.enter(objective=run.objective, gap=gap, change=run.change)
    mu, variance = run.answer()
    bounds = [entry["objective"] for entry in rounds.trace]
    return Posterior(
        mu, variance, None, run.q, run.objective, rounds.trace, rounds.n, converged, bounds
    )


def exact_closeness(change: float, tol: float) -> tuple[float, float]:
    """The gap to go for and the last one, where the error of weights, its root, counts."""
    floor = 1e-6 * min(tol, TIGHT)
    return max(min(1e-2 * change**2, ROUGHEST), floor), floor


class _Joint:
    """Rounds over all nodes at once."""

    def __init__(
        self,
        data: TreeExamples,
        model: HBLRModel,
        prior: Gamma,
        tol: float,
        executor: Executor | None,
    ) -> None:
        self.data, self.model, self.prior, self.tol = data, model, prior, tol
        self.executor, self.order = executor, Order.of(model.tree)
        self.d = data.n_features + bool(data.bias)
        self.q = self.used = prior
        self.trust, self.residual = np.ones_like(prior.mean), np.zeros_like(prior.mean)
        self.change, self.n_rounds = 1.0, 0
        self.close, self.floor = 2 * ROUGHEST, 10 * tol
        self.exact = tol < TIGHT or data.rows.data.size * data.y.shape[1] <= LITTLE
        by_newton = self.exact or data.n_features <= newton.FEW
        self.mass = float(data.weight.sum())  # where the fit is all but perfect, a nat an example
        tree = rr_lr_tree.plain_tree(self.order.parent).with_precisions(
            self.precisions(), data.rows.data.dtype
        )
        self.means: TreeWeights = (
            TreeNewton(data, tree, executor, self.mass) if by_newton
            else TreeAscent(data, tree, executor, SEED, self.mass)
        )  # fmt: skip

        self.free: Any = None  # nodes that may move; None for all
        self.moves: Any = True  # owners whose precisions may

    def resume(self, start: Start, free: Any) -> None:
        """Begin with given weights and precisions; hold those of all nodes that are not free."""
        self.q = self.used = start.gammas(self.prior)
        W = np.zeros_like(self.means.W)
        W[: self.d] = start.mu[self.order.nodes].T
        self.means.set_precisions(self.precisions())
        if free is not None:
            self.free = np.asarray(free)
            owners = self.model.per_owner(~self.free[:, None]) == 0
            self.moves = owners
            self.means = self._newton(self.means)
            self.means.free = self.free[self.order.nodes]
        self.means.resume(W)

    def take(self) -> Any:
        """The state between two rounds."""
        precisions = self.q, self.used, self.trust, self.residual
        closeness = self.change, self.n_rounds, self.close, self.floor
        return precisions, closeness, isinstance(self.means, TreeNewton), self.means.take()

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        precisions, closeness, by_newton, means = found
        self.q, self.used, self.trust, self.residual = precisions
        self.change, self.n_rounds, self.close, self.floor = closeness
        if by_newton and not isinstance(self.means, TreeNewton):
            self.means = self._newton(self.means)
        self.means.restore(means)

    def whole_gap(self) -> float:
        """How much the objective could rise at most if all nodes moved, precisions being kept."""
        whole = self._newton(self.means)
        whole.resume(self.means.W)
        return min(whole.distance(), -self.objective)  # which is never positive

    def precisions(self) -> Values:
        """A (1 or n_features + 1, nodes) in the order of the loops."""
        A = hblr_model.expected_precisions(self.model, self.used)[self.order.nodes].T
        missing = self.data.n_features + 1 - A.shape[0]
        if A.shape[0] > 1 and missing:
            A = np.vstack([A, np.ones((missing, A.shape[1]))])
        return np.ascontiguousarray(A)

    def run(self) -> float:
        """One round; the largest change."""
        means, A, d = self.means, self.precisions(), self.d
        means.set_precisions(A)
        close, floor = self.closeness()
        if not means.improve(close):
            self.means = means = self._by_newton(means, close)
        self.objective, self.gap = -means.objective, means.gap
        self.h = means.curvature()[:d]
        found = hblr_precisions.update(
            self.model, self.prior, self.order, A[:d] if A.shape[0] > 1 else A, means.W[:d],
            self.h, self.executor, self.moves,
        )  # fmt: skip
        residual = np.log(found.q.mean / self.used.mean)
        self.change = max(float(np.abs(residual).max()), means.change)
        self.q, self.A = found.q, A
        turned = residual * self.residual < 0  # it has gone too far
        self.trust = np.where(turned, 0.5 * self.trust, np.minimum(1.2 * self.trust, 1.0))
        self.residual = residual
        step = residual + self.trust * (found.step - residual)
        self.used = Gamma(found.q.shape, found.q.shape / (self.used.mean * np.exp(step)))
        return self.change if close <= floor else max(self.change, 2 * self.tol)

    def closeness(self) -> tuple[float, float]:
        """The gap of the weights to go for, closer as the rounds converge; and the last one."""
        if self.exact:
            return exact_closeness(self.change, self.tol)
        self.n_rounds += 1
        if self.n_rounds > PATIENCE:  # errors of the weights may be what keeps them moving
            self.floor = max(0.5 * self.floor, 1e-3 * self.tol)
        self.close = max(min(1e-2 * self.change, 0.5 * self.close), self.floor)
        return self.close, self.floor

    def _by_newton(self, before: TreeWeights, close: float) -> TreeNewton:
        """Go on where coordinate ascent is slow."""
        means = self._newton(before)
        means.W = before.W
        means.improve(close)
        means.change = max(means.change, before.change)
        return means

    def _newton(self, before: TreeWeights) -> TreeNewton:
        """Newton's method for the same problem, from nothing."""
        return TreeNewton(self.data, before.tree, self.executor, self.mass)

    def answer(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances (n_nodes, d)."""
        d, tree, nodes = self.d, self.model.tree, self.order.nodes
        h, W = self.h, self.means.W[:d]
        del self.means  # large arrays are not needed any more
        A = self.A[: h.shape[0]].astype(h.dtype)
        s, first = A.copy(), tree.n_nodes - tree.leaves.size
        for v in range(tree.n_nodes - 1, 0, -1):
            s[:, self.order.parent[v]] += A[:, v]
        mu = np.empty((tree.n_nodes, d), dtype=h.dtype)
        mu[nodes] = W.T
        del W
        variance = np.empty_like(mu)
        variance[nodes[:first]] = 1.0 / s[:, :first].T
        h += A[:, first:]
        variance[nodes[first:]] = np.reciprocal(h, out=h).T
        return mu, variance


class _Paper:
    """Blocks of nodes given the others, one after the other, then precisions."""

    def __init__(
        self, data: TreeExamples, model: HBLRModel, prior: Gamma, tol: float,
        executor: Executor | None, steps: list[Numbers | Level],
    ) -> None:  # fmt: skip
        self.steps = steps
        tree, self.d = model.tree, data.n_features + bool(data.bias)
        self.model, self.prior, self.q, self.tol = model, prior, prior, tol
        alone = rr_lr_tree.plain_tree(np.full(tree.leaves.size, -1))
        self.leaves = TreeNewton(data, alone, executor)
        dtype = data.rows.data.dtype
        self.mu = np.zeros((tree.n_nodes, self.d), dtype=dtype)
        self.variance = np.ones_like(self.mu)
        self.change = 1.0

    def resume(self, start: Start, free: Any) -> None:
        """Begin with given weights and precisions."""
        self.q = start.gammas(self.prior)
        self.mu[:], self.variance[:] = start.mu, start.variance
        self.leaves.W = self._wide(self.mu[self.model.tree.leaves])

    def take(self) -> Any:
        """The state between two rounds."""
        return self.q, self.mu, self.variance, self.change, self.leaves.take()

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.q, self.mu, self.variance, self.change, leaves = found
        self.leaves.restore(leaves)

    def _wide(self, values: FloatArray) -> FloatArray:
        """(leaves, d) as (n_features + 1, leaves)."""
        out = np.zeros_like(self.leaves.W)
        out[: self.d] = values.T
        return out

    def run(self) -> float:
        """One round; the largest change."""
        tree, leaves, d = self.model.tree, self.leaves, self.d
        A, before = hblr_model.expected_precisions(self.model, self.q), self.mu.copy()
        above = A[tree.leaves]
        leaves.set_precisions(
            above.T
            if above.shape[1] == 1
            else np.where(self._wide(above) > 0, self._wide(above), 1)
        )
        close, floor = exact_closeness(self.change, self.tol)
        self.gap = 0.0
        for step in self.steps:
            if isinstance(step, Level):
                hblr_model.update_inner(tree, A, self.mu, self.variance, step)
            elif step.size:
                self._update_leaves(step, close)
        self.variance[tree.leaves] = 1.0 / (leaves.curvature()[:d].T + above)
        new = hblr_model.update_precisions(self.model, self.prior, self.mu, self.variance)
        residual = float(np.abs(np.log(new.mean / self.q.mean)).max(initial=0.0))
        moved = float(np.abs(self.mu - before).max())
        self.change = max(residual, moved / max(1.0, float(np.abs(self.mu).max())))
        self.q = new
        self.objective = self._objective(A)
        return self.change if close <= floor else max(self.change, 2 * self.tol)

    def _update_leaves(self, some: Numbers, close: float) -> None:
        """The best weights of some leaves, given their parents and (under softmax) the others."""
        tree, leaves = self.model.tree, self.leaves
        leaves.origin = self._wide(self.mu[tree.parent[tree.leaves]])
        if some.size < tree.leaves.size:
            leaves.free = np.isin(np.arange(tree.leaves.size), some)
        leaves.gap = np.inf  # what was known is that of other parents
        leaves.improve(close)
        leaves.free = None
        self.gap += leaves.gap
        self.mu[tree.leaves] = leaves.W[: self.d].T

    def _objective(self, A: Values) -> float:
        """J at the present means: what the leaves gave, at parents that have moved since."""
        tree, mu = self.model.tree, self.mu
        above = np.where(tree.parent[:, None] >= 0, mu[tree.parent], 0.0)
        pull = 0.5 * float(np.sum(A * (mu - above) ** 2, dtype=np.float64))
        return -pull - self.leaves.loss

    def answer(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances (n_nodes, d)."""
        return self.mu, self.variance


def _check(
    X: sp.csr_array, Y: sp.csr_array, model: HBLRModel, prior: Gamma, link: str, mode: str,
    bias: float,
) -> None:  # fmt: skip
    for name, value, known in (("link", link, LINKS), ("mode", mode, MODES)):
        if value not in known:
            raise UserError(f"{name}={value!r} is not known. Use one of {', '.join(known)}.")
    tree = model.tree
    if Y.shape[1] != tree.leaves.size:
        raise UserError(
            f"Y has {Y.shape[1]} columns, but the tree has {tree.leaves.size} leaves. "
            "Give one column for each."
        )
    if tree.root in tree.leaves:
        raise UserError(f"The root {tree.root} is a class. Put a node above it.")
    if link == "softmax" and Y.shape[0]:
        count = np.diff(Y.indptr)
        row = int(np.argmax(count != 1))
        if count[row] != 1:
            raise UserError(
                f"Row {row} of Y has {count[row]} classes, but softmax takes one. "
                'Use link="binary" for several.'
            )
    width, d = prior.rate.shape[1], X.shape[1] + bool(bias)
    if width not in (1, d) or (width > 1 and not model.by_feature):
        raise UserError(
            f"The prior has rates for {width} features. "
            f"Use 1{f' or {d}' if model.by_feature else ''}."
        )
