"""The best labelling of a graph or hypergraph whose nodes are on or off.

    maximise_y  sum_e s[e, y_e]

where y_e are the labels of the members of hyperedge e as a number, the first member the highest
bit: a pair (a, b) has the codes 0 (both off), 1 (b on), 2 (a on), 3. Scores of one example are
one row: the 2^|e| entries of every hyperedge in turn. [Rousu2007] section 1.4,
docs/maths/graph_m3.md.

- ``junction``: exact, by max-sum on a junction tree; cost exponential in the treewidth.
- ``loopy``: max-product along all edges in turn, damped by one half, decoded after each sweep.
- ``trp``: tree reparametrisation, over random spanning trees, decoded on each tree.
- ``enumerate``: all labellings, for tiny graphs.

The two in the middle keep the best labelling that they decoded: never above the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.inference import graphs_fast
from linnaeus.inference.graphs_fast import Cliques, Net, Schedule, SearchWork
from linnaeus.inference.junction import junction_tree, spanning_trees

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int8]
METHODS = ("junction", "loopy", "trp", "enumerate")
SWEEPS = 100  # of messages at most
ORDERS = 10  # in which edges are taken, in turn: trees first, to decode along them
TREES = 40
MAX_MEMBERS = 20
MAX_ENUMERATED = 20
_NONE = np.zeros(0, dtype=np.int64)
NO_CLIQUES = Cliques(_NONE, _NONE, np.zeros(1, np.int64), *[_NONE] * 6)
NO_SCHEDULE = Schedule(np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64))


class Graph(NamedTuple):
    """A hypergraph over nodes 0..n-1; the order of the members of a hyperedge matters.

    Attributes
    ----------
    n_nodes : int
        Number of nodes.
    ptr : ndarray of int of shape (n_edges + 1,)
        The members of e are nodes[ptr[e]:ptr[e + 1]].
    nodes : ndarray of int of shape (n_members,)
        Members of all hyperedges.
    start : ndarray of int of shape (n_edges + 1,)
        The scores of e are start[e]:start[e + 1].

    Examples
    --------
    >>> square = Graph.of(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> square.n_blocks, square.codes(np.array([[1, 1, 0, 0]])).tolist()
    (16, [[3, 2, 0, 1]])
    """

    n_nodes: int
    ptr: IntArray
    nodes: IntArray
    start: IntArray

    @classmethod
    def of(cls, n_nodes: int, edges: Iterable[Sequence[int]]) -> Graph:
        """A graph of so many nodes with these hyperedges.

        Parameters
        ----------
        n_nodes : int
            Number of nodes.
        edges : iterable of sequence of int
            Members of each hyperedge.

        Returns
        -------
        Graph
        """
        lists = [_members(edge, n_nodes) for edge in edges]
        sizes = [len(edge) for edge in lists]
        ptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        nodes = np.array([v for edge in lists for v in edge], dtype=np.int64)
        widths = np.left_shift(1, np.array(sizes, dtype=np.int64))
        start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        return cls(n_nodes, ptr, nodes, start)

    @property
    def n_edges(self) -> int:
        """The number of hyperedges."""
        return self.ptr.size - 1

    @property
    def n_blocks(self) -> int:
        """The number of scores of an example."""
        return int(self.start[-1])

    @property
    def edges(self) -> list[IntArray]:
        """The members of every hyperedge."""
        return np.split(self.nodes, self.ptr[1:-1]) if self.n_edges else []

    def codes(self, Y: Any) -> IntArray:
        """The code of every hyperedge under labels.

        Parameters
        ----------
        Y : array-like of shape (n_rows, n_nodes)
            Labels, 0 or 1.

        Returns
        -------
        ndarray of int of shape (n_rows, n_edges)
        """
        edge = np.repeat(np.arange(self.n_edges), np.diff(self.ptr))
        bit = np.left_shift(1, self.ptr[1:][edge] - 1 - np.arange(self.nodes.size))
        place = sp.csr_array((bit, (self.nodes, edge)), (self.n_nodes, self.n_edges))
        codes: IntArray = np.ascontiguousarray(np.asarray(Y, dtype=np.int64) @ place)
        return codes

    def bits(self, e: int) -> Labels:
        """The labels of the members of a hyperedge under each of its codes.

        Parameters
        ----------
        e : int
            Number of the hyperedge.

        Returns
        -------
        ndarray of int8 of shape (2 ** size, size)
        """
        size = int(self.ptr[e + 1] - self.ptr[e])
        shifts = np.arange(size - 1, -1, -1)
        bits: Labels = ((np.arange(1 << size)[:, None] >> shifts) & 1).astype(np.int8)
        return bits


class Oracle(NamedTuple):
    """A method of inference made ready for one graph: what the loops take."""

    n_nodes: int
    net: Net
    cliques: Cliques
    schedule: Schedule
    forbidden: npt.NDArray[np.bool_]  # (n_blocks,), or empty

    def work(self) -> SearchWork:
        """Space for one row."""
        tables = int(self.cliques.table[-1])
        return SearchWork(
            np.empty(tables), np.empty(tables), np.empty(self.n_nodes),
            np.empty(self.net.nodes.size), np.empty(self.n_nodes, dtype=np.int8),
        )  # fmt: skip

    def argmax(self, S: Any) -> tuple[Labels, FloatArray]:
        """The best labels found for every row of finite scores, and their values."""
        S = np.array(S, dtype=np.float64, order="C")  # a copy: the loops write into it
        Y, value = np.zeros((S.shape[0], self.n_nodes), dtype=np.int8), np.empty(S.shape[0])
        graphs_fast.find_rows(
            self.net, self.cliques, self.schedule, self.forbidden, S, self.work(), Y, value
        )
        return Y, value

    def differences(self, S: Any) -> FloatArray:
        """Best score with each node on minus that with it off; by messages, an approximation."""
        S = np.array(S, dtype=np.float64, order="C")
        out, y = np.zeros((S.shape[0], self.n_nodes)), np.zeros(self.n_nodes, dtype=np.int8)
        down = np.empty(int(np.diff(self.cliques.table).max(initial=1)))
        graphs_fast.difference_rows(
            self.net, self.cliques, self.schedule, self.forbidden, S, self.work(), down, y, out
        )
        return out


def prepare(
    graph: Graph, method: str = "junction", *, forbidden: Any = None, seed: int = 0
) -> Oracle:
    """Make a method ready: the junction tree, or the messages to send and their order.

    forbidden : (n_blocks,) bool, codes that no labelling may have; some labelling must be left
    """
    cliques, schedule = NO_CLIQUES, NO_SCHEDULE
    if method == "junction":
        cliques = junction_tree(graph.n_nodes, graph.edges)
    elif method == "loopy":
        trees = spanning_trees(graph.n_nodes, graph.edges, ORDERS, seed).edge
        every = np.array([_all_edges(tree) for tree in trees])[np.arange(SWEEPS) % ORDERS]
        schedule = Schedule(every, np.full_like(every, -1))
    elif method == "trp":
        schedule = spanning_trees(graph.n_nodes, graph.edges, TREES, seed)
    else:
        raise UserError(f"The method {method!r} is not known. Use 'junction', 'loopy' or 'trp'.")
    mask = np.zeros(0, bool) if forbidden is None else np.array(forbidden, dtype=bool)
    net = Net(*(np.require(a, requirements="W") for a in graph[1:]))  # one kind for the loops
    return Oracle(graph.n_nodes, net, cliques, schedule, mask)


def _all_edges(tree: IntArray) -> IntArray:
    """The edges of a tree, which -1 fills up, from its roots on, and then the others."""
    return np.append(tree[tree >= 0], np.setdiff1d(np.arange(tree.size), tree))


def graph_argmax(
    graph: Graph, scores: Any, method: str = "junction", *, random_state: int = 0
) -> tuple[Labels, FloatArray]:
    """The best labelling of every row of scores, and its value.

    Parameters
    ----------
    graph : Graph
        The hypergraph.
    scores : array-like of shape (n_rows, n_blocks)
        Finite; or minus infinity, which forbids a code.
    method : {'junction', 'loopy', 'trp', 'enumerate'}, default='junction'
        Exact; approximate by messages; exact, for tiny graphs.
    random_state : int, default=0
        Seed of the spanning trees of 'trp'.

    Returns
    -------
    Y : ndarray of int8 of shape (n_rows, n_nodes)
        The labels, 0 or 1.
    value : ndarray of shape (n_rows,)
        Their scores.

    Examples
    --------
    >>> pair = Graph.of(2, [(0, 1)])
    >>> Y, value = graph_argmax(pair, [[0.0, 1.5, 1.0, -2.0]])
    >>> Y.tolist(), value.tolist()
    ([[0, 1]], [1.5])
    """
    if method not in METHODS:
        raise UserError(f"The method {method!r} is not known. Use one of: {', '.join(METHODS)}.")
    S = _checked(graph, scores)
    finite = _finite(graph, S)
    if method == "enumerate":
        Y = _enumerate(graph, finite)
    else:
        Y = prepare(graph, method, seed=random_state).argmax(finite)[0]
    return Y, S[np.arange(S.shape[0])[:, None], graph.start[:-1] + graph.codes(Y)].sum(axis=1)


def _members(edge: Any, n_nodes: int) -> list[int]:
    members = [int(v) for v in edge]
    if not members or len(set(members)) < len(members):
        raise UserError(
            f"The hyperedge {shorten(tuple(members))} must hold each of its nodes once, and at "
            f"least one."
        )
    if len(members) > MAX_MEMBERS:
        raise UserError(
            f"A hyperedge holds {len(members)} nodes, which takes 2^{len(members)} scores. "
            f"Use at most {MAX_MEMBERS}."
        )
    for v in members:
        if not 0 <= v < n_nodes:
            raise UserError(
                f"The hyperedge {shorten(tuple(members))} holds node {v}, but the graph has the "
                f"nodes 0 to {n_nodes - 1}."
            )
    return members


def _checked(graph: Graph, scores: Any) -> FloatArray:
    S = np.asarray(scores, dtype=np.float64)
    if S.ndim != 2 or S.shape[1] != graph.n_blocks:
        raise UserError(
            f"The scores have shape {S.shape}, but the graph has {graph.n_blocks} codes. "
            f"Give one row per example and 2^|e| columns for every hyperedge e."
        )
    if np.isnan(S).any() or np.isposinf(S).any():
        raise UserError(
            "The scores hold NaN or plus infinity. Use finite scores, or minus infinity to forbid."
        )
    return S


def _finite(graph: Graph, S: FloatArray) -> FloatArray:
    """Minus infinity becomes a score that is worse than all the others can make up for."""
    bad = np.isneginf(S)
    if not bad.any():
        return S
    size = np.where(bad, 0.0, np.abs(S))
    largest = np.maximum.reduceat(size, graph.start[:-1], axis=1).sum(axis=1)
    return np.where(bad, -(1.0 + 2.0 * largest)[:, None], S)


def _enumerate(graph: Graph, S: FloatArray) -> Labels:
    """Try all labellings; of several best ones the first, with the lowest nodes off."""
    k = graph.n_nodes
    if k > MAX_ENUMERATED:
        raise UserError(
            f"The graph has {k} nodes and 2^{k} labellings. Use method='junction' beyond "
            f"{MAX_ENUMERATED} nodes."
        )
    every = (np.arange(1 << k)[:, None] >> np.arange(k - 1, -1, -1)) & 1
    codes = graph.codes(every)
    best = np.empty(S.shape[0], dtype=np.int64)
    for i, s in enumerate(S):
        best[i] = np.argmax(s[graph.start[:-1] + codes].sum(axis=1))
    Y: Labels = every[best].astype(np.int8)
    return Y
