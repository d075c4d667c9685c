"""Variational inference of hierarchical Bayesian logistic regression.

    maximise over q and (xi, beta)   E_q[log p(w, prec) - log q] + bound of E_q[log p(y | w, X)]

for q a product of Gaussians of all nodes and Gammas of all precisions (`hblr_model`), with the
bound of the likelihood in `hblr_bound` [GopalYang2015, section 3.1]. A sweep makes one block after
the other the best, so the bound never falls, up to rounding:

    schedule="leaves"   all leaves, inner nodes bottom-up, precisions, xi, beta, xi
    schedule="parity"   nodes of odd depth, nodes of even depth, precisions, xi, beta, xi

The second is the parallel order of section 3.3: nodes of one parity do not meet. Leaves do not
meet in either, not even under the softmax: they share xi and beta only. The equations are the
paper's (4)-(6) with their slips corrected, see docs/maths/hblr.md.

Under the softmax the likelihood stays the same when all means move by v and every beta_i by v.x_i;
only the prior of the root sees it, and is best where the root's mean is 0. Sweeps hardly move that
way, so from the sweep PLAIN on this shift is a block of its own: a tenth of the sweeps do. Sweeps
end when no mean and no logarithm of a precision has more than `tol` to go: the largest move, or the
sum of all later ones, if they shrink as the last two did. The last sweep is in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.execution import Executor, one_blas_thread, over_blocks, task, unkept
from linnaeus.solvers.bayes import hblr_bound as bound
from linnaeus.solvers.bayes import hblr_model
from linnaeus.solvers.bayes.hblr_diagonal import Diagonal
from linnaeus.solvers.bayes.hblr_full import Full
from linnaeus.solvers.bayes.hblr_model import (
    Gamma,
    Given,
    HBLRModel,
    Level,
    Numbers,
    Posterior,
    Start,
    Values,
    row_blocks,
)
from linnaeus.solvers.numerics.examples import example_weights
from linnaeus.solvers.numerics.rounds import Rounds

PLAIN = 50  # sweeps before the shift is made the best too: short runs show the paper's bounds
SLOWEST = 0.98  # the rate at which moves are taken to shrink, at most
SINGLE = 1e-6  # a smaller rise of the bound, relative to it, is not left to single precision
FINE = 1e-3  # nor are smaller moves
ROUNDING = 1e-9  # a fall of the bound by this share of it is more than rounding

LEAVES: dict[str, type[Full | Diagonal]] = {"full": Full, "diagonal": Diagonal}
Progress = Callable[[dict[str, float]], None]


@one_blas_thread()
def solve(
    X: Any,
    Y: sp.csr_array,
    model: HBLRModel,
    prior: Gamma,
    *,
    link: str = "softmax",
    sample_weight: Any = None,
    covariance: str = "full",
    schedule: str = "leaves",
    start: Start | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    executor: Executor | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> Posterior:
    """Infer the weights of all nodes from examples X (n, d), dense or sparse.

    Y : (n, K) of 0 and 1, one column for each leaf of `model.tree`; one 1 a row for the softmax
    sample_weight : (n,) how often each example counts
    start : means, variances and precisions to begin with
    progress : called after every sweep with its entry of the trace
    check : raise RuntimeError where the bound falls by more than rounding
    """
    _check_options(Y, link, covariance, schedule)
    run = _Variational(X, Y, model, prior, link == "softmax", sample_weight, covariance, executor)
    if start is not None:
        run.resume(start)
    steps, rounds, bounds = hblr_model.steps(model.tree, schedule), Rounds(max_iter), run.bounds
    about = "hblr variational", X, Y, model, prior, link, run.weight, covariance, schedule, start
    if not rounds.keep([*about, tol], run.take, run.restore):
        with unkept():
            bounds.append(run.look())
    for n in rounds:
        if n == max_iter:
            run.leaves.refine()
        with unkept():
            moved = run.sweep(steps, shift=link == "softmax" and n > PLAIN)
            bounds.append(run.look())
        change = (bounds[-1] - bounds[-2]) / max(1.0, abs(bounds[-1]))
        if check and change < -ROUNDING:
            raise RuntimeError(
                f"The bound fell by {bounds[-2] - bounds[-1]} to {bounds[-1]} in sweep "
                f"{len(bounds) - 1}, where it can only rise."
            )
        entry = rounds.enter(objective=bounds[-1], change=moved)
        if progress is not None:
            progress(entry)
        shrinks = min(moved / run.moved, SLOWEST) if run.moved > 0 else SLOWEST
        rounds.done = moved * max(1.0, shrinks / (1 - shrinks)) <= tol and not run.leaves.rough
        run.moved = moved
        if change <= SINGLE or moved <= max(tol, FINE):
            run.leaves.refine()
    return Posterior(
        run.mu, run.variance, run.leaves.covariance, run.q, bounds[-1], rounds.trace, rounds.n,
        rounds.done, bounds,
    )  # fmt: skip


def _check_options(Y: sp.csr_array, link: str, covariance: str, schedule: str) -> None:
    options = {
        "link": (link, ("softmax", "binary")),
        "covariance": (covariance, tuple(LEAVES)),
        "schedule": (schedule, ("leaves", "parity")),
    }
    for name, (value, known) in options.items():
        if value not in known:
            raise UserError(f"{name}={value!r} is not known. Use {known[0]!r} or {known[1]!r}.")
    n_labels = np.diff(Y.indptr)
    if link == "softmax" and (n_labels != 1).any():
        row = int(np.argmax(n_labels != 1))
        raise UserError(
            f"Example {row} has {n_labels[row]} leaves, but the softmax needs exactly one. "
            "Use link='binary'."
        )


class _Variational:
    """The state of the inference."""

    def __init__(
        self, X: Any, Y: sp.csr_array, model: HBLRModel, prior: Gamma, softmax: bool,
        sample_weight: Any, covariance: str, executor: Executor | None,
    ) -> None:  # fmt: skip
        (n, K), d = Y.shape, X.shape[1]
        if model.by_feature:
            prior = prior._replace(rate=np.broadcast_to(prior.rate, (model.owners.size, d)))
        self.model, self.prior, self.q = model, prior, prior
        self.weight = example_weights(1.0, sample_weight, n)
        self.softmax, self.executor = softmax, executor
        self.kind, self.leaves = covariance, LEAVES[covariance](X, K)
        self.log_det = np.zeros(K)  # of the leaves
        self.inner = np.setdiff1d(np.arange(model.tree.n_nodes), model.tree.leaves)
        self.mu = np.zeros((model.tree.n_nodes, d))
        self.variance = np.ones((model.tree.n_nodes, d))
        weighted = Y.astype(np.float64).multiply(self.weight[:, None]).tocsr()
        product = weighted.T @ X
        self.labelled: Values = product.toarray() if sp.issparse(product) else product
        self.base = self.labelled - 0.5 * np.asarray(X.T @ self.weight)
        self.beta = np.zeros(n)
        self.curvature = np.empty((n, K))  # c_i lambda_in
        self.bounds: list[float] = []  # before the first sweep, and after each
        self.moved = 0.0  # how far the last sweep went

    def resume(self, start: Start) -> None:
        """Begin with an earlier posterior."""
        self.q = start.gammas(self.prior)
        self.mu[:], self.variance[:] = start.mu, start.variance
        leaves = self.variance[self.model.tree.leaves]
        self.log_det[:] = np.log(leaves).sum(axis=1)
        if self.leaves.covariance is None:
            return
        d = self.mu.shape[1]
        self.leaves.covariance[:] = 0.0
        self.leaves.covariance[:, np.arange(d), np.arange(d)] = leaves
        if start.covariance is not None:
            self.leaves.covariance[:] = start.covariance
            self.log_det[:] = np.linalg.slogdet(start.covariance)[1]

    def take(self) -> Any:
        """The state between two sweeps."""
        leaves = self.leaves.covariance, self.leaves.rough, self.log_det
        examples = self.beta, self.curvature
        return self.q, self.mu, self.variance, leaves, examples, self.bounds, self.moved

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.q, self.mu, self.variance, leaves, examples, self.bounds[:], self.moved = found
        covariance, rough, self.log_det = leaves
        self.beta, self.curvature = examples
        if covariance is not None:
            self.leaves.covariance = covariance
        if not rough:
            self.leaves.refine()

    def sweep(self, steps: list[Numbers | Level], shift: bool) -> float:
        """All nodes, then the precisions; return how far means and log precisions moved."""
        A, before = hblr_model.expected_precisions(self.model, self.q), self.mu.copy()
        for step in steps:
            if isinstance(step, Level):
                hblr_model.update_inner(self.model.tree, A, self.mu, self.variance, step)
            elif step.size:
                self._update_leaves(step, A)
        if shift:
            root = self.mu[self.model.tree.root].copy()
            self.mu -= root
            self.beta -= self.leaves.products(root)
        self.q = hblr_model.update_precisions(self.model, self.prior, self.mu, self.variance)
        new = hblr_model.expected_precisions(self.model, self.q)
        return float(max(np.abs(self.mu - before).max(), np.abs(np.log(new / A)).max()))

    def _update_leaves(self, some: Numbers, A: Values) -> None:
        nodes = self.model.tree.leaves[some]
        above = self.model.tree.parent[nodes]
        given = Given(
            self.curvature if some.size == self.curvature.shape[1] else self.curvature[:, some],
            self.beta, self.base[some], A[nodes],
            np.where(above[:, None] >= 0, self.mu[above], 0.0), self.mu[nodes],
        )  # fmt: skip
        new = self.leaves.update(given, self.executor)
        self.mu[nodes], self.variance[nodes] = new.mean, new.variance
        self.log_det[some] = new.log_det
        if self.leaves.covariance is not None:
            self.leaves.covariance[some] = new.covariance

    def look(self) -> float:
        """Make xi and beta the best; return the bound."""
        tree = self.model.tree
        mean, examples = self.mu[tree.leaves], self.leaves.examples(self.variance[tree.leaves])
        shared = (examples, mean, self.beta, self.weight)
        rows = row_blocks(self.weight.size)
        blocks = [(row, self.kind, self.softmax) for row in rows]
        value = float((mean * self.labelled).sum())
        for row, (curvature, beta, loss) in zip(
            rows, over_blocks(_look_at, shared, blocks, self.executor), strict=True
        ):
            self.curvature[row], self.beta[row] = curvature, beta
            value -= loss
        log_det = float(self.log_det.sum() + np.log(self.variance[self.inner]).sum())
        return value + bound.prior_part(
            self.model, self.prior, self.q, self.mu, self.variance, log_det
        )


@task
def _look_at(
    examples: Any, mean: Values, beta: Values, weight: Values, block: Any
) -> tuple[Values, Values, float]:
    """c lambda, beta and the loss of some examples."""
    rows, kind, softmax = block
    m, s = LEAVES[kind].scores(examples, mean, rows)
    tight = bound.tighten(m, s, beta[rows], softmax)
    tight.curvature[...] *= weight[rows, None]
    return tight.curvature, tight.beta, float(weight[rows] @ tight.loss)
