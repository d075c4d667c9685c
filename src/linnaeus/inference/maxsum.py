"""The best labelings of a Markov forest, row by row, given scores of the labels of its edges.

    maximise_u  sum_e s[e, 2 [parent on] + [child on]]

over all labelings of the nodes, or over the consistent ones: a node is on only if its parent is.
Exact, in time linear in the scores; [Rousu2006] section 3.4, `maxsum_fast`. Scores are
(n_rows, n_edges, 4), or flat (n_rows, 4 n_edges), in the order of `linnaeus.losses.markov_edges`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError, check_choice
from linnaeus.execution import local
from linnaeus.inference import maxsum_fast as fast
from linnaeus.inference.rows import row_blocks
from linnaeus.losses import Edges
from linnaeus.taxonomy.dag import IntArray

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int8]

MODES = ("all", "consistent")


class Best(NamedTuple):
    """Labelings found, and their scores.

    Attributes
    ----------
    labels : ndarray of int8 of shape (n_rows, n_nodes)
        0 or 1.
    value : ndarray of shape (n_rows,)
        The scores.
    """

    labels: Labels
    value: Floats


class Forest(NamedTuple):
    """What the loops need to know of the edges."""

    above: IntArray  # (n_edges,)
    below: IntArray  # (n_edges,)
    root: IntArray  # (n_roots,)
    n_nodes: int

    @classmethod
    def of(cls, edges: Edges) -> Forest:
        """Of edges as `markov_edges` makes them: every node is at the end of some edge."""
        above = np.ascontiguousarray(edges.parent, dtype=np.int32)
        below = np.ascontiguousarray(edges.child, dtype=np.int32)
        n_nodes = int(max(above.max(initial=-1), below.max(initial=-1))) + 1
        if (np.diff(below) <= 0).any() or (above >= below).any():
            raise UserError(
                "The edges are not ordered by child, or a parent has a higher number than its "
                "child. Make them with linnaeus.losses.markov_edges."
            )
        has_parent = np.zeros(n_nodes, dtype=bool)
        has_parent[below[above >= 0]] = True
        return cls(above, below, np.flatnonzero(~has_parent).astype(np.int32), n_nodes)


def max_sum(edges: Edges, scores: Any, mode: str = "consistent", n_jobs: int | None = None) -> Best:
    """The labeling with the largest score, for every row; among equals nodes stay off.

    Parameters
    ----------
    edges : Edges
        Of `linnaeus.losses.markov_edges`.
    scores : array-like of shape (n_rows, n_edges, 4)
        A score for every edge and code; slots 0 and 1 of a top edge are not looked at.
    mode : {'consistent', 'all'}, default='consistent'
        Which labelings there are.
    n_jobs : int or None, default=None
        Threads over blocks of rows.

    Returns
    -------
    Best

    Examples
    --------
    >>> from linnaeus.losses import markov_edges
    >>> from linnaeus.taxonomy import Taxonomy
    >>> edges = markov_edges(Taxonomy.from_edges([("a", "b")]).tree)
    >>> scores = [[[0.0, 5.0, 1.0, 2.0]]]
    >>> max_sum(edges, scores).labels, max_sum(edges, scores, "all").labels
    (array([[1, 1]], dtype=int8), array([[0, 1]], dtype=int8))
    """
    forest, s = Forest.of(edges), as_scores(edges, scores)
    consistent = _is_consistent(mode)
    out = Best(np.zeros((len(s), forest.n_nodes), np.int8), np.zeros(len(s)))

    def run(rows: slice) -> None:
        up = np.empty((forest.n_nodes, 2))
        block = _float64(s[rows])
        fast.best_rows(*forest[:3], block, consistent, up, out.labels[rows], out.value[rows])

    _over(run, s, n_jobs)
    return out


def max_sum_except(edges: Edges, scores: Any, truth: Any, mode: str = "all") -> Best:
    """The best labeling other than the given one, for every row ([Rousu2006] section 4).

    Parameters
    ----------
    edges : Edges
        Edges of `linnaeus.losses.markov_edges`.
    scores : array-like of shape (n_rows, n_edges, 4)
        A score for every edge and code.
    truth : array-like of shape (n_rows, n_nodes)
        0 or 1; in the mode 'consistent' it must be consistent.
    mode : {'all', 'consistent'}, default='all'
        Which labelings there are.

    Returns
    -------
    Best
    """
    forest, s = Forest.of(edges), _float64(as_scores(edges, scores))
    y = np.ascontiguousarray(truth, dtype=np.int8)
    if y.shape != (len(s), forest.n_nodes):
        raise UserError(
            f"The labelings have the shape {y.shape}, but there are {len(s)} rows of scores and "
            f"{forest.n_nodes} nodes. Give one label per row and node."
        )
    out = Best(np.zeros_like(y), np.zeros(len(s)))
    up, dev = np.empty((forest.n_nodes, 2)), np.empty((forest.n_nodes, 2))
    take = np.empty(forest.n_nodes, dtype=np.int32)
    fast.best_other_rows(*forest[:3], s, _is_consistent(mode), y, up, dev, take, *out)
    return out


def min_sum_supported(edges: Edges, scores: Any, mass: Any, floor: float = 0.0) -> Best:
    """The labeling with the smallest score whose codes all have mass above `floor`.

    Parameters
    ----------
    edges : Edges
        Edges of `linnaeus.losses.markov_edges`.
    scores : array-like of shape (n_rows, n_edges, 4)
        A score for every edge and code.
    mass : array-like of shape (n_rows, n_edges, 4)
        Marginals.
    floor : float, default=0.0
        Mass that counts as none.

    Returns
    -------
    Best
        The value is infinite where no labeling is supported.
    """
    forest, s = Forest.of(edges), _float64(as_scores(edges, scores))
    m = _float64(as_scores(edges, mass))
    out = Best(np.zeros((len(s), forest.n_nodes), np.int8), np.zeros(len(s)))
    fast.least_rows(*forest[:3], s, m, floor, np.empty((forest.n_nodes, 2)), *out)
    return out


def node_margins(
    edges: Edges, scores: Any, mode: str = "consistent", n_jobs: int | None = None
) -> Floats:
    """The best score with a node on minus the best with it off.

    Parameters
    ----------
    edges : Edges
        Edges of `linnaeus.losses.markov_edges`.
    scores : array-like of shape (n_rows, n_edges, 4)
        A score for every edge and code.
    mode : {'consistent', 'all'}, default='consistent'
        Which labelings there are.
    n_jobs : int or None, default=None
        Threads over blocks of rows; None for one, -1 for all cores.

    Returns
    -------
    ndarray of shape (n_rows, n_nodes)
    """
    forest, s = Forest.of(edges), as_scores(edges, scores)
    consistent = _is_consistent(mode)
    out = np.zeros((len(s), forest.n_nodes))

    def run(rows: slice) -> None:
        up, down = np.empty((forest.n_nodes, 2)), np.empty((forest.n_nodes, 2))
        fast.margin_rows(*forest[:3], _float64(s[rows]), consistent, up, down, out[rows])

    _over(run, s, n_jobs)
    return out


def path_scores(edges: Edges, scores: Any) -> Floats:
    """The score of each root path: exactly a node and its ancestors are on.

    Parameters
    ----------
    edges : Edges
        Edges of `linnaeus.losses.markov_edges`.
    scores : array-like of shape (n_rows, n_edges, 4)
        A score for every edge and code.

    Returns
    -------
    ndarray of shape (n_rows, n_nodes)
    """
    forest, s = Forest.of(edges), as_scores(edges, scores)
    out = np.zeros((len(s), forest.n_nodes))
    fast.path_rows(*forest[:3], _float64(s), np.empty(forest.n_nodes), out)
    return out


def as_scores(edges: Edges, scores: Any) -> npt.NDArray[Any]:
    """Scores as a (n_rows, n_edges, 4) array."""
    s = np.asarray(scores)
    n_edges = edges.child.size
    if s.ndim == 2 and s.shape[1] == 4 * n_edges:
        s = s.reshape(len(s), n_edges, 4)
    if s.ndim != 3 or s.shape[1:] != (n_edges, 4):
        raise UserError(
            f"The scores have the shape {s.shape}; expected (n_rows, {n_edges}, 4), "
            f"one score per edge and pair of labels."
        )
    return s


def _is_consistent(mode: str) -> bool:
    check_choice("mode", mode, MODES)
    return mode == "consistent"


def _float64(s: npt.NDArray[Any]) -> Floats:
    return np.ascontiguousarray(s, dtype=np.float64)


def _over(run: Any, s: npt.NDArray[Any], n_jobs: int | None) -> None:
    """Run over blocks of rows."""
    blocks = list(row_blocks(len(s), max(1, s.shape[1] * 4)))
    for _ in local(n_jobs).map(run, (), blocks):
        pass
