"""A forest as the loops see it: numbers in an order that makes recursion unnecessary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]


class Tree(NamedTuple):
    """A forest with ``parent[v] < v``; roots have ``parent == -1``.

    Counting up visits parents before children; counting down, children first.

    Attributes
    ----------
    parent : ndarray of int of shape (n_nodes,)
        Parent of each node.
    n_children : ndarray of int of shape (n_nodes,)
        Number of its children.
    """

    parent: IntArray
    n_children: IntArray
