# mypy: ignore-errors
"""Loops of the Perceptrons and of Hieron: one example after the other.

Class y has the score F_y = sum_r l_r(y) s_r, s_r = w_r.x, and D(y, z) is what taking z for y costs.
A visit to example (x, Y) looks for a pair y in Y, z not in Y, and where it is not ranked well

    w_r += t (l_r(y) - l_r(z)) x

    PERCEPTRON  y lowest of Y, z highest of the others; if F_y <= F_z,  t = D(y, z)
    TOP         one label y, z = top; if z != y,          t = h / (||L(y) - L(z)||^2 ||x||^2)
    HINGE       one label y, z of the largest h; if h > 0,  the same t,
                h = sqrt(D(y, z)) - (F_y - F_z)

[Cai2008] Algorithms 3 to 7 and (7.8), (7.9). Ties go to the lowest class. Every update enters a
log: the weights are sums over it, w_r = sum_l t_l (l_r(y_l) - l_r(z_l)) x_l.

The state W is (n_features, n_attributes), the weights; with another kernel it is
(n_attributes, n_examples), the scores s_r of all examples, kept up to date.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linnaeus.compiled import loop, part
from linnaeus.solvers.numerics.scores_fast import score_all

CLOSE = 1e-9  # scores that differ by less than this part are tied
NOTHING = 1e-10  # a margin below this part of its natural size is 0
PERCEPTRON, TOP, HINGE = range(3)


class Classes(NamedTuple):
    """Attributes of the classes, labels of the examples, and losses between classes.

    D(y, z) = miss_y (total_y - both) + false_z (total_z - both), `both` the size of the nodes
    that y and z have in common; or as the table says.

    Classes that have their first attributes in common share the sums over them: sum t + 1 is sum
    p_before[t] with one attribute more, sum 0 is 0, and the score of class y is sum p_last[y].
    """

    l_begin: Any  # (n_classes + 1,) int64, attributes
    l_node: Any  # int32, ascending
    l_value: Any  # float64
    p_before: Any  # (n_sums - 1,) int32
    p_node: Any  # (n_sums - 1,) int32
    p_value: Any  # (n_sums - 1,) float64
    p_last: Any  # (n_classes,) int32
    a_begin: Any  # (n_classes + 1,) int64, nodes that the loss counts
    a_node: Any  # int32, ascending
    a_size: Any  # float64
    total: Any  # (n_classes,) float64
    miss: Any  # (n_classes,) float64
    false: Any  # (n_classes,) float64
    table: Any  # (n_classes, n_classes) float64, or (0, 0)


class Labels(NamedTuple):
    """The labels of every example."""

    begin: Any  # (n + 1,) int64
    y: Any  # int32, ascending


class Log(NamedTuple):
    """The updates, in order."""

    example: Any  # (room,) int32
    right: Any  # (room,) int32, the class that gains
    wrong: Any  # (room,) int32, the class that loses
    size: Any  # (room,) float64, t
    step: Any  # (room,) int64, the number of the visit, from 1


class PerceptronWork(NamedTuple):
    """Scratch of a visit."""

    raw: Any  # (n_attributes,) of the type of the weights
    sums: Any  # (n_sums,) float64
    F: Any  # (n_classes,) float64
    loss: Any  # (n_classes,) float64
    mark: Any  # (n_nodes of the loss,) float64, zero
    node: Any  # (n_attributes,) int32
    u: Any  # (n_attributes,) float64


# -- scores and weights ----------------------------------------------------------------------------


@part
def class_scores(inputs, classes, W, i, work):
    """Fill ``work.F`` for example i."""
    raw, F = work.raw, work.F
    if inputs.K.size > 0:
        for r in range(raw.size):
            raw[r] = W[r, i]
    else:
        b, e = inputs.indptr[i], inputs.indptr[i + 1]
        score_all(W, inputs.indices[b:e], inputs.data[b:e], raw)
    sums_to_scores(classes, raw, work.sums, F)


@loop
def sums_to_scores(classes, raw, sums, F):
    """``F = L raw``."""
    sums[0] = 0.0
    for t in range(classes.p_before.size):
        value = classes.p_value[t] * raw[classes.p_node[t]]
        sums[t + 1] = sums[classes.p_before[t]] + value
    for y in range(F.size):
        F[y] = sums[classes.p_last[y]]


@part
def direction(classes, y, z, node, u):
    """``L(y) - L(z)`` as nodes and values; return how many there are, and the squared norm."""
    p, p_end = classes.l_begin[y], classes.l_begin[y + 1]
    q, q_end = classes.l_begin[z], classes.l_begin[z + 1]
    m, norm2 = 0, 0.0
    while p < p_end or q < q_end:
        if q == q_end or (p < p_end and classes.l_node[p] < classes.l_node[q]):
            r, value = classes.l_node[p], classes.l_value[p]
            p += 1
        elif p == p_end or classes.l_node[q] < classes.l_node[p]:
            r, value = classes.l_node[q], -classes.l_value[q]
            q += 1
        else:
            r, value = classes.l_node[p], classes.l_value[p] - classes.l_value[q]
            p += 1
            q += 1
        if value != 0.0:
            node[m], u[m] = r, value
            norm2 += value * value
            m += 1
    return m, norm2


@part
def move(inputs, W, i, size, node, u, m):
    """Add ``size u x_i'`` to the weights, or what that makes of the scores of all examples."""
    if inputs.K.size > 0:
        for j in range(m):
            s, d = W[node[j]], size * u[j]
            for k in range(s.size):
                s[k] += d * inputs.K[i, k]
        return
    for p in range(inputs.indptr[i], inputs.indptr[i + 1]):
        w, x = W[inputs.indices[p]], size * inputs.data[p]
        for j in range(m):
            w[node[j]] += u[j] * x


