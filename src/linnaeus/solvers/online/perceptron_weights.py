"""Weights of attributes that go on learning: their last value, their mean, new attributes.

With u_l the update of visit l (zero if there was none), after T visits

    last  w = sum_l u_l,     mean = ((T + 1) w - U) / T,     U = sum_l l u_l.

An update changes U where it changes w, however many visits come after it: nothing else is kept up
to date. There is a row for each feature; with another kernel, for each example that may carry
updates, and the weights are then the coefficients of the examples.

When classes come in, old weights w become w G, G of shape (n_attributes, n_attributes'): an old
attribute keeps its weights, a new one starts from zero, so that a new class below node p starts
with what the nodes above p have learnt. What the classes of old score must not change. With L and
L' their old and new attributes, c the number such that L = c L' if there is one (schemes that
are normalised by the depth of the taxonomy), else 1, and a(y) the attribute that class y alone has,

    w'_v = c w_v,     w'_a(y) += sum_v (l_v(y) - c l'_v(y)) w_v / l'_a(y)(y).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.inference.rows import row_blocks
from linnaeus.solvers.numerics.examples import FloatArray

EQUAL = 1e-12  # ratios that differ by less are the same


@dataclass
class Weights:
    """All are (n_rows, n_attributes), arrays or CSR.

    The last weights serve no other purpose than to go on, unless there is no mean.
    """

    last: Any
    n_steps: int = 0  # T
    mean: Any = None  # if there is one, and it is up to date
    moment: Any = None  # else U

    def answer(self) -> Any:
        """The weights to predict with: the mean if there is one, else the last ones."""
        if self.moment is None:
            return self.last if self.mean is None else self.mean
        T = max(1, self.n_steps)
        return ((T + 1) * self.last - self.moment) / T

    def scores(self, inputs: Any, first: int | None = None) -> FloatArray:
        """``inputs @ answer()[:first]``; the mean is not made where it is not up to date."""
        if self.moment is None:
            return _product(inputs, self.answer()[:first])
        T = max(1, self.n_steps)
        now, then = (_product(inputs, part[:first]) for part in (self.last, self.moment))
        return ((T + 1) * now - then) / T

    def sparse(self) -> Weights:
        """The same in CSR."""
        parts = (self.last, self.mean, self.moment)
        last, mean, moment = (None if part is None else sp.csr_array(part) for part in parts)
        return Weights(last, self.n_steps, mean, moment)

    def go_on(self, averaged: bool, dense: bool) -> None:
        """Be ready for more updates: U in place of the mean, and arrays if `dense`."""
        if not averaged:
            self.mean = self.moment = None
        elif self.moment is None:
            self.moment = self._moment(dense)
            self.mean = None
        if dense:
            self.last = _dense(self.last)
            self.moment = None if self.moment is None else _dense(self.moment)

    def _moment(self, dense: bool) -> Any:
        """U = (T + 1) last - T mean; an array takes the place of the mean."""
        T = self.n_steps
        if self.mean is None:
            return self.last.copy()
        if not dense or sp.issparse(self.mean):
            return sp.csr_array((T + 1) * self.last - T * self.mean)
        U = np.multiply(self.mean, -T, out=self.mean)
        for rows in row_blocks(*U.shape):
            U[rows] += (T + 1) * _dense(self.last[rows])
        return U

    def grow(self, G: sp.csr_array) -> None:
        """New attributes: all weights w become w G."""
        for name in ("last", "mean", "moment"):
            part = getattr(self, name)
            if part is not None:
                new = part @ G
                new = sp.csr_array(new) if sp.issparse(new) else _like(part, new)
                setattr(self, name, new)


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
    share = _dense(new[place, np.maximum(own, 0)]).ravel() * (own >= 0)
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


def _dense(S: Any) -> FloatArray:
    return S.toarray() if sp.issparse(S) else np.asarray(S)


def _product(inputs: Any, W: Any) -> FloatArray:
    """In the type of the weights, so that these are never copied."""
    return _dense(inputs.astype(W.dtype, copy=False) @ W)


def _like(part: FloatArray, new: Any) -> FloatArray:
    return np.ascontiguousarray(new, dtype=part.dtype)
