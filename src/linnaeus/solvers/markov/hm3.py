"""Max-margin Markov models over a forest: the marginal dual, with a certificate.

    minimise_w  1/2 ||w||^2 + sum_i C_i xi_i,
    xi_i = max_y  loss(y_i, y) - w.(phi(x_i, y_i) - phi(x_i, y))      over all 2^k labelings y

phi(x, y) has one block per edge and pair of labels, phi(x) in the block that y picks. [Rousu2006]
(3) to (8), with the corrections of docs/maths/hm3.md. Two optimisers, both of one example at a
time with exact line search:

    pairwise   mass moves from the worst labeling that has some to the best one
    csga       the paper's conditional gradient, towards the best labeling

Examples with larger gaps are visited more often. The linear kernel keeps the weights current, and
no kernel matrix is made; otherwise scores come block by block from F = K N.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, check_choice
from linnaeus.inference.maxsum import Forest
from linnaeus.losses import edge_losses, markov_edges
from linnaeus.solvers.markov import hm3_fast as fast
from linnaeus.solvers.markov.hm3_rows import (
    Fitted,
    MarkovProblem,
    check_competitors,
    edge_codes,
    prepare,
)
from linnaeus.solvers.numerics.examples import Rows
from linnaeus.solvers.numerics.rounds import Rounds
from linnaeus.taxonomy import Taxonomy

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

STEPS = 8  # pairwise steps of one visit at most
ENOUGH = 0.3  # a visit ends when the gap is this part of what it was
SWEEPS = 3  # over a block of kernel rows
BLOCK = 256  # kernel rows scored at once
STRETCHES = 1.0 + 1e-3 * np.array([0.0, 0.25, 1.0, 2.0, 4.0, 10.0, 40.0])  # of the weights
EXPECTED = 0.5  # a certificate's gap by that measured in the pass before, at first
PASSES, MOST, VISITS = 8, 64, 16_384  # of a round: passes at most, more where these are few visits
EARLY = 2  # first passes, of one step a visit
TURNS = 3  # one pass of so many goes over all examples
FRESH = 16  # rounds after which the weights are made anew from nu


def solve(
    X: Any,
    Y: Any,
    parent: Any,
    *,
    loss: str = "delta",
    root_edges: str = "none",
    competitors: str = "all",
    optimizer: str = "pairwise",
    freq: int | None = None,
    precomputed: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    **made: Any,
) -> Fitted:
    """The model with one slack per example.

    Parameters
    ----------
    X : (n, d) csr_array, or the (n, n) kernel matrix if `precomputed`
    Y : (n, k) 0/1, closed: a node is on only if its parent is
    parent : (k,) parent of every node, -1 for roots; parents have the lower numbers
    loss : "delta", "unif", "sibl" or "subtree"
    root_edges : "none" or "all", see `linnaeus.losses.markov_edges`
    competitors : "all" labelings, or the "consistent" ones alone
    optimizer : "pairwise" or "csga"
    freq : steps of one visit at most; for "csga", for each time that an example is drawn
    tol : stop when the duality gap is at most this part of the objective
    max_iter : rounds at most. A round of "pairwise" has up to 16 passes, the first one eight, more
        where examples are few: one of three over all, the others over examples drawn by their
        gaps; then a certificate. One of "csga" is a working set and a certificate.
    made : C, sample_weight and dtype of `hm3_rows.prepare`; marginals, gaps and objectives are
        float64 whatever the dtype

    Returns
    -------
    `Fitted`, blocks in the order (edge, code). Every record of the trace is exact. The weights
    are those of nu times `stretch`, whichever of STRETCHES makes the objective smallest.
    """
    _check(optimizer, competitors, freq, max_iter)
    problem = prepare(X, Y, parent, precomputed=precomputed, **made)
    model = build(problem.taxonomy, loss, root_edges, competitors == "consistent")
    ascent = (_Kernel if precomputed else _Linear)(problem, model, seed)
    ascent.sweeps = SWEEPS if freq is None else 1
    rounds = Rounds(max_iter, tol)
    for n in rounds:
        _ROUNDS[optimizer](ascent, freq or STEPS, tol, n == 1)
        if n % FRESH == 0:
            ascent.renew()
        gap = ascent.certify()
        rounds.note(ascent.objective, gap)
    return ascent.fitted(rounds)


def _check(optimizer: str, competitors: str, freq: int | None, max_iter: int) -> None:
    if max_iter < 1:  # nothing would be certified
        raise UserError(f"max_iter is {max_iter!r}. Use a positive number of rounds.")
    check_choice("optimizer", optimizer, _ROUNDS)
    check_competitors(competitors)
    if freq is not None and freq < 1:
        raise UserError(f"freq is {freq!r}. Use a positive number of steps.")


def build(taxonomy: Taxonomy, loss: str, root_edges: str, consistent: bool) -> fast.ForestModel:
    """The forest, its losses by true code, and the columns in which nu is kept."""
    edges = markov_edges(taxonomy.tree, root_edges)
    forest = Forest.of(edges)
    own = (edges.parent < 0) | consistent  # "both on" is the child's own column
    column = np.where(own, edges.child, len(taxonomy) + np.cumsum(~own) - 1).astype(np.int32)
    is_open = np.isin(forest.root, edges.child, invert=True)
    parents, first = np.unique(edges.parent, return_index=True)
    opening = first[np.searchsorted(parents, forest.root[is_open])].astype(np.int32)
    table = _losses_by_code(taxonomy, loss, root_edges)
    return fast.ForestModel(
        forest.above, forest.below, forest.root, column, opening, table, consistent
    )


def _losses_by_code(taxonomy: Taxonomy, loss: str, root_edges: str) -> Values:
    """l_e(t, u), (n_edges, 4, 4): from four labelings, in which every edge meets every code."""
    edges = markov_edges(taxonomy.tree, root_edges)
    odd = taxonomy.depth % 2 == 1
    Y = np.array([np.zeros_like(odd), np.ones_like(odd), odd, ~odd]).astype(np.int8)
    tables = edge_losses(taxonomy, sp.csr_array(Y), loss, root_edges)
    out = np.zeros((edges.child.size, 4, 4))
    for code, table in zip(edge_codes(Y, edges), tables, strict=True):
        out[np.arange(code.size), code] = table
    return out


class _Ascent:
    """nu of all examples, in the columns of `hm3_fast`, and what was measured of it."""

    sweeps: int  # over a block of a kernel matrix at each visit

    def __init__(self, problem: MarkovProblem, model: fast.ForestModel, seed: int) -> None:
        _, Y, cost, data = problem
        self.model, self.Y, self.cost, self.data, self.dtype = model, Y, cost, data, data.dtype
        k = Y.shape[1]
        width = max(k, int(model.column.max(initial=-1)) + 1)
        self.Z = np.zeros((len(Y), width))
        self.work, self.s = _work(k, model.below.size, width), np.zeros(width, self.dtype)
        self.examples = fast.Examples(Y, cost, np.maximum(data.inputs.norm2, 0.0), self.Z)
        self.slacks = np.zeros((len(Y), STRETCHES.size))
        self.gaps, self.exact = np.zeros(len(Y)), np.zeros(len(Y))
        self.objective = self.dual = 0.0
        self.best, self.ratio = 0, EXPECTED
        self.rng = np.random.default_rng(seed)
        self.live = np.flatnonzero(cost > 0)

    def expand(self, V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Columns to blocks: (rows, 4 n_edges) in the order (edge, code)."""
        model = self.model
        out = np.empty((len(V), model.below.size, 4), dtype=self.dtype)
        fast.expand(model.above, model.below, model.column, V, out)
        return out.reshape(len(V), -1)

    def certify(self) -> float:
        """Exact slacks, gaps and objectives; returns the duality gap."""
        norm2, measured = self.measure(), self.gaps.sum()
        values = self.cost @ self.slacks + 0.5 * norm2 * np.square(STRETCHES)
        self.dual = float(values[0]) - max(0.0, float(self.exact.sum()))
        self.best = int(np.argmin(values))
        self.objective = float(values[self.best])
        gap = self.objective - self.dual
        if measured > 0:
            self.ratio = gap / measured
        self.gaps[:] = self.exact
        return gap

    def measure(self) -> float:
        raise UserError("This is only a base. Use a kernel matrix or a feature matrix.")

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        raise UserError("This is only a base. Use a kernel matrix or a feature matrix.")

    def renew(self) -> None:
        """Make anew, from nu, what steps have kept up to date."""

    def weights(self, stretch: float) -> Any:
        return None

    def fitted(self, rounds: Rounds) -> Fitted:
        stretch = float(STRETCHES[self.best])
        N, slack = self.expand(self.Z), self.slacks[:, self.best].copy()
        N *= stretch
        return Fitted(
            N, self.weights(stretch), slack, self.exact, self.objective, self.dual, rounds.n,
            rounds.trace, stretch,
        )  # fmt: skip


