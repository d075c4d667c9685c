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
gap is the sum of terms, never negative, of the single classes (`dual_fast`). Near the optimum many
margins fall short by a little, which large costs make much of; the same sweep tries weights that
are longer by a little, and the best of them are the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import Executor
from linnaeus.solvers import dual, dual_fast
from linnaeus.solvers import joint_fast as fast
from linnaeus.solvers.problem import FloatArray, Rows, Solution, squared_norms

LANES = dual.LANES
SIDE_BY_SIDE = 2  # blocks visited at the same time at least, whatever the number of workers
CYCLES = 5  # visits of every class in a round; doubled every second round after ten
SMALL = 10_000_000  # nonzeros times classes up to which rounds may become long
RELAX = 1.3
STRETCHES = (1.0, 1.002, 1.005, 1.01, 1.02, 1.05, 1.1)  # weights times these are tried
FALL = 0.1  # how far a round lets the measured gap fall
STRETCH = 50.0  # K_nn S_n beyond which alternating between leaves and other nodes is better
DENSE = 2000  # internal nodes of a graph that is no tree


class Coupling(NamedTuple):
    """K = diag(1 / S) + B B' over the classes."""

    S: npt.NDArray[np.float64]  # (n_classes,)
    B: sp.csr_array  # (n_classes, n_inner)
    upward: Any  # F^-T, (n_inner, n_inner)

    def diagonal(self) -> npt.NDArray[np.float64]:
        """K_nn of every class."""
        return np.asarray(1.0 / self.S + self.B.multiply(self.B).sum(axis=1))


def coupling(S: Any, mix: sp.csr_array, reduced: sp.csr_array) -> Coupling | None:
    """The factors of K, or None where alternation is the better way."""
    below = sp.csr_array(sp.tril(reduced, -1))
    below.eliminate_zeros()
    if (np.diff(below.indptr) <= 1).all():
        upward = _tree_factor(reduced.diagonal(), below)
    elif reduced.shape[0] <= DENSE:
        upward = _dense_factor(reduced)
    else:
        return None
    found = Coupling(np.asarray(S, float), sp.csr_array(mix @ upward), upward)
    return found if (found.diagonal() * S).max(initial=0.0) <= STRETCH else None


def _tree_factor(diagonal: FloatArray, below: sp.csr_array) -> sp.csr_array:
    """F^-T of a forest whose nodes have at most one neighbour of lower number, their parent."""
    n = diagonal.size
    child, D = np.flatnonzero(np.diff(below.indptr)), diagonal.astype(np.float64)
    parent, edge = below.indices, below.data
    for v, p, c in zip(
        child[::-1].tolist(), parent[::-1].tolist(), edge[::-1].tolist(), strict=True
    ):
        D[p] -= c * c / D[v]
    up = sp.csr_array((-edge / D[child], (child, parent)), shape=(n, n))
    total = power = sp.csr_array(sp.eye_array(n))
    while (power := sp.csr_array(power @ up)).nnz:
        total = sp.csr_array(total + power)
    return sp.csr_array(total.multiply(1.0 / np.sqrt(D)[None, :]))


def _dense_factor(reduced: sp.csr_array) -> sp.csr_array:
    """F^-T for nodes from the last to the first, so that entries lie towards the first."""
    n = reduced.shape[0]
    F = np.linalg.cholesky(reduced.toarray()[::-1, ::-1])
    inverse = np.linalg.solve(F, np.eye(n)).T[::-1, ::-1]
    inverse[np.abs(inverse) < 1e-14 * np.abs(inverse).max(initial=0.0)] = 0.0
    return sp.csr_array(inverse)


class Options(NamedTuple):
    """What is the same for all blocks."""

    squared: bool
    bias: float
    share_bias: bool
    seed: int

    def own(self, K: FloatArray, over_S: FloatArray) -> FloatArray:
        """The matrix (or its diagonal) for the constant feature."""
        if self.share_bias:
            return K
        return over_S if K.ndim == 1 else np.diag(over_S)


class Lanes(NamedTuple):
    """A block of classes: plain arrays."""

    number: int
    columns: npt.NDArray[np.int64]
    positives: sp.csr_array  # (n, lanes)
    cost: FloatArray  # (2, lanes)
    over_S: FloatArray  # (lanes,)
    B: sp.csr_array  # (lanes, m), columns are `inner`
    inner: npt.NDArray[np.int64]  # (m,)
    n_features: int
    options: Options