# -- losses ----------------------------------------------------------------------------------------


@loop
def pair_loss(classes, y, z):
    """D(y, z)."""
    if classes.table.size > 0:
        return classes.table[y, z]
    p, p_end = classes.a_begin[y], classes.a_begin[y + 1]
    q, q_end = classes.a_begin[z], classes.a_begin[z + 1]
    both = 0.0
    while p < p_end and q < q_end:
        if classes.a_node[p] < classes.a_node[q]:
            p += 1
        elif classes.a_node[q] < classes.a_node[p]:
            q += 1
        else:
            both += classes.a_size[p]
            p += 1
            q += 1
    own = classes.miss[y] * (classes.total[y] - both)
    return own + classes.false[z] * (classes.total[z] - both)


@loop
def loss_row(classes, y, mark, loss):
    """D(y, z) for all z."""
    if classes.table.size > 0:
        for z in range(loss.size):
            loss[z] = classes.table[y, z]
        return
    for p in range(classes.a_begin[y], classes.a_begin[y + 1]):
        mark[classes.a_node[p]] = classes.a_size[p]
    for z in range(loss.size):
        both = 0.0
        for p in range(classes.a_begin[z], classes.a_begin[z + 1]):
            both += mark[classes.a_node[p]]
        own = classes.miss[y] * (classes.total[y] - both)
        loss[z] = own + classes.false[z] * (classes.total[z] - both)
    loss[y] = 0.0
    for p in range(classes.a_begin[y], classes.a_begin[y + 1]):
        mark[classes.a_node[p]] = 0.0


# -- pairs -----------------------------------------------------------------------------------------


@part
def first_of_largest(F, unit):
    """The lowest place where F is largest, but for rounding; `unit` is the size of a score."""
    a = b = c = d = -np.inf
    whole = F.size - F.size % 4
    for k in range(0, whole, 4):
        a, b = max(a, F[k]), max(b, F[k + 1])
        c, d = max(c, F[k + 2]), max(d, F[k + 3])
    for k in range(whole, F.size):
        a = max(a, F[k])
    best = max(max(a, b), max(c, d))
    enough = best - CLOSE * max(abs(best), unit)
    for k in range(F.size):
        if F[k] >= enough:
            return k
    return 0


@part
def ranked_pair(F, labels, unit):
    """The lowest label and the highest other class, and their margin; F of the labels is lost."""
    low = np.inf
    for y in labels:
        low = min(low, F[y])
    enough = low + CLOSE * max(abs(low), unit)
    right = labels[0]
    for y in labels:
        if F[y] <= enough:
            right = y
            break
    f = F[right]
    for y in labels:
        F[y] = -np.inf
    wrong = first_of_largest(F, unit)
    return right, wrong, f - F[wrong]


@part
def rival(rule, classes, y, work):
    """The class that Hieron sets against y; y itself if there is none."""
    if rule == TOP:
        return first_of_largest(work.F, 1.0)
    f = work.F[y]
    loss_row(classes, y, work.mark, work.loss)
    for z in range(work.F.size):
        work.loss[z] = np.sqrt(work.loss[z]) + (work.F[z] - f)
    return first_of_largest(work.loss, 1.0)


@part
def visit(rule, inputs, labels, classes, W, i, scale, work):
    """Make one visit; return the pair, the size of the step (0 for none) and the loss of the pair.

    scale : the largest ||L(y)||^2
    """
    class_scores(inputs, classes, W, i, work)
    own = labels.y[labels.begin[i] : labels.begin[i + 1]]
    unit = inputs.norm2[i] * scale
    if rule == PERCEPTRON:
        y, z, margin = ranked_pair(work.F, own, unit)
        if margin > NOTHING * unit:
            return y, z, 0.0, 0.0
        loss = pair_loss(classes, y, z)
        m, _ = direction(classes, y, z, work.node, work.u)
        move(inputs, W, i, loss, work.node, work.u, m)
        return y, z, loss, loss
    y = own[0]
    z = rival(rule, classes, y, work)
    if z == y:
        return y, z, 0.0, 0.0
    loss = pair_loss(classes, y, z)
    h = np.sqrt(loss) - (work.F[y] - work.F[z])
    m, norm2 = direction(classes, y, z, work.node, work.u)
    if h <= NOTHING or norm2 * inputs.norm2[i] == 0.0:
        return y, z, 0.0, 0.0
    size = h / (norm2 * inputs.norm2[i])
    move(inputs, W, i, size, work.node, work.u, m)
    return y, z, size, loss


