"""Max-margin Markov models over a forest: the marginal dual, with a certificate.

    minimise_w  1/2 ||w||^2 + sum_i C_i xi_i,
    xi_i = max_y  loss(y_i, y) - w.(phi(x_i, y_i) - phi(x_i, y))      over all 2^k labelings y

phi(x, y) has one block per edge and pair of labels, phi(x) in the block that y picks. [Rousu2006]
(3) to (8), with the corrections of docs/maths/hm3.md. Two optimisers, both of one example at a
time with exact line search:

    pairwise   mass moves from the worst labeling that has some to the best one
    csga       the paper's conditional gradient, towards the best labeling

Examples with larger gaps are visited more often. The linear kernel keeps the weights current, and
no kernel matrix is made; otherwise scores come block by block from F = K N.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference.maxsum import Forest
from linnaeus.losses import edge_losses, markov_edges
from linnaeus.solvers import hm3_fast as fast
from linnaeus.solvers.problem import Rows, example_weights, squared_norms
from linnaeus.solvers.structured import Fitted
from linnaeus.taxonomy import Taxonomy

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

OPTIMIZERS = ("pairwise", "csga")
COMPETITORS = ("all", "consistent")

STEPS = 10  # pairwise steps of one visit at most
ENOUGH = 0.1  # a visit ends when the gap is this part of what it was
SWEEPS = 3  # over a block of kernel rows
BLOCK = 256  # kernel rows scored at once
PROMISING = 1.5  # a pass that measures so many times the tolerance calls for a certificate
EVERY = 8  # passes between two certificates otherwise
FRESH = 64  # passes after which the weights are made anew from the marginals


def solve(
    X: Any,
    Y: Any,
    parent: Any,
    *,
    C: float = 1.0,
    loss: str = "delta",
    root_edges: str = "none",
    competitors: str = "all",
    optimizer: str = "pairwise",
    freq: int | None = None,
    precomputed: bool = False,
    sample_weight: Any = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    dtype: Any = np.float64,
    seed: int = 0,
) -> Fitted:
    """The model of one slack per example.

    Parameters
    ----------
    X : (n, d) csr_array; or the (n, n) kernel matrix, if `precomputed`
    Y : (n, k) 0/1, consistent: a node is on only if its parent is
    parent : (k,) parent of every node, -1 for roots; parents have the lower numbers
    C, sample_weight : cost of a unit of slack, and a factor of it for each example
    loss : "delta", "unif", "sibl" or "subtree"
    root_edges : "none" or "all", see `linnaeus.losses.markov_edges`
    competitors : "all" labelings, or the "consistent" ones alone
    optimizer : "pairwise" or "csga"
    freq : steps of one visit at most; for "csga", for each time that an example is drawn
    tol : relative duality gap at which to stop;   max_iter : passes at most
    dtype : of weights, kernel and nu; marginals, gaps and objectives are float64

    Returns
    -------
    `Fitted`, blocks in the order (edge, code). Every record of the trace is exact.
    """
    _check(optimizer, competitors, freq)
    model = build(parent, loss, root_edges, competitors == "consistent")
    Y = np.ascontiguousarray(Y, dtype=np.int8)
    cost = C * example_weights(C, sample_weight, len(Y))
    kind = _Kernel if precomputed else _Linear
    ascent = kind(X, model, Y, cost, np.dtype(dtype), seed)
    if optimizer == "csga":
        _csga(ascent, freq or STEPS, tol, max_iter)
    else:
        _pairwise(ascent, freq or STEPS, tol, max_iter)
    return ascent.fitted()


def _check(optimizer: str, competitors: str, freq: int | None) -> None:
    if optimizer not in OPTIMIZERS:
        raise UserError(f"optimizer={optimizer!r} is not known. Use 'pairwise' or 'csga'.")
    if competitors not in COMPETITORS:
        raise UserError(f"competitors={competitors!r} is not known. Use 'all' or 'consistent'.")
    if freq is not None and freq < 1:
        raise UserError(f"freq is {freq!r}. Use a positive number of steps.")


def build(parent: Any, loss: str, root_edges: str, consistent: bool) -> fast.Model:
    """The forest, its losses by true code, and the columns in which nu is kept."""
    parent = [int(p) for p in parent]
    taxonomy = Taxonomy.from_parents({j: None if p < 0 else p for j, p in enumerate(parent)})
    edges = markov_edges(taxonomy.tree, root_edges)
    forest = Forest.of(edges)
    own = (edges.parent < 0) | consistent  # "both on" is the child's own column
    column = np.where(own, edges.child, len(parent) + np.cumsum(~own) - 1).astype(np.int32)
    is_open = np.isin(forest.root, edges.child, invert=True)
    first = {int(p): e for e, p in reversed(list(enumerate(edges.parent)))}
    opening = np.array([first[int(r)] for r in forest.root[is_open]], dtype=np.int32)
    table = _losses_by_code(taxonomy, loss, root_edges)
    return fast.Model(forest.above, forest.below, forest.root, column, opening, table, consistent)


def _losses_by_code(taxonomy: Taxonomy, loss: str, root_edges: str) -> Values:
    """l_e(t, u), (n_edges, 4, 4): from four labelings, in which every edge meets every code."""
    edges = markov_edges(taxonomy.tree, root_edges)
    odd = taxonomy.depth % 2 == 1
    Y = np.array([np.zeros_like(odd), np.ones_like(odd), odd, ~odd]).astype(np.int8)
    tables = edge_losses(taxonomy, sp.csr_array(Y), loss, root_edges)
    out = np.zeros((edges.child.size, 4, 4))
    for y, table in zip(Y, tables, strict=True):
        code = 2 * np.where(edges.parent < 0, 1, y[edges.parent]) + y[edges.child]
        out[np.arange(code.size), code] = table
    return out


class _Ascent:
    """Marginals of all examples, and what was measured of them."""

    def __init__(
        self, model: fast.Model, Y: npt.NDArray[np.int8], cost: Values, dtype: Any, seed: int
    ) -> None:
        self.model, self.Y, self.cost, self.dtype = model, Y, cost, dtype
        k = Y.shape[1]
        width = max(k, int(model.column.max(initial=-1)) + 1)
        self.node = np.arange(width)  # the node of each column; "both on" goes with the child
        self.node[model.column] = model.below
        self.P = cost[:, None] * Y[:, self.node]
        self.work = _work(k, model.below.size, width, dtype)
        self.slack, self.gaps, self.exact = (np.zeros(len(Y)) for _ in range(3))
        self.objective = self.dual = 0.0
        self.rng = np.random.default_rng(seed)
        self.live = np.flatnonzero(cost > 0)
        self.n_iter, self.trace = 0, list[dict[str, float]]()
        self.began = time.perf_counter()

    def columns(self) -> Values:
        """nu, in the columns kept."""
        return np.asarray(self.cost[:, None] * self.Y[:, self.node] - self.P)

    def expand(self, V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Columns to blocks: (rows, 4 n_edges) in the order (edge, code)."""
        model = self.model
        top = model.above < 0
        out = np.empty((len(V), model.below.size, 4), dtype=V.dtype)
        below, both = V[:, model.below], V[:, model.column]
        above = np.where(top, 0, V[:, model.above])
        out[:, :, 3], out[:, :, 2] = both, above - both
        out[:, :, 1], out[:, :, 0] = below - both, both - above - below
        out[:, top, 0] = 0
        return out.reshape(len(V), -1)

    def is_solved(self, tol: float) -> bool:
        """Whether the gap is at most `tol` times the objective."""
        return self.objective - self.dual <= tol * abs(self.objective)

    def certify(self) -> None:
        """Exact slacks, gaps and objectives."""
        sums = np.zeros(2)
        self.measure(sums)
        self.gaps[:] = self.exact
        self.objective = float(self.cost @ self.slack + 0.5 * sums[1])
        self.dual = self.objective - max(0.0, float(self.exact.sum()))
        seconds = time.perf_counter() - self.began
        gap = (self.objective - self.dual) / max(1.0, abs(self.objective))
        self.trace.append({"seconds": seconds, "objective": self.objective, "gap": gap})

    def measure(self, sums: Values) -> None:
        raise UserError("This is only a base. Use a kernel matrix or a feature matrix.")

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        raise UserError("This is only a base. Use a kernel matrix or a feature matrix.")

    def renew(self) -> None:
        """Make anew, from the marginals, what steps have kept up to date."""

    def weights(self) -> Any:
        return None

    def fitted(self) -> Fitted:
        N = self.expand(self.columns().astype(self.dtype))
        return Fitted(
            N, self.weights(), self.slack, self.exact, self.objective, self.dual, self.n_iter,
            self.trace,
        )  # fmt: skip


