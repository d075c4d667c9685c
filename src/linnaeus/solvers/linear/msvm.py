"""The multiclass support vector machine of Crammer and Singer.

    minimise_W  P(W) = 1/2 sum_k ||w_k||^2 + sum_i c_i max_k ( [k != t_i] + w_k.x_i - w_{t_i}.x_i )

with c_i = C times the weight of example i [CrammerSinger2001]. The dual has a multiplier u_ik >= 0
for every wrong class k != t_i, with a_i = sum_k u_ik <= c_i:

    maximise_u  D(u) = sum_i a_i - 1/2 sum_k ||w_k||^2,
                w_k = sum_{i: t_i = k} a_i x_i - sum_{i: t_i != k} u_ik x_i.

One example's multipliers are made optimal at a time, the sequential dual method of [Keerthi2008];
`msvm_fast` has the step. Full passes over all classes alternate with short passes over the
classes whose multipliers are positive. Once that has taken as long as the interior point method
would (`msvm_interior`: few classes and features), that one finishes. The certificate is the
duality gap at the final weights,

    P - D = sum_i ( c_i loss_i - sum_k u_ik h_ik ),     h_ik = 1 + w_k.x_i - w_{t_i}.x_i,

whose terms are never negative. Where W has drifted from the multipliers by rounding, to W(u) + E,
this understates the gap by 1/2 ||E||^2 only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.solvers.linear import msvm_fast as fast
from linnaeus.solvers.linear import msvm_interior
from linnaeus.solvers.numerics import examples, gram
from linnaeus.solvers.numerics.examples import Rows, Solution
from linnaeus.solvers.numerics.rounds import Rounds

Values = npt.NDArray[np.float64]

ROOM = 12  # classes an example may hold at first; doubled for those that want more
SHORT_PASSES = 10  # at most, between two full passes
FALL = 0.3  # short passes go on until the gap they measure has fallen to this part
PROMISING = 2.0  # a full pass that measures so many times the tolerance calls for a certificate
NOISE = 10  # units of rounding in all losses together, below which the gap may stall
PATIENCE = 10  # full passes without a smaller gap, after which it has stalled
SHORT = 2e8  # about a second: what it may cost where descent is at its wits' end
PASS = 5e3  # multiplications that a pass is worth before it has begun
LAST = 20.0  # what the interior point method may cost, by the descent, when passes run out


class MulticlassSolution(Solution):
    """A solution with the multipliers it was made of, from which `solve` can start again."""

    multipliers: sp.csr_array  # (n, n_classes), the positive u_ik


def solve(
    X: sp.csr_array,
    t: npt.ArrayLike,
    n_classes: int,
    *,
    C: float = 1.0,
    bias: float = 0.0,
    sample_weight: npt.ArrayLike | None = None,
    start: MulticlassSolution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    dtype: Any = np.float32,
    random_state: int = 0,
) -> MulticlassSolution:
    """The weights of all classes, for one class per example.

    Parameters
    ----------
    X : (n, d) csr_array
    t : (n,) class numbers below `n_classes`
    C : weight of the loss
    bias : size of a constant feature, regularised like any other; 0 for none
    sample_weight : (n,) weights of the examples, not negative
    start : an earlier solution, of this problem with another C or other weights
    tol : stop when the duality gap is at most this part of the objective; float32 weights may
        stop before, where rounding hides the rest
    max_iter : largest number of passes over the examples; steps of the interior point method
        come on top
    dtype : of the weights; multipliers and sums are float64

    Returns
    -------
    `coef` is a view of weights that lie feature by feature. The last record of the trace is exact;
    the others are sums over the visits of a full pass, each at the weights it met.

    Examples
    --------
    >>> X = sp.csr_array(np.eye(3))
    >>> solution = solve(X, [0, 1, 2], 3, dtype=np.float64, tol=1e-9)
    >>> solution.coef.round(3).tolist(), solution.objective.round(3).tolist()
    ([[0.667, -0.333, -0.333], [-0.333, 0.667, -0.333], [-0.333, -0.333, 0.667]], [1.0])
    """
    if not X.has_canonical_format:  # a feature given twice would spoil the norms
        X = X.copy()
        X.sum_duplicates()
    cost = C * examples.example_weights(C, sample_weight, X.shape[0])
    ends = [X.data.max(initial=0.0), -X.data.min(initial=0.0), abs(bias)]
    scale = examples.unit_scale(float(np.max(ends)), "A feature or the bias")
    target = _targets(t, X.shape[0], n_classes)
    problem = _problem(X, target, n_classes, cost, bias, scale, dtype)
    lists = _first_lists(problem, None if start is None else start.multipliers, scale)
    rounds = Rounds(max_iter, tol, unit=scale * scale)
    descent = _Descent(problem, lists, X.shape[1], np.random.default_rng(random_state), rounds)
    descent.run()
    return _solution(descent, scale)


class _Descent:
    """Weights, multipliers and the passes made over them."""

    def __init__(
        self, problem: fast.MulticlassProblem, lists: fast.Lists, n_features: int,
        rng: np.random.Generator, rounds: Rounds,
    ) -> None:  # fmt: skip
        K, dtype = problem.n_classes, problem.data.dtype
        width = -(-K * dtype.itemsize // 64) * 64 // dtype.itemsize  # whole cache lines
        self.problem, self.lists, self.rng, self.rounds = problem, lists, rng, rounds
        self.W = np.zeros((n_features + 1, width), dtype=dtype)
        self.work = _work(K, width, dtype)
        self.still = 10 * np.finfo(dtype).eps
        self.entries, self.spent = np.diff(problem.indptr) + 1, 0.0  # multiplications, about
        self.budget = gram.work(problem.target.size, n_features, problem.data.size, K)
        self.sums = np.zeros(4)  # loss, gap, squared norm of W, examples that moved
        self.stalled, self.least = 0, np.inf
        fast.add_lists(problem, lists, self.W, self.work)

    @property
    def objective(self) -> float:
        return float(self.sums[0] + 0.5 * self.sums[2])

    def run(self) -> None:
        """Full and short passes in turn, until the gap is at most `tol` times the objective."""
        live, rounds = np.flatnonzero(_movable(self.problem)), self.rounds
        about = ["msvm", self.problem, self.lists, self.W.shape, self.rng.bit_generator.state]
        if not rounds.keep(about, self.take, self.restore) and (
            self.lists.size[live].any() and self._certify()  # a start may be all that is needed
        ):
            return
        while rounds.go_on() and live.size:
            self._pass(fast.full_pass, live)
            gap, over = float(self.sums[1]), self._is_over()
            most = self.problem.n_classes - 1
            self.lists = examples.with_more_room(self.lists, ("classes", "u"), most)
            if over or gap <= PROMISING * rounds.tol * self.objective:
                if self._certify():
                    return
                if over:
                    return self._polish() if self.budget <= SHORT else None
            else:
                self._record()
            if self.spent > self.budget:
                self._certify()
                return self._polish()
            for _ in range(min(SHORT_PASSES, rounds.left)):
                self._pass(fast.short_pass, live[self.lists.size[live] > 0])
                if self.sums[1] <= FALL * gap:
                    break
            rounds.save()
        if not self._certify() and LAST * self.spent > self.budget:
            self._polish()

    def take(self) -> Any:
        """The state between two full passes."""
        own = self.spent, self.stalled, self.least, self.rng.bit_generator.state
        return self.W, self.lists, self.sums, own

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        self.W, self.lists, self.sums, own = found
        self.spent, self.stalled, self.least, self.rng.bit_generator.state = own

    def _polish(self) -> None:
        """Let the interior point method finish, from its own start."""
        problem, K = self.problem, self.problem.n_classes
        rows, live = Rows(problem.indptr, problem.indices, problem.data), problem.cost > 0
        everyone = gram.Examples.of(rows, self.W.shape[0] - 1, float(problem.bias))
        done = msvm_interior.polish(
            gram.Examples(everyone.X[live]), problem.target[live], K, problem.cost[live],
            tol=self.rounds.tol, dtype=self.W.dtype,
        )  # fmt: skip
        self.rounds.n += done.n_iter
        if done.primal - done.dual < self.sums[1]:
            U = np.zeros((live.size, K))
            U[live] = done.U.T
            self.lists = _first_lists(problem, sp.csr_array(U), 1.0)
            self.W[:, :K] = done.W.T
            norm2 = float(np.square(done.W).sum())
            self.sums[:] = done.primal - 0.5 * norm2, done.primal - done.dual, norm2, 0.0
        self._record()

    def _is_over(self) -> bool:
        """Whether the full pass just made leaves nothing to do: no move, or only rounding."""
        gap = float(self.sums[1])
        self.stalled = 0 if gap < self.least else self.stalled + 1
        self.least = min(gap, self.least)
        noise = NOISE * np.finfo(self.W.dtype).eps * self.problem.cost.sum()
        still = self.sums[3] == 0 and not self.lists.wants.any()
        return bool(still or (self.stalled >= PATIENCE and gap <= noise))

    def _pass(self, visits: Any, rows: npt.NDArray[np.int64]) -> None:
        order = self.rng.permutation(rows)
        visits(order, self.problem, self.lists, self.W, self.still, self.work, self.sums)
        self.rounds.n += 1
        classes = 2.0 + 0.1 * self.problem.n_classes if visits is fast.full_pass else 4.0
        self.spent += classes * float(self.entries[rows].sum()) + 10.0 * rows.size + PASS

    def _certify(self) -> bool:
        """The exact gap; whether it is small enough."""
        fast.certificate(self.problem, self.lists, self.W, self.work, self.sums)
        return self._record()

    def _record(self) -> bool:
        return self.rounds.note(self.objective, max(0.0, float(self.sums[1])))


def _targets(t: npt.ArrayLike, n: int, n_classes: int) -> npt.NDArray[np.uint32]:
    target = np.asarray(t)
    if target.shape != (n,):
        raise UserError(
            f"t has shape {target.shape}, but there are {n:,} rows. Give one class for each."
        )
    if n and not (target.min() >= 0 and target.max() < n_classes):
        raise UserError(
            f"t has classes {target.min()} to {target.max()}, but n_classes is {n_classes}. "
            f"Number the classes from 0 to n_classes - 1."
        )
    return target.astype(np.uint32)


def _problem(
    X: sp.csr_array, target: npt.NDArray[np.uint32], n_classes: int, cost: Values, bias: float,
    scale: float, dtype: Any,
) -> fast.MulticlassProblem:  # fmt: skip
    factor = scale * scale
    if not (factor > 0 and np.isfinite(factor * cost.sum())):
        raise UserError(
            f"Features reach about {scale:.0e}, whose square is out of range. Scale the rows to "
            f"length 1, or the columns to a range near 1."
        )
    rows = Rows.of(X if scale == 1.0 else X / scale, dtype)
    size = np.dtype(dtype).type(bias / scale)
    squares = sp.csr_array((np.square(rows.data, dtype=float), X.indices, X.indptr), shape=X.shape)
    norm2 = squares.sum(axis=1) + float(size) ** 2
    return fast.MulticlassProblem(*rows, size, target, factor * cost, norm2, n_classes)


def _movable(problem: fast.MulticlassProblem) -> npt.NDArray[np.bool_]:
    """Which examples have multipliers to choose: not those without features, cost or rivals."""
    movable: npt.NDArray[np.bool_] = problem.norm2 * problem.cost > 0
    return movable if problem.n_classes > 1 else np.zeros_like(movable)


def _first_lists(
    problem: fast.MulticlassProblem, start: sp.csr_array | None, scale: float
) -> fast.Lists:
    """Lists with the multipliers of `start`, made feasible, or with none.

    An example without features has h_k = 1 whatever the weights: all its cost goes to one rival.
    """
    n, K, cost = problem.target.size, problem.n_classes, problem.cost
    begun = sp.coo_array((n, K)) if start is None else sp.coo_array(start)
    if begun.shape != (n, K):
        raise UserError(
            f"start has {begun.shape[0]:,} rows and {begun.shape[1]:,} classes, this problem has "
            f"{n:,} and {K:,}. Start from a solution of the same examples and classes."
        )
    movable = _movable(problem)
    row, k = begun.coords
    kept = (begun.data > 0) & (k != problem.target[row]) & movable[row]
    row, k, u = row[kept], k[kept], scale * scale * begun.data[kept]
    total = np.bincount(row, u, n)
    u = u * np.divide(cost, total, out=np.ones(n), where=total > cost)[row]
    idle = np.flatnonzero(~movable & (K > 1))
    row = np.concatenate([row, idle])
    k = np.concatenate([k, (problem.target[idle] + 1) % max(K, 1)])
    u = np.concatenate([u, cost[idle]])
    by_row = np.argsort(row, kind="stable")
    size = np.bincount(row, minlength=n)
    begin = examples.starts(np.maximum(size, min(ROOM, K - 1)))
    at = np.repeat(begin[:-1] - examples.starts(size)[:-1], size) + np.arange(row.size)
    classes, listed = np.zeros(begin[-1], dtype=np.uint32), np.zeros(begin[-1])
    classes[at], listed[at] = k[by_row], u[by_row]
    return fast.Lists(begin, size, classes, listed, np.zeros(n, dtype=bool))


def _work(n_classes: int, width: int, dtype: np.dtype[Any]) -> fast.MulticlassWork:
    scores = np.zeros(width, dtype=dtype)
    step = np.zeros(n_classes + 1, dtype=dtype)
    classes, moved = (np.zeros(n_classes + 1, dtype=np.uint32) for _ in range(2))
    h, D, u, new = (np.zeros(n_classes) for _ in range(4))
    return fast.MulticlassWork(scores, classes, step, moved, h, D, u, new)


def _multipliers(lists: fast.Lists, n_classes: int) -> sp.csr_array:
    room = np.diff(lists.begin)
    place = np.arange(lists.u.size) - np.repeat(lists.begin[:-1], room)
    used = (place < np.repeat(lists.size, room)) & (lists.u > 0)
    row = np.repeat(np.arange(room.size), room)[used]
    k = lists.classes[used].astype(np.int32)
    return sp.csr_array((lists.u[used], (row, k)), shape=(room.size, n_classes))


def _solution(descent: _Descent, scale: float) -> MulticlassSolution:
    """The weights, multipliers and values in the units of the caller."""
    problem, factor = descent.problem, scale * scale
    W = descent.W[:, : problem.n_classes]
    if scale != 1.0:
        W /= scale
    objective = np.array([descent.objective / factor])
    dual = objective - max(0.0, descent.sums[1]) / factor
    intercept = W[-1] * W.dtype.type(scale * float(problem.bias))
    solution = MulticlassSolution(
        W[:-1].T, intercept, objective, dual, descent.rounds.n, descent.rounds.trace
    )
    solution.multipliers = _multipliers(descent.lists, problem.n_classes) / factor
    return solution
