"""Many small problems over one matrix: each has some of the rows, and classes of its own.

Every problem copies its rows with the features that occur in them numbered anew, so that its
weights fit in a cache, and is handed to one of the solvers for whole matrices:

    "hinge", "squared_hinge"   one support vector machine per class (`dual`)
    "logistic"                 one logistic regression per class (`logistic`)
    "crammer"                  one multiclass support vector machine (`crammer`)
    "softmax"                  one multinomial logistic regression (`softmax`)

A multiclass problem has one class per row. A row with m classes is given m times, once with each,
with 1/m of its weight; a row with none or all of them is left out, for it prefers none [Cai2008].

A problem without rows answers -1 for each of its classes (multiclass: 0), whatever the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import logsumexp

from linnaeus.execution import Executor
from linnaeus.solvers import dual, local_fast
from linnaeus.solvers.problem import FloatArray, IntArray, Rows, Solution, squared_norms

TASK_ROWS = 5000  # small problems are put together until they have so many rows
BLOCK = 1 << 22  # scores made at once
JOINT = ("crammer", "softmax")  # methods with one problem for all classes


class Problem(NamedTuple):
    """Some rows, and their classes."""

    number: int  # of the first block of classes: its stream of random numbers
    rows: IntArray  # (m,)
    Y: sp.csr_array  # (m, k) 0/1
    factor: FloatArray | None = None  # (2, k) of the cost of negatives and positives of each class


class Options(NamedTuple):
    """What is the same for all problems."""

    method: str
    C: float
    bias: float
    tol: float
    max_iter: int
    seed: int
    prune: float


class Local(NamedTuple):
    """The weights of one problem, with its certificate."""

    features: IntArray  # (d,) the features that have weights
    W: FloatArray  # (d, k)
    intercept: FloatArray  # (k,)
    objective: float
    dual: float
    n_iter: int
    rise: float  # of the objective by pruning


def solve(
    X: sp.csr_array,
    problems: Sequence[Problem],
    weight: npt.NDArray[np.float64],
    options: Options,
    dtype: Any,
    executor: Executor,
) -> list[Local]:
    """Solve all problems; `weight` holds a positive factor of the cost of each row of X."""
    norm2 = squared_norms(X, options.bias).astype(dtype)
    arrays = [*Rows.of(X, dtype), np.int64(X.shape[1]), norm2, weight.astype(dtype), options]
    tasks = _tasks(problems)
    done = executor.map(solve_task, [executor.put(a) for a in arrays], tasks)
    return [local for part in done for local in part]


def _tasks(problems: Sequence[Problem]) -> list[list[Problem]]:
    """Problems in order, small ones together."""
    tasks: list[list[Problem]] = []
    size = TASK_ROWS
    for problem in problems:
        if size >= TASK_ROWS:
            tasks.append([])
            size = 0
        tasks[-1].append(problem)
        size += problem.rows.size
    return tasks


def solve_task(
    indptr: Any, indices: Any, data: Any, n_features: Any, norm2: Any, weight: Any,
    options: Options, task: list[Problem],
) -> list[Local]:  # fmt: skip
    """Solve some problems, one after the other."""
    X, place = Rows(indptr, indices, data), np.full(int(n_features), -1, dtype=np.int32)
    return [_solve(X, place, norm2, weight, options, problem) for problem in task]


def _solve(
    X: Rows, place: Any, norm2: Any, weight: Any, options: Options, problem: Problem
) -> Local:
    dtype, Y, rows = X.data.dtype, problem.Y, problem.rows
    if options.method in JOINT:
        which, _, share = choices(problem)
        rows = rows[which]
        cost = weight[rows] * share.astype(dtype)
    else:
        cost = weight[rows]
    if rows.size == 0 or (options.method in JOINT and Y.shape[1] == 1):
        return _constant(Y.shape[1], 0.0 if options.method in JOINT else -1.0, dtype)
    part, features = gather(X, rows, place)
    if options.method in ("hinge", "squared_hinge"):
        local = _machines(part, features, norm2[rows], cost, options, problem)
    else:
        local = _other(part, features, cost, options, problem)
    return _without_zeros(local) if options.prune > 0 else local


def choices(problem: Problem) -> tuple[Any, Any, FloatArray]:
    """Rows, the one class of each, and its share of the weight; rows come once with each class."""
    Y = problem.Y
    size = np.diff(Y.indptr)
    size = np.where(size < Y.shape[1], size, 0)
    rows = np.repeat(np.arange(size.size), size)
    kept = np.repeat(size > 0, np.diff(Y.indptr))
    chosen, share = Y.indices[kept], 1.0 / size[rows]
    return rows, chosen, share if problem.factor is None else share * problem.factor[1][chosen]


def _constant(k: int, answer: float, dtype: Any) -> Local:
    """No rows: the same answer always."""
    W, b = np.zeros((0, k), dtype), np.full(k, answer, dtype=dtype)
    return Local(np.zeros(0, np.int32), W, b, 0.0, 0.0, 0, 0.0)


def _machines(
    part: Rows, features: IntArray, norm2: Any, cost: Any, options: Options, problem: Problem
) -> Local:
    """One support vector machine per class, in the blocks of `dual`."""
    dtype, k, d = part.data.dtype, problem.Y.shape[1], features.size
    common = dual.Options(
        options.method == "squared_hinge", options.bias, options.tol, options.max_iter,
        options.seed, options.prune, False,
    )  # fmt: skip
    runs, blocks = [], []
    for number, first in enumerate(range(0, k, dual.LANES), start=problem.number):
        lanes = slice(first, min(first + dual.LANES, k))
        Y = problem.Y if k <= dual.LANES else sp.csr_array(problem.Y[:, lanes])
        C = np.full((2, Y.shape[1]), options.C, dtype=dtype)
        if problem.factor is not None:
            C *= problem.factor[:, lanes].astype(dtype)
        run = dual.Run(part, norm2, cost, d, dual.Task(number, Y, C, None, None, options=common))
        run.warm_up()
        blocks.append(run.finish())
        runs.append(run)
    W = runs[0].W if len(runs) == 1 else np.hstack([run.W for run in runs])
    return Local(
        features, W, dtype.type(options.bias) * np.concatenate([b.w_bias for b in blocks]),
        float(sum(b.objective.sum() for b in blocks)), float(sum(b.dual.sum() for b in blocks)),
        max(b.n_iter for b in blocks), sum(b.pruned for b in blocks),
    )  # fmt: skip


def _other(part: Rows, features: IntArray, cost: Any, options: Options, problem: Problem) -> Local:
    """What the other solvers say; they are loaded when they are first needed."""
    Y, dtype, shape = problem.Y, part.data.dtype, (cost.size, features.size)
    X = sp.csr_array((part.data, part.indices.view(np.int32), part.indptr), shape=shape)
    seed = int(np.random.default_rng([options.seed, problem.number]).integers(2**31))
    common: dict[str, Any] = {
        "C": options.C, "bias": options.bias, "sample_weight": cost, "tol": options.tol,
        "max_iter": options.max_iter, "dtype": dtype,
    }  # fmt: skip
    solution: Solution
    if options.method == "crammer":
        from linnaeus.solvers import crammer

        solution = crammer.solve(X, choices(problem)[1], Y.shape[1], random_state=seed, **common)
    elif options.method == "softmax":
        from linnaeus.solvers import softmax

        solution = softmax.solve(X, choices(problem)[1], Y.shape[1], seed=seed, **common)
    else:
        from linnaeus.solvers import logistic

        by_class = None if problem.factor is None else problem.factor.T
        solution = logistic.solve(X, Y, seed=seed, class_weight=by_class, **common)
    W, b = np.ascontiguousarray(solution.coef.T, dtype=dtype), solution.intercept.astype(dtype)
    P, D, rise = float(solution.objective.sum()), float(solution.dual.sum()), 0.0
    if options.prune > 0:
        W[np.abs(W) < options.prune] = 0
        rise = objective(X, W, b, cost, options, problem) - P
    return Local(features, W, b, P, D, solution.n_iter, rise)


def objective(
    X: sp.csr_array, W: FloatArray, b: FloatArray, cost: Any, options: Options, problem: Problem
) -> float:
    """The objective of given weights, for the methods without a pass of their own."""
    size = float(np.square(W, dtype=float).sum())
    if options.bias:
        size += float(np.square(b / options.bias, dtype=float).sum())
    step, loss = max(1, BLOCK // b.size), 0.0
    for first in range(0, X.shape[0], step):
        rows = slice(first, min(first + step, X.shape[0]))
        Z = np.asarray(X[rows] @ W, dtype=float) + b
        loss += float(_losses(Z, rows, options.method, problem) @ cost[rows])
    return 0.5 * size + options.C * loss


def _losses(Z: Any, rows: slice, method: str, problem: Problem) -> Any:
    """The loss of some rows with scores Z, before the cost of each row."""
    if method == "logistic":
        y = problem.Y[rows].toarray() > 0
        loss = np.logaddexp(0.0, np.where(y, -Z, Z))
        if problem.factor is not None:
            loss *= np.where(y, problem.factor[1], problem.factor[0])
        return loss.sum(axis=1)
    at = np.arange(len(Z)), choices(problem)[1][rows]
    own = Z[at]
    if method == "softmax":
        return logsumexp(Z, axis=1) - own
    Z += 1.0
    Z[at] -= 1.0
    return Z.max(axis=1) - own


def _without_zeros(local: Local) -> Local:
    """Without the features that have no weight left."""
    used = local.W.any(axis=1)
    return local._replace(features=local.features[used], W=np.ascontiguousarray(local.W[used]))


def gather(X: Rows, rows: IntArray, place: IntArray) -> tuple[Rows, IntArray]:
    """Some rows over the features that occur in them, and which these are."""
    n_entries = int((X.indptr[rows + 1] - X.indptr[rows]).sum())
    indptr = np.empty(rows.size + 1, dtype=np.int64)
    indices, data = np.empty(n_entries, np.uint32), np.empty(n_entries, X.data.dtype)
    features = np.empty(min(n_entries, place.size), dtype=np.int32)
    d = local_fast.gather(*X, rows, place, indptr, indices, data, features)
    return Rows(indptr, indices, data), features[:d].copy()


def scores(X: Rows, rows: IntArray, local: Local, place: IntArray) -> FloatArray:
    """The (m, k) scores of some rows in one problem; `place` is work space, -1 everywhere."""
    out = np.empty((rows.size, local.intercept.size), dtype=local.W.dtype)
    local_fast.scores(*X, rows, local.features, local.W, local.intercept, place, out)
    return out
