"""What it costs to say class z when class y is true.

With a = anc(y) and b = anc(z), all nodes above a class and the class itself, every loss here
(but a matrix of one's own) has the form

    loss(y, z) = m_y s(a \\ b) + f_z s(b \\ a),      s(S) = sum_{v in S} s_v   [Cai2008] section 3:

    volume         s_v volumes,  m = c_miss,  f = c_false                            (3.11)
    distance       s_v = 1, m = f = 1: in a tree the path between y and z            (3.13)
    half_distance  s_v = 1, m = f = 1/2
    normalized     s_v = 1, m_y = 1/(2 depth y), f_z = 1/(2 depth z)                 (7.2)
    zero_one       only the class itself counts, m = f = 1/2

depth(y) = |anc(y)| - 1. Above several roots there is a virtual root: it lies in every anc, so it
changes nothing but this depth. Since s(a \\ b) = s(a) - s(a and b), one sparse product gives any
block of losses; no class by class matrix is made unless asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.losses.sets import FloatArray, check_costs, node_volumes
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.dag import IntArray

_BLOCK = 256  # classes compared at once when a loss is checked


class LossParts(NamedTuple):
    """The numbers of the common form, for loops that need the loss of one pair at a time."""

    volumes: sp.csr_array  # (n_classes, n_nodes): s_v at the ancestors of each class
    total: FloatArray  # (n_classes,) their sums
    miss: FloatArray  # (n_classes,) m
    false: FloatArray  # (n_classes,) f
    table: FloatArray  # (0, 0); for a loss that is a table, this alone


class ClassLoss:
    """A loss between classes: 0 on the diagonal, positive off it; the first one is the truth.

    Classes are numbers from 0.

    Parameters
    ----------
    name : str
        What it is called.
    anc : csr_array of shape (n_classes, n_nodes)
        Ancestors of every class.
    s : array-like of shape (n_nodes,)
        Volume of every node.
    miss : array-like of shape (n_classes,)
        Factor of what is missed, by true class.
    false : array-like of shape (n_classes,)
        Factor of what is added, by class predicted.

    Attributes
    ----------
    name : str
        What it is called.
    n_classes : int
        How many classes there are.
    made_of : tuple or None
        Volumes of all nodes and both costs, from which `volume` makes it over other classes.
    """

    made_of: tuple[Any, float, float] | None = None

    def __init__(self, name: str, anc: sp.csr_array, s: Any, miss: Any, false: Any) -> None:
        """The common form above; `anc` holds the ancestors of every class."""
        self.name, self.n_classes = name, int(anc.shape[0])
        self._anc = sp.csr_array(anc, dtype=float)
        self._weighted = sp.csr_array(self._anc * np.broadcast_to(s, anc.shape[1]))
        self._total: FloatArray = np.asarray(self._weighted.sum(axis=1), dtype=float)
        self._miss: FloatArray = np.broadcast_to(np.asarray(miss, float), self.n_classes)
        self._false: FloatArray = np.broadcast_to(np.asarray(false, float), self.n_classes)

    def __repr__(self) -> str:
        return f"<ClassLoss: {self.name} over {self.n_classes} classes>"

    def pairs(self, y: Any, z: Any) -> FloatArray:
        """The loss of every pair, loss(y[i], z[i]).

        Parameters
        ----------
        y : array-like of int of shape (n_rows,)
            Numbers of the true classes.
        z : array-like of int of shape (n_rows,)
            Numbers of the classes predicted.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        y, z = np.asarray(y, np.intp), np.asarray(z, np.intp)
        common = np.asarray(self._weighted[y].multiply(self._anc[z]).sum(axis=1), dtype=float)
        out: FloatArray = self._miss[y] * (self._total[y] - common)
        out += self._false[z] * (self._total[z] - common)
        out[y == z] = 0.0
        return out

    def rows(self, y: Any) -> FloatArray:
        """The loss of every true class with all classes, loss(y[i], z).

        Parameters
        ----------
        y : array-like of int of shape (n_rows,)
            Numbers of the true classes.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        y = np.asarray(y, np.intp)
        common: FloatArray = (self._weighted[y] @ self._classes_below).toarray()
        out: FloatArray = self._miss[y, None] * (self._total[y, None] - common)
        out += self._false * (self._total - common)
        out[np.arange(y.size), y] = 0.0
        return out

    def matrix(self) -> FloatArray:
        """All losses.

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
        """
        return self.rows(np.arange(self.n_classes))

    def parts(self) -> LossParts:
        """What it is made of.

        Returns
        -------
        object
            Volumes of ancestors, their sums, and both factors, for loops.
        """
        none: FloatArray = np.zeros((0, 0))
        return LossParts(self._weighted, self._total, self._miss, self._false, none)

    @cached_property
    def _classes_below(self) -> sp.csr_array:
        return sp.csr_array(self._anc.T)


class _TableLoss(ClassLoss):
    """A loss of one's own, as a square matrix; rows are the truth."""

    def __init__(self, table: FloatArray) -> None:
        self.name, self.n_classes, self._table = "matrix", len(table), table
        self._table.flags.writeable = False

    def pairs(self, y: Any, z: Any) -> FloatArray:
        return np.asarray(self._table[np.asarray(y, np.intp), np.asarray(z, np.intp)], dtype=float)

    def rows(self, y: Any) -> FloatArray:
        return np.asarray(self._table[np.asarray(y, np.intp)], dtype=float)

    def parts(self) -> LossParts:
        none: FloatArray = np.zeros(self.n_classes)
        return LossParts(sp.csr_array((self.n_classes, 0)), none, none, none, self._table)


