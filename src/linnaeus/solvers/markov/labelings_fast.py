# mypy: ignore-errors
"""Weighted labelings of every example: a pool of codes in linked lists.

A labeling gives every edge e a code, the labels of its nodes, and is worth sum_e h[start_e + y_e].
Example i holds labelings with weights alpha(i, y) >= 0. A list costs as much as it is long, and
slots that are given back are used again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop, part


class Pool(NamedTuple):
    """The slots, and where lists begin; slot i is the first of example i."""

    head: Any  # (n + 1,) int64, first slot of an example, -1 for none; the last is the free list
    next: Any  # (n_slots,) int64, -1 at the end of a list
    alpha: Any  # (n_slots,) float64
    worth: Any  # (n_slots,) float64, as of the last `appraise`
    codes: Any  # (n_slots, n_edges) int

    @classmethod
    def of(cls, codes: Any, weight: Any, n_free: int) -> Pool:
        """A pool with one labeling of every example, (n, n_edges), and free slots."""
        n, n_edges = codes.shape
        head, following = np.arange(n + 1), np.arange(1, n + n_free + 1)
        following[:n] = following[-1] = -1
        more = np.zeros((n_free, n_edges), codes.dtype)
        alpha = np.concatenate([weight, np.zeros(n_free)])
        return cls(head, following, alpha, np.zeros_like(alpha), np.concatenate([codes, more]))

    def doubled(self) -> Pool:
        """A pool with as many slots again, all free, before the free ones it has."""
        n, head = self.next.size, self.head.copy()
        following = np.concatenate([self.next, np.arange(n + 1, 2 * n + 1)])
        following[-1], head[-1] = head[-1], n
        rest = (np.concatenate([part, np.zeros_like(part)]) for part in self[2:])
        return Pool(head, following, *rest)


@part
def worth(start, h, codes):
    """sum_e h[start_e + codes_e]"""
    total = 0.0
    for e in range(codes.size):
        total += h[start[e] + codes[e]]
    return total


@part
def appraise(pool, i, start, h):
    """What the labelings of example i are worth; returns the sum, each times its weight."""
    total, slot = 0.0, pool.head[i]
    while slot >= 0:
        pool.worth[slot] = worth(start, h, pool.codes[slot])
        total += pool.alpha[slot] * pool.worth[slot]
        slot = pool.next[slot]
    return total


@part
def worst(pool, i):
    """The slot of example i that is worth least and has weight; -1 if none has."""
    least, slot = -1, pool.head[i]
    while slot >= 0:
        if pool.alpha[slot] > 0.0 and (least < 0 or pool.worth[slot] < pool.worth[least]):
            least = slot
        slot = pool.next[slot]
    return least


@loop
def has_room(pool, n_slots):
    """Whether so many slots are free."""
    slot = pool.head[-1]
    for _ in range(n_slots):
        if slot < 0:
            return False
        slot = pool.next[slot]
    return True


@part
def slot_of(pool, i, codes):
    """The slot of a labeling of example i: where it is, or else a free one, without weight."""
    slot = pool.head[i]
    while slot >= 0:
        same = True
        for e in range(codes.size):
            if pool.codes[slot, e] != codes[e]:
                same = False
                break
        if same:
            return slot
        slot = pool.next[slot]
    slot = pool.head[-1]
    pool.head[-1] = pool.next[slot]
    pool.next[slot] = pool.head[i]
    pool.head[i] = slot
    pool.alpha[slot] = 0.0
    for e in range(codes.size):
        pool.codes[slot, e] = codes[e]
    return slot


@part
def prune(pool, i, kept):
    """Give back the slots of example i that have no weight, but for one that is kept."""
    before, slot = -1, pool.head[i]
    while slot >= 0:
        after = pool.next[slot]
        if pool.alpha[slot] > 0.0 or slot == kept:
            before = slot
        else:
            if before < 0:
                pool.head[i] = after
            else:
                pool.next[before] = after
            pool.next[slot] = pool.head[-1]
            pool.head[-1] = slot
        slot = after


@loop
def multipliers(pool, start, codes, cost, N):
    """N[i] = cost_i onehot(codes_i) - the marginals of example i, (n, n_blocks)."""
    N[:] = 0.0
    for i in range(N.shape[0]):
        for e in range(start.size):
            N[i, start[e] + codes[i, e]] = cost[i]
        slot = pool.head[i]
        while slot >= 0:
            for e in range(start.size):
                N[i, start[e] + pool.codes[slot, e]] -= pool.alpha[slot]
            slot = pool.next[slot]
