# mypy: ignore-errors
"""Best label set of a forest that is closed under "parent of".

    maximise  sum_{v in S} s_v   subject to   v in S  =>  parent(v) in S

Children report their gain upwards, then nodes are switched on downwards: O(n_nodes) per row.
A node whose gain is not positive stays off, so of several best sets the smallest is found.
A set that must not be empty holds a root; where no gain is positive, the root with the largest
gain is switched on alone.
"""

from __future__ import annotations

from linnaeus.compiled import loop, part


@part
def closed_argmax(parent, s, nonempty, gain, on):
    """Write the best closed set of one row into `on` and return its score.

    parent   : (n,) int32    parent[v] < v, roots -1
    s        : (n,) float64  node scores
    nonempty : bool          whether the set must hold a node
    gain     : (n,) float64  work space
    on       : (n,) bool     result
    """
    best = 0.0
    forced = -1
    for v in range(parent.size):
        gain[v] = s[v]
    for v in range(parent.size - 1, -1, -1):  # children first
        if parent[v] < 0:
            best += max(gain[v], 0.0)
            if forced < 0 or gain[v] >= gain[forced]:  # ties to the lower number
                forced = v
        elif gain[v] > 0.0:
            gain[parent[v]] += gain[v]
    alone = nonempty and forced >= 0 and gain[forced] <= 0.0
    for v in range(parent.size):  # parents first
        if parent[v] < 0:
            on[v] = gain[v] > 0.0 or (alone and v == forced)
        else:
            on[v] = gain[v] > 0.0 and on[parent[v]]
    return gain[forced] if alone else best


@loop
def closed_argmax_rows(parent, scores, nonempty, gain, on, value):
    """`closed_argmax` for every row.

    scores, on : (n_rows, n);   value : (n_rows,) float64, result
    """
    for i in range(scores.shape[0]):
        value[i] = closed_argmax(parent, scores[i], nonempty, gain, on[i])
