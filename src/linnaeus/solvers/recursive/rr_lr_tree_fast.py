# mypy: ignore-errors
"""Loops for logistic losses on a forest: all leaves at once, increments along edges as variables.

    minimise_U  1/2 sum_n A_n ||u_n||^2 + sum_i loss_i(z_i),   w_n = f_n w_parent + u_n,  z = W_T x

over the nodes n; A_n is a number, or one for every feature. The loss is softmax or, a class at a
time, logistic. A dual point is a probability pi_ik for every example and leaf, and with
D_ik = c_ik (y_ik - pi_ik) at the leaves, carried upwards with the factors f,

    V_n = sum_i D_in x_i,    u_n = V_n / A_n,    gap = sum_i c_i KL(pi_i || p(z_i)).

V does not depend on A: when precisions change, a dual point stays what it is. Seen from example i
the forest has A_n = 1 / sum_j x_ij^2 / A_nj, and the best pi_i solves a problem on it.

examples : `rr_lr_tree.TreeExamples`;  tree : `rr_lr_tree.IncrementTree`, parents first, leaves last
Arrays are (features + 1, nodes), the constant feature last. V holds the leaves only if a node has
one precision for all features, since sums over leaves may then be taken after those over
features. Probabilities are stored as e_ik = |y_ik - pi_ik|, which loses nothing near 0 and 1.
"""

from __future__ import annotations

import math

import numpy as np

from linnaeus.compiled import loop, part
from linnaeus.solvers.linear.logistic_fast import gather, log_sum_exp, scatter, sigmoid

STRIDE = 4.0  # change of a logit


@loop
def to_weights(tree, B, W):
    """W: w_n = f_n w_parent + b_n / sqrt(A_n). W may be B."""
    for j in range(B.shape[0]):
        line = tree.inverse[j % tree.inverse.shape[0]]
        for v in range(tree.parent.size):
            w = B[j, v] * math.sqrt(line[v])
            if tree.parent[v] >= 0:
                w += tree.factor[v] * W[j, tree.parent[v]]
            W[j, v] = w


@loop
def from_weights(tree, W, B):
    """The inverse of `to_weights`. B must not be W."""
    for j in range(B.shape[0]):
        line = tree.inverse[j % tree.inverse.shape[0]]
        for v in range(tree.parent.size):
            w = float(W[j, v])
            if tree.parent[v] >= 0:
                w -= tree.factor[v] * W[j, tree.parent[v]]
            B[j, v] = w / math.sqrt(line[v])


@loop(allocates=True)
def add_gradient(tree, G, squared, out):
    """out (rows, nodes) += the gradient in B from that in the leaves' weights, G (rows, leaves).

    squared : with squared factors instead, which takes a diagonal of Hessians to another
    """
    total = np.empty(tree.parent.size)
    for j in range(G.shape[0]):
        line = tree.inverse[j % tree.inverse.shape[0]]
        to_nodes(tree, G[j], squared, total)
        for v in range(total.size):
            out[j, v] += total[v] * (line[v] if squared else math.sqrt(line[v]))


@part
def to_nodes(tree, values, squared, total):
    """total (nodes,) = sums over the leaves below each node, values (leaves,) times factors."""
    first = total.size - values.size
    for v in range(first):
        total[v] = 0.0
    for v in range(total.size - 1, -1, -1):
        if v >= first:
            total[v] = values[v - first]
        if tree.parent[v] >= 0:
            f = tree.factor[v]
            total[tree.parent[v]] += total[v] * (f * f if squared else f)


@part
def increments(tree, V, j, u):
    """u (nodes,) = V / A at feature j."""
    line = tree.inverse[j % tree.inverse.shape[0]]
    if V.shape[1] < u.size:
        to_nodes(tree, V[j], False, u)
        for v in range(u.size):
            u[v] *= line[v]
    else:
        for v in range(u.size):
            u[v] = V[j, v] * line[v]


@loop(allocates=True)
def energy(tree, V):
    """sum_n A_n ||u_n||^2"""
    u, total = np.empty(tree.parent.size), 0.0
    for j in range(V.shape[0]):
        line = tree.inverse[j % tree.inverse.shape[0]]
        increments(tree, V, j, u)
        for v in range(u.size):
            total += u[v] * u[v] / line[v]
    return total


