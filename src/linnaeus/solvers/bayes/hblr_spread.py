"""How wide the posterior of the weights is around a mode, by secants of the logistic loss.

The curvature p (1 - p) of an example at the mode vanishes where a class is improbable. There the
posterior is skew: the score may fall for nothing, but it cannot rise, and a normal distribution
with that curvature lets it do both. The parabola that touches the loss log(1 + exp(z)) at z and at
-z has the curvature [JaakkolaJordan2000]

    c(z) = tanh(z / 2) / (2 z) = (p - 1/2) / logit(p)  >=  p (1 - p),

and never lies below the loss: what variational inference takes. With logit(p) of the class
against all others it serves softmax too. The variance of weight j of a class is then

    1 / (A_j + sum_i c_i x_ij^2 c(logit p_i)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit, logit, softmax

from linnaeus.solvers.bayes.hblr_model import Values

BLOCK = 1 << 22  # numbers at once
FLAT = 1e-4  # scores below which the curvature is that at 0
TINY = 1e-300


def secant_curvature(p: Any) -> Values:
    """c of probabilities, 1/4 at 1/2."""
    p = np.clip(np.asarray(p, dtype=np.float64), TINY, 1.0 - 2.0**-53)
    z = logit(p)
    near = np.abs(z) < FLAT
    return np.asarray(np.where(near, 0.25, (p - 0.5) / np.where(near, 1.0, z)))


def secant_variances(
    X: sp.csr_array, mu: Any, A: Values, link: str, sample_weight: Any = None, bias: float = 0.0
) -> npt.NDArray[np.floating[Any]]:
    """Variances (n_classes, d) of the weights mu (n_classes, d), the constant feature last.

    A : (n_classes, 1 or d) expected precisions
    """
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    h = np.zeros((mu.shape[1], mu.shape[0]), dtype=mu.dtype)
    step = max(1, BLOCK // len(mu))
    for a in range(0, n, step):
        rows = X[a : a + step]
        z = np.asarray(rows @ mu[:, :d].T + (bias * mu[:, -1] if bias else 0.0))
        p = softmax(z, axis=1) if link == "softmax" else expit(z)
        c = (weight[a : a + step, None] * secant_curvature(p)).astype(mu.dtype)
        h[:d] += rows.multiply(rows).T.tocsr() @ c
        if bias:
            h[-1] += bias**2 * c.sum(axis=0)
    return np.asarray(1.0 / (h.T + A), dtype=mu.dtype)
