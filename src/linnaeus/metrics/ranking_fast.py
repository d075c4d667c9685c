# mypy: ignore-errors
"""Ranks of labels, the classes with the highest scores, and losses of misranked pairs, row by row.

Scores are CSR with ascending columns; a class without an entry has the score -inf. F(y) is the
score of class y. Of a class loss, `parts` holds volumes of ancestors (see `linnaeus.losses`):

    loss(y, z) = m_y (t_y - c) + f_z (t_z - c),    c = the volume that y and z have in common
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop, part


@loop
def rank_labels(true_ptr, labels, ptr, columns, scores, n_classes, own, above, wrong):
    """For every label y: F(y), how many classes z have F(z) >= F(y), and how many are not true.

    true_ptr, labels    : CSR lists, the labels of each row, ascending
    ptr, columns, scores: the scores
    own, above, wrong   : (n_labels,) results
    """
    for i in range(true_ptr.size - 1):
        begin, end = true_ptr[i], true_ptr[i + 1]
        e = ptr[i]
        for a in range(begin, end):
            while e < ptr[i + 1] and columns[e] < labels[a]:
                e += 1
            found = e < ptr[i + 1] and columns[e] == labels[a]
            own[a] = scores[e] if found else -np.inf
        for a in range(begin, end):
            n, score = 0, own[a]
            if score == -np.inf:
                n = n_classes
            else:
                for e in range(ptr[i], ptr[i + 1]):
                    n += scores[e] >= score
            n_true = 0
            for b in range(begin, end):
                n_true += own[b] >= score
            above[a], wrong[a] = n, n - n_true


@loop(allocates=True)
def highest(true_ptr, labels, ptr, columns, scores, best, hits):
    """The classes with the highest scores, ties to the lower number, and which of them are true.

    best, hits : (n_rows, k) results; -1 and False beyond the classes that have a score
    """
    k = best.shape[1]
    values = np.empty(k)
    for i in range(best.shape[0]):
        n = 0
        for e in range(ptr[i], ptr[i + 1]):
            s = scores[e]
            if s == -np.inf or (n == k and not s > values[k - 1]):
                continue
            at = n if n < k else k - 1
            while at > 0 and values[at - 1] < s:
                values[at], best[i, at] = values[at - 1], best[i, at - 1]
                at -= 1
            values[at], best[i, at] = s, columns[e]
            n = min(n + 1, k)
        for r in range(k):
            hits[i, r] = False
            if r >= n:
                best[i, r] = -1
                continue
            for a in range(true_ptr[i], true_ptr[i + 1]):
                if labels[a] == best[i, r]:
                    hits[i, r] = True


@part
def pair_loss(parts, y, z):
    """The loss of saying z where y is true."""
    ptr, nodes, volumes, total, miss, false, table = parts
    if table.size:
        return table[y, z]
    common, a, b = 0.0, ptr[y], ptr[z]
    while a < ptr[y + 1] and b < ptr[z + 1]:
        if nodes[a] == nodes[b]:
            common += volumes[a]
            a += 1
            b += 1
        elif nodes[a] < nodes[b]:
            a += 1
        else:
            b += 1
    return miss[y] * (total[y] - common) + false[z] * (total[z] - common)


@loop
def largest_losses(true_ptr, labels, ptr, columns, scores, own, parts, bound, limit, out):
    """For every label y, the largest loss(y, z) over the z that are not true with F(z) >= F(y).

    own   : (n_labels,) F(y)
    bound : (n_classes,) no loss of a class is larger
    limit : (n_classes,) the largest loss of each class, NaN where it is not known yet; filled in
    out   : (n_labels,) result
    """
    n_classes = limit.size
    for i in range(true_ptr.size - 1):
        begin, end = true_ptr[i], true_ptr[i + 1]
        for a in range(begin, end):
            y, absent = labels[a], own[a] == -np.inf
            if absent and np.isnan(limit[y]):
                limit[y] = 0.0
                for z in range(n_classes):
                    if z != y:
                        limit[y] = max(limit[y], pair_loss(parts, y, z))
                    if limit[y] >= bound[y]:
                        break
            worst, enough = 0.0, limit[y] if absent else bound[y]
            for e in range(0 if absent else ptr[i], n_classes if absent else ptr[i + 1]):
                z = e if absent else columns[e]
                if (absent or scores[e] >= own[a]) and not holds(labels, begin, end, z):
                    worst = max(worst, pair_loss(parts, y, z))
                    if worst >= enough:
                        break
            out[a] = worst


@loop
def summed_losses(true_ptr, labels, ptr, columns, scores, own, parts, n_classes, out):
    """The same with the sum of the losses in place of the largest."""
    for i in range(true_ptr.size - 1):
        begin, end = true_ptr[i], true_ptr[i + 1]
        for a in range(begin, end):
            y, absent, total = labels[a], own[a] == -np.inf, 0.0
            for e in range(0 if absent else ptr[i], n_classes if absent else ptr[i + 1]):
                z = e if absent else columns[e]
                if (absent or scores[e] >= own[a]) and not holds(labels, begin, end, z):
                    total += pair_loss(parts, y, z)
            out[a] = total


@part
def holds(labels, begin, end, z):
    """Whether z is among some labels."""
    found = False
    for a in range(begin, end):
        found |= labels[a] == z
    return found
