# mypy: ignore-errors
"""Loops of `ot`: a factorisation without fill, and ascent over the examples.

A matrix M over nodes whose entries off the diagonal join nodes with their ancestors is L D L', with
L_af nonzero for ancestors a of f only: a node is eliminated after all below it, and what this
changes joins two of its ancestors, which are joined already. With u = L'w,

    1/2 sum_fa M_fa w_f.w_a = 1/2 sum_f D_f ||u_f||^2,      w_f = u_f - sum_{a above f} L_af w_a,

so that scores on a path need u of the families along it, and a step there changes no other u.

Nodes are numbered parents first and families in one piece. `ptr` (m + 1) and `above` list the
ancestors of every node from the top down; values that belong to (f, a) lie in the same order.
Weights lie feature by feature, (d + 1, m), the constant feature last.
"""

from __future__ import annotations

from linnaeus.compiled import loop, part


@loop
def factorise(ptr, above, D, L):
    """Make D (m,), the diagonal, and L, the other entries of M, those of L D L', in place.

    Returns the first node whose pivot is not positive, or -1.
    """
    for f in range(D.size - 1, -1, -1):
        if not D[f] > 0.0:
            return f
        begin = ptr[f]
        for r in range(ptr[f + 1] - begin):
            value = L[begin + r]
            a = above[begin + r]
            L[begin + r] = value / D[f]
            D[a] -= value * value / D[f]
            for q in range(r):
                L[ptr[a] + q] -= L[begin + r] * L[begin + q] * D[f]
    return -1


@loop
def down(ptr, above, L, A):
    """A <- L'^-1 A along the nodes, the last axis: weights w from u."""
    for j in range(A.shape[0]):
        row = A[j]
        for f in range(row.size):
            for e in range(ptr[f], ptr[f + 1]):
                row[f] -= L[e] * row[above[e]]


@loop
def up(ptr, above, D, L, A):
    """A <- D^-1 L^-1 A along the nodes, the last axis: u from v = M w."""
    for j in range(A.shape[0]):
        row = A[j]
        for f in range(row.size - 1, -1, -1):
            for e in range(ptr[f], ptr[f + 1]):
                row[above[e]] -= L[e] * row[f]
            row[f] /= D[f]


@loop
def products(ptr, above, A, own, pairs):
    """Add up a_f.a_f in `own` (m,), and a_f.a_a for all ancestors a in `pairs`."""
    for j in range(A.shape[0]):
        row = A[j]
        for f in range(row.size):
            value = float(row[f])
            own[f] += value * value
            for e in range(ptr[f], ptr[f + 1]):
                pairs[e] += value * row[above[e]]


@part
def families(k, forest, local):
    """Find the nodes `loc` of the families on the path of example k, their places `level` on it,
    and where in `loc` the path is, `own`; returns how many nodes there are.
    """
    n = 0
    t = forest.cls[k]
    for r in range(forest.path_ptr[t + 1] - forest.path_ptr[t]):
        i = forest.path[forest.path_ptr[t] + r]
        for f in range(forest.first[i], forest.last[i]):
            if f == i:
                local.own[r] = n
            local.loc[n] = f
            local.level[n] = r
            n += 1
    return n


@part
def look(k, rows, bias, forest, state, local):
    """Scores g and losses h of the families on the path of example k; returns their size."""
    n = families(k, forest, local)
    loc, level, own, g, h = local.loc, local.level, local.own, local.g, local.h
    for s in range(n):
        g[s] = bias * state.U[-1, loc[s]]
    for j in range(rows.indptr[k], rows.indptr[k + 1]):
        u, x = state.U[rows.indices[j]], rows.data[j]
        for s in range(n):
            g[s] += x * u[loc[s]]
    scores(n, forest, state, local, g)
    for s in range(n):
        h[s] = 1.0 - g[own[level[s]]] + g[s]
    return n


@part
def scores(n, forest, state, local, g):
    """g <- L'^-1 g on the nodes of `local`."""
    for s in range(n):
        begin = forest.ptr[local.loc[s]]
        for r in range(local.level[s]):
            g[s] -= state.L[begin + r] * g[local.own[r]]


@part
def lift(n, forest, state, local, y):
    """y <- D^-1 L^-1 y on the nodes of `local`; returns y' M^-1 y."""
    total = 0.0
    for s in range(n - 1, -1, -1):
        if y[s] != 0.0:
            f = local.loc[s]
            for r in range(local.level[s]):
                y[local.own[r]] -= state.L[forest.ptr[f] + r] * y[s]
            total += y[s] * y[s] / state.D[f]
            y[s] /= state.D[f]
    return total