class _Linear(_Ascent):
    """Scores X V, where V holds the columns of the weights."""

    def __init__(self, X: Any, *rest: Any) -> None:
        super().__init__(*rest)
        self.X = sp.csr_array(X)
        self.rows = Rows.of(self.X, self.dtype)
        self.squares = squared_norms(self.X.astype(np.float64), 0.0)
        self.V = np.zeros((self.X.shape[1], self.node.size), dtype=self.dtype)

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        fast.linear_pass(
            order, limits, enough, self.model, *self.rows, self.Y, self.cost, self.squares,
            self.V, self.P, self.gaps, self.work,
        )  # fmt: skip

    def measure(self, sums: Values) -> None:
        fast.measure_linear(
            np.arange(len(self.Y)), self.model, *self.rows, self.Y, self.cost, self.V, self.P,
            self.slack, self.exact, sums, self.work,
        )  # fmt: skip

    def renew(self) -> None:
        self.V[:] = self.X.T @ self.columns()

    def weights(self) -> Any:
        return self.expand(self.V)


class _Kernel(_Ascent):
    """Scores K Z, block by block."""

    def __init__(self, K: Any, *rest: Any) -> None:
        super().__init__(*rest)
        self.K = np.ascontiguousarray(K, dtype=self.dtype)
        self.squares = np.maximum(np.diagonal(self.K).astype(np.float64), 0.0)
        self.Z = np.zeros(self.P.shape, dtype=self.dtype)

    def visit(self, order: Numbers, limits: Numbers, enough: float) -> None:
        for part in _blocks(order.size):
            block = order[part]
            G = self.K[block]
            F = G @ self.Z
            fast.kernel_block(
                block, limits[part], enough, SWEEPS, self.model, np.ascontiguousarray(G[:, block]),
                self.Y, self.cost, self.squares, F, self.P, self.Z, self.gaps, self.work,
            )  # fmt: skip

    def measure(self, sums: Values) -> None:
        for part in _blocks(len(self.Y)):
            rows = np.arange(part.start, part.stop)
            fast.measure_scored(
                rows, self.model, self.K[part] @ self.Z, self.Y, self.cost, self.P, self.slack,
                self.exact, sums, self.work,
            )  # fmt: skip

    def renew(self) -> None:
        self.Z[:] = self.columns()


