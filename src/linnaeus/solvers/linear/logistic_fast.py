# mypy: ignore-errors
"""Passes over sparse rows that serve a whole block of classes, for logistic losses.

Weights W are (n_features + 1, B): feature-major, so that one row of W serves all classes of the
block, with a last row for the constant feature of size `bias`. Losses are weighted by
u_ik = weight_i cost_k (binary: cost of label y_ik). The objective here has strength one:

    binary   1/2 ||w - m||^2 + sum_i u_i (log(1 + exp(z_i)) - y_i z_i),             y in {0, 1}
    softmax  1/2 sum_k ||w_k - m_k||^2 + sum_i u_i (log sum_k exp(z_ik) - z_{i t_i})

A dual point is a probability (vector) pi_i for every example, kept with its logits r_i, and
w = m + sum_i u_i (y_i - pi_i) x_i. Maximising the dual over pi_i alone, with q = u_i ||x_i||^2
and z the score before the step, means to solve

    binary   r' = z - q (sigma(r') - pi)
    softmax  log pi' + q pi' = z + q pi - lam,   lam such that sum_k pi'_k = 1

[YuHuangLin2011] solve both for pi', by Newton steps with logarithms that need care at the ends
of the interval. In the logit r' a step takes one exponential and is harmless everywhere. See
docs/maths/logistic.md.
"""

from __future__ import annotations

import math

from linnaeus.compiled import loop, part


@part
def gather(rows, i, bias, W, z):
    """z = scores of example i for all classes."""
    indices = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
    values = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
    constant = W[W.shape[0] - 1]
    for b in range(z.size):
        z[b] = bias * constant[b]
    for j in range(indices.size):
        v = values[j]
        w = W[indices[j]]
        for b in range(z.size):
            z[b] += v * w[b]


@part
def scatter(rows, i, bias, a, W):
    """W += (features of example i) (a)': one number for every class."""
    indices = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
    values = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
    constant = W[W.shape[0] - 1]
    for b in range(a.size):
        constant[b] += bias * a[b]
    for j in range(indices.size):
        v = values[j]
        w = W[indices[j]]
        for b in range(a.size):
            w[b] += v * a[b]


@loop
def margins(rows, bias, W, Z):
    """Z (n, B) = scores of all examples."""
    for i in range(Z.shape[0]):
        gather(rows, i, bias, W, Z[i])


@loop
def add_rows(rows, bias, A, W):
    """W += X'A for A (n, B)."""
    for i in range(A.shape[0]):
        scatter(rows, i, bias, A[i], W)


@loop
def column_dots(A, B, out):
    """out (columns,) float64 = the dot products of the columns of A and B."""
    for b in range(out.size):
        out[b] = 0.0
    for i in range(A.shape[0]):
        for b in range(A.shape[1]):
            out[b] += float(A[i, b]) * float(B[i, b])


@part
def sigmoid(z):
    e = math.exp(-abs(z))
    return 1.0 / (1.0 + e) if z > 0.0 else e / (1.0 + e)


@part
def softplus(z):
    """log(1 + exp(z))"""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@loop
def binary_step(z, q, r, pi):
    """The root of r' = z - q (sigma(r') - pi) and its probability; r, pi where the search starts.

    Newton's method inside the bracket [z - q (1 - pi), z + q pi]. The left side minus the right
    is convex below zero and concave above, so a step that would cross zero stops there, and from
    there on the iterates approach the root from one side.
    """
    low, high = z + q * (pi - 1.0), z + q * pi
    p = pi
    if r < low or r > high:
        r = min(max(r, low), high)
        p = sigmoid(r)
    for _ in range(50):
        new = r - (r - z + q * (p - pi)) / (1.0 + q * p * (1.0 - p))
        if new * r < 0.0:
            new = 0.0
        new = min(max(new, low), high)
        p = sigmoid(new)
        move = abs(new - r)
        r = new
        if move < 0.1:  # what is left after such a step is of second order
            break
    return r, p


