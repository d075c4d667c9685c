"""One support vector machine to its optimum by second-order steps, whatever its scale.

    minimise_w  1/2 ||w - m||^2 + sum_i u_i loss(z_i),      z_i = y_i w.x_i

loss(z) = max(0, 1 - z) or its square, the constant feature among the features. Coordinate descent
crawls where features have very different sizes or costs are large. The interior point method of
`interior` does not feel the scales; a step takes about n p^2 operations for p features, or n^2 p
for n < p examples.

    hinge          the larger of the linear functions 0 and 1 - z;
    squared hinge  u max(0, r)^2 is the least 1/2 q^2 + c max(0, r - q / sqrt(2 u)) over q, for any
                   c that the dual variable does not reach: a hinge with one more variable for each
                   example, which is eliminated from the system of a step.

The certificate comes from the final weights and dual variables alone (docs/maths/svm.md):

    D(a) = sum_i a_i (1 - y_i m.x_i) - conj(a_i) - 1/2 ||sum_i a_i y_i x_i||^2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.solvers.numerics import interior
from linnaeus.solvers.numerics.gram import Examples, Values


class Polished(NamedTuple):
    """One class: 0 <= alpha (<= cost for the hinge), and dual <= optimum <= primal."""

    w: Values  # (p,), the weight of the constant feature last
    alpha: Values  # (n,)
    primal: float
    dual: float
    n_iter: int


def polish(
    examples: Examples, y: npt.ArrayLike, cost: npt.ArrayLike, mean: npt.ArrayLike, *,
    squared: bool, tol: float, dtype: Any = np.float64,
) -> Polished:  # fmt: skip
    """Solve one class.

    y, cost : (n,) labels of +1 and -1, and u
    mean : (p,) m, the constant feature last
    tol : stop when P - D <= tol P
    dtype : what the answer is rounded to, before its values are measured
    """
    m = np.asarray(mean, float)
    machine = _BinaryMachine.of(examples, np.asarray(y, float), np.asarray(cost, float), m, squared)
    used = machine.cost > 0  # the others have no say
    part = machine if used.all() else machine.of_rows(used)
    if (part.short <= 0).all():  # nothing is lost at the prior mean
        return Polished(m, np.zeros_like(machine.cost), 0.0, 0.0, 0)
    small, basis = part.examples.reduced()
    problem = (_SquaredHinge if squared else _Hinge)(part._replace(examples=small))
    best = interior.minimise(problem, problem.start(), tol=0.3 * tol)
    v = problem.weights(best.v)
    alpha = np.zeros_like(machine.cost)
    for candidate in problem.candidates(best.U[1], v):
        alpha[used] = _rounded(candidate, np.inf if squared else part.cost, dtype)
        w = (m + machine.pull(alpha)).astype(dtype).astype(float)
        primal, dual = machine.primal(w - m), machine.dual(alpha)
        if primal - dual <= tol * primal:
            break
    else:  # then the search may know better weights than those of the dual variables
        other = (m + (v if basis is None else basis @ v)).astype(dtype).astype(float)
        w, primal = min((w, primal), (other, machine.primal(other - m)), key=lambda pair: pair[1])
    return Polished(w, alpha, primal, float(np.minimum(primal, dual)), best.n_iter)


def _rounded(alpha: Values, most: Any, dtype: Any) -> Values:
    """Rounded to `dtype`, never beyond the costs."""
    rounded = np.clip(alpha, 0.0, most).astype(dtype)
    below = np.nextafter(rounded, rounded.dtype.type(0))
    return np.where(rounded > most, below, rounded).astype(float)


class _BinaryMachine(NamedTuple):
    """One class in terms of v = w - m; `short` is 1 - z at the prior mean."""

    examples: Examples
    y: Values
    cost: Values
    short: Values
    squared: bool

    @classmethod
    def of(cls, examples: Examples, y: Values, cost: Values, mean: Values, squared: bool) -> Any:
        return cls(examples, y, cost, 1.0 - y * (examples.X @ mean), squared)

    def of_rows(self, used: npt.NDArray[np.bool_]) -> _BinaryMachine:
        part = Examples(self.examples.X[used])
        return _BinaryMachine(part, self.y[used], self.cost[used], self.short[used], self.squared)

    def rise(self, v: Values) -> Values:
        """By how much v raises the margins z."""
        return np.asarray(self.y * (self.examples.X @ v))

    def pull(self, alpha: Values) -> Values:
        """The weights that the dual variables make."""
        return np.asarray(self.examples.X.T @ (self.y * alpha))

    def primal(self, v: Values) -> float:
        over = np.maximum(0.0, self.short - self.rise(v))
        return 0.5 * float(v @ v) + float(self.cost @ (over**2 if self.squared else over))

    def dual(self, alpha: Values) -> float:
        used, pull = alpha > 0, self.pull(alpha)
        conj = 0.25 * float((alpha[used] ** 2 / self.cost[used]).sum()) if self.squared else 0.0
        return float(alpha @ self.short) - conj - 0.5 * float(pull @ pull)


class _Hinge:
    """The linear functions 0 and 1 - z."""

    def __init__(self, machine: _BinaryMachine) -> None:
        self.machine, self.cost = machine, machine.cost
        self.base = np.stack([np.zeros_like(machine.short), machine.short])

    def start(self) -> Values:
        return np.zeros(self.machine.examples.shape[1])

    def weights(self, v: Values) -> Values:
        return v

    def forward(self, v: Values) -> Values:
        return np.stack([np.zeros_like(self.cost), -self.machine.rise(v)])

    def adjoint(self, U: Values) -> Values:
        return -self.machine.pull(U[1])

    def solver(self, d: Values) -> Callable[[Values], Values]:
        return interior.factorised(self.machine.examples.gram(d[0] * d[1] / (d[0] + d[1])))

    def candidates(self, alpha: Values, v: Values) -> Iterator[Values]:
        yield alpha


class _SquaredHinge:
    """The same of 1 - z - e q, e = 1 / sqrt(2 u); the variables are v, then q."""

    def __init__(self, machine: _BinaryMachine) -> None:
        self.machine, self.e = machine, 1.0 / np.sqrt(2.0 * machine.cost)
        self.base = np.stack([np.zeros_like(machine.short), machine.short])
        self.p = machine.examples.shape[1]
        # a = 2 u max(0, 1 - z), and u max(0, 1 - z)^2 is at most the whole objective
        most = machine.primal(np.zeros(self.p))
        self.cost = 4.0 * np.sqrt(machine.cost * most)

    def start(self) -> Values:
        return np.concatenate([np.zeros(self.p), np.maximum(0.0, self.machine.short) / self.e])

    def weights(self, v: Values) -> Values:
        """One step of Newton's method from v: exact, if the examples with z < 1 are known."""
        v, machine = v[: self.p], self.machine
        over = machine.short - machine.rise(v)
        H = machine.examples.gram(np.where(over > 0, 2.0 * machine.cost, 0.0))
        g = v - machine.pull(2.0 * machine.cost * np.maximum(0.0, over))
        try:
            new = v - interior.factorised(H)(g)
        except np.linalg.LinAlgError:  # numbers out of range
            return v
        return new if machine.primal(new) < machine.primal(v) else v

    def forward(self, v: Values) -> Values:
        rise = self.machine.rise(v[: self.p]) + self.e * v[self.p :]
        return np.stack([np.zeros_like(rise), -rise])

    def adjoint(self, U: Values) -> Values:
        return -np.concatenate([self.machine.pull(U[1]), self.e * U[1]])

    def solver(self, d: Values) -> Callable[[Values], Values]:
        """Solve for v with q eliminated, then for q."""
        machine, e, p = self.machine, self.e, self.p
        B = d[0] * d[1] / (d[0] + d[1])
        left = B / (1.0 + B * e**2)
        solve = interior.factorised(machine.examples.gram(left))

        def both(b: Values) -> Values:
            v = solve(b[:p] - machine.pull(left * e * b[p:]))
            return np.concatenate([v, (b[p:] - B * e * machine.rise(v)) / (1.0 + B * e**2)])

        return both

    def candidates(self, alpha: Values, v: Values) -> Iterator[Values]:
        """First what belongs to v: its gap is half of the squared gradient."""
        yield 2.0 * self.machine.cost * np.maximum(0.0, self.machine.short - self.machine.rise(v))
        yield alpha
