"""Passes over the rows for Newton's method of `rr_lr_tree`: losses with their gradient, products.

The rows are cut into parts, whose sums are added in order. Here parts work side by side on the
arrays of the fit; on other machines each is a task that takes weights and gives its sums, so the
bits are the same. That is the softmax of [GopalYang2015, section 3.4] over many machines: a part
needs the weights of all classes, and no part needs another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.execution import task
from linnaeus.solvers.linear import logistic_fast as flat
from linnaeus.solvers.numerics.coordinate_ascent import Values
from linnaeus.solvers.numerics.examples import FloatArray, Rows
from linnaeus.solvers.numerics.row_parts import RowParts


class Labels(NamedTuple):
    """What the rows have beside their features."""

    bias: Any  # size of the constant feature
    softmax: bool
    weight: Values  # (n,)
    cost: Values  # (2, leaves)
    y: Any  # (n, leaves) uint8
    t: Any  # (n,) int64, the class of each row

    def part(self, here: slice) -> Labels:
        """Those of some rows."""
        return self._replace(weight=self.weight[here], y=self.y[here], t=self.t[here])


class Passes:
    """The rows in parts, and where these are worked on."""

    def __init__(self, over: RowParts, labels: Labels) -> None:
        self.over, self.labels = over, labels
        self.placed: list[Any] = []  # rows and labels where far workers find them

    def losses(self, W: FloatArray, G: FloatArray, H: FloatArray) -> Values:
        """The loss of every class (of all, for softmax); G += its gradient.

        W, G : (n_features + 1, leaves);  H : (n, leaves), set to what `products` takes
        """
        if self.over.is_far:
            made = self._far(_losses, W, list(self.over.large), G)
            for part, (_, kept) in zip(self.over.large, made, strict=True):
                H[part] = kept
            return np.asarray(np.sum([each for each, _ in made], axis=0))

        def add(part: slice, rows: Rows, sums: FloatArray) -> Values:
            return losses_of(rows, self.labels.part(part), W, sums, H[part])

        return np.asarray(np.sum(self.over.summed(add, G), axis=0))

    def products(self, V: FloatArray, H: FloatArray, out: FloatArray) -> None:
        """out += the Hessian of the losses times V."""
        if self.over.is_far:
            self._far(_products, V, [(part, H[part]) for part in self.over.large], out)
            return

        def add(part: slice, rows: Rows, sums: FloatArray) -> None:
            multiply(rows, self.labels.part(part), V, H[part], sums)

        self.over.summed(add, out)

    def _far(self, function: Any, W: FloatArray, blocks: list[Any], out: FloatArray) -> list[Any]:
        """Sums of tasks are added to `out`; the list of what else they give."""
        executor = self.over.executor
        assert executor is not None
        self.placed = self.placed or [executor.put(item) for item in (self.over.rows, self.labels)]
        made = []
        for sums, more in executor.map(function, [*self.placed, executor.put(W)], blocks):
            out += sums
            made.append(more)
        return made


def losses_of(rows: Rows, own: Labels, W: FloatArray, G: FloatArray, H: FloatArray) -> Values:
    """The losses of some rows."""
    z, each = np.empty(W.shape[1], dtype=W.dtype), np.empty((1, W.shape[1]))
    given = rows, own.bias, own.weight
    if own.softmax:
        return np.array([flat.softmax_evaluate(*given, own.t, W, G, H, z, each)])
    flat.binary_evaluate(*given, own.cost, own.y, W, G, H, z, each[0])
    return np.asarray(each[0])


def multiply(rows: Rows, own: Labels, V: FloatArray, H: FloatArray, out: FloatArray) -> None:
    """out += the part of the Hessian that some rows have, times V."""
    z = np.empty(V.shape[1], dtype=V.dtype)
    if own.softmax:
        flat.softmax_product(rows, own.bias, own.weight, H, V, out, z)
    else:
        flat.binary_product(rows, own.bias, H, V, out, z)


@task
def _losses(rows: Rows, labels: Labels, W: FloatArray, part: slice) -> tuple[FloatArray, Any]:
    G, H = np.zeros_like(W), np.empty((part.stop - part.start, W.shape[1]), dtype=W.dtype)
    each = losses_of(_cut(rows, part), labels.part(part), W, G, H)
    return G, (each, H)


@task
def _products(
    rows: Rows, labels: Labels, V: FloatArray, block: tuple[slice, FloatArray]
) -> tuple[FloatArray, None]:
    (part, H), out = block, np.zeros_like(V)
    multiply(_cut(rows, part), labels.part(part), V, H, out)
    return out, None


def _cut(rows: Rows, part: slice) -> Rows:
    return rows._replace(indptr=rows.indptr[part.start : part.stop + 1])