@loop
def binary_sweep(order, rows, bias, norms, weight, cost, y, W, r, pi, z, delta):
    """One pass of coordinate ascent over the examples, for all classes of the block.

    order    : (n,) int64                    the order of the visits
    norms    : (n,) float64                  ||x_i||^2, constant feature included
    weight   : (n,), cost : (2, B) float64   u_ik = weight[i] cost[y[i, k], k]
    y        : (n, B) uint8
    W        : (n_features + 1, B);  r, pi : (n, B);  z, delta : (B,) work space
    """
    for i in order:
        gather(rows, i, bias, W, z)
        for b in range(z.size):
            u = weight[i] * cost[y[i, b], b]
            old = pi[i, b]
            r[i, b], pi[i, b] = binary_step(float(z[b]), u * norms[i], float(r[i, b]), float(old))
            delta[b] = u * (float(old) - float(pi[i, b]))  # of what was stored, rounding included
        scatter(rows, i, bias, delta, W)


@part
def binary_terms(z, r, positive):
    """The loss at score z, and KL(sigma(r) || sigma(z)) = pi (r - z) + softplus(z) - softplus(r).

    With r and z negated where r > 0 (the divergence is the same) nothing large cancels.
    """
    log_z = math.log1p(math.exp(-abs(z)))
    e = math.exp(-abs(r))
    loss = max(-z if positive else z, 0.0) + log_z
    if r > 0.0:
        r, z = -r, -z
    divergence = e / (1.0 + e) * (r - z) + max(z, 0.0) + log_z - math.log1p(e)
    return loss, max(divergence, 0.0)


@loop
def binary_certificate(rows, bias, weight, cost, y, W, r, z, loss, gap):
    """loss (B,) = sum_i u_i loss_i at W, and gap (B,) = sum_i u_i KL(pi_i || sigma(z_i))."""
    for b in range(z.size):
        loss[b] = gap[b] = 0.0
    for i in range(y.shape[0]):
        gather(rows, i, bias, W, z)
        for b in range(z.size):
            u = weight[i] * cost[y[i, b], b]
            value, divergence = binary_terms(float(z[b]), float(r[i, b]), y[i, b])
            loss[b] += u * value
            gap[b] += u * divergence


@loop
def binary_evaluate(rows, bias, weight, cost, y, W, G, H, z, loss):
    """loss (B,); G += its gradient; H (n, B) = the curvature of every example's loss."""
    for b in range(z.size):
        loss[b] = 0.0
    for i in range(y.shape[0]):
        gather(rows, i, bias, W, z)
        for b in range(z.size):
            u = weight[i] * cost[y[i, b], b]
            score = float(z[b])
            loss[b] += u * softplus(-score if y[i, b] else score)
            p = sigmoid(score)
            H[i, b] = u * p * (1.0 - p)
            z[b] = -u * sigmoid(-score) if y[i, b] else u * p
        scatter(rows, i, bias, z, G)


@loop
def binary_product(rows, bias, H, D, out, z):
    """out += X' diag(H) X D, class by class."""
    for i in range(H.shape[0]):
        gather(rows, i, bias, D, z)
        for b in range(z.size):
            z[b] *= H[i, b]
        scatter(rows, i, bias, z, out)


@loop
def diagonal(rows, bias, H, out):
    """out += the diagonals of X' diag(H) X, one column a class."""
    last = out.shape[0] - 1
    for i in range(H.shape[0]):
        for b in range(H.shape[1]):
            out[last, b] += bias * bias * H[i, b]
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            v = rows.data[j]
            o = out[rows.indices[j]]
            for b in range(H.shape[1]):
                o[b] += v * v * H[i, b]


@part
def log_sum_exp(z):
    top = z[0]
    for k in range(1, z.size):
        top = max(top, z[k])
    total = 0.0
    for k in range(z.size):
        total += math.exp(z[k] - top)
    return top + math.log(total)


