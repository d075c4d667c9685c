"""Blocks of classes of the joint problem (`rr_svm_dual`): tasks over plain arrays.

With U = V / S and D = B' V kept by the caller, the weights of a block are W = U + B D. A block is
started (`first_visit`), visited class by class (`visit`), certified (`sweep`), or brought to its
best weights for the given D (`descend`). It comes with its own rows of D (`rr_svm_rows`), and says
what it adds to them:

    minimise_U,D  1/2 sum_n S_n ||u_n||^2 + 1/2 ||D||^2 + sum_n,i cost loss(y_in w_n.x_i)

is the whole problem, so once D is kept every class is a problem of its own, that of `svm`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import task
from linnaeus.solvers.linear import svm, svm_fast, svm_lanes
from linnaeus.solvers.numerics.examples import FloatArray, Rows, starts
from linnaeus.solvers.recursive import rr_svm_fast as fast
from linnaeus.solvers.recursive.rr_machine import Coupling
from linnaeus.solvers.recursive.rr_svm_rows import Change, Row, stacked, stacked_at, turned

RELAX = 1.3
STRETCHES = (1.0, 1.002, 1.005, 1.01, 1.02, 1.05, 1.1)  # weights times these are tried
ROUNDS = 3  # of a block for itself
LISTED = 512  # examples a class with a = 0 that are listed where memory is short
PASSES = 4  # over the classes of a block in a visit, where many rows of D are read for it
LONG = 2 * svm.LANES  # rows of D from which a block knows only sums of those of high nodes
MANY = 4 * svm.LANES  # classes below a high node
SHARE = 0.4  # of the tolerance: how exactly a block is solved for itself


class JointOptions(NamedTuple):
    """What is the same for all blocks."""

    squared: bool
    bias: float
    share_bias: bool
    seed: int
    compact: bool = False  # whether memory is short: nothing is kept that can be made anew

    def own(self, K: FloatArray, over_S: FloatArray) -> FloatArray:
        """The matrix (or its diagonal) for the constant feature."""
        if self.share_bias:
            return K
        return over_S if K.ndim == 1 else np.diag(over_S)


class Lanes(NamedTuple):
    """A block of classes: plain arrays."""

    number: int
    columns: npt.NDArray[np.int64]
    ones: tuple[Any, Any]  # rows and lanes of the positives
    cost: FloatArray  # (2, lanes)
    over_S: FloatArray  # (lanes,)
    B: sp.csr_array  # (lanes, m), columns are `inner`; with a turn (lanes, m - k + r)
    inner: npt.NDArray[np.int64]  # (m,)
    n_features: int
    options: JointOptions
    turn: FloatArray | None = None  # (r, k): of the last k of `inner` these sums are known alone

    @property
    def n_passes(self) -> int:
        """How often a visit goes over the classes: rows of D that are dear are used well."""
        return 1 if self.turn is None else PASSES

    def diagonal(self) -> FloatArray:
        """Of B B' + 1 / S."""
        lane = np.repeat(np.arange(self.over_S.size), np.diff(self.B.indptr))
        squares = np.bincount(lane, self.B.data * self.B.data, self.over_S.size)
        return np.asarray(self.over_S + squares)

    def positives(self, n: int) -> sp.csr_array:
        """The positives of n examples, (n, lanes)."""
        rows, lane = self.ones
        return sp.csr_array((np.ones(rows.size, np.int8), (rows, lane)), (n, self.columns.size))

    def signs(self, n: int) -> npt.NDArray[np.int8]:
        """+1 where positive, else -1, (n, lanes)."""
        sign = np.full((n, self.columns.size), -1, dtype=np.int8)
        sign[self.ones] = 1
        return sign

    def stacked(self, part: list[Row]) -> FloatArray:
        """The rows of D of this block, (m, d + 1), or what a turn leaves of them."""
        if self.turn is not None:
            return turned(part, self.turn, self.n_features + 1)
        return stacked(part, self.n_features + 1, self.cost.dtype)

    def stacked_at(self, part: list[Row], features: Any) -> FloatArray:
        """Some columns of these."""
        if self.turn is not None:
            return turned(part, self.turn, self.n_features + 1, features)
        return stacked_at(part, features, self.cost.dtype)

    def loss(self, relax: float) -> fast.JointLoss:
        """What the loops need of the losses."""
        opt, kind = self.options, self.cost.dtype.type
        return fast.JointLoss(self.cost, opt.squared, kind(relax), kind(opt.bias), opt.share_bias)


