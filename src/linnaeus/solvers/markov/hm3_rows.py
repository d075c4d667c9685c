"""What the variants of H-M3 share: the examples, their scores, when to stop, what they give.

    F = X W  with  W = X'N   (linear),      F = K N   (any kernel),      ||w||^2 = <N, F>.

A solver starts anew from exact weights W = X'N after every pass, so that no rounding piles up.

The problem of all max-margin solvers of this folder is

    minimise_w  1/2 ||w||^2 + C sum_i xi_i
    xi_i = max_y loss(y_i, y) - w.(phi(x_i, y_i) - phi(x_i, y)).

Weights are sums over examples of tensors: W[., q] = sum_i N[i, q] phi(x_i), q running over blocks
(an edge and its labels, or a node), so that scores are F = K N for any kernel matrix K, or X W for
a linear one. [Rousu2006] section 3, docs/maths/hm3.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.losses import Edges
from linnaeus.solvers.markov import hm3_interior
from linnaeus.solvers.markov.hm3_interior import Machine, Optimum
from linnaeus.solvers.numerics.examples import Rows, example_weights, squared_norms
from linnaeus.solvers.numerics.interior import coordinates, kernel_coordinates
from linnaeus.solvers.numerics.rounds import Kept, Record, Rounds
from linnaeus.solvers.numerics.scores_fast import Inputs
from linnaeus.taxonomy import Taxonomy

Array = npt.NDArray[np.floating[Any]]

BLOCK = 1 << 22  # numbers in a block of scores
PASSES = 4  # over the examples between two certificates
COMPETITORS = ("all", "consistent")
OVERHEAD = 2e5  # nanoseconds of a round
CUBE = 10.0  # those of the coordinates of a kernel matrix, for the cube of its size
VISIT = 100.0  # those of a visit for every coordinate of a labeling
FINISH = 0.5  # of the tolerance is what the interior point method aims at


class Source(NamedTuple):
    """The examples in the form of the loops, and the matrix that multiplies the weights."""

    inputs: Inputs
    matrix: Any  # X or K
    linear: bool
    dtype: Any

    def plain(self) -> Source:
        """The same with the name of the type, as tasks and checkpoints take it."""
        return self._replace(dtype=np.dtype(self.dtype).name)

    def beside(self, block: sp.csr_array) -> Source:
        """Linear examples with further features."""
        return _linear(sp.hstack([self.matrix, block]), self.matrix.shape[0], self.dtype)

    def weights(self, N: Array) -> Array:
        """What scores are made of: W = X'N, or N itself."""
        made = self.matrix.T @ N if self.linear else N.copy()
        return np.ascontiguousarray(made, dtype=self.dtype)

    def coordinates(self, rows: npt.NDArray[np.int64]) -> Values:
        """Some examples in few coordinates, with the same products."""
        if self.linear:
            return coordinates(self.matrix[rows].toarray().astype(np.float64))[0]
        return kernel_coordinates(self.matrix[np.ix_(rows, rows)])

    def scores(self, W: Array) -> Iterator[tuple[slice, Values]]:
        """F block by block, as float64."""
        n, size = self.matrix.shape[0], max(1, BLOCK // max(1, W.shape[1]))
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            yield rows, np.ascontiguousarray(self.matrix[rows] @ W, dtype=np.float64)


class MarkovProblem(NamedTuple):
    """Examples with their label sets and costs."""

    taxonomy: Taxonomy  # of the numbers of the nodes
    y: npt.NDArray[np.int8]  # (n, n_nodes) 0/1
    cost: Values  # (n,) C times the weight of each example
    data: Source


def prepare(
    X: Any, Y: Any, parent: Any, *, C: float = 1.0, sample_weight: Any = None,
    precomputed: bool = False, dtype: Any = np.float64,
) -> MarkovProblem:  # fmt: skip
    """The problem, once its parts are seen to fit.

    X : (n, d) features, or the (n, n) kernel matrix if `precomputed`;   Y : (n, n_nodes) 0/1
    C, sample_weight : cost of a unit of slack, and a factor of it for each example
    dtype : of weights, kernel and nu
    """
    y = np.ascontiguousarray(Y, dtype=np.int8)
    taxonomy = Taxonomy.from_parents({j: None if p < 0 else int(p) for j, p in enumerate(parent)})
    if y.ndim != 2 or y.shape[1] != len(taxonomy):
        raise UserError(
            f"Y has shape {y.shape}, but there are {len(taxonomy)} nodes. Give a column for each."
        )
    up = taxonomy.tree.parent
    if (y > np.where(up < 0, 1, y[:, up])).any():
        raise UserError(
            "A row of Y has a node without its parent. Close the label sets with taxonomy.closure."
        )
    cost = C * example_weights(C, sample_weight, len(y))
    return MarkovProblem(taxonomy, y, cost, (_kernel if precomputed else _linear)(X, len(y), dtype))


def check_competitors(competitors: str) -> None:
    """Whether these are labelings that are known."""
    if competitors not in COMPETITORS:
        known = " or ".join(map(repr, COMPETITORS))
        raise UserError(f"competitors={competitors!r} is not known. Use {known}.")


def _kernel(K: Any, n_rows: int, dtype: Any) -> Source:
    K = np.ascontiguousarray(K, dtype=dtype)
    if K.shape != (n_rows, n_rows):
        raise UserError(
            f"The kernel matrix has shape {K.shape}, but there are {n_rows:,} label sets. "
            "Give a row and a column for each."
        )
    none = Rows.of(sp.csr_array((0, 0)), dtype)
    return Source(Inputs(*none, K, np.diag(K).astype(np.float64)), K, False, dtype)


def _linear(X: Any, n_rows: int, dtype: Any) -> Source:
    X = sp.csr_array(X, dtype=dtype)
    if X.shape[0] != n_rows:
        raise UserError(
            f"X has {X.shape[0]:,} rows, but there are {n_rows:,} label sets. Give one for each."
        )
    none = np.zeros((0, 0), dtype)
    return Source(Inputs(*Rows.of(X, dtype), none, squared_norms(X, 0.0)), X, True, dtype)


def edge_codes(y: npt.NDArray[np.int8], edges: Edges) -> npt.NDArray[np.int8]:
    """The code 2 [parent on] + [child on] of every row and edge; a top edge's parent is on."""
    above = np.where(edges.parent < 0, 1, y[:, edges.parent])
    return np.ascontiguousarray(2 * above + y[:, edges.child], dtype=np.int8)


def run(
    certify: Callable[[], Certificate], visit: Callable[[npt.NDArray[np.int64]], None],
    finish: Finish | None = None, *, tol: float, max_iter: int, seed: int,
    kept: Kept | None = None,
) -> tuple[Certificate, Rounds, Array | None]:  # fmt: skip
    """Certify and visit: in random order, until the gap is at most tol |objective|.

    After a first visit to all, examples whose gap is too small to matter wait for the next
    certificate. Where visits have taken as long as `finish` would, that is tried, once.

    kept : the state of who visits, for a fit with a checkpoint

    Returns
    -------
    The certificate, the rounds, and multipliers where they are those of `finish`.
    """
    if not tol > 0 or max_iter < 1:
        raise UserError(
            f"tol={tol}, max_iter={max_iter}: use positive numbers, such as 1e-3, 1000."
        )
    rng, rounds, at = np.random.default_rng(seed), Rounds(max_iter, tol), certify()
    spent = 0.0

    state = kept or Kept(None, lambda: None, lambda found: None)

    def restore(found: Any) -> None:
        nonlocal at, spent
        at, spent, rng.bit_generator.state, rest = found
        state.restore(rest)

    def take() -> Any:
        return at, spent, rng.bit_generator.state, state.take()

    if kept is None or not rounds.keep(["visits", kept.about, seed], take, restore):
        rounds.note(at.objective, at.gap)
    for _ in rounds:
        busy = np.flatnonzero(at.gaps > 0.5 * rounds.target / at.gaps.size)
        visit(rng.permutation(at.gaps.size))
        for _ in range(PASSES - 1):
            visit(rng.permutation(busy))
        at = certify()
        rounds.note(at.objective, at.gap)
        if finish is None or rounds.done:
            continue
        spent += OVERHEAD + (at.gaps.size + (PASSES - 1) * busy.size) * finish.visit_work()
        if spent > finish.work(spent):
            found, spent = finish.run(rounds), -np.inf
            if found is not None and found[1].gap < at.gap:
                rounds.note(found[1].objective, found[1].gap)
                return found[1], rounds, found[0]
    return at, rounds, None


class Finish:
    """How the interior point method takes over from visits.

    Where costs are large its own weights may have a much smaller objective than those of its
    multipliers, from which they hardly differ: whichever has the smaller gap is taken.

    cost : (n,)
    spread : (w, n_blocks), what the coordinates of labelings are in the blocks of N
    machine : makes the problem of some examples, given their features
    """

    def __init__(
        self, data: Source, cost: Values, spread: Values,
        machine: Callable[[npt.NDArray[np.int64], Values], Machine],
    ) -> None:  # fmt: skip
        self.data, self.cost, self.spread, self.machine = data, cost, spread, machine
        self.live = np.flatnonzero(cost > 0)

    @cached_property
    def coordinates(self) -> Values:
        """Examples with costs, in few coordinates."""
        return self.data.coordinates(self.live)

    def work(self, spent: float) -> float:
        """Nanoseconds that it takes, about; coordinates are found when as long has been spent."""
        n = self.live.size
        f = self.coordinates.shape[1] if spent > CUBE * n**3 else n
        return hm3_interior.work(n, len(self.spread), min(f, self.data.matrix.shape[1]))

    def visit_work(self) -> float:
        """Those of a visit."""
        matrix, (w, n_blocks) = self.data.matrix, self.spread.shape
        entries = matrix.nnz if self.data.linear else matrix.size
        return float(entries / self.cost.size * n_blocks + VISIT * w)

    def run(self, rounds: Rounds) -> tuple[Array, Certificate] | None:
        """Multipliers (n, n_blocks) of all examples, and their certificate."""
        live, X = self.live, self.coordinates
        if not np.allclose(np.square(X).sum(axis=1), self.data.inputs.norm2[live], rtol=1e-5):
            return None  # a kernel matrix with negative eigenvalues
        machine = self.machine(live, X)
        best = hm3_interior.minimise(machine, rounds, FINISH * rounds.tol)
        own = machine.cost[:, None] * machine.truth - best.mean
        found = self._certified(live, own, best)
        if found[1].gap > rounds.tol * abs(found[1].objective):
            other = self._certified(live, hm3_interior.multipliers(machine, best), best)
            found = min(found, other, key=lambda pair: pair[1].gap)
        del self.coordinates
        return found

    def _certified(
        self, live: npt.NDArray[np.int64], V: Values, best: Optimum
    ) -> tuple[Array, Certificate]:
        """The value of the weights that numbers of the coordinates make, as they are rounded."""
        n, cost = self.cost.size, self.cost
        N = np.zeros((n, self.spread.shape[1]), self.data.dtype)
        N[live] = V @ self.spread
        F = np.concatenate([part for _, part in self.data.scores(self.data.weights(N))])
        scores, everyone = F @ self.spread.T, self.machine(np.arange(n), np.zeros((n, 0)))
        worst = everyone.search(scores)
        slack = worst.loss + np.einsum("iw,iw->i", worst.t - everyone.truth, scores)
        gaps = cost * slack
        gaps[live] -= best.lost
        gaps[live] -= ((best.mean - cost[live, None] * everyone.truth[live]) * scores[live]).sum(1)
        primal = 0.5 * float(np.vdot(N, F)) + float(cost @ slack)
        return N, Certificate(primal, best.dual, slack, gaps)


# -- solutions ------------------------------------------------------------------------------------


Values = npt.NDArray[np.float64]


class Certificate(NamedTuple):
    """Values of the primal and the dual, and the part of every example in the gap."""

    objective: float
    dual: float
    slack: Values  # (n,)
    gaps: Values  # (n,)

    @property
    def gap(self) -> float:
        """P - D."""
        return self.objective - self.dual


class Fitted(NamedTuple):
    """A solution with its certificate."""

    N: npt.NDArray[np.floating[Any]]  # (n_examples, n_blocks) nu times `stretch`, flattened
    W: Any  # (n_features, n_blocks) for a linear kernel, else None
    slack: Values  # (n_examples,) xi
    gaps: Values  # (n_examples,) of every example, before stretching
    objective: float
    dual: float
    n_iter: int
    trace: list[Record]
    stretch: float = 1.0  # weights are those that nu makes times this: often a lower objective

    @classmethod
    def of(cls, N: Any, W: Any, at: Certificate, rounds: Rounds) -> Fitted:
        """What some rounds came to."""
        return cls(N, W, at.slack, at.gaps, at.objective, at.dual, rounds.n, rounds.trace)
