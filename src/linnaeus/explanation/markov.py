"""Why HM3 switches a node on: the best consistent labeling with the node, against that without.

A score of HM3 is a difference of two maxima over labelings, (best with v on) - (best with v off).
Given an example both labelings are known, and the difference is linear in the inputs,

    f_v(x) = sum_e (w_{e, code with v} - w_{e, code without v}).z ,

so that it can be explained edge by edge [Rousu2006]. The edge above v is its own part; where a root
has none, its child edges are. Edges of other nodes that differ between the two labelings are put
down to their lower node: ancestors that would not be on but for v, or rivals that it displaces.

Without an example, the weights of a node are what it adds on its own, its parent on and its
children off: code 11 less 10 of the edge above, and 10 less 00 of the edges below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.explanation.weights import Inputs, Row, Share, Table, merged
from linnaeus.inference.maxsum import max_sum


@dataclass(frozen=True)
class Markov:
    """The weights of a fitted HM3."""

    inputs: Inputs
    table: Table  # a row for every edge and code; for path features, for every edge
    edges: Any  # `losses.Edges`
    names: tuple[Any, ...]  # of the nodes
    paths: bool  # an edge scores code 11 only
    other: Any = None  # of two exclusive classes, the one that is the node switched off
    steps: bool = False
    note: str = ""

    @classmethod
    def of(cls, estimator: Any) -> Markov:
        """The weights of an estimator."""
        if estimator.local_coef_ is not None:
            said = "This HM3 learned from local features of edges, which have no names. "
            raise UserError(
                f"{said}Fit it without local=... to explain it.",
                f"{said}Train it again without these to explain it.",
            )
        inputs, targets = Inputs.of(estimator), estimator.targets_
        W = estimator.coef_ if inputs.kind == "features" else estimator.dual_coef_.T
        table = Table((W,), np.asarray(estimator.intercept_))
        names = targets.names[1:] if targets.binary else targets.names
        other = targets.names[0] if targets.binary else None
        return cls(inputs, table, estimator.edges_, names, estimator.features == "path", other)

    @property
    def kind(self) -> str:
        return self.inputs.kind

    def row(self, X: Any) -> Row:
        return self.inputs.row(X)

    def knows(self, node: Any) -> bool:
        return node in self.names or (self.other is not None and node == self.other)

    def hands_on(self, node: Any) -> bool:
        return self.knows(node)

    def shares(self, node: Any, row: Row | None = None, inner: bool = False) -> list[Share]:
        if not self.knows(node):
            raise UserError(
                f"The model has no weights for {shorten(node)}. "
                f"It has some for: {shorten(list(self.names))}."
            )
        off = self.other is not None and node == self.other
        v = 0 if off else self.names.index(node)
        edge, code, sign = self._alone(v) if row is None else self._switched(v, row)
        if self.paths:  # other codes score nothing
            kept = code == 3
            edge, code, sign = edge[kept], code[kept], sign[kept]
        numbers = edge if self.paths else 4 * edge + code
        sign = -sign if off else sign
        weights = sign[:, None] * self.table.rows(numbers, None if row is None else row.columns)
        sources = [self._source(int(e), v, node) for e in edge]
        found = merged(node, sources, weights, sign * self.table.offsets[numbers])
        return [Share(node, *found)]

    def _source(self, e: int, v: int, node: Any) -> Any:
        """The node that an edge is put down to: the lower one, or a root without an edge above."""
        own = self.edges.child[e] == v
        if self.edges.parent[e] == v and not (self.edges.child == v).any():
            own = True
        return node if own else self.names[self.edges.child[e]]

    def _alone(self, v: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges, codes and signs of a node switched on below its parent, above nothing."""
        above = np.flatnonzero(self.edges.child == v)
        below = np.flatnonzero(self.edges.parent == v)
        edge = np.concatenate([above, above, below, below])
        code = np.repeat([3, 2, 2, 0], [above.size, above.size, below.size, below.size])
        sign = np.repeat([1.0, -1.0, 1.0, -1.0], [above.size, above.size, below.size, below.size])
        return edge, code, sign

    def _switched(self, v: int, row: Row) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges, codes and signs in which the best labelings with and without v differ."""
        s = self._scores(row)
        with_v, without = self._codes(s, v, 1), self._codes(s, v, 0)
        differ = np.flatnonzero(with_v != without)
        edge = np.concatenate([differ, differ])
        code = np.concatenate([with_v[differ], without[differ]])
        return edge, code, np.repeat([1.0, -1.0], differ.size)

    def _scores(self, row: Row) -> np.ndarray:
        """Scores of the codes of all edges, (n_edges, 4)."""
        W = self.table.parts[0][:, row.columns]
        W = W.toarray() if sp.issparse(W) else np.asarray(W, dtype=np.float64)
        s = W @ row.values + self.table.offsets
        if not self.paths:
            return np.asarray(s.reshape(-1, 4))
        out = np.zeros((s.size, 4))
        out[:, 3] = s
        return out

    def _codes(self, s: np.ndarray, v: int, on: int) -> np.ndarray:
        """The codes of the best consistent labeling in which v is on, or off."""
        s = s.copy()
        large = 2.0 * np.abs(s).sum() + 1.0
        wrong = np.arange(4)
        s[np.ix_(self.edges.child == v, wrong % 2 != on)] -= large
        s[np.ix_(self.edges.parent == v, wrong // 2 != on)] -= large
        labels = max_sum(self.edges, s[None]).labels[0].astype(int)
        above = np.where(self.edges.parent < 0, 1, labels[self.edges.parent])
        return np.asarray(2 * above + labels[self.edges.child])