def _pairwise(ascent: _Ascent, limit: int, tol: float, max_iter: int) -> None:
    """Passes over all examples and passes over those drawn by their gaps, in turn."""
    while True:
        ascent.certify()
        if ascent.is_solved(tol) or ascent.n_iter >= max_iter:
            return
        target = PROMISING * tol * abs(ascent.objective)
        for round_ in range(min(EVERY, max_iter - ascent.n_iter)):
            order = ascent.live
            if round_ % 2 == 1:
                order = np.unique(_drawn(ascent, order.size))
            order = ascent.rng.permutation(order)
            ascent.visit(order, np.full(order.size, limit), ENOUGH)
            ascent.n_iter += 1
            if ascent.n_iter % FRESH == 0:
                ascent.renew()
            if ascent.gaps.sum() <= target:
                break


def _csga(ascent: _Ascent, freq: int, tol: float, max_iter: int) -> None:
    """Working sets drawn by gap, with replacement; twice drawn, twice as many steps."""
    while True:
        ascent.certify()
        if ascent.is_solved(tol) or ascent.n_iter >= max_iter:
            return
        chosen, count = np.unique(_drawn(ascent, ascent.live.size), return_counts=True)
        order = ascent.rng.permutation(chosen.size)
        ascent.visit(chosen[order], -freq * count[order], 0.0)
        ascent.n_iter += 1
        if ascent.n_iter % FRESH == 0:
            ascent.renew()


def _drawn(ascent: _Ascent, size: int) -> Numbers:
    """Examples drawn in proportion to their gaps."""
    gaps = np.maximum(ascent.gaps, 0.0)
    total = gaps.sum()
    if not total > 0:
        return ascent.live
    return ascent.rng.choice(gaps.size, size=size, p=gaps / total)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(a, min(a + BLOCK, n)) for a in range(0, n, BLOCK))


def _work(k: int, n_edges: int, width: int, dtype: Any) -> fast.Work:
    h, mu = np.zeros((n_edges, 4)), np.zeros((n_edges, 4))
    to, away = np.zeros(k, np.int8), np.zeros(k, np.int8)
    return fast.Work(
        h, mu, np.zeros(n_edges, np.int8), np.zeros((k, 2)), to, away, np.zeros(k, np.int32),
        np.zeros(k), np.zeros(k), np.zeros(k, np.int32), np.zeros(width, dtype),
        np.zeros(width, dtype), np.zeros(width, np.int32),
    )  # fmt: skip
