"""Max-margin Markov models over a forest: the marginal dual, with a certificate.

    minimise_w  1/2 ||w||^2 + sum_i C_i xi_i,
    xi_i = max_y  loss(y_i, y) - w.(phi(x_i, y_i) - phi(x_i, y))      over all 2^k labelings y

phi(x, y) has one block per edge and pair of labels, phi(x) in the block that y picks. [Rousu2006]
(3) to (8), with the corrections of docs/maths/hm3.md. Two optimisers, both of one example at a
time with exact line search:

    pairwise   mass moves from the worst labeling that has some to the best one
    csga       the paper's conditional gradient, towards the best labeling

Examples with larger gaps are visited more often. The linear kernel keeps the weights current, and
no kernel matrix is made; otherwise scores come block by block from F = K N. Once pairwise steps
have taken as long as the interior point method would (`hm3_interior`: few nodes and features), that
one finishes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError, check_choice
from linnaeus.execution import Executor, one_blas_thread, over_blocks
from linnaeus.solvers.markov import hm3_fast as fast
from linnaeus.solvers.markov import hm3_interior as interior
from linnaeus.solvers.markov.hm3_forest import build, machine_of, width_of
from linnaeus.solvers.markov.hm3_rows import (
    CUBE,
    FINISH,
    Fitted,
    MarkovProblem,
    check_competitors,
    prepare,
)
from linnaeus.solvers.numerics.examples import Rows
from linnaeus.solvers.numerics.rounds import Rounds
from linnaeus.solvers.numerics.row_parts import RowParts

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

STEPS = 8  # pairwise steps of one visit at most
ENOUGH = 0.3  # a visit ends when the gap is this part of what it was
SWEEPS = 3  # over a block of kernel rows
BLOCK = 256  # kernel rows scored before any is visited
PART = 64  # of these by one worker
STRETCHES = 1.0 + 1e-3 * np.array([0.0, 0.25, 1.0, 2.0, 4.0, 10.0, 40.0])  # of the weights
EXPECTED = 0.5  # a certificate's gap by that measured in the pass before, at first
PASSES, MOST, VISITS = 8, 64, 16_384  # of a round: passes at most, more where these are few visits
EARLY = 2  # first passes, of one step a visit
TURNS = 3  # one pass of so many goes over all examples
VISIT = 300.0  # nanoseconds of a visit, for each edge, beside the scores
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
    executor: Executor | None = None,
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
        gaps; then a certificate. One of "csga" is a working set and a certificate, one of the
        interior point method an optimum over the labelings found so far.
    executor : where certificates are measured, in parts; visits are one after the other
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
    ascent = (_Kernel if precomputed else _Linear)(problem, model, seed, executor)
    ascent.sweeps = SWEEPS if freq is None else 1
    rounds = Rounds(max_iter, tol)
    rounds.keep(["hm3", *ascent.about(), optimizer, freq, seed], ascent.take, ascent.restore)
    for n in rounds:
        _ROUNDS[optimizer](ascent, freq or STEPS, tol, n == 1)
        if n % FRESH == 0:
            ascent.renew()
        gap = ascent.certify()
        rounds.note(ascent.objective, gap)
        if optimizer == "pairwise" and not rounds.done and ascent.spent > ascent.finish_work():
            ascent.finish(rounds)
    return ascent.fitted(rounds)


def _check(optimizer: str, competitors: str, freq: int | None, max_iter: int) -> None:
    if max_iter < 1:  # nothing would be certified
        raise UserError(f"max_iter is {max_iter!r}. Use a positive number of rounds.")
    check_choice("optimizer", optimizer, _ROUNDS)
    check_competitors(competitors)
    if freq is not None and freq < 1:
        raise UserError(f"freq is {freq!r}. Use a positive number of steps.")


class _Ascent:
    """nu of all examples, in the columns of `hm3_fast`, and what was measured of it."""

    sweeps: int  # over a block of a kernel matrix at each visit

    def __init__(
        self, problem: MarkovProblem, model: fast.ForestModel, seed: int, executor: Executor | None
    ) -> None:
        _, Y, cost, data = problem
        self.executor = executor
        self.model, self.Y, self.cost, self.data, self.dtype = model, Y, cost, data, data.dtype
        k = Y.shape[1]
        width = width_of(model, k)
        self.Z = self.held = np.zeros((len(Y), width))  # held: what the weights are made of
        self.work, self.s = self._space()
        self.examples = fast.Examples(Y, cost, np.maximum(data.inputs.norm2, 0.0), self.Z)
        self.slacks = np.zeros((len(Y), STRETCHES.size))
        self.gaps, self.exact = np.zeros(len(Y)), np.zeros(len(Y))
        self.objective = self.dual = 0.0
        self.best, self.ratio = 0, EXPECTED
        self.spent = 0.0  # nanoseconds, about
        entries = data.matrix.nnz if data.linear else data.matrix.size
        self.visit_work = entries / len(Y) * width + VISIT * model.below.size
        self.rng = np.random.default_rng(seed)
        self.live = np.flatnonzero(cost > 0)

    def _space(self) -> tuple[fast.ForestWork, npt.NDArray[Any]]:
        """Scratch of one worker, the scores of an example in the type of the weights last."""
        k, width = self.Y.shape[1], self.Z.shape[1]
        return _work(k, self.model.below.size, width), np.zeros(width, self.dtype)

    def about(self) -> tuple[Any, ...]:
        """The problem as plain values."""
        return self.data.plain(), self.Y, self.cost, self.model

    def take(self) -> Any:
        """The state between two rounds, in which the weights are those of Z."""
        measured = self.slacks, self.gaps, self.exact, self.objective, self.dual
        own = self.best, self.ratio, self.spent, self.rng.bit_generator.state
        return self.Z, self.columns(), measured, own

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.Z[:], self.columns()[:], measured, own = found
        self.slacks, self.gaps, self.exact, self.objective, self.dual = measured
        self.best, self.ratio, self.spent, self.rng.bit_generator.state = own

    def columns(self) -> npt.NDArray[Any]:
        """What scores are made of."""
        raise UserError("This is only a base. Use a kernel matrix or a feature matrix.")

    def expand(self, V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Columns to blocks: (rows, 4 n_edges) in the order (edge, code)."""
        model = self.model
        out = np.empty((len(V), model.below.size, 4), dtype=self.dtype)
        fast.expand(model.above, model.below, model.column, V, out)
        return out.reshape(len(V), -1)

    def certify(self, best: interior.Optimum | None = None) -> float:
        """Exact slacks, gaps and objectives; returns the duality gap.

        best : whose weights are measured, where they are not those of nu
        """
        norm2, measured = self.measure(), self.gaps.sum()
        norm2 = norm2 if best is None else float(np.square(best.M).sum())
        values = self.cost @ self.slacks + 0.5 * norm2 * np.square(STRETCHES)
        below = float(values[0]) - max(0.0, float(self.exact.sum()))
        self.dual = below if best is None else best.dual
        self.best = int(np.argmin(values))
        self.objective = float(values[self.best])
        gap = self.objective - self.dual
        if measured > 0:
            self.ratio = gap / measured
        self.gaps[:] = self.exact
        return gap

    def finish_work(self) -> float:
        """What `finish` takes, in the unit of `spent`."""
        n = self.live.size
        f = self.coordinates.shape[1] if self.spent > CUBE * n**3 else n
        return interior.work(n, self.Z.shape[1], min(f, self.data.matrix.shape[1]))

    def finish(self, rounds: Rounds) -> None:
        """Let the interior point method take over; what it finds stays if it is better.

        Where costs are large its own weights may have a much smaller objective than those of its
        multipliers, from which they hardly differ.
        """
        live, self.spent = self.live, -np.inf
        squares = np.square(self.coordinates).sum(axis=1)
        if not np.allclose(squares, self.examples.square[live], rtol=1e-5):
            return  # a kernel matrix with negative eigenvalues
        machine = machine_of(self.model, self.coordinates, self.Y[live], self.cost[live])
        best = interior.minimise(machine, rounds, FINISH * rounds.tol)
        gap = self.objective - self.dual
        if best.primal - best.dual >= gap:
            rounds.note(self.objective, gap)
            return
        self.Z[live] = machine.cost[:, None] * machine.truth - best.mean
        self.renew()
        gap = self.certify()
        if gap > rounds.tol * abs(self.objective):
            self.held = np.zeros_like(self.Z)
            self.held[live] = interior.multipliers(machine, best)
            self.renew()
            gap = self.certify(best)
        rounds.note(self.objective, gap)
        if rounds.go_on():
            self.held = self.Z
            self.renew()

    @cached_property
    def coordinates(self) -> Values:
        """Examples with costs, in few coordinates."""
        return self.data.coordinates(self.live)

    def measure(self) -> float:
        raise UserError("This is only a base. Use a kernel matrix or a feature matrix.")

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        raise UserError("This is only a base. Use a kernel matrix or a feature matrix.")

    def renew(self) -> None:
        """Make anew, from `held`, what steps have kept up to date."""

    def weights(self, stretch: float) -> Any:
        return None

    def fitted(self, rounds: Rounds) -> Fitted:
        stretch = float(STRETCHES[self.best])
        N, slack = self.expand(self.held), self.slacks[:, self.best].copy()
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
        self.over = RowParts(self.rows, self.V.shape, self.executor)

    def columns(self) -> npt.NDArray[Any]:
        return self.V

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        self.dual += fast.linear_pass(
            order, limits, enough, self.model, self.rows, self.examples, self.V, self.gaps,
            self.s, self.work,
        )  # fmt: skip

    def measure(self) -> float:
        def measure(part: slice, rows: Rows) -> float:
            examples, (work, s) = fast.Examples(*(a[part] for a in self.examples)), self._space()
            norm2: float = fast.measure_linear(
                self.model, rows, examples, self.V, STRETCHES, self.slacks[part],
                self.exact[part], s, work,
            )  # fmt: skip
            return norm2

        return float(sum(self.over.each(measure)))

    def renew(self) -> None:
        self.V[:] = self.data.matrix.T @ self.held

    def weights(self, stretch: float) -> Any:
        self.V *= stretch
        return self.expand(self.V)


