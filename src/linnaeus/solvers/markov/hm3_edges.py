"""H-M3 with a slack for every example and edge: a multiclass machine for every edge.

    minimise_w  1/2 ||w||^2 + C sum_i sum_e xi_ie ,
    xi_ie = max_u  l_e(y_ie, u) - (w_{e,y_ie} - w_{e,u}).x_i

No constraint ties one edge to another, so the problem falls apart into one cost-sensitive machine
with four classes per edge (two on a top edge). The dual of an edge has mu_i >= 0, sum_u mu_iu = C,

    D = sum_i <mu_i, l_i> - 1/2 ||w||^2,     w_u = sum_i nu_iu x_i,     nu_i = C [u = y_i] - mu_i,

and P - D = sum_i C xi_i - <mu_i, g_i>. How a node's loss is divided among edges matters here.
[Rousu2006] section 4; blocks of one example are solved exactly in `hm3_edges_fast`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.execution import Blocks, Executor, over_blocks, task
from linnaeus.losses import edge_losses
from linnaeus.solvers.markov import hm3_edges_fast as fast
from linnaeus.solvers.markov.hm3_interior import Labelings, Machine
from linnaeus.solvers.markov.hm3_local import prepare_local
from linnaeus.solvers.markov.hm3_rows import (
    Certificate,
    Finish,
    Fitted,
    Source,
    Values,
    edge_codes,
    run,
)
from linnaeus.solvers.numerics.rounds import Record, Rounds, joined_traces


class EdgeOptions(NamedTuple):
    """How every edge is solved."""

    tol: float
    max_iter: int
    seed: int


def solve(
    X: Any,
    Y: Any,
    parent: Any,
    *,
    loss: str = "delta",
    root_edges: str = "none",
    share: str = "neighbours",
    local: Sequence[Any] | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    executor: Executor | None = None,
    **made: Any,
) -> Fitted:
    """Train on features X, or a kernel matrix if `precomputed`, and closed label sets Y.

    The result has column 4 e + u for code u of edge e; `slack` and `gaps` are sums over edges.

    share : who carries a node's loss "delta", see `losses.edge_losses`
    local : features of each edge besides X, see `hm3_local`
    executor : where edges are solved side by side
    made : C, sample_weight, precomputed and dtype of `hm3_rows.prepare`
    """
    problem, edges, local = prepare_local(X, Y, parent, root_edges, local, **made)
    taxonomy, y, cost, data = problem
    tables = edge_losses(taxonomy, y, loss, root_edges, share)
    truth, n_edges = edge_codes(y, edges), edges.child.size
    options = EdgeOptions(tol / 2, max_iter, seed)

    def block(e: int) -> EdgeBlock:
        first = 2 if edges.parent[e] < 0 else 0
        machine = EdgeMachine(np.ascontiguousarray(tables[:, e]), truth[:, e].copy(), first, cost)
        return EdgeBlock(machine, local[e] if local else None, options)

    found = list(over_blocks(_solved, (data.plain(),), Blocks(n_edges, block), executor))
    return _together(found, data)


class EdgeMachine(NamedTuple):
    """What one edge has to learn."""

    table: Values  # (n, 4) losses
    truth: npt.NDArray[np.int8]  # (n,) codes
    first: int  # the first code that exists
    cost: Values  # (n,)


class EdgeBlock(NamedTuple):
    """An edge, with features of its own or None, and how it is solved."""

    machine: EdgeMachine
    local: Any  # (n, d_e)
    options: EdgeOptions


Found = tuple[Values, Certificate, int, list[Record]]  # nu (n, 4), and rounds with their trace


@task
def _solved(data: Source, block: EdgeBlock) -> Found:
    """One edge."""
    data = data._replace(dtype=np.dtype(data.dtype))
    data = data if block.local is None else data.beside(block.local)
    N, at, rounds = solve_edge(data, block.machine, block.options)
    return N, at, rounds.n, rounds.trace


def solve_edge(
    data: Source, machine: EdgeMachine, options: EdgeOptions
) -> tuple[Values, Certificate, Rounds]:
    """nu (n, 4) of one edge, its certificate, and how it was reached."""
    table, truth, first, cost = machine
    full, n = cost[:, None] * np.eye(4)[truth], len(truth)
    mu, W = full.copy(), data.weights(np.zeros((n, 4)))
    s, step = np.zeros(4), np.zeros(4)

    def certificate() -> Certificate:
        N = full - mu
        W[...] = data.weights(N)
        slack, gaps, half = np.empty(n), np.empty(n), 0.0
        for r, F in data.scores(W):
            half += 0.5 * float(np.vdot(N[r], F))
            fast.certify(table[r], truth[r], first, F, cost[r], mu[r], slack[r], gaps[r])
        dual = float(np.vdot(mu, table)) - half
        return Certificate(half + float(cost @ slack), dual, slack, gaps)

    def visit(order: npt.NDArray[np.int64]) -> None:
        fast.visits(data.inputs, table, truth, first, order, cost, mu, W, s, step)

    def four_codes(rows: npt.NDArray[np.int64], X: Values) -> Machine:
        lost, own = table[rows], np.eye(4)[truth[rows]]

        def search(scores: Values) -> Labelings:
            code = first + np.argmax((lost + scores)[:, first:], axis=1)
            return Labelings(np.eye(4)[code], lost[np.arange(rows.size), code])

        return Machine(X, cost[rows], own, np.eye(4), Labelings(own, np.zeros(rows.size)), search)

    finish = Finish(data, cost, np.eye(4), four_codes)
    at, rounds, N = run(certificate, visit, finish, **options._asdict())
    return np.asarray(full - mu if N is None else N, dtype=np.float64), at, rounds


def _together(found: list[Found], data: Source) -> Fitted:
    """All edges as one solution; an edge that is done keeps its last values in the trace."""
    multipliers, certificates, counts, traces = zip(*found, strict=True)
    N = np.hstack(multipliers).astype(data.dtype)
    objective, dual, slack, gaps = (sum(part) for part in zip(*certificates, strict=True))
    return Fitted(
        N, data.weights(N) if data.linear else None, slack, gaps, objective, dual,
        max(counts), joined_traces(traces),
    )  # fmt: skip
