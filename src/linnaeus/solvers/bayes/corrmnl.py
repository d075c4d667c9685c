"""The correlated multinomial logit, by Markov chain Monte Carlo.

    p(class k | x) = softmax_k(w_k.x),   w_k = sum of phi_n over the path to k,
    phi_n ~ N(0, 1/alpha_o(n) I),        alpha_o ~ Gamma(shape a, rate b)

with the owner o(n) of a precision the parent of n: [Shahbaba2007] with the prior M1 of
[GopalYang2015, (1)-(3)], of which `hblr_model` says the same by w_n ~ N(w_parent, 1/alpha I). What
the root adds is the same for all classes and changes no probability: it is left out. So are
directions in which no example has a feature: given alpha they are as under the prior, mean 0.

An iteration is one Hamiltonian step in B = sqrt(alpha) phi and log(alpha) together (there the prior
is N(0, I)), and one Gibbs draw of alpha given phi, Gamma(a + 1/2 # , b + 1/2 sum phi^2): where data
say much of phi the second moves alpha, elsewhere the first (interweaving, [YuMeng2011]). The metric
of the step is the curvature T (x) G + I of the density in B with Kronecker factors T over nodes and
G = sum_i c_i x_i x_i' over features. `corrmnl_fast` has the loops; docs/maths/corrmnl.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import softmax

from linnaeus.errors import UserError
from linnaeus.execution import Executor, one_blas_thread, over_blocks
from linnaeus.execution.watching import FIT
from linnaeus.solvers.bayes import corrmnl_fast as fast
from linnaeus.solvers.bayes.hblr_model import ClassTree, HBLRModel, model_of
from linnaeus.solvers.numerics import hmc
from linnaeus.solvers.numerics.examples import weighted_examples
from linnaeus.solvers.numerics.rounds import Rounds

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Callback = Callable[[int, int], None]

STAGES = (0.1, 0.3, 0.9, 1.0)  # of the burn-in, where the metric is made anew; the last: the step
LENGTH = 0.5 * math.pi  # of a trajectory; a draw between half and three halves of it
LONGEST = 100  # leapfrog steps
NUMBERS = 20_000_000  # that the draws kept for predictions may hold together, 160 MB
LOOKED_AT = 100  # examples whose probabilities are watched
WATCHED = 200  # weights whose chains are watched
PARAMETERS = 100_000  # increments to sample, at most
NODES = 2000
SEGMENT = 1e9  # multiplications between two signs of life, about


class LabelledData(NamedTuple):
    """Examples in as few coordinates as they have dimensions: X = X_full @ basis."""

    X: Values  # (n, r), columns orthogonal under the weights
    t: Numbers  # (n,)
    cost: Values  # (n,) weights, positive
    basis: Values  # (d [+ 1], r) orthonormal
    spread: Values  # (r,) sum_i c_i x_ij^2


class Posterior(NamedTuple):
    """What the chains saw, in the coordinates of the basis."""

    mean: Values  # (K, r) of the weights of the classes
    draws: Values  # (n_kept, K, r), evenly spaced
    precision: Values  # (n_owners,) means
    watched: dict[str, Values]  # (n_chains, n_samples, ...)
    acceptance: Values  # (n_chains,) mean
    divergences: Numbers  # (n_chains,)
    n_gradients: int


class _Model(NamedTuple):
    """What loops see."""

    X: Values
    t: Numbers
    cost: Values
    parent: Numbers  # (m,) among the nodes below the root, -1 for its children
    leaf: Numbers  # (K,)
    owner: Numbers  # (m,)
    a: Values
    b: Values


class _Space(NamedTuple):
    """The coordinates of the chain: q = (S o Q'B, c o log alpha)."""

    Q: Values  # (m, m) orthogonal
    S: Values  # (m, r)
    c: Values  # (n_owners,)


class _Work(NamedTuple):
    phi: Values  # (m, r)
    A: Values
    V: Values
    WT: Values  # (r, K)
    G: Values  # (K, r)
    P: Values  # (n, K)
    rate: Values  # (n_owners,)


class Plan(NamedTuple):
    """How many iterations, and which of them are kept."""

    n_burn_in: int
    n_samples: int
    n_chains: int
    target: float

    def thinned(self, size: int) -> int:
        """Every so many kept iterations a draw of `size` numbers is stored."""
        room = max(1, NUMBERS // max(1, size) // self.n_chains)  # of a chain
        return -(-self.n_samples // room)


def reduce(X: Any, t: Any, bias: float = 0.0, sample_weight: Any = None) -> LabelledData:
    """Examples in the directions that they span, by a singular value decomposition."""
    X = sp.csr_array(X)
    X, t, cost = weighted_examples(X, np.asarray(t, dtype=np.int64), 1.0, sample_weight)
    full = np.empty((X.shape[0], X.shape[1] + (bias != 0.0)))
    full[:, : X.shape[1]] = X.toarray()
    if bias:
        full[:, -1] = bias
    _, size, rows = np.linalg.svd(np.sqrt(cost)[:, None] * full, full_matrices=False)
    rank = max(1, int((size > size[0] * max(full.shape) * np.finfo(float).eps).sum()))
    basis = np.ascontiguousarray(rows[:rank].T)
    if size[0] == 0.0:
        basis[:] = 0.0
    return LabelledData(np.ascontiguousarray(full @ basis), t, cost, basis, size[:rank] ** 2)


def largest_error(data: LabelledData, draws: Values, n_chains: int) -> float:
    """The largest Monte Carlo error of a probability, over examples evenly chosen."""
    Z = data.X[np.unique(np.linspace(0, len(data.X) - 1, LOOKED_AT).astype(int))]
    means = [
        np.mean([softmax(Z @ W.T, axis=1) for W in draws[part]], axis=0)
        for part in hmc.batches(len(draws), n_chains)
    ]
    return float(hmc.batch_error(means).max())


def check_size(n: int, d: int, n_nodes: int, n_classes: int) -> None:
    """Refuse what no sampler finishes."""
    size = min(n, d) * n_nodes
    if size > PARAMETERS or n_nodes > NODES or n * max(d, n_classes) > 1e8:
        raise UserError(
            f"CorrelatedMNL would sample {size:,} weights ({min(n, d):,} directions of {n:,} "
            f"samples with {d:,} features, {n_nodes:,} nodes). The most are {PARAMETERS:,} "
            f"weights, {NODES:,} nodes and 10^8 numbers: it is for small data only; use HBLR."
        )


@one_blas_thread()
def sample(
    data: LabelledData, tree: ClassTree, prior: tuple[float, float], plan: Plan, *, seed: int = 0,
    executor: Executor | None = None, callback: Callback | None = None,
) -> Posterior:  # fmt: skip
    """Run the chains; they do not depend on the executor.

    prior : shape and rate of every precision
    callback : told how many iterations of every chain are done, and how many there will be
    """
    seeds = np.random.SeedSequence(seed).spawn(plan.n_chains)
    chains = [_Chain(data, tree, prior, plan, np.random.default_rng(s)) for s in seeds]
    total = plan.n_burn_in + plan.n_samples
    work = 40.0 * data.X.size * tree.leaves.size
    segment = max(1, min(100, int(SEGMENT / work)))
    rounds, fit = Rounds(total), FIT.get()

    def restore(found: Any) -> None:
        for chain, state in zip(chains, found, strict=True):
            chain.restore(state)

    about = "corrmnl", data, tree, prior, plan, seed
    rounds.keep(about, lambda: [chain.take() for chain in chains], restore)
    while rounds.n < total:  # a chain is never away for long: an interrupt is heard
        n = min(segment, total - rounds.n)
        list(over_blocks(_advance, (), [(chain, n) for chain in chains], executor))
        rounds.n += n
        if callback is not None:
            callback(rounds.n, total)
        if fit is not None:
            fit.say(rounds.n, total, {})
        rounds.save()
    return _joined(chains)


def _advance(task: tuple[_Chain, int]) -> None:
    """Run a chain so many iterations."""
    chain, n = task
    for _ in range(n):
        chain.iterate()


class _Chain:
    """One chain: where it is, its metric and step, and what it has seen."""

    point: hmc.Point
    fit: float  # log likelihood

    def __init__(
        self, data: LabelledData, tree: ClassTree, prior: tuple[float, float], plan: Plan,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.data, self.plan, self.rng = data, plan, rng
        self.model, self.count = _model(data, tree, model_of(tree, "M1"), prior)
        m, r, K = self.model.parent.size, data.X.shape[1], tree.leaves.size
        self.shape = m, r
        self.B, self.level = np.zeros((m, r)), np.log(self.model.a / self.model.b)
        shapes = (m, r), (m, r), (m, r), (r, K), (K, r), (data.t.size, K), self.level.shape
        self.work = _Work(*map(np.zeros, shapes))
        self.paths = _paths(self.model.parent, self.model.leaf)
        self.shapes = self.model.a + 0.5 * self.count
        self.acceptance, self.divergences, self.n_gradients, self.n_done = 0.0, 0, 0, 0
        self.stages = [math.ceil(part * plan.n_burn_in) for part in STAGES]
        self.first, self.second = np.zeros((2, m, r))  # moments of a stage
        self.n_seen = 0
        self.mean, self.precision = np.zeros((K, r)), np.zeros(self.level.size)
        self.draws: list[Values] = []
        self.watch: list[tuple[float, Values, Values]] = []
        self.every = plan.thinned(K * r)
        self.places = np.unique(np.linspace(0, K * r - 1, min(K * r, WATCHED)).astype(int))
        self.space = _Space(np.eye(m), np.ones((m, r)), np.ones(self.level.size))
        self._look()
        self._retune()
        self.size = hmc.StepSize(0.5 * (m * r) ** -0.25, plan.target)

    def take(self) -> Any:
        """The state between two iterations."""
        counts = self.n_done, self.n_seen, self.n_gradients, self.divergences, self.acceptance
        learned = self.space, self.first, self.second, self.size.take()
        watched = [np.array(column) for column in zip(*self.watch, strict=True)]
        kept = self.mean, self.precision, np.array(self.draws), watched
        place = self.point, self.fit, self.B, self.level, self.rng.bit_generator.state
        return counts, learned, kept, place

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        counts, learned, kept, place = found
        self.n_done, self.n_seen, self.n_gradients, self.divergences, self.acceptance = counts
        self.space, self.first, self.second, size = learned
        self.size.restore(size)
        self.mean, self.precision, draws, watched = kept
        self.draws = list(draws)
        self.watch = [(float(fit), level, W) for fit, level, W in zip(*watched, strict=True)]
        self.point, self.fit, self.B, self.level, self.rng.bit_generator.state = place

    def iterate(self) -> None:
        plan, warming = self.plan, self.n_done < self.plan.n_burn_in
        self.move(self.size.now if warming else self.size.final, warming)
        if not warming or self.n_done >= self.stages[0]:
            self.draw_precisions()
        self.n_done += 1
        if self.n_done > plan.n_burn_in:
            self._record()
        elif self.n_done in self.stages:
            self._next_stage()
        elif warming:
            self._learn_spread()

    # -- moves ------------------------------------------------------------------------------

    def move(self, step: float, warming: bool) -> None:
        """A Hamiltonian step in B and log(alpha)."""
        length = LENGTH * (0.5 + self.rng.random())
        n_steps = max(1, min(LONGEST, round(length / step)))
        found = hmc.hmc_step(self.rng, self.point, self._follow, step, n_steps)
        self.n_gradients += n_steps + 1
        self.point = found.point
        if warming:
            self.size.learn(found.acceptance)
        else:
            self.acceptance += found.acceptance / self.plan.n_samples
            self.divergences += found.divergent

    def _follow(self, q: Values, gradient: Values, p: Values, step: float, n_steps: int) -> Any:
        q, gradient = q.copy(), gradient.copy()
        value, _ = fast.trajectory(self.model, self.space, self.work, q, gradient, p, step, n_steps)
        return q, gradient, p, value

    def draw_precisions(self) -> None:
        """A Gibbs draw of alpha given phi."""
        q = self.point.q.copy()
        gamma = self.rng.standard_gamma(self.shapes)
        fast.draw_precisions(self.model, self.space, self.work, gamma, q)
        self._stand(q)

    def _stand(self, q: Values) -> None:
        """Be at q."""
        gradient = np.empty_like(q)
        value, self.fit = fast.trajectory(self.model, self.space, self.work, q, gradient, q, 0.0, 0)
        self.point = hmc.Point(q, value, gradient)

    def _unpack(self) -> None:
        """phi and log(alpha) of the point where the chain is."""
        m, r = self.shape
        fast.draw_precisions(self.model, self.space, self.work, np.empty(0), self.point.q)
        self.level = self.point.q[m * r :] / self.space.c
        size = np.exp(0.5 * self.level)[self.model.owner]
        self.B = self.work.phi * size[:, None]

    def _look(self) -> None:
        """The point of B and log(alpha) in the coordinates of now."""
        space = self.space
        old = (space.S * (space.Q.T @ self.B)).ravel()
        self._stand(np.concatenate([old, space.c * self.level]))

    # -- learning the metric ----------------------------------------------------------------

    def _learn_spread(self) -> None:
        m, r = self.shape
        z = self.point.q[: m * r].reshape(m, r)
        self.n_seen += 1
        change = z - self.first
        self.first += change / self.n_seen
        self.second += change * (z - self.first)

    def _next_stage(self) -> None:
        """A new metric at the end of a stage; after the longest one, scales as they were seen."""
        stage = self.stages.index(self.n_done)
        if stage == len(STAGES) - 1:
            return
        step, last = self.size.final, stage == len(STAGES) - 2
        if last and self.n_seen > 20:
            variance = (self.second + 20.0) / (self.n_seen + 20.0)
            self._rescale(np.clip(np.sqrt(variance), 0.5, 2.0))
        else:
            self._retune()
        self.first[:], self.second[:], self.n_seen = 0.0, 0.0, 0
        self.size = hmc.StepSize(step, self.plan.target)

    def _rescale(self, deviation: Values) -> None:
        self._unpack()
        self.space = self.space._replace(S=self.space.S / deviation)
        self._look()

    def _retune(self) -> None:
        """The metric from the curvature here: B has about the precision T (x) spread + 1."""
        self._unpack()
        self._look()
        model, c = self.model, self.model.cost
        p = -self.work.P / c[:, None]
        p[np.arange(model.t.size), model.t] += 1.0
        H = np.diag(c @ p) - p.T @ (c[:, None] * p)
        T = self.paths.T @ (H @ self.paths) / c.sum()
        size = np.exp(-0.5 * self.level)[model.owner]
        values, Q = np.linalg.eigh(size[:, None] * T * size)
        S = np.sqrt(1.0 + np.maximum(values, 0.0)[:, None] * self.data.spread)
        fits = np.diag(T) * (self.work.phi**2 @ self.data.spread)
        curvature = 0.25 * np.bincount(model.owner, fits, self.level.size)
        curvature += model.b * np.exp(self.level)
        self.space = _Space(np.ascontiguousarray(Q), S, np.sqrt(np.maximum(curvature, model.a)))
        self._look()

    # -- what is kept -----------------------------------------------------------------------

    def _record(self) -> None:
        """What the last draw of the precisions left in the work space is where the chain is."""
        n, (m, r) = self.n_done - self.plan.n_burn_in, self.shape
        level, W = self.point.q[m * r :] / self.space.c, self.work.WT.T
        self.mean += (W - self.mean) / n
        self.precision += (np.exp(level) - self.precision) / n
        if (n - 1) % self.every == self.every // 2:
            self.draws.append(W.copy())
        self.watch.append((self.fit, level, W.ravel()[self.places]))


def _model(
    data: LabelledData, tree: ClassTree, model: HBLRModel, prior: tuple[float, float]
) -> tuple[_Model, Values]:
    """The arrays of the loops, and how many numbers every precision governs."""
    below = np.flatnonzero(tree.parent >= 0)
    place = np.full(tree.n_nodes + 1, -1)
    place[below] = np.arange(below.size)
    parent, owner = place[tree.parent[below]], model.owner[below]
    a, b = (np.full(model.owners.size, float(value)) for value in prior)
    count = np.zeros(model.owners.size)
    np.add.at(count, owner, data.X.shape[1])
    arrays = _Model(data.X, data.t, data.cost, parent, place[tree.leaves], owner, a, b)
    return arrays, count


def _paths(parent: Numbers, leaf: Numbers) -> Values:
    """(K, m) 1 where a node is on the path of a class."""
    on = np.eye(parent.size)
    for n, p in enumerate(parent.tolist()):  # parents first
        if p >= 0:
            on[n] += on[p]
    return on[leaf]


def _joined(chains: list[_Chain]) -> Posterior:
    names = ("log_likelihood", "log_precision", "coef")
    columns = [zip(*chain.watch, strict=True) for chain in chains]
    values = [[np.array(column) for column in chain] for chain in columns]
    watched = {name: np.stack([v[j] for v in values]) for j, name in enumerate(names)}
    return Posterior(
        np.mean([chain.mean for chain in chains], axis=0),
        np.array([W for chain in chains for W in chain.draws]),
        np.mean([chain.precision for chain in chains], axis=0),
        watched,
        np.array([chain.acceptance for chain in chains]),
        np.array([chain.divergences for chain in chains]),
        sum(chain.n_gradients for chain in chains),
    )
