"""Recursive regularisation by alternation: the leaves given the other nodes, and back.

    minimise_W  1/2 sum_e c_e ||w_i - w_j||^2 + 1/2 sum_v g_v ||w_v||^2
                + C sum_{leaves n} sum_i loss(y_in w_n.x_i)                  [GopalYang2015] (10)

With the Laplacian L + diag g split into leaves T and internal nodes I (no two leaves are joined, so
the block TT is the diagonal S), the mean of a leaf is m_n = -(L_TI W_I)_n / S_n and

    leaves         w_n = argmin S_n/2 ||w - m_n||^2 + C sum_i loss(y_in w.x_i)       (15)
    internal       L_II W_I = -L_IT W_T      all at once, in two passes on a tree     (11)

are solved in turn (`two-block`), or node by node in groups of which no two are joined (`parity`,
`color`), or all at once (`jacobi`). What a loss does at the leaves is a `LeafLoss`: that of the
hinge is in `rr_svm`, the logistic one in `rr_lr`.

Certificate. Any A in the box gives D = sum A - conj(A) - 1/2 tr(V' K V), V_n = sum_i A_in y_in x_i,
K = (L + diag g)^-1 on the leaves, and with u_n = V_n / S_n

    tr(V' K V) = sum_n S_n ||u_n||^2 + <G, W*>,   (L_II - L_IT S^-1 L_TI) W* = G = -L_IT U.

Some nodes may be held where they are, B. The others then move by Z from the weights H that cost
least beside those held, L_FF H = -L_FB W_B: the problem is the same in Z, over the Laplacian L_FF,
with scores (H + Z) x, and D is less by <V, H> (`beside_held`). `origin` is H at the leaves.

Any W_T and W_I give P = 1/2 sum_n S_n ||w_n - m_n||^2 - 1/2 sum_n S_n ||m_n||^2
+ 1/2 tr(W_I' L_II W_I) + C sum loss. So both come from one sweep over the examples.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import CHECKPOINT
from linnaeus.solvers.numerics.elimination import solver_of
from linnaeus.solvers.numerics.examples import FloatArray, Joint, Solution
from linnaeus.solvers.numerics.rounds import Record, Rounds

LATER = 6  # rounds that given weights are ahead: leaves are solved as closely as if these had been
MEMORY = 4  # rounds remembered to speed the internal nodes up
BLOCK = 1 << 20  # numbers in a block of means

Parts = list[tuple[Any, FloatArray]]  # columns and rows of blocks of leaves


class Structure(NamedTuple):
    """The grounded Laplacian, split into leaves (the classes) and internal nodes."""

    S: FloatArray  # (n_leaves,)  diagonal of the leaf block
    L_IT: sp.csr_array  # (n_internal, n_leaves)
    L_II: sp.csr_array  # (n_internal, n_internal)
    mix: sp.csr_array  # (n_leaves, n_internal)  m = mix W_I
    color: npt.NDArray[np.int32]  # (n_leaves + n_internal,)  leaves first

    @classmethod
    def of(cls, laplacian: sp.csr_array, leaves: Any, color: Any) -> Structure:
        """Split a grounded Laplacian in which no two leaves are joined."""
        inner = np.setdiff1d(np.arange(laplacian.shape[0]), leaves)
        S = laplacian.diagonal()[leaves]
        L_IT = sp.csr_array(laplacian[inner][:, leaves])
        mix = sp.csr_array(L_IT.T.multiply(-1.0 / S[:, None]))
        order = np.concatenate([leaves, inner]).astype(int)
        return cls(S, L_IT, sp.csr_array(laplacian[inner][:, inner]), mix, np.asarray(color)[order])

    def without(self, leaves: Any, inner: Any) -> Structure:
        """What is left if only these leaves and internal nodes may move."""
        color = np.concatenate([self.color[leaves], self.color[self.S.size + inner]])
        return Structure(
            self.S[leaves], sp.csr_array(self.L_IT[inner][:, leaves]),
            sp.csr_array(self.L_II[inner][:, inner]), sp.csr_array(self.mix[leaves][:, inner]),
            color,
        )  # fmt: skip

    def reduced(self) -> sp.csr_array:
        """L_II - L_IT S^-1 L_TI: what is left of the internal nodes when leaves follow them."""
        return sp.csr_array(self.L_II + self.L_IT @ self.mix)


def beside_held(
    structure: Structure, W_T: FloatArray, W_I: FloatArray, leaves: Any, inner: Any
) -> None:
    """Put these leaves and internal nodes where they cost least beside the others, in place.

    A leaf that no example speaks of then has the weights of what is above it.
    """
    free = structure.without(leaves, inner)
    held_T = np.setdiff1d(np.arange(structure.S.size), leaves)
    held_I = np.setdiff1d(np.arange(W_I.shape[0]), inner)
    mean = np.asarray(structure.mix[leaves][:, held_I] @ W_I[held_I])
    pull = structure.L_IT[inner][:, held_T] @ W_T[held_T]
    pull += structure.L_II[inner][:, held_I] @ W_I[held_I]
    H = solver_of(free.reduced())(-np.asarray(pull + free.L_IT @ mean))
    W_I[inner], W_T[leaves] = H, mean + free.mix @ H


def pull(structure: Structure, W_T: FloatArray, W_I: FloatArray) -> float:
    """1/2 tr(W' (L + diag g) W) of any weights."""
    W_T, W_I = W_T.astype(np.float64), W_I.astype(np.float64)
    inner = dot(W_I, structure.L_II @ W_I) + 2.0 * dot(W_I, structure.L_IT @ W_T)
    return 0.5 * (dot(structure.S[:, None] * W_T, W_T) + inner)


def dual_pull(structure: Structure, V: FloatArray, share_bias: bool) -> float:
    """1/2 tr(V' K V) of any V (n_leaves, d + 1), the constant feature last."""
    G = -np.asarray(structure.L_IT @ (V / structure.S[:, None]))
    if not share_bias:
        G[:, -1] = 0.0
    own = dot(V / structure.S[:, None], V)
    return 0.5 * (own + dot(G, solver_of(structure.reduced())(G)))


def visiting_groups(structure: Structure, schedule: str) -> list[tuple[Any, Any]]:
    """Leaves and internal nodes that are visited together, in order."""
    n_leaves, n_inner = structure.S.size, structure.L_II.shape[0]
    leaves, inner = np.arange(n_leaves), np.arange(n_inner)
    if schedule == "two-block":  # internal nodes are eliminated exactly
        return [(leaves, inner[:0])]
    if schedule == "jacobi":
        return [(leaves, inner)]
    color = structure.color
    return [
        (leaves[color[:n_leaves] == c], inner[color[n_leaves:] == c])
        for c in np.unique(color)[::-1]
    ]


def means(mix: sp.csr_array, columns: Any, W_I: FloatArray) -> FloatArray:
    """The means of some leaves: mix[columns] W_I."""
    here = sp.csr_array(mix[columns])
    if here.nnz == len(columns) and (here.data == 1).all() and (np.diff(here.indptr) == 1).all():
        return np.asarray(W_I[here.indices])  # one neighbour each, as in a tree
    return np.asarray(here.astype(W_I.dtype) @ W_I)


class Measured(NamedTuple):
    """What the certificate needs to know of the leaves."""

    loss: float  # C sum loss
    gain: float  # sum A - conj(A)
    away2: npt.NDArray[np.float64]  # (n_leaves,) ||w - m||^2
    norm2: npt.NDArray[np.float64]  # (n_leaves,) ||u||^2
    U: Parts


class LeafLoss(Protocol):
    """The leaves, in the groups in which they are visited."""

    relative: bool  # whether `parts` are differences from the means
    measures: bool  # whether visits also measure the state in which they begin, into `entered`
    entered: Measured
    resumed: bool  # whether they begin with given weights

    def weights(self, group: int, W_I: FloatArray) -> Parts:
        """The weights of a group as they are, without their origin."""

    def visit(self, group: int, W_I: FloatArray, n_rounds: int, gap: float) -> Parts:
        """Move the leaves of a group around their means; their weights."""

    def measure(self, W_I: FloatArray) -> Measured:
        """The present state."""

    def parts(self) -> Parts:
        """The weights of all leaves as they are."""

    def about(self) -> Any:
        """All that they start from, as a plain value."""

    def take(self) -> Any:
        """Their state, as a plain value."""

    def restore(self, found: Any) -> None:
        """Take up a state."""


class Best(NamedTuple):
    """The best weights so far, with the values that certify them."""

    primal: float
    dual: float
    parts: Parts
    W_I: FloatArray


class Alternation:
    """The internal nodes, and the order in which nodes are visited."""

    def __init__(
        self, structure: Structure, d: int, dtype: Any, schedule: str, share_bias: bool,
        origin: FloatArray | None = None,
    ) -> None:  # fmt: skip
        self.structure, self.share_bias, self.origin = structure, share_bias, origin
        self.W_I = np.zeros((structure.L_II.shape[0], d + 1), dtype=dtype)
        self.pulls: dict[int, FloatArray] = {}  # -L_IT W_T of each group of leaves
        self.exact = schedule == "two-block"
        self.groups = visiting_groups(structure, schedule)
        self.solve_inner = solver_of(structure.L_II)
        self.solve_reduced = solver_of(structure.reduced())
        self.degree = structure.L_II.diagonal()
        self.mixing = Mixing(MEMORY)
        self.best = Best(np.inf, -np.inf, [], self.W_I)
        self.gap = 1.0  # the last one, relative

    def run(self, leaves: LeafLoss, bias: float, tol: float, max_iter: int) -> Joint:
        """Rounds over all groups, each of which certifies the state in which it began."""
        rounds, self.gap = Rounds(max_iter, tol), 1.0
        first = not leaves.measures or len(self.groups) > 1  # means may move within a round
        if not self._kept(leaves, rounds):
            if leaves.resumed:
                self._resume(leaves)
            else:
                self._round(leaves, 0, self.gap)  # which begins with nothing
        for n_rounds in rounds:
            parts, W_I = leaves.parts(), self.W_I.copy()
            if first:
                self.gap = self._note(leaves.measure(W_I), parts, W_I, rounds)
                if not rounds.go_on():
                    break
            self._round(leaves, n_rounds, self.gap)
            if not first:
                self.gap = self._note(leaves.entered, parts, W_I, rounds)
        best = self.best
        W_T = np.zeros((self.structure.S.size, self.W_I.shape[1]), dtype=self.W_I.dtype)
        if leaves.relative:
            W_T += self.structure.mix @ best.W_I
        for columns, part in best.parts:
            W_T[columns] += part
        if self.origin is not None:
            W_T += self.origin
        return joint_answer(W_T, best.W_I, (best.primal, best.dual), bias, rounds.trace)

    def _kept(self, leaves: LeafLoss, rounds: Rounds) -> bool:
        """Keep the state between rounds where there is a checkpoint; whether one was found."""

        def take() -> Any:
            own = self.W_I, list(self.pulls.items()), self.mixing.take(), self.best, self.gap
            return own, leaves.take()

        def restore(found: Any) -> None:
            (self.W_I, pulls, mixing, self.best, self.gap), rest = found
            self.pulls = dict(pulls)
            self.mixing.restore(mixing)
            leaves.restore(rest)

        if CHECKPOINT.get() is None:
            return False
        own = self.structure, self.share_bias, self.origin, self.exact, self.groups, self.W_I
        return rounds.keep(["alternation", own, leaves.about()], take, restore)

    def _resume(self, leaves: LeafLoss) -> None:
        """The internal nodes, from leaves that have weights; else they are given too."""
        if not leaves.relative:
            self.W_I = self.solve_inner(self.to_inner(leaves.parts()))
        for number, (here, _) in enumerate(self.groups):
            if here.size:
                self.pulls[number] = self.to_inner(leaves.weights(number, self.W_I))

    def _note(self, seen: Measured, parts: Parts, W_I: FloatArray, rounds: Rounds) -> float:
        """Keep the state if it is the best; the relative gap so far."""
        P, D = self.certificate(seen, W_I)
        if self.best.primal > P:
            self.best = self.best._replace(primal=P, parts=parts, W_I=W_I)
        else:  # the last step was too bold
            self.mixing.restart()
        best = self.best = self.best._replace(dual=max(self.best.dual, D))
        rounds.note(best.primal, best.primal - best.dual)
        return rounds.gap / max(abs(best.primal), 1e-300)

    def _round(self, leaves: LeafLoss, n_rounds: int, gap: float) -> None:
        """Visit every group once: its leaves, then its internal nodes."""
        for number, (here, inner) in enumerate(self.groups):
            old = self.W_I.copy()
            if here.size:
                self.pulls[number] = self.to_inner(leaves.visit(number, old, n_rounds, gap))
            H = sum(self.pulls.values(), np.zeros_like(old))
            if self.exact:
                self.W_I = self.mixing(old, self.solve_inner(H))
            elif inner.size:
                off = sp.csr_array(self.structure.L_II - sp.diags_array(self.degree))[inner]
                self.W_I[inner] = (H[inner] - off @ old) / self.degree[inner, None]

    def to_inner(self, parts: Parts) -> FloatArray:
        """-L_IT times leaf vectors; own intercepts do not take part."""
        out = np.zeros_like(self.W_I)
        for columns, part in parts:
            edges = sp.csr_array(-self.structure.L_IT[:, columns], dtype=out.dtype)
            rows = np.flatnonzero(np.diff(edges.indptr))
            out[rows] += np.asarray(edges[rows] @ part)
        if not self.share_bias:
            out[:, -1] = 0.0
        return out

    def certificate(self, seen: Measured, W_I: FloatArray) -> tuple[float, float]:
        """Primal and dual value of a state."""
        S, G = self.structure.S, self.to_inner(seen.U)
        P = 0.5 * float(S @ (seen.away2 - self._mean_norms(W_I))) + seen.loss
        P += 0.5 * dot(W_I, self.structure.L_II @ W_I)
        D = seen.gain - 0.5 * float(S @ seen.norm2) - 0.5 * dot(G, self.solve_reduced(G))
        if self.origin is not None:
            D -= sum(dot(S[k, None] * U, self.origin[k]) for k, U in seen.U)
        return P, D

    def _mean_norms(self, W: FloatArray) -> FloatArray:
        """||m_n||^2 of every leaf, from the internal nodes near it."""
        if not W.size:
            return np.zeros(self.structure.S.size)
        mix = self.structure.mix
        if (np.diff(mix.indptr) <= 1).all():  # one neighbour each, as in a tree
            norms = np.einsum("ij,ij->i", W, W).astype(np.float64)
            out = np.zeros(mix.shape[0])
            out[np.diff(mix.indptr) == 1] = mix.data**2 * norms[mix.indices]
            return out
        step = max(1, BLOCK // W.shape[1])
        parts = (mix[i : i + step] @ W for i in range(0, mix.shape[0], step))
        return np.concatenate([np.einsum("ij,ij->i", M, M) for M in parts])


def joint_answer(
    W_T: FloatArray, W_I: FloatArray, values: tuple[float, float], bias: float,
    trace: list[Record], n_rounds: int | None = None,
) -> Joint:  # fmt: skip
    """Weights with the constant feature last, their primal and dual value, as one answer."""
    P, D = (np.array([value]) for value in values)
    coef, intercept = np.ascontiguousarray(W_T[:, :-1]), bias * W_T[:, -1].astype(np.float64)
    n_rounds = len(trace) if n_rounds is None else n_rounds
    return Joint(Solution(coef, intercept, P, D, n_rounds, trace), W_I)


class Mixing:
    """Anderson mixing of the means: the step that would have been best for the last ones.

    Alternation moves slowly where a whole family moves together. From the last points x and
    what alternation made of them, g(x), the combination with the smallest residual g(x) - x
    is taken.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.steps: list[tuple[FloatArray, FloatArray]] = []  # differences of residuals, of g
        self.last: tuple[FloatArray, FloatArray] | None = None

    def take(self) -> Any:
        """The past, as a plain value."""
        return self.steps, self.last

    def restore(self, found: Any) -> None:
        """Take up a past."""
        self.steps, self.last = found

    def restart(self) -> None:
        """Forget the past."""
        self.steps, self.last = [], None

    def __call__(self, x: FloatArray, g: FloatArray) -> FloatArray:
        f = g - x
        if self.last is not None:
            self.steps = [*self.steps, (f - self.last[0], g - self.last[1])][-self.memory :]
        self.last = (f, g)
        A = np.array([[dot(a, b) for b, _ in self.steps] for a, _ in self.steps])
        if not A.any():  # no past, or nothing moved
            return g
        A += 1e-10 * np.trace(A) * np.eye(len(A))
        gamma = np.linalg.solve(A, np.array([dot(a, f) for a, _ in self.steps]))
        out = g.copy()
        for c, (_, step) in zip(gamma.tolist(), self.steps, strict=True):
            out -= x.dtype.type(c) * step
        return out


def dot(A: FloatArray, B: FloatArray) -> float:
    """The sum of all products; rows are added up in double precision."""
    return float(np.einsum("ij,ij->i", A, B).sum(dtype=np.float64))