class _Linear(_Ascent):
    """Scores X V, where V holds the columns of the weights."""

    def __init__(self, *start: Any) -> None:
        super().__init__(*start)
        self.rows = Rows(*self.data.inputs[:3])
        self.V = np.zeros((self.data.matrix.shape[1], self.Z.shape[1]), dtype=self.dtype)

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        self.dual += fast.linear_pass(
            order, limits, enough, self.model, self.rows, self.examples, self.V, self.gaps,
            self.s, self.work,
        )  # fmt: skip

    def measure(self) -> float:
        norm2: float = fast.measure_linear(
            self.model, self.rows, self.examples, self.V, STRETCHES, self.slacks, self.exact,
            self.s, self.work,
        )  # fmt: skip
        return norm2

    def renew(self) -> None:
        self.V[:] = self.data.matrix.T @ self.Z

    def weights(self, stretch: float) -> Any:
        self.V *= stretch
        return self.expand(self.V)


class _Kernel(_Ascent):
    """Scores K Z, block by block."""

    def __init__(self, *start: Any) -> None:
        super().__init__(*start)
        self.K = self.data.matrix
        self.N = self.Z.astype(self.dtype)

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        for part in _blocks(order.size):
            block = order[part]
            G = self.K[block]
            F = G @ self.N
            self.dual += fast.kernel_block(
                block, limits[part], enough, self.sweeps, self.model,
                np.ascontiguousarray(G[:, block]), self.examples, F, self.N, self.gaps, self.s,
                self.work,
            )  # fmt: skip

    def measure(self) -> float:
        total = 0.0
        for part in _blocks(len(self.Y)):
            total += fast.measure_scored(
                part.start, self.model, self.K[part] @ self.N, self.examples, STRETCHES,
                self.slacks, self.exact, self.work,
            )  # fmt: skip
        return total


