"""Weights of attributes that go on learning: their last value, their mean, new attributes.

With u_l the update of visit l (zero if there was none), after T visits

    last  w = s + sum_l u_l,     mean = ((T + 1) w - U) / (T - b),     U = (b + 1) s + sum_l l u_l.

Every attribute has its own clock: b are the visits before it came, s what it started with, so its
mean goes over the time since it exists. For those of the beginning both are 0. An update changes U
where it changes w, however many visits come after it: nothing else is kept up to date. There is a
row for each feature; with another kernel, for each example that may carry updates, and the weights
are then the coefficients of the examples.

When classes come in, old weights w become w G, G of shape (n_attributes, n_attributes'): an old
attribute keeps its weights, a new one starts from zero, so that a new class below node p starts
with what the nodes above p have learnt. What the classes of old score must not change. With L and
L' their old and new attributes, c the number such that L = c L' if there is one (schemes that
are normalised by the depth of the taxonomy), else 1, and a(y) the attribute that class y alone has,

    w'_v = c w_v,     w'_a(y) += sum_v (l_v(y) - c l'_v(y)) w_v / l'_a(y)(y).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.inference.rows import row_blocks
from linnaeus.solvers.numerics.examples import FloatArray

EQUAL = 1e-12  # ratios that differ by less are the same
SUMMED = 4_000_000  # entries at most of the array that single rows are summed in


@dataclass
class Weights:
    """All are (n_rows, n_attributes), arrays or CSR.

    The last weights serve no other purpose than to go on, unless there is no mean.
    """

    last: Any
    n_steps: int = 0  # T
    mean: Any = None  # if there is one, and it is up to date
    moment: Any = None  # else U
    born: Any = None  # (n_attributes,) b of each; None if all are 0
    sums: Any = None  # (n_classes, n_rows), their total is the sum of the examples by class
    counts: Any = None  # (n_classes,) examples of each class

    def _visits(self) -> Any:
        """T - b, of all attributes or of each."""
        return np.maximum(1, self.n_steps - (0 if self.born is None else self.born))

    def answer(self) -> Any:
        """The weights to predict with: the mean if there is one, else the last ones."""
        if self.moment is None:
            return self.last if self.mean is None else self.mean
        whole, n = (self.n_steps + 1) * self.last - self.moment, self._visits()
        return _times(whole, 1 / n) if sp.issparse(whole) else whole / n

    def scores(self, inputs: Any, first: int | None = None) -> FloatArray:
        """``inputs @ answer()[:first]``; the mean is not made where it is not up to date."""
        if self.moment is None:
            return _product(inputs, self.answer()[:first])
        now, then = (_product(inputs, part[:first]) for part in (self.last, self.moment))
        return np.asarray(((self.n_steps + 1) * now - then) / self._visits())

    def sparse(self) -> Weights:
        """The same in CSR."""
        parts = (self.last, self.mean, self.moment)
        last, mean, moment = (None if part is None else sp.csr_array(part) for part in parts)
        return replace(self, last=last, mean=mean, moment=moment)

    def go_on(self, averaged: bool, dense: bool) -> None:
        """Be ready for more updates: U in place of the mean, and arrays if `dense`."""
        if not averaged:
            self.mean = self.moment = None
        elif self.moment is None:
            self.moment = self._moment(dense)
            self.mean = None
        if dense:
            self.last = as_array(self.last)
            self.moment = None if self.moment is None else as_array(self.moment)

    def _moment(self, dense: bool) -> Any:
        """U = (T + 1) last - (T - b) mean; an array takes the place of the mean."""
        T, n = self.n_steps, self._visits()
        if self.mean is None:
            return self.last.copy()
        if not dense or sp.issparse(self.mean):
            return sp.csr_array((T + 1) * self.last - _times(self.mean, n))
        U = np.multiply(self.mean, -n, out=self.mean)
        for rows in row_blocks(*U.shape):
            U[rows] += (T + 1) * as_array(self.last[rows])
        return U

    # -- new classes ------------------------------------------------------------------------

    def grow(self, G: sp.csr_array, place: Any, n_classes: int) -> None:
        """New attributes and classes: all weights w become w G, class y becomes place[y]."""
        if self.moment is not None:
            self.mean, self.moment = self.answer(), None
        for name in ("last", "mean"):
            part = getattr(self, name)
            if part is not None:
                new = part @ G
                new = sp.csr_array(new) if sp.issparse(new) else _like(part, new)
                setattr(self, name, new)
        since = np.zeros(G.shape[0], np.int64) if self.born is None else self.born
        v, r = sp.coo_array(G).coords
        self.born = np.full(G.shape[1], self.n_steps, np.int64)
        np.minimum.at(self.born, r, since[v])
        if self.counts is not None:
            self._settle()
            at = sp.csr_array(
                (np.ones(place.size), (place, np.arange(place.size))), shape=(n_classes, place.size)
            )
            self.counts = (at @ self.counts).astype(np.int64)
            self.sums = [sp.csr_array(at.astype(part.dtype) @ part) for part in self.sums]

    def parts(self) -> list[Any]:
        """The last weights, and the mean if there is one."""
        return [self.last] if self.moment is None else [self.last, self.answer()]

    def start(self, columns: Any, changes: list[FloatArray], n: int) -> None:
        """Attributes begin anew, n visits ago, with changes added to their `parts`."""
        T, last = self.n_steps, changes[0]
        if self.moment is not None:
            before = np.broadcast_to(self._visits(), self.last.shape[1:])[columns]
            ends = (as_array(part[:, columns]) for part in (self.last, self.moment))
            mean = ((T + 1) * next(ends) - next(ends)) / before
            move = (T + 1) * last + (before - n) * mean - n * changes[1]
            self.moment = _with_columns(self.moment, columns, move)
        self.last = _with_columns(self.last, columns, last)
        born = np.zeros(self.last.shape[1], np.int64) if self.born is None else self.born
        self.born = np.where(_mask(columns, born.size), T - n, born)

    # -- examples by class ------------------------------------------------------------------

    def remember(self, n_classes: int) -> None:
        """Begin to note examples."""
        self.counts, self.sums = np.zeros(n_classes, np.int64), []

    def note(self, X: sp.csr_array, Y: sp.csr_array) -> None:
        """Add examples to the sums of their classes; large sums are added up seldom."""
        if self.counts is None:  # the weights of a model that was saved before examples were noted
            return
        q, width = Y.shape[1], self.last.shape[0]
        self._settle()
        self.counts = self.counts + np.asarray(Y.sum(axis=0), np.int64)
        parts = [*self.sums, sp.csr_array(Y.T.astype(X.dtype) @ X)]
        for part in parts:
            part.resize(q, width)
        while len(parts) > 1 and parts[-2].nnz <= 2 * parts[-1].nnz:
            parts[-2:] = [sp.csr_array(parts[-2] + parts[-1])]
        self.sums = parts

    def note_row(self, y: int, indices: Any, data: FloatArray) -> None:
        """The same of one row of class y; rows are summed in an array where one is small."""
        shape = self.counts.size, self.last.shape[0]
        if shape[0] * shape[1] > SUMMED:
            row = sp.csr_array((data, indices, [0, indices.size]), shape=(1, shape[1]))
            self.note(row, sp.csr_array(([1], ([0], [y])), shape=(1, shape[0])))
            return
        self.counts[y] += 1
        if not self.sums or sp.issparse(self.sums[-1]):
            self.sums.append(np.zeros(shape, data.dtype))
        self.sums[-1][y, indices] += data

    def _settle(self) -> None:
        """Sums of single rows as CSR, like all others."""
        if self.sums and not sp.issparse(self.sums[-1]):
            self.sums[-1] = sp.csr_array(self.sums[-1])

    def means(self, of_examples: bool) -> tuple[Any, sp.csr_array]:
        """The classes that have had examples, and the means of these.

        of_examples : whether rows are examples, of which some were not kept
        """
        width = self.last.shape[0]
        self._settle()
        if not self.sums:
            return np.empty(0, np.int64), sp.csr_array((0, width))
        total = sum(self.sums[1:], start=self.sums[0])
        count = total.sum(axis=1) if of_examples else self.counts
        seen = np.flatnonzero(count)
        means = sp.csr_array(sp.diags_array(1 / count[seen]) @ total[seen])
        means.resize(seen.size, width)
        return seen, means


def growth(old: sp.csr_array, new: sp.csr_array, place: Any, column: Any, own: Any) -> sp.csr_array:
    """G for classes with attributes `old` and then `new`, a row per class.

    place : the number of each old class among the new ones
    column : the number of each old attribute among the new ones
    own : the attribute that each old class, where it is now, has alone; -1 for none
    """
    s = old.shape[1]
    before, now = sp.csr_array(old), sp.csr_array(sp.csr_array(new[place])[:, column])
    now.eliminate_zeros()
    c = _ratio(before, now)
    G = sp.csr_array((np.full(s, c), (np.arange(s), column)), shape=(s, new.shape[1]))
    rest = sp.coo_array(before - c * now)
    share = as_array(new[place, np.maximum(own, 0)]).ravel() * (own >= 0)
    y, v = rest.coords
    kept = (np.abs(rest.data) > EQUAL * np.abs(old.data).max(initial=0.0)) & (share[y] != 0)
    y, v, value = y[kept], v[kept], rest.data[kept]
    return G + sp.csr_array((value / share[y], (v, own[y])), shape=G.shape)


def _ratio(before: sp.csr_array, now: sp.csr_array) -> float:
    """The number c with ``before = c now`` wherever both are not 0, else 1."""
    both = sp.csr_array(before.multiply(now.power(-1.0)))  # zeros of `now` are not stored
    both.eliminate_zeros()
    if both.nnz == 0 or np.ptp(both.data) > EQUAL * np.abs(both.data).max():
        return 1.0
    return float(both.data[0])


def as_array(S: Any) -> FloatArray:
    return S.toarray() if sp.issparse(S) else np.asarray(S)


def _product(inputs: Any, W: Any) -> FloatArray:
    """In the type of the weights, so that these are never copied."""
    return as_array(inputs.astype(W.dtype, copy=False) @ W)


def _times(A: Any, factors: Any) -> Any:
    """Columns times factors."""
    return sp.csr_array(A.multiply(factors)) if sp.issparse(A) else A * factors


def _mask(numbers: Any, n: int) -> Any:
    return np.isin(np.arange(n), numbers)


def _with_columns(part: Any, columns: Any, change: FloatArray) -> Any:
    """The change added to these columns: in place, or in CSR."""
    if sp.issparse(part):
        at = np.arange(columns.size), columns
        move = sp.csr_array((np.ones(columns.size), at), shape=(columns.size, part.shape[1]))
        return sp.csr_array(part + sp.csr_array(change) @ move)
    part[:, columns] += change
    return part


def _like(part: FloatArray, new: Any) -> FloatArray:
    return np.ascontiguousarray(new, dtype=part.dtype)
