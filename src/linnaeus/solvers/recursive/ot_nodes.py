"""What the optimisers of orthogonal transfer share: the nodes, what joins them, the problem.

    P(W) = 1/2 sum_ij K_ij |w_i.w_j| + sum_k c_k xi_k,    xi_k = max_p h_kp,  at least 0,
    h_kp = 1 - w_i.x_k + w_j.x_k

for the pairs p = (i, j) of example k: a node i on its path and a sibling j of i. K_ij > 0 where
i = j or one is an ancestor of the other, else 0; c_k = C / N for N examples [Zhou2011]. This is
convex where the comparison matrix (K_ii on, -K_ij off the diagonal) is positive definite.

The optimisers see rows divided by a power of two near the largest norm, and costs multiplied by its
square: weights grow by the one and P by the other. Answers are given in the old units.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.solvers.numerics.examples import Rows, Solution, squared_norms, weighted_examples
from linnaeus.solvers.numerics.rounds import Rounds
from linnaeus.solvers.recursive import ot_fast as fast

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

DEFINITE = 1e-9  # least pivot of the comparison matrix, relative to its diagonal


class TransferForest(NamedTuple):
    """The nodes that have siblings, parents first and families in one piece."""

    node: Numbers  # (m,) their numbers in the taxonomy
    ptr: Numbers  # (m + 1,)
    above: Numbers  # the ancestors of every node among them, from the top down
    first: Numbers  # (m,) the family of a node: from here
    last: Numbers  # (m,) to here
    path_ptr: Numbers  # (n_classes + 1,)
    path: Numbers  # the nodes on the path of every class, from the top down

    @property
    def size(self) -> int:
        return int(self.node.size)


class Arrays(NamedTuple):
    """What loops see of forest and examples."""

    ptr: Numbers
    above: Numbers
    first: Numbers
    last: Numbers
    path_ptr: Numbers
    path: Numbers
    cls: Numbers  # (n,) the class of every example
    start: Numbers  # (n,) where its pairs begin, in a list of all
    cost: Values  # (n,)


class Local(NamedTuple):
    """Work space for the families of one path."""

    loc: Numbers
    level: Numbers
    own: Numbers
    g: Values
    h: Values
    y: Values
    b: Values
    dg: Values


def forest_of(parent: Any, leaves: Any) -> TransferForest:
    """The nodes with siblings, of a forest with parent[v] < v (-1 for roots); a class per leaf.

    A node without siblings appears in no constraint: its weights are 0, and it is left out.
    """
    parent = np.asarray(parent, dtype=np.int64)
    children: dict[int, list[int]] = {}
    for v, p in enumerate(parent.tolist()):
        children.setdefault(p, []).append(v)
    lists: dict[int, list[int]] = {-1: []}  # the path to a node of the taxonomy, in new numbers
    node: list[int] = []
    first, last = [], []
    queue = [-1]
    for p in queue:
        family = children.get(p, [])
        queue += family
        if len(family) == 1:
            lists[family[0]] = lists[p]
            continue
        begin = len(node)
        for v in family:
            lists[v] = [*lists[p], len(node)]
            node.append(v)
        first += [begin] * len(family)
        last += [len(node)] * len(family)
    ptr, above = _flat([lists[v][:-1] for v in node])
    path_ptr, path = _flat([lists[v] for v in np.asarray(leaves).tolist()])
    return TransferForest(_whole(node), ptr, above, _whole(first), _whole(last), path_ptr, path)


def _whole(values: Any) -> Numbers:
    return np.asarray(values, dtype=np.int64)


def _flat(lists: list[list[int]]) -> tuple[Numbers, Numbers]:
    ptr = np.concatenate([[0], np.cumsum([len(one) for one in lists])])
    return _whole(ptr), _whole([v for one in lists for v in one])


class Coupling(NamedTuple):
    """K of the nodes of a forest."""

    own: Values  # (m,) K_ii
    pairs: Values  # K_ij for every node and ancestor, as `above` lists them


def dominant(forest: TransferForest, offdiagonal: float) -> Values:
    """The diagonal 1 + sum_j K_ij, with which every tree is convex."""
    n = np.diff(forest.ptr) + np.bincount(forest.above, minlength=forest.size)
    return np.asarray(1.0 + offdiagonal * n, dtype=np.float64)


def coupling(forest: TransferForest, own: Any, offdiagonal: float) -> Coupling:
    """K with a diagonal (a number, or one per node) and one value for all pairs, checked."""
    diagonal = np.broadcast_to(np.asarray(own, dtype=np.float64), forest.size).copy()
    pairs = np.full(forest.above.size, float(offdiagonal))
    D, L = diagonal.copy(), -pairs
    bad = fast.factorise(forest.ptr, forest.above, D, L)
    if bad < 0 and (D / diagonal < DEFINITE).any():
        bad = int(np.argmax(D / diagonal < DEFINITE))
    if bad >= 0:
        raise UserError(
            f"The objective is not convex: with offdiagonal={offdiagonal} and a diagonal of "
            f"{diagonal[bad]:g} at node number {forest.node[bad]} the comparison matrix is not "
            f"positive definite. Lower offdiagonal, raise diagonal, or leave diagonal=None."
        )
    return Coupling(diagonal, pairs)


def factors(forest: TransferForest, K: Coupling, signs: Values) -> tuple[Values, Values]:
    """D and L of M(s) = L D L'."""
    D, L = K.own.copy(), K.pairs * signs
    fast.factorise(forest.ptr, forest.above, D, L)
    return D, L