@loop(allocates=True)
def move(tree, V, W):
    """W = the weights of u = V / A. Return the largest change of a weight, and the largest one."""
    u, change, largest = np.empty(tree.parent.size), 0.0, 0.0
    for j in range(V.shape[0]):
        increments(tree, V, j, u)
        for v in range(u.size):
            if tree.parent[v] >= 0:
                u[v] += tree.factor[v] * u[tree.parent[v]]
            change = max(change, abs(u[v] - W[j, v]))
            largest = max(largest, abs(u[v]))
            W[j, v] = u[v]
    return change, largest


@part
def gather_shares(examples, tree, i, V, lane):
    """lane (nodes,) = sum_j x_ij V_nj / A_nj."""
    rows, last = examples.rows, V.shape[0] - 1
    for v in range(lane.size):
        lane[v] = examples.bias * V[last, v] * tree.inverse[last, v]
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        x, line, share = rows.data[j], V[rows.indices[j]], tree.inverse[rows.indices[j]]
        for v in range(lane.size):
            lane[v] += x * line[v] * share[v]


@part
def scores(examples, tree, i, V, lane, s):
    """s (nodes,) = the scores w_n.x_i of example i; lane (columns of V) is work space."""
    if tree.inverse.shape[0] == 1:
        gather(examples.rows, i, examples.bias, V, lane)
        to_nodes(tree, lane, False, s)
        for v in range(s.size):
            s[v] *= tree.inverse[0, v]
            if tree.parent[v] >= 0:
                s[v] += tree.factor[v] * s[tree.parent[v]]
    else:
        gather_shares(examples, tree, i, V, lane)
        for v in range(s.size):
            s[v] = lane[v]
            if tree.parent[v] >= 0:
                s[v] += tree.factor[v] * s[tree.parent[v]]


@part
def add_example(examples, tree, i, delta, lane, V):
    """V += delta (leaves,) times the features of example i, carried upwards if V has all nodes."""
    if tree.inverse.shape[0] == 1:
        scatter(examples.rows, i, examples.bias, delta, V)
    else:
        to_nodes(tree, delta, False, lane)
        scatter(examples.rows, i, examples.bias, lane, V)


@loop(allocates=True)
def add_residuals(examples, tree, e, V):
    """V += sum_i D_in x_i."""
    delta, lane = np.empty(e.shape[1], V.dtype), np.empty(V.shape[1], V.dtype)
    for i in range(e.shape[0]):
        y, weight = examples.y[i], examples.weight[i]
        for k in range(delta.size):
            c = weight * examples.cost[y[k], k]
            delta[k] = c * e[i, k] if y[k] else -c * e[i, k]
        add_example(examples, tree, i, delta, lane, V)


@part
def conductances(examples, tree, i, c):
    """c (nodes,) = 1 / sum_j x_ij^2 / A_nj; inf for an example of zeros."""
    rows, inverse, size = examples.rows, tree.inverse, examples.bias * examples.bias
    last = inverse[inverse.shape[0] - 1]
    if inverse.shape[0] == 1:
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            size += rows.data[j] * rows.data[j]
    for v in range(c.size):
        c[v] = size * last[v]
    if inverse.shape[0] > 1:
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            x, line = rows.data[j], inverse[rows.indices[j]]
            for v in range(c.size):
                c[v] += x * x * line[v]
    for v in range(c.size):
        c[v] = 1.0 / c[v] if c[v] > 0.0 else math.inf


@part
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


@part
def eliminate(tree, c, extra, over):
    """over (nodes,) = 1 / pivots of L + diag(extra on the leaves), children first.

    L : the matrix of sum_n c_n (s_n - f_n s_parent)^2
    """
    first = tree.parent.size - extra.size
    for v in range(first):
        over[v] = 0.0
    for v in range(tree.parent.size - 1, -1, -1):
        load = extra[v - first] if v >= first else over[v]
        over[v] = 1.0 / (c[v] + load)
        if tree.parent[v] >= 0:
            over[tree.parent[v]] += tree.factor[v] * tree.factor[v] * load * c[v] * over[v]


