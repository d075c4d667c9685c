"""Recursive regularisation on trees, DAGs and graphs [GopalYang2015], whatever the loss.

    minimise  1/2 sum_edges c ||w_i - w_j||^2 + 1/2 sum_nodes g ||w||^2
              + C sum_{classes n} sum_i loss(y_in w_n.x_i)

Related classes are pulled towards each other through the nodes above them; a class with few
examples leans on its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.estimators import _targets
from linnaeus.estimators._continued import (
    Continued,
    column_names,
    in_units,
    past_duals,
    rows_learned,
    rows_of,
    whole,
    with_columns,
)
from linnaeus.estimators._linear import class_costs
from linnaeus.execution import executor
from linnaeus.execution.memory import size_of
from linnaeus.parameters import MAPPING, NONE, NOT_NEGATIVE, POSITIVE, Limits, choice
from linnaeus.solvers.numerics.examples import Joint, Solution
from linnaeus.solvers.numerics.products import is_listed
from linnaeus.solvers.recursive import alternation
from linnaeus.solvers.recursive.rr_parts import PathWeights
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.structure import undirected_edges

FREE = 1e-6
PARTS = ("own_coef_", "common_coef_", "links_", "inner_paths_")  # of `PathWeights`
WHOLE = 1 << 31  # bytes of whole weights that a model kept in parts makes when asked


class TooLarge(UserError, AttributeError):
    """Weights that are not made: for `hasattr` they are not there."""


class Recursive(Continued):
    """What both losses share."""

    leaves_out_empty = True
    kept = "intercept_"

    limits = Limits(
        root=choice("zero", "free", "pinned"),
        ground=NOT_NEGATIVE | NONE,
        conductance=POSITIVE | MAPPING | NONE,
        schedule=choice("two-block", "parity", "color", "jacobi"),
        intercept_sharing=choice("own", "parent"),
    )

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
        warm_start: bool = False,
        tol: float = 1e-3,
        max_iter: int = 50,
        dtype: Any = None,
        n_jobs: int | None = None,
        backend: str | None = None,
        checkpoint: str | Path | None = None,
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
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.backend = backend
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _solver(self) -> Callable[..., Joint]:
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    def _start(self, past: Any, names: Any, n: int) -> Any:
        """What the solver may start from: what was found for these classes and n rows."""
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    def _values(
        self, X: sp.csr_array, Y: sp.csr_array, structure: alternation.Structure, W_T: Any,
        W_I: Any, n_seen: Any, options: dict[str, Any],
    ) -> tuple[float, float]:  # fmt: skip
        """A primal and a dual value of any weights, with the constant feature last.

        n_seen : how many rows each class has learned from
        """
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int, past: Any = None
    ) -> Solution:
        """Build the graph around the classes, and solve."""
        options = self._solving(Y, weight, dtype, seed)
        structure, inner = self._structure(Y)
        names = column_names(self.targets_, Y.shape[1])
        start = self._start(past, names, Y.shape[0])
        if start is not None and "coef_" in vars(past):
            at = rows_of(names, column_names(past.targets_, past.intercept_.size))
            options["start_inner"] = self._placed(past, at, structure, inner, options)[-1]
        result = self._solver()(X, Y, structure, start=start, **options)
        if isinstance(result.solution.coef, PathWeights):
            self._keep_parts(inner, result)
        else:
            W_I = result.W_I
            self._keep_found(inner, W_I[:, :-1], self._bias() * W_I[:, -1], result.duals)
        return result.solution

    def _solving(self, Y: sp.csr_array, weight: Any, dtype: Any, seed: int) -> dict[str, Any]:
        """What solvers are told."""
        common = self._options(weight, dtype)
        return common | {
            "share_bias": self.intercept_sharing == "parent", "schedule": self.schedule,
            "class_weight": class_costs(self.class_weight, self.targets_, Y, weight),
            "seed": seed, "executor": executor(self.n_jobs),
        }  # fmt: skip

    def _structure(self, Y: sp.csr_array) -> tuple[alternation.Structure, list[Any]]:
        return build_structure(
            self.targets_, Y.shape[1], self.root, self.ground, self.conductance, self.schedule
        )

    def _keep_found(self, inner: list[Any], coef: Any, intercept: Any, duals: Any) -> None:
        self.inner_nodes_ = inner
        self.inner_coef_, self.inner_intercept_ = coef[: len(inner)], intercept[: len(inner)]
        if duals is not None:
            self.duals_ = in_units(duals, self.C)

    def _keep_parts(self, inner: list[Any], result: Joint) -> None:
        """What is found where whole weights would be too many."""
        W = result.solution.coef
        for name, part in zip(PARTS, W, strict=True):
            setattr(self, name, part)
        self.inner_nodes_ = inner
        self.inner_intercept_ = self._bias() * result.W_I[: len(inner)]
        self.duals_ = in_units(result.duals, self.C)

    def _store(self, solution: Any) -> None:
        super()._store(solution)
        in_parts = isinstance(solution.coef, PathWeights)
        for name in ("coef_", "inner_coef_", "paths_") if in_parts else (*PARTS, "paths_"):
            self.__dict__.pop(name, None)

    def _path_weights(self) -> PathWeights | None:
        """The parts of the weights, where these are kept in parts."""
        if "own_coef_" not in vars(self):
            return None
        own, common = self.own_coef_, self.common_coef_
        if "paths_" in vars(self):  # a file of an earlier version
            return PathWeights(
                own, common, self.paths_, sp.csr_array(sp.eye_array(common.shape[0]))
            )
        return PathWeights(own, common, self.links_, self.inner_paths_)

    def __getattr__(self, name: str) -> Any:
        """Whole weights of a model that keeps parts: made when asked for, if they are not many."""
        made = ("coef_", "inner_coef_", "paths_")
        if name not in made or "own_coef_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        parts, inner = self._path_weights(), name == "inner_coef_"
        assert parts is not None
        if name == "paths_":
            return parts.paths()
        parts = parts._replace(inner_paths=self.inner_paths_) if inner else parts
        size, room = parts.row_bytes(inner), size_of(self.memory) or WHOLE
        if size > room:
            raise TooLarge(
                f"{name} would take about {size / 2**30:,.1f} GB, so this {type(self).__name__} "
                "keeps its weights in parts. Use own_coef_ + paths_ @ common_coef_ for the rows "
                "that you need."
            )
        every = slice(None)
        return parts.inner_rows(slice(len(self.inner_nodes_))) if inner else parts.rows(every)

    def _listed(self) -> list[Any]:
        parts = self._path_weights()
        return super()._listed() if parts is None else [*filter(is_listed, parts[:2])]

    def _score_blocks(self, X: Any) -> Iterator[np.ndarray]:
        parts = self._path_weights()
        if parts is None:
            return super()._score_blocks(X)
        X = self._checked(X)
        blocks = self._row_blocks(X.shape[0])
        return (parts.scores(X[rows], self.intercept_, self.n_jobs) for rows in blocks)

    def sparsify(self) -> Self:
        """Store `coef_` as a sparse matrix; predictions stay the same.

        Returns
        -------
        Self
            The same object.
        """
        return self if self._path_weights() is not None else super().sparsify()

    def _solve_some(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, seed: int, past: Any, held: Any
    ) -> Solution:
        """Solve for some classes and all new nodes, beside the weights of all others."""
        if "own_coef_" in vars(past):
            raise UserError(
                "only cannot be used: the weights of this model are kept in parts, and all classes "
                "are trained together. Leave it out."
            )
        options = self._solving(Y, weight, past.coef_.dtype, seed)
        structure, inner = self._structure(Y)
        coef, intercept = past.coef_[held], past.intercept_[held]
        coef_I, intercept_I, free_I, W_T, W_I = self._placed(past, held, structure, inner, options)
        free = np.flatnonzero(held < 0)
        found = self._free_part(X, Y, structure, W_T, (free, free_I), past, options)
        coef[free], intercept[free] = found.solution.coef, found.solution.intercept
        W_I[free_I] += found.W_I
        coef_I[free_I], intercept_I[free_I] = W_I[free_I, :-1], self._bias() * W_I[free_I, -1]
        duals = past_duals(past, self.targets_.names, Y.shape[0], self.C)
        if found.duals is not None:
            duals = with_columns(duals, free, found.duals)
        self._keep_found(inner, coef_I, intercept_I, duals)
        W_T = self._wide(coef, intercept)
        W_I = self._wide(coef_I, intercept_I)
        n_seen = rows_learned(past, held, Y.shape[0])
        P, D = self._values(X, Y, structure, W_T, W_I, n_seen, options)
        trace = [*found.solution.trace, whole(P, min(P, D), found.solution.trace)]
        low = np.array([min(P, D)])
        return Solution(coef, intercept, np.array([P]), low, found.solution.n_iter, trace)

    def _placed(
        self, past: Any, held: Any, structure: alternation.Structure, inner: list[Any],
        options: dict[str, Any],
    ) -> tuple[Any, ...]:  # fmt: skip
        """Weights of old with new ones where they cost least beside them.

        Returns weights and intercepts of inner nodes, which of them are new, and those of classes
        and inner nodes with the constant feature last.
        """
        nodes = rows_of(inner, past.inner_nodes_)
        nodes = np.append(nodes, np.full(structure.L_II.shape[0] - nodes.size, -1))
        none = np.zeros((1, past.coef_.shape[1]), past.coef_.dtype)  # of nodes that are new
        coef_I = np.vstack([past.inner_coef_, none])[nodes]
        intercept_I = np.append(past.inner_intercept_, 0.0)[nodes]
        W_T = self._wide(past.coef_[held], past.intercept_[held])
        W_I = self._wide(coef_I, intercept_I)
        free, free_I = np.flatnonzero(held < 0), np.flatnonzero(nodes < 0)
        alternation.beside_held(structure, W_T, W_I, free, free_I)
        if not options["share_bias"]:
            W_T[free, -1] = W_I[free_I, -1] = 0.0
        return coef_I, intercept_I, free_I, W_T, W_I

    def _free_part(
        self, X: sp.csr_array, Y: sp.csr_array, structure: alternation.Structure, W_T: Any,
        free: tuple[Any, Any], past: Any, options: dict[str, Any],
    ) -> Joint:  # fmt: skip
        """The solution for some classes and nodes, from where W_T has them."""
        leaves, weights = free[0], options["class_weight"]
        if not leaves.size:
            nothing = np.zeros((0, W_T.shape[1]), W_T.dtype)
            none = Solution(nothing[:, :-1], nothing[:, -1], np.zeros(1), np.zeros(1), 0, [])
            return Joint(none, np.zeros((free[1].size, W_T.shape[1])))
        names = [self.targets_.names[j] for j in leaves.tolist()]
        options = options | {"class_weight": None if weights is None else weights[:, leaves]}
        return self._solver()(
            X, sp.csr_array(Y[:, leaves]), structure.without(*free), origin=W_T[leaves],
            start=self._start(past, names, Y.shape[0]), **options,
        )  # fmt: skip

    def _wide(self, coef: Any, intercept: Any) -> Any:
        """Weights with that of the constant feature last, (rows, d + 1)."""
        bias = self._bias()
        return np.hstack([coef, (intercept / bias if bias else 0 * intercept)[:, None]])


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
