"""New classes: what is theirs alone is learned from a batch, while all that was known stays.

Let N be the attributes that only new classes have, d_v what is added to the weights of v in N, and
F the scores so far. For pairs p of a label y of row x_p and a rival z

    minimise_d  1/2 sum_v ||d_v||^2 + sum_p xi_p^2 / (2 s_p)   subject to, with u_p = L(y) - L(z),
    F(x_p, y) - F(x_p, z) + sum_{v in N} u_pv d_v.x_p >= t sqrt(D(y, z)) - xi_p.

This is Hieron's problem for all pairs at once. A new class has as rivals the other new ones and the
most pressing old one; an old class has the new ones. Rows are those of the batch and, for old
classes, their means m_k, alone and with the scatter of new rows, m_k + x_i - m_y(i): classes are
taken to scatter alike, as in discriminant analysis. Scores of old classes cannot change.

t is half the median margin of the means; s_p goes with the root of the pairs of its class. Where
rows are lost (their margin is not above 0) smaller t are tried, and equal s_p: the first that loses
none is taken, else the one with the least share lost of the worst new and the worst old class.
docs/maths/perceptron.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.losses import ClassLoss
from linnaeus.solvers.numerics.examples import FloatArray, IntArray, squared_norms
from linnaeus.solvers.numerics.scores_fast import Inputs
from linnaeus.solvers.online import newcomers_fast as fast
from linnaeus.solvers.online.perceptron import inputs_of
from linnaeus.solvers.online.perceptron_weights import Weights, as_array

MARGIN = 0.5  # t at first, in median margins of the means of old classes
PARTS = (1.0, 0.5, 0.25, 0.125)  # of t, to be tried
SOFT = 0.01  # the mean of s, in mean squared norms of the pairs
ENOUGH = 0.02  # a violation of the optimality that is small, in t
PASSES = 1000  # at most
SCATTERED = 10  # rows around the mean of an old class
NEAREST = 200  # old classes at most: those with the nearest means
TOGETHER = 20  # new classes at most that are learned at the same time
TINY = 1e-300
SCORES = 20_000_000  # of rows of the batch, at most


class Pairs(NamedTuple):
    """Rows with a label and a rival each."""

    row: Any
    right: Any
    wrong: Any
    wanted: Any  # the margin
    gap: Any  # what it lacks


def find(Y: sp.csr_array, attributes: sp.csr_array, may_be_new: Any) -> IntArray:
    """The classes with examples here that may be new and have attributes that no other has."""
    new = may_be_new & (np.bincount(Y.indices, minlength=Y.shape[1]) > 0)
    while True:
        own = np.diff(sp.csr_array(attributes[:, _free(attributes, new)]).indptr) > 0
        if own[new].all():
            return np.flatnonzero(new).astype(np.int32)
        new = new & own


def _free(attributes: sp.csr_array, new: Any) -> Any:
    """The attributes that new classes alone have."""
    used = np.bincount(sp.csr_array(attributes[~new]).indices, minlength=attributes.shape[1])
    return np.flatnonzero(used == 0)


def introduce(
    weights: Weights, model: tuple[sp.csr_array, ClassLoss], X: sp.csr_array, Y: sp.csr_array,
    new: Any, gram: Any,
) -> None:  # fmt: skip
    """Learn new classes, some at a time, and note their rows.

    model : the attributes of the classes, and the loss between them
    X : (n, n_rows of the weights), the batch by its features, or as examples of the kernel
    new : numbers of the new classes, which have examples in the batch
    gram : kernel values of the examples with each other; None for features
    """
    hidden = _mask(new, Y.shape[1])
    rest = _some(Y @ hidden == 0, Y.shape[1])
    alone = np.bincount(model[0].indices, minlength=model[0].shape[1]) == 1
    apart = (abs(model[0]) @ alone > 0)[new].all()
    for part in np.array_split(new, -(-new.size // TOGETHER) if apart else 1):
        here = _mask(part, Y.shape[1])
        hidden[part] = False
        chosen = np.concatenate([_some(Y @ here > 0, Y.shape[1]), rest])
        _learn(weights, model, X[chosen], Y[chosen], here, hidden, gram)
        weights.note(X, sp.csr_array(Y.multiply(here)))


def _mask(numbers: Any, n: int) -> Any:
    mask = np.zeros(n, bool)
    mask[numbers] = True
    return mask


def _some(rows: Any, n_classes: int) -> Any:
    """The numbers of the rows; of too many, some at even distances."""
    numbers, most = np.flatnonzero(rows), max(1, SCORES // n_classes)
    return numbers[:: max(1, -(-numbers.size // most))]


def _learn(
    weights: Weights, model: tuple[sp.csr_array, ClassLoss], X: sp.csr_array, Y: sp.csr_array,
    new: Any, hidden: Any, gram: Any,
) -> None:  # fmt: skip
    """Learn the classes `new`; `hidden` are those that have yet to come. Both are masks."""
    (L, loss), n = model, X.shape[0]
    free, old = _free(L, new), ~(new | hidden)
    own = sp.csr_array(L[:, free])
    rows, labels, n_means = _rows(weights.means(gram is not None), X, Y, new, gram)
    side = _side(rows, gram)
    inputs = inputs_of(rows if gram is None else None, side @ rows.T)
    some = np.union1d(labels[n:].indices, np.flatnonzero(new))
    found = []
    for w in weights.parts():
        F = np.full(labels.shape, -np.inf)
        F[:n] = _scores(side[:n], w, L)
        F[n:, some] = _scores(side[n:], w, sp.csr_array(L[some]))
        t = MARGIN * _margin(F, labels, slice(n, n + n_means), old, loss)
        tried = (
            _solve(inputs, _pairs(F, labels, new, old, loss, t * part), own, new, t * part, even)
            for even, part in product((True, False), PARTS)
        )
        found.append(as_array(rows.T @ _best(tried)))
    weights.start(free, found, int(np.count_nonzero(Y @ new)))


# -- rows ------------------------------------------------------------------------------------------


def _side(A: sp.csr_array, gram: Any) -> Any:
    """What B' is to be multiplied with for the inner products of A and B."""
    return A if gram is None else A @ gram


