"""Hamiltonian Monte Carlo, and what tells whether its chains can be trusted.

A step from q with log density f(q) draws a momentum p ~ N(0, I), follows

    p += step/2 grad f(q),   q += step p,   p += step/2 grad f(q)          (n times: leapfrog)

and takes the end with probability min(1, exp(f' - |p'|^2/2 - f + |p|^2/2)) [Neal2011]. While it
warms up, the step is tuned to a wanted acceptance by dual averaging [HoffmanGelman2014].

Diagnostics are those of [Vehtari2021]: chains are cut in halves, and draws are replaced by normal
quantiles of their ranks. R-hat compares the spread between and within chains; the effective sample
size divides the number of draws by 1 + 2 x the sum of the autocorrelations. What a mean over the
draws may be off by is told by the means of runs of them (batch means).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import rankdata

Values = npt.NDArray[np.float64]
Density = Callable[[Values], tuple[float, Values]]  # q -> log density and its gradient
# (q, gradient, p, step, n_steps) -> the same after n_steps: q, gradient, p, log density
Trajectory = Callable[[Values, Values, Values, float, int], tuple[Values, Values, Values, float]]

DIVERGENT = 1000.0  # error of the energy from which a trajectory is called divergent


class Point(NamedTuple):
    """Where a chain is."""

    q: Values
    value: float  # log density
    gradient: Values


class Step(NamedTuple):
    """What came of a step."""

    point: Point
    acceptance: float  # probability
    divergent: bool


def leapfrog(density: Density) -> Trajectory:
    """Trajectories of any density; models may have compiled ones of their own."""

    def follow(
        q: Values, gradient: Values, p: Values, step: float, n_steps: int
    ) -> tuple[Values, Values, Values, float]:
        value = -math.inf
        for _ in range(n_steps):
            p = p + 0.5 * step * gradient
            q = q + step * p
            value, gradient = density(q)
            p = p + 0.5 * step * gradient
        return q, gradient, p, value

    return follow


def hmc_step(
    rng: np.random.Generator, point: Point, follow: Trajectory, step: float, n_steps: int
) -> Step:
    """One step of Hamiltonian Monte Carlo."""
    p = rng.standard_normal(point.q.size)
    before = point.value - 0.5 * float(p @ p)
    with np.errstate(all="ignore"):  # a divergent one may leave the range of numbers
        q, gradient, p, value = follow(point.q, point.gradient, p, step, n_steps)
        change = value - 0.5 * float(p @ p) - before  # p holds the last gradient: finite if it is
    draw = rng.random()
    if not math.isfinite(change):
        return Step(point, 0.0, True)
    acceptance = math.exp(min(0.0, change))
    taken = draw < acceptance
    return Step(Point(q, value, gradient) if taken else point, acceptance, change < -DIVERGENT)


class StepSize:
    """Dual averaging of log(step), so that the mean acceptance becomes `target`."""

    def __init__(self, step: float, target: float = 0.8) -> None:
        self.target, self.centre = target, math.log(10.0 * step)
        self.log_step = self.log_mean = math.log(step)
        self.error, self.count = 0.0, 0

    def take(self) -> Any:
        """What was learned, as a plain value."""
        return self.centre, self.log_step, self.log_mean, self.error, self.count

    def restore(self, found: Any) -> None:
        """Take that up."""
        self.centre, self.log_step, self.log_mean, self.error, self.count = found

    def learn(self, acceptance: float) -> None:
        self.count += 1
        t = self.count
        self.error += (self.target - acceptance - self.error) / (t + 10.0)
        self.log_step = self.centre - math.sqrt(t) / 0.05 * self.error
        weight = t**-0.75
        self.log_mean += weight * (self.log_step - self.log_mean)

    @property
    def now(self) -> float:
        """The step to try next."""
        return math.exp(self.log_step)

    @property
    def final(self) -> float:
        """The step to keep."""
        return math.exp(self.log_mean)


# -- diagnostics -----------------------------------------------------------------------------------


def rhat(draws: Any) -> Values:
    """Rank-normalised split R-hat, the larger of those of place and of spread.

    draws : (n_chains, n_draws) or (n_chains, n_draws, ...); NaN where all draws are equal
    """
    halves = _split(draws)
    away = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.fmax(_plain_rhat(_ranked(halves)), _plain_rhat(_ranked(away)))


def ess(draws: Any) -> Values:
    """Bulk effective sample size, of draws as in `rhat`."""
    halves = _ranked(_split(draws))
    n_chains, n = halves.shape[:2]
    flat = halves.reshape(n_chains, n, -1)
    out = np.array([_plain_ess(flat[:, :, j]) for j in range(flat.shape[2])])
    return out.reshape(halves.shape[2:])


def batches(n_draws: int, n_chains: int) -> list[slice]:
    """Draws, chain after chain, in runs about as long as they are many in a chain.

    Means of long runs are nearly independent, however slowly a chain moves.
    """
    ends = np.unique(np.linspace(0, n_draws, n_chains * max(1, math.isqrt(n_draws // n_chains)) + 1)
                     .astype(int))  # fmt: skip
    return [slice(a, b) for a, b in itertools.pairwise(ends.tolist())]


def batch_error(means: Any) -> Values:
    """The standard error of the mean of all draws, from the means of `batches`; nan of one."""
    means = np.asarray(means)
    if len(means) < 2:
        return np.full(means.shape[1:], math.nan)
    return np.asarray(means.std(axis=0, ddof=1) / math.sqrt(len(means)))


def _split(draws: Any) -> Values:
    draws = np.asarray(draws, dtype=np.float64)
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _ranked(draws: Values) -> Values:
    """Normal quantiles of the ranks among all chains."""
    flat = draws.reshape(draws.shape[0] * draws.shape[1], -1)
    rank = rankdata(flat, axis=0)
    return np.asarray(ndtri((rank - 0.375) / (flat.shape[0] + 0.25))).reshape(draws.shape)


def _plain_rhat(draws: Values) -> Values:
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((n - 1) / n + between / within))


def _plain_ess(draws: Values) -> float:
    """Of draws (n_chains, n): Geyer's initial monotone sequence of pairs of autocorrelations."""
    n_chains, n = draws.shape
    covariance = autocovariances(draws).mean(axis=0)
    within = covariance[0] * n / (n - 1)
    total = within * (n - 1) / n + draws.mean(axis=1).var(ddof=1)
    if not total > 0:
        return math.nan
    rho = 1.0 - (within - covariance * n / (n - 1)) / total
    rho[0] = 1.0
    pairs = rho[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    end = int(np.argmax(pairs < 0)) if (pairs < 0).any() else pairs.size
    tau = -1.0 + 2.0 * np.minimum.accumulate(pairs[: max(end, 1)]).sum()
    size = n_chains * n
    return float(size / max(tau, 1.0 / math.log10(size)))


def autocovariances(draws: Values) -> Values:
    """(n_chains, n) of all lags, each sum divided by n."""
    n = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    width = 1 << (2 * n - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, width, axis=1)) ** 2
    return np.asarray(np.fft.irfft(spectrum, width, axis=1)[:, :n] / n)