class _Kernel(_Ascent):
    """Scores K Z, block by block."""

    def __init__(self, *start: Any) -> None:
        super().__init__(*start)
        self.K = self.data.matrix
        self.N = self.Z.astype(self.dtype)

    def columns(self) -> npt.NDArray[Any]:
        return self.N

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        for part in _blocks(order.size):
            block = order[part]
            G, F = self._scored(block)
            self.dual += fast.kernel_block(
                block, limits[part], enough, self.sweeps, self.model,
                np.ascontiguousarray(G[:, block]), self.examples, F, self.N, self.gaps, self.s,
                self.work,
            )  # fmt: skip

    def _scored(self, block: Numbers) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Rows of the kernel matrix, and their scores, in parts."""
        G = np.empty((block.size, len(self.K)), dtype=self.K.dtype)
        F = np.empty((block.size, self.N.shape[1]), dtype=self.N.dtype)

        def score(part: slice) -> None:
            G[part] = self.K[block[part]]
            F[part] = G[part] @ self.N

        with one_blas_thread():
            parts = [slice(a, a + PART) for a in range(0, block.size, PART)]
            list(over_blocks(score, (), parts, self.executor))
        return G, F

    def renew(self) -> None:
        self.N[:] = self.held

    def measure(self) -> float:
        def measure(part: slice) -> float:
            norm2: float = fast.measure_scored(
                part.start, self.model, self.K[part] @ self.N, self.examples, STRETCHES,
                self.slacks, self.exact, self._space()[0],
            )  # fmt: skip
            return norm2

        with one_blas_thread():
            parts = list(_blocks(len(self.Y)))
            return float(sum(over_blocks(measure, (), parts, self.executor)))


def _pairwise(ascent: _Ascent, limit: int, tol: float, first: bool) -> None:
    """Passes over all examples and passes over those drawn by their gaps, in turn."""
    few = PASSES if first else 2 * PASSES  # the first certificate teaches the ratio
    passes = max(few, min(MOST, VISITS // max(1, ascent.live.size)))
    for turn in range(passes):
        early = first and turn < EARLY
        order = ascent.rng.permutation(_chosen(ascent) if turn % TURNS else ascent.live)
        ascent.visit(order, np.full(order.size, 1 if early else limit), ENOUGH)
        ascent.spent += order.size * ascent.visit_work
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
