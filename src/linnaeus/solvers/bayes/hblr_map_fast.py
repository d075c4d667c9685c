# mypy: ignore-errors
"""Loops of partial MAP: all leaves of a tree at once, the increments along its edges as variables.

    minimise_U  1/2 sum_n A_n ||u_n||^2 + sum_i c_i loss_i(z_i),   z_in = sum_{a on path(n)} u_a.x_i

over the nodes n of a tree, u_n = w_n - w_parent; A_n is a number, or one for every feature. The
loss is softmax or, a class at a time, logistic. A dual point is a probability pi_ik for every
example and leaf, and with D_in = c_i sum over the leaves k below n of (y_ik - pi_ik)

    V_n = sum_i D_in x_i,    u_n = V_n / A_n,    gap = sum_i c_i KL(pi_i || p(z_i)).

V does not depend on A: when precisions change, a dual point stays what it is. Seen from example i
the tree has conductances 1 / sum_j x_ij^2 / A_nj, and the best pi_i solves a problem on that tree.

Nodes are numbered parents first, leaves last. Arrays (features + 1, nodes), the constant feature
of size `bias` last; `inverse` = 1 / A, (1 or features + 1, nodes). Probabilities are stored as
e_ik = |y_ik - pi_ik|, which loses nothing near 0 and 1.
"""

from __future__ import annotations

import math

import numpy as np

from linnaeus.compiled import loop

STRIDE = 4.0  # change of a logit


@loop
def to_weights(parent, inverse, B, W):
    """W: w_n = w_parent + b_n / sqrt(A_n). W may be B."""
    for j in range(B.shape[0]):
        line = inverse[j % inverse.shape[0]]
        for v in range(parent.size):
            w = B[j, v] * math.sqrt(line[v])
            if parent[v] >= 0:
                w += W[j, parent[v]]
            W[j, v] = w


@loop
def from_weights(parent, inverse, W, B):
    """The inverse of `to_weights`. B must not be W."""
    for j in range(B.shape[0]):
        line = inverse[j % inverse.shape[0]]
        for v in range(parent.size):
            w = float(W[j, v])
            if parent[v] >= 0:
                w -= W[j, parent[v]]
            B[j, v] = w / math.sqrt(line[v])


@loop
def add_gradient(parent, inverse, G, squared, out):
    """out (rows, nodes) += the gradient in B from that in the leaves' weights, G (rows, leaves).

    squared : with squared factors instead, which takes a diagonal of Hessians to another
    """
    total = np.empty(parent.size)
    first = parent.size - G.shape[1]
    for j in range(G.shape[0]):
        line = inverse[j % inverse.shape[0]]
        for v in range(first):
            total[v] = 0.0
        for v in range(parent.size - 1, -1, -1):
            if v >= first:
                total[v] = G[j, v - first]
            if parent[v] >= 0:
                total[parent[v]] += total[v]
            out[j, v] += total[v] * (line[v] if squared else math.sqrt(line[v]))


@loop
def gather(rows, i, bias, parent, inverse, V, s):
    """s (nodes,) = the scores w_n.x_i of example i at all nodes."""
    constant, last = V[V.shape[0] - 1], inverse[inverse.shape[0] - 1]
    if inverse.shape[0] == 1:
        for v in range(s.size):
            s[v] = bias * constant[v]
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            x, line = rows.data[j], V[rows.indices[j]]
            for v in range(s.size):
                s[v] += x * line[v]
        for v in range(s.size):
            s[v] *= last[v]
    else:
        for v in range(s.size):
            s[v] = bias * constant[v] * last[v]
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            x, line, share = rows.data[j], V[rows.indices[j]], inverse[rows.indices[j]]
            for v in range(s.size):
                s[v] += x * line[v] * share[v]
    for v in range(s.size):
        if parent[v] >= 0:
            s[v] += s[parent[v]]


@loop
def scatter(rows, i, bias, a, V):
    """V += (features of example i) (a)': one number for every node."""
    constant = V[V.shape[0] - 1]
    for v in range(a.size):
        constant[v] += bias * a[v]
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        x, line = rows.data[j], V[rows.indices[j]]
        for v in range(a.size):
            line[v] += x * a[v]


@loop
def scatter_up(rows, i, bias, parent, delta, a, V):
    """The same for sums over the leaves below each node; a (nodes,) is work space."""
    first = parent.size - delta.size
    for v in range(first):
        a[v] = 0.0
    for v in range(parent.size - 1, -1, -1):
        if v >= first:
            a[v] = delta[v - first]
        if parent[v] >= 0:
            a[parent[v]] += a[v]
    scatter(rows, i, bias, a, V)