class Duals(NamedTuple):
    """The dual variables of a block that are not zero, or may not stay so."""

    ptr: npt.NDArray[np.int64]
    live: npt.NDArray[np.int64]  # (lanes,) how many of each list are visited
    rows: npt.NDArray[np.int32]
    a: FloatArray
    y: FloatArray

    @classmethod
    def of(cls, alpha: FloatArray, needed: Any, sign: Any) -> Duals:
        ptr = np.zeros(alpha.shape[1] + 1, dtype=np.int64)
        np.cumsum(needed.sum(axis=0), out=ptr[1:])
        rows = np.empty(int(ptr[-1]), dtype=np.int32)
        dual_fast.list_needed(needed, ptr, rows)
        lane = np.repeat(np.arange(alpha.shape[1]), np.diff(ptr))
        return cls(ptr, np.diff(ptr), rows, alpha[rows, lane], sign[rows, lane].astype(alpha.dtype))

    def copied(self) -> Duals:
        return Duals(self.ptr, self.live.copy(), self.rows.copy(), self.a.copy(), self.y.copy())

    def lane(self) -> npt.NDArray[np.int64]:
        """The lane of every entry."""
        return np.repeat(np.arange(self.live.size), np.diff(self.ptr))

    def dense(self, n: int) -> FloatArray:
        """(n, lanes)"""
        alpha = np.zeros((n, self.live.size), dtype=self.a.dtype)
        alpha[self.rows, self.lane()] = self.a
        return alpha


class Step(NamedTuple):
    """What a visit to a block brought."""

    duals: Duals
    before: FloatArray  # the dual variables as they were
    common: FloatArray  # (m, d + 1): change of the rows of D
    size: float  # sum ||dv||^2 / S
    measured: float  # the gap seen on the way


class Swept(NamedTuple):
    """The certificate of a block, and its dual variables for the next round."""

    duals: Duals
    loss: npt.NDArray[np.float64]  # of the weights times each of STRETCHES
    gap: float
    size: float  # sum a y z = tr(V' W)


def first_visit(
    indptr: Any, indices: Any, data: Any, norm2: Any, weight: Any, D: Any, lanes: Lanes
) -> Step:
    """From nothing: epochs over the positives and a sample, then one over everybody."""
    rows, dtype, opt = Rows(indptr, indices, data), data.dtype, lanes.options
    n, width = lanes.positives.shape
    B = lanes.B.toarray()
    K = (B @ B.T + np.diag(lanes.over_S)).astype(dtype)
    K_bias = opt.own(K, lanes.over_S).astype(dtype)
    W, w_bias = common_weights(D, lanes)
    alpha, needed = np.zeros((n, width), dtype=dtype), np.zeros((n, width), dtype=bool)
    sign, work = signs(lanes), np.empty((3, width), dtype=dtype)
    rng = np.random.default_rng([opt.seed, lanes.number])
    for order in dual.warm_orders(lanes.positives, rng):
        fast.epoch(
            order, *rows, norm2, dtype.type(opt.bias), sign, lanes.cost, weight, opt.squared,
            dtype.type(1.0), K, K_bias, W, w_bias, alpha, needed, work,
        )  # fmt: skip
    V = dual_sums(rows, lanes, alpha, sign)
    size = float(lanes.over_S @ np.einsum("ij,ij->i", V, V))
    duals = Duals.of(alpha, needed, sign)
    return Step(duals, np.zeros_like(duals.a), part_of(V, lanes), size, np.inf)


def visit(
    indptr: Any, indices: Any, data: Any, norm2: Any, weight: Any, D: Any,
    task: tuple[Lanes, Duals, int],
) -> Step:  # fmt: skip
    """Every class of a block once, in random order."""
    lanes, old, cycle = task
    dtype, opt = data.dtype, lanes.options
    duals, before = old.copied(), old.a.copy()
    rng = np.random.default_rng([opt.seed, lanes.number, cycle])
    k = (lanes.over_S + lanes.B.multiply(lanes.B).sum(axis=1)).astype(dtype)
    common, measured = D[lanes.inner], np.zeros(k.size)
    size = fast.visit(
        rng.permutation(k.size), *duals, before, rng.random(int(duals.live.max(initial=0))),
        indptr, indices, data, norm2, dtype.type(opt.bias), lanes.cost, weight, opt.squared,
        dtype.type(RELAX), lanes.over_S, k, opt.own(k, lanes.over_S), opt.share_bias,
        lanes.B.indptr, lanes.B.indices, lanes.B.data, common,
        np.empty((2, D.shape[1]), dtype=dtype), measured,
    )  # fmt: skip
    common -= D[lanes.inner]
    return Step(duals, before, common, size, float(measured.sum()))


