# mypy: ignore-errors
"""Weighted labelings of every example: a pool of bit strings in linked lists.

Example i holds labelings y with weights alpha(i, y) > 0. A labeling of k nodes takes k bits, a
list costs as much as it is long, and slots that are given back are used again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop


class Pool(NamedTuple):
    """The slots, and where lists begin."""

    head: Any  # (n + 1,) int64, first slot of an example, -1 for none; the last is the free list
    next: Any  # (n_slots,) int64, -1 at the end of a list
    alpha: Any  # (n_slots,) float64
    words: Any  # (n_slots, n_words) uint64, bit j is the label of node j


@loop
def pack(y, word):
    """Labels (n_nodes,) 0/1 as bits."""
    word[:] = 0
    for j in range(y.size):
        word[j >> 6] |= np.uint64(y[j]) << np.uint64(j & 63)


@loop
def code(word, p, c):
    """2 [p on] + [c on]; the node -1 is on."""
    below = (word[c >> 6] >> np.uint64(c & 63)) & np.uint64(1)
    above = np.uint64(1) if p < 0 else (word[p >> 6] >> np.uint64(p & 63)) & np.uint64(1)
    return 2 * np.intp(above) + np.intp(below)


@loop
def same(a, b):
    """Whether two labelings are one."""
    for w in range(a.size):  # noqa: SIM110, `all` of a generator does not compile
        if a[w] != b[w]:
            return False
    return True


@loop
def worth(word, above, below, g):
    """The sum of g (n_edges, 4) over the codes of a labeling."""
    total = 0.0
    for e in range(below.size):
        total += g[e, code(word, above[e], below[e])]
    return total


@loop
def has_room(pool, n_slots):
    """Whether so many slots are free."""
    slot = pool.head[-1]
    for _ in range(n_slots):
        if slot < 0:
            return False
        slot = pool.next[slot]
    return True


@loop
def give(pool, i, word, amount):
    """Add to the weight of a labeling of example i, in a free slot if it is new."""
    slot = pool.head[i]
    while slot >= 0:
        if same(pool.words[slot], word):
            pool.alpha[slot] += amount
            return
        slot = pool.next[slot]
    slot = pool.head[-1]
    pool.head[-1] = pool.next[slot]
    pool.next[slot] = pool.head[i]
    pool.head[i] = slot
    pool.alpha[slot] = amount
    pool.words[slot] = word


@loop
def drop(pool, i, slot):
    """Take a slot from the list of example i."""
    if pool.head[i] == slot:
        pool.head[i] = pool.next[slot]
    else:
        before = pool.head[i]
        while pool.next[before] != slot:
            before = pool.next[before]
        pool.next[before] = pool.next[slot]
    pool.next[slot] = pool.head[-1]
    pool.head[-1] = slot


@loop
def worst(pool, i, above, below, g):
    """The labeling of example i that is worth least: its slot and worth."""
    least, at = np.inf, -1
    slot = pool.head[i]
    while slot >= 0:
        value = worth(pool.words[slot], above, below, g)
        if value < least:
            least, at = value, slot
        slot = pool.next[slot]
    return at, least


@loop
def mean_worth(pool, i, above, below, g):
    """sum_y alpha(i, y) worth(y)."""
    total = 0.0
    slot = pool.head[i]
    while slot >= 0:
        total += pool.alpha[slot] * worth(pool.words[slot], above, below, g)
        slot = pool.next[slot]
    return total


@loop
def fill(pool, Y, cost, word):
    """Give every example its row of Y, with the weight cost_i."""
    for i in range(Y.shape[0]):
        pack(Y[i], word)
        give(pool, i, word, cost[i])


@loop
def multipliers(pool, above, below, codes, cost, N):
    """N[i] = cost_i onehot(codes_i) - the marginals of example i, (n, n_edges, 4)."""
    N[:] = 0.0
    for i in range(N.shape[0]):
        for e in range(below.size):
            N[i, e, codes[i, e]] = cost[i]
        slot = pool.head[i]
        while slot >= 0:
            for e in range(below.size):
                N[i, e, code(pool.words[slot], above[e], below[e])] -= pool.alpha[slot]
            slot = pool.next[slot]
