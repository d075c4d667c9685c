"""What the logistic solvers share: coordinate ascent with looks at its certificate, and its start.

Inside a block weights lie feature by feature, (n_features + 1, B), the constant feature last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.solvers.numerics.examples import FloatArray, Solution
from linnaeus.solvers.numerics.rounds import Kept, Record, Rounds, joined_traces

Values = npt.NDArray[np.float64]

TIGHT = 1e-6  # a tolerance below this asks for exact weights
FIRST_LOOK = 2  # epochs before the first look at the certificate
TOO_SLOW = 60  # epochs still needed by forecast, at which coordinate ascent gives up


class Part(NamedTuple):
    """The answer for one block."""

    W: FloatArray  # (classes, n_features + 1), the constant feature last
    objective: Values  # (classes,), or (1,) for a joint problem
    dual: Values  # likewise
    n_passes: int
    trace: list[Record]


class Ascent(Protocol):
    """A block on its way to the optimum."""

    rounds: Rounds  # passes over the data, and the relative gap at which it is done

    def sweep(self, order: Any) -> None:
        """Visit the examples in this order."""

    def look(self) -> None:
        """Note objective and gap of the whole block."""

    def narrow(self) -> None:
        """Leave out what has converged, if that pays."""


def ascend(
    run: Ascent, n_rows: int, n_first: int, seed: int, kept: Kept | None = None
) -> bool:  # fmt: skip
    """Epochs until the gap is small enough (true), or falls too slowly (false).

    n_first : epochs before the first look
    kept : the state of the run after an epoch, for a fit with a checkpoint
    """
    rng, rounds = np.random.default_rng(seed), run.rounds
    history: list[tuple[int, float]] = []
    n = min(n_first, rounds.limit)
    if kept is not None:

        def take() -> Any:
            return rng.bit_generator.state, history, n, kept.take()

        def restore(found: Any) -> None:
            nonlocal history, n
            rng.bit_generator.state, history, n, state = found
            kept.restore(state)

        rounds.keep(["ascent", kept.about, n_rows, n_first, seed], take, restore)
    while True:
        while n > 0:
            run.sweep(rng.permutation(n_rows))
            n, rounds.n = n - 1, rounds.n + 1
            rounds.save()
        run.look()
        if rounds.done:
            return True
        history.append((rounds.n, rounds.gap))
        n = next_look(history, rounds.target, rounds.left)
        if n == 0:
            return False
        run.narrow()


def epochs_needed(history: list[tuple[int, float]], target: float) -> float:
    """Epochs until the gap should be at its target, from (epochs, gap) at the looks so far."""
    now, gap = history[-1]
    rate = 0.25  # for want of two looks
    if len(history) > 1:
        before, larger = history[-2]
        rate = (gap / larger) ** (1 / (now - before))
    return math.log(target / gap) / math.log(rate) if rate < 1 and target > 0 else math.inf


def next_look(history: list[tuple[int, float]], target: float, limit: int) -> int:
    """How many epochs to run before the next look, at most `limit`; 0 to give up."""
    need = epochs_needed(history, target)
    if need > TOO_SLOW and len(history) > 2:  # a single look may be worse by chance
        need = epochs_needed([history[-3], history[-1]], target)
        if need > TOO_SLOW:
            return 0
    doubled = max(history[-1][0], FIRST_LOOK)
    return max(0, min(math.ceil(min(need, doubled)), limit))


def target_gap(tol: float, dtype: Any) -> float:
    """The relative gap to go for. Who asks for less than TIGHT wants exact weights:

    their error is the square root of the gap, so the gap must fall to TIGHT times `tol`.
    """
    if tol >= TIGHT or dtype != np.float64:
        return tol
    return max(TIGHT * tol, 50 * float(np.finfo(np.float64).eps))


def frequencies(positive: Values, negative: Values, n_rows: int) -> Values:
    """Shares of the positives in the costs of each class, kept away from 0 and 1."""
    total, half = positive + negative, 0.5 / (n_rows + 1)
    p = np.divide(positive, total, out=np.full_like(total, 0.5), where=total > 0)
    return np.clip(p, half, 1 - half)


def class_shares(count: Any) -> Values:
    """Frequencies of classes of which an example has one, never zero."""
    return np.asarray((count + 0.5) / (count + 0.5).sum())


def binary_ray(p: Values, positive: Values, negative: Values, VV: Values, mV: Any = 0.0) -> Values:
    """The tau in (0, 1] for which pi = y + tau (p - y) is best for the dual of logistic losses.

    positive, negative : (B,) costs of the examples of each class that are so
    VV, mV : <V, K V> and <m, V> for V = sum_i u_i (y_i - p) x_i: of each class, or (1,) of all
    """

    def slope(tau: Values) -> Values:
        a, b = tau * p, tau * (1 - p)
        entropy = negative * p * np.log((1 - a) / a) + positive * (1 - p) * np.log((1 - b) / b)
        return np.asarray((entropy if VV.size == p.size else entropy.sum()) - tau * VV - mV)

    return _root(slope, VV.size)


def softmax_ray(p: Values, mass: Values, VV: Values, mV: Any = 0.0) -> Values:
    """The same for softmax: class shares p, mass (K,) the costs of the examples of each class."""

    def slope(tau: Values) -> Values:
        rest = p * np.log(tau * p)
        entropy = mass @ ((1 - p) * np.log1p(-tau * (1 - p)) - (rest.sum() - rest))
        return np.asarray(entropy - tau * VV - mV)

    return _root(slope, 1)


def _root(slope: Callable[[Values], Values], size: int) -> Values:
    """Where decreasing functions slope(tau), one for each entry, vanish in (0, 1]; else 1."""
    low, high = np.full(size, -100.0), np.zeros(size)  # logarithms of tau
    for _ in range(50):
        middle = 0.5 * (low + high)
        rising = slope(np.exp(middle)) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return np.exp(high)


def projection(uV: Values, VV: Values) -> Values:
    """The tau in [1/1000, 1] for which tau V is nearest to u, from their inner products."""
    return np.clip(np.divide(uV, VV, out=np.ones_like(uV), where=VV > 0), 1e-3, 1.0)


def pack(given: Any, bias: float, shape: tuple[int, int], dtype: Any) -> FloatArray:
    """Weights feature-major, `shape` (n_features + 1, B), from (coef, intercept) or parts of it.

    coef has a row per class (array or csr_array); an intercept is bias times a weight.
    """
    W = np.zeros(shape, dtype=dtype)
    coef, intercept = given
    if coef is not None:
        W[:-1] = (coef.toarray() if sp.issparse(coef) else np.asarray(coef)).T
    if intercept is not None and bias:
        W[-1] = np.asarray(intercept) / bias
    return W


def prior_mean(mean: Any, mean_intercept: Any, bias: float) -> Any:
    """(mean, mean_intercept), or None without either."""
    if not bias and mean_intercept is not None and np.any(mean_intercept):
        raise UserError(
            "mean_intercept is given, but bias is 0: there is no constant feature to have a mean. "
            "Set bias to the size of the constant feature, or leave mean_intercept out."
        )
    return None if mean is None and mean_intercept is None else (mean, mean_intercept)


def joined(parts: list[Part], bias: float, seconds: float) -> Solution:
    """The blocks as one solution."""
    return Solution(
        np.vstack([part.W[:, :-1] for part in parts]),
        bias * np.concatenate([part.W[:, -1] for part in parts]),
        np.concatenate([part.objective for part in parts]),
        np.concatenate([part.dual for part in parts]),
        max(part.n_passes for part in parts),
        joined_traces([part.trace for part in parts], seconds),
    )
