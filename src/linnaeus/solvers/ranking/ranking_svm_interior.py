"""The ranking machine over given pairs by an interior point method, where descent is slow.

    minimise_w  1/2 ||w||^2 + sum_i c_i max(0, max_p H_ip)

is a problem of `interior`: its linear functions are 0 and the H_ip of the pairs p that example i
holds (with a slack for each pair, every pair is an example of its own). The weights are looked for
in the space of the attributes, in r directions, and of the examples, in f; with u_ip the direction
of a pair there, a step solves one system with

    I + sum_i (sum_pq B_ipq u_ip u_iq') (x) x_i x_i',

r f unknowns whatever the number of pairs. It is worth while for few classes and features, where
features differ in size or C is large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from linnaeus.solvers.numerics import interior
from linnaeus.solvers.numerics.gram import DENSE, STEPS, Values
from linnaeus.solvers.ranking.ranking_svm_pairs import Numbers, Setting

MOST = 3000  # unknowns
LARGE = 1 << 26  # numbers in an array
OVERHEAD = 1e6  # of a step
RANK = 1e-12  # squares of singular values, by the largest, that are none


class Pairs(NamedTuple):
    """Pairs of a label and another class, in the order of their examples."""

    row: Numbers
    y: Numbers
    z: Numbers
    loss: Values


class Polished(NamedTuple):
    """The optimum over given pairs."""

    a: Values  # multipliers of the pairs
    W: Any  # (n_features, n_attributes) for the linear kernel, else None
    dual: float


class Space:
    """Attributes and examples in as few coordinates as they need."""

    def __init__(self, setting: Setting) -> None:
        problem, (_, q, d, s) = setting.problem, setting.shape
        L, n = problem.L, problem.cost.size
        self.setting = setting
        self.L, self.attributes = _coordinates(
            sp.csr_array((L.value, L.node, L.begin), (q, s)).toarray()
        )
        self.features: Any = None
        if problem.K.size:
            values, vectors = np.linalg.eigh(problem.K.astype(np.float64))
            kept = values > RANK * values[-1]
            self.X = vectors[:, kept] * np.sqrt(values[kept])
        else:
            indices = problem.indices.view(np.int32)
            X = sp.csr_array((problem.data, indices, problem.indptr), (n, d))
            self.X, self.features = _coordinates(X.toarray().astype(np.float64))

    def optimum(self, pairs: Pairs, tol: float) -> Polished:
        """The optimum over the pairs, up to a relative gap."""
        with threadpool_limits(1, "blas"), np.errstate(all="ignore"):
            machine = _RankingMachine(self, pairs)
            best = machine.solve(tol)
            a, W = np.asarray(best.U[machine.slot, machine.owner]), None
            if self.features is not None:
                W = self.features @ best.v.reshape(machine.shape).T @ self.attributes.T
            return Polished(a, W, best.dual)


def work(setting: Setting, n_pairs: int) -> float:
    """Its time in nanoseconds, about; infinite where it is out of the question."""
    _, q, d, s = setting.shape
    n = setting.problem.cost.size
    r, f = min(q, s), min(n, d) if d else n
    examples = n_pairs if setting.box else n
    if r * f > MOST or examples * max(r, f) ** 2 > LARGE:
        return float("inf")
    return float(STEPS * (DENSE * (examples * (r * f) ** 2 + (r * f) ** 3) + OVERHEAD))


def _coordinates(A: Values) -> tuple[Values, Values]:
    """Rows with the same products in no more columns than rows, and the basis of those."""
    if A.shape[1] <= A.shape[0]:
        return A, np.eye(A.shape[1])
    Q, R = np.linalg.qr(A.T)
    return R.T, Q


class _RankingMachine:
    """A problem of `interior`; slot 0 of each example is the function 0, others may repeat it."""

    def __init__(self, space: Space, pairs: Pairs) -> None:
        setting = space.setting
        margin, box = setting.problem.margin, setting.box
        owner = np.arange(pairs.row.size) if box else pairs.row
        rows, self.owner = np.unique(owner, return_inverse=True)
        first = np.concatenate([[0], np.cumsum(np.bincount(self.owner))[:-1]])
        self.slot = 1 + np.arange(owner.size) - first[self.owner]
        example = pairs.row[first] if box else rows
        self.X = space.X[example]
        self.cost = setting.problem.cost[example]
        m, n, r = int(self.slot.max()) + 1, example.size, space.L.shape[1]
        self.base, self.u = np.zeros((m, n)), np.zeros((m, n, r))
        reach = np.ones(pairs.row.size) if margin else pairs.loss
        self.base[self.slot, self.owner] = pairs.loss
        self.u[self.slot, self.owner] = reach[:, None] * (space.L[pairs.z] - space.L[pairs.y])
        self.shape = r, self.X.shape[1]
        self.squares = np.einsum("if,ig->ifg", self.X, self.X).reshape(n, -1)

    def solve(self, tol: float) -> interior.Optimum:
        return interior.minimise(self, np.zeros(self.shape[0] * self.shape[1]), tol=tol)

    def forward(self, v: Values) -> Values:
        return np.asarray(np.einsum("kir,ir->ki", self.u, self.X @ v.reshape(self.shape).T))

    def adjoint(self, U: Values) -> Values:
        return np.asarray((np.einsum("ki,kir->ri", U, self.u) @ self.X).ravel())

    def solver(self, d: Values) -> Callable[[Values], Values]:
        r, f = self.shape
        total = np.einsum("ki,kir->ir", d, self.u) / np.sqrt(d.sum(axis=0))[:, None]
        weighted = self.u * d[:, :, None]
        M: Any = np.matmul(weighted.transpose(1, 2, 0), self.u.transpose(1, 0, 2))
        M -= total[:, :, None] * total[:, None, :]
        H = (M.reshape(len(M), -1).T @ self.squares).reshape(r, r, f, f)
        return interior.factorised(np.ascontiguousarray(H.transpose(0, 2, 1, 3)).reshape(r * f, -1))