class Names(NamedTuple):
    """The features of each lane, numbered anew where that makes weights fit into a cache."""

    numbered: npt.NDArray[np.bool_]  # (lanes,)
    ptr: npt.NDArray[np.int64]  # (lanes + 1,)
    at: npt.NDArray[np.int64]  # where the numbers of each entry's features begin
    ids: npt.NDArray[np.uint32]  # these numbers
    feature: npt.NDArray[np.uint32]  # number -> feature, lists of the lanes

    @classmethod
    def of(cls, ptr: Any, rows: Any, indptr: Any, indices: Any, d: int) -> Names:
        """For CSR lists of rows; the numbers take at most twice the space of the weights."""
        n_tokens, n_features = np.empty((2, ptr.size - 1), dtype=np.int64)
        place = np.zeros(d, dtype=np.int64)
        fast.count_features(ptr, rows, indptr, indices, place, n_tokens, n_features)
        among = np.flatnonzero(place)
        numbered = (n_tokens <= 2 * d) & (2 * n_features <= d)
        feature_ptr = np.zeros_like(ptr)
        np.cumsum(np.where(numbered, n_features + 1, 0), out=feature_ptr[1:])
        ids = np.empty(int(n_tokens[numbered].sum()), dtype=np.uint32)
        at, feature = np.empty(rows.size, np.int64), np.empty(int(feature_ptr[-1]), np.uint32)
        place[:] = 0
        fast.number_features(
            ptr, rows, indptr, indices, numbered, feature_ptr, among, at, ids, feature, place
        )
        return cls(numbered, feature_ptr, at, ids, feature)

    def compact(self, d: int) -> tuple[Names, npt.NDArray[np.uint32] | None]:
        """The same with features counted among those of all lanes, and these; None for all."""
        if not self.numbered.all():
            return self, None
        number = np.zeros(d + 1, dtype=np.uint32)
        number[self.feature] = 1
        features = np.flatnonzero(number).astype(np.uint32)
        number[features] = np.arange(features.size, dtype=np.uint32)
        return self._replace(feature=number[self.feature]), features


class Duals(NamedTuple):
    """The dual variables of a block that are not zero, or may not stay so."""

    ptr: npt.NDArray[np.int64]
    live: npt.NDArray[np.int64]  # (lanes,) how many of each list are visited
    order: npt.NDArray[np.int32]  # of each list: those that are visited come first
    rows: npt.NDArray[np.int32]
    a: FloatArray
    y: FloatArray
    names: Names | None = None  # made at the first visit, where memory is not short

    @classmethod
    def of(cls, alpha: FloatArray, needed: Any, sign: Any) -> Duals:
        ptr, rows = svm_lanes.listed(needed)
        lane = np.repeat(np.arange(alpha.shape[1]), np.diff(ptr))
        order = (np.arange(rows.size) - ptr[lane]).astype(np.int32)
        y = sign[rows, lane].astype(alpha.dtype)
        return cls(ptr, np.diff(ptr), order, rows, alpha[rows, lane], y)

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
    common: Change  # of the rows of D
    size: float  # sum ||dv||^2 / S
    measured: npt.NDArray[np.float64]  # the gap and the objective seen on the way


class Swept(NamedTuple):
    """The certificate of a block, and its dual variables for the next round."""

    duals: Duals
    loss: npt.NDArray[np.float64]  # of the weights times each of STRETCHES
    gap: float
    size: float  # sum a y z = tr(V' W)


Part = list[Row]  # the rows of D of a block


@task
def first_visit(rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Part, None]) -> Step:
    """From nothing: epochs over the positives and a sample, then one over everybody."""
    lanes, part, _ = task
    dtype, opt = rows.data.dtype, lanes.options
    n, width = weight.size, lanes.columns.size
    B = lanes.B.toarray()
    K = (B @ B.T + np.diag(lanes.over_S)).astype(dtype)
    K_bias = opt.own(K, lanes.over_S).astype(dtype)
    W, w_bias = common_weights(part, lanes)
    alpha, needed = np.zeros((n, width), dtype=dtype), np.zeros((n, width), dtype=bool)
    sign, rng = lanes.signs(n), np.random.default_rng([opt.seed, lanes.number])
    examples, loss = fast.JointRows(*rows, norm2, weight), lanes.loss(1.0)
    for order in svm.warm_orders(lanes.positives(n), rng):
        fast.epoch(order, examples, sign, loss, K, K_bias, W, w_bias, alpha, needed)
    del W
    V = dual_sums(rows, lanes, alpha, sign)
    size = float(lanes.over_S @ np.einsum("ij,ij->i", V, V))
    duals = Duals.of(alpha, needed, sign)
    return Step(duals, np.zeros_like(duals.a), part_of(V, lanes), size, np.full(2, np.inf))


