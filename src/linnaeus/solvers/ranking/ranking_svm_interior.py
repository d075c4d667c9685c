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

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.execution import one_blas_thread
from linnaeus.solvers.numerics import interior
from linnaeus.solvers.numerics.gram import Values
from linnaeus.solvers.ranking.ranking_svm_pairs import Numbers, Setting


class Pairs(NamedTuple):
    """Pairs of a label and another class, in the order of their examples."""

    row: Numbers
    y: Numbers
    z: Numbers
    loss: Values


class PairOptimum(NamedTuple):
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
        self.L, self.attributes = interior.coordinates(
            sp.csr_array((L.value, L.node, L.begin), (q, s)).toarray()
        )
        self.features: Any = None
        if problem.K.size:
            self.X = interior.kernel_coordinates(problem.K)
        else:
            indices = problem.indices.view(np.int32)
            X = sp.csr_array((problem.data, indices, problem.indptr), (n, d))
            self.X, self.features = interior.coordinates(X.toarray().astype(np.float64))

    def optimum(self, pairs: Pairs, tol: float) -> PairOptimum:
        """The optimum over the pairs, up to a relative gap."""
        with one_blas_thread(), np.errstate(all="ignore"):
            machine, slot, owner = _machine(self, pairs)
            best = interior.minimise(machine, machine.zero, tol=tol)
            a, W = np.asarray(best.U[slot, owner]), None
            if self.features is not None:
                W = self.features @ best.v.reshape(machine.shape).T @ self.attributes.T
            return PairOptimum(a, W, best.dual)


def work(setting: Setting, n_pairs: int) -> float:
    """Its time in nanoseconds, about; infinite where it is out of the question."""
    _, q, d, s = setting.shape
    n = setting.problem.cost.size
    return interior.crossed_work(n_pairs if setting.box else n, min(q, s), min(n, d) if d else n)


def _machine(space: Space, pairs: Pairs) -> tuple[interior.Crossed, Numbers, Numbers]:
    """A problem of `interior`, and the slots and the examples in it of the pairs.

    Slot 0 of each example is the function 0, others may repeat it.
    """
    setting = space.setting
    owner = np.arange(pairs.row.size) if setting.box else pairs.row
    rows, owner = np.unique(owner, return_inverse=True)
    first = np.concatenate([[0], np.cumsum(np.bincount(owner))[:-1]])
    slot = 1 + np.arange(owner.size) - first[owner]
    example = pairs.row[first] if setting.box else rows
    shape = int(slot.max()) + 1, example.size
    base, u = np.zeros(shape), np.zeros((*shape, space.L.shape[1]))
    reach = np.ones(pairs.row.size) if setting.problem.margin else pairs.loss
    base[slot, owner] = pairs.loss
    u[slot, owner] = reach[:, None] * (space.L[pairs.z] - space.L[pairs.y])
    cost = setting.problem.cost[example]
    return interior.Crossed(cost, base, u, space.X[example]), slot, owner