@loop
def conductances(rows, i, bias, inverse, c):
    """c (nodes,) = 1 / sum_j x_ij^2 / A_nj; inf for an example of zeros."""
    last, size = inverse[inverse.shape[0] - 1], bias * bias
    if inverse.shape[0] == 1:
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            size += rows.data[j] * rows.data[j]
        for v in range(c.size):
            c[v] = size * last[v]
    else:
        for v in range(c.size):
            c[v] = size * last[v]
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            x, line = rows.data[j], inverse[rows.indices[j]]
            for v in range(c.size):
                c[v] += x * x * line[v]
    for v in range(c.size):
        c[v] = 1.0 / c[v] if c[v] > 0.0 else math.inf


@loop
def sigmoid(z):
    e = math.exp(-abs(z))
    return 1.0 / (1.0 + e) if z > 0.0 else e / (1.0 + e)


@loop
def probabilities(softmax, z, p):
    """p = softmax(z), or sigma(z) class by class; z may be p."""
    if not softmax:
        for k in range(z.size):
            p[k] = sigmoid(z[k])
        return
    top, total = z[0], 0.0
    for k in range(1, z.size):
        top = max(top, z[k])
    for k in range(z.size):
        p[k] = math.exp(z[k] - top)
        total += p[k]
    for k in range(z.size):
        p[k] /= total


@loop
def eliminate(parent, c, extra, load):
    """load (nodes,): what hangs on each node, extra (leaves,) or more on its way through edges."""
    first = parent.size - extra.size
    for v in range(first):
        load[v] = 0.0
    for v in range(parent.size - 1, -1, -1):
        if v >= first:
            load[v] = extra[v - first]
        if parent[v] >= 0:
            load[parent[v]] += load[v] * c[v] / (c[v] + load[v])


@loop
def substitute(parent, c, load, rhs, out):
    """out (nodes,) solves (L + diag(extra)) out = rhs (leaves,), zero at inner nodes."""
    first = parent.size - rhs.size
    for v in range(first):
        out[v] = 0.0
    for v in range(parent.size - 1, -1, -1):
        if v >= first:
            out[v] = rhs[v - first]
        if parent[v] >= 0:
            out[parent[v]] += out[v] * c[v] / (c[v] + load[v])
    for v in range(parent.size):
        if parent[v] >= 0:
            out[v] += c[v] * out[parent[v]]
        out[v] /= c[v] + load[v]


@loop
def direction(softmax, parent, c, u, pi, p, h, rhs, s, out, other, load):
    """out (nodes,) = where a Newton step leads from s, whose probabilities are p.

    It solves (L + H) out = u (pi - p) + H s, H = u diag(p (1 - p)) or u (diag(p) - p p').
    """
    first = s.size - p.size
    mean = 0.0
    for k in range(p.size):
        h[k] = u * p[k] if softmax else u * p[k] * (1.0 - p[k])
        mean += p[k] * s[first + k]
    for k in range(p.size):
        rhs[k] = u * (pi[k] - p[k]) + h[k] * s[first + k]
        if softmax:
            rhs[k] -= h[k] * mean
    eliminate(parent, c, h, load)
    substitute(parent, c, load, rhs, out)
    if softmax:
        substitute(parent, c, load, p, other)
        top = bottom = 0.0
        for k in range(p.size):
            top += p[k] * out[first + k]
            bottom += p[k] * other[first + k]
        share = u * top / max(1.0 - u * bottom, 1e-12)
        for v in range(s.size):
            out[v] += share * other[v]


@loop
def tree_step(softmax, parent, c, u, z, pi, work, nodes):
    """Find p = probabilities(z + s) with L s = u (pi - p); write p to work[0].

    L : the Laplacian with conductances c;  z, pi : (leaves,);  work : (4, leaves);  nodes : (4, N)
    Newton's method on a convex function of s; with softmax the curvature u (diag p - p p') is a
    diagonal and one outer product. Far steps are taken in strides, as the slope along them may
    turn at once where a probability goes from 0 to 1.
    """
    p, moved, s, out = work[0], work[3], nodes[0], nodes[1]
    first = s.size - z.size
    for v in range(s.size):
        s[v] = 0.0
    probabilities(softmax, z, p)
    for _ in range(30):
        direction(softmax, parent, c, u, pi, p, work[1], work[2], s, out, nodes[2], nodes[3])
        before = size = 0.0
        for k in range(z.size):
            v = first + k
            d = out[v] - s[v]
            pull = c[v] * (s[v] - s[parent[v]]) if parent[v] >= 0 else c[v] * s[v]
            before += (pull - u * (pi[k] - p[k])) * d
            size = max(size, abs(d))
        if not before < 0.0:
            break
        t, low, high = min(1.0, STRIDE / size), 0.0, math.inf
        for _ in range(30):
            for k in range(z.size):
                moved[k] = z[k] + s[first + k] + t * (out[first + k] - s[first + k])
            probabilities(softmax, moved, p)
            slope = 0.0
            for k in range(z.size):
                v = first + k
                d, above = out[v] - s[v], 0.0
                if parent[v] >= 0:
                    above = s[parent[v]] + t * (out[parent[v]] - s[parent[v]])
                slope += (c[v] * (s[v] + t * d - above) - u * (pi[k] - p[k])) * d
            if slope < 0.5 * before and t < 1.0:
                low = t
            elif slope > -0.3 * before:
                high = t
            else:
                break
            t = 0.5 * (low + high) if high < math.inf else min(STRIDE * t, 1.0)
        for v in range(s.size):
            s[v] += t * (out[v] - s[v])
        if size < 0.1:  # what is left after such a step is of second order
            break


