"""One support vector machine per class, many classes over one matrix, each with its certificate.

    minimise_w  S/2 ||w - m||^2 + C sum_i c_i loss(y_i w.x_i)          for every class

loss(z) = max(0, 1 - z) or its square, m a prior mean (zero if not given), S a strength. Classes are
solved in blocks, each a task of its own. A block goes through

    1. a few epochs over its positive examples, those of its other classes and some others;
    2. one epoch over all examples, which tells who matters to which class;
    3. rounds: every class visits the examples that matter to it until its measured gap has
       fallen far enough, and looks now and then who else does since its constant has moved; then
       a sweep over all examples gives the exact gap, P - D, and who matters now. The block is
       done when the gap is at most `tol` times its objective, mostly after one round.

The steps are in `svm_fast`. Every class is at most its own gap away from its optimum. Weights that
no cache holds have the most frequent features first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import Blocks, Executor, over_blocks, task
from linnaeus.execution.memory import Plan
from linnaeus.solvers.linear import svm_duals, svm_newton
from linnaeus.solvers.linear import svm_fast as fast
from linnaeus.solvers.linear.svm_lanes import (
    CACHED,
    by_frequency,
    cheapest,
    class_rows,
    listed,
    squared_lengths,
)
from linnaeus.solvers.numerics import gram
from linnaeus.solvers.numerics.examples import (
    FloatArray,
    Rows,
    Solution,
    squared_norms,
    weighted_examples,
)
from linnaeus.solvers.numerics.rounds import Record, Rounds, joined_traces

LANES = 32  # classes in a block: 128 bytes of float32 weights a feature
WARM_EPOCHS = 3
WARM_OTHERS = 2  # other examples drawn for every positive one
TOGETHER = 16  # rows that lie together are visited together when all are
INNER_EPOCHS = 10  # most of a round; doubled from round to round
MOST_EPOCHS = 500
FIRST_EPOCHS = 2  # before a class looks who else matters now; later as many as it has made
FALL = 0.005  # how far the gap can fall in a round
ENOUGH = 0.4  # of the tolerance: the measured gap at which a class stops
UNSURE = 6e-4  # the least gap to aim at with lists that no sweep has made
DROPPED = 0.1  # of the gap that is left: what weights add to it that are dropped, each by itself
MATTER = 1000  # examples that matter to a class of a large problem, for plans
FILLED = 5000  # weights that it keeps, likewise
NOTHING = 1e-6  # of the largest weight of a class: what rounding leaves


class SvmOptions(NamedTuple):
    """What is the same for all blocks."""

    squared: bool
    bias: float
    tol: float
    max_iter: int
    seed: int
    prune: float
    keep_duals: bool
    sparse: bool = False  # drop what the certificate has room for


class SvmTask(NamedTuple):
    """One block of classes: plain arrays."""

    number: int
    positives: sp.csr_array  # (n, lanes)
    cost: FloatArray  # (2, lanes): C / S times class weights, negatives and positives
    mean: FloatArray | None  # (lanes, d + 1): prior mean, that of the constant feature last
    duals: sp.csr_array | None  # (n, lanes) to start from
    options: SvmOptions


class SvmBlock(NamedTuple):
    """The answer for one block."""

    coef: Any  # (d, lanes) array, or (lanes, d) csr_array if sparse; None once collected
    w_bias: FloatArray  # (lanes,)
    objective: npt.NDArray[np.float64]  # (lanes,)
    dual: npt.NDArray[np.float64]
    duals: sp.csc_array | None
    n_iter: int
    n_visits: int
    pruned: float  # by how much pruning raised the objective
    trace: list[Record]  # after each round


def solve(
    X: sp.csr_array,
    Y: sp.csr_array,
    *,
    C: float = 1.0,
    loss: str = "squared_hinge",
    strength: Any = 1.0,
    mean: FloatArray | None = None,
    bias: float = 0.0,
    sample_weight: FloatArray | None = None,
    class_weight: FloatArray | None = None,
    start: sp.csr_array | None = None,
    tol: float = 1e-3,
    max_iter: int = 100,
    dtype: Any = np.float64,
    seed: int = 0,
    prune: float = 0.0,
    keep_duals: bool = False,
    sparse: bool = False,
    sink: Any = None,
    executor: Executor | None = None,
) -> tuple[Solution, list[SvmBlock]]:
    """Solve for every column of the 0/1 matrix Y.

    strength : S, a number or one per class
    mean : (n_classes, n_features + 1), the prior mean of the constant feature last
    bias : size of the constant feature, regularised like any other; 0 for none
    class_weight : (2, n_classes), factors of the cost of negatives and of positives
    start : (n, n_classes), signed `dual_variables` of an earlier solve
    prune : weights below this are dropped at the end; `coef` is then sparse
    sparse : weights are dropped as long as the gap stays within `tol`; `coef` is then sparse
    sink : has `append(rows)` for sparse weights, block after block; `coef` is then None
    """
    X, Y, weight = weighted_examples(X, Y, C, sample_weight)
    if start is not None:
        start = svm_duals.unsigned(svm_duals.of_weighted(start, sample_weight), Y)
    options = SvmOptions(
        loss == "squared_hinge", float(bias), tol, max_iter, seed, prune, keep_duals, sparse
    )
    old = None
    if Y.shape[1] > 2 * LANES and X.shape[1] * LANES * np.dtype(dtype).itemsize > CACHED:
        X, old = by_frequency(X)
        mean = None if mean is None else mean[:, np.append(old, old.size)]
    shared = shared_arrays(X, weight, bias, dtype)
    weights, blocks = _Weights((Y.shape[1], X.shape[1]), dtype, old, sink), []
    tasks = _tasks(Y, C, strength, mean, class_weight, start, dtype, options)
    started = time.perf_counter()
    for block in over_blocks(solve_block, shared, tasks, executor):
        weights.add(block)
        blocks.append(block._replace(coef=None))
    S = np.broadcast_to(np.asarray(strength, dtype=float), Y.shape[1])
    return _joined(weights.coef, blocks, S, bias, time.perf_counter() - started), blocks


def plan(
    X: sp.csr_array, Y: sp.csr_array, dtype: Any, limit: int, sparse: bool, keep_duals: bool
) -> Plan:
    """The memory that `solve` takes; weights are on disk if need be, and duals then not kept.

    sparse : whether weights are pruned anyway
    keep_duals : whether dual variables are kept in any case
    """
    (n, d), K, size = X.shape, Y.shape[1], np.dtype(dtype).itemsize
    given = X.nnz * (X.data.itemsize + X.indices.itemsize) + n * X.indptr.itemsize
    renamed = X.nnz * (2 * size + 8) + 16 * n  # numbered anew, as rows, and what that takes
    duals = 3 * (size + 4) * min(MATTER * K, n * K)  # of the blocks, as one matrix, and by rows
    fixed = {"examples": given + renamed, "labels": 24.0 * Y.nnz + 8.0 * (n + K)}
    kept = fixed | {"dual variables": float(duals)}
    lanes = min(LANES, K)
    worker = lanes * (n * (3 * size + 12) + d * (4 * size + 8)) + 0.0
    weights = K * min(d, FILLED) * (size + 4) if sparse else K * d * size
    whole = Plan(limit, kept | {"weights": float(weights)}, worker)
    if whole.needed <= limit:
        return whole
    return Plan(limit, kept if keep_duals else fixed, worker, on_disk=True)


def dual_variables(
    blocks: list[SvmBlock], Y: sp.csr_array, sample_weight: Any = None, strength: Any = 1.0
) -> sp.csr_array:
    """What blocks that kept their dual variables leave as a start: (n, n_classes), signed."""
    A = sp.csr_array(sp.hstack([block.duals for block in blocks]))
    A = svm_duals.of_everybody(sp.csr_array(A * np.asarray(strength, A.dtype)), sample_weight)
    return svm_duals.signed(A, Y)


class _Weights:
    """The weights of all blocks in one piece, those of a block being copied and let go at once.

    old : the number of each feature; None for as they are
    """

    def __init__(self, shape: tuple[int, int], dtype: Any, old: Any, sink: Any) -> None:
        self.shape, self.dtype, self.old, self.sink = shape, dtype, old, sink
        self.new = None if old is None else np.argsort(old)
        self.n, self.parts = 0, list[Any]()
        self.dense: Any = None

    def add(self, block: SvmBlock) -> None:
        """Take the weights of the next classes."""
        if sp.issparse(block.coef):
            rows = block.coef if self.old is None else _renamed(block.coef, self.old)
            (self.parts if self.sink is None else self.sink).append(rows)
            return
        if self.dense is None:
            self.dense = np.empty(self.shape, self.dtype)
        first, self.n = self.n, self.n + block.w_bias.size
        class_rows(block.coef, self.dense[first : self.n], self.new)

    @property
    def coef(self) -> Any:
        """The weights, one row for each class; None where a sink has them."""
        return sp.csr_array(sp.vstack(self.parts)) if self.parts else self.dense


def _renamed(rows: sp.csr_array, old: Any) -> sp.csr_array:
    """Rows with the old numbers of their features."""
    found = sp.csr_array((rows.data, old[rows.indices], rows.indptr), shape=rows.shape)
    found.sort_indices()
    return found


def shared_arrays(X: sp.csr_array, weight: Any, bias: float, dtype: Any) -> list[Any]:
    """What every block needs of the examples: the first arguments of `solve_block`."""
    norm2 = squared_norms(X, bias).astype(dtype)
    return [Rows.of(X, dtype), norm2, weight.astype(dtype), np.int64(X.shape[1])]


def _tasks(
    Y: sp.csr_array, C: float, strength: Any, mean: Any, class_weight: Any, start: Any,
    dtype: Any, options: SvmOptions,
) -> Blocks:  # fmt: skip
    """The blocks of classes, each made when its turn comes."""
    K = Y.shape[1]
    cost = np.broadcast_to(C / np.broadcast_to(np.asarray(strength, float), K), (2, K))
    cost = cost if class_weight is None else cost * class_weight
    columns, given = sp.csc_array(Y), None if start is None else sp.csc_array(start / strength)

    def block(number: int) -> SvmTask:
        here = slice(number * LANES, min((number + 1) * LANES, K))
        positives, own = columns[:, here], np.ascontiguousarray(cost[:, here], dtype=dtype)
        prior = None if mean is None else np.ascontiguousarray(mean[here], dtype=dtype)
        duals = None if given is None else sp.csr_array(given[:, here])
        return SvmTask(number, sp.csr_array(positives), own, prior, duals, options)

    return Blocks(-(-K // LANES), block)


def _joined(coef: Any, blocks: list[SvmBlock], S: Any, bias: float, seconds: float) -> Solution:
    """All blocks as one solution; a strength scales objective and gap."""
    return Solution(
        coef,
        bias * np.concatenate([block.w_bias for block in blocks]),
        S * np.concatenate([block.objective for block in blocks]),
        S * np.concatenate([block.dual for block in blocks]),
        max(block.n_iter for block in blocks),
        joined_traces([block.trace for block in blocks], seconds),
    )


@task
def solve_block(rows: Rows, norm2: Any, row_cost: Any, n_features: Any, task: SvmTask) -> SvmBlock:
    """Solve the classes of one block (unit strength: costs are divided by S)."""
    run = SvmRun(rows, norm2, row_cost, int(n_features), task)
    if task.duals is None:
        run.warm_up()
    else:
        run.restart(task.duals)
    return run.finish()


def warm_orders(positives: sp.csr_array, rng: np.random.Generator) -> Iterator[Any]:
    """Orders of the first epochs: the positives and a sample a few times, then everybody."""
    n = positives.shape[0]
    positive = np.flatnonzero(np.diff(positives.indptr))
    others = rng.integers(0, n, size=WARM_OTHERS * positive.size)
    base = np.unique(np.concatenate([positive, others])).astype(np.int32)
    for _ in range(WARM_EPOCHS if base.size < n else 0):
        yield rng.permutation(base)
    first = rng.permutation(-(-n // TOGETHER)) * TOGETHER
    order = (first[:, None] + np.arange(TOGETHER)).ravel()
    yield order[order < n].astype(np.int32)


class SvmRun:
    """One block while it is solved; `solvers.recursive` runs blocks step by step."""

    def __init__(self, rows: Rows, norm2: Any, row_cost: Any, d: int, task: SvmTask) -> None:
        n, lanes = task.positives.shape
        dtype = rows.data.dtype
        self.rows, self.norm2, self.row_cost, self.task = rows, norm2, row_cost, task
        self.options = task.options
        self.bias = dtype.type(task.options.bias)
        self.rng = np.random.default_rng([task.options.seed, task.number])
        self.sign = np.full((n, lanes), -1, dtype=np.int8)
        self.positive = task.positives.nonzero()
        self.sign[self.positive] = 1
        self.machines = fast.Machines(
            *rows, norm2, self.bias, self.sign, task.cost, row_cost, task.options.squared
        )
        self.alpha = np.zeros((n, lanes), dtype=dtype)
        self.needed = np.zeros((n, lanes), dtype=bool)
        self.kept = np.zeros((n, lanes), dtype=dtype)  # y w.x, the constant left out
        self.W = np.zeros((d, lanes), dtype=dtype)
        self.w_bias = np.zeros(lanes, dtype=dtype)
        if task.mean is not None:
            self.W[:] = task.mean[:, :-1].T
            self.w_bias[:] = task.mean[:, -1]
        self.WT = np.empty((lanes, d), dtype=dtype)
        self.objective, self.gap = np.full(lanes, np.inf), np.full(lanes, np.inf)
        self.away2, self.along = np.zeros(lanes), np.zeros(lanes)
        self.n_visits = np.zeros(lanes, dtype=np.int64)
        self.dropped2 = np.zeros(lanes)  # ||w' - w||^2 of weights that are left out for good
        self.duals: Any = None  # the last ones, (n, lanes) csc
        self.rounds = Rounds(task.options.max_iter, task.options.tol)

    def warm_up(self) -> None:
        """Epochs over the positives and a sample, then one over everybody."""
        for order in warm_orders(self.task.positives, self.rng):
            self.epoch(order)

    def restart(self, duals: sp.csr_array) -> None:
        """Weights from given dual variables; then everybody is looked at once."""
        self.alpha[:] = duals.toarray()
        if not self.options.squared:
            upper = np.where(self.sign > 0, self.task.cost[1], self.task.cost[0])
            np.minimum(self.alpha, upper * self.row_cost[:, None], out=self.alpha)
        fast.add_examples(*self.rows, self.bias, self.sign, self.alpha, self.W, self.w_bias)
        self.sweep()

    def finish(self) -> SvmBlock:
        """Rounds until the gap is small enough, or no longer falls."""
        rise = 10 * float(np.finfo(self.alpha.dtype).eps)  # below this the dual no longer rises
        stuck, best, before = 0, -np.inf, np.inf
        for n_rounds in self.rounds:
            self.descend(min(INNER_EPOCHS << n_rounds, MOST_EPOCHS))
            self.certify()
            dual = float((self.objective - self.gap).sum())
            stuck = 0 if dual > best + rise * abs(dual) else stuck + 1
            best = max(best, dual)
            slow = self.gap.sum() > 0.5 * before
            before = float(self.gap.sum())
            if stuck > 4 or (not self.rounds.done and self._worth_polishing(10.0 if slow else 1.0)):
                break  # as far as this precision goes, or as is worth while
        if not (self.rounds.done or self.rounds.stopped) and self._worth_polishing(20.0):
            self._polish()
        if not self.rounds.trace:  # a warm start that was good enough
            self._note()
        coef, rise = self._coef()
        keep = self.options.keep_duals
        return SvmBlock(
            coef, self.w_bias, self.objective, self.objective - self.gap,
            self._kept_duals() if keep else None,
            self.rounds.n, int(self.n_visits.sum()), rise, self.rounds.trace,
        )  # fmt: skip

    def _kept_duals(self) -> sp.csc_array:
        return sp.csc_array(self.alpha) if self.duals is None else self.duals

    def _worth_polishing(self, factor: float) -> bool:
        """Whether second-order steps cost less than so many times the work done so far."""
        n, nnz = self.row_cost.size, self.rows.data.size
        n_open = int((self.gap > self.options.tol * self.objective).sum())
        spent = float(self.n_visits.sum()) * (nnz / n + 1)
        return bool(factor * spent > n_open * gram.work(n, self.W.shape[0], nnz))

    def _polish(self) -> None:
        """Second-order steps for the classes whose gap is open."""
        examples = gram.Examples.of(self.rows, self.W.shape[0], self.options.bias)
        cost, squared = self.task.cost, self.options.squared
        for b in np.flatnonzero(self.gap > self.options.tol * self.objective).tolist():
            u = self.row_cost * np.where(self.sign[:, b] > 0, cost[1, b], cost[0, b])
            mean = np.zeros(examples.shape[1]) if self.task.mean is None else self.task.mean[b]
            done = svm_newton.polish(
                examples, self.sign[:, b], u, mean, squared=squared, tol=self.options.tol,
                dtype=self.alpha.dtype,
            )  # fmt: skip
            if done.primal - done.dual < self.gap[b]:  # not if it is NaN
                self.W[:, b], self.w_bias[b], self.alpha[:, b] = done.w[:-1], done.w[-1], done.alpha
                self.objective[b], self.gap[b] = done.primal, done.primal - done.dual
        self.duals = None
        self._note()

    def epoch(self, order: Any) -> None:
        step = np.empty_like(self.w_bias)
        fast.epoch(order, self.machines, self.W, self.w_bias, self.alpha, self.kept, step)
        self.n_visits += order.size

    def sweep(self) -> None:
        """The exact objective and gap of every class, and who matters to it."""
        loss, self.gap = np.zeros((1, self.gap.size)), np.zeros_like(self.objective)
        fast.sweep(
            self.machines, self.W, self.w_bias, self.alpha, np.ones(1, self.W.dtype), loss,
            self.gap, self.needed, self.kept,
        )  # fmt: skip
        self.gap = np.maximum(self.gap, 0.0) + 0.5 * self.dropped2  # no less than rounding left
        self.measure()
        self.objective = 0.5 * self.away2 + loss[0]
        self._note()

    def _note(self) -> None:
        self.rounds.note(float(self.objective.sum()), float(self.gap.sum()))

    def measure(self) -> None:
        """||w - m||^2 of every class and its product with the mean, the constant included."""
        self.away2, self.along = np.zeros_like(self.objective), np.zeros_like(self.objective)
        if self.task.mean is None:
            self.away2 = squared_lengths(self.W, self.w_bias)
        else:
            fast.distances(self.W, self.w_bias, self.task.mean, self.away2, self.along)

    def descend(self, n_epochs: int) -> None:
        """Every class visits the examples that matter to it, more and more epochs at a time."""
        target = self._targets()
        class_rows(self.W, self.WT)
        done, open_ = 0, np.ones(target.shape[0], dtype=bool)
        self._list()
        if not np.isfinite(self.gap).all():  # a sweep is the better choice soon, if many matter
            n_epochs = min(n_epochs, max(1, self.needed.size // max(int(self.needed.sum()), 1)))
        while done < n_epochs and open_.any():
            some = min(max(done, FIRST_EPOCHS), n_epochs - done)
            self.needed &= open_
            before = self.needed.copy()
            unfinished = self._visit(some, target) > some
            self._list()
            unfinished[np.flatnonzero(self.needed & ~before) % open_.size] = True  # somebody new
            open_ &= unfinished
            done += some
        self.W[:] = self.WT.T

    def _list(self) -> None:
        """Who matters to each class, the constant being what it is now."""
        np.less(self.kept, 1 + self.bias * self.w_bias, out=self.needed)
        self.needed |= self.alpha > 0
        self.needed[self.positive] = True

    def _visit(self, n_epochs: int, target: Any) -> npt.NDArray[np.int64]:
        """Every class visits who matters to it; the epochs of each, one more if they did not do."""
        ptr, lists = listed(self.needed)
        n_rows, n_made = np.diff(ptr), np.zeros_like(self.n_visits)
        draws = self.rng.random(int(n_rows.max(initial=0)))
        fast.descend(
            ptr, lists, draws, n_epochs, target, self.machines, self.WT, self.w_bias, self.alpha,
            self.kept, np.empty((3, draws.size), dtype=self.W.dtype), n_made,
        )  # fmt: skip
        self.n_visits += n_rows * np.minimum(n_made, n_epochs)
        return n_made

    def _targets(self) -> npt.NDArray[np.float64]:
        """(lanes, 2): the measured gap at which each class may stop, and as a share of P."""
        target, tol = np.zeros((self.gap.size, 2)), self.options.tol
        target[:, 1] = ENOUGH * tol
        if not np.isfinite(self.gap).all():  # not measured yet
            target[:, 1] = max(ENOUGH * tol, UNSURE)
            return target
        before, enough = float(self.gap.sum()), ENOUGH * tol * float(self.objective.sum())
        if enough < FALL * before:  # several rounds, and all let the gap fall as far
            ratio = max(enough / before, FALL**9)
            target[:, 0] = self.gap * ratio ** (1 / math.ceil(math.log(ratio) / math.log(FALL)))
        return target

    def _coef(self) -> tuple[Any, float]:
        """The weights; if asked pruned and one class a row, with the rise of the objective."""
        limit = self.options.prune
        if self.options.sparse:
            return self._kept(), 0.0
        if limit <= 0:
            return self.W, 0.0
        before = self.objective.copy(), self.gap.copy()
        self.W[np.abs(self.W) < limit] = 0
        self.sweep()
        del self.rounds.trace[-1]
        rise = float(self.objective.sum() - before[0].sum())
        self.objective, self.gap = before
        return sp.csr_array(self.W.T), rise

    def _kept(self) -> sp.csr_array:
        """The weights that are more than rounding, one class a row."""
        rows = class_rows(self.W, self.WT)
        largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
        rows[np.abs(rows) <= NOTHING * largest] = 0
        return sp.csr_array(rows)

    def certify(self) -> None:
        """A sweep; for sparse weights of those without the smallest, where these will do.

        With w' in place of w = V the gap is what the sweep finds plus ||w' - V||^2 / 2.
        """
        if not self.options.sparse:
            self.sweep()
            return
        self.duals = sp.csc_array(self.alpha)
        for b in range(self.gap.size):
            small = self._unneeded(b)
            self.dropped2[b] = np.square(self.WT[b, small], dtype=np.float64).sum()
            self.W[small, b] = 0
        self.sweep()
        if not self.rounds.done:
            self.dropped2[:] = 0
            self.W[:] = self.WT.T
            self.sweep()

    def _unneeded(self, b: int) -> npt.NDArray[np.bool_]:
        """The weights of a class for which its gap is likely to have room."""
        here = slice(*self.duals.indptr[b : b + 2].tolist())
        a, rows, w = self.duals.data[here].astype(np.float64), self.duals.indices[here], self.WT[b]
        u = np.where(self.sign[rows, b] > 0, *self.task.cost[::-1, b]) * self.row_cost[rows]
        value = a.sum() - 0.5 * (float(w @ w) + float(self.w_bias[b]) ** 2)
        if self.options.squared:
            value -= float((a * a / (4 * u)).sum())
        impact = np.empty_like(w)
        fast.impacts(*self.rows, rows, (2 * u).astype(w.dtype), w, impact)
        return cheapest(impact, 2 * DROPPED * (1 - ENOUGH) * self.options.tol * max(value, 0.0))
