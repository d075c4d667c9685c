"""Max-margin learning of labellings of graphs and hypergraphs.

    minimise_w  1/2 ||w||^2 + C sum_i xi_i
    xi_i = max_y  loss(y_i, y) - w.(phi(x_i, y_i) - phi(x_i, y))

over all labellings y of the nodes, with one block of weights for every hyperedge e and each of
its 2^|e| codes: w.phi(x, y) = sum_e w_{e, y_e}.phi(x). Only the search for the best y differs from
the model on trees. Consistency of the marginals along edges is a relaxation on loops, so the dual
keeps weights of whole labellings (`graph_m3_fast`), and its optimum is that of the problem above.
With exact inference the gap is a certificate:

    P - D = sum_i gap_i,     gap_i = C_i xi_i + <nu_i, loss_i + f_i>

With loopy or tree-reparametrised inference xi_i is the largest violation that was found: gap and
objective are lower estimates. [Rousu2007] sections 1.3 and 1.4; docs/maths/graph_m3.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, check_choice
from linnaeus.inference.graphs import FloatArray, Graph, IntArray, Oracle
from linnaeus.inference.rows import score_blocks
from linnaeus.solvers.markov import graph_m3_fast as fast
from linnaeus.solvers.markov.hm3_rows import Certificate, Fitted
from linnaeus.solvers.markov.labelings_fast import Pool, has_room
from linnaeus.solvers.numerics.examples import Rows, example_weights
from linnaeus.solvers.numerics.rounds import Rounds

SLOTS = 4  # labellings of every example that there is room for at first
BLOCK = 64  # examples whose kernel scores are made at once
SWEEPS = 8  # between two certificates, at most
PROMISING = 1.1  # sweeps that leave so many times the tolerance call for a certificate


class Scores:
    """f_i = w.phi(x_i): through primal weights W for a linear kernel, or K N."""

    def __init__(self, X: Any, K: Any, n_blocks: int) -> None:
        if (X is None) == (K is None):
            raise UserError("Give either X (linear kernel) or K (kernel matrix), not both.")
        self.X, self.K = X, K
        self.n = X.shape[0] if X is not None else len(K)
        self.W = np.zeros((0 if X is None else X.shape[1], n_blocks))
        if X is not None:
            self.rows = Rows.of(X, np.float64)
            self.norm = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        else:
            self.norm = np.diagonal(K).astype(np.float64)

    def of(self, rows: Any, N: FloatArray) -> FloatArray:
        """The scores of some examples."""
        if self.X is not None:
            return np.asarray(self.X[rows] @ self.W)
        return np.asarray(self.K[rows] @ N, dtype=np.float64)

    def sweep(
        self, problem: fast.GraphProblem, state: fast.GraphState, order: IntArray, space: Any,
        limit: int,
    ) -> None:  # fmt: skip
        """Visit examples in this order."""
        if self.X is not None:
            fast.linear_sweep(problem, state, order, self.rows, self.W, space, limit)
            return
        for a in range(0, order.size, BLOCK):
            block = order[a : a + BLOCK]
            F = self.of(block, state.N)
            K = np.ascontiguousarray(self.K[np.ix_(block, block)], dtype=np.float64)
            fast.kernel_sweep(problem, state, block, F, K, space, limit)


def solve(
    graph: Graph,
    oracle: Oracle,
    Y: Any,
    loss: FloatArray,
    *,
    X: sp.csr_array | None = None,
    K: Any = None,
    C: float = 1.0,
    sample_weight: Any = None,
    optimizer: str = "pairwise",
    tol: float = 1e-3,
    max_iter: int = 500,
    inner: int = 3,
    seed: int = 0,
) -> Fitted:
    """Learn from labels Y, (n, n_nodes) of 0 and 1, and loss tables, (n, n_blocks).

    oracle : the search for the best labelling, `inference.graphs.prepare`
    optimizer : "pairwise" (stored labellings) or "csga" (conditional gradient)
    inner : searches for the best labelling per visit of an example
    """
    check_choice("optimizer", optimizer, ("pairwise", "csga"))
    scores = Scores(X, K, graph.n_blocks)
    cost = C * example_weights(C, sample_weight, scores.n)
    truth = graph.codes(Y)
    problem = fast.GraphProblem(*oracle[1:5], np.ascontiguousarray(loss), truth, cost, scores.norm)
    state, space = _start(graph, truth, cost, optimizer), _space(graph, oracle)
    rng, rounds = np.random.default_rng(seed), Rounds(max_iter, tol)
    enough = 0.0  # until the first certificate

    def take() -> Any:
        return state, scores.W, enough, rng.bit_generator.state

    def restore(found: Any) -> None:
        nonlocal state, enough
        state, scores.W, enough, rng.bit_generator.state = found

    about = "graph", problem, graph.start, state, X, K, inner, seed
    rounds.keep(about, take, restore)
    for _ in rounds:
        for turn in range(SWEEPS):
            order = rng.permutation(scores.n) if turn % 2 == 0 else _draw(state.gaps, rng)
            state = _with_room(state, inner * scores.n)
            scores.sweep(problem, state, order, space, inner)
            if state.gaps.sum() <= enough:
                break
        found = _certify(graph, oracle, problem, state, scores, space)
        rounds.note(found.objective, found.gap)
        enough = PROMISING * tol * found.objective
    return Fitted.of(state.N, scores.W if X is not None else None, found, rounds)


def _start(graph: Graph, truth: IntArray, cost: FloatArray, optimizer: str) -> fast.GraphState:
    """All weight on the true labels; nothing is stored for "csga"."""
    n, kept = truth.shape[0], slice(None if optimizer == "pairwise" else 0)
    pool = Pool.of(truth[kept].astype(np.int32), cost[kept], SLOTS * n)
    return fast.GraphState(np.zeros((n, graph.n_blocks)), pool, np.ones(n))


def _with_room(state: fast.GraphState, n_slots: int) -> fast.GraphState:
    """The same, with so many free slots for labellings."""
    pool = state.pool
    while not has_room(pool, n_slots):
        pool = pool.doubled()
    return state._replace(pool=pool)


def _space(graph: Graph, oracle: Oracle) -> fast.GraphSpace:
    q, y = graph.n_blocks, np.zeros(graph.n_nodes, dtype=np.int8)
    codes = np.zeros(graph.n_edges, dtype=np.int32)
    return fast.GraphSpace(np.zeros(q), np.zeros(q), y, codes, oracle.work())


def _draw(gaps: FloatArray, rng: np.random.Generator) -> IntArray:
    """As many examples as there are, the more often the larger their gaps."""
    n = gaps.size
    if not np.ptp(gaps) > 0:
        return rng.permutation(n)
    share = 0.9 * gaps / gaps.sum() + 0.1 / n
    return rng.choice(n, size=n, p=share / share.sum())


def _certify(
    graph: Graph, oracle: Oracle, problem: fast.GraphProblem, state: fast.GraphState,
    scores: Scores, space: fast.GraphSpace,
) -> Certificate:  # fmt: skip
    """One pass over all examples: slacks, gaps, both objectives.

    An approximate search may miss labellings that are stored: no slack is below theirs, P not
    below D.
    """
    n = scores.n
    slack, gaps, inner, norm2 = np.zeros(n), state.gaps, 0.0, 0.0
    for at in score_blocks(n, graph.n_blocks):
        F, N = scores.of(at, state.N), state.N[at]
        H = F + problem.loss[at]
        true = np.take_along_axis(H, graph.start[:-1] + problem.truth[at], axis=1).sum(axis=1)
        value = oracle.argmax(H)[1]
        if not oracle.cliques.parent.size:
            fast.at_least_known(problem, state, at.start, H, space, value)
        slack[at] = np.maximum(0.0, value - true)
        gaps[at] = np.maximum(0.0, problem.cost[at] * slack[at] + np.einsum("ij,ij->i", N, H))
        norm2 += float(np.vdot(N, F))
        inner += float(np.vdot(N, problem.loss[at]))
    objective = 0.5 * norm2 + float(problem.cost @ slack)
    return Certificate(objective, -inner - 0.5 * norm2, slack, gaps.copy())


def local_losses(
    graph: Graph, Y: npt.NDArray[np.int8], terms: list[tuple[int, list[int], float]]
) -> FloatArray:
    """Loss tables, (n, n_blocks), of terms  c [u_j != y_j and u_a = y_a for all a in `above`].

    terms : (j, above, c) each; a term without nodes above is shared equally by the hyperedges that
        hold j, one with such nodes lies on the first hyperedge that holds them all
    """
    out = np.zeros((Y.shape[0], graph.n_blocks))
    edges = [e.tolist() for e in graph.edges]
    at: dict[int, list[int]] = {}
    for e, members in enumerate(edges):
        for v in members:
            at.setdefault(v, []).append(e)
    for j, above, c in terms:
        homes = [e for e in at.get(j, []) if set(above) <= set(edges[e])]
        if not homes:
            raise UserError(
                f"No hyperedge holds node {j} together with the nodes above it, {above}. "
                f"Add one, or use loss='hamming'."
            )
        for e in homes[:1] if above else homes:
            bits, members = graph.bits(e), edges[e]
            wrong = bits[:, members.index(j)] != Y[:, [j]]
            for a in above:
                wrong &= bits[:, members.index(a)] == Y[:, [a]]
            out[:, graph.start[e] : graph.start[e + 1]] += c / (1 if above else len(homes)) * wrong
    return out


def edge_count_losses(graph: Graph, Y: npt.NDArray[np.int8]) -> FloatArray:
    """Loss tables of the number of wrong hyperedges: 1 for every code but the true one."""
    out = np.ones((Y.shape[0], graph.n_blocks))
    np.put_along_axis(out, graph.start[:-1] + graph.codes(Y), 0.0, axis=1)
    return out