class TransferProblem(NamedTuple):
    """Examples and nodes in the units of the optimisers."""

    rows: Rows
    n_features: int
    bias: Any  # size of the constant feature
    norms: Values  # (n,) squared, of the rows
    arrays: Arrays
    forest: TransferForest
    K: Coupling
    room: Numbers  # (n_classes,) nodes in the families on the path of a class
    scale: float  # what the rows were divided by

    @classmethod
    def of(
        cls, X: sp.csr_array, t: Any, forest: TransferForest, K: Coupling, C: float = 1.0,
        bias: float = 0.0, sample_weight: Any = None, dtype: Any = np.float64,
    ) -> TransferProblem:  # fmt: skip
        """The problem of examples of the classes t; c_k = C weight_k / sum of the weights.

        bias : size of the constant feature, regularised like any other; 0 for none
        """
        X, t, weight = weighted_examples(X, np.asarray(t, dtype=np.int64), C, sample_weight)
        norms = squared_norms(X, bias)
        scale = 2.0 ** round(0.5 * math.log2(norms.max(initial=0.0) or 1.0))
        rows = Rows.of(X, dtype)
        rows = rows._replace(data=rows.data / rows.data.dtype.type(scale))
        width = forest.last - forest.first
        room = np.array(
            [width[path].sum() for path in np.split(forest.path, forest.path_ptr[1:-1])]
        )
        cost = C * weight / weight.sum() * scale**2
        arrays = Arrays(*forest[1:], cls=t, start=np.cumsum(room[t]) - room[t], cost=cost)
        size = rows.data.dtype.type(bias / scale)
        return cls(rows, X.shape[1], size, norms / scale**2, arrays, forest, K, room, scale)

    def weights(self, dtype: Any) -> Any:
        """W = 0, (d + 1, m)."""
        return np.zeros((self.n_features + 1, self.forest.size), dtype=dtype)

    def local(self) -> Local:
        """Work space for one example."""
        most = int(self.room.max(initial=1))
        return Local(*np.zeros((3, most), dtype=np.int64), *np.zeros((5, most)))

    def regulariser(self, W: Any) -> float:
        """1/2 sum_ij K_ij |w_i.w_j|."""
        own, pairs = self.products(W)
        return 0.5 * float(self.K.own @ own) + float(self.K.pairs @ np.abs(pairs))

    def products(self, W: Any) -> tuple[Values, Values]:
        """w_f.w_f of the nodes, and w_f.w_a of all nodes and ancestors."""
        own, pairs = np.zeros(self.forest.size), np.zeros(self.forest.above.size)
        fast.products(self.forest.ptr, self.forest.above, W, own, pairs)
        return own, pairs

    def solution(self, W: Any, looks: Looks) -> Solution:
        """The answer in the units of the data."""
        W = W.astype(self.rows.data.dtype, copy=False)
        return Solution(
            np.ascontiguousarray(W[:-1].T) / W.dtype.type(self.scale), W[-1] * self.bias,
            np.array([looks.objective]), np.array([looks.dual]), looks.n, looks.trace,
        )  # fmt: skip


class Looks(Rounds):
    """Passes, and what was measured after some of them: the best lower bound is kept.

    Values are noted in the units of the optimisers, and kept in those of the data.
    """

    objective, dual = np.inf, 0.0  # no sum of losses and norms is below 0

    @property
    def best(self) -> tuple[float, float]:
        """Both values."""
        return self.objective, self.dual

    @best.setter
    def best(self, found: tuple[float, float]) -> None:
        self.objective, self.dual = found

    def measured(self, objective: float, dual: float) -> None:
        self.objective = objective / self.unit
        self.dual = min(max(self.dual, dual / self.unit), self.objective)
        self.note(objective, (self.objective - self.dual) * self.unit)
