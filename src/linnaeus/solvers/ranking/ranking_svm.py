"""The ranking machine: labels of an example should score above all other classes.

    minimise_w  P = 1/2 ||w||^2 + sum_i c_i xi_i,      c_i = C times the weight of example i,
    xi_i = max(0, max_p H_ip)         a slack for each example (`slack="example"`), or
    xi_i = sum_p max(0, H_ip)         one for each pair (`slack="pair"`),
    H_ip = D(p) (1 - F_y + F_z)       slack rescaling [Cai2008] (4.10), or
    H_ip = D(p) - F_y + F_z           margin rescaling,

over the pairs p = (y, z) of a label y of example i and a class z that is none, with a loss D(p) > 0
and scores F_y = sum_r l_r(y) w_r.x_i. With reach_p = D(p), or 1 for margin rescaling, the dual is

    maximise_a  sum_ip a_ip D(p) - 1/2 ||w||^2,     w = sum_ip a_ip reach_p (L(y) - L(z)) x_i',
    a_ip >= 0,   sum_p a_ip <= c_i  (`example`),  or  a_ip <= c_i  (`pair`),

whose gradient is H. Examples are visited in random order; each keeps the pairs with a > 0, takes in
the most violated one and moves mass between two pairs at a time (`ranking_svm_fast`). Full visits
alternate with short ones to the listed pairs only; examples that are far from any violation are
visited less often. The certificate is the duality gap at the final weights, in which no term is
negative, and psi, the largest violation of the optimality conditions [Cai2008] (4.29), (4.30):

    P - D = sum_i (c_i xi_i - sum_p a_ip H_ip).                           docs/maths/ranking_svm.md
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import check_choice
from linnaeus.execution import CHECKPOINT
from linnaeus.losses import ClassLoss
from linnaeus.solvers.numerics.rounds import Record, Rounds
from linnaeus.solvers.ranking import ranking_svm_box_fast as box_fast
from linnaeus.solvers.ranking import ranking_svm_fast as fast
from linnaeus.solvers.ranking import ranking_svm_interior as interior
from linnaeus.solvers.ranking import ranking_svm_pairs
from linnaeus.solvers.ranking.ranking_svm_pairs import Numbers, Setting, Values

ROUNDS = 4  # pairs that may join at one visit
STEPS = 10  # pairwise steps after each
SHORT_PASSES = 10  # at most, between two full passes
FALL = 0.3  # short passes go on until the gap they measure has fallen to this part
PROMISING = 2.0  # a full pass that measures so many times the tolerance calls for a certificate
PATIENCE = 4  # a quiet example is skipped for at most 2^this passes
VISIT = 1.5e4  # nanoseconds of a visit, about, beside the scores
RESPITE = 0.8  # part of its time after which the interior point method may come again
LAST = 20.0  # what it may take, by the passes made, when they run out
POLISH = 1e-6  # the largest relative gap that it is content with
TRACES = (1e-5, 1e-7, 1e-9, 0.0)  # parts of the cost that may be traces of it
GENERATIONS = 30  # of pairs that weights found beside the multipliers violate
SWEEPS = 5  # over the pairs of an example, with a slack for each


class Ranking(NamedTuple):
    """A solution, with its certificate."""

    W: Any  # (n_attributes, n_features) for the linear kernel, else None
    V: sp.csr_array  # (n, n_classes); scores are k(x, X) V L L'
    pairs: sp.csr_array  # (n, n_classes^2) the multipliers a, in column y n_classes + z
    slack: Values  # (n,) xi
    objective: float
    dual: float
    psi: float
    active_ratio: float  # part of all multipliers that are positive [Cai2008] (7.7)
    n_iter: int
    trace: list[Record]  # also psi


def solve(
    X: Any,
    Y: sp.csr_array,
    attributes: sp.csr_array,
    loss: ClassLoss,
    *,
    start: Ranking | None = None,
    tol: float = 1e-2,
    stop: str = "gap",
    max_iter: int = 1000,
    seed: int = 0,
    **given: Any,
) -> Ranking:
    """The weights of all attributes.

    Parameters
    ----------
    X : (n, d) csr_array, or the (n, n) kernel matrix where `precomputed`
    Y : (n, n_classes) 0/1 csr_array of labels; rows with none or all are no examples
    attributes : (n_classes, n_attributes) csr_array
    start : an earlier solution of the same examples and classes, for another C say
    tol, stop : stop when the duality gap is at most this part of the objective ("gap"), or when
        psi is at most this ("psi")
    max_iter : largest number of passes over the examples
    given : what `ranking_svm_pairs.setup` takes: C; slack for each "example" or "pair"; rescale,
        the "slack" or the "margin"; precomputed; taxonomy, where `loss` is one of its named
        losses, of its leaves, for a faster search; sample_weight, (n,) factors of C; dtype of the
        weights (multipliers and sums are float64)

    Examples
    --------
    >>> from linnaeus.losses import zero_one
    >>> from linnaeus.taxonomy import Taxonomy
    >>> flat = Taxonomy.flat("abc")
    >>> X = Y = sp.csr_array(np.eye(3))
    >>> found = solve(X, Y, sp.csr_array(np.eye(3)), zero_one(flat), tol=1e-9)
    >>> found.W.round(3).tolist(), round(found.objective, 3)
    ([[0.667, -0.333, -0.333], [-0.333, 0.667, -0.333], [-0.333, -0.333, 0.667]], 1.0)
    """
    setting = ranking_svm_pairs.setup(X, Y, attributes, loss, **given)
    check_choice("stop", stop, ("gap", "psi"))
    descent = Descent(setting, start, seed, Rounds(max_iter, tol, unit=setting.scale**2), stop)
    descent.run()
    return descent.solution()


# -- passes ----------------------------------------------------------------------------------------


class Descent:
    """Weights, multipliers and the passes made over them."""

    lists: fast.Lists
    work: fast.RankingWork

    def __init__(
        self, setting: Setting, start: Ranking | None, seed: int, rounds: Rounds, stop: str
    ) -> None:
        self.setting, self.problem = setting, setting.problem
        self.rounds, self.stop = rounds, stop
        n, s = self.problem.cost.size, setting.shape[3]
        kernel = self.problem.K.size > 0
        self.W = np.zeros((s, n) if kernel else (setting.shape[2], s), dtype=setting.dtype)
        self.restart(ranking_svm_pairs.begun(setting, None if start is None else start.pairs))
        self.floor = ranking_svm_pairs.rounding(setting)
        self.sums = np.zeros(6)
        self.slack, self.psi, self.pair = np.zeros(n), np.zeros(n), np.zeros((n, 2), np.int32)
        self.rng, self.n_full = np.random.default_rng(seed), 0
        self.seen = np.full(n, -(2**PATIENCE))  # the last full pass that visited each example
        self.entries = np.full(n, n) if kernel else np.diff(self.problem.indptr) * s
        self.spent = 0.0  # nanoseconds, about
        self.space: interior.Space | None = None
        self.pool = sp.csr_array((n, setting.shape[1] ** 2))  # pairs found by the last polish

    @property
    def objective(self) -> float:
        return float(self.sums[fast.LOSS] + 0.5 * self.sums[fast.NORM])

    def run(self) -> None:
        """Full and short passes in turn, until the certificate is as asked for.

        When they have taken as long as the interior point method would, that one lends a hand.
        """
        if not self.keep() and self.lists.size.any():  # a start may be all that is needed
            self.certify()
            if self.rounds.done:
                return
        still = self.problem.cost.size == 0
        while self.rounds.go_on() and not still:
            self.full_pass()
            gap = float(self.sums[fast.GAP])
            if self.spent > self._polish_time():
                new = self.polish()
                self.spent = RESPITE * self.spent if new else -np.inf
            elif self.sums[fast.MOVED] == 0 or self._is_done(PROMISING):
                still = self.sums[fast.MOVED] == 0 and (self.seen == self.n_full).all()
                self.certify()
                if still:
                    break
            else:
                self.record()
            if self.rounds.done:
                return
            for _ in range(0 if self.setting.box else min(SHORT_PASSES, self.rounds.left)):
                self.short_pass()
                if self.sums[fast.GAP] <= FALL * gap:
                    break
            self.rounds.save()
        if not still:
            self.certify()
        if not self.rounds.done and (still or LAST * self.spent > self._polish_time()):
            self.polish()

    def keep(self, *more: Any) -> bool:
        """Keep the state where the fit has a checkpoint; whether there was one to go on from.

        more : what the passes depend on besides
        """
        if CHECKPOINT.get() is None:
            return False
        setting, losses = self.setting, self.setting.losses
        given = self.problem, setting.box, setting.live, setting.shape, setting.dtype.name
        about = "ranking", given, losses.loss.parts(), losses.whole, self.lists, self.stop
        begun = [*about, self.rng.bit_generator.state, *more]
        return self.rounds.keep(begun, self.take, self.restore)

    def take(self) -> Any:
        """The state between two passes."""
        measured = self.sums, self.slack, self.psi, self.pair
        own = self.seen, self.n_full, self.spent, self.pool, self.rng.bit_generator.state
        return self.W, self.lists, measured, own

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.W, self.lists, measured, own = found
        self.sums, self.slack, self.psi, self.pair = measured
        self.seen, self.n_full, self.spent, self.pool, self.rng.bit_generator.state = own
        self.work = ranking_svm_pairs.make_work(self.setting, self.lists)

    def _is_done(self, factor: float = 1.0) -> bool:
        """Whether the last sums are within the tolerance, or so many times it."""
        tol = factor * self.rounds.tol
        if self.stop == "psi":
            return bool(self.sums[fast.PSI] <= tol)
        return bool(self.sums[fast.GAP] <= tol * self.objective)

    def full_pass(self) -> None:
        """Visit the examples over all their pairs, but those that have been quiet for long."""
        self.n_full += 1
        wait = 2 ** np.minimum(self.lists.quiet, PATIENCE)
        order = self.rng.permutation(np.flatnonzero(self.n_full - self.seen >= wait))
        self.seen[order] = self.n_full
        self._visit(order, settling=True)
        self.rounds.n += 1
        self.spent += float(self.entries[order].sum()) + VISIT * order.size
        if self.lists.wants.any():
            self.lists = ranking_svm_pairs.make_room(self.lists)
            self.work = ranking_svm_pairs.make_work(self.setting, self.lists)

    def short_pass(self) -> None:
        """Visit the examples over their listed pairs."""
        order = self.rng.permutation(np.flatnonzero(self.lists.size))
        self._visit(order, settling=True, rounds=0)
        self.rounds.n += 1
        self.spent += 0.3 * (float(self.entries[order].sum()) + VISIT * order.size)

    def _polish_time(self) -> float:
        return interior.work(self.setting, int(self.lists.size.sum()))

    def polish(self) -> bool:
        """Make the dual optimal over all pairs found so far; whether there are new ones.

        Where the costs are so large that rounding of the multipliers hides the weights, those that
        the interior point method has found beside them are the answer; pairs that they violate
        come in until there are none.
        """
        if self.space is None:
            self.space = interior.Space(self.setting)
        row, at = ranking_svm_pairs.listed(self.lists)
        new = self._take_in(row, self.lists.y[at], self.lists.z[at])
        if self._take_in_violated() + self.pool.nnz == 0:
            return False
        best = self._optimum()
        for part in TRACES:
            self._restart_at(best.a, part)
            self.certify()
            if self.rounds.done:
                return new
        for _ in range(GENERATIONS if self.problem.K.size == 0 else 0):
            self._certify_apart(best)
            if self.rounds.done or not self._take_in_violated():
                break
            best = self._optimum()
        if not self.rounds.done:
            self._restart_at(best.a, 0.0)
        return new

    def _take_in(self, row: Numbers, y: Numbers, z: Numbers) -> bool:
        """Let pairs into the pool; whether there were new ones."""
        before, code = self.pool.nnz, y.astype(np.int64) * self.setting.shape[1] + z
        self.pool = self.pool + sp.csr_array((np.ones(row.size), (row, code)), self.pool.shape)
        return bool(self.pool.nnz > before)

    def _take_in_violated(self) -> bool:
        """The same of the pairs that each example violates most; where all count, of all."""
        if self.setting.box:
            return self._take_in(*ranking_svm_pairs.violated(self.setting, self.W))
        over = np.flatnonzero(self.slack > 0.0)
        return self._take_in(over, *self.pair[over].T)

    def _optimum(self) -> interior.PairOptimum:
        """The optimum over the pairs in the pool."""
        assert self.space is not None
        row = np.repeat(np.arange(self.pool.shape[0]), np.diff(self.pool.indptr))
        y, z = np.divmod(self.pool.indices.astype(np.int64), self.setting.shape[1])
        pairs = interior.Pairs(row, y, z, self.setting.losses.loss.pairs(y, z))
        return self.space.optimum(pairs, min(POLISH, 0.1 * self.rounds.tol))

    def _restart_at(self, a: Values, part: float) -> None:
        """Begin again with the multipliers of the pool, but for traces of the cost."""
        row = np.repeat(np.arange(self.pool.shape[0]), np.diff(self.pool.indptr))
        kept = np.where(a > part * self.problem.cost[row], a, 0.0)
        self.restart(sp.csr_array((kept, self.pool.indices, self.pool.indptr), self.pool.shape))

    def _certify_apart(self, best: interior.PairOptimum) -> None:
        """The certificate of weights that were found beside the multipliers."""
        dual = best.dual if best.dual > 0.0 else 0.0  # that of no multipliers, or rounding wins
        self._restart_at(best.a if dual > 0.0 else np.zeros_like(best.a), 0.0)
        self.W[:] = best.W
        self._visit(np.arange(self.problem.cost.size), settling=False)
        self.sums[fast.NORM] = float(np.square(self.W, dtype=np.float64).sum())
        self.sums[fast.GAP] = self.objective - dual
        self.record()

    def restart(self, a: sp.csr_array) -> None:
        """Begin again with other multipliers, (n, n_classes^2)."""
        self.lists = ranking_svm_pairs.filled_lists(self.setting, a)
        self.work = ranking_svm_pairs.make_work(self.setting, self.lists)
        self.W[:] = 0.0
        if self.lists.size.any():
            fast.add_lists(self.problem, self.lists, self.W, self.work)

    def certify(self) -> None:
        """The exact sums at the present weights; who is found at fault is no longer quiet."""
        self._visit(np.arange(self.problem.cost.size), settling=False)
        self.lists.quiet[self.psi > 0] = 0
        self.record()

    def _visit(self, order: Numbers, settling: bool, rounds: int = ROUNDS) -> None:
        """Measure the examples in order, or settle each after it is measured."""
        visit: Any = box_fast.full_pass if self.setting.box else fast.full_pass
        effort = (SWEEPS,) if self.setting.box else (rounds, STEPS)
        told = fast.Findings(self.sums, self.slack, self.psi, self.pair)
        self.sums[:] = 0.0
        losses = self.setting.losses
        for rows, search in losses.parts(order) if rounds else [(order, losses.none)]:
            visit(
                rows, self.problem, search, self.lists, self.W, self.work, told, settling,
                *effort, self.floor,
            )  # fmt: skip

    def record(self) -> None:
        gap, psi = max(0.0, float(self.sums[fast.GAP])), float(self.sums[fast.PSI])
        self.rounds.note(self.objective, gap, psi=psi)
        self.rounds.done = self._is_done()

    # -- the answer -------------------------------------------------------------------------

    def solution(self) -> Ranking:
        """Weights, multipliers and values in the units and rows of the caller."""
        setting, problem, lists = self.setting, self.problem, self.lists
        n, q = setting.shape[:2]
        factor = setting.scale**2
        row, at = ranking_svm_pairs.listed(lists)
        y, z = lists.y[at].astype(np.int64), lists.z[at].astype(np.int64)
        a = lists.a[at] / factor
        alpha = a if problem.margin else a * lists.loss[at]
        rows = setting.live[row]
        V = sp.coo_array(
            (np.concatenate([alpha, -alpha]), (np.tile(rows, 2), np.concatenate([y, z]))), (n, q)
        )
        pairs = sp.coo_array((a, (rows, y * q + z)), (n, q * q))
        slack = np.zeros(n)
        slack[setting.live] = self.slack
        labels = np.diff(problem.y_begin)
        objective, gap = self.objective / factor, max(0.0, float(self.sums[fast.GAP])) / factor
        W = None if problem.K.size else self.W.T / self.W.dtype.type(setting.scale)
        return Ranking(
            W, sp.csr_array(V), sp.csr_array(pairs), slack, objective, objective - gap,
            float(self.sums[fast.PSI]),
            float(self.sums[fast.ACTIVE] / max(1, (labels * (q - labels)).sum())),
            self.rounds.n, self.rounds.trace,
        )  # fmt: skip
