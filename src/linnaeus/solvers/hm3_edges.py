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
import scipy.sparse as sp

from linnaeus.execution import Executor, Serial
from linnaeus.losses import edge_losses, markov_edges
from linnaeus.solvers import hm3_edges_fast as fast
from linnaeus.solvers.hm3_local import check_local, edge_codes
from linnaeus.solvers.hm3_rows import (
    Certificate,
    Outcome,
    Source,
    Values,
    check_options,
    labels,
    run,
    source,
)
from linnaeus.solvers.structured import Fitted
from linnaeus.taxonomy import Taxonomy


class Options(NamedTuple):
    """How every edge is solved."""

    C: float
    tol: float
    max_iter: int
    seed: int
    floor: float  # objective of an edge below which the gap counts absolutely


def solve(
    taxonomy: Taxonomy,
    Y: Any,
    X: Any = None,
    K: Any = None,
    *,
    local: Sequence[Any] | None = None,
    C: float = 1.0,
    loss: str = "delta",
    root_edges: str = "none",
    share: str = "neighbours",
    tol: float = 1e-3,
    max_iter: int = 1000,
    dtype: Any = np.float64,
    seed: int = 0,
    executor: Executor | None = None,
) -> Fitted:
    """Train on closed label sets Y and features X (linear) or a kernel matrix K.

    The result has column 4 e + u for code u of edge e; `slack` and `gaps` are sums over edges.

    local : features of each edge besides X, linear only: a CSR matrix with a row per example,
        or None for no such features; their weights come from `hm3_local.local_weights`
    share : who carries a node's loss "delta", see `losses.edge_losses`
    """
    check_options(C, tol, max_iter)
    y, edges = labels(taxonomy, Y), markov_edges(taxonomy.tree, root_edges)
    tables = edge_losses(taxonomy, Y, loss, root_edges, share)
    truth, first = edge_codes(y, edges), np.where(edges.parent < 0, 2, 0)
    shared, n_edges = source(X, K, len(y), dtype), len(edges.child)
    blocks = check_local(local, X, len(y), n_edges) or [None] * n_edges
    options = Options(C, tol / 2, max_iter, seed, 1.0 / max(n_edges, 1))

    def solve_one(e: int) -> tuple[Values, Outcome]:
        extended = blocks[e] is not None
        data = source(sp.hstack([X, blocks[e]]), None, len(y), dtype) if extended else shared
        table = np.ascontiguousarray(tables[:, e])
        return solve_edge(data, table, truth[:, e].copy(), int(first[e]), options)

    found = list((executor or Serial()).map(solve_one, [], range(n_edges)))
    N = np.hstack([nu for nu, _ in found]).astype(dtype)
    return _together(N, shared, [outcome for _, outcome in found])


def solve_edge(
    data: Source, table: Values, truth: npt.NDArray[np.int8], first: int, options: Options
) -> tuple[Values, Outcome]:
    """nu (n, 4) of one edge whose codes begin with `first`, and its certificate."""
    C, n = options.C, len(truth)
    A = np.eye(4)[truth]
    mu, W = C * A, data.weights(np.zeros((n, 4)))
    s, step = np.zeros(4), np.zeros(4)

    def certificate() -> Certificate:
        N = C * A - mu
        W[...] = data.weights(N)
        slack, gaps = np.empty(n), np.empty(n)
        for r, F in data.scores(W):
            fast.certify(table[r], truth[r], first, F, C, mu[r], slack[r], gaps[r])
        half = 0.5 * data.squared_norm(N, W)
        return Certificate(half + C * slack.sum(), float(np.vdot(mu, table)) - half, slack, gaps)

    def visit(order: npt.NDArray[np.int64]) -> None:
        fast.visits(data.inputs, table, truth, first, order, C, mu, W, s, step)

    stop = {"tol": options.tol, "max_iter": options.max_iter, "floor": options.floor}
    outcome = run(certificate, visit, seed=options.seed, **stop)
    return C * A - mu, outcome


def _together(N: Any, shared: Source, outcomes: list[Outcome]) -> Fitted:
    """All edges as one solution; an edge that is done keeps its last values in the trace."""
    slack, gaps = (
        np.sum([getattr(o.certificate, name) for o in outcomes], axis=0)
        for name in ("slack", "gaps")
    )
    n_iter = max(o.n_iter for o in outcomes)
    last = [[o.trace[min(t, o.n_iter)] for o in outcomes] for t in range(n_iter + 1)]
    trace = [{key: sum(at[key] for at in ats) for key in ats[0]} for ats in last]
    objective, dual = (
        float(sum(getattr(o.certificate, name) for o in outcomes)) for name in ("objective", "dual")
    )
    W = shared.weights(N) if shared.linear else None
    return Fitted(N, W, slack, gaps, objective, dual, n_iter, trace)
