"""Many small problems over one matrix: each has some of the rows, and classes of its own.

Every problem copies its rows with the features that occur in them numbered anew, so that its
weights fit in a cache, and is handed to one of the solvers for whole matrices:

    "hinge", "squared_hinge"   one support vector machine per class (`svm`)
    "logistic"                 one logistic regression per class (`logistic`)
    "crammer"                  one multiclass support vector machine (`msvm`); where a row has
                               several classes the ranking machine (`ranking_svm`), which is the
                               same for one [Cai2008] section 4
    "softmax"                  one multinomial logistic regression (`mlr`); a row with m classes
                               is given m times, once with each, with 1/m of its weight

To the last two a row with none or all of the classes says nothing: it is left out.

A problem without rows answers -1 for each of its classes (multiclass: 0), whatever the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import logsumexp

from linnaeus.execution import Executor, over_blocks, task
from linnaeus.execution.memory import Plan
from linnaeus.losses import zero_one
from linnaeus.solvers.linear import svm, topdown_fast
from linnaeus.solvers.numerics.examples import FloatArray, IntArray, Rows, Solution, squared_norms
from linnaeus.solvers.numerics.occurring import n_occurring
from linnaeus.taxonomy import Taxonomy

PAIR = 40  # bytes of a row and one of its labels, in the forms that they are given
FAMILY = 30_000  # bytes of the objects of a problem
TASK_ROWS = 5000  # small problems are put together until they have so many rows
BLOCK = 1 << 22  # scores made at once
JOINT = ("crammer", "softmax")  # methods with one problem for all classes


class LocalProblem(NamedTuple):
    """Some rows, and their classes."""

    number: int  # of the first block of classes: its stream of random numbers
    rows: IntArray  # (m,)
    Y: sp.csr_array  # (m, k) 0/1
    factor: FloatArray | None = None  # (2, k) of the cost of negatives and positives of each class


class LocalOptions(NamedTuple):
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
    X: sp.csr_array, problems: Sequence[LocalProblem], weight: npt.NDArray[np.float64],
    options: LocalOptions, dtype: Any, executor: Executor,
) -> list[Local]:  # fmt: skip
    """Solve all problems; `weight` holds a positive factor of the cost of each row of X."""
    norm2 = squared_norms(X, options.bias).astype(dtype)
    arrays = [Rows.of(X, dtype), np.int64(X.shape[1]), norm2, weight.astype(dtype), options]
    tasks = _tasks(problems)
    done = over_blocks(solve_task, arrays, tasks, executor)
    return [local for part in done for local in part]


def plan(
    X: sp.csr_array, problems: Sequence[LocalProblem], dtype: Any, limit: int, folds: int = 0
) -> Plan:
    """The memory of `solve`, before which X and the problems are there.

    folds : whether models of parts of the examples come first; then there are two copies
    """
    size, (n, d), often = np.dtype(dtype).itemsize, X.shape, X.nnz / max(1, X.shape[0])
    rows = np.array([problem.rows.size for problem in problems], dtype=float)
    k = np.array([problem.Y.shape[1] for problem in problems], dtype=float)
    features = n_occurring(X, rows)
    copies = 2.0 if folds else 1.0
    given = X.nnz * (X.data.itemsize + X.indices.itemsize) + n * X.indptr.itemsize
    labels = PAIR * sum(problem.Y.nnz for problem in problems) + PAIR * rows.sum()
    fixed = {
        "examples": copies * (given + X.nnz * (size + 4) + 24.0 * n), "labels": copies * labels,
        "models": copies * float((features * (2 * k * size + 8)).sum() + FAMILY * k.size),
    }  # fmt: skip
    copied = rows * often * (size + 8)
    lanes = np.minimum(k, svm.LANES) * (rows * (3 * size + 12) + features * (4 * size + 8))
    worker = (copied + lanes + features * k * size).max(initial=0.0) + 4.0 * d
    return Plan(limit, fixed, float(worker))


def _tasks(problems: Sequence[LocalProblem]) -> list[list[LocalProblem]]:
    """Problems in order, small ones together."""
    tasks: list[list[LocalProblem]] = []
    size = TASK_ROWS
    for problem in problems:
        if size >= TASK_ROWS:
            tasks.append([])
            size = 0
        tasks[-1].append(problem)
        size += problem.rows.size
    return tasks


@task
def solve_task(
    X: Rows, n_features: Any, norm2: Any, weight: Any, options: LocalOptions,
    task: list[LocalProblem],
) -> list[Local]:  # fmt: skip
    """Solve some problems, one after the other."""
    place = np.full(int(n_features), -1, dtype=np.int32)
    return [_solve(X, place, norm2, weight, options, problem) for problem in task]


def _solve(
    X: Rows, place: Any, norm2: Any, weight: Any, options: LocalOptions, problem: LocalProblem
) -> Local:
    dtype, k, rows = X.data.dtype, problem.Y.shape[1], problem.rows
    cost = weight[rows]
    if options.method in JOINT:
        choice = one_choice if options.method == "softmax" else some_choice
        problem, share = choice(problem)
        rows = problem.rows
        cost = weight[rows] * share.astype(dtype)
    if rows.size == 0 or (options.method in JOINT and k == 1):
        return _constant(k, 0.0 if options.method in JOINT else -1.0, dtype)
    part, features = gather(X, rows, place)
    if options.method in ("hinge", "squared_hinge"):
        local = _machines(part, features, norm2[rows], cost, options, problem)
    else:
        local = _other(part, features, cost, options, problem)
    return _without_zeros(local) if options.prune > 0 else local


def some_choice(problem: LocalProblem) -> tuple[LocalProblem, FloatArray]:
    """The rows with some classes but not all, and the factors of their weights."""
    size = np.diff(problem.Y.indptr)
    which = np.flatnonzero((size > 0) & (size < problem.Y.shape[1]))
    Y = sp.csr_array(problem.Y[which])
    factor = np.ones(which.size)
    if problem.factor is not None:  # of several classes their mean
        factor = np.add.reduceat(problem.factor[1][Y.indices], Y.indptr[:-1]) / np.diff(Y.indptr)
    return LocalProblem(problem.number, problem.rows[which], Y), factor


def one_choice(problem: LocalProblem) -> tuple[LocalProblem, FloatArray]:
    """Likewise, each row once with each of its classes."""
    some, _ = some_choice(problem)
    size, k = np.diff(some.Y.indptr), problem.Y.shape[1]
    which, chosen = np.repeat(np.arange(size.size), size), some.Y.indices
    share = 1.0 / size[which]
    if problem.factor is not None:
        share *= problem.factor[1][chosen]
    once = np.arange(chosen.size + 1)
    Y = sp.csr_array((np.ones(chosen.size, np.int8), chosen, once), shape=(chosen.size, k))
    return LocalProblem(problem.number, some.rows[which], Y), share


def _constant(k: int, answer: float, dtype: Any) -> Local:
    """No rows: the same answer always."""
    W, b = np.zeros((0, k), dtype), np.full(k, answer, dtype=dtype)
    return Local(np.zeros(0, np.int32), W, b, 0.0, 0.0, 0, 0.0)


def _machines(
    part: Rows, features: IntArray, norm2: Any, cost: Any, options: LocalOptions,
    problem: LocalProblem,
) -> Local:  # fmt: skip
    """One support vector machine per class, in the blocks of `svm`."""
    dtype, k, d = part.data.dtype, problem.Y.shape[1], features.size
    common = svm.SvmOptions(
        options.method == "squared_hinge", options.bias, options.tol, options.max_iter,
        options.seed, options.prune, False,
    )  # fmt: skip
    runs, blocks = [], []
    for number, first in enumerate(range(0, k, svm.LANES), start=problem.number):
        lanes = slice(first, min(first + svm.LANES, k))
        Y = problem.Y if k <= svm.LANES else sp.csr_array(problem.Y[:, lanes])
        C = np.full((2, Y.shape[1]), options.C, dtype=dtype)
        if problem.factor is not None:
            C *= problem.factor[:, lanes].astype(dtype)
        run = svm.SvmRun(
            part, norm2, cost, d, svm.SvmTask(number, Y, C, None, None, options=common)
        )
        run.warm_up()
        blocks.append(run.finish())
        runs.append(run)
    W = runs[0].W if len(runs) == 1 else np.hstack([run.W for run in runs])
    return Local(
        features, W, dtype.type(options.bias) * np.concatenate([b.w_bias for b in blocks]),
        float(sum(b.objective.sum() for b in blocks)), float(sum(b.dual.sum() for b in blocks)),
        max(b.n_iter for b in blocks), sum(b.pruned for b in blocks),
    )  # fmt: skip


def _other(
    part: Rows, features: IntArray, cost: Any, options: LocalOptions, problem: LocalProblem
) -> Local:
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
        solution = _multiclass(X, Y, seed, common)
    elif options.method == "softmax":
        from linnaeus.solvers.linear import mlr

        solution = mlr.solve(X, Y.indices, Y.shape[1], seed=seed, **common)
    else:
        from linnaeus.solvers.linear import logistic

        by_class = None if problem.factor is None else problem.factor.T
        solution = logistic.solve(X, Y, seed=seed, class_weight=by_class, **common)
    W, b = np.ascontiguousarray(solution.coef.T, dtype=dtype), solution.intercept.astype(dtype)
    P, D, rise = float(solution.objective.sum()), float(solution.dual.sum()), 0.0
    if options.prune > 0:
        W[np.abs(W) < options.prune] = 0
        rise = objective(X, W, b, cost, options, problem) - P
    return Local(features, W, b, P, D, solution.n_iter, rise)


def _multiclass(X: sp.csr_array, Y: sp.csr_array, seed: int, common: dict[str, Any]) -> Solution:
    """One machine for all classes: labels above the other classes."""
    if Y.nnz == Y.shape[0]:
        from linnaeus.solvers.linear import msvm

        return msvm.solve(X, Y.indices, Y.shape[1], random_state=seed, **common)
    from linnaeus.solvers.ranking import ranking_svm

    rest = {key: value for key, value in common.items() if key != "bias"}
    bias, k = common["bias"], Y.shape[1]
    if bias:
        constant = np.full((X.shape[0], 1), bias, dtype=X.dtype)
        X = sp.csr_array(sp.hstack([X, constant], format="csr"))
    flat, each = zero_one(Taxonomy.flat(range(k))), sp.csr_array(sp.eye_array(k))
    found = ranking_svm.solve(X, Y, each, flat, seed=seed, **rest)
    W = np.asarray(found.W)
    W, b = (W[:, :-1], bias * W[:, -1]) if bias else (W, np.zeros(k))
    P, D = np.array([found.objective]), np.array([found.dual])
    return Solution(W, b, P, D, found.n_iter, found.trace)


def objective(
    X: sp.csr_array, W: FloatArray, b: FloatArray, cost: Any, options: LocalOptions,
    problem: LocalProblem,
) -> float:  # fmt: skip
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


def _losses(Z: Any, rows: slice, method: str, problem: LocalProblem) -> Any:
    """The loss of some rows with scores Z, before the cost of each row."""
    if method == "logistic":
        y = problem.Y[rows].toarray() > 0
        loss = np.logaddexp(0.0, np.where(y, -Z, Z))
        if problem.factor is not None:
            loss *= np.where(y, problem.factor[1], problem.factor[0])
        return loss.sum(axis=1)
    Y = problem.Y[rows]
    if method == "softmax":
        return logsumexp(Z, axis=1) - Z[np.arange(len(Z)), Y.indices]
    own = Y.toarray() > 0
    best, worst = np.where(own, -np.inf, Z).max(axis=1), np.where(own, Z, np.inf).min(axis=1)
    return np.maximum(0.0, 1.0 + best - worst)


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
    d = topdown_fast.gather(*X, rows, place, indptr, indices, data, features)
    return Rows(indptr, indices, data), features[:d].copy()


def scores(X: Rows, rows: IntArray, local: Local, place: IntArray) -> FloatArray:
    """The (m, k) scores of some rows in one problem; `place` is work space, -1 everywhere."""
    out = np.empty((rows.size, local.intercept.size), dtype=local.W.dtype)
    topdown_fast.scores(*X, rows, local.features, local.W, local.intercept, place, out)
    return out
