"""Multinomial logistic regression, with its certificate.

    minimise_W  1/2 sum_k ||w_k - m_k||^2 + C sum_i c_i (log sum_k exp(w_k.x_i) - w_{t_i}.x_i)

t_i is the class of example i, m_k a prior mean (zero if not given): MLR [GopalYang2015, section 6].
The way is that of `logistic`, with a probability vector pi_i for every example:

    1. a start: pi_i = e_{t_i} + tau (class frequencies - e_{t_i}), tau the best for the dual;
    2. coordinate ascent in the dual: every step makes one vector pi_i optimal;
    3. only where that is slow: Newton's method in the primal.

The gap is sum_i u_i KL(pi_i || softmax(z_i)) + 1/2 sum_k ||w_k - m_k - V_k||^2 with u_i = C c_i,
V_k = sum_i u_i ([t_i = k] - pi_ik) x_i. Memory is two numbers for every example and class besides
the weights. Loops are in `logistic_fast`, the derivation in docs/maths/logistic.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from linnaeus.errors import UserError
from linnaeus.execution import Executor
from linnaeus.solvers.linear import logistic_fast as fast
from linnaeus.solvers.numerics import coordinate_ascent, examples, newton
from linnaeus.solvers.numerics.coordinate_ascent import Part, Values
from linnaeus.solvers.numerics.examples import FloatArray, Rows, Solution
from linnaeus.solvers.numerics.rounds import Kept, Rounds
from linnaeus.solvers.numerics.row_parts import RowParts


class MlrTask(NamedTuple):
    """The problem, beside the arrays that are large."""

    n_classes: int
    mean: tuple[Any, Any] | None  # (K, d) or None, and (K,) or None
    start: tuple[Any, Any] | None  # likewise
    bias: float
    tol: float
    max_iter: int
    seed: int


def solve(
    X: sp.csr_array,
    t: Any,
    n_classes: int,
    *,
    C: float = 1.0,
    mean: Any = None,
    mean_intercept: Any = None,
    bias: float = 0.0,
    sample_weight: Any = None,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    dtype: Any = np.float32,
    seed: int = 0,
    executor: Executor | None = None,
) -> Solution:
    """Solve for examples of the classes t (n,), numbers below n_classes.

    mean, mean_intercept : (n_classes, n_features) and (n_classes,), prior means
    bias : size of the constant feature, regularised like any other; 0 for none
    start : an earlier solution, of this problem with another C, mean or weights
    max_iter : passes over the data
    """
    t = np.asarray(t, dtype=np.int64)
    if t.size and not (t.min() >= 0 and t.max() < n_classes):
        raise UserError(
            f"t holds the class {t.max() if t.min() >= 0 else t.min()}, but there are {n_classes}. "
            f"Number the classes from 0 to {n_classes - 1}."
        )
    X, t, weight = examples.weighted_examples(X, t, C, sample_weight)
    norms = examples.squared_norms(X, bias)
    task = MlrTask(
        n_classes,
        coordinate_ascent.prior_mean(mean, mean_intercept, bias),
        None if start is None else (start.coef, start.intercept),
        float(bias), tol, max_iter, seed,
    )  # fmt: skip
    began = time.perf_counter()
    parts = [_solved(_MlrRun(Rows.of(X, dtype), X.shape[1], norms, C * weight, t, task, executor))]
    return coordinate_ascent.joined(parts, bias, time.perf_counter() - began)


def _solved(run: _MlrRun) -> Part:
    """Solve the whole problem: its classes cannot be separated."""
    task = run.task
    n_first = coordinate_ascent.FIRST_LOOK if task.start is None else 0
    kept = Kept(run.about, run.take, run.restore)
    if not coordinate_ascent.ascend(run, run.t.size, n_first, task.seed, kept):
        run.finish()
    return Part(
        np.ascontiguousarray(run.W.T),
        np.array([run.objective]),
        np.array([run.dual]),
        run.rounds.n,
        run.rounds.trace,
    )


class _MlrRun:
    """The state of the problem while it is solved; also what Newton's method sees of it."""

    def __init__(
        self, rows: Rows, d: int, norms: Values, weight: Values, t: Any, task: MlrTask,
        executor: Executor | None,
    ) -> None:  # fmt: skip
        K, dtype = task.n_classes, rows.data.dtype
        self.rows, self.norms, self.weight, self.t, self.task = rows, norms, weight, t, task
        self.bias = dtype.type(task.bias)
        self.target = coordinate_ascent.target_gap(task.tol, dtype)
        self.W = np.zeros((d + 1, K), dtype=dtype)
        self.M = None if task.mean is None else self._packed(task.mean)
        if self.M is not None:
            self.W += self.M
        self.over = RowParts(rows, self.W.shape, executor)
        self.objective, self.dual = np.inf, -np.inf
        self.rounds = Rounds(task.max_iter, self.target)
        self.r, self.pi = self._prior() if task.start is None else self._warm()

    @property
    def about(self) -> Any:
        """The problem as a plain value."""
        return "mlr", self.rows, self.norms, self.weight, self.t, self.task

    def take(self) -> Any:
        """The state after an epoch."""
        return self.W, self.r, self.pi, self.objective, self.dual

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.W, self.r, self.pi, self.objective, self.dual = found

    def _packed(self, given: Any) -> FloatArray:
        return coordinate_ascent.pack(given, self.task.bias, self.W.shape, self.W.dtype)

    def dot(self, A: FloatArray, B: FloatArray) -> Values:
        """The inner product over all entries, as an array of one."""
        out = np.empty(A.shape[1])
        fast.column_dots(A, B, out)
        return np.array([out.sum()])

    def _away(self, W: FloatArray) -> FloatArray:
        return W if self.M is None else W - self.M

    def _residuals(self, pi: FloatArray) -> FloatArray:
        """V_k = sum_i u_i ([t_i = k] - pi_ik) x_i; pi (n, K) is overwritten."""
        np.negative(pi, out=pi)
        pi[np.arange(self.t.size), self.t] += 1
        pi *= self.weight[:, None].astype(pi.dtype)
        V = np.zeros_like(self.W)
        self.over.summed(lambda part, rows, V: fast.add_rows(rows, self.bias, pi[part], V), V)
        return V

    def _prior(self) -> tuple[FloatArray, FloatArray]:
        """Start at the class frequencies p (never zero), shrunk towards the truth."""
        K, dtype = self.task.n_classes, self.W.dtype
        mass = np.bincount(self.t, self.weight, minlength=K).astype(np.float64)
        p = coordinate_ascent.class_shares(np.bincount(self.t, minlength=K))
        V = self._residuals(np.tile(p, (self.t.size, 1)).astype(dtype))
        mV = 0.0 if self.M is None else self.dot(self.M, V)
        tau = coordinate_ascent.softmax_ray(p, mass, self.dot(V, V), mV)
        log_p = np.tile(np.log(p), (self.t.size, 1)).astype(dtype)
        return self._shrunk(log_p, V, tau)

    def _warm(self) -> tuple[FloatArray, FloatArray]:
        """Start at the probabilities of given weights."""
        W = self._packed(self.task.start)
        Z = np.empty((self.t.size, self.task.n_classes), dtype=self.W.dtype)
        self.over.each(lambda part, rows: fast.margins(rows, self.bias, W, Z[part]))
        Z -= logsumexp(Z, axis=1, keepdims=True)
        V = self._residuals(np.exp(Z))
        tau = coordinate_ascent.projection(self.dot(self._away(W), V), self.dot(V, V))
        return self._shrunk(Z, V, tau)

    def _shrunk(
        self, log_p: FloatArray, V: FloatArray, tau: Values
    ) -> tuple[FloatArray, FloatArray]:
        """The dual point e_t + tau (p - e_t), as logarithms and values; w = m + tau V."""
        self.W += tau.astype(V.dtype) * V
        own = np.arange(self.t.size), self.t
        left = 1.0 - tau * -np.expm1(log_p[own].astype(np.float64))
        log_p += np.log(tau).astype(log_p.dtype)
        log_p[own] = np.log(left)
        return log_p, np.exp(log_p)

    def sweep(self, order: Any) -> None:
        """Visit the examples one after the other, in this order."""
        z, delta = np.empty((2, self.W.shape[1]), dtype=self.W.dtype)
        fast.softmax_sweep(
            order, self.rows, self.bias, self.norms, self.weight, self.W, self.r, self.pi, z, delta,
            np.empty((4, z.size)),
        )  # fmt: skip

    def look(self) -> None:
        def certify(part: slice, rows: Rows) -> Values:
            K, sums = self.W.shape[1], np.empty(2)
            given, space = (self.weight[part], self.t[part]), np.empty((1, K))
            z = np.empty(K, self.W.dtype)
            fast.softmax_certificate(rows, self.bias, *given, self.W, self.r[part], z, space, sums)
            return sums

        sums = np.sum(self.over.each(certify), axis=0)
        away = self._away(self.W)
        self._note(0.5 * float(self.dot(away, away)[0]) + sums[0], sums[1])

    def _note(self, objective: float, gap: float) -> None:
        self.objective = objective
        self.dual = min(max(self.dual, objective - gap), objective)
        self.rounds.note(self.objective, self.objective - self.dual)

    def narrow(self) -> None:
        """Nothing to leave out: the classes belong together."""

    def finish(self) -> None:
        """Newton's method, where coordinate ascent is slow."""
        if self.rounds.left <= 0:
            return
        found = newton.minimise(
            self, self.W, np.zeros_like(self.W) if self.M is None else self.M,
            np.array([self.dual]), tol=self.target, max_passes=self.rounds.left, about=self.about,
        )  # fmt: skip
        self.W = found.W
        self.rounds.n += found.n_passes
        self._note(float(found.value[0]), float(found.value[0] - found.bound[0]))

    def evaluate(self, W: FloatArray) -> tuple[Values, FloatArray]:
        away = self._away(W)
        G = away.copy()

        def losses(part: slice, rows: Rows, G: FloatArray) -> float:
            z, work = np.empty(W.shape[1], W.dtype), np.empty((1, W.shape[1]))
            given = self.weight[part], self.t[part], W, G, self.pi[part]
            loss: float = fast.softmax_evaluate(rows, self.bias, *given, z, work)
            return loss

        loss = sum(self.over.summed(losses, G))
        return 0.5 * self.dot(away, away) + loss, G

    def product(self, D: FloatArray) -> FloatArray:
        def multiply(part: slice, rows: Rows, out: FloatArray) -> None:
            z, given = np.empty(D.shape[1], D.dtype), (self.weight[part], self.pi[part])
            fast.softmax_product(rows, self.bias, *given, D, out, z)

        out = D.copy()
        self.over.summed(multiply, out)
        return out

    def preconditioner(self) -> Callable[[FloatArray], FloatArray]:
        H, M = self.weight[:, None].astype(self.W.dtype) * self.pi * (1 - self.pi), self.W
        if M.shape[0] - 1 <= newton.FEW:
            h = H.sum(axis=1, dtype=np.float64)
            Q = newton.second_moments(self.rows, float(self.bias), M.shape[0] - 1, h)
            return newton.correlated(Q, H.sum(axis=0, dtype=np.float64))
        M = np.ones_like(self.W)
        self.over.summed(lambda part, rows, M: fast.diagonal(rows, self.bias, H[part], M), M)
        return lambda R: np.asarray(R / M)