def taken(start: sp.csc_array, lanes: Lanes, weight: Any) -> Duals:
    """Given dual variables (n, lanes) of a block, cut to what its costs allow."""
    alpha, sign = np.asarray(start.toarray(), dtype=lanes.cost.dtype), lanes.signs(weight.size)
    if not lanes.options.squared:
        most = np.where(sign > 0, lanes.cost[1], lanes.cost[0]) * weight[:, None]
        np.minimum(alpha, most, out=alpha)
    return Duals.of(alpha, alpha > 0, sign)


@task
def visit(rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Part, Duals, int]) -> Step:
    """Every class of a block once, in random order."""
    lanes, part, old, cycle = task
    opt, d = lanes.options, lanes.n_features
    names = old.names or Names.of(old.ptr, old.rows, rows.indptr, rows.indices, d)
    duals = old._replace(live=old.live.copy(), order=old.order.copy(), a=old.a.copy(),
                         names=None if opt.compact else names)  # fmt: skip
    features = None
    if opt.compact:
        names, features = names.compact(d)
    rng = np.random.default_rng([opt.seed, lanes.number, cycle])
    k = lanes.diagonal().astype(rows.data.dtype)
    before = lanes.stacked(part) if features is None else lanes.stacked_at(part, features)
    common, measured, longest = (
        before.copy(),
        np.zeros((2, k.size)),
        int(np.diff(duals.ptr).max(initial=0)),
    )
    B, k_bias = lanes.B, opt.own(k, lanes.over_S)
    for _ in range(lanes.n_passes):
        size = fast.visit(
            rng.permutation(k.size), fast.JointRows(*rows, norm2, weight),
            fast.JointDuals(*duals[:-1], *names), lanes.loss(RELAX),
            fast.JointLanes(B.indptr, B.indices, B.data, lanes.over_S, k, k_bias),
            rng.random(longest), common, measured,
        )  # fmt: skip
    if lanes.n_passes > 1:
        size = moved(rows, lanes, duals, old.a)
    common -= before
    change = Change(features, common)
    return Step(duals, old.a, change.compact() if opt.compact else change, size,
                measured.sum(axis=1))  # fmt: skip


def moved(rows: Rows, lanes: Lanes, duals: Duals, before: FloatArray) -> float:
    """sum ||dv||^2 / S over the classes of a block."""
    step, bias = _sums(rows, lanes, duals._replace(a=duals.a - before), np.sqrt(lanes.over_S))
    return float(np.vdot(step.data, step.data)) + lanes.options.bias**2 * float(bias @ bias)


@task
def sweep(rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Part, Duals]) -> Swept:
    """The exact loss and gap of a block, who matters now, and its part of D."""
    lanes, part, duals = task
    dtype, opt = rows.data.dtype, lanes.options
    n, width = weight.size, lanes.columns.size
    alpha, sign = duals.dense(n), lanes.signs(n)
    W, w_bias = weights(rows, part, lanes, alpha, sign)
    loss, gap = np.zeros((len(STRETCHES), width)), np.zeros(width)
    needed, kept = np.empty((n, width), dtype=bool), np.empty((n, width), dtype=dtype)
    svm_fast.sweep(
        svm_fast.Machines(
            *rows, norm2, dtype.type(opt.bias), sign, lanes.cost, weight, opt.squared
        ),
        W, w_bias, alpha, np.array(STRETCHES, dtype), loss, gap, needed, kept,
    )  # fmt: skip
    if opt.compact:
        leave_out(needed, alpha, sign, kept, opt.bias * w_bias)
    return _swept(Duals.of(alpha, needed, sign), loss.sum(axis=1), gap, lanes, weight)


def leave_out(needed: Any, alpha: Any, sign: Any, kept: Any, constant: Any) -> None:
    """Of the examples with a = 0 only those that fall short most are needed, LISTED for a class.

    needed : (n, lanes) bool, updated
    kept, constant : y w.x without the constant feature, and what that adds to w.x
    """
    others = needed & (alpha == 0)
    most = LISTED * needed.shape[1]
    if int(others.sum()) <= most:
        return
    margin = kept + sign * constant.astype(kept.dtype)
    bound = np.partition(margin[others], most)[most]
    needed &= (alpha > 0) | (margin < bound)


class Alone(NamedTuple):
    """A block that was certified, and then solved for itself."""

    swept: Swept
    duals: Duals
    objective: float  # of the classes, without 1/2 ||D||^2