@part
def substitute(tree, c, over, rhs, out):
    """out (nodes,) solves the eliminated system for rhs (leaves,), zero at inner nodes."""
    first = tree.parent.size - rhs.size
    for v in range(first):
        out[v] = 0.0
    for v in range(tree.parent.size - 1, -1, -1):
        if v >= first:
            out[v] = rhs[v - first]
        if tree.parent[v] >= 0:
            out[tree.parent[v]] += tree.factor[v] * out[v] * c[v] * over[v]
    for v in range(tree.parent.size):
        if tree.parent[v] >= 0:
            out[v] += tree.factor[v] * c[v] * out[tree.parent[v]]
        out[v] *= over[v]


@part
def direction(softmax, tree, c, u, pi, work, nodes):
    """Write to nodes[0] where a Newton step leads from s, and to work[2] by what it moves L s.

    It solves (L + H) out = u (pi - p) + H s, H = diag(u p (1 - p)) or u (diag(p) - p p').
    """
    p, s, moved, pull, h = work[0], work[1], work[2], work[3], work[4]
    out, other, over = nodes[0], nodes[1], nodes[2]
    first, mean, share = out.size - p.size, 0.0, 0.0
    if softmax:
        for k in range(p.size):
            mean += p[k] * s[k]
    for k in range(p.size):
        h[k] = u[k] * p[k] if softmax else u[k] * p[k] * (1.0 - p[k])
        moved[k] = u[k] * (pi[k] - p[k]) + h[k] * (s[k] - mean)
    eliminate(tree, c, h, over)
    substitute(tree, c, over, moved, out)
    if softmax:
        substitute(tree, c, over, p, other)
        top = bottom = 0.0
        for k in range(p.size):
            top += p[k] * out[first + k]
            bottom += p[k] * other[first + k]
        share = u[0] * top / max(1.0 - u[0] * bottom, 1e-12)
        for v in range(out.size):
            out[v] += share * other[v]
    for k in range(p.size):
        moved[k] += share * p[k] - h[k] * out[first + k] - pull[k]


@part
def tree_step(softmax, tree, c, u, z, pi, work, nodes):
    """Find p = probabilities(z + s) with L s = u (pi - p); write p to work[0], s to work[1].

    u, z, pi : (leaves,), u all the same for softmax; work : 6 rows (leaves,); nodes : 3 rows (N,)
    Newton's method on a convex function of s, linear at inner nodes; with softmax the curvature is
    a diagonal and one outer product. Far steps are taken in strides, as the slope along them may
    turn at once where a probability goes from 0 to 1.
    """
    p, s, moved, pull, there, out = work[0], work[1], work[2], work[3], work[5], nodes[0]
    first = out.size - z.size
    for k in range(z.size):
        s[k] = pull[k] = 0.0
    probabilities(softmax, z, p)
    for _ in range(30):
        direction(softmax, tree, c, u, pi, work, nodes)
        before = size = 0.0
        for k in range(z.size):
            d = out[first + k] - s[k]
            before += (pull[k] - u[k] * (pi[k] - p[k])) * d
            size = max(size, abs(d))
        if not before < 0.0:
            break
        t, low, high = min(1.0, STRIDE / size), 0.0, math.inf
        for _ in range(30):
            for k in range(z.size):
                there[k] = z[k] + s[k] + t * (out[first + k] - s[k])
            probabilities(softmax, there, p)
            slope = 0.0
            for k in range(z.size):
                gradient = pull[k] + t * moved[k] - u[k] * (pi[k] - p[k])
                slope += gradient * (out[first + k] - s[k])
            if slope < 0.5 * before and t < 1.0:
                low = t
            elif slope > -0.3 * before:
                high = t
            else:
                break
            t = 0.5 * (low + high) if high < math.inf else min(STRIDE * t, 1.0)
        for k in range(z.size):
            s[k] += t * (out[first + k] - s[k])
            pull[k] += t * moved[k]
        if size < 0.1:  # what is left after such a step is of second order
            break


