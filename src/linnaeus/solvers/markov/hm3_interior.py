"""Max-margin Markov models by an interior point method, where steps of single examples are slow.

    minimise_M  1/2 ||M||^2 + sum_i c_i max_y  loss_i(y) + (u(y) - u(y_i))'M x_i

A labeling y is a point t(y) in few coordinates, u(y) = t(y) R. Each example lists some labelings.
A round finds the optimum over the lists, a problem of `interior` with r f unknowns, then searches
all labelings for those that it has left out. Multipliers of listed labelings are feasible for the
whole problem, and the search gives the value of the primal: the gap is a true certificate. It is
worth while for few nodes and features and a large C. docs/maths/hm3.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from linnaeus.solvers.numerics import interior
from linnaeus.solvers.numerics.gram import Values
from linnaeus.solvers.numerics.rounds import Rounds, relative

ROUNDS = 10  # that it takes, about
LOOSE, FINER = 1e-2, 0.1  # the relative gap of a round at most; and by that of the one before
FINEST = 1e-10
BEYOND = 1e-9  # of the largest loss and score, by which a labeling must be beyond those listed


class Labelings(NamedTuple):
    """One labeling of every example."""

    t: Values  # (n, w)
    loss: Values  # (n,)


class Machine(NamedTuple):
    """The problem. All examples have positive costs."""

    X: Values  # (n, f), from `interior.coordinates`
    cost: Values  # (n,)
    truth: Values  # (n, w), t of the true labelings
    root: Values  # (w, r), R
    first: Labelings  # what the lists begin with
    search: Callable[[Values], Labelings]  # from (n, w), what each coordinate of t scores


def work(n: int, w: int, f: int) -> float:
    """Nanoseconds, about; infinite where it is out of the question."""
    return min(ROUNDS, w) * interior.crossed_work(n, w, f)


class Optimum(NamedTuple):
    """The best that was found."""

    M: Values  # (f, r) weights
    mean: Values  # (n, w), the sum over labelings of multipliers times t
    lost: Values  # (n,), that of multipliers times losses
    primal: float
    dual: float


@np.errstate(all="ignore")  # numbers out of range make no better optimum
def minimise(machine: Machine, rounds: Rounds, tol: float) -> Optimum:
    """Rounds until P - D <= tol |P|, rounding hides the rest, or none are left."""
    lists, closeness, (r, f) = _Lists(machine), LOOSE, (machine.root.shape[1], machine.X.shape[1])
    best = Optimum(np.zeros((f, r)), *machine.first, np.inf, -np.inf)
    lists.extend(lists.zero)
    while True:
        found = interior.minimise(lists.problem(), lists.zero, tol=closeness)
        if found.dual > best.dual:
            lost = np.einsum("ki,ki->i", found.U, lists.loss)
            best = best._replace(mean=lists.mean(found.U), lost=lost, dual=found.dual)
        slack, grown = lists.extend(found.v)
        primal = 0.5 * float(found.v @ found.v) + float(machine.cost @ slack)
        if primal < best.primal:
            best = best._replace(M=found.v.reshape(r, f).T, primal=primal)
        rounds.n += 1
        gap = relative(best.primal - best.dual, best.primal)
        if gap <= tol or not rounds.left or not (grown or closeness > FINEST):
            return best
        rounds.note(best.primal, best.primal - best.dual)
        closeness = max(FINEST, min(closeness, FINER * gap) if grown else FINER * closeness)


def multipliers(machine: Machine, best: Optimum) -> Values:
    """Numbers (n, w) that make its weights, as nu would: the sum of x_i nu_i R is M."""
    V = solve_triangular(machine.root, best.M.T, lower=True, trans=1).T  # M = V R
    nu: Values = np.linalg.lstsq(machine.X.T, V)[0]
    return nu


class _Lists:
    """The labelings of each example; slots that are not used yet repeat the first."""

    def __init__(self, machine: Machine) -> None:
        self.machine, (t, loss) = machine, machine.first
        self.t, self.loss = t[None].copy(), loss[None].copy()
        self.size = np.ones(loss.size, dtype=np.int64)
        self.zero = np.zeros(machine.root.shape[1] * machine.X.shape[1])

    def problem(self) -> interior.Crossed:
        m = self.machine
        return interior.Crossed(m.cost, self.loss, (self.t - m.truth) @ m.root, m.X)

    def mean(self, U: Values) -> Values:
        return np.asarray(np.einsum("ki,kiw->iw", U, self.t))

    def extend(self, v: Values) -> tuple[Values, bool]:
        """The slacks at v over all labelings, and whether lists grew by those beyond them."""
        m = self.machine
        scores = m.X @ v.reshape(m.root.shape[1], -1).T @ m.root.T
        listed = (self.loss + np.einsum("kiw,iw->ki", self.t - m.truth, scores)).max(axis=0)
        new = m.search(scores)
        value = new.loss + np.einsum("iw,iw->i", new.t - m.truth, scores)
        beyond = np.flatnonzero(value > listed + BEYOND * (new.loss + np.abs(value)).max())
        if beyond.size and self.size[beyond].max() == len(self.loss):
            self.t = np.concatenate([self.t, m.first.t[None]])
            self.loss = np.concatenate([self.loss, m.first.loss[None]])
        self.t[self.size[beyond], beyond] = new.t[beyond]
        self.loss[self.size[beyond], beyond] = new.loss[beyond]
        self.size[beyond] += 1
        return np.maximum(value, listed), bool(beyond.size)
