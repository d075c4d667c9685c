"""The forest of H-M3 as arrays: its losses by code, the columns of nu, labelings as points.

A labeling has the coordinates t(y) in the columns in which nu is kept (`hm3_fast`): its nodes, and
"both on" of its edges. Scores of labelings are linear in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.inference.maxsum import Forest, max_sum_except
from linnaeus.inference.maxsum_fast import best_rows
from linnaeus.losses import Edges, edge_losses, markov_edges
from linnaeus.solvers.markov import hm3_fast as fast
from linnaeus.solvers.markov.hm3_interior import Labelings, Machine
from linnaeus.solvers.markov.hm3_rows import edge_codes
from linnaeus.taxonomy import Taxonomy

Values = npt.NDArray[np.float64]


def build(taxonomy: Taxonomy, loss: str, root_edges: str, consistent: bool) -> fast.ForestModel:
    """The forest, its losses by true code, and the columns in which nu is kept."""
    edges = markov_edges(taxonomy.tree, root_edges)
    forest = Forest.of(edges)
    own = (edges.parent < 0) | consistent  # "both on" is the child's own column
    column = np.where(own, edges.child, len(taxonomy) + np.cumsum(~own) - 1).astype(np.int32)
    is_open = np.isin(forest.root, edges.child, invert=True)
    parents, first = np.unique(edges.parent, return_index=True)
    opening = first[np.searchsorted(parents, forest.root[is_open])].astype(np.int32)
    table = _losses_by_code(taxonomy, loss, root_edges)
    return fast.ForestModel(
        forest.above, forest.below, forest.root, column, opening, table, consistent
    )


def _losses_by_code(taxonomy: Taxonomy, loss: str, root_edges: str) -> Values:
    """l_e(t, u), (n_edges, 4, 4): from four labelings, in which every edge meets every code."""
    edges = markov_edges(taxonomy.tree, root_edges)
    odd = taxonomy.depth % 2 == 1
    Y = np.array([np.zeros_like(odd), np.ones_like(odd), odd, ~odd]).astype(np.int8)
    tables = edge_losses(taxonomy, sp.csr_array(Y), loss, root_edges)
    out = np.zeros((edges.child.size, 4, 4))
    for code, table in zip(edge_codes(Y, edges), tables, strict=True):
        out[np.arange(code.size), code] = table
    return out


def width_of(model: fast.ForestModel, n_nodes: int) -> int:
    """How many coordinates a labeling has."""
    return max(n_nodes, int(model.column.max(initial=-1)) + 1)


def spread(model: fast.ForestModel, n_nodes: int) -> Values:
    """What t(y) is in the blocks of edges and codes: (width, 4 n_edges)."""
    width = width_of(model, n_nodes)
    blocks = np.empty((width, model.below.size, 4))
    fast.expand(model.above, model.below, model.column, np.eye(width), blocks)
    return blocks.reshape(width, -1)


def machine_of(
    model: fast.ForestModel, X: Values, Y: Any, cost: Values, others: bool = False
) -> Machine:
    """The model of `hm3`: t(y) has the columns of nu, the nodes and "both on" of the edges.

    others : whether the true labeling is no competitor
    """
    truth, edges = _labelings(model, Y, Y), Edges(model.above, model.below)
    flat = spread(model, Y.shape[1])

    def search(scores: Values) -> Labelings:
        H, on = _edge_scores(model, Y, scores), np.zeros(Y.shape, np.int8)
        if others:
            mode = "consistent" if model.consistent else "all"
            return _labelings(model, Y, max_sum_except(edges, H, Y, mode).labels)
        up, value = np.empty((Y.shape[1], 2)), np.empty(len(Y))
        best_rows(model.above, model.below, model.root, H, model.consistent, up, on, value)
        return _labelings(model, Y, on)

    first = search(np.zeros_like(truth.t)) if others else truth
    root = np.asarray(np.linalg.cholesky(flat @ flat.T), dtype=np.float64)
    return Machine(X, cost, truth.t, root, first, search)


def _codes(model: fast.ForestModel, Y: Any) -> npt.NDArray[np.int8]:
    return edge_codes(Y, Edges(model.above, model.below))


def _labelings(model: fast.ForestModel, Y: Any, on: Any) -> Labelings:
    """Their columns, and what they lose where the truth is Y."""
    codes, k = _codes(model, on), on.shape[1]
    t = np.zeros((len(on), width_of(model, k)))
    t[:, model.column] = codes == 3
    t[:, :k] = on
    loss = model.loss[np.arange(model.below.size), _codes(model, Y), codes].sum(axis=1)
    return Labelings(t, loss)


def _edge_scores(model: fast.ForestModel, Y: Any, scores: Values) -> Values:
    """Losses and scores by edge and code: a node's own score is on the edge above it."""
    n_edges, own = model.below.size, model.column == model.below
    H: Values = model.loss[np.arange(n_edges), _codes(model, Y)]  # a copy
    H[:, :, 1::2] += scores[:, model.below, None]
    H[:, :, 3] += np.where(own, 0.0, scores[:, model.column])
    H[:, model.opening, 2:] += scores[:, model.above[model.opening], None]
    return H
