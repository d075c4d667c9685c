"""Recursive regularisation: every node is pulled towards its neighbours in the hierarchy.

    minimise_W  1/2 sum_e c_e ||w_i - w_j||^2 + 1/2 sum_v g_v ||w_v||^2
                + C sum_{leaves n} sum_i loss(y_in w_n.x_i)                  [GopalYang2015] (10)

With the Laplacian L + diag g split into leaves T and internal nodes I (no two leaves are joined, so
the block TT is the diagonal S), the mean of a leaf is m_n = -(L_TI W_I)_n / S_n and

    leaves         w_n = argmin S_n/2 ||w - m_n||^2 + C sum_i loss(y_in w.x_i)       (15)
    internal       L_II W_I = -L_IT W_T      all at once, in two passes on a tree     (11)

are solved in turn (`two-block`), or node by node in groups of which no two are joined (`parity`,
`color`), or all at once (`jacobi`). A leaf keeps its dual variables A when its mean moves: with
V_n = sum_i A_in y_in x_i and u_n = V_n / S_n it starts again at m_n + u_n.

Certificate. Any A in the box gives D = sum A - conj(A) - 1/2 tr(V' K V), K = (L + diag g)^-1 on
the leaves, and

    tr(V' K V) = sum_n S_n ||u_n||^2 + <G, W*>,   (L_II - L_IT S^-1 L_TI) W* = G = -L_IT U.

Any W_T and W_I give P = 1/2 sum_n S_n ||w_n - m_n||^2 - 1/2 sum_n S_n ||m_n||^2
+ 1/2 tr(W_I' L_II W_I) + C sum loss. So both come from one sweep over the examples.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.execution import Executor, Serial
from linnaeus.solvers.linear import svm
from linnaeus.solvers.numerics.elimination import solver_of
from linnaeus.solvers.numerics.examples import FloatArray, Joint, Rows, Solution, weighted_examples
from linnaeus.solvers.recursive import joint, joint_blocks

MEMORY = 4  # rounds remembered to speed the internal nodes up
INNER_EPOCHS = 5  # of a leaf between two means; doubled every third round


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

    def reduced(self) -> sp.csr_array:
        """L_II - L_IT S^-1 L_TI: what is left of the internal nodes when leaves follow them."""
        return sp.csr_array(self.L_II + self.L_IT @ self.mix)


class Leaf(NamedTuple):
    """A block of leaves between two visits: dual variables (over S) and what they add up to."""

    columns: npt.NDArray[np.int64]
    task: svm.SvmTask
    alpha: Any = None  # (n, lanes) csr
    U: Any = None  # (lanes, d + 1)
    n_epochs: int = INNER_EPOCHS  # 0 only measures


class Visit(NamedTuple):
    """What a visit to a block of leaves found on entry, and what it left behind."""

    alpha: Any
    U: FloatArray
    loss: npt.NDArray[np.float64]  # C sum loss at m + u, on entry
    conj: npt.NDArray[np.float64]  # sum A - conj(A), on entry
    norm2: npt.NDArray[np.float64]  # ||u||^2 on entry


def visit_leaves(
    indptr: Any, indices: Any, data: Any, norm2: Any, row_cost: Any, n_features: Any, W_I: Any,
    mix: Any, leaf: Leaf,
) -> Visit:  # fmt: skip
    """One step of a block of leaves around the present mean: measure, then descend."""
    mean = means(mix, leaf.columns, W_I) if W_I.size else None
    task = leaf.task._replace(mean=mean)
    run = svm.SvmRun(Rows(indptr, indices, data), norm2, row_cost, int(n_features), task)
    lanes = run.alpha.shape[1]
    if leaf.alpha is None:  # the first visit: from nothing
        zero = np.zeros(lanes)
        run.warm_up()
        run.descend(leaf.n_epochs)
        loss, conj, size = np.full(lanes, np.inf), zero, zero
    else:
        run.alpha[:] = leaf.alpha.toarray()
        run.W += leaf.U[:, :-1].T
        run.w_bias += leaf.U[:, -1]
        run.sweep()
        size = run.away2
        loss = run.objective - 0.5 * size
        conj = loss - run.gap + size + run.along  # <u, m + u>: what the duals take from margins
        if leaf.n_epochs == 0:
            return Visit(leaf.alpha, leaf.U, loss, conj, size)
        run.descend(leaf.n_epochs)
    U = np.empty((lanes, run.W.shape[0] + 1), dtype=data.dtype)
    U[:, :-1], U[:, -1] = run.W.T, run.w_bias
    if mean is not None:
        U -= mean
    return Visit(sp.csr_array(run.alpha), U, loss, conj, size)


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


def solve(
    X: sp.csr_array,
    Y: sp.csr_array,
    structure: Structure,
    *,
    C: float = 1.0,
    loss: str = "hinge",
    bias: float = 0.0,
    share_bias: bool = True,
    schedule: str = "two-block",
    sample_weight: Any = None,
    class_weight: Any = None,
    tol: float = 1e-3,
    max_iter: int = 50,
    dtype: Any = np.float64,
    seed: int = 0,
    executor: Executor | None = None,
) -> Joint:
    """Alternate between leaves and internal nodes until the relative duality gap is `tol`.

    share_bias : whether the weight of the constant feature is pulled towards the neighbours
        like any other, or towards zero
    """
    executor = executor or Serial()
    X, Y, weight = weighted_examples(X, Y, C, sample_weight)
    found = None
    if schedule == "two-block":
        found = joint.coupling(structure.S, structure.mix, structure.reduced())
    if found is not None:
        cost = np.broadcast_to(C * (1.0 if class_weight is None else class_weight), (2, Y.shape[1]))
        joint_options = joint_blocks.Options(loss == "squared_hinge", float(bias), share_bias, seed)
        return joint.solve(
            X, Y, found, weight, cost, joint_options, tol=tol, max_rounds=max_iter, dtype=dtype,
            executor=executor,
        )  # fmt: skip
    shared = svm.shared_arrays(X, weight, bias, dtype)
    options = svm.SvmOptions(loss == "squared_hinge", float(bias), tol, 0, seed, 0.0, True)
    outer = _Outer(structure, X.shape[1], dtype, schedule, share_bias)
    cost = C / structure.S if class_weight is None else C / structure.S * class_weight
    cost = np.broadcast_to(cost, (2, Y.shape[1]))
    leaves = outer.leaf_blocks(sp.csc_array(Y), cost, options, dtype)
    references = [executor.put(array) for array in shared]
    started = time.perf_counter()

    def visit(blocks: list[Leaf], W_I: FloatArray) -> list[Visit]:
        extra = [executor.put(W_I), executor.put(structure.mix)]
        return list(executor.map(visit_leaves, [*references, *extra], blocks))

    trace, best = outer.run(leaves, visit, tol, max_iter, started)
    coef, intercept = best.weights(structure, bias)
    objective, dual_value = np.array([best.primal]), np.array([best.dual])
    solution = Solution(coef, intercept, objective, dual_value, len(trace), trace)
    return Joint(solution, best.W_I)


class _Best(NamedTuple):
    """The best weights so far, with the values that certify them."""

    primal: float
    dual: float
    W_I: FloatArray
    U: list[tuple[Any, FloatArray]]  # (columns, u) of every block

    def weights(self, structure: Structure, bias: float) -> tuple[FloatArray, FloatArray]:
        """Leaf weights m + u, and intercepts."""
        W = np.asarray(structure.mix @ self.W_I, dtype=self.W_I.dtype)
        for columns, U in self.U:
            W[columns] += U
        return np.ascontiguousarray(W[:, :-1]), bias * W[:, -1].astype(np.float64)


class _Outer:
    """The internal nodes, and the order in which nodes are visited."""

    def __init__(
        self, structure: Structure, d: int, dtype: Any, schedule: str, share_bias: bool
    ) -> None:
        self.s, self.share_bias = structure, share_bias
        n_inner = structure.L_II.shape[0]
        self.W_I = np.zeros((n_inner, d + 1), dtype=dtype)
        self.G = np.zeros_like(self.W_I)  # -L_IT U
        self.H = np.zeros_like(self.W_I)  # -L_IT W_T
        self.shares: dict[int, tuple[Any, Any]] = {}  # what each group of leaves adds to these
        self.exact = schedule == "two-block"
        self.groups = visiting_groups(structure, schedule)
        self.solve_inner = solver_of(structure.L_II)
        self.solve_reduced = solver_of(structure.reduced())
        self.degree = structure.L_II.diagonal()
        self.mixed = Mixing(MEMORY)

    def leaf_blocks(
        self, Y: sp.csc_array, cost: Any, options: svm.SvmOptions, dtype: Any
    ) -> list[list[Leaf]]:
        """The blocks of leaves of every group."""
        out, number = [], 0
        for leaves, _ in self.groups:
            blocks = []
            for k in range(0, leaves.size, svm.LANES):
                columns = leaves[k : k + svm.LANES].astype(np.int64)
                here = np.ascontiguousarray(cost[:, columns], dtype=dtype)
                task = svm.SvmTask(number, sp.csr_array(Y[:, columns]), here, None, None, options)
                blocks.append(Leaf(columns, task))
                number += 1
            out.append(blocks)
        return out

    def run(
        self, groups: list[list[Leaf]], visit: Callable[..., list[Visit]], tol: float,
        max_iter: int, started: float,
    ) -> tuple[list[dict[str, float]], _Best]:  # fmt: skip
        """Rounds over all groups; each certifies the state in which it began."""
        self.stats = np.full((3, self.s.S.size), np.inf)  # loss, conj, norm2 of every leaf
        trace: list[dict[str, float]] = []
        best = _Best(np.inf, -np.inf, self.W_I, [])
        for n_rounds in range(max_iter + 1):
            W_start, G_start, U_start = self.W_I.copy(), self.G, self._duals(groups)
            if len(groups) > 1 and n_rounds > 0:  # means move within a round: measure beforehand
                every = [leaf._replace(n_epochs=0) for blocks in groups for leaf in blocks]
                self._note(every, visit(every, self.W_I))
            self._round(groups, visit, min(INNER_EPOCHS << (n_rounds // 3), 5000))
            if n_rounds == 0:  # it began with nothing
                continue
            P, D = self._certificate(W_start, G_start)
            if best.primal < P:  # the last step was too bold
                self.mixed.restart()
            if best.primal > P:
                best = best._replace(primal=P, W_I=W_start, U=U_start)
            best = best._replace(dual=max(best.dual, D))
            gap = (best.primal - best.dual) / max(1.0, abs(best.primal))
            seconds = time.perf_counter() - started
            trace.append({"seconds": seconds, "objective": best.primal, "gap": gap})
            if gap <= tol:
                break
        return trace, best

    def _round(
        self, groups: list[list[Leaf]], visit: Callable[..., list[Visit]], n_epochs: int
    ) -> None:
        """Visit every group once: its leaves, then its internal nodes."""
        for number, (blocks, (_, inner)) in enumerate(zip(groups, self.groups, strict=True)):
            blocks[:] = [leaf._replace(n_epochs=n_epochs) for leaf in blocks]
            old_inner = self.W_I.copy()
            visits = visit(blocks, self.W_I)
            if len(groups) == 1:
                self._note(blocks, visits)
            if blocks:
                self._gather(number, blocks, visits)
            blocks[:] = [
                leaf._replace(alpha=seen.alpha, U=seen.U)
                for leaf, seen in zip(blocks, visits, strict=True)
            ]
            self._move(inner, old_inner)

    def _note(self, blocks: list[Leaf], visits: list[Visit]) -> None:
        """Keep what visits found on entry."""
        for leaf, seen in zip(blocks, visits, strict=True):
            self.stats[:, leaf.columns] = seen.loss, seen.conj, seen.norm2

    @staticmethod
    def _duals(groups: list[list[Leaf]]) -> list[tuple[Any, FloatArray]]:
        return [(leaf.columns, leaf.U) for blocks in groups for leaf in blocks]

    def _gather(self, number: int, blocks: list[Leaf], visits: list[Visit]) -> None:
        """Bring -L_IT U and -L_IT W_T up to date when the leaves of a group have moved."""
        of_U, of_W = np.zeros_like(self.W_I), np.zeros_like(self.W_I)
        for leaf, seen in zip(blocks, visits, strict=True):
            edges = sp.csr_array(-self.s.L_IT[:, leaf.columns], dtype=self.W_I.dtype)
            rows = np.flatnonzero(np.diff(edges.indptr))
            U = seen.U if self.share_bias else np.hstack([seen.U[:, :-1], 0 * seen.U[:, -1:]])
            of_U[rows] += np.asarray(edges[rows] @ U)
            of_W[rows] += np.asarray(edges[rows] @ means(self.s.mix, leaf.columns, self.W_I))
        of_W += of_U
        self.shares[number] = of_U, of_W
        self.G = np.asarray(sum(u for u, _ in self.shares.values()))
        self.H = np.asarray(sum(w for _, w in self.shares.values()))

    def _move(self, inner: Any, old: FloatArray) -> None:
        """Internal nodes given the leaves: exactly all, or those of one group by averaging."""
        if self.exact:
            self.W_I = self.mixed(old, self.solve_inner(self.H))
        elif inner.size:
            off = sp.csr_array(self.s.L_II - sp.diags_array(self.degree))[inner]
            self.W_I[inner] = (self.H[inner] - off @ old) / self.degree[inner, None]

    def _certificate(self, W_I: FloatArray, G: FloatArray) -> tuple[float, float]:
        """Primal and dual value of the state in which the round began."""
        loss, conj, norm2 = self.stats
        m2 = self._mean_norms(W_I)
        inner = dot(W_I, self.s.L_II @ W_I)
        P = 0.5 * float(self.s.S @ (norm2 - m2)) + 0.5 * inner + float(self.s.S @ loss)
        coupled = dot(G, self.solve_reduced(G))
        D = float(self.s.S @ conj) - 0.5 * float(self.s.S @ norm2) - 0.5 * coupled
        return P, D

    def _mean_norms(self, W: FloatArray) -> FloatArray:
        """||m_n||^2 of every leaf, from the inner products of the internal nodes near it."""
        if not W.size:
            return np.zeros(self.s.S.size)
        mix = self.s.mix
        if (np.diff(mix.indptr) <= 1).all():  # one neighbour each, as in a tree
            norms = np.einsum("ij,ij->i", W, W).astype(np.float64)
            out = np.zeros(mix.shape[0])
            out[np.diff(mix.indptr) == 1] = mix.data**2 * norms[mix.indices]
            return out
        return np.asarray((mix @ (W @ W.T) * mix.toarray()).sum(axis=1))


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