def class_loss(
    loss: str | ClassLoss | Any, taxonomy: Taxonomy, classes: IntArray | None = None
) -> ClassLoss:
    """A loss by its name, by a matrix, or as it is.

    Parameters
    ----------
    loss : str, ClassLoss, array-like of shape (n_classes, n_classes) or None
        A name of this module, a matrix whose rows are the truth, or a loss; None for
        'half_distance'.
    taxonomy : Taxonomy
        The taxonomy.
    classes : ndarray of int or None, default=None
        The nodes (numbers) that are classes, in order; the leaves if not given.

    Returns
    -------
    ClassLoss

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> class_loss("distance", tax).matrix()
    array([[0., 3.],
           [3., 0.]])
    """
    nodes = taxonomy.leaf_numbers if classes is None else classes
    if loss is None:
        return half_distance(taxonomy, classes)
    if isinstance(loss, str):
        if loss not in NAMED:
            raise UserError(
                f"The class loss {loss!r} is not known. Use one of: {', '.join(NAMED)}, a matrix, "
                f"or linnaeus.losses.volume(taxonomy, volumes, c_miss, c_false)."
            )
        return NAMED[loss](taxonomy, classes)
    if isinstance(loss, ClassLoss) and loss.made_of is not None and classes is not None:
        return volume(taxonomy, *loss.made_of, classes)
    if not isinstance(loss, ClassLoss):
        loss = _checked_table(loss, taxonomy.names(nodes.tolist()))
    if loss.n_classes != nodes.size:
        raise UserError(
            f"The class loss is over {loss.n_classes} classes, but there are {nodes.size}. "
            f"Give one row and one column per class, in the order of the classes."
        )
    return loss


def zero_one(taxonomy: Taxonomy, classes: IntArray | None = None) -> ClassLoss:
    """1 for every wrong class.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    classes : ndarray of int of shape (n_classes,) or None, default=None
        Numbers of the nodes that are classes, in order; None for the leaves.

    Returns
    -------
    ClassLoss
    """
    n = taxonomy.leaf_numbers.size if classes is None else classes.size
    return ClassLoss("zero_one", sp.eye_array(n, format="csr"), 1.0, 0.5, 0.5)


def distance(taxonomy: Taxonomy, classes: IntArray | None = None) -> ClassLoss:
    """How many nodes lie above exactly one of the two; in a tree the length of the path.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    classes : ndarray of int of shape (n_classes,) or None, default=None
        Numbers of the nodes that are classes, in order; None for the leaves.

    Returns
    -------
    ClassLoss
    """
    return ClassLoss("distance", class_ancestors(taxonomy, classes), 1.0, 1.0, 1.0)


def half_distance(taxonomy: Taxonomy, classes: IntArray | None = None) -> ClassLoss:
    """Half the distance: 1 between siblings.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    classes : ndarray of int of shape (n_classes,) or None, default=None
        Numbers of the nodes that are classes, in order; None for the leaves.

    Returns
    -------
    ClassLoss
    """
    return ClassLoss("half_distance", class_ancestors(taxonomy, classes), 1.0, 0.5, 0.5)


