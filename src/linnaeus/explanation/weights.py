"""The weights of a node, and from which nodes they come.

In an additive model the score of a node y is a sum over sources u, most of them above y,

    f_y(x) = sum_u a_yu (d_u.z + b_u),        d_u = sum_k M_uk w_k

with w the weights that the estimator keeps, d_u what node u adds to what it has from its parents,
and a_yu its share in y (1 on the path in a tree). What y itself adds is its own part, the rest is
inherited. The inputs z are the features x, or with a kernel the values k(x, x_i) with the examples
learned from; then examples take the place of features.

`linnaeus.explanation.sources` says what these are for each estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, nearest, shorten

TOP = "(everything)"  # the name of a root that the taxonomy lacks

Shares = Callable[[int], tuple[np.ndarray, np.ndarray]]  # row -> sources, and their shares


class Share(NamedTuple):
    """The weights of a node over some inputs, one row for each node that they come from."""

    node: Any
    sources: tuple[Any, ...]  # the node itself first
    weights: np.ndarray  # (n_sources, n_columns)
    intercepts: np.ndarray  # (n_sources,)
    given: Any = None  # of a local model: the parent below which it decides
    against: Any = None  # the sibling whose weights are taken off


class Row(NamedTuple):
    """One example: as the estimator takes it, and what the weights are multiplied with."""

    X: Any  # (1, n_features)
    columns: np.ndarray  # numbers of the inputs that are not 0
    values: np.ndarray  # these inputs


class Weights(Protocol):
    """What there is to know about the weights of a fitted estimator."""

    @property
    def kind(self) -> str:
        """What the inputs are: "features" or "examples"."""

    @property
    def steps(self) -> bool:
        """Whether a node is decided by local models, given its parent."""

    @property
    def note(self) -> str:
        """In what the score differs from the sum, or nothing."""

    def row(self, X: Any) -> Row:
        """One example."""

    def knows(self, node: Any) -> bool:
        """Whether the node has weights."""

    def hands_on(self, node: Any) -> bool:
        """Whether it has weights that the nodes below share, or a model for the step to it."""

    def shares(self, node: Any, row: Row | None = None, inner: bool = False) -> list[Share]:
        """The weights of a node over the inputs of a row, or over all.

        inner : of an inner node with labels of its own, what it hands on to the nodes below
        """


@dataclass(frozen=True)
class Inputs:
    """From examples to what weights are multiplied with."""

    kernel: Any = "linear"
    fitted: Any = None  # the examples learned from, for a kernel object

    @classmethod
    def of(cls, estimator: Any) -> Inputs:
        """The inputs of a fitted estimator."""
        return cls(getattr(estimator, "kernel", "linear"), getattr(estimator, "X_fit_", None))

    @property
    def kind(self) -> str:
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        return "features" if linear else "examples"

    def row(self, X: Any) -> Row:
        """One example, of which only inputs other than 0 are kept."""
        z = X if isinstance(self.kernel, str) else self.kernel.gram(X, self.fitted)
        z = sp.csr_array(z, dtype=np.float64)
        if z.shape[0] != 1:
            raise UserError(f"There are {z.shape[0]} rows. Explain one at a time.")
        z.sum_duplicates()
        kept = z.data != 0
        return Row(X, z.indices[kept], z.data[kept])


@dataclass(frozen=True)
class Table:
    """The weights that an estimator keeps: matrices one below the other, and intercepts."""

    parts: tuple[Any, ...]
    offsets: np.ndarray  # (n_rows,)

    def rows(self, numbers: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        """Some rows as a dense matrix, of all columns or some."""
        width = self.parts[0].shape[1]
        out = np.empty((len(numbers), width if columns is None else columns.size))
        begin = 0
        for part in self.parts:
            here = (begin <= numbers) & (numbers < begin + part.shape[0])
            if here.any():
                rows = part[numbers[here] - begin]
                rows = rows if columns is None else rows[:, columns]
                out[here] = rows.toarray() if sp.issparse(rows) else rows
            begin += part.shape[0]
        return out


@dataclass(frozen=True)
class Additive:
    """Weights of an additive model; rows, sources and classes are numbers.

    names : of the sources; a misc leaf has that of its node
    classes : {node: rows of what is decided on}; several rows where it has several local models
    inner : {node: rows of what it hands on}
    family : of local choices: for every row, the number of the family it is chosen in
    factor : of an example, by which all weights are multiplied
    """

    inputs: Inputs
    table: Table
    names: Sequence[Any]
    classes: Mapping[Any, list[int]]
    inner: Mapping[Any, list[int]]
    change: sp.csr_array  # M, (n_sources, n_rows of the table)
    share: Shares
    steps: bool = False
    note: str = ""
    given: Sequence[Any] | None = None
    family: np.ndarray | None = None
    factor: Callable[[Row, Any], float] = field(default=lambda row, node: 1.0)

    @property
    def kind(self) -> str:
        return self.inputs.kind

    def row(self, X: Any) -> Row:
        return self.inputs.row(X)

    def knows(self, node: Any) -> bool:
        return node in self.classes or node in self.inner

    def hands_on(self, node: Any) -> bool:
        return node in self.inner

    def shares(self, node: Any, row: Row | None = None, inner: bool = False) -> list[Share]:
        first, second = (self.inner, self.classes) if inner else (self.classes, self.inner)
        numbers = first[node] if node in first else second.get(node)
        if numbers is None:
            known = [*self.classes, *self.inner]
            raise UserError(
                f"The model has no weights for {shorten(node)}{nearest(node, known)}. "
                f"It has some for: {shorten(known)}."
            )
        return [self._share(node, r, row) for r in numbers]

    def _share(self, node: Any, r: int, row: Row | None) -> Share:
        numbers, share = self.share(r)
        mixed = sp.csr_array(self.change[numbers].multiply(share[:, None]))
        against = None
        if row is not None and self.family is not None:
            mixed, against = self._less_rival(mixed, r, row)
        base = np.unique(mixed.indices)
        columns = None if row is None else row.columns
        weights = mixed[:, base] @ self.table.rows(base, columns)
        factor = 1.0 if row is None else self.factor(row, node)
        sources, weights, intercepts = merged(
            node, [self.names[u] for u in numbers.tolist()], factor * weights,
            factor * (mixed @ self.table.offsets),
        )  # fmt: skip
        given = None if self.given is None else self.given[r]
        return Share(node, sources, weights, intercepts, given, against)

    def _less_rival(self, mixed: sp.csr_array, r: int, row: Row) -> tuple[sp.csr_array, Any]:
        """The weights less those of the best sibling of a row, and its name."""
        family: Any = self.family
        siblings = np.flatnonzero((family == family[r]) & (np.arange(family.size) != r))
        if not siblings.size:
            return mixed, None
        W = self.table.rows(siblings, row.columns)
        best = siblings[np.argmax(W @ row.values + self.table.offsets[siblings])]
        off = sp.csr_array(([1.0], ([0], [best])), shape=mixed.shape)
        return sp.csr_array(mixed - off), self.names[best]


def merged(
    node: Any, names: Sequence[Any], weights: np.ndarray, intercepts: np.ndarray
) -> tuple[tuple[Any, ...], np.ndarray, np.ndarray]:
    """Sources of the same name as one, the node itself first."""
    order = list(dict.fromkeys([node, *names]))
    place = {name: i for i, name in enumerate(order)}
    W, b = np.zeros((len(order), weights.shape[1])), np.zeros(len(order))
    for name, w, offset in zip(names, weights, intercepts, strict=True):
        W[place[name]] += w
        b[place[name]] += offset
    return tuple(order), W, b


def entries(matrix: sp.csr_array, r: int) -> tuple[list[int], list[float]]:
    """Columns and values of a row of a sparse matrix."""
    at = slice(matrix.indptr[r], matrix.indptr[r + 1])
    return matrix.indices[at].tolist(), matrix.data[at].tolist()
