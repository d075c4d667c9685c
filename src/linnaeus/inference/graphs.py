"""The best labelling of a graph or hypergraph whose nodes are on or off.

    maximise_y  sum_e s[e, y_e]

where y_e are the labels of the members of hyperedge e as a number, the first member the highest
bit: a pair (a, b) has the codes 0 (both off), 1 (b on), 2 (a on), 3. Scores of one example are
one row: the 2^|e| entries of every hyperedge in turn. [Rousu2007] section 1.4; docs/maths/graphs.md.

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
from linnaeus.inference.graphs_fast import Cliques, Net, Schedule, Work
from linnaeus.inference.junction import IntArray, junction_tree

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int8]
METHODS = ("junction", "loopy", "trp", "enumerate")
SWEEPS = 100  # of messages at most
TREES = 40
MAX_MEMBERS = 20
MAX_ENUMERATED = 20


class Graph(NamedTuple):
    """A hypergraph over nodes 0..n-1; the order of the members of a hyperedge matters.

    >>> square = Graph.of(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> square.n_blocks, square.codes(np.array([[1, 1, 0, 0]])).tolist()
    (16, [[3, 2, 0, 1]])
    """

    n_nodes: int
    ptr: IntArray  # (n_edges + 1,) members of e: nodes[ptr[e]:ptr[e + 1]]
    nodes: IntArray
    start: IntArray  # (n_edges + 1,) the scores of e: start[e]:start[e + 1]

    @classmethod
    def of(cls, n_nodes: int, edges: Iterable[Sequence[int]]) -> Graph:
        """A graph of so many nodes with these hyperedges."""
        lists = [_members(edge, n_nodes) for edge in edges]
        sizes = [len(edge) for edge in lists]
        ptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        nodes = np.array([v for edge in lists for v in edge], dtype=np.int64)
        widths = np.left_shift(1, np.array(sizes, dtype=np.int64))
        start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        return cls(n_nodes, ptr, nodes, start)

    @property
    def n_edges(self) -> int:
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
        """The code of every hyperedge under labels Y, (n, n_nodes) of 0 and 1: (n, n_edges)."""
        edge = np.repeat(np.arange(self.n_edges), np.diff(self.ptr))
        bit = np.left_shift(1, self.ptr[1:][edge] - 1 - np.arange(self.nodes.size))
        place = sp.csr_array((bit, (self.nodes, edge)), (self.n_nodes, self.n_edges))
        codes: IntArray = np.asarray(np.asarray(Y, dtype=np.int64) @ place, dtype=np.int64)
        return codes

    def bits(self, e: int) -> Labels:
        """The labels of the members of hyperedge e under each of its codes: (2^|e|, |e|)."""
        size = int(self.ptr[e + 1] - self.ptr[e])
        shifts = np.arange(size - 1, -1, -1)
        bits: Labels = ((np.arange(1 << size)[:, None] >> shifts) & 1).astype(np.int8)
        return bits


class Oracle(NamedTuple):
    """A method of inference made ready for one graph: what the loops take."""

    net: Net
    cliques: Cliques
    schedule: Schedule
    forbidden: npt.NDArray[np.bool_]  # (n_blocks,), or empty
    exact: bool

    def work(self) -> Work:
        """Space for one row."""
        entries = int(self.cliques.table[-1])
        n = int(self.net.nodes.max(initial=-1)) + 1 if not entries else self.cliques.parent.size
        return Work(
            np.empty(entries),
            np.empty(entries),
            np.empty(n),
            np.empty(self.net.nodes.size),
            np.empty(n, dtype=np.int8),
        )


def prepare(
    graph: Graph, method: str = "junction", *, forbidden: Any = None, seed: int = 0
) -> Oracle:
    """Make a method ready: the junction tree, or the messages to send and their order.

    forbidden : (n_blocks,) bool, codes that no labelling may have; some labelling must be left
    """
    empty = np.zeros(0, dtype=np.int64)
    cliques = Cliques(*[empty] * 2, np.zeros(1, np.int64), *[empty] * 6)
    schedule = Schedule(*[np.zeros((0, 0), dtype=np.int64)] * 2)
    if method == "junction":
        cliques = junction_tree(graph.n_nodes, graph.edges)
    elif method == "loopy":
        every = np.tile(np.arange(graph.n_edges), (SWEEPS, 1))
        schedule = Schedule(every, np.full_like(every, -1))
    elif method == "trp":
        schedule = _trees(graph, np.random.default_rng(seed))
    else:
        raise UserError(f"The method {method!r} is not known. Use 'junction', 'loopy' or 'trp'.")
    mask = np.zeros(0, bool) if forbidden is None else np.asarray(forbidden, dtype=bool)
    net = Net(graph.ptr, graph.nodes, graph.start)
    return Oracle(net, cliques, schedule, mask, method == "junction")


def graph_argmax(
    graph: Graph, scores: Any, method: str = "junction", *, random_state: int = 0
) -> tuple[Labels, FloatArray]:
    """The best labelling of every row of scores, and its value.

    scores : (n, graph.n_blocks); minus infinity forbids a code
    method : "junction" (exact), "loopy", "trp" or "enumerate" (exact, for tiny graphs)
    random_state : seed of the spanning trees of "trp"

    >>> pair = Graph.of(2, [(0, 1)])
    >>> Y, value = graph_argmax(pair, [[0.0, 1.5, 1.0, -2.0]])
    >>> Y.tolist(), value.tolist()
    ([[0, 1]], [1.5])
    """
    S = _checked(graph, scores)
    if method not in METHODS:
        raise UserError(f"The method {method!r} is not known. Use one of: {', '.join(METHODS)}.")
    given, S = S, _finite(graph, S)
    if method == "enumerate":
        Y = _enumerate(graph, S)
    else:
        Y = argmax_rows(prepare(graph, method, seed=random_state), S, graph.n_nodes)[0]
    return Y, _values(graph, given, Y)


def argmax_rows(oracle: Oracle, S: FloatArray, n_nodes: int) -> tuple[Labels, FloatArray]:
    """The best labels that an oracle finds for finite scores; forbidden entries are overwritten."""
    Y, value = np.zeros((S.shape[0], n_nodes), dtype=np.int8), np.empty(S.shape[0])
    graphs_fast.find_rows(
        oracle.net, oracle.cliques, oracle.schedule, oracle.forbidden, S, _fit(oracle, n_nodes), Y, value
    )
    return Y, value


def max_marginals(oracle: Oracle, S: FloatArray, n_nodes: int) -> FloatArray:
    """Best score with a node on minus that with it off, (n, n_nodes), by the junction tree."""
    out = np.zeros((S.shape[0], n_nodes))
    down = np.empty(int(np.diff(oracle.cliques.table).max(initial=1)))
    graphs_fast.max_marginal_rows(
        oracle.net, oracle.cliques, oracle.forbidden, S, oracle.work(), down, out
    )
    return out
