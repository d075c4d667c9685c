"""One logistic regression per class, many classes over one matrix, each with its certificate.

    minimise_w  S/2 ||w - m||^2 + C sum_i c_i log(1 + exp(-y_i w.x_i)),   y_i = +-1, every class

m is a prior mean (zero if not given), S a strength. This is the leaf problem of RR-LR
[GopalYang2015, (16)]; without m it is BLR. A block of classes goes through

    1. a start: probabilities pi_i = y_i + tau (prior - y_i), tau the best for the dual;
    2. coordinate ascent in the dual: every step makes one pi_i optimal [YuHuangLin2011];
    3. only where that is slow: Newton's method in the primal.

The gap is S times (sum_i u_i KL(pi_i || sigma(z_i)) + 1/2 ||w - m - V||^2), u_i = C c_i / S,
V = sum_i u_i (y_i - pi_i) x_i with y_i = 0 or 1; coordinate ascent keeps w = m + V. The block is
done when its gap is at most `tol` times its objective. Loops are in `logistic_fast`, the
derivation in docs/maths/logistic.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit

from linnaeus.errors import UserError
from linnaeus.execution import Executor, Serial, over_blocks, task
from linnaeus.solvers.linear import logistic_fast as fast
from linnaeus.solvers.numerics import coordinate_ascent, examples, newton
from linnaeus.solvers.numerics.coordinate_ascent import Part, Values
from linnaeus.solvers.numerics.examples import FloatArray, Rows, Solution
from linnaeus.solvers.numerics.rounds import Rounds

LANES = 32  # classes in a block: 128 bytes of float32 weights a feature


class LogisticOptions(NamedTuple):
    """What is the same for all blocks."""

    bias: float
    tol: float
    max_iter: int
    seed: int


class LogisticTask(NamedTuple):
    """One block of classes."""

    labels: sp.csr_array  # (n, B)
    strength: Values  # (B,)
    cost: Values  # (2, B): C / S times class weights, negatives and positives
    mean: tuple[Any, Any] | None  # (B, d) or None, and (B,) or None
    start: tuple[Any, Any] | None  # likewise
    options: LogisticOptions


def solve(
    X: sp.csr_array,
    Y: sp.csr_array,
    *,
    C: float = 1.0,
    mean: Any = None,
    mean_intercept: Any = None,
    strength: Any = 1.0,
    bias: float = 0.0,
    sample_weight: Any = None,
    class_weight: Any = None,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    dtype: Any = np.float32,
    seed: int = 0,
    executor: Executor | None = None,
    shared: list[Any] | None = None,
) -> Solution:
    """Solve for every column of the 0/1 matrix Y.

    mean, mean_intercept : (n_classes, n_features) and (n_classes,), prior means
    strength : S, a number or one per class
    bias : size of the constant feature, regularised like any other; 0 for none
    class_weight : (n_classes, 2), factors of the cost of negatives and of positives
    start : an earlier solution, of this problem with another C, mean, strength or weights
    max_iter : passes over the data, for each class
    shared : what `share` made of the same X, weights, bias and dtype, if that is at hand
    """
    executor = executor or Serial()
    X, Y, weight = examples.weighted_examples(X, Y, C, sample_weight)
    options = LogisticOptions(float(bias), tol, max_iter, seed)
    prior = coordinate_ascent.prior_mean(mean, mean_intercept, bias)
    tasks = _tasks(Y, C, strength, class_weight, prior, start, options)
    began = time.perf_counter()
    if shared is None:
        parts = list(over_blocks(solve_block, _arrays(X, weight, bias, dtype), tasks, executor))
    else:
        parts = list(executor.map(solve_block, shared, tasks))
    return coordinate_ascent.joined(parts, bias, time.perf_counter() - began)


def share(X: sp.csr_array, weight: Values, bias: float, dtype: Any, executor: Executor) -> Any:
    """References to what all blocks read."""
    return [executor.put(array) for array in _arrays(X, weight, bias, dtype)]


def _arrays(X: sp.csr_array, weight: Values, bias: float, dtype: Any) -> list[Any]:
    """Examples, number of features, squared norms, weights."""
    return [Rows.of(X, dtype), np.int64(X.shape[1]), examples.squared_norms(X, bias), weight]


def _tasks(
    Y: sp.csr_array, C: float, strength: Any, class_weight: Any, prior: Any,
    start: Solution | None, options: LogisticOptions,
) -> list[LogisticTask]:  # fmt: skip
    """Blocks of nearly equal width, whatever the number of workers."""
    K = Y.shape[1]
    S = np.broadcast_to(np.asarray(strength, dtype=np.float64), K)
    if not (S > 0).all():
        raise UserError(f"strength holds {S.min()}. Use positive numbers.")
    factors = np.ones((K, 2)) if class_weight is None else np.asarray(class_weight, float)
    cost = C / S * factors.T
    columns = sp.csc_array(Y)
    edges = np.linspace(0, K, -(-K // LANES) + 1).astype(int)

    def cut(pair: Any, here: slice) -> Any:
        if pair is None:
            return None
        return tuple(None if part is None else part[here] for part in pair)

    given = None if start is None else (start.coef, start.intercept)
    return [
        LogisticTask(
            sp.csr_array(columns[:, k]), S[k], np.ascontiguousarray(cost[:, k]), cut(prior, k),
            cut(given, k), options,
        )
        for k in map(slice, edges[:-1], edges[1:])
    ]  # fmt: skip


@task
def solve_block(rows: Rows, n_features: Any, norms: Any, weight: Any, task: LogisticTask) -> Part:
    """Solve the classes of one block."""
    run = _LogisticRun(rows, int(n_features), norms, weight, task)
    n_first = coordinate_ascent.FIRST_LOOK if task.start is None else 0
    if not coordinate_ascent.ascend(run, norms.size, n_first, task.options.seed):
        run.finish()
    return run.part()


class _LogisticRun:
    """The state of one block while it is solved, with unit strength: costs are divided by S.

    `here` are the classes still in work; arrays with a column per class hold only these.
    """

    def __init__(
        self, rows: Rows, d: int, norms: Values, weight: Values, task: LogisticTask
    ) -> None:
        (n, B), dtype = task.labels.shape, rows.data.dtype
        self.rows, self.norms, self.weight, self.task = rows, norms, weight, task
        self.bias, self.options = dtype.type(task.options.bias), task.options
        self.target = coordinate_ascent.target_gap(task.options.tol, dtype)
        self.y = np.zeros((n, B), dtype=np.uint8)
        self.y[task.labels.nonzero()] = 1
        self.cost, self.here = task.cost, np.arange(B)
        self.W = np.zeros((d + 1, B), dtype=dtype)
        self.M = None if task.mean is None else self._packed(task.mean)
        if self.M is not None:
            self.W += self.M
        self.answer = np.zeros((B, d + 1), dtype=dtype)
        self.objective, self.dual = np.full(B, np.inf), np.full(B, -np.inf)
        self.rounds = Rounds(task.options.max_iter, self.target)
        self.r, self.pi = self._prior() if task.start is None else self._warm()

    def _packed(self, given: Any) -> FloatArray:
        return coordinate_ascent.pack(given, self.options.bias, self.W.shape, self.W.dtype)

    def dots(self, A: FloatArray, B: FloatArray) -> Values:
        out = np.empty(A.shape[1])
        fast.column_dots(A, B, out)
        return out

    def away(self, W: FloatArray) -> FloatArray:
        """w - m"""
        return W if self.M is None else W - self.M

    def _residuals(self, pi: Any) -> FloatArray:
        """V = sum_i u_i (y_i - pi_i) x_i"""
        u = self.weight[:, None] * np.where(self.y, self.cost[1], self.cost[0])
        V = np.zeros_like(self.W)
        fast.add_rows(self.rows, self.bias, (u * (self.y - pi)).astype(self.W.dtype), V)
        return V

    def _prior(self) -> tuple[FloatArray, FloatArray]:
        """Start at the frequency p of each class, so that sum_i u_i (y_i - pi_i) = 0."""
        positive = self.cost[1] * (self.weight @ self.y)
        negative = self.cost[0] * (self.weight @ (1 - self.y))
        p = coordinate_ascent.frequencies(positive, negative, self.y.shape[0])
        V = self._residuals(p)
        mV = 0.0 if self.M is None else self.dots(self.M, V)
        tau = coordinate_ascent.binary_ray(p, positive, negative, self.dots(V, V), mV)
        return self._shrunk(np.log(p / (1 - p)), V, tau)

    def _warm(self) -> tuple[FloatArray, FloatArray]:
        """Start at the probabilities of given weights."""
        W = self._packed(self.task.start)
        Z = np.empty(self.y.shape, dtype=self.W.dtype)
        fast.margins(self.rows, self.bias, W, Z)
        V = self._residuals(expit(Z))
        tau = coordinate_ascent.projection(self.dots(self.away(W), V), self.dots(V, V))
        return self._shrunk(Z, V, tau)

    def _shrunk(self, z: Any, V: FloatArray, tau: Values) -> tuple[FloatArray, FloatArray]:
        """The dual point y + tau (sigma(z) - y), as logits and probabilities; w = m + tau V."""
        self.W += tau.astype(V.dtype) * V
        with np.errstate(divide="ignore"):  # log 0 where tau = 1
            left = np.log1p(-tau)
        positive, negative = (
            sign * (np.logaddexp(sign * z, left) - np.log(tau)).astype(V.dtype) for sign in (1, -1)
        )
        return (
            np.where(self.y, positive, negative),
            np.where(self.y, expit(positive), expit(negative)),
        )

    def sweep(self, order: Any) -> None:
        z, delta = np.empty((2, self.W.shape[1]), dtype=self.W.dtype)
        fast.binary_sweep(
            order, self.rows, self.bias, self.norms, self.weight, self.cost, self.y, self.W,
            self.r, self.pi, z, delta,
        )  # fmt: skip

    def look(self) -> None:
        z = np.empty(self.W.shape[1], dtype=self.W.dtype)
        loss, gap = np.empty((2, z.size))
        fast.binary_certificate(
            self.rows, self.bias, self.weight, self.cost, self.y, self.W, self.r, z, loss, gap
        )
        away = self.away(self.W)
        self._note(0.5 * self.dots(away, away) + loss, gap)

    def _note(self, objective: Values, gap: Values) -> None:
        self.objective[self.here] = objective
        self.dual[self.here] = np.maximum(self.dual[self.here], objective - gap)
        self.dual = np.minimum(self.dual, self.objective)
        S = self.task.strength
        self.rounds.note(float(S @ self.objective), float(S @ (self.objective - self.dual)))

    def narrow(self, at_least: float = 0.5) -> None:
        """Take the classes that have converged out of the block, if they are a good part."""
        gap = (self.objective - self.dual)[self.here]
        keep = gap > self.target * self.objective[self.here]
        if keep.all() or np.mean(~keep) < at_least:
            return
        self.answer[self.here[~keep]] = self.W[:, ~keep].T
        self.here = self.here[keep]
        for name in ("W", "M", "r", "pi", "y", "cost"):
            array = getattr(self, name)
            setattr(self, name, None if array is None else np.ascontiguousarray(array[:, keep]))

    def finish(self) -> None:
        """Newton's method, for the classes that coordinate ascent leaves open."""
        if self.rounds.left <= 0:
            return
        self.narrow(at_least=0.0)
        found = newton.minimise(
            _Losses(self), self.W, np.zeros_like(self.W) if self.M is None else self.M,
            self.dual[self.here], tol=self.target, max_passes=self.rounds.left,
        )  # fmt: skip
        self.W = found.W
        self.rounds.n += found.n_passes
        self._note(found.value, found.value - found.bound)

    def part(self) -> Part:
        self.answer[self.here] = self.W.T
        S = self.task.strength
        return Part(
            self.answer, S * self.objective, S * self.dual, self.rounds.n, self.rounds.trace
        )