def _rows(
    memory: tuple[Any, sp.csr_array], X: sp.csr_array, Y: sp.csr_array, new: Any, gram: Any
) -> tuple[sp.csr_array, sp.csr_array, int]:
    """The batch, the means of old classes, rows around these; their labels; how many means."""
    first = sp.csr_array(Y.multiply(new))
    first.eliminate_zeros()
    at = np.flatnonzero(np.diff(first.indptr))
    label, own = first.indices[first.indptr[at]], X[at]
    member = _one_hot(label, Y.shape[1])
    centres = sp.csr_array(sp.diags_array(1 / np.maximum(1, member.sum(axis=0))) @ member.T @ own)
    which, means = memory
    kept = _nearest(means, sp.csr_array(centres[np.unique(label)]), gram)
    which, means = which[kept], sp.csr_array(means[kept])
    each = np.repeat(np.arange(which.size), SCATTERED)
    scatter = sp.csr_array(own - centres[label])[np.arange(each.size) % at.size]
    rows = sp.vstack([X, means, means[each] + scatter])
    known = _one_hot(np.concatenate([which, which[each]]), Y.shape[1])
    labels = sp.csr_array(sp.vstack([Y, known]))
    return sp.csr_array(rows, dtype=X.dtype), labels, int(which.size)


def _one_hot(columns: Any, n_columns: int) -> sp.csr_array:
    n = columns.size
    return sp.csr_array((np.ones(n), (np.arange(n), columns)), shape=(n, n_columns))


def _nearest(means: sp.csr_array, centres: sp.csr_array, gram: Any) -> Any:
    """The numbers of the means, the nearest to any of the centres if there are many."""
    if means.shape[0] <= NEAREST:
        return np.arange(means.shape[0])
    side, other = _side(means, gram), _side(centres, gram)
    norm2, far = (
        np.asarray(A.multiply(B).sum(axis=1)) for A, B in [(means, side), (centres, other)]
    )
    distance = (norm2.reshape(-1, 1) - 2 * as_array(side @ centres.T) + far.reshape(1, -1)).min(
        axis=1
    )
    return np.sort(np.argsort(distance, kind="stable")[:NEAREST])


def _scores(side: Any, w: Any, L: sp.csr_array) -> FloatArray:
    used = np.unique(L.indices)
    raw = as_array(side @ w) if 2 * used.size > L.shape[1] else as_array(side @ w[:, used])
    L = L if raw.shape[1] == L.shape[1] else sp.csr_array(L[:, used])
    return np.asarray((L @ raw.T).T, dtype=np.float64)


# -- pairs -----------------------------------------------------------------------------------------