@loop
def sweep(order, softmax, rows, bias, weight, y, parent, inverse, V, e, s, work, nodes):
    """One pass of coordinate ascent in the dual: all leaves of an example at a time.

    order : (n,) int64;   weight : (n,) float64;   y : (n, leaves) uint8;   e : (n, leaves)
    s : (nodes,) like V;   work : (6, leaves) float64;   nodes : (5, nodes) float64
    """
    first, z, pi, c = s.size - e.shape[1], work[4], work[5], nodes[4]
    delta = np.empty(e.shape[1], dtype=V.dtype)
    for i in order:
        conductances(rows, i, bias, inverse, c)
        if math.isinf(c[0]):  # zeros only: the scores are zero whatever the weights
            for k in range(z.size):
                z[k] = 0.0
            probabilities(softmax, z, work[0])
        else:
            gather(rows, i, bias, parent, inverse, V, s)
            for k in range(z.size):
                z[k] = s[first + k]
                pi[k] = 1.0 - e[i, k] if y[i, k] else e[i, k]
            tree_step(softmax, parent, c, weight[i], z, pi, work, nodes)
        rest = 0.0
        for k in range(z.size):
            if not y[i, k]:
                rest += work[0, k]
        for k in range(z.size):
            old = float(e[i, k])
            if y[i, k]:
                e[i, k] = rest if softmax else 1.0 - work[0, k]
                delta[k] = weight[i] * (old - float(e[i, k])) * -1.0
            else:
                e[i, k] = work[0, k]
                delta[k] = weight[i] * (old - float(e[i, k]))
        scatter_up(rows, i, bias, parent, delta, s, V)


@loop
def divergence(e, wrong):
    """KL between coins that are wrong with probabilities e and `wrong`."""
    out = 0.0
    if e > 0.0:
        out += e * math.log(e / wrong)
    if e < 1.0:
        out += (1.0 - e) * (math.log1p(-e) - math.log1p(-wrong))
    return out


@loop
def measure(softmax, rows, bias, weight, y, parent, inverse, V, e, s, work, H, gap):
    """Return the loss at u = V / A; gap (n,) = c_i KL(pi_i || p), H (n, leaves) = c_i p (1 - p)."""
    first, z, p, total = s.size - e.shape[1], work[0], work[1], 0.0
    for i in range(e.shape[0]):
        gather(rows, i, bias, parent, inverse, V, s)
        for k in range(z.size):
            z[k] = s[first + k]
        loss, distance = losses(softmax, z, y[i], e[i], p)
        total += weight[i] * loss
        gap[i] = weight[i] * distance
        for k in range(z.size):
            H[i, k] = weight[i] * p[k] * (1.0 - p[k])
    return total


@loop
def losses(softmax, z, y, e, p):
    """Loss of one example and KL(pi || p); p (leaves,) = its probabilities."""
    probabilities(softmax, z, p)
    loss = gap = 0.0
    if not softmax:
        for k in range(z.size):
            score = -z[k] if y[k] else z[k]
            loss += max(score, 0.0) + math.log1p(math.exp(-abs(score)))
            gap += divergence(float(e[k]), max(sigmoid(score), 1e-300))
        return loss, max(gap, 0.0)
    top, total = z[0], 0.0
    for k in range(1, z.size):
        top = max(top, z[k])
    for k in range(z.size):
        total += math.exp(z[k] - top)
    lse = top + math.log(total)
    for k in range(z.size):
        if y[k]:
            loss += lse - z[k]
            if e[k] < 1.0:
                gap += (1.0 - e[k]) * (math.log1p(-float(e[k])) + lse - z[k])
        elif e[k] > 0.0:
            gap += e[k] * (math.log(float(e[k])) + lse - z[k])
    return loss, max(gap, 0.0)


