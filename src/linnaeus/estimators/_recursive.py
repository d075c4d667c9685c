"""Recursive regularisation on trees, DAGs and graphs [GopalYang2015], whatever the loss.

    minimise  1/2 sum_edges c ||w_i - w_j||^2 + 1/2 sum_nodes g ||w||^2
              + C sum_{classes n} sum_i loss(y_in w_n.x_i)

Related classes are pulled towards each other through the nodes above them; a class with few
examples leans on its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, check_choice
from linnaeus.estimators import _targets
from linnaeus.estimators._base import check_positive
from linnaeus.estimators._linear import LinearClassifier, class_costs
from linnaeus.execution import executor
from linnaeus.solvers.numerics.examples import Joint, Solution
from linnaeus.solvers.recursive import alternation
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.structure import undirected_edges

FREE = 1e-6
CHOICES = {
    "loss": ("hinge", "squared_hinge"),
    "root": ("zero", "free", "pinned"),
    "schedule": ("two-block", "parity", "color", "jacobi"),
    "intercept_sharing": ("own", "parent"),
}


class Recursive(LinearClassifier):
    """What both losses share."""

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        root: str = "zero",
        ground: float | None = None,
        conductance: Mapping[tuple[Any, Any], float] | float | None = None,
        schedule: str = "two-block",
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        intercept_sharing: str = "parent",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 50,
        dtype: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.root = root
        self.ground = ground
        self.conductance = conductance
        self.schedule = schedule
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.intercept_sharing = intercept_sharing
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _adjusted(
        self, targets: _targets.Targets, Y: sp.csr_array
    ) -> tuple[_targets.Targets, sp.csr_array]:
        """In a graph of related labels without a hierarchy only nodes with examples are classes."""
        tax = targets.taxonomy
        if tax is None or tax.dag.parents.size or not tax.related_numbers.size:
            return targets, Y
        used = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
        return targets.restricted(used), Y[:, used]

    def _minimise(
        self, solve: Callable[..., Joint], X: sp.csr_array, Y: sp.csr_array, weight: Any,
        dtype: Any, seed: int, **options: Any,
    ) -> Solution:  # fmt: skip
        """Build the graph around the classes, and solve."""
        common = self._options(weight, dtype)
        self._check()
        structure, inner = build_structure(
            self.targets_, Y.shape[1], self.root, self.ground, self.conductance, self.schedule
        )
        result = solve(
            X, Y, structure, share_bias=self.intercept_sharing == "parent", schedule=self.schedule,
            class_weight=class_costs(self.class_weight, self.targets_, Y, weight), seed=seed,
            executor=executor(self.n_jobs), **common, **options,
        )  # fmt: skip
        self.inner_nodes_ = inner
        self.inner_coef_ = result.W_I[: len(inner), :-1]
        return result.solution

    def _check(self) -> None:
        for name, values in CHOICES.items():
            check_choice(name, getattr(self, name, values[0]), values)
        if self.ground is not None and not self.ground >= 0:
            raise UserError(f"ground is {self.ground!r}. It must be 0 or positive.")


def build_structure(
    targets: _targets.Targets, n_classes: int, root: str, ground: float | None,
    conductance: Mapping[tuple[Any, Any], float] | float | None, schedule: str,
) -> tuple[alternation.Structure, list[Any]]:  # fmt: skip
    """The grounded Laplacian around the classes, and the names of the other nodes.

    Two classes that are neighbours get a dummy node between them, with both halves as strong as
    the edge was. A class without any edge or ground is pulled towards zero.
    """
    tax = targets.taxonomy
    if tax is None:
        g = 1.0 + (ground or 0.0)
        eye = sp.csr_array(sp.eye_array(n_classes) * g)
        return alternation.Structure.of(eye, np.arange(n_classes), np.zeros(n_classes)), []
    leaves = np.asarray(targets.nodes)
    L = tax.laplacian(_by_edge(tax, conductance), ground, "free" if root == "pinned" else root)
    L = _with_dummies(L, undirected_edges(tax), leaves, ground or 0.0)
    color = np.zeros(L.shape[0], dtype=np.int32)
    if schedule in ("parity", "color"):
        color = _coloring(L, tax if schedule == "parity" else None)
    kept = np.arange(L.shape[0])
    if root == "pinned":  # edges to a root become edges to zero; a root that is a class stays
        pinned = np.setdiff1d(tax.root_numbers, leaves)
        kept = np.setdiff1d(kept, pinned)
    L = _grounded(L)
    place = np.full(L.shape[0], -1)
    place[kept] = np.arange(kept.size)
    structure = alternation.Structure.of(sp.csr_array(L[kept][:, kept]), place[leaves], color[kept])
    inner = np.setdiff1d(kept, leaves)
    return structure, [tax.nodes[v] for v in inner.tolist() if v < len(tax)]


def _by_edge(tax: Taxonomy, conductance: Any) -> Mapping[tuple[Any, Any], float] | None:
    """A number is for every edge from an inner node to another."""
    if not isinstance(conductance, Real):
        return conductance  # type: ignore[no-any-return]
    check_positive(conductance=float(conductance))
    leaves = set(tax.leaves)
    return {edge: float(conductance) for edge in tax.edges if edge[1] not in leaves}


def _grounded(L: sp.csr_array) -> sp.csr_array:
    """Nodes without any edge are pulled towards zero; other parts without a ground hardly.

    Such a part can be shifted as a whole at no cost, which leaves its dual without an interior.
    A pull of FREE at its first node gives it one, and raises the objective by at most
    FREE / 2 times the squared norm of that node's weights.
    """
    n, part = sp.csgraph.connected_components(L, directed=False)
    ground = np.bincount(part, np.asarray(L.sum(axis=1)).ravel(), n)
    first = np.unique(part, return_index=True)[1][ground <= 1e-9]
    pull = np.where(L.diagonal()[first] == 0, 1.0, FREE)
    return sp.csr_array(L + sp.csr_array((pull, (first, first)), shape=L.shape))


def _with_dummies(L: sp.csr_array, pairs: Any, leaves: Any, ground: float) -> sp.csr_array:
    """Put a node between every two leaves that are joined."""
    is_leaf = np.zeros(L.shape[0], dtype=bool)
    is_leaf[leaves] = True
    joined = pairs[is_leaf[pairs[:, 0]] & is_leaf[pairs[:, 1]]]
    if not joined.size:
        return L
    n, k = L.shape[0], len(joined)
    i, j, new = joined[:, 0], joined[:, 1], n + np.arange(k)
    c = -np.asarray(L[i, j]).ravel()
    rows = np.concatenate([i, j, i, new, j, new, new])
    columns = np.concatenate([j, i, new, i, new, j, new])
    values = np.concatenate([c, c, -c, -c, -c, -c, 2 * c + ground])
    wide = sp.csr_array(
        (L.data, L.indices, np.append(L.indptr, np.full(k, L.indptr[-1]))), (n + k,) * 2
    )
    out = sp.csr_array(wide + sp.csr_array((values, (rows, columns)), shape=(n + k,) * 2))
    out.eliminate_zeros()
    return out


def _coloring(L: sp.csr_array, tax: Taxonomy | None) -> Any:
    """Colours of which none holds two neighbours: parity of depth on a tree, else greedy."""
    if tax is not None and tax.is_tree and not tax.related_numbers.size:
        return np.asarray(tax.depth % 2)
    edges = sp.coo_array(sp.triu(L, 1))
    names = list(range(L.shape[0]))
    lone = [(None, v) for v in names]
    graph = Taxonomy.from_edges(
        lone, related=list(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    )
    return graph.coloring()