class _Losses:
    """The problems of a block, one per column, as Newton's method sees them."""

    def __init__(self, run: _LogisticRun) -> None:
        self.run = run
        self.data = (run.rows, run.bias)
        self.H = np.empty(run.y.shape, dtype=run.W.dtype)
        self.z = np.empty(run.y.shape[1], dtype=run.W.dtype)

    def evaluate(self, W: FloatArray) -> tuple[Values, FloatArray]:
        run, loss = self.run, np.empty(W.shape[1])
        away = run.away(W)
        value, G = 0.5 * self.dot(away, away), away.copy()
        fast.binary_evaluate(*self.data, run.weight, run.cost, run.y, W, G, self.H, self.z, loss)
        return value + loss, G

    def product(self, D: FloatArray) -> FloatArray:
        out = D.copy()
        fast.binary_product(*self.data, self.H, D, out, self.z)
        return out

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        run, d = self.run, self.run.W.shape[0] - 1
        if d <= newton.FEW:
            h = self.H.sum(axis=1, dtype=np.float64)
            Q = newton.second_moments(run.rows, float(run.bias), d, h)
            return newton.correlated(Q, self.H.sum(axis=0, dtype=np.float64))
        M = np.ones_like(run.W)
        fast.diagonal(*self.data, self.H, M)
        return lambda R: np.asarray(R / M)

    def dot(self, A: FloatArray, B: FloatArray) -> npt.NDArray[np.float64]:
        return self.run.dots(A, B)