@part
def measure(n, begin, cost, state, local):
    """The loss of an example, and its part of the gap: c loss - sum_p alpha_p h_p."""
    loss, used = 0.0, 0.0
    for s in range(n):
        if s != local.own[local.level[s]]:
            loss = max(loss, local.h[s])
            used += state.alpha[begin + s] * local.h[s]
    return loss, max(0.0, cost * loss - used)


@loop
def certify(rows, bias, forest, state, local, sums):
    """The weighted losses, the gap and the multipliers, added up in `sums` (3,)."""
    for k in range(forest.cls.size):
        n = look(k, rows, bias, forest, state, local)
        loss, gap = measure(n, forest.start[k], forest.cost[k], state, local)
        sums[0] += forest.cost[k] * loss
        sums[1] += gap
        for s in range(n):
            sums[2] += state.alpha[forest.start[k] + s]


@loop
def collect(rows, bias, forest, state, local, V):
    """Add to V (d + 1, m) what the multipliers make: v = sum_k alpha (e_i - e_j) x_k."""
    for k in range(forest.cls.size):
        n = families(k, forest, local)
        y = local.y
        for s in range(n):
            y[s] = 0.0
        for s in range(n):
            value = state.alpha[forest.start[k] + s]
            y[s] -= value
            y[local.own[local.level[s]]] += value
        add(k, n, rows, bias, local, V)


@part
def add(k, n, rows, bias, local, V):
    """V += x_k y' on the nodes of `local`."""
    loc, y = local.loc, local.y
    for j in range(rows.indptr[k], rows.indptr[k + 1]):
        v, x = V[rows.indices[j]], rows.data[j]
        for s in range(n):
            v[loc[s]] += x * y[s]
    if bias != 0.0:
        for s in range(n):
            V[-1, loc[s]] += bias * y[s]


@part
def extremes(n, begin, left, alpha, local):
    """The pair to give to and the pair to take from, -1 for none (whose h is 0)."""
    most, least, high, low = -1, -1, 0.0, 0.0
    some = left > 0.0
    for s in range(n):
        if s == local.own[local.level[s]]:
            continue
        if local.h[s] > high:
            most, high = s, local.h[s]
        if alpha[begin + s] > 0.0 and (not some or local.h[s] < low):
            least, low, some = s, local.h[s], True
    return most, least, high - low if some else 0.0


@part
def move(n, most, least, norm, room, violation, forest, state, local):
    """Take from one pair and give to another, the best amount; returns it."""
    b, dg = local.b, local.dg
    for s in range(n):
        b[s] = 0.0
    if most >= 0:
        b[local.own[local.level[most]]] += 1.0
        b[most] -= 1.0
    if least >= 0:
        b[local.own[local.level[least]]] -= 1.0
        b[least] += 1.0
    for s in range(n):
        dg[s] = b[s]
    curvature = norm * lift(n, forest, state, local, dg)
    scores(n, forest, state, local, dg)
    step = violation / curvature if violation < curvature * room else room
    for s in range(n):
        local.y[s] += step * b[s]
        local.g[s] += step * norm * dg[s]
    for s in range(n):
        local.h[s] = 1.0 - local.g[local.own[local.level[s]]] + local.g[s]
    return step


@loop
def sweep(order, rows, bias, norms, forest, state, local, n_steps, enough):
    """Make the multipliers of the examples better in turn; returns the gap that it met.

    n_steps : in one visit at most;  enough : part of the violation at which a visit ends
    """
    total = 0.0
    for k in order:
        n = look(k, rows, bias, forest, state, local)
        begin, cost = forest.start[k], forest.cost[k]
        total += measure(n, begin, cost, state, local)[1]
        left = cost
        for s in range(n):
            left -= state.alpha[begin + s]
            local.y[s] = 0.0
        left = left if left > 1e-14 * cost else 0.0
        first = 0.0
        for _ in range(n_steps):
            most, least, violation = extremes(n, begin, left, state.alpha, local)
            first = max(first, violation)
            if violation <= enough * first or violation <= 1e-14:
                break
            room = left if least < 0 else state.alpha[begin + least]
            size = move(n, most, least, norms[k], room, violation, forest, state, local)
            if most >= 0:
                state.alpha[begin + most] += size
            else:
                left += size
            if least >= 0:
                state.alpha[begin + least] = max(0.0, room - size) if size < room else 0.0
            else:
                left = left - size if size < left else 0.0
        if first > 0.0:
            lift(n, forest, state, local, local.y)
            add(k, n, rows, bias, local, state.U)
    return total