def sweep(
    indptr: Any, indices: Any, data: Any, norm2: Any, weight: Any, D: Any,
    task: tuple[Lanes, Duals],
) -> Swept:  # fmt: skip
    """The exact loss and gap of a block, who matters now, and its part of D."""
    lanes, duals = task
    rows, dtype, opt = Rows(indptr, indices, data), data.dtype, lanes.options
    n, width = lanes.positives.shape
    alpha, sign = duals.dense(n), signs(lanes)
    W, w_bias = weights(rows, D, lanes, alpha, sign)
    loss, gap = np.zeros((len(STRETCHES), width)), np.zeros(width)
    needed = np.empty((n, width), dtype=bool)
    dual_fast.sweep(
        *rows, dtype.type(opt.bias), sign, lanes.cost, weight, opt.squared, W, w_bias, alpha,
        np.array(STRETCHES, dtype), loss, gap, needed, np.empty(width, dtype=dtype),
    )  # fmt: skip
    found = Duals.of(alpha, needed, sign)
    gained = found.a.sum(dtype=np.float64) - _conjugate(found, lanes, weight)
    total = float(gap.sum())
    return Swept(found, loss.sum(axis=1), total, total - float(loss[0].sum()) + float(gained))


def _conjugate(duals: Duals, lanes: Lanes, weight: Any) -> float:
    """sum a^2 / (4 u) for the squared hinge; 0 for the hinge."""
    if not lanes.options.squared:
        return 0.0
    u = lanes.cost[(duals.y > 0).astype(int), duals.lane()] * weight[duals.rows]
    return float((duals.a * duals.a / (4 * u)).sum(dtype=np.float64))


def refresh(
    indptr: Any, indices: Any, data: Any, norm2: Any, weight: Any, D: Any,
    task: tuple[Lanes, Duals],
) -> FloatArray:  # fmt: skip
    """What a block adds to D, afresh: without what rounding has added."""
    lanes, duals = task
    rows, alpha = Rows(indptr, indices, data), duals.dense(indptr.size - 1)
    return part_of(dual_sums(rows, lanes, alpha, signs(lanes)), lanes)


def signs(lanes: Lanes) -> npt.NDArray[np.int8]:
    """+1 where positive, else -1, (n, lanes)."""
    sign = np.full(lanes.positives.shape, -1, dtype=np.int8)
    sign[lanes.positives.nonzero()] = 1
    return sign


def part_of(V: FloatArray, lanes: Lanes) -> FloatArray:
    """What a block adds to D: rows of B' V."""
    part = np.asarray(lanes.B.T @ V)
    if not lanes.options.share_bias:
        part[:, -1] = 0.0
    return part


def common_weights(D: FloatArray, lanes: Lanes) -> tuple[FloatArray, FloatArray]:
    """B D: (d, lanes), and of the constant feature (lanes,)."""
    common = np.asarray(lanes.B @ D[lanes.inner])
    return np.ascontiguousarray(common[:, :-1].T), common[:, -1].copy()


def dual_sums(rows: Rows, lanes: Lanes, alpha: FloatArray, sign: Any) -> FloatArray:
    """V (lanes, d + 1) of a block of at most so many features."""
    d = lanes.n_features
    V, v_bias = np.zeros((d, alpha.shape[1]), rows.data.dtype), np.zeros_like(alpha[0])
    dual_fast.add_examples(*rows, rows.data.dtype.type(lanes.options.bias), sign, alpha, V, v_bias)
    out = np.empty((alpha.shape[1], d + 1), dtype=V.dtype)
    out[:, :-1], out[:, -1] = V.T, v_bias
    return out


