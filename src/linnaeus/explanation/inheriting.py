"""Models in which the weights of a node are drawn towards those of its parents.

    w_v = sum_p P_vp w_p + d_v  =  sum_u a_vu d_u,      rows of P sum to 1 (0 for roots)

P_vp is the part of the parent p: 1 in a tree, by the conductances in a DAG. Unrolling the first
equation gives the shares a_vu of all ancestors u in the weights of v.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.estimators.corrmnl import CorrelatedMNL, rooted
from linnaeus.estimators.hblr import HBLR
from linnaeus.explanation.own import flat
from linnaeus.explanation.weights import TOP, Additive, Inputs, Shares, Table, entries
from linnaeus.taxonomy import Taxonomy

CORRELATED = "the score is the logarithm of a mean of probabilities over draws of the weights"


def recursive(estimator: Any) -> Additive:
    """The weights of RecursiveSVM and RecursiveLogistic; intercepts are a class's own."""
    grown = estimator.targets_.taxonomy
    if grown is None:
        return flat(estimator)
    place = np.full(len(grown), -1)
    n_inner, leaves = len(estimator.inner_nodes_), estimator.targets_.nodes
    place[grown.numbers(estimator.inner_nodes_)] = np.arange(n_inner)
    place[leaves] = n_inner + np.arange(len(leaves))
    offsets = np.concatenate([np.zeros(n_inner), estimator.intercept_])
    return _inheriting(
        estimator, _parents(grown, estimator.conductance), place,
        Table((estimator.inner_coef_, estimator.coef_), offsets), grown.nodes,
    )  # fmt: skip


def _parents(taxonomy: Taxonomy, conductance: Any) -> sp.csr_array:
    """The part of each parent in what a node inherits: rows sum to 1, or 0 for roots."""
    dag = taxonomy.dag
    strength = np.ones(dag.parents.size)
    if isinstance(conductance, Mapping):
        child = np.repeat(np.arange(len(taxonomy)), np.diff(dag.parent_ptr))
        pairs = zip(
            taxonomy.names(dag.parents.tolist()), taxonomy.names(child.tolist()), strict=True
        )
        strength = np.array([float(conductance.get(pair, 1.0)) for pair in pairs])
    shape = (len(taxonomy), len(taxonomy))
    P = sp.csr_array((strength, dag.parents.copy(), dag.parent_ptr.copy()), shape=shape)
    total = np.asarray(P.sum(axis=1)).ravel()
    P.data /= np.repeat(np.where(total > 0, total, 1.0), np.diff(P.indptr))
    return P


def bayesian(estimator: HBLR) -> Additive:
    """The means of the weights of HBLR."""
    if estimator.targets_.binary:
        return flat(estimator)
    layout, mu = estimator.layout_, estimator.posterior_.mu
    bias = float(estimator.intercept_scaling) if estimator.fit_intercept else 0.0
    W, offsets = (mu[:, :-1], bias * mu[:, -1]) if bias else (mu, np.zeros(len(mu)))
    W = estimator._all_features(W, estimator.n_features_in_)
    return _inheriting(
        estimator, _one_parent(layout.parent), np.arange(layout.parent.size), Table((W,), offsets),
        layout.names, layout.leaves,
    )  # fmt: skip


def _one_parent(parent: np.ndarray) -> sp.csr_array:
    child = np.flatnonzero(parent >= 0)
    shape = (parent.size, parent.size)
    return sp.csr_array((np.ones(child.size), (child, parent[child])), shape=shape)


def correlated(estimator: CorrelatedMNL) -> Additive:
    """The means of the weights of CorrelatedMNL, of inner nodes as they are expected to be."""
    grown = estimator.targets_.taxonomy
    if grown is None:
        return flat(estimator, CORRELATED)
    parent, leaves = rooted(grown).parent, estimator.targets_.nodes
    names = [*grown.nodes, None][: parent.size]
    inner = np.setdiff1d(np.flatnonzero(parent >= 0), leaves)
    given = np.column_stack([estimator.coef_, estimator.intercept_])
    W = _expected(parent, leaves, inner, estimator.precision_, names, given)
    place = np.full(parent.size, -1)  # the root has no weights
    place[inner], place[leaves] = np.arange(inner.size), inner.size + np.arange(len(leaves))
    offsets = np.concatenate([W[:, -1], estimator.intercept_])
    table = Table((W[:, :-1], estimator.coef_), offsets)
    return _inheriting(estimator, _one_parent(parent), place, table, names, note=CORRELATED)


def _expected(
    parent: np.ndarray, leaves: np.ndarray, inner: np.ndarray, precision: Mapping[Any, float],
    names: Sequence[Any], given: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Weights of inner nodes given those of the leaves: least sum alpha_p |w_v - w_p|^2."""
    child = np.flatnonzero(parent >= 0)
    alpha = np.array([precision[names[p]] for p in parent[child].tolist()])
    n = parent.size
    L = sp.csr_array((-alpha, (child, parent[child])), shape=(n, n))
    L = L + L.T
    L = sp.csr_array(L - sp.diags_array(np.asarray(L.sum(axis=1)).ravel()))
    if not inner.size:
        return np.zeros((0, given.shape[1]))
    pulls = L[inner][:, leaves] @ given
    return np.asarray(np.linalg.solve(L[inner][:, inner].toarray(), -pulls))


def _inheriting(
    estimator: Any, P: sp.csr_array, place: np.ndarray, table: Table, nodes: Sequence[Any],
    class_rows: Any = None, note: str = "",
) -> Additive:  # fmt: skip
    """Every node has what its parents have, in the parts P, and something of its own.

    place : the row of the table of every node; -1 for a node whose weights are zero
    nodes : their names; None for a root that the taxonomy lacks
    class_rows : the nodes of the classes, where the model numbers nodes in its own way
    """
    targets = estimator.targets_
    misc = {} if targets.taxonomy is None else targets.taxonomy.misc
    names = [TOP if name is None else misc.get(name, name) for name in nodes]
    numbers = np.asarray(targets.nodes if class_rows is None else class_rows)
    classes = {name: [v] for name, v in zip(targets.names, numbers.tolist(), strict=True)}
    others = np.setdiff1d(np.flatnonzero(place >= 0), numbers)
    inner = {names[v]: [v] for v in others.tolist() if nodes[v] is not None}
    return Additive(
        Inputs(), table, names, classes, inner, _own_parts(P, place, table.offsets.size),
        _heirs(P, place), note=note,
    )  # fmt: skip


def _own_parts(P: sp.csr_array, place: np.ndarray, n_rows: int) -> sp.csr_array:
    """M: weights of a node less those of its parents, of rows of the table."""
    here = np.flatnonzero(place >= 0)
    at = sp.csr_array((np.ones(here.size), (here, place[here])), shape=(place.size, n_rows))
    return sp.csr_array(at - P @ at)


def _heirs(P: sp.csr_array, place: np.ndarray) -> Shares:
    """The shares of the ancestors of a node in its weights, itself first."""

    def shares(v: int) -> tuple[np.ndarray, np.ndarray]:
        found: dict[int, float] = {v: 1.0}
        waiting, sources = [-v], []
        while waiting:  # children before parents, where a node may have several
            u = -heapq.heappop(waiting)
            sources.append(u)
            for p, part in zip(*entries(P, u), strict=True):
                if p not in found:
                    found[p] = 0.0
                    heapq.heappush(waiting, -p)
                found[p] += part * found[u]
        kept = [u for u in sources if place[u] >= 0]
        return np.array(kept), np.array([found[u] for u in kept])

    return shares
