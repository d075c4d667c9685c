"""A balanced tree of classes by repeated halving, for label sets too large for average linkage.

A group of n classes with L levels to go is divided into k groups of equal size (give or take one),
k the smallest number with k^L >= n; then each of them, with L - 1 levels to go. Division into k is
by halves: floor(k/2) of the groups against the others, with sizes a and b. A half is 2-means with
sizes given,

    minimise  sum_{i in A} |x_i - mean A|^2 + sum_{i in B} |x_i - mean B|^2,   |A| = a, |B| = b.

For given means the best A are the a classes with the largest <x_i, mean A - mean B>, so a step is
one product and one sort, and no step makes it worse. With metric="cosine" the x_i and the means are
scaled to length 1 first. Of `RESTARTS` starts the best after `TRIAL` steps goes on. Time: some 30
products with the matrix of class means for every level of halving, log2(q) of them; memory: a few
copies of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

Callback = Callable[[int, int], None]

RESTARTS = 3
TRIAL = 4  # steps of every start
STEPS = 20  # further steps of the best
NARROW = 2  # columns are renumbered when less than one in so many is used


class Options(NamedTuple):
    spherical: bool
    rng: np.random.Generator
    moved: Callable[[int], None]  # told how many classes a halving has placed


def kmeans_shape(
    C: Any, n_levels: int, spherical: bool, rng: np.random.Generator, callback: Callback | None
) -> np.ndarray:
    """The shape (see `shape`) of a balanced tree over the rows of C with levels of clusters."""
    q = C.shape[0]
    done, total = [0], q * max(1, _halvings(q, n_levels + 1))

    def moved(n: int) -> None:
        done[0] += n
        if callback is not None:
            callback(min(done[0], total), total)

    options = Options(spherical, rng, moved)
    parent = np.full(q, -1)
    clusters: list[int] = []  # the parents of the clusters
    pending = [(np.arange(q), -1, n_levels + 1)]
    while pending:
        rows, above, depth = pending.pop()
        if depth == 1:
            parent[rows] = above
            continue
        parts = _divide(_narrow(_rows(C, rows)), root_of(rows.size, depth), options)
        for part in parts:
            clusters.append(above)
            pending.append((rows[part], q + len(clusters) - 1, depth - 1))
    if callback is not None:
        callback(total, total)
    return np.concatenate([parent, np.array(clusters, dtype=np.int64)])


def root_of(n: int, depth: int) -> int:
    """The smallest k with k^depth >= n."""
    k = max(1, int(n ** (1.0 / depth)) - 1)
    while k**depth < n:
        k += 1
    return k


def levels_for(n: int, branching: int) -> int:
    """How many levels of clusters keep families within `branching`; at least one."""
    depth = 1
    while branching**depth < n:
        depth += 1
    return max(1, depth - 1)


def _halvings(n: int, depth: int) -> int:
    """How many times a class is in a group that is halved, at most."""
    count = 0
    for level in range(depth, 1, -1):
        k = root_of(n, level)
        count += (k - 1).bit_length()
        n = -(-n // k)
    return count


def _divide(C: Any, k: int, options: Options) -> list[np.ndarray]:
    """The rows of C in k groups of equal size, give or take one."""
    found: list[np.ndarray] = []
    pending = [(np.arange(C.shape[0]), C, k)]
    while pending:
        rows, part, k = pending.pop()
        if k == 1:
            found.append(rows)
            continue
        first = _halve(part, rows.size * (k // 2) // k, options)
        options.moved(rows.size)
        for side, parts in ((first, k // 2), (~first, k - k // 2)):
            pending.append((rows[side], _narrow(_rows(part, np.flatnonzero(side))), parts))
    return found


def _halve(C: Any, n_first: int, options: Options) -> np.ndarray:
    """Which rows belong to the first of two groups of given sizes."""
    total = _sum(C, np.ones(C.shape[0]))
    starts = []
    for _ in range(RESTARTS):
        i, j = _seeds(C, options.rng)
        direction = _row(C, i) - _row(C, j)
        starts.append(_improved(C, direction, total, n_first, TRIAL, options.spherical))
    best = max(starts, key=lambda half: half.value)
    return _improved(C, best.direction, total, n_first, STEPS, options.spherical).side


class Half(NamedTuple):
    side: np.ndarray  # (n,) bool, the first group
    direction: np.ndarray  # the difference of the means
    value: float  # what the means explain; more is better


def _improved(
    C: Any, direction: np.ndarray, total: np.ndarray, n_first: int, steps: int, spherical: bool
) -> Half:
    """Two groups after so many steps, fewer where nothing changes any more."""
    n, value = C.shape[0], -np.inf
    side = np.zeros(n, dtype=bool)
    for _ in range(steps):
        order = np.argsort(-np.asarray(C @ direction), kind="stable")
        last, side = side, np.zeros(n, dtype=bool)
        side[order[:n_first]] = True
        if (side == last).all():
            break
        a = _sum(C, side.astype(np.float64))
        direction, value = _means(a, total - a, n_first, n - n_first, spherical)
    return Half(side, direction, value)


def _means(
    a: np.ndarray, b: np.ndarray, n_a: int, n_b: int, spherical: bool
) -> tuple[np.ndarray, float]:
    """The difference of two means, and what they explain; more is better."""
    squares = float(a @ a), float(b @ b)
    if not spherical:
        return a / n_a - b / n_b, squares[0] / n_a + squares[1] / n_b
    lengths = np.sqrt(squares)
    safe = np.where(lengths > 0, lengths, 1.0)
    return a / safe[0] - b / safe[1], float(lengths.sum())


def _seeds(C: Any, rng: np.random.Generator) -> tuple[int, int]:
    """Two rows: one at random, another by its squared distance from it."""
    i = int(rng.integers(C.shape[0]))
    x = _row(C, i)
    squares = np.asarray(C.multiply(C).sum(axis=1) if sp.issparse(C) else (C * C).sum(axis=1))
    far = np.maximum(squares.ravel() + x @ x - 2.0 * np.asarray(C @ x), 0.0)
    far[i] = 0.0
    chance = far.cumsum()
    if not chance[-1] > 0:
        return i, (i + 1) % C.shape[0]
    return i, int(min(np.searchsorted(chance, rng.random() * chance[-1], "right"), far.size - 1))


def _sum(C: Any, weight: np.ndarray) -> np.ndarray:
    return np.asarray(C.T @ weight)


def _row(C: Any, i: int) -> np.ndarray:
    return np.asarray(C[[i]].toarray().ravel() if sp.issparse(C) else C[i])


def _rows(C: Any, rows: np.ndarray) -> Any:
    return C if rows.size == C.shape[0] else C[rows]


def _narrow(C: Any) -> Any:
    """Without the columns that no row uses, where they are many."""
    if not sp.issparse(C):
        return C
    used = np.unique(C.indices)
    if used.size * NARROW > C.shape[1]:
        return C
    columns = np.searchsorted(used, C.indices)
    return sp.csr_array((C.data, columns, C.indptr), shape=(C.shape[0], max(used.size, 1)))
