# mypy: ignore-errors
"""The best labeling of a Markov forest: max-sum over edge scores.

    maximise_u  sum_e s[e, code_e],      code_e = 2 [parent on] + [child on]

with one label per node. Children report upwards what their subtree is worth,

    up_j(y) = sum over children c of  max_z ( s[(j, c), 2 y + z] + up_c(z) ),

then labels are chosen downwards: O(n_edges) a row, [Rousu2006] section 3.4 (where a stray factor
mu stands in the recurrence). Edges are ordered by child, so counting down visits children first.
A top edge has the parent -1, which is always on. Among equals a node stays off. In the mode
`consistent` code 1, a child on below a parent that is off, does not exist.

All functions take

    above, below : (n_edges,) int32  parent and child of every edge
    root         : (n_roots,) int32  the nodes that have no parent
    s            : (n_edges, 4) float64
    up           : (n_nodes, 2) float64, work space
    on           : (n_nodes,) int8, the labels found
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop, part


@part
def climb(above, below, s, consistent, up):
    """Fill `up`; a top edge counts for its root."""
    up[:] = 0.0
    for e in range(below.size - 1, -1, -1):
        p, c = above[e], below[e]
        if p < 0:
            up[c, 0] += s[e, 2]
            up[c, 1] += s[e, 3]
            continue
        off = s[e, 0] + up[c, 0]
        if not consistent:
            off = max(off, s[e, 1] + up[c, 1])
        up[p, 0] += off
        up[p, 1] += max(s[e, 2] + up[c, 0], s[e, 3] + up[c, 1])


@part
def best(above, below, root, s, consistent, up, on):
    """The labeling with the largest score, into `on`; returns the score."""
    climb(above, below, s, consistent, up)
    value = 0.0
    for r in root:
        on[r] = up[r, 1] > up[r, 0]
        value += max(up[r, 0], up[r, 1])
    for e in range(below.size):
        p, c = above[e], below[e]
        if p >= 0:
            y = 2 * on[p]
            on[c] = s[e, y + 1] + up[c, 1] > s[e, y] + up[c, 0] and not (consistent and y == 0)
    return value


@part
def least(above, below, root, s, mass, floor, up, on):
    """The labeling with the smallest score among those whose codes all have mass above `floor`.

    mass : (n_edges, 4);   returns the score, infinite if there is no such labeling
    """
    up[:] = 0.0
    for e in range(below.size - 1, -1, -1):
        p, c = above[e], below[e]
        c2 = s[e, 2] + up[c, 0] if mass[e, 2] > floor else np.inf
        c3 = s[e, 3] + up[c, 1] if mass[e, 3] > floor else np.inf
        if p < 0:
            up[c, 0], up[c, 1] = c2, c3
            continue
        c0 = s[e, 0] + up[c, 0] if mass[e, 0] > floor else np.inf
        c1 = s[e, 1] + up[c, 1] if mass[e, 1] > floor else np.inf
        up[p, 0] += min(c0, c1)
        up[p, 1] += min(c2, c3)
    value = 0.0
    for r in root:
        on[r] = up[r, 1] < up[r, 0]
        value += min(up[r, 0], up[r, 1])
    for e in range(below.size):
        p, c = above[e], below[e]
        if p >= 0:
            y = 2 * on[p]
            off = s[e, y] + up[c, 0] if mass[e, y] > floor else np.inf
            on[c] = mass[e, y + 1] > floor and s[e, y + 1] + up[c, 1] < off
    return value


@part
def best_other(above, below, root, s, consistent, truth, up, dev, take, on):
    """The best labeling other than `truth` (n_nodes,) int8; returns its score.

    Beside up_j(y), dev_j(y) is the best worth of the subtree of j with a label other than the
    true one somewhere in it, j included: up_j(y) itself where y is not the true label, else one
    child edge must deviate. The losses dev - up over the children are minimised greedily.

    dev  : (n_nodes, 2) float64, work: the smallest loss by deviating below, for the true label
    take : (n_nodes,) int32, work: the edge through which the deviation runs
    """
    climb(above, below, s, consistent, up)
    dev[:] = -np.inf  # gain (not above 0) of the best deviation below j, given y
    take[:] = -1
    for e in range(below.size - 1, -1, -1):
        p, c = above[e], below[e]
        if p < 0:
            continue
        t = truth[c]
        y = truth[p]
        same, other = s[e, 2 * y + t] + up[c, t], s[e, 2 * y + 1 - t] + up[c, 1 - t]
        if consistent and y == 0:  # where t is off too
            other = -np.inf
        gain = max(other, same + dev[c, 0]) - max(same, other)
        if gain >= dev[p, 0]:  # of equals the child with the lower number
            dev[p, 0] = gain
            take[p] = e
    value, best_gain, at = 0.0, -np.inf, -1
    for k in range(root.size - 1, -1, -1):
        r = root[k]
        t = truth[r]
        top = max(up[r, 0], up[r, 1])
        value += top
        gain = max(up[r, 1 - t], up[r, t] + dev[r, 0]) - top
        if gain >= best_gain:
            best_gain, at = gain, r
    _descend(above, below, root, s, consistent, truth, up, dev, take, at, on)
    return value + best_gain


@part
def _descend(above, below, root, s, consistent, truth, up, dev, take, at, on):
    """Labels of the best labeling that deviates: `dev[j, 1]` says whether j must, at or below."""
    dev[:, 1] = 0.0
    for r in root:
        if r == at:
            t = truth[r]
            strays = up[r, 1 - t] >= up[r, t] + dev[r, 0]
            on[r] = 1 - t if strays else t
            dev[r, 1] = 0.0 if strays else 1.0
        else:
            on[r] = up[r, 1] > up[r, 0]
    for e in range(below.size):
        p, c = above[e], below[e]
        if p < 0:
            continue
        y = on[p]
        if dev[p, 1] > 0.0 and take[p] == e:
            t = truth[c]
            other = s[e, 2 * y + 1 - t] + up[c, 1 - t]
            barred = consistent and y == 0 and t == 0
            strays = not barred and other >= s[e, 2 * y + t] + up[c, t] + dev[c, 0]
            on[c] = 1 - t if strays else t
            dev[c, 1] = 0.0 if strays else 1.0
        else:
            better = s[e, 2 * y + 1] + up[c, 1] > s[e, 2 * y] + up[c, 0]
            on[c] = better and not (consistent and y == 0)


@part
def margins(above, below, root, s, consistent, up, down, margin):
    """Best score with j on minus best score with j off, for every node.

    down_c(z) = up_c(z) + max_y ( down_p(y) - (what c reports to p for y) + s[(p, c), 2 y + z] )
    is the best score of the whole tree with label z at c.

    down   : (n_nodes, 2) float64, work;   margin : (n_nodes,) float64, result
    """
    climb(above, below, s, consistent, up)
    for r in root:
        down[r, 0], down[r, 1] = up[r, 0], up[r, 1]
        margin[r] = up[r, 1] - up[r, 0]
    for e in range(below.size):
        p, c = above[e], below[e]
        if p < 0:
            continue
        from_off = s[e, 0] + up[c, 0]
        if not consistent:
            from_off = max(from_off, s[e, 1] + up[c, 1])
        off = down[p, 0] - from_off
        on = down[p, 1] - max(s[e, 2] + up[c, 0], s[e, 3] + up[c, 1])
        down[c, 0] = up[c, 0] + max(off + s[e, 0], on + s[e, 2])
        down[c, 1] = up[c, 1] + on + s[e, 3]
        if not consistent:
            down[c, 1] = max(down[c, 1], up[c, 1] + off + s[e, 1])
        margin[c] = down[c, 1] - down[c, 0]


@part
def path_scores(above, below, root, s, fan, score):
    """The score of the labeling in which exactly j and its ancestors are on, for every node.

    fan : (n_nodes,) float64, work: what switching j on adds on the edges below it
    """
    nothing = 0.0
    fan[:] = 0.0
    score[:] = 0.0
    for e in range(below.size):
        if above[e] < 0:
            nothing += s[e, 2]
            score[below[e]] = s[e, 3] - s[e, 2]
        else:
            nothing += s[e, 0]
            fan[above[e]] += s[e, 2] - s[e, 0]
    for r in root:
        score[r] += nothing + fan[r]
    for e in range(below.size):
        p, c = above[e], below[e]
        if p >= 0:
            score[c] = score[p] + s[e, 3] - s[e, 2] + fan[c]


@loop
def best_rows(above, below, root, scores, consistent, up, on, value):
    """`best` for every row: scores (n_rows, n_edges, 4), on (n_rows, n_nodes)."""
    for i in range(scores.shape[0]):
        value[i] = best(above, below, root, scores[i], consistent, up, on[i])


@loop
def least_rows(above, below, root, scores, mass, floor, up, on, value):
    """`least` for every row; mass (n_rows, n_edges, 4)."""
    for i in range(scores.shape[0]):
        value[i] = least(above, below, root, scores[i], mass[i], floor, up, on[i])


@loop
def best_other_rows(above, below, root, scores, consistent, truth, up, dev, take, on, value):
    """`best_other` for every row; truth (n_rows, n_nodes)."""
    for i in range(scores.shape[0]):
        value[i] = best_other(
            above, below, root, scores[i], consistent, truth[i], up, dev, take, on[i]
        )


@loop
def margin_rows(above, below, root, scores, consistent, up, down, margin):
    """`margins` for every row; margin (n_rows, n_nodes)."""
    for i in range(scores.shape[0]):
        margins(above, below, root, scores[i], consistent, up, down, margin[i])


@loop
def path_rows(above, below, root, scores, fan, score):
    """`path_scores` for every row; score (n_rows, n_nodes)."""
    for i in range(scores.shape[0]):
        path_scores(above, below, root, scores[i], fan, score[i])
