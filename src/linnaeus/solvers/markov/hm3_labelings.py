"""H-M3 with explicit lists of labelings, for what marginals cannot express.

    minimise_w  1/2 ||w||^2 + C sum_i xi_i ,
    xi_i = max_y  loss(y_i, y) - w.(phi(x_i, y_i) - phi(x_i, y)) ,

y running over all labelings, or all but y_i (`others`: xi_i may then be negative). The dual has
alpha(i, y) >= 0 with sum_y alpha(i, y) = C. Without y_i their marginals fill no polytope that is
easy to describe, so that every example keeps the labelings that have weight, `labelings_fast`.

Features are those of the whole example (X or K) in a block for every edge and code, or an additive
map phi(x, y) = sum_e phi_e^{y_e}(x) with one shared weight vector v, or both:

    score of code u on edge e = w_{e,u}.x + v.phi_e^u(x),
    v = sum_i sum_{e,u} nu_i[e,u] phi_e^u(x_i),     nu_i = C onehot(y_i) - mu_i,

with marginals mu_i = sum_y alpha(i, y) onehot(y). P - D = sum_i C xi_i - <mu_i, g_i>. Solved by
pairwise Frank-Wolfe steps over blocks of one example, as block-coordinate Frank-Wolfe but with
steps away from bad labelings, `hm3_labelings_fast`; docs/maths/hm3_variants.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference.maxsum import Forest, max_sum_except
from linnaeus.losses import Edges, edge_losses, markov_edges
from linnaeus.solvers.markov import hm3_labelings_fast as fast
from linnaeus.solvers.markov.fitted import Certificate, Fitted, Values
from linnaeus.solvers.markov.hm3_rows import (
    COMPETITORS,
    MarkovProblem,
    Source,
    check_competitors,
    edge_codes,
    run,
)
from linnaeus.solvers.markov.labelings_fast import Pool, fill, multipliers
from linnaeus.solvers.numerics.examples import Rows

STEPS = 10  # of a visit


class LabelingsTask(NamedTuple):
    """What is to be learnt."""

    edges: Edges
    model: fast.LabelingsModel
    data: Source  # without columns where all features are additive
    phi: sp.csr_array | None  # (4 n n_edges, n_additive)


def task(
    problem: MarkovProblem, phi: Any, *, loss: str, root_edges: str, competitors: str, others: bool
) -> LabelingsTask:
    """Gather the arrays; `competitors` and the shape of phi are checked."""
    check_competitors(competitors)
    taxonomy, y, cost, data = problem
    edges = markov_edges(taxonomy.tree, root_edges)
    forest = Forest.of(edges)
    tables = np.ascontiguousarray(edge_losses(taxonomy, y, loss, root_edges))
    n_rows = 4 * len(y) * edges.child.size
    if phi is not None and phi.shape[0] != n_rows:
        raise UserError(
            f"The additive features have {phi.shape[0]:,} rows, but {len(y):,} examples and "
            f"{edges.child.size} edges with 4 codes make {n_rows:,}. Give a row for each."
        )
    fixed = competitors == "consistent", others, y, edge_codes(y, edges), tables, cost
    model = fast.LabelingsModel(forest.above, forest.below, forest.root, *fixed)
    return LabelingsTask(
        edges, model, data, None if phi is None else sp.csr_array(phi, dtype=data.dtype)
    )


class Learner:
    """The state of a run: labelings with weights, and the weights of features they make."""

    def __init__(self, task: LabelingsTask) -> None:
        self.task = task
        model, n_edges = task.model, task.edges.child.size
        n, k = model.truth.shape
        start = model.truth
        if model.others:
            mode = COMPETITORS[int(model.consistent)]
            start = max_sum_except(task.edges, model.tables, model.truth, mode).labels
        self.pool = _empty_pool(n, n + max(n, 2 * STEPS), -(-k // 64))
        fill(self.pool, start, model.cost, np.empty(-(-k // 64), np.uint64))
        self.additive, n_additive = _rows(task.phi, task.data.dtype)
        self.W = np.zeros((task.data.matrix.shape[1], 4 * n_edges), task.data.dtype)
        self.v = np.zeros(n_additive)
        self.work = _work(n_edges, k, n_additive)

    def multipliers(self) -> Values:
        """nu, (n, 4 n_edges)."""
        model = self.task.model
        N = np.empty(model.tables.shape)
        multipliers(self.pool, model.above, model.below, model.codes, model.cost, N)
        return N.reshape(len(N), -1)

    def certificate(self) -> Certificate:
        """Exact values, at weights made anew from the labelings."""
        (_, model, data, phi), N = self.task, self.multipliers()
        self.W[...] = data.weights(N)
        if phi is not None:
            self.v[...] = phi.T @ N.ravel()
        slack, gaps, half = np.empty(len(N)), np.empty(len(N)), 0.0
        for rows, F in data.scores(self.W):
            if phi is not None:
                width = F.shape[1]
                F += (phi[rows.start * width : rows.stop * width] @ self.v).reshape(F.shape)
            half += 0.5 * float(np.vdot(N[rows], F))
            fast.certify(model, rows.start, F, self.pool, self.work, slack, gaps)
        losses = -float(np.vdot(N, model.tables.reshape(N.shape)))  # 0 at the truth
        return Certificate(half + float(model.cost @ slack), losses - half, slack, gaps)

    def visit(self, order: npt.NDArray[np.int64]) -> None:
        """Visit examples; the pool is doubled whenever it has run out."""
        model, data = self.task.model, self.task.data
        while order.size:
            done = fast.visits(
                data.inputs, model, self.additive, order, STEPS,
                self.pool, self.W, self.v, self.work,
            )  # fmt: skip
            order = order[done:]
            if order.size:
                self.pool = _doubled(self.pool)


def learn(task: LabelingsTask, *, tol: float, max_iter: int, seed: int) -> tuple[Fitted, Values]:
    """The solution, with the weights of X or None, and the weights v of additive features."""
    learner = Learner(task)
    at, rounds = run(learner.certificate, learner.visit, tol=tol, max_iter=max_iter, seed=seed)
    N = learner.multipliers().astype(task.data.dtype)
    W = learner.W if task.data.linear else None
    return Fitted.of(N, W, at, rounds), learner.v


def _rows(phi: sp.csr_array | None, dtype: Any) -> tuple[fast.Additive, int]:
    matrix = sp.csr_array((0, 0)) if phi is None else phi
    return fast.Additive(*Rows.of(matrix, dtype)), matrix.shape[1]


def _empty_pool(n: int, n_slots: int, n_words: int) -> Pool:
    head = np.full(n + 1, -1)
    head[-1] = 0
    following = np.arange(1, n_slots + 1)
    following[-1] = -1
    return Pool(head, following, np.zeros(n_slots), np.zeros((n_slots, n_words), np.uint64))


def _doubled(pool: Pool) -> Pool:
    """A pool with as many slots again, all free, before the free ones it has."""
    n = pool.next.size
    following = np.concatenate([pool.next, np.arange(n + 1, 2 * n + 1)])
    following[-1] = pool.head[-1]
    head = pool.head.copy()
    head[-1] = n
    alpha = np.concatenate([pool.alpha, np.zeros(n)])
    return Pool(head, following, alpha, np.vstack([pool.words, np.zeros_like(pool.words)]))


def _work(n_edges: int, n_nodes: int, n_additive: int) -> fast.LabelingsWork:
    f, h, s, d, step = (np.zeros(4 * n_edges) for _ in range(5))
    up, dev = (np.empty((n_nodes, 2)) for _ in range(2))
    word = np.empty(-(-n_nodes // 64), np.uint64)
    y, take = np.empty(n_nodes, np.int8), np.empty(n_nodes, np.int32)
    g = np.zeros((n_edges, 4))
    return fast.LabelingsWork(f, h, s, g, d, step, y, word, up, dev, take, np.zeros(n_additive))