@loop(allocates=True)
def sweep(order, examples, tree, V, e):
    """One pass of coordinate ascent in the dual: all leaves of an example at a time.

    order : int64, the examples to visit;   V, e : updated
    """
    K, softmax = e.shape[1], examples.softmax
    delta, lane = np.empty(K, V.dtype), np.empty(V.shape[1], V.dtype)
    nodes, work = np.empty((5, tree.parent.size)), np.empty((9, K))
    s, c, u, z, pi = nodes[3], nodes[4], work[6], work[7], work[8]
    for i in order:
        y = examples.y[i]
        for k in range(K):
            u[k] = examples.weight[i] * examples.cost[y[k], k]
            pi[k] = 1.0 - e[i, k] if y[k] else e[i, k]
        conductances(examples, tree, i, c)
        if math.isinf(c[0]):  # zeros only: the scores are zero whatever the weights
            for k in range(K):
                z[k] = 0.0
            probabilities(softmax, z, work[0])
        else:
            scores(examples, tree, i, V, lane, s)
            for k in range(K):
                z[k] = s[s.size - K + k]
            tree_step(softmax, tree, c, u, z, pi, work, nodes)
        rest = 0.0
        for k in range(K):
            if not y[k]:
                rest += work[0, k]
        for k in range(K):
            old = float(e[i, k])
            if y[k]:
                e[i, k] = rest if softmax else 1.0 - work[0, k]
                delta[k] = u[k] * (float(e[i, k]) - old)
            else:
                e[i, k] = work[0, k]
                delta[k] = u[k] * (old - float(e[i, k]))
        add_example(examples, tree, i, delta, lane, V)


@part
def divergence(e, log_wrong, log_right):
    """KL between coins that are wrong with probability e, and with that of these logarithms."""
    out = 0.0
    if e > 0.0:
        out += e * (math.log(e) - log_wrong)
    if e < 1.0:
        out += (1.0 - e) * (math.log1p(-e) - log_right)
    return out


@part
def binary_terms(z, y, e, u, h):
    """The loss of one example, and its KL; h (leaves,) = u p (1 - p)."""
    loss = gap = 0.0
    for k in range(z.size):
        score = -z[k] if y[k] else z[k]
        q = math.exp(-abs(score))
        tail = math.log1p(q)
        loss += u[k] * (max(score, 0.0) + tail)
        gap += u[k] * max(
            divergence(float(e[k]), min(score, 0.0) - tail, min(-score, 0.0) - tail), 0.0
        )
        h[k] = u[k] * q / ((1.0 + q) * (1.0 + q))
    return loss, gap


@part
def softmax_terms(z, y, e, u, h):
    """The same, for one class of each example."""
    loss = gap = 0.0
    lse = log_sum_exp(z)
    for k in range(z.size):
        log_p = z[k] - lse
        p = math.exp(log_p)
        h[k] = u[k] * p * (1.0 - p)
        if y[k]:
            loss -= u[k] * log_p
            if e[k] < 1.0:
                gap += u[k] * (1.0 - e[k]) * (math.log1p(-float(e[k])) - log_p)
        elif e[k] > 0.0:
            gap += u[k] * e[k] * (math.log(float(e[k])) - log_p)
    return loss, max(gap, 0.0)


@loop(allocates=True)
def measure(examples, tree, V, e, H, gap):
    """Return the objective at u = V / A, its pull being <V, W> = sum_ik D_ik z_ik.

    gap (n,) = c_i KL(pi_i || p), H (n, leaves) = c_i p (1 - p)
    """
    lane, s = np.empty(V.shape[1], V.dtype), np.empty(tree.parent.size)
    u, total = np.empty(e.shape[1]), 0.0
    for i in range(e.shape[0]):
        y = examples.y[i]
        scores(examples, tree, i, V, lane, s)
        z = s[s.size - u.size :]
        for k in range(u.size):
            u[k] = examples.weight[i] * examples.cost[y[k], k]
        if examples.softmax:
            loss, gap[i] = softmax_terms(z, y, e[i], u, H[i])
        else:
            loss, gap[i] = binary_terms(z, y, e[i], u, H[i])
        total += loss
        for k in range(u.size):
            total += 0.5 * u[k] * e[i, k] * (z[k] if y[k] else -z[k])
    return total


@loop(allocates=True)
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