def _margin(F: FloatArray, Y: sp.csr_array, means: slice, old: Any, loss: ClassLoss) -> float:
    """The median size of the margins of the means, over the root of the loss; 1 if that is 0.

    Without means, the median distance of the two top scores of old classes.
    """
    F = np.where(old, F, -np.inf)
    if means.stop - means.start > 1:
        label = Y.indices[Y.indptr[means]]
        gaps = F[means][np.arange(label.size), label][:, None] - F[means]
        D = loss.rows(label)
        sizes = np.min(gaps / np.sqrt(np.maximum(D, TINY)), axis=1, where=D > 0, initial=np.inf)
    elif old.sum() > 1:
        sizes = np.diff(np.partition(F[: means.start], -2, axis=1)[:, -2:], axis=1)
    else:
        return 1.0
    unit = float(np.median(np.abs(sizes)))
    return unit if np.isfinite(unit) and unit > 0 else 1.0


def _pairs(F: FloatArray, Y: sp.csr_array, new: Any, old: Any, loss: ClassLoss, t: float) -> Pairs:
    """Every label of a row of old classes, and every new label of the others, with its rivals."""
    own, late = Y.toarray() > 0, np.flatnonzero(new)
    row, y = np.nonzero(own & (new | ~(own & new).any(axis=1)[:, None]))
    each = np.repeat(np.arange(row.size), late.size)
    parts = [(row[each], y[each], np.tile(late, row.size))]
    at = np.flatnonzero(new[y] & (old & ~own[row]).any(axis=1))
    if at.size:
        pressing = F[row[at]] + t * np.sqrt(loss.rows(y[at]))
        z = np.where(old & ~own[row[at]], pressing, -np.inf).argmax(axis=1)
        parts.append((row[at], y[at], z))
    row, right, wrong = (np.concatenate(part) for part in zip(*parts, strict=True))
    kept = ~own[row, wrong]
    row, right, wrong = row[kept], right[kept], wrong[kept]
    wanted = t * np.sqrt(loss.pairs(right, wrong))
    return Pairs(row, right, wrong, wanted, wanted - (F[row, right] - F[row, wrong]))


def _best(tried: Iterable[tuple[sp.csr_array, float]]) -> sp.csr_array:
    """The first of the coefficients that loses no row, else the first of those that lose least."""
    found = []
    for C, lost in tried:
        found.append((lost, C))
        if lost == 0:
            break
    return min(found, key=itemgetter(0))[1]


def _solve(
    inputs: Inputs, pairs: Pairs, L: sp.csr_array, new: Any, t: float, even: bool
) -> tuple[sp.csr_array, float]:
    """The coefficients of the rows, (n, n_free), by dual coordinate descent; what is `_lost`."""
    U = sp.csr_array(L[pairs.right] - L[pairs.wrong])
    norm2 = squared_norms(U, 0.0) * inputs.norm2[pairs.row]
    kept = norm2 > 0
    U, row, norm2 = sp.csr_array(U[kept]), pairs.row[kept], norm2[kept]
    soft = _soft(norm2, pairs.right[kept], even)
    alpha, W = np.zeros(row.size), _state(inputs, U.shape[1])
    lines = fast.Lines(
        row.astype(np.int32), U.indptr.astype(np.int64), U.indices.astype(np.int32), U.data,
        pairs.gap[kept], norm2, soft,
    )  # fmt: skip
    for _ in range(PASSES):
        if fast.descend(inputs, lines, alpha, W) <= ENOUGH * t:
            break
    slack = np.zeros(kept.size)
    slack[kept] = soft * alpha
    C = _one_hot(row, inputs.norm2.size).T @ sp.diags_array(alpha) @ U
    return C, _lost(pairs, (slack > 0) & (slack >= pairs.wanted), new)


def _soft(norm2: FloatArray, right: IntArray, even: bool) -> FloatArray:
    """s of each pair; if `even`, as the root of the pairs of its class."""
    if not even or not right.size:
        return np.full(right.size, SOFT * norm2.sum() / max(1, right.size))
    share = np.sqrt(np.bincount(right)[right])
    return np.asarray(SOFT * norm2.mean() * share / share.mean())


def _lost(pairs: Pairs, failed: Any, new: Any) -> float:
    """The share of rows with a pair that failed: of the worst new and old class, added."""
    key, at = np.unique(pairs.row.astype(np.int64) * new.size + pairs.right, return_inverse=True)
    failing, label = np.bincount(at, failed) > 0, key % new.size
    total = np.bincount(label, minlength=new.size)
    share = np.bincount(label, failing, minlength=new.size) / np.maximum(1, total)
    return float(share[new].max(initial=0.0) + share[~new].max(initial=0.0))


def _state(inputs: Inputs, n_free: int) -> FloatArray:
    if inputs.K.size:
        return np.zeros((n_free, inputs.norm2.size))
    return np.zeros((int(inputs.indices.max(initial=0)) + 1, n_free), inputs.data.dtype)