def _pairwise(ascent: _Ascent, limit: int, tol: float, first: bool) -> None:
    """Passes over all examples and passes over those drawn by their gaps, in turn."""
    few = PASSES if first else 2 * PASSES  # the first certificate teaches the ratio
    passes = max(few, min(MOST, VISITS // max(1, ascent.live.size)))
    for turn in range(passes):
        early = first and turn < EARLY
        order = ascent.rng.permutation(_chosen(ascent) if turn % TURNS else ascent.live)
        ascent.visit(order, np.full(order.size, 1 if early else limit), ENOUGH)
        if ascent.ratio * ascent.gaps.sum() <= tol * ascent.dual:
            break


def _chosen(ascent: _Ascent) -> Numbers:
    """Whom as many draws as there are examples would find, with Poisson counts."""
    draws = _share(ascent) * ascent.live.size
    return np.flatnonzero(ascent.rng.random(draws.size) < -np.expm1(-draws))


def _csga(ascent: _Ascent, freq: int, tol: float, first: bool) -> None:
    """A working set drawn by gap, with replacement; twice drawn, twice as many steps."""
    drawn = ascent.rng.choice(ascent.gaps.size, size=ascent.live.size, p=_share(ascent))
    chosen, count = np.unique(drawn, return_counts=True)
    order = ascent.rng.permutation(chosen.size)
    ascent.visit(chosen[order], -freq * count[order], 0.0)


def _share(ascent: _Ascent) -> Values:
    """Of each example in the gaps; all alike where there are none."""
    gaps = np.maximum(ascent.gaps, 0.0)
    if not gaps.any():
        gaps = np.ones_like(gaps)
    share: Values = gaps / gaps.sum()
    return share


_ROUNDS = {"pairwise": _pairwise, "csga": _csga}


def _blocks(n: int) -> Iterator[slice]:
    return (slice(a, min(a + BLOCK, n)) for a in range(0, n, BLOCK))


def _work(k: int, n_edges: int, width: int) -> fast.ForestWork:
    return fast.ForestWork(
        h=np.zeros((n_edges, 4)), mu=np.zeros((n_edges, 4)), code=np.zeros(n_edges, np.int8),
        up=np.zeros((k, 2)), ends=np.zeros((k, 4)), pick=np.zeros(n_edges, np.int8),
        to=np.zeros(k, np.int8), away=np.zeros(k, np.int8), changed=np.zeros(n_edges, np.int32),
        part=np.zeros(k, np.int32), gain=np.zeros(k), room=np.zeros(k), size=np.zeros(k, np.int32),
        score=np.zeros(width), step=np.zeros(width), moved=np.zeros(width, np.int32),
    )  # fmt: skip
