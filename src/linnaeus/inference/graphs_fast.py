# mypy: ignore-errors
"""The best labelling of a hypergraph over 0/1 nodes, row by row.

    maximise_y  sum_e h[e, y_e],     y_e the bits of the members of e, the first the highest

*Junction tree* (exact). Nodes are eliminated in the order t = 0, 1, ...; the clique of t holds
the neighbours that are left and, as its lowest bit, the node itself. Each hyperedge lies in one
clique. Tables T_t receive messages from earlier cliques and send theirs on to their parents:

    m_t(s) = max_{b in {0,1}} T_t(2 s + b),     s the bits of the neighbours (the separator)

*Messages* (approximate). With b_v = sum_e m_ev and labels as bits, the message of e to v is

    m_ev = max_{y_v = 1} f - max_{y_v = 0} f,   f = h[e, y_e] + sum_{w != v in e} y_w (b_w - m_ew)

Sent along all edges in turn with damping this is loopy max-product; sent up and down a spanning
tree, undamped, it is one tree reparametrisation: node terms b, edge terms h - sum_w y_w m_ew, and
the sum of all terms stays as it is. After each round labels are decoded edge by edge, along a
spanning tree first; the best labelling decoded on the way is kept.
"""

from typing import NamedTuple

import numpy as np

from linnaeus.compiled import loop, part


class Net(NamedTuple):
    """A hypergraph: members of edge e are ``nodes[ptr[e]:ptr[e+1]]``, its table ``start[e]:``."""

    ptr: np.ndarray
    nodes: np.ndarray
    start: np.ndarray


class Cliques(NamedTuple):
    """Cliques in order of elimination; empty when messages are to be used."""

    ptr: np.ndarray  # members of clique t: the separator, then the eliminated node
    members: np.ndarray
    table: np.ndarray  # (n + 1,) where the table of t starts
    parent: np.ndarray  # (n,) the clique that holds the separator, or -1
    up_ptr: np.ndarray  # (n + 1,) where the map of t starts:
    up: np.ndarray  # entry of the parent's table -> entry of the message of t
    home: np.ndarray  # (n_edges,) the clique of each edge
    edge_ptr: np.ndarray
    edge: np.ndarray  # entry of the clique's table -> code of the edge


class Schedule(NamedTuple):
    """Which messages to send: rounds of edges, each with the position of its upper node."""

    edge: np.ndarray  # (n_rounds, n_edges) parents first; -1 fills up
    way: np.ndarray  # (n_rounds, n_edges), -1: to all members, damped


class SearchWork(NamedTuple):
    """Space for one row."""

    T: np.ndarray  # (clique entries,)
    up: np.ndarray  # (clique entries,) messages up
    b: np.ndarray  # (n_nodes,)
    m: np.ndarray  # (n_members,)
    trial: np.ndarray  # (n_nodes,) int8


@part
def code_of(net, e, y):
    """The code of hyperedge e under labels y."""
    code = 0
    for j in range(net.ptr[e], net.ptr[e + 1]):
        code = 2 * code + y[net.nodes[j]]
    return code


@part
def score_of(net, h, y):
    """sum_e h[e, y_e]."""
    total = 0.0
    for e in range(net.ptr.size - 1):
        total += h[net.start[e] + code_of(net, e, y)]
    return total


# -- junction tree ------------------------------------------------------------------------------


