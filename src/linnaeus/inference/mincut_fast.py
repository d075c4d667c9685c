# mypy: ignore-errors
"""Best label set of a DAG that is closed under "parent of", as a minimum cut.

    maximise  sum_{v in S} s_v   subject to   v in S  =>  every parent of v in S

This is the closure problem of [Picard1976]. A node with s_v > 0 supplies s_v units, a node with
s_v < 0 can absorb -s_v units, and units travel from a node to its parents without limit. Send as
much as can be absorbed: the supply left over is the best score, and the nodes that it can still
reach form the smallest best set. (Proof. A closed set T sends nothing out, so its score is at
most the supply left inside it. The nodes reached absorb all they can and receive nothing from
outside, so for them it is equal; every other best set must contain them.)

Numbers. The caller rounds scores to multiples of a power of two u such that n max|s| < 2^61 u;
all arithmetic is on int64, in units of u (SciPy's maximum flow has int32 only, too coarse). So
the flow is exact and no tolerance exists; the set found is exactly the best one for scores
changed by at most u / 2, which is less than what adding n floats rounds away. Scores that are
multiples of u (float32 values of similar size) are not changed at all.

Method: push from the excess towards free room, as in [GoldbergTarjan1988]. A round finds every
node's exact distance to free room in the residual graph, then lets all excess run downhill once,
the farthest first. Excess that gets stuck has used up all its ways of that length, so its
distance grows: the rounds end. Only nodes at or above a positive score take part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linnaeus.compiled import loop, part


class Network(NamedTuple):
    """Parent and child lists; edge e runs from a child to ``parents[e]``.

    ``edge[i]`` is the number of the edge to ``children[i]``.
    """

    parent_ptr: np.ndarray  # (n + 1,) int64
    parents: np.ndarray  # (m,) int32
    child_ptr: np.ndarray  # (n + 1,) int64
    children: np.ndarray  # (m,) int32
    edge: np.ndarray  # (m,) int64


class CutWork(NamedTuple):
    """The state of one row: what waits where, what can be absorbed where, what flows along."""

    excess: np.ndarray  # (n,) int64
    room: np.ndarray  # (n,) int64
    flow: np.ndarray  # (m,) int64, from child to parent
    distance: np.ndarray  # (n,) int64, -1 where no free room can be reached
    queue: np.ndarray  # (n,) int64


@part
def _copy(source, target):
    for v in range(target.size):
        target[v] = source[v]


@part
def _start(net, s, w):
    """Put supply and room of the nodes at or above a positive score into the work space."""
    w.flow[:] = 0
    w.distance[:] = 0  # for the moment: 1 for nodes that take part
    for v in range(s.size - 1, -1, -1):  # children first
        if s[v] > 0:
            w.distance[v] = 1
        w.excess[v] = max(s[v], 0)
        w.room[v] = max(-s[v], 0) * w.distance[v]
        if w.distance[v]:
            for e in range(net.parent_ptr[v], net.parent_ptr[v + 1]):
                w.distance[net.parents[e]] = 1


@part
def _measure(net, w):
    """Write the distance of every node to free room; return how many nodes have one.

    They are left in `queue`, nearest first.
    """
    w.distance[:] = -1
    tail = 0
    for v in range(w.room.size):
        if w.room[v] > 0:
            w.distance[v] = 0
            w.queue[tail] = v
            tail += 1
    head = 0
    while head < tail:
        v = w.queue[head]
        head += 1
        for i in range(net.child_ptr[v], net.child_ptr[v + 1]):  # a child can always send to v
            u = net.children[i]
            if w.distance[u] < 0:
                w.distance[u] = w.distance[v] + 1
                w.queue[tail] = u
                tail += 1
        for e in range(net.parent_ptr[v], net.parent_ptr[v + 1]):  # a parent can send back
            u = net.parents[e]
            if w.flow[e] > 0 and w.distance[u] < 0:
                w.distance[u] = w.distance[v] + 1
                w.queue[tail] = u
                tail += 1
    return tail


@part
def _push(net, w, v):
    """Send the excess of v one step nearer to free room, as far as the edges allow."""
    nearer = w.distance[v] - 1
    for e in range(net.parent_ptr[v], net.parent_ptr[v + 1]):
        p = net.parents[e]
        if w.distance[p] == nearer:
            w.flow[e] += w.excess[v]
            w.excess[p] += w.excess[v]
            w.excess[v] = 0
            return
    for i in range(net.child_ptr[v], net.child_ptr[v + 1]):
        c, e = net.children[i], net.edge[i]
        if w.flow[e] > 0 and w.distance[c] == nearer:
            units = min(w.excess[v], w.flow[e])
            w.flow[e] -= units
            w.excess[c] += units
            w.excess[v] -= units
            if w.excess[v] == 0:
                return


@part
def _send(net, w):
    """Absorb as much excess as possible; return the number of rounds."""
    rounds = 0
    active = True
    while active:
        active = False
        rounds += 1
        for i in range(_measure(net, w) - 1, -1, -1):  # the farthest first
            v = w.queue[i]
            if w.excess[v] > 0:
                active = True
                if w.distance[v] > 0:
                    _push(net, w, v)
                else:
                    units = min(w.excess[v], w.room[v])
                    w.excess[v] -= units
                    w.room[v] -= units
    return rounds


@part
def _reach(net, w, root, on):
    """Switch on what the excess left (and `root`, unless -1) can reach; return the excess left."""
    tail = 0
    left = 0
    for v in range(on.size):
        left += w.excess[v]
        on[v] = w.excess[v] > 0 or v == root
        if on[v]:
            w.queue[tail] = v
            tail += 1
    while tail > 0:
        tail -= 1
        v = w.queue[tail]
        for e in range(net.parent_ptr[v], net.parent_ptr[v + 1]):
            p = net.parents[e]
            if not on[p]:
                on[p] = True
                w.queue[tail] = p
                tail += 1
        for i in range(net.child_ptr[v], net.child_ptr[v + 1]):
            c = net.children[i]
            if w.flow[net.edge[i]] > 0 and not on[c]:
                on[c] = True
                w.queue[tail] = c
                tail += 1
    return left


@part
def _force_root(net, s, w, trial, found, on):
    """Write the best set with at least one root into `on`, for a row whose best set is empty.

    With root r on, what it absorbed must go elsewhere: the flow continues from where it stands.
    The score is that of r plus what is left over then, so at most s_r plus what r absorbed.

    trial : work space like `w`;   found : (n,) bool, work space
    """
    best = -np.int64(2**62)
    for r in range(s.size):
        if net.parent_ptr[r] < net.parent_ptr[r + 1]:
            continue
        absorbed = 0
        for i in range(net.child_ptr[r], net.child_ptr[r + 1]):
            absorbed += w.flow[net.edge[i]]
        if s[r] + absorbed > best:
            trial.excess[:] = 0
            _copy(w.room, trial.room)
            _copy(w.flow, trial.flow)
            trial.excess[r] = absorbed
            trial.room[r] = 0
            _send(net, trial)
            score = s[r] + _reach(net, trial, r, found)
            if score > best:
                best = score
                _copy(found, on)


@loop
def closed_argmax_rows(net, scores, nonempty, w, trial, found, on):
    """Write the best closed set of every row into `on`; return the number of rounds.

    scores   : (n_rows, n) int64, in units of u;   on : (n_rows, n) bool, result
    nonempty : bool, whether a set must hold a node
    w, trial : CutWork;   found : (n,) bool, work space
    """
    rounds = 0
    for i in range(scores.shape[0]):
        _start(net, scores[i], w)
        rounds += _send(net, w)
        if _reach(net, w, -1, on[i]) == 0 and nonempty:
            _force_root(net, scores[i], w, trial, found, on[i])
    return rounds
