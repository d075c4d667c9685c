"""The ranking problem as its loops see it: examples, losses, lists of pairs.

See `ranking_svm` for the problem. Features far from 1 are divided by a power of two, and rows that
have no pair (no label, all labels, no weight) are left out; `Setting` remembers both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, check_choice
from linnaeus.losses import ClassLoss
from linnaeus.solvers.numerics import examples
from linnaeus.solvers.numerics.examples import Rows, example_weights
from linnaeus.solvers.ranking import ranking_svm_fast as fast
from linnaeus.solvers.ranking import ranking_svm_pairs_fast as pairs_fast
from linnaeus.taxonomy import Taxonomy

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

ROOM = 12  # pairs an example may hold at first; doubled for those that want more
TABLE = 12_500_000  # losses held at once
PASS = 10.0  # time of a node in a pass over the tree, by that of an entry of a table


class Losses:
    """Losses between classes in the form by which the most violated pair is found."""

    def __init__(self, loss: ClassLoss, Y: sp.csr_array, taxonomy: Taxonomy | None, box: bool):
        self.loss, self.Y = loss, Y
        self.whole: pairs_fast.Search | None = None
        if loss.name == "zero_one":
            self.whole = _search(pairs_fast.CONSTANT, high=np.ones((1, 1)))
            return
        fits = np.unique(Y.indices).size * loss.n_classes <= TABLE
        tree = taxonomy if taxonomy is not None and taxonomy.is_tree and not box else None
        if tree is not None and not (fits and _is_faster_in_a_table(tree, Y)):
            self.whole = tree_search(tree, loss.name)
        elif fits:
            self.whole = self._of(Y.indices)

    def parts(self, order: Numbers) -> Iterator[tuple[Numbers, pairs_fast.Search]]:
        """The examples in order, in parts whose losses can be held at once."""
        if self.whole is not None:
            yield order, self.whole
            return
        most = int(np.diff(self.Y.indptr).max(initial=1))
        size = max(1, TABLE // (most * self.loss.n_classes))
        for begin in range(0, order.size, size):
            rows = order[begin : begin + size]
            yield rows, self._of(self.Y[rows].indices)

    @property
    def none(self) -> pairs_fast.Search:
        """No losses, for visits that need none."""
        return _search(pairs_fast.CONSTANT)

    def _of(self, labels: Any) -> pairs_fast.Search:
        used = np.unique(labels)
        place = np.full(self.loss.n_classes, -1, dtype=np.int64)
        place[used] = np.arange(used.size)
        return _search(pairs_fast.TABLE, table=self.loss.rows(used), place=place)


def _is_faster_in_a_table(taxonomy: Taxonomy, Y: sp.csr_array) -> bool:
    """Whether looking at all pairs of a label and a class takes less time than one pass.

    A pair takes 1 to 2 nanoseconds in a table, a node some 20 for each depth of leaves.
    """
    depths = np.unique(taxonomy.depth[taxonomy.leaf_numbers]).size
    return bool(Y.indices.size * Y.shape[1] < PASS * depths * len(taxonomy) * Y.shape[0])


def tree_search(taxonomy: Taxonomy, name: str) -> pairs_fast.Search:
    """The search by one pass over a tree, for the distance and its kin.

    Classes of one depth are a group: with n nodes above (and itself), and meeting at u,
    D(y, z) = m_y (n_y - n_u) + f_z (n_z - n_u); see `linnaeus.losses.pairwise`.
    """
    several = taxonomy.root_numbers.size > 1  # a virtual root is put first
    parent = taxonomy.tree.parent.astype(np.int64) + several
    parent = np.append(-1, parent) if several else parent
    above = np.concatenate([[0.0], taxonomy.depth + 1.0]) if several else taxonomy.depth + 1.0
    nodes = taxonomy.leaf_numbers + int(several)
    leaf = np.full(parent.size, -1, dtype=np.int32)
    leaf[nodes] = np.arange(nodes.size)
    n, group = np.unique(above[nodes], return_inverse=True)
    factor = {"distance": np.ones(n.size), "half_distance": np.full(n.size, 0.5)}
    factor["normalized"] = 0.5 / np.maximum(n - (not several), 1)
    m = factor[name]
    high, fall = (m * n)[:, None] + m * n, m[:, None] + m
    return _search(
        pairs_fast.TREE, parent=parent, leaf=leaf, group=group.astype(np.int32), above=above,
        high=high, fall=fall,
    )  # fmt: skip


def _search(kind: int, **arrays: Any) -> pairs_fast.Search:
    empty = {
        "parent": np.zeros(0, np.int64), "leaf": np.zeros(0, np.int32),
        "group": np.zeros(0, np.int32), "above": np.zeros(0), "high": np.zeros((0, 0)),
        "fall": np.zeros((0, 0)), "table": np.zeros((0, 0)), "place": np.zeros(0, np.int64),
    }  # fmt: skip
    return pairs_fast.Search(kind, **(empty | arrays))


class Setting(NamedTuple):
    """A problem, and how it belongs to what was given."""

    problem: fast.RankingProblem
    losses: Losses
    box: bool  # a slack for each pair
    live: Numbers  # the rows that are examples
    shape: tuple[int, int, int, int]  # rows and classes given, features, attributes
    scale: float  # features are divided by it
    dtype: Any


def setup(
    X: Any, Y: sp.csr_array, attributes: sp.csr_array, loss: ClassLoss, *, C: float = 1.0,
    slack: str = "example", rescale: str = "slack", precomputed: bool = False,
    taxonomy: Taxonomy | None = None, sample_weight: Any = None, dtype: Any = np.float64,
) -> Setting:  # fmt: skip
    """Check and arrange what `ranking_svm.solve` was given."""
    check_choice("slack", slack, ("example", "pair"))
    check_choice("rescale", rescale, ("slack", "margin"))
    n, q = Y.shape
    cost = C * example_weights(C, sample_weight, n)
    count = np.diff(Y.indptr)
    live = np.flatnonzero((count > 0) & (count < q) & (cost > 0))
    Y, cost = sp.csr_array(Y[live]), cost[live]
    data = np.diagonal(X) if precomputed else X.data
    largest = float(max(data.max(initial=0.0), -data.min(initial=0.0)))
    scale = examples.unit_scale(largest**0.5 if precomputed else largest, "A feature")
    if precomputed:
        K = X if live.size == n else X[np.ix_(live, live)]
        K = np.ascontiguousarray(K / scale**2 if scale != 1.0 else K, dtype=dtype)
        norm2 = np.maximum(np.diagonal(K), 0.0).astype(np.float64)
        rows = Rows(np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0, dtype))
    else:
        X = X if live.size == n else sp.csr_array(X[live])
        rows, K = Rows.of(X if scale == 1.0 else X / scale, dtype), np.zeros((0, 0), dtype)
        squares = sp.csr_array((np.square(rows.data, dtype=float), X.indices, X.indptr), X.shape)
        norm2 = np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
    L = sp.csr_array(attributes, dtype=np.float64)
    problem = fast.RankingProblem(
        *rows, K, norm2, scale**2 * cost, Y.indptr.astype(np.int64), Y.indices.astype(np.int32),
        pairs_fast.Attributes(L.indptr.astype(np.int64), L.indices.astype(np.int32), L.data),
        rescale == "margin",
    )  # fmt: skip
    box = slack == "pair"
    shape = (n, q, 0 if precomputed else X.shape[1], L.shape[1])
    return Setting(
        problem, Losses(loss, Y, taxonomy, box), box, live, shape, scale, np.dtype(dtype)
    )


def listed(lists: fast.Lists) -> tuple[Numbers, Numbers]:
    """The example and the slot of every pair listed."""
    row = np.repeat(np.arange(lists.size.size), lists.size)
    before = examples.starts(lists.size)[:-1]
    return row, np.arange(row.size) + np.repeat(lists.begin[:-1] - before, lists.size)


def begun(setting: Setting, start: sp.csr_array | None) -> sp.csr_array:
    """Multipliers of the examples to begin with: those of `start`, made feasible, or none.

    start : (n_rows, n_classes^2), as in `Ranking.pairs`, of all rows given
    """
    n, q = setting.problem.cost.size, setting.shape[1]
    if start is None:
        return sp.csr_array((n, q * q))
    if start.shape != (setting.shape[0], q * q):
        raise UserError(
            f"start has multipliers of the shape {start.shape}, this problem "
            f"{(setting.shape[0], q * q)}. Start from the same examples and classes."
        )
    A = sp.coo_array(start[setting.live])
    (row, code), a = A.coords, setting.scale**2 * A.data
    y, z = np.divmod(code.astype(np.int64), q)
    on = setting.losses.Y.astype(bool)
    kept = np.asarray(on[row, y]).ravel() & ~np.asarray(on[row, z]).ravel() & (a > 0)
    row, code, a = row[kept], code[kept], a[kept]
    used = a if setting.box else np.bincount(row, a, n)[row]
    a = a * np.minimum(1.0, setting.problem.cost[row] / used)
    return sp.csr_array((a, (row, code)), A.shape)


def filled_lists(setting: Setting, a: sp.csr_array) -> fast.Lists:
    """Lists that hold the multipliers a, (n, n_classes^2)."""
    problem, q = setting.problem, setting.shape[1]
    size, labels = np.diff(a.indptr).astype(np.int64), np.diff(problem.y_begin)
    begin = examples.starts(np.maximum(np.minimum(labels * (q - labels), ROOM), size))
    idle = np.zeros(size.size, bool), np.zeros(size.size, np.int64)
    y, z = (np.zeros(begin[-1], dtype=np.int32) for _ in range(2))
    lists = fast.Lists(begin, size, y, z, np.zeros(begin[-1]), np.zeros(begin[-1]), *idle)
    _, at = listed(lists)
    y[at], z[at] = np.divmod(a.indices, q)
    lists.loss[at], lists.a[at] = setting.losses.loss.pairs(y[at], z[at]), a.data
    return lists


def rounding(setting: Setting) -> Values:
    """For each example the gain of a step that is nothing but rounding."""
    problem, loss = setting.problem, setting.losses.loss
    squares = np.bincount(
        np.repeat(np.arange(setting.shape[1]), np.diff(problem.L.begin)),
        np.square(problem.L.value), setting.shape[1],
    )  # fmt: skip
    largest = float(loss.rows(np.unique(problem.y)[:1]).max(initial=1.0))
    reach = 1.0 if problem.margin else largest
    bend = 4.0 * float(squares.max(initial=0.0)) * reach**2 * problem.norm2
    floor: Values = 4 * np.finfo(np.float64).eps * (largest + problem.cost * bend)
    return floor


def violated(setting: Setting, W: Any) -> tuple[Numbers, Numbers, Numbers]:
    """All pairs with H > 0, (example, label, class), at the weights or scores of `fast`."""
    problem, (_, q, d, s) = setting.problem, setting.shape
    n, L = (
        problem.cost.size,
        sp.csr_array((problem.L.value, problem.L.node, problem.L.begin), (q, s)),
    )
    if problem.K.size:
        scores = W.T
    else:
        indices = problem.indices.view(np.int32)
        scores = sp.csr_array((problem.data, indices, problem.indptr), (n, d)) @ W
    F = np.asarray(L @ scores.T.astype(np.float64)).T
    row, y = np.repeat(np.arange(n), np.diff(problem.y_begin)), problem.y.astype(np.int64)
    loss, rival = setting.losses.loss.rows(y), F[row] - F[row, y][:, None]
    over = (loss + rival if problem.margin else 1.0 + rival) > 0.0
    is_label = np.zeros((n, q), dtype=bool)
    is_label[row, y] = True
    at, z = np.nonzero(over & ~is_label[row])
    return row[at], y[at], z


def make_room(lists: fast.Lists) -> fast.Lists:
    """Twice the room for the examples that want more."""
    wider: fast.Lists = examples.with_more_room(lists, ("y", "z", "loss", "a"))
    return wider


def make_work(setting: Setting, lists: fast.Lists) -> fast.RankingWork:
    """Scratch of the loops."""
    q, s = setting.shape[1], setting.shape[3]
    whole = setting.losses.whole
    size = (0, 0) if whole is None else (whole.parent.size, whole.high.shape[0])
    low, top = np.zeros(size), np.zeros(size)
    low_at, top_at = np.zeros(size, np.int32), np.zeros(size, np.int32)
    marks = np.zeros(q, bool), np.zeros(q, np.int64)
    found = pairs_fast.Found(np.zeros(q), *marks, low, low_at, top, top_at)
    room = int(np.diff(lists.begin).max(initial=1))
    step, u = _vector(s), _vector(s)
    return fast.RankingWork(np.zeros(s, setting.dtype), np.zeros(s), np.zeros(room), step, u, found)


def _vector(size: int) -> pairs_fast.Vector:
    at = np.zeros(size, np.uint32)
    return pairs_fast.Vector(np.zeros(size), np.zeros(size, bool), at, np.zeros(1, np.int64))