@part
def collect(net, cliques, h, work):
    """Fill the tables and send all messages up."""
    T, up = work.T, work.up
    for x in range(T.size):
        T[x] = 0.0
    for e in range(cliques.home.size):
        t = cliques.home[e]
        at, size = cliques.table[t], cliques.table[t + 1] - cliques.table[t]
        for x in range(size):
            T[at + x] += h[net.start[e] + cliques.edge[cliques.edge_ptr[e] + x]]
    for t in range(cliques.parent.size):
        at, p = cliques.table[t], cliques.parent[t]
        for s in range((cliques.table[t + 1] - at) // 2):
            up[at + s] = max(T[at + 2 * s], T[at + 2 * s + 1])
        if p >= 0:
            there, by = cliques.table[p], cliques.up_ptr[t]
            for x in range(cliques.table[p + 1] - there):
                T[there + x] += up[at + cliques.up[by + x]]


@part
def junction(net, cliques, h, work, y):
    """Write the best labels into y and return their score."""
    collect(net, cliques, h, work)
    for t in range(cliques.parent.size - 1, -1, -1):
        s, last = 0, cliques.ptr[t + 1] - 1
        for j in range(cliques.ptr[t], last):
            s = 2 * s + y[cliques.members[j]]
        at = cliques.table[t] + 2 * s
        y[cliques.members[last]] = work.T[at + 1] > work.T[at]
    return score_of(net, h, y)


@part
def max_marginals(net, cliques, h, work, down, out):
    """out[v] = best score with v on minus best score with v off.

    The tables become max-marginals from the roots down; `down` is space for messages.
    """
    collect(net, cliques, h, work)
    T, up = work.T, work.up
    for t in range(cliques.parent.size - 1, -1, -1):
        at, p = cliques.table[t], cliques.parent[t]
        half = (cliques.table[t + 1] - at) // 2
        if p >= 0:
            there, by = cliques.table[p], cliques.up_ptr[t]
            for s in range(half):
                down[s] = -np.inf
            for x in range(cliques.table[p + 1] - there):
                s = cliques.up[by + x]
                down[s] = max(down[s], T[there + x] - up[at + s])
            for s in range(half):
                T[at + 2 * s] += down[s]
                T[at + 2 * s + 1] += down[s]
        off, on = -np.inf, -np.inf
        for s in range(half):
            off, on = max(off, T[at + 2 * s]), max(on, T[at + 2 * s + 1])
        out[cliques.members[cliques.ptr[t + 1] - 1]] = on - off


# -- messages -----------------------------------------------------------------------------------


@part
def entry(net, e, x, h, work, without):
    """f of the code x of hyperedge e, without the term of one position."""
    a, z = net.ptr[e], net.ptr[e + 1]
    value = h[net.start[e] + x]
    for j in range(a, z):
        if j - a != without and (x >> (z - 1 - j)) & 1:
            value += work.b[net.nodes[j]] - work.m[j]
    return value


@part
def send(net, e, position, h, work, damping):
    """Renew one message; return by how much it changed."""
    off, on = -np.inf, -np.inf
    size = net.ptr[e + 1] - net.ptr[e]
    for x in range(1 << size):
        value = entry(net, e, x, h, work, position)
        if (x >> (size - 1 - position)) & 1:
            on = max(on, value)
        else:
            off = max(off, value)
    j = net.ptr[e] + position
    change = (1.0 - damping) * (on - off - work.m[j])
    work.m[j] += change
    work.b[net.nodes[j]] += change
    return abs(change)


@part
def send_round(net, schedule, k, h, work, damping):
    """All messages of a round: up, then down; return the largest change."""
    change = 0.0
    n = schedule.edge.shape[1]
    for i in range(n - 1, -1, -1):
        e, way = schedule.edge[k, i], schedule.way[k, i]
        if e >= 0 and way >= 0:
            change = max(change, send(net, e, way, h, work, 0.0))
    for i in range(n):
        e, way = schedule.edge[k, i], schedule.way[k, i]
        if e >= 0:
            for position in range(net.ptr[e + 1] - net.ptr[e]):
                if position != way:
                    d = damping if way < 0 else 0.0
                    change = max(change, send(net, e, position, h, work, d))
    return change


@part
def fits(net, e, x, y):
    """Whether the code x of hyperedge e has the labels y of all members that have one."""
    for j in range(net.ptr[e], net.ptr[e + 1]):
        label = y[net.nodes[j]]
        if label >= 0 and (x >> (net.ptr[e + 1] - 1 - j)) & 1 != label:
            return False
    return True


@part
def decode(net, schedule, k, h, work, y):
    """Labels edge by edge: the best code given the members that have their labels already.

    Nodes alone would not do: where two codes tie, each end could take its label from another one.
    """
    for v in range(y.size):
        y[v] = -1
    for i in range(schedule.edge.shape[1]):
        e = schedule.edge[k, i]
        if e >= 0:
            a, z = net.ptr[e], net.ptr[e + 1]
            best, code = -np.inf, 0
            for x in range(1 << (z - a)):
                if fits(net, e, x, y):
                    value = entry(net, e, x, h, work, -1)
                    if value > best:
                        best, code = value, x
            for j in range(a, z):
                y[net.nodes[j]] = (code >> (z - 1 - j)) & 1
    for v in range(y.size):
        if y[v] < 0:
            y[v] = work.b[v] > 0.0


@part
def messages(net, schedule, h, work, y, enough):
    """Write the best labels decoded in any round into y and return their score.

    enough : a score above which the first labels found will do
    """
    for v in range(y.size):
        work.b[v], y[v] = 0.0, 0
    for j in range(work.m.size):
        work.m[j] = 0.0
    best = score_of(net, h, y)
    quiet = 0
    for k in range(schedule.edge.shape[0]):
        change = send_round(net, schedule, k, h, work, 0.5)
        decode(net, schedule, k, h, work, work.trial)
        value = score_of(net, h, work.trial)
        if value > best:
            best = value
            for v in range(y.size):
                y[v] = work.trial[v]
        quiet = quiet + 1 if change <= 1e-6 else 0
        if quiet == 10 or best > enough:  # ten: a tree shows only its own edges
            break
    return best


@part
def find(net, cliques, schedule, h, work, y, enough):
    """The best labels y of one row that the method finds; returns their score.

    enough : messages stop at the first labels above this score
    """
    if cliques.parent.size > 0:
        return junction(net, cliques, h, work, y)
    return messages(net, schedule, h, work, y, enough)


@part
def penalise(net, forbidden, h):
    """Lower the entries that are forbidden below anything that the others can make up for."""
    if forbidden.size == 0:
        return
    total = 1.0
    for e in range(net.ptr.size - 1):
        largest = 0.0
        for q in range(net.start[e], net.start[e + 1]):
            if not forbidden[q]:
                largest = max(largest, abs(h[q]))
        total += 2.0 * largest
    for q in range(h.size):
        if forbidden[q]:
            h[q] = -total


@loop
def find_rows(net, cliques, schedule, forbidden, H, work, Y, value):
    """`find` for every row of H, whose forbidden entries are overwritten."""
    for i in range(H.shape[0]):
        penalise(net, forbidden, H[i])
        value[i] = find(net, cliques, schedule, H[i], work, Y[i], np.inf)


@loop
def difference_rows(net, cliques, schedule, forbidden, H, work, down, y, out):
    """For every row: best score with a node on minus that with it off; of messages, their sums."""
    for i in range(H.shape[0]):
        penalise(net, forbidden, H[i])
        if cliques.parent.size > 0:
            max_marginals(net, cliques, H[i], work, down, out[i])
        else:
            messages(net, schedule, H[i], work, y, np.inf)
            for v in range(out.shape[1]):
                out[i, v] = work.b[v]