def weights(
    rows: Rows, D: FloatArray, lanes: Lanes, alpha: FloatArray, sign: Any
) -> tuple[FloatArray, FloatArray]:
    """W (d, lanes) of a block, and the weights of the constant feature."""
    W, w_bias = common_weights(D, lanes)
    own = alpha * lanes.over_S
    dual_fast.add_examples(*rows, D.dtype.type(lanes.options.bias), sign, own, W, w_bias)
    return W, w_bias


def final_weights(
    indptr: Any, indices: Any, data: Any, norm2: Any, weight: Any, D: Any,
    task: tuple[Lanes, Duals],
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """The weights of a block, (d, lanes), and of the constant feature."""
    lanes, duals = task
    alpha = duals.dense(indptr.size - 1)
    W, w_bias = weights(Rows(indptr, indices, data), D, lanes, alpha, signs(lanes))
    return W, w_bias


class Answer(NamedTuple):
    """Weights of the classes and of the other nodes, the constant feature last."""

    solution: Solution
    W_I: FloatArray


def solve(
    X: sp.csr_array, Y: sp.csr_array, found: Coupling, weight: Any, cost: Any, options: Options, *,
    tol: float, max_rounds: int, dtype: Any, executor: Executor,
) -> Answer:  # fmt: skip
    """Rounds of visits and a sweep until the relative duality gap is `tol`.

    cost : (2, n_classes), of negatives and positives; weight : (n,) of examples
    """
    examples = [*Rows.of(X, dtype), squared_norms(X, 0.0).astype(dtype), weight.astype(dtype)]
    blocks = _blocks(Y, X.shape[1], found, cost, options, dtype)
    state = _State(found.B.shape[1], X.shape[1], blocks, examples, executor)
    started, trace = time.perf_counter(), []
    best, P, gap, least, stuck = -np.inf, np.inf, np.inf, np.inf, 0
    rise = 10 * float(np.finfo(dtype).eps)  # below this the dual no longer rises
    most = 7 if X.nnz * Y.shape[1] <= SMALL else 3  # doublings of the visits in a round
    n_early = 0  # rounds that seemed to have done enough
    state.start()
    for n_rounds in range(1, max_rounds + 1):
        enough = max(FALL * gap, 0.6 * 0.5**n_early * tol * P)
        for _ in range(CYCLES << min(max(0, n_rounds - 10) // 2, most)):
            if state.cycle() <= enough:
                n_early += n_rounds > 1
                break
        P, gap = state.certify()
        seconds = time.perf_counter() - started
        trace.append({"seconds": seconds, "objective": P, "gap": gap / max(1.0, abs(P))})
        better = P - gap > best + rise * abs(P) or gap < 0.9 * least
        stuck = 0 if better else stuck + 1
        best, least = max(best, P - gap), min(least, gap)
        if gap <= tol * max(1.0, abs(P)) or stuck > 4:
            break
    coef, intercept = state.weights()
    objective, lower = np.array([P]), np.array([best])
    solution = Solution(coef, intercept, objective, lower, len(trace), trace)
    W_I = np.asarray(found.upward.astype(dtype) @ state.D)
    return Answer(solution, state.stretch * W_I)


def _blocks(
    Y: sp.csr_array, n_features: int, found: Coupling, cost: Any, options: Options, dtype: Any
) -> list[Lanes]:
    """Classes that have much in common share a block."""
    columns, B = sp.csc_array(Y), found.B
    first = np.full(B.shape[0], B.shape[1])
    has = np.flatnonzero(np.diff(B.indptr))
    B.sort_indices()
    first[has] = B.indices[B.indptr[has + 1] - 1]  # the node right above
    order = np.lexsort((np.arange(B.shape[0]), first)).astype(np.int64)
    out = []
    for number, k in enumerate(range(0, order.size, LANES)):
        here = order[k : k + LANES]
        part = sp.csr_array(B[here])
        inner, local = np.unique(part.indices, return_inverse=True)
        part = sp.csr_array(
            (part.data.astype(dtype), local.astype(np.int32), part.indptr), (here.size, inner.size)
        )
        out.append(
            Lanes(
                number,
                here,
                sp.csr_array(columns[:, here]),
                np.ascontiguousarray(cost[:, here], dtype=dtype),
                (1.0 / found.S[here]).astype(dtype),
                part,
                inner.astype(np.int64),
                n_features,
                options,
            )
        )
    return out


def _part_way(step: Step, share: float) -> Duals:
    """So far from the dual variables before a step to those after it."""
    duals, before = step.duals, step.before
    a = before + before.dtype.type(share) * (duals.a - before)
    return duals._replace(a=a, live=np.diff(duals.ptr))


class _State:
    """D = B' V, and the dual variables of every block."""

    def __init__(
        self, n_inner: int, d: int, blocks: list[Lanes], examples: list[Any], executor: Executor
    ) -> None:
        self.D = np.zeros((n_inner, d + 1), dtype=examples[2].dtype)
        self.blocks, self.executor, self.n_cycles, self.stretch = blocks, executor, 0, 1.0
        self.duals: list[Any] = [None] * len(blocks)
        self.examples = [executor.put(array) for array in examples]
        n = -(-len(blocks) // max(SIDE_BY_SIDE, len(blocks) // 16))
        self.phases = [list(range(k, len(blocks), n)) for k in range(n)]  # far from each other

    def _map(self, function: Any, tasks: Any) -> Iterator[Any]:
        return self.executor.map(function, [*self.examples, self.executor.put(self.D)], tasks)

    def _all(self) -> list[tuple[Lanes, Duals]]:
        return list(zip(self.blocks, self.duals, strict=True))

    def start(self) -> None:
        """Every block from nothing."""
        for phase in self.phases:
            self.take(phase, list(self._map(first_visit, [self.blocks[b] for b in phase])))

    def cycle(self) -> float:
        """Every class once; returns the gap seen on the way."""
        self.n_cycles += 1
        measured = 0.0
        for phase in self.phases:
            tasks = [(self.blocks[b], self.duals[b], self.n_cycles) for b in phase]
            steps = list(self._map(visit, tasks))
            measured += sum(step.measured for step in steps)
            self.take(phase, steps)
        return measured

    def certify(self) -> tuple[float, float]:
        """The primal value and the gap; examples that matter are listed anew."""
        swept = list(self._map(sweep, self._all()))
        self.duals = [seen.duals for seen in swept]
        size = sum(seen.size for seen in swept)
        values = 0.5 * np.square(STRETCHES) * size + sum(seen.loss for seen in swept)
        lower = float(values[0]) - max(sum(seen.gap for seen in swept), 0.0)
        self.stretch = STRETCHES[int(np.argmin(values))]
        return float(values.min()), float(values.min()) - lower

    def weights(self) -> tuple[FloatArray, npt.NDArray[np.float64]]:
        """Weights and intercepts of all classes, D being made anew, without rounding's share."""
        parts = list(self._map(refresh, self._all()))
        self.D = np.zeros_like(self.D)
        for block, part in zip(self.blocks, parts, strict=True):
            self.D[block.inner] += part
        n_classes = sum(block.columns.size for block in self.blocks)
        coef = np.empty((n_classes, self.D.shape[1] - 1), dtype=self.D.dtype)
        intercept = np.empty(n_classes)
        found = self._map(final_weights, self._all())
        for block, (W, w_bias) in zip(self.blocks, found, strict=True):
            coef[block.columns] = self.stretch * W.T
            intercept[block.columns] = self.stretch * block.options.bias * w_bias
        return coef, intercept

    def take(self, phase: list[int], steps: list[Step]) -> None:
        """Go as far along the joint step as surely does not lower the dual."""
        share = 1.0 if len(phase) == 1 else self._share(phase, steps)
        for b, step in zip(phase, steps, strict=True):
            self.D[self.blocks[b].inner] += self.D.dtype.type(share) * step.common
            self.duals[b] = step.duals if share == 1.0 else _part_way(step, share)

    def _share(self, phase: list[int], steps: list[Step]) -> float:
        """H / (H + X), at most 1: the single steps, and what crosses where they meet."""
        inner = [self.blocks[b].inner for b in phase]
        single = sum(s.size + float(np.einsum("ij,ij", s.common, s.common)) for s in steps)
        crossed = 0.0
        for i, one in enumerate(steps):
            for j, other in enumerate(steps[:i]):
                _, here, there = np.intersect1d(inner[i], inner[j], return_indices=True)
                crossed += 2 * float(np.einsum("ij,ij", one.common[here], other.common[there]))
        return min(1.0, single / max(single + crossed, 1e-300))
