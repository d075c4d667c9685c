"""Hierarchical Bayesian logistic regression: the model, and what all ways to infer it share.

    w_root ~ N(0, I),      w_n ~ N(w_parent, diag(prec_n)^-1),      prec of an owner ~ Gamma(a, b)

[GopalYang2015, (1)-(3)]. The owner of the precision above node n is its parent in M1 (one number)
and M2 (one number a feature), and n itself in M3 (one number). With q(w_n) of mean mu_n and
variances var_n, q(prec) = Gamma(tau, nu) and A_n = E[prec_n] = tau / nu (1 at the root),

    inner nodes   var_n = 1 / (A_n + sum_c A_c),    mu_n = var_n (A_n mu_parent + sum_c A_c mu_c)
    owners        tau = a + 1/2 #,    nu = b + 1/2 sum Q,    Q_n = var_n + var_p + (mu_n - mu_p)^2,

sums over children c, over the nodes below an owner, and in M1 and M3 over the features as well
(# counts these terms). These are the paper's (5)-(7), corrected; see docs/maths/hblr.md.

The best q(w_n) = N(mu_n, Psi_n) of a leaf n, while everything else is kept, is

    Psi_n^-1 = 2 X' diag(c lambda_n) X + diag(A_n),
    mu_n     = Psi_n (sum_i c_i (y_in - 1/2 + 2 lambda_in beta_i) x_i + A_n mu_parent)

for weights c of the examples [GopalYang2015, (5) and (6)]. Leaves do not meet: they are updated
side by side. `hblr_full` and `hblr_diagonal` do it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.execution import Executor, over_blocks

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

KINDS = ("M1", "M2", "M3")
CHUNK = 1 << 20  # numbers handled at once where sums over features are taken


class Level(NamedTuple):
    """The inner nodes of one depth, with their children."""

    nodes: Numbers
    children: Numbers
    sums: sp.csr_array  # (nodes, children): ones


class ClassTree(NamedTuple):
    """A tree with one root; leaves in the order of the classes."""

    parent: Numbers  # (n_nodes,), -1 for the root
    root: int
    leaves: Numbers  # (n_classes,)
    depth: Numbers
    levels: tuple[Level, ...]  # the root first

    @property
    def n_nodes(self) -> int:
        return int(self.parent.size)


class Order(NamedTuple):
    """Nodes in the order of the loops: parents first, leaves last."""

    nodes: Numbers  # (n_nodes,) node at each place
    parent: Numbers  # (n_nodes,) place of the parent, -1 for the root

    @classmethod
    def of(cls, tree: ClassTree) -> Order:
        is_leaf = np.zeros(tree.n_nodes, dtype=bool)
        is_leaf[tree.leaves] = True
        inner = np.flatnonzero(~is_leaf)
        nodes = np.concatenate([inner[np.argsort(tree.depth[inner], kind="stable")], tree.leaves])
        place = np.empty(tree.n_nodes, dtype=np.int64)
        place[nodes] = np.arange(tree.n_nodes)
        above = tree.parent[nodes]
        return cls(nodes, np.where(above < 0, -1, place[above]))


def tree_of(parent: Any, leaves: Any) -> ClassTree:
    """The tree in which node n hangs below parent[n], the root below -1."""
    parent, leaves = np.asarray(parent, dtype=np.int64), np.asarray(leaves, dtype=np.int64)
    roots = np.flatnonzero(parent < 0)
    if roots.size != 1:
        raise UserError(f"The tree has {roots.size} roots. Put one node above them.")
    depth, nodes = np.zeros(parent.size, dtype=np.int64), roots
    levels: list[Level] = []
    while True:
        below = np.flatnonzero(np.isin(parent, nodes))
        inner = nodes[np.isin(nodes, parent[below])]
        if not below.size:
            return ClassTree(parent, int(roots[0]), leaves, depth, tuple(levels))
        depth[below] = len(levels) + 1
        row = np.searchsorted(inner, parent[below])
        ones = np.ones(below.size)
        sums = sp.csr_array((ones, (row, np.arange(below.size))), (inner.size, below.size))
        levels.append(Level(inner, below, sums))
        nodes = below


class HBLRModel(NamedTuple):
    """Who owns which precision."""

    kind: str
    tree: ClassTree
    owners: Numbers  # (n_owners,) nodes, in order
    owner: Numbers  # (n_nodes,) place in `owners` of the precision above a node; -1 for the root

    @property
    def by_feature(self) -> bool:
        """Whether an owner has one precision for every feature."""
        return self.kind == "M2"

    def per_owner(self, values: Any) -> Values:
        """Sums (n_owners, ...) of values (n_nodes, ...) over the nodes of every owner."""
        out = np.zeros((self.owners.size, *values.shape[1:]))
        has = np.flatnonzero(self.owner >= 0)
        np.add.at(out, self.owner[has], values[has])
        return out


def model_of(tree: ClassTree, kind: str) -> HBLRModel:
    """The model M1, M2 or M3 on a tree."""
    if kind not in KINDS:
        raise UserError(f"model={kind!r} is not known. Use 'M1', 'M2' or 'M3'.")
    everyone = np.arange(tree.n_nodes)
    above = everyone if kind == "M3" else tree.parent
    below = everyone != tree.root
    owners = np.unique(above[below])
    owner = np.where(below, np.searchsorted(owners, above), -1)
    return HBLRModel(kind, tree, owners, owner)


class Gamma(NamedTuple):
    """Gamma distributions of the precisions: shapes (n_owners, 1) and rates (n_owners, 1 or d)."""

    shape: Values
    rate: Values

    @property
    def mean(self) -> Values:
        return np.asarray(self.shape / self.rate)


class Posterior(NamedTuple):
    """What is known of the weights and their precisions after the data."""

    mu: npt.NDArray[np.floating[Any]]  # (n_nodes, d)
    variance: npt.NDArray[np.floating[Any]]  # (n_nodes, d)
    covariance: Values | None  # (n_classes, d, d) of the leaves, where it was asked for
    precisions: Gamma
    objective: float  # the bound of the evidence, or what partial MAP maximises
    trace: list[dict[str, float]]  # seconds, objective, change: the relative rise
    n_iter: int
    converged: bool
    bounds: list[float]  # the objective before the first round, and after each


class Start(NamedTuple):
    """Where inference begins: an earlier posterior, moved to this model (`hblr_prior`)."""

    mu: npt.NDArray[np.floating[Any]]  # (n_nodes, d)
    variance: npt.NDArray[np.floating[Any]]  # (n_nodes, d)
    covariance: Values | None  # (n_classes, d, d)
    mean: Values  # (n_owners, 1 or d), expected precisions

    def gammas(self, prior: Gamma) -> Gamma:
        """Distributions of the precisions with these means."""
        mean = np.broadcast_to(self.mean, np.broadcast_shapes(self.mean.shape, prior.rate.shape))
        return Gamma(prior.shape, np.asarray(prior.shape / mean))


def expected_precisions(model: HBLRModel, q: Gamma) -> Values:
    """A (n_nodes, 1 or d), 1 at the root."""
    A = q.mean[model.owner]
    A[model.tree.root] = 1.0
    return A


def update_inner(tree: ClassTree, A: Values, mu: Any, variance: Any, level: Level) -> None:
    """Make the means and variances of the inner nodes of one level the best, in place."""
    nodes, children = level.nodes, level.children
    above = tree.parent[nodes]
    spread = 1.0 / (A[nodes] + level.sums @ A[children])
    pull = level.sums @ (A[children] * mu[children])
    if above[0] >= 0:
        pull += A[nodes] * mu[above]
    mu[nodes] = spread * pull
    variance[nodes] = spread


def steps(tree: ClassTree, schedule: str) -> list[Numbers | Level]:
    """Blocks of nodes in the order of their updates: positions of leaves, or inner nodes.

    schedule : "parity", nodes of odd depth and then of even depth; else leaves, and inner nodes
        level by level from the lowest
    """
    if schedule != "parity":
        return [np.arange(tree.leaves.size), *reversed(tree.levels)]
    found: list[Numbers | Level] = []
    for parity in (1, 0):
        found.append(np.flatnonzero(tree.depth[tree.leaves] % 2 == parity))
        found += [level for depth, level in enumerate(tree.levels) if depth % 2 == parity]
    return found


def update_precisions(model: HBLRModel, prior: Gamma, mu: Any, variance: Any) -> Gamma:
    """The best q(prec), given the means and variances (n_nodes, d) of all nodes."""
    squares = model.per_owner(squares_along_edges(model, mu, variance))
    return from_squares(model, prior, squares, mu.shape[1])


def from_squares(model: HBLRModel, prior: Gamma, squares: Values, d: int) -> Gamma:
    """The same, given the sums of Q of every owner, (n_owners, 1 or d)."""
    count = model.per_owner(np.ones((model.tree.n_nodes, 1)))
    if not model.by_feature:
        count *= d
    return Gamma(prior.shape + 0.5 * count, prior.rate + 0.5 * squares)


def squares_along_edges(model: HBLRModel, mu: Any, variance: Any) -> Values:
    """Q (n_nodes, d), or their sums over the features (n_nodes, 1); 0 at the root."""
    n, d = mu.shape
    parent, has = model.tree.parent, model.tree.parent >= 0
    out = np.zeros((n, d if model.by_feature else 1))
    step = max(1, CHUNK // n)
    for j in range(0, d, step):
        m, v = (values[:, j : j + step].astype(np.float64) for values in (mu, variance))
        Q = v + v[parent] + (m - m[parent]) ** 2
        if model.by_feature:
            out[has, j : j + step] = Q[has]
        else:
            out[has, 0] += Q[has].sum(axis=1)
    return out


def unseen_precisions(model: HBLRModel, q: Gamma, prior: Gamma, unseen: Numbers) -> Values:
    """Expected precisions (n_owners, 1 or n_unseen) of features that no example has.

    Such a feature says nothing about any precision. M1 and M3 take what the others say; in M2 it
    is as the prior has it or, where that came from the data, the mean of the others.
    """
    if not model.by_feature:
        return q.mean
    if prior.mean.shape[1] > unseen.max(initial=-1):
        return np.asarray(prior.mean[:, unseen])
    return np.asarray(prior.mean.mean(axis=1, keepdims=True))


def unseen_variances(model: HBLRModel, precisions: Values) -> Values:
    """Variances (n_nodes, 1 or n_unseen) of their weights: 1 at the root, 1 / A more a step down.

    Their means are 0.
    """
    tree, out = model.tree, np.ones((model.tree.n_nodes, precisions.shape[1]))
    for level in tree.levels:
        below = level.children
        out[below] = out[tree.parent[below]] + 1.0 / precisions[model.owner[below]]
    return out


# -- leaves ---------------------------------------------------------------------------------------


ROWS = 512  # examples at once
LEAVES = 32  # leaves at once


class Given(NamedTuple):
    """What is kept while some leaves are updated, and their old means."""

    curvature: Values  # (n, k): c_i lambda_in
    beta: Values  # (n,)
    base: Values  # (k, d): sum_i c_i (y_in - 1/2) x_i
    A: Values  # (k, 1 or d)
    above: Values  # (k, d): means of the parents
    mean: Values  # (k, d)


class Leaves(NamedTuple):
    """q(w) of some leaves."""

    mean: Values  # (k, d)
    variance: Values  # (k, d)
    log_det: Values  # (k,): log|Psi|
    covariance: Values | None = None  # (k, d, d)


def row_blocks(n: int) -> list[slice]:
    """Examples in blocks."""
    return [slice(a, min(a + ROWS, n)) for a in range(0, n, ROWS)]


def side_by_side(
    executor: Executor | None,
    function: Callable[..., tuple[Any, ...]],
    arrays: Sequence[Any],
    k: int,
) -> list[Any]:
    """What the function makes of blocks of k leaves, each of its results put together."""
    blocks = [slice(a, min(a + LEAVES, k)) for a in range(0, k, LEAVES)]
    parts = over_blocks(function, arrays, blocks, executor)
    return [np.concatenate(part) for part in zip(*parts, strict=True)]
