"""The bound of the evidence that variational inference of HBLR raises.

With q(w_n) = N(mu_n, Psi_n), q(prec) = Gamma(tau, nu), m_in = mu_n.x_i, s_in = x_i' Psi_n x_i and
lambda(xi) = tanh(xi / 2) / (4 xi), it is E_q[log p(w, prec) - log q] plus, for the data,

    sum_in y_in m_in - sum_i beta_i
      - sum_in [(m - beta - xi) / 2 + lambda(xi) ((m - beta)^2 + s - xi^2) + log(1 + e^xi)]

over examples i and leaves n [GopalYang2015, (4)]; beta is zero for binary links. The best
xi and, with lambda held, the best beta of K leaves are

    xi^2 = (m - beta)^2 + s,      beta_i = (K/4 - 1/2 + sum_n lambda_in m_in) / sum_n lambda_in .

At the best xi the second term of the bracket vanishes. The printed xi has the precision where the
variance Psi belongs: with it the bound can fall. See docs/maths/hblr.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, psi

from linnaeus.solvers.bayes import hblr_model
from linnaeus.solvers.bayes.hblr_model import Gamma, HBLRModel, Values

TINY = 1e-6  # below it lambda is 1/8 to ten digits


class Tight(NamedTuple):
    """What the examples need to know of the bound where it is tightest."""

    curvature: Values  # (n, K): lambda
    beta: Values  # (n,)
    loss: Values  # (n,): what the bound falls short of sum_n y_in m_in


def tighten(m: Values, s: Values, beta: Values, softmax: bool) -> Tight:
    """The best xi, beta and xi again of examples with means m and variances s (n, K)."""
    if softmax:
        curvature = _at(m - beta[:, None], s)[0]
        pull = 0.25 * m.shape[1] - 0.5 + np.einsum("in,in->i", curvature, m)
        beta = pull / curvature.sum(axis=1)
    z = m - beta[:, None]
    curvature, xi, plus = _at(z, s)
    z += xi
    loss = 0.5 * z.sum(axis=1) + np.log(plus, out=plus).sum(axis=1)
    return Tight(curvature, beta, loss + beta if softmax else loss)


def _at(z: Values, s: Values) -> tuple[Values, Values, Values]:
    """lambda(xi), xi and 1 + e^-xi at the best xi."""
    xi = z * z
    xi += s
    np.maximum(xi, TINY**2, out=xi)
    np.sqrt(xi, out=xi)
    e = np.exp(-xi)
    plus = 1.0 + e
    curvature = np.subtract(1.0, e, out=e)
    curvature /= plus
    curvature /= xi
    curvature *= 0.25
    return curvature, xi, plus


def prior_part(
    model: HBLRModel, prior: Gamma, q: Gamma, mu: Any, variance: Any, log_det: float
) -> float:
    """E_q[log p(w, prec) - log q(w, prec)]; log_det is the sum of log|Psi_n| over all nodes."""
    root, (n, d) = model.tree.root, mu.shape
    squares = hblr_model.squares_along_edges(model, mu, variance)
    quadratic = float((hblr_model.expected_precisions(model, q) * squares).sum())
    quadratic += float(variance[root].sum() + mu[root] @ mu[root])
    log_mean = psi(q.shape) - np.log(q.rate)
    edges = model.per_owner(np.ones((n, 1))) * (1 if model.by_feature else d)
    gamma = 0.5 * edges * log_mean - _divergence(q, prior)
    return float(gamma.sum() - 0.5 * quadratic + 0.5 * (n * d + log_det))


def _divergence(q: Gamma, p: Gamma) -> Values:
    """KL(q || p) of every precision."""
    ratio = gammaln(p.shape) - gammaln(q.shape) + (q.shape - p.shape) * psi(q.shape)
    return np.asarray(ratio + p.shape * np.log(q.rate / p.rate) + p.rate * q.mean - q.shape)