@task
def descend(rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Part, Duals, float]) -> Alone:
    """The certificate of a block; then its best weights for this D, to a part of `tol`."""
    lanes, part, duals, tol = task
    opt, d = lanes.options, lanes.n_features
    flat = svm.SvmOptions(opt.squared, opt.bias, tol, 0, opt.seed, 0.0, True)
    mean = np.asarray(lanes.B @ lanes.stacked(part))
    cost = lanes.cost * lanes.over_S
    start = sp.csr_array(duals.dense(rows.indptr.size - 1) * lanes.over_S)
    run = svm.SvmRun(
        rows, norm2 + rows.data.dtype.type(opt.bias) ** 2, weight, d,
        svm.SvmTask(lanes.number, lanes.positives(weight.size), cost, mean, start, flat),
    )  # fmt: skip
    run.restart(start)
    loss = np.full(len(STRETCHES), np.inf)
    loss[0] = float(((run.objective - 0.5 * run.away2) / lanes.over_S).sum())
    entered = _swept(_duals_of(run, lanes), loss, run.gap / lanes.over_S, lanes, weight)
    for _ in range(ROUNDS):
        if run.gap.sum() <= SHARE * tol * run.objective.sum():
            break
        run.descend(svm.INNER_EPOCHS)
        run.sweep()
    return Alone(entered, _duals_of(run, lanes), float((run.objective / lanes.over_S).sum()))


def _duals_of(run: svm.SvmRun, lanes: Lanes) -> Duals:
    """The dual variables of a run, whose costs are divided by S."""
    needed = run.needed
    if lanes.options.compact:
        needed = needed.copy()
        leave_out(needed, run.alpha, run.sign, run.kept, run.bias * run.w_bias)
    found = Duals.of(run.alpha, needed, run.sign)
    return found._replace(a=found.a / lanes.over_S[found.lane()])


def _swept(duals: Duals, loss: Any, gap: Any, lanes: Lanes, weight: Any) -> Swept:
    gained = duals.a.sum(dtype=np.float64) - _conjugate(duals, lanes, weight)
    total = float(gap.sum())
    return Swept(duals, loss, total, total - float(loss[0]) + float(gained))


def _conjugate(duals: Duals, lanes: Lanes, weight: Any) -> float:
    """sum a^2 / (4 u) for the squared hinge; 0 for the hinge."""
    if not lanes.options.squared:
        return 0.0
    u = lanes.cost[(duals.y > 0).astype(int), duals.lane()] * weight[duals.rows]
    return float((duals.a * duals.a / (4 * u)).sum(dtype=np.float64))


@task
def refresh(rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Part, Duals]) -> Change:
    """What a block adds to D, afresh: without what rounding has added."""
    lanes, _, duals = task
    alpha = duals.dense(weight.size)
    return part_of(dual_sums(rows, lanes, alpha, lanes.signs(weight.size)), lanes)


def part_of(V: FloatArray, lanes: Lanes) -> Change:
    """What a block adds to D: rows of B' V."""
    part = np.asarray(lanes.B.T @ V)
    if not lanes.options.share_bias:
        part[:, -1] = 0.0
    change = Change(None, part)
    return change.compact() if lanes.options.compact else change


def common_weights(part: Part, lanes: Lanes) -> tuple[FloatArray, FloatArray]:
    """B D: (d, lanes), and of the constant feature (lanes,)."""
    common = np.asarray(lanes.B @ lanes.stacked(part))
    return np.ascontiguousarray(common[:, :-1].T), common[:, -1].copy()


def dual_sums(rows: Rows, lanes: Lanes, alpha: FloatArray, sign: Any) -> FloatArray:
    """V (lanes, d + 1) of a block of at most so many features."""
    d = lanes.n_features
    V, v_bias = np.zeros((d, alpha.shape[1]), rows.data.dtype), np.zeros_like(alpha[0])
    svm_fast.add_examples(*rows, rows.data.dtype.type(lanes.options.bias), sign, alpha, V, v_bias)
    out = np.empty((alpha.shape[1], d + 1), dtype=V.dtype)
    out[:, :-1], out[:, -1] = V.T, v_bias
    return out


def weights(
    rows: Rows, part: Part, lanes: Lanes, alpha: FloatArray, sign: Any
) -> tuple[FloatArray, FloatArray]:
    """W (d, lanes) of a block, and the weights of the constant feature."""
    W, w_bias = common_weights(part, lanes)
    own = alpha * lanes.over_S
    svm_fast.add_examples(*rows, W.dtype.type(lanes.options.bias), sign, own, W, w_bias)
    return W, w_bias


