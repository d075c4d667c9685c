"""Probabilities of classes when their scores are uncertain: g_k ~ N(m_k, s_k), k = 1 ... K.

    plugin        p = link(m): the scores are taken for certain
    probit        p = link(m / sqrt(1 + pi s / 8)), score by score [MacKay1992]
    joint         for softmax p_k ~ 1 / sum_j exp(-(m_k - m_j) / sqrt(1 + pi (s_k + s_j) / 8))
    monte_carlo   p = the mean of link(g) over draws of g

A softmax does not change when all scores move alike, but "probit" does: it takes every score nearer
to 0, those most that are least certain, and so lifts classes that are improbable and uncertain.
"joint" scales differences, as two classes would have it. Other links are those of single scores,
for which both are the same.

Variances may also be given by the curvature at the mode (`at_mode`), which vanishes where a class
is improbable. "probit" takes them in rows where they are at most five times the others for every
class; elsewhere the curvature at the mode does not tell how wide the posterior is, and the row is
answered as by "joint", with the other variances.

link is the softmax over the classes, a sigmoid for every class ("binary"), or, if just one class
is right, the "shares" of the classes in the sum of these sigmoids. Standard deviations are those
of link(g): of the draws, or to first order

    softmax  p_k^2 ((1 - 2 p_k) s_k + sum_j p_j^2 s_j),      binary  (p (1 - p))^2 s,

and for shares as for softmax, with sigmoid(-m)^2 s for s: they are the softmax of log sigmoid(g).
Where s is large the first order overshoots; nothing between 0 and 1 with mean p deviates by more
than sqrt(p (1 - p)), which is then given.

Inner nodes: exactly one leaf is right with softmax, so a node has the sum over its leaves. Binary
labels are independent given the scores, so a node, which is on if some leaf below it is, has
1 - prod (1 - p). Both never fall on the way up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, logsumexp, softmax

from linnaeus.errors import UserError

Values = npt.NDArray[np.float64]

METHODS = ("plugin", "probit", "joint", "monte_carlo")
TRUSTED = 5.0  # times the others that variances at the mode may be
RIVALS = 128  # classes that each is compared with one by one; the others are taken together
NUMBERS = 1 << 22  # at once


def link_of(scores: Values, link: str) -> Values:
    """Probabilities of scores (..., n_classes)."""
    if link == "binary":
        return np.asarray(expit(scores))
    return np.asarray(softmax(log_expit(scores) if link == "shares" else scores, axis=-1))


def probabilities(
    mean: Values, variance: Values, link: str, method: str = "plugin",
    rng: np.random.Generator | None = None, n_draws: int = 1000, at_mode: Values | None = None,
) -> tuple[Values, Values]:  # fmt: skip
    """Probabilities and their standard deviations, for scores (n, n_classes)."""
    if method not in METHODS:
        raise UserError(f"method={method!r} is not known. Use one of {', '.join(METHODS)}.")
    if method == "monte_carlo":
        return _monte_carlo(mean, variance, link, rng or np.random.default_rng(0), n_draws)
    if method == "plugin":
        return _with_deviation(mean, link_of(mean, link), variance, link)
    scaled = _shrunk(mean, variance)
    joint = link == "softmax" and (method == "joint" or at_mode is not None)
    p = joint_softmax(mean, variance) if joint else link_of(scaled, link)
    if method == "probit" and at_mode is not None:
        own = (at_mode <= TRUSTED * variance).all(axis=1, keepdims=True)
        plain = _shrunk(mean, at_mode)
        p, scaled = np.where(own, link_of(plain, link), p), np.where(own, plain, scaled)
    return _with_deviation(scaled, p, variance, link)


def _shrunk(mean: Values, variance: Values) -> Values:
    """Scores as near to 0 as they are uncertain: "probit"."""
    return np.asarray(mean / np.sqrt(1.0 + math.pi / 8.0 * variance))


def joint_softmax(mean: Values, variance: Values) -> Values:
    """The mean of softmax(g), from differences of scores: "joint"."""
    n, K = mean.shape
    step, parts = max(1, NUMBERS // (K * min(K, RIVALS + 1))), []
    for a in range(0, n, step):
        parts.append(_joint(mean[a : a + step], variance[a : a + step]))
    return np.vstack(parts) if parts else np.empty((n, K))


def _joint(m: Values, s: Values) -> Values:
    """The same for some rows; rivals beyond the best are one, with their summed probability."""
    rival, spread, rows = m, s, np.arange(len(m))[:, None]
    if m.shape[1] > RIVALS + 1:
        order = np.argsort(-m, axis=1, kind="stable")
        best, rest = order[:, :RIVALS], order[:, RIVALS:]
        others = logsumexp(m[rows, rest], axis=1, keepdims=True)
        share = np.exp(m[rows, rest] - others)
        rival = np.hstack([m[rows, best], others])
        spread = np.hstack([s[rows, best], (share * s[rows, rest]).sum(axis=1, keepdims=True)])
    away = rival[:, None, :] - m[:, :, None]
    away /= np.sqrt(1.0 + math.pi / 8.0 * (spread[:, None, :] + s[:, :, None]))
    return np.asarray(softmax(-logsumexp(away, axis=2), axis=1))


def _with_deviation(mean: Values, p: Values, variance: Values, link: str) -> tuple[Values, Values]:
    """Probabilities beside their deviations to first order, at these scores."""
    if link == "binary":
        return p, _bounded(p * (1 - p) * np.sqrt(variance), p)
    if link == "shares":
        variance = expit(-mean) ** 2 * variance
    square = (1 - 2 * p) * variance + (p**2 * variance).sum(axis=1, keepdims=True)
    return p, _bounded(p * np.sqrt(np.maximum(square, 0.0)), p)


def _bounded(deviation: Values, p: Values) -> Values:
    """No more than what a probability with mean p can deviate by."""
    return np.asarray(np.minimum(deviation, np.sqrt(p * (1 - p))))


def _monte_carlo(
    mean: Values, variance: Values, link: str, rng: np.random.Generator, n_draws: int
) -> tuple[Values, Values]:
    if n_draws < 2:
        raise UserError(f"n_draws is {n_draws}. Use 2 or more.")
    deviation, total, squares = np.sqrt(variance), np.zeros_like(mean), np.zeros_like(mean)
    for _ in range(n_draws):
        p = link_of(mean + deviation * rng.standard_normal(mean.shape), link)
        total += p
        squares += p * p
    p = total / n_draws
    return p, np.sqrt(np.maximum(squares / n_draws - p * p, 0.0) * (n_draws / (n_draws - 1)))


def node_probabilities(p: Values, above: Any, link: str) -> Values:
    """Probabilities (n, n_nodes) of nodes, from those of classes (n, n_classes).

    above : (n_classes, n_nodes) sparse, 1 where the node is the class or above it
    """
    if link != "binary":
        return np.asarray(np.clip(p @ above, 0.0, 1.0))
    with np.errstate(divide="ignore"):  # a label that is certain
        return np.asarray(-np.expm1(np.maximum(np.log1p(-p), -1e4) @ above))