@loop
def simplex_step(z, q, r, pi, c, p, ell):
    """Write the pi' with log pi' + q pi' = z + q pi - lam, sum pi' = 1, into p; log pi' into ell.

    Newton's method on (log pi', lam) jointly, from the present pi = exp(r), in the bracket
    max c - q <= lam <= log sum exp c for c = z + q pi. The answer is normalised, hence feasible.
    """
    low = -math.inf
    for k in range(c.size):
        c[k] = z[k] + q * pi[k]
        low = max(low, c[k] - q)
        ell[k] = r[k]
        p[k] = pi[k]
    high = log_sum_exp(c)
    lam = min(max(log_sum_exp(z), low), high)
    for _ in range(50):
        top = bottom = mass = 0.0
        for k in range(c.size):
            slope = 1.0 + q * p[k]
            top += p[k] * (c[k] - lam - ell[k] - q * p[k]) / slope
            bottom += p[k] / slope
            mass += p[k]
        shift = (mass - 1.0 + top) / bottom
        new = min(max(lam + shift, low), high)
        left = 0.0
        for k in range(c.size):
            old = p[k]
            goal = ell[k] + (c[k] - new - ell[k] - q * old) / (1.0 + q * old)
            goal = min(goal, c[k] - new, 0.0)
            p[k] = math.exp(goal)
            lack = goal - ell[k]
            left += (p[k] + old) * (lack * lack)
            ell[k] = goal
        lam = new
        if (1.0 + q) * left < 0.1:  # what is left after such a step is of second order
            break
    mass = 0.0
    for k in range(c.size):
        mass += p[k]
    for k in range(c.size):
        p[k] /= mass
        ell[k] -= math.log(mass)


@loop
def softmax_sweep(order, rows, bias, norms, weight, W, r, pi, z, delta, work):
    """One pass of block coordinate ascent: all classes of an example at a time.

    weight : (n,) float64, u_i;   r, pi : (n, K);   z, delta : (K,);   work : (4, K) float64
    """
    score, c, p, ell = work[0], work[1], work[2], work[3]
    for i in order:
        gather(rows, i, bias, W, z)
        for k in range(z.size):
            score[k] = z[k]
        simplex_step(score, weight[i] * norms[i], r[i], pi[i], c, p, ell)
        for k in range(z.size):
            old = float(pi[i, k])
            r[i, k] = ell[k]
            pi[i, k] = p[k]
            delta[k] = weight[i] * (old - float(pi[i, k]))
        scatter(rows, i, bias, delta, W)


@loop
def softmax_certificate(rows, bias, weight, t, W, r, z, work, sums):
    """sums[0] = sum_i u_i loss_i at W, sums[1] = sum_i u_i KL(pi_i || softmax(z_i))."""
    sums[0] = sums[1] = 0.0
    score = work[0]
    for i in range(t.size):
        gather(rows, i, bias, W, z)
        for k in range(z.size):
            score[k] = z[k]
        lse = log_sum_exp(score)
        divergence = 0.0
        for k in range(z.size):
            ell = float(r[i, k])
            ratio = score[k] - lse - ell  # KL = sum pi (exp(ratio) - 1 - ratio), no negative term
            if ratio < 1.0:
                divergence += math.exp(ell) * (math.expm1(ratio) - ratio)
            else:
                divergence += math.exp(score[k] - lse) - math.exp(ell) * (1.0 + ratio)
        sums[0] += weight[i] * (lse - score[t[i]])
        sums[1] += weight[i] * divergence


@loop
def softmax_evaluate(rows, bias, weight, t, W, G, H, z, work):
    """Return the loss; G += its gradient; H (n, K) = the probabilities."""
    loss = 0.0
    score = work[0]
    for i in range(t.size):
        gather(rows, i, bias, W, z)
        for k in range(z.size):
            score[k] = z[k]
        lse = log_sum_exp(score)
        loss += weight[i] * (lse - score[t[i]])
        for k in range(z.size):
            p = math.exp(score[k] - lse)
            H[i, k] = p
            z[k] = weight[i] * (p - 1.0 if k == t[i] else p)
        scatter(rows, i, bias, z, G)
    return loss


@loop
def softmax_product(rows, bias, weight, H, D, out, z):
    """out += sum_i u_i x_i' (diag(p_i) - p_i p_i') x_i D."""
    for i in range(H.shape[0]):
        gather(rows, i, bias, D, z)
        mean = 0.0
        for k in range(z.size):
            mean += float(H[i, k]) * float(z[k])
        for k in range(z.size):
            z[k] = weight[i] * H[i, k] * (z[k] - mean)
        scatter(rows, i, bias, z, out)