@task
def final_weights(
    rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Part, Duals]
) -> tuple[FloatArray, FloatArray]:
    """The weights of a block, (lanes, d), and of the constant feature."""
    lanes, part, duals = task
    alpha = duals.dense(weight.size)
    W, w_bias = weights(rows, part, lanes, alpha, lanes.signs(weight.size))
    return svm_lanes.class_rows(W), w_bias


@task
def final_counts(
    rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Duals]
) -> npt.NDArray[np.int64]:
    """How many features each class of a block has of its own, (lanes,)."""
    lanes, duals = task
    here = duals.a != 0
    ptr = starts(np.bincount(duals.lane()[here], minlength=lanes.columns.size))
    n_tokens, n_features = np.empty((2, lanes.columns.size), dtype=np.int64)
    stamp = np.zeros(lanes.n_features, dtype=np.int64)
    fast.count_features(
        ptr, duals.rows[here], rows.indptr, rows.indices, stamp, n_tokens, n_features
    )
    return n_features


@task
def final_parts(
    rows: Rows, norm2: Any, weight: Any, task: tuple[Lanes, Duals]
) -> tuple[sp.csr_array, FloatArray]:
    """U = V / S of a block, (lanes, d), and of the constant feature."""
    lanes, duals = task
    own, bias = _sums(rows, lanes, duals, lanes.over_S)
    own.sort_indices()
    return own, (lanes.options.bias * bias).astype(own.dtype)


def _sums(rows: Rows, lanes: Lanes, duals: Duals, factor: Any) -> tuple[sp.csr_array, Any]:
    """sum_i a_i y_i x_i of every class times a factor, (lanes, d), and without x."""
    n, width = rows.indptr.size - 1, lanes.columns.size
    here, lane = np.flatnonzero(duals.a), duals.lane()
    values = (duals.a * duals.y * factor[lane])[here]
    X = sp.csr_array((rows.data, rows.indices.view(np.int32), rows.indptr), (n, lanes.n_features))
    own = sp.csr_array(sp.csr_array((values, (lane[here], duals.rows[here])), (width, n)) @ X)
    return own, np.bincount(lane[here], values, width)


def blocks_of(
    Y: sp.csr_array, n_features: int, found: Coupling, cost: Any, options: JointOptions, dtype: Any
) -> list[Lanes]:
    """Classes that have much in common share a block."""
    columns, (n_classes, n_inner) = sp.csc_array(Y), found.mix.shape
    first = np.full(n_classes, n_inner)
    many = found.n_below() >= MANY
    has = np.flatnonzero(np.diff(found.mix.indptr))
    if has.size:  # the node right above
        first[has] = np.maximum.reduceat(found.rank[found.mix.indices], found.mix.indptr[has])
    order = np.lexsort((np.arange(n_classes), first)).astype(np.int64)
    out = []
    for number, k in enumerate(range(0, order.size, svm.LANES)):
        here = order[k : k + svm.LANES]
        part, inner, turn = _paths(found.paths(here), many, dtype)
        own = np.ascontiguousarray(cost[:, here], dtype=dtype)
        over_S = (1.0 / found.S[here]).astype(dtype)
        ones = columns[:, here].nonzero()
        ones = tuple(k.astype(np.int32) for k in ones)
        out.append(Lanes(number, here, ones, own, over_S, part, inner, n_features, options, turn))
    return out


def _paths(B: sp.csr_array, many: Any, dtype: Any) -> tuple[sp.csr_array, Any, FloatArray | None]:
    """B of a block over its own nodes, and these.

    Where they are many, those with many classes below come last, and their columns are L Q with
    orthonormal rows of Q: then L stands for them, and Q is the third. Classes below the same nodes
    have the same row of B, so that Q has few rows.
    """
    B.sort_indices()
    inner, local = np.unique(B.indices, return_inverse=True)
    part = sp.csr_array((B.data, local.astype(np.int32), B.indptr), (B.shape[0], inner.size))
    nodes, high = inner.astype(np.int64), many[inner]
    if inner.size <= LONG or not high.any():
        return sp.csr_array(part.astype(dtype)), nodes, None
    different, which = np.unique(part[:, high].toarray(), axis=0, return_inverse=True)
    Q, R = np.linalg.qr(different.T)
    L = sp.csr_array(R.T[which.ravel()])
    both = sp.csr_array(sp.hstack([part[:, ~high], L], dtype=dtype))
    nodes = np.concatenate([nodes[~high], nodes[high]])
    return both, nodes, np.ascontiguousarray(Q.T, dtype=dtype)