@loop
def epoch(order, rule, inputs, labels, classes, W, scale, step, log, work):
    """Visit the examples in `order`; return the number of updates and the sum of their losses.

    step : visits before this one
    """
    count, total = 0, 0.0
    for t in range(order.size):
        i = order[t]
        y, z, size, loss = visit(rule, inputs, labels, classes, W, i, scale, work)
        if size > 0.0:
            log.example[count], log.right[count], log.wrong[count] = i, y, z
            log.size[count], log.step[count] = size, step + t + 1
            count += 1
            total += loss
    return count, total


class Margins(NamedTuple):
    """Scores and margins of all examples, and room for one update."""

    F: Any  # (n, n_classes) float64, scores
    pair: Any  # (n, 2) int32, the worst pair of each example
    margin: Any  # (n,) float64, its margin
    dense: Any  # (n_features,) float64, zero between uses
    column: Any  # (n,) float64
    change: Any  # (n_classes,) float64


# -- the smallest margin of all --------------------------------------------------------------------


@part
def kernel_column(inputs, i, dense, out):
    """``out_j = x_j.x_i`` for all j; `dense` is zero before and after."""
    if inputs.K.size > 0:
        for j in range(out.size):
            out[j] = inputs.K[i, j]
        return
    b, e = inputs.indptr[i], inputs.indptr[i + 1]
    for p in range(b, e):
        dense[inputs.indices[p]] = inputs.data[p]
    for j in range(out.size):
        s = 0.0
        for p in range(inputs.indptr[j], inputs.indptr[j + 1]):
            s += inputs.data[p] * dense[inputs.indices[p]]
        out[j] = s
    for p in range(b, e):
        dense[inputs.indices[p]] = 0


@part
def find_pair(F, labels, j, unit, pairs, margin, work):
    """Note the worst pair of example j and its margin."""
    for k in range(work.F.size):
        work.F[k] = F[j, k]
    own = labels.y[labels.begin[j] : labels.begin[j + 1]]
    pairs[j, 0], pairs[j, 1], margin[j] = ranked_pair(work.F, own, unit)


@loop
def minover(order, limit, wanted, inputs, labels, classes, scale, step, margins, log, work):
    """Mend the smallest margin, `limit` times; return how often, and the sum of the losses.

    order   : the examples with pairs, ascending
    wanted  : stop once all margins are above this
    """
    F, pairs, margin, dense, column, change = margins
    unit, total = 0.0, 0.0
    for j in order:
        unit = max(unit, inputs.norm2[j] * scale)
    for t in range(limit):
        low = np.inf
        for j in order:
            low = min(low, margin[j])
        if low > wanted + NOTHING * unit or order.size == 0:
            return t, total
        i, enough = order[0], low + CLOSE * max(abs(low), unit)
        for j in order:
            if margin[j] <= enough:
                i = j
                break
        y, z = pairs[i]
        loss = pair_loss(classes, y, z)
        total += loss
        log.example[t], log.right[t], log.wrong[t] = i, y, z
        log.size[t], log.step[t] = loss, step + t + 1
        m, _ = direction(classes, y, z, work.node, work.u)
        class_direction(classes, work, m, change)
        kernel_column(inputs, i, dense, column)
        for j in order:
            if column[j] != 0.0:
                d, f = loss * column[j], F[j]
                for k in range(change.size):
                    f[k] += d * change[k]
                find_pair(F, labels, j, inputs.norm2[j] * scale, pairs, margin, work)
    return limit, total


@part
def class_direction(classes, work, m, change):
    """What the direction in ``work.node, work.u`` does to the weights of every class."""
    work.raw[:] = 0
    for j in range(m):
        work.raw[work.node[j]] = work.u[j]
    sums_to_scores(classes, work.raw, work.sums, change)


@loop
def start_minover(order, labels, norm2, scale, margins, work):
    for j in order:
        find_pair(margins.F, labels, j, norm2[j] * scale, margins.pair, margins.margin, work)


# -- sums over the log -----------------------------------------------------------------------------


@loop
def add_product(begin, example, value, c_begin, c_node, c_value, W):
    """``W += X' C``, X by columns and C by rows: one row of W after the other."""
    for k in range(begin.size - 1):
        w = W[k]
        for p in range(begin[k], begin[k + 1]):
            i, x = example[p], value[p]
            for q in range(c_begin[i], c_begin[i + 1]):
                w[c_node[q]] += x * c_value[q]


@loop
def count_nonzeros(W, begin):
    """``begin[k + 1]`` : nonzeros of the rows 0 to k"""
    for k in range(W.shape[0]):
        count = 0
        for r in range(W.shape[1]):
            count += W[k, r] != 0
        begin[k + 1] = begin[k] + count


@loop
def list_nonzeros(W, begin, indices, data):
    for k in range(W.shape[0]):
        p = begin[k]
        if p < begin[k + 1]:
            for r in range(W.shape[1]):
                if W[k, r] != 0:
                    indices[p], data[p] = r, W[k, r]
                    p += 1