@loop
def add_residuals(rows, bias, weight, y, parent, e, s, V):
    """V += sum_i D_in x_i."""
    delta = np.empty(e.shape[1], dtype=V.dtype)
    for i in range(e.shape[0]):
        for k in range(delta.size):
            delta[k] = weight[i] * e[i, k] if y[i, k] else -weight[i] * e[i, k]
        scatter_up(rows, i, bias, parent, delta, s, V)


@loop
def move(parent, inverse, V, squared, W):
    """W = the weights of u = V / A (`squared`), else of u = V / sqrt(A).

    Return the largest change of a weight, and the largest weight.
    """
    change = largest = 0.0
    for j in range(V.shape[0]):
        line = inverse[j % inverse.shape[0]]
        for v in range(parent.size):
            w = V[j, v] * (line[v] if squared else math.sqrt(line[v]))
            if parent[v] >= 0:
                w += W[j, parent[v]]
            change = max(change, abs(w - W[j, v]))
            largest = max(largest, abs(w))
            W[j, v] = w
    return change, largest


@loop
def summarise(parent, A, W, h, variance, slope, away, pull):
    """Sums over the rows of W, each (nodes,) and added to, for A (nodes,):

    variance, slope : of 1 / (h + A) and A / (h + A)^2, leaves only
    away, pull : of u^2 and 2 u^2 A / (load + A), the fall of u^2 with log A; load is what the data
        put on a node, h (rows, leaves) seen from there
    """
    load, first = np.empty(parent.size), parent.size - h.shape[1]
    for j in range(W.shape[0]):
        for v in range(first):
            load[v] = 0.0
        for v in range(parent.size - 1, -1, -1):
            above = 0.0
            if v >= first:
                load[v] = h[j, v - first]
            share = A[v] / (A[v] + load[v])
            if parent[v] >= 0:
                above = W[j, parent[v]]
                load[parent[v]] += load[v] * share
            if v >= first:
                variance[v] += share / A[v]
                slope[v] += share * share / A[v]
            u2 = (float(W[j, v]) - above) ** 2
            away[v] += u2
            pull[v] += 2.0 * u2 * share


@loop
def summarise_features(parent, owner, A, W, h, total, slope):
    """The same for A (rows, nodes): total (rows, owners) += Q, summed over the nodes of an owner;

    slope += its fall with the logarithm of the owner's precision, other precisions fixed.
    owner : (nodes,), -1 for the root
    """
    load, s = np.empty(parent.size), np.empty(parent.size)
    own, first = np.empty(parent.size), parent.size - h.shape[1]
    for j in range(W.shape[0]):
        a = A[j]
        for v in range(parent.size):
            s[v] = a[v]
            own[v] = 0.0  # the part of s that the owner of the edges below has
            load[v] = h[j, v - first] if v >= first else 0.0
        for v in range(parent.size - 1, 0, -1):
            s[parent[v]] += a[v]
            own[parent[v]] += a[v]
            load[parent[v]] += load[v] * a[v] / (a[v] + load[v])
        for v in range(1, parent.size):
            p, o = parent[v], owner[v]
            below = a[v] + load[v] if v >= first else s[v]
            u2 = (float(W[j, v]) - W[j, p]) ** 2
            total[j, o] += 1.0 / below + 1.0 / s[p] + u2
            fall = a[v] / below**2 + own[p] / s[p] ** 2
            slope[j, o] += fall + 2.0 * u2 * a[v] / (a[v] + load[v])


@loop
def leaf_moments(rows, bias, H, least, stride, Q, mass):
    """Q (leaves, d + 1, d + 1) += sum_i H_ik x_i x_i', mass (leaves,) += sum_i H_ik.

    Only over every stride_k-th of the i with H_ik >= least_k.
    """
    last, seen = Q.shape[1] - 1, np.zeros(H.shape[1], dtype=np.int64)
    x = np.zeros(last + 1)
    x[last] = bias
    for i in range(H.shape[0]):
        begin, end = rows.indptr[i], rows.indptr[i + 1]
        for j in range(begin, end):
            x[rows.indices[j]] = rows.data[j]
        for k in range(H.shape[1]):
            if H[i, k] < least[k]:
                continue
            seen[k] += 1
            if (seen[k] - 1) % stride[k]:
                continue
            mass[k] += H[i, k]
            for j in range(last + 1):
                line, value = Q[k, j], H[i, k] * x[j]
                if value != 0.0:
                    for other in range(j + 1):
                        line[other] += value * x[other]
        for j in range(begin, end):
            x[rows.indices[j]] = 0.0
    for k in range(Q.shape[0]):
        for j in range(last + 1):
            for other in range(j):
                Q[k, other, j] = Q[k, j, other]
