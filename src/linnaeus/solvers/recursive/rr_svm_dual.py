"""Recursive regularisation in its joint dual: all classes at once, other nodes eliminated.

    maximise_A  sum A - conj(A) - 1/2 tr(V' K V),      V_n = sum_i A_in y_in x_i,   0 <= A (<= C)

K is the inverse of the grounded Laplacian of [GopalYang2015] (10), restricted to the classes. With
R = L_II - L_IT S^-1 L_TI = F F' (F triangular, nodes below before nodes above)

    K = S^-1 + B B',   B = mix F^-T,   W_T = V / S + B D,   W_I = F^-T D,   D = B' V.

On a tree row n of B has an entry for each node above n: an edge of conductance c adds 1/c to the
variance of everything below it, and D holds what the nodes have in common.

Classes are solved in blocks. A round visits them all a few times, each class one after the other
with its part of D brought up to date, and a few blocks side by side: of their joint step the share
H / (H + X) is taken, H and X being the squared length of the single steps and of what crosses,
which never lowers the dual. Then a sweep over all examples certifies the whole: with W = K V the
gap is the sum of terms, never negative, of the single classes (`svm_fast`).

Near the optimum many margins fall short by a little, and the primal value lies much further from
the optimum than the dual. Two remedies: the same sweep tries weights that are longer by a little;
and once the dual hardly rises, D is kept and every class finds its best weights for itself.

Where features are few or differ in size, coordinates crawl; `rr_svm_newton` goes on from there.

Where memory is short (`JointOptions.compact`), rows of D are sparse (`rr_svm_rows`), nothing is
kept that a visit can make anew, and the answer is the parts U and D of the weights (`rr_parts`):
their sums W are dense as soon as the row of a root is. A sweep costs far more than visits there, so
a first round only finds who matters, and later ones visit the classes more often and end with every
class solved for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import CHECKPOINT, Executor
from linnaeus.solvers.linear import svm_duals
from linnaeus.solvers.numerics.examples import FloatArray, Joint, Rows, Solution, squared_norms
from linnaeus.solvers.numerics.rounds import Rounds
from linnaeus.solvers.recursive import rr_svm_blocks as blocks
from linnaeus.solvers.recursive.rr_finish import Finish
from linnaeus.solvers.recursive.rr_machine import Coupling
from linnaeus.solvers.recursive.rr_parts import PathWeights, assembled, put_rows
from linnaeus.solvers.recursive.rr_svm_blocks import STRETCHES, Duals, JointOptions, Lanes, Step
from linnaeus.solvers.recursive.rr_svm_rows import DenseRows, SparseRows

SIDE_BY_SIDE = 2  # blocks visited at the same time at least, whatever the number of workers
CLOSE_BY = 8  # the same, where memory is short: their changes are kept until all are there
AT_ONCE = 64  # blocks whose answers may wait in memory, where that is short
CYCLES = 6  # visits of every class in a round; doubled every second round after some
MANY_CYCLES = 18  # after the first round, where memory is short: sweeps are dear
SMALL = 10_000_000  # nonzeros times classes up to which rounds may become long
NEAR = 10.0  # times the tolerance: the gap of a start that only its weights may be to blame for
FAR = 1.5  # times the tolerance: a gap that is not left to the sweeps alone
ENOUGH = (4.0, 0.5)  # hinge, squared hinge: of the tolerance, the gap seen that is small enough
ALONE = 10  # visits to an example that matters, of a class for itself
SLOW = 10.0  # times the work done, that second-order steps may cost where the gap falls slowly


def solve(
    problem: Finish, options: JointOptions, *, start: sp.csr_array | None = None, tol: float,
    max_rounds: int, dtype: Any, executor: Executor,
) -> Joint:  # fmt: skip
    """Rounds of visits and a sweep until the relative duality gap is `tol`.

    start : (n, n_classes), dual variables; they are cut to what the costs allow
    """
    X, Y, found, weight, cost, *_ = problem
    examples = [Rows.of(X, dtype), squared_norms(X, 0.0).astype(dtype), weight.astype(dtype)]
    lanes = blocks.blocks_of(Y, X.shape[1], found, cost, options, dtype)
    state = _JointState(found.mix.shape[1], X.shape[1], lanes, examples, executor)
    newton = np.inf if options.compact else problem.work()
    rounds = Rounds(max_rounds, tol)
    about = ["rr_svm_dual", examples, lanes, start] if CHECKPOINT.get() else []
    if not rounds.keep(about, state.taken, state.restore):
        if start is None:
            state.start()
        else:
            state.resume(sp.csc_array(start), rounds)
    P, best = _run(state, X.nnz * Y.shape[1] <= SMALL, newton, rounds)
    A, (coef, intercept, W_I) = state.dual_variables(), state.weights(found)
    objective, lower, trace = np.array([P]), np.array([min(best, P)]), rounds.trace
    result = Joint(Solution(coef, intercept, objective, lower, len(trace), trace), W_I)
    if 20.0 * state.spent > newton:
        result, A = problem(result, A, tol, dtype)
    return result._replace(duals=svm_duals.signed(A, Y))


def _run(state: _JointState, small: bool, newton: float, rounds: Rounds) -> tuple[float, float]:
    """Until the gap is small enough, or no longer falls, or second-order steps are better.

    newton : their work
    Returns the primal value of the state, and the largest dual value.
    """
    tol, squared, dtype = rounds.tol, state.blocks[0].options.squared, state.D.dtype
    compact = state.D.compact
    rise = 10 * float(np.finfo(dtype).eps)  # below this the dual no longer rises
    patience, most = (3, 7) if small else (10, 3)
    (P, gap), stuck = state.reached, 0
    best, least = P - gap if np.inf > P else -np.inf, gap
    n_early, slow = 0, False  # rounds that seemed to have done enough; the last one did little
    if state.course is not None:
        P, gap, stuck, best, least, n_early, slow = state.course
    for n_rounds in rounds:
        enough = ENOUGH[squared] * 0.5**n_early * tol
        known = compact and least < np.inf  # who matters, from a sweep
        n_cycles = (MANY_CYCLES if known else CYCLES) << min(max(0, n_rounds - patience) // 2, most)
        n_cycles = -(-n_cycles // state.n_passes)
        early = any(state.cycle() <= enough for _ in range(n_cycles))
        n_early += early
        far = n_rounds == 1 or gap > FAR * tol * P
        ready = known if compact else early or slow
        P, gap = state.alone(tol) if ready and far else state.certify()
        rounds.note(P, gap)
        better = P - gap > best + rise * abs(P) or gap < 0.9 * least
        stuck = 0 if better else stuck + 1
        slow = gap > 0.5 * least
        best, least = max(best, P - gap), min(least, gap)
        state.course = P, gap, stuck, best, least, n_early, slow
        if stuck > 4 or (n_rounds > 1 and (SLOW if slow else 1.0) * state.spent > newton):
            break
    return P, best


def _part_way(step: Step, share: float) -> Duals:
    """So far from the dual variables before a step to those after it."""
    duals, before = step.duals, step.before
    a = before + before.dtype.type(share) * (duals.a - before)
    return duals._replace(a=a, live=np.diff(duals.ptr))


class _JointState:
    """D = B' V, and the dual variables of every block."""

    def __init__(
        self, n_inner: int, d: int, lanes: list[Lanes], examples: list[Any], executor: Executor
    ) -> None:
        compact = lanes[0].options.compact
        kind = SparseRows if compact else DenseRows
        self.D: SparseRows | DenseRows = kind(n_inner, d + 1, examples[2].dtype)
        self.blocks, self.executor, self.n_cycles, self.stretch = lanes, executor, 0, 1.0
        self.duals: list[Any] = [None] * len(lanes)
        self.answer: list[Duals] | None = None  # of blocks solved for themselves, D being kept
        self.reached = (np.inf, np.inf)  # primal value and gap of the start
        self.course: Any = None  # what `_run` knows of the rounds so far
        self.examples = [executor.put(array) for array in examples]
        rows, _, self.weight = examples
        self.spent, self.length = 0.0, rows.data.size / self.weight.size + 1  # multiplications
        turned = any(block.turn is not None for block in lanes)
        together = CLOSE_BY if compact else max(SIDE_BY_SIDE, len(lanes) // 16)
        together = min(together, CLOSE_BY) if turned else together
        self.n_passes = max(block.n_passes for block in lanes)
        n = -(-len(lanes) // together)
        self.phases = [list(range(k, len(lanes), n)) for k in range(n)]  # far from each other

    def taken(self) -> Any:
        """The state between two rounds, as a plain value."""
        own = self.n_cycles, self.stretch, self.reached, self.spent, self.course
        return self.D.take(), self.duals, self.answer, own

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        D, self.duals, self.answer, own = found
        self.D.restore(D)
        self.n_cycles, self.stretch, self.reached, self.spent, self.course = own

    def _each(self, function: Any, some: Any, *more: Any) -> Iterator[Any]:
        """What a function makes of some blocks, their rows of D and dual variables."""
        tasks = [self._task(b, *more) for b in some]
        return self.executor.map(function, self.examples, tasks)

    def _task(self, b: int, *more: Any) -> tuple[Any, ...]:
        lanes = self.blocks[b]
        return (lanes, self.D.part(lanes.inner), self.duals[b], *more)

    def _every(self, function: Any, *more: Any) -> Iterator[Any]:
        """The same for all blocks, in order."""
        n = len(self.blocks)
        step = AT_ONCE if self.D.compact else n
        for k in range(0, n, step):
            yield from self._each(function, range(k, min(k + step, n)), *more)

    def start(self) -> None:
        """Every block from nothing."""
        self._count(self.weight.size * self._n_classes())
        for phase in self.phases:
            self.take(phase, list(self._each(blocks.first_visit, phase)))

    def _n_classes(self) -> int:
        return sum(block.columns.size for block in self.blocks)

    def resume(self, start: sp.csc_array, rounds: Rounds) -> None:
        """Every block from given dual variables, and what they are worth."""
        for b, block in enumerate(self.blocks):
            self.duals[b] = blocks.taken(start[:, block.columns], block, self.weight)
        self._renew()
        self.reached = self.certify()
        if not rounds.note(*self.reached) and rounds.gap <= NEAR * rounds.target:
            self.reached = self.alone(rounds.tol)
            rounds.note(*self.reached)

    def _count(self, n_visits: int) -> None:
        self.spent += n_visits * self.length

    def cycle(self) -> float:
        """Every class once; returns the relative gap seen on the way."""
        self.n_cycles += 1
        self._count(self.n_passes * sum(int(duals.live.sum()) for duals in self.duals))
        gap = value = 0.0
        for phase in self.phases:
            steps = list(self._each(blocks.visit, phase, self.n_cycles))
            gap += sum(float(step.measured[0]) for step in steps)
            value += sum(float(step.measured[1]) for step in steps)
            self.take(phase, steps)
        return gap / max(value, 1e-300)

    def certify(self) -> tuple[float, float]:
        """The primal value and the gap; examples that matter are listed anew."""
        self.answer = None
        return self._note(self._every(blocks.sweep))

    def _note(self, swept: Iterator[blocks.Swept]) -> tuple[float, float]:
        """What sweeps say together; each block's list takes the place of that before."""
        self._count(self.weight.size * self._n_classes())
        size, gap, loss = 0.0, 0.0, np.zeros(len(STRETCHES))
        for b, seen in enumerate(swept):
            self.duals[b] = seen.duals
            size, gap, loss = size + seen.size, gap + seen.gap, loss + seen.loss
        values = 0.5 * np.square(STRETCHES) * size + loss
        lower = float(values[0]) - max(gap, 0.0)
        self.stretch = STRETCHES[int(np.argmin(values))]
        return float(values.min()), float(values.min()) - lower

    def alone(self, tol: float) -> tuple[float, float]:
        """Likewise, for the best weights that go with this D."""
        self._count(ALONE * sum(int(duals.ptr[-1]) for duals in self.duals))
        answer, objective = [], []

        def swept() -> Iterator[blocks.Swept]:
            for found in self._every(blocks.descend, tol):
                answer.append(found.duals)
                objective.append(found.objective)
                yield found.swept

        P, gap = self._note(swept())
        value = sum(objective) + 0.5 * self.D.square()
        self.answer = answer if value < P else None
        return (value, gap - (P - value)) if value < P else (P, gap)

    def dual_variables(self) -> sp.csr_array:
        """A, (n, n_classes)."""
        shape = (self.weight.size, self._n_classes())
        here = [np.flatnonzero(duals.a) for duals in self.duals]
        pairs = list(zip(self.duals, here, strict=True))
        a, rows = (np.concatenate([getattr(d, k)[at] for d, at in pairs]) for k in ("a", "rows"))
        columns = np.concatenate(
            [
                block.columns[duals.lane()[at]].astype(np.int32)
                for block, (duals, at) in zip(self.blocks, pairs, strict=True)
            ]
        )
        return sp.csr_array(sp.coo_array((a, (rows, columns)), shape))

    def weights(self, found: Coupling) -> tuple[Any, npt.NDArray[np.float64], Any]:
        """Weights and intercepts of all classes, and the weights of the other nodes."""
        if self.answer is None:
            self._renew()
        else:
            self.duals = self.answer
        if isinstance(self.D, SparseRows):
            return self._parts(self.D, found)
        n_classes = self._n_classes()
        coef = np.empty((n_classes, self.D.width - 1), dtype=self.D.dtype)
        intercept = np.empty(n_classes)
        made = self._every(blocks.final_weights)
        for block, (W, w_bias) in zip(self.blocks, made, strict=True):
            coef[block.columns] = self.stretch * W
            intercept[block.columns] = self.stretch * block.options.bias * w_bias
        W_I = self.stretch * np.asarray(found.upward.astype(self.D.dtype) @ self.D.D)
        return coef, intercept, W_I

    def _parts(self, D: SparseRows, found: Coupling) -> tuple[PathWeights, Any, FloatArray]:
        """The same in parts; of the other nodes the weights of the constant feature alone."""
        d, bias = D.width - 1, self.blocks[0].options.bias
        common, last = D.taken_out(self.stretch)
        links, up = (sp.csr_array(M, dtype=D.dtype) for M in (found.mix, found.upward))
        counts, w_bias = np.zeros((2, self._n_classes()))
        for block, n_own in zip(self.blocks, self._own(blocks.final_counts), strict=True):
            counts[block.columns] = n_own
        arrays = assembled(counts, d, D.dtype)
        for block, (own, last_own) in zip(self.blocks, self._own(blocks.final_parts), strict=True):
            put_rows(arrays, block.columns, own)
            w_bias[block.columns] = last_own
        arrays[0][:] *= D.dtype.type(self.stretch)
        intercept = bias * (self.stretch * w_bias + links @ (up @ last))
        own = sp.csr_array(arrays, (counts.size, d))
        return PathWeights(own, common, links, up), intercept, np.asarray(up @ last)

    def _own(self, function: Any) -> Iterator[Any]:
        """What a function makes of all blocks and their dual variables alone."""
        pairs = list(zip(self.blocks, self.duals, strict=True))
        for k in range(0, len(pairs), AT_ONCE):
            yield from self.executor.map(function, self.examples, pairs[k : k + AT_ONCE])

    def _renew(self) -> None:
        """D from the dual variables, without rounding's share."""
        self.D.clear()
        for block, change in zip(self.blocks, self._every(blocks.refresh), strict=True):
            self.D.add(block.inner, change, turn=block.turn)

    def take(self, phase: list[int], steps: list[Step]) -> None:
        """Go as far along the joint step as surely does not lower the dual."""
        share = 1.0 if len(phase) == 1 else self._share(phase, steps)
        for b, step in zip(phase, steps, strict=True):
            self.D.add(self.blocks[b].inner, step.common, share, self.blocks[b].turn)
            self.duals[b] = step.duals if share == 1.0 else _part_way(step, share)

    def _share(self, phase: list[int], steps: list[Step]) -> float:
        """H / (H + X), at most 1: the single steps, and what crosses where they meet."""
        inner = [self.blocks[b].inner for b in phase]
        single = sum(step.size + step.common.square() for step in steps)
        turns = [self.blocks[b].turn for b in phase]
        crossed = self.D.crossed(inner, [step.common for step in steps], turns)
        return min(1.0, single / max(single + crossed, 1e-300))