def normalized(taxonomy: Taxonomy, classes: IntArray | None = None) -> ClassLoss:
    """Each side of the distance divided by its depth, for unbalanced taxonomies; at most 1.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    classes : ndarray of int of shape (n_classes,) or None, default=None
        Numbers of the nodes that are classes, in order; None for the leaves.

    Returns
    -------
    ClassLoss
    """
    anc = class_ancestors(taxonomy, classes)
    depth = np.diff(anc.indptr) - (taxonomy.root_numbers.size == 1)
    weight = 0.5 / np.maximum(depth, 1)
    return ClassLoss("normalized", anc, 1.0, weight, weight)


def volume(
    taxonomy: Taxonomy,
    volumes: Any = None,
    c_miss: float = 1.0,
    c_false: float = 1.0,
    classes: IntArray | None = None,
) -> ClassLoss:
    """Subscription volumes: what is missed above y, and what is added above z.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    volumes : dict, array-like of shape (n_nodes,) or None, default=None
        Volume of each node, {name: s} (0 for a node not named); None for 1 each.
    c_miss : float, default=1.0
        What missing a unit of volume costs.
    c_false : float, default=1.0
        What wrongly assigning a unit of volume costs.
    classes : ndarray of int of shape (n_classes,) or None, default=None
        Numbers of the nodes that are classes, in order; None for the leaves.

    Returns
    -------
    ClassLoss
    """
    s = node_volumes(taxonomy, volumes)
    check_costs(c_miss, c_false)
    nodes = taxonomy.leaf_numbers if classes is None else classes
    anc = class_ancestors(taxonomy, classes)
    # Exact counts in place of sums: a loss is 0 where no node with a volume makes a difference.
    costs = (1.0, float(c_false > 0)) if c_miss > 0 else (1.0, 0.0)
    counted = ClassLoss("count", anc, s > 0, *costs)
    doubtful = np.flatnonzero(s[nodes] == 0)  # a free mistake has a class without volume on a side
    for start in range(0, doubtful.size, _BLOCK):
        block = doubtful[start : start + _BLOCK]
        free = counted.rows(block) == 0
        free[np.arange(block.size), block] = False
        if free.any():
            i, j = np.argwhere(free)[0]
            a, b = taxonomy.names(nodes[[block[i], j]].tolist())
            a, b = (a, b) if c_miss > 0 else (b, a)
            raise UserError(
                f"With these volumes it costs nothing to say {shorten(b)} for {shorten(a)}. "
                f"Give every class a positive volume."
            )
    made = ClassLoss("volume", anc, s, c_miss, c_false)
    made.made_of = s, c_miss, c_false
    return made


def class_ancestors(taxonomy: Taxonomy, classes: IntArray | None = None) -> sp.csr_array:
    """The ancestors of every class, itself included.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    classes : ndarray of int of shape (n_classes,) or None, default=None
        Numbers of the nodes that are classes, in order; None for the leaves.

    Returns
    -------
    csr_array of shape (n_classes, n_nodes)
        Indicator.
    """
    return taxonomy.ancestor_matrix[taxonomy.leaf_numbers if classes is None else classes]


def _checked_table(matrix: Any, names: Sequence[Any]) -> ClassLoss:
    """A loss from a matrix; what is no loss is refused, naming the first pair at fault."""
    table = np.array(matrix, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise UserError(f"A class loss must be a square matrix, but its shape is {table.shape}.")
    off_diagonal = ~np.eye(len(table), dtype=bool)
    wrong = np.where(off_diagonal, ~((table > 0) & np.isfinite(table)), table != 0)
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        y, z = (names[i], names[j]) if len(names) == len(table) else (i, j)
        raise UserError(
            f"The class loss of ({shorten(y)}, {shorten(z)}) is {table[i, j]}. "
            f"It must be 0 for a class and itself, and positive and finite for every other pair."
        )
    return _TableLoss(table)


NAMED: dict[str, Callable[[Taxonomy, IntArray | None], ClassLoss]] = {
    "zero_one": zero_one,
    "half_distance": half_distance,
    "normalized": normalized,
    "distance": distance,
}
