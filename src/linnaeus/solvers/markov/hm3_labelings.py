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
from linnaeus.solvers.markov import hm3_forest, hm3_rows
from linnaeus.solvers.markov import hm3_labelings_fast as fast
from linnaeus.solvers.markov.hm3_interior import Machine
from linnaeus.solvers.markov.hm3_rows import (
    Certificate,
    Finish,
    Fitted,
    MarkovProblem,
    Source,
    Values,
    edge_codes,
    run,
)
from linnaeus.solvers.markov.labelings_fast import Pool, multipliers
from linnaeus.solvers.numerics.examples import Rows
from linnaeus.solvers.numerics.rounds import Kept

STEPS = 10  # of a visit


class LabelingsTask(NamedTuple):
    """What is to be learnt."""

    edges: Edges
    model: fast.LabelingsModel
    data: Source  # without columns where all features are additive
    phi: sp.csr_array | None  # (4 n n_edges, n_additive)
    finish: Finish | None  # where there are no additive features


def task(
    problem: MarkovProblem, phi: Any, *, loss: str, root_edges: str, competitors: str, others: bool
) -> LabelingsTask:
    """Gather the arrays; `competitors` and the shape of phi are checked."""
    hm3_rows.check_competitors(competitors)
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
    start = 4 * np.arange(edges.child.size)
    fixed = start, competitors == "consistent", others, y, edge_codes(y, edges), tables, cost
    model = fast.LabelingsModel(forest.above, forest.below, forest.root, *fixed)
    if phi is not None:
        return LabelingsTask(edges, model, data, sp.csr_array(phi, dtype=data.dtype), None)
    columns = hm3_forest.build(taxonomy, loss, root_edges, competitors == "consistent")
    flat = hm3_forest.spread(columns, y.shape[1])

    def machine(rows: npt.NDArray[np.int64], X: Values) -> Machine:
        return hm3_forest.machine_of(columns, X, y[rows], cost[rows], others)

    return LabelingsTask(edges, model, data, None, Finish(data, cost, flat, machine))


class Learner:
    """The state of a run: labelings with weights, and the weights of features they make."""

    def __init__(self, task: LabelingsTask) -> None:
        self.task = task
        model, n_edges = task.model, task.edges.child.size
        (n, k), codes = model.truth.shape, model.codes
        if model.others:
            mode = hm3_rows.COMPETITORS[int(model.consistent)]
            first = max_sum_except(task.edges, model.tables, model.truth, mode).labels
            codes = edge_codes(first, task.edges)
        self.pool = Pool.of(codes, model.cost, max(n, 2 * STEPS))
        self.additive, n_additive = _rows(task.phi, task.data.dtype)
        self.W = np.zeros((task.data.matrix.shape[1], 4 * n_edges), task.data.dtype)
        self.v = np.zeros(n_additive)
        self.work = _work(n_edges, k, n_additive)

    def take(self) -> Any:
        """The state between two rounds."""
        return self.pool, self.W, self.v

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.pool, self.W, self.v = found

    def multipliers(self) -> Values:
        """nu, (n, 4 n_edges)."""
        model = self.task.model
        N = np.empty((len(model.codes), 4 * model.start.size))
        multipliers(self.pool, model.start, model.codes, model.cost, N)
        return N

    def certificate(self) -> Certificate:
        """Exact values, at weights made anew from the labelings."""
        (_, model, data, phi, _), N = self.task, self.multipliers()
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
                self.pool = self.pool.doubled()


def learn(task: LabelingsTask, *, tol: float, max_iter: int, seed: int) -> tuple[Fitted, Values]:
    """The solution, with the weights of X or None, and the weights v of additive features."""
    learner = Learner(task)
    about = "labelings", task.data.plain(), task.model, task.phi
    at, rounds, N = run(
        learner.certificate, learner.visit, task.finish, tol=tol, max_iter=max_iter, seed=seed,
        kept=Kept(about, learner.take, learner.restore),
    )  # fmt: skip
    N = (learner.multipliers() if N is None else N).astype(task.data.dtype)
    W = task.data.weights(N) if task.data.linear else None
    return Fitted.of(N, W, at, rounds), learner.v


def _rows(phi: sp.csr_array | None, dtype: Any) -> tuple[fast.Additive, int]:
    matrix = sp.csr_array((0, 0)) if phi is None else phi
    return fast.Additive(*Rows.of(matrix, dtype)), matrix.shape[1]


def _work(n_edges: int, n_nodes: int, n_additive: int) -> fast.LabelingsWork:
    f, h, s, d, step = (np.zeros(4 * n_edges) for _ in range(5))
    up, dev = (np.empty((n_nodes, 2)) for _ in range(2))
    y, take = np.empty(n_nodes, np.int8), np.empty(n_nodes, np.int32)
    g, code = np.zeros((n_edges, 4)), np.empty(n_edges, np.int8)
    more = np.zeros(n_additive)
    return fast.LabelingsWork(f, h, s, g, g.reshape(-1), d, step, y, code, up, dev, take, more)
