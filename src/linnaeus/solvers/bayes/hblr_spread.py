"""How wide the posterior of the weights is around a mode, by secants of the logistic loss.

The curvature p (1 - p) of an example at the mode vanishes where a class is improbable. There the
posterior is skew: the score may fall for nothing, but it cannot rise, and a normal distribution
with that curvature lets it do both. The parabola that touches the loss log(1 + exp(z)) at z and at
-z has the curvature [JaakkolaJordan2000]

    c(z) = tanh(z / 2) / (2 z) = (p - 1/2) / logit(p)  >=  p (1 - p),

and never lies below the loss: what variational inference takes. With logit(p) of the class
against all others it serves softmax too. With h_j = sum_i c_i x_ij^2 c(logit p_i) the variance of
weight j of a class is then 1 / (h_j + A_j).

Where most values of X are 0, as in texts, a weight rests on a few rows, often of other classes
alone, and no normal distribution resembles its posterior: 1 / (h_j + A_j) is far too wide. There
the variance is that of the estimate over other samples of the same size, to first order

    sum_i c_i x_ij^2 p_i (1 - p_i) / (h_j + A_j)^2,

which is what a bootstrap looks for; features that no example has then add nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit, logit, softmax

from linnaeus.solvers.bayes.hblr_model import Values

BLOCK = 1 << 22  # numbers at once
DENSE = 0.5  # share of values that are not 0
FLAT = 1e-4  # scores below which the curvature is that at 0
TINY = 1e-300


def secant_curvature(p: Any) -> Values:
    """c of probabilities, 1/4 at 1/2."""
    p = np.clip(np.asarray(p, dtype=np.float64), TINY, 1.0 - 2.0**-53)
    z = logit(p)
    near = np.abs(z) < FLAT
    return np.asarray(np.where(near, 0.25, (p - 0.5) / np.where(near, 1.0, z)))


def is_dense(X: sp.csr_array) -> bool:
    """Whether most values are not 0."""
    return bool(X.nnz > DENSE * X.shape[0] * X.shape[1])


def secant_variances(
    X: sp.csr_array, mu: Any, A: Values, link: str, sample_weight: Any = None, bias: float = 0.0
) -> npt.NDArray[np.floating[Any]]:
    """Variances (n_classes, d) of the weights mu (n_classes, d), for probabilities.

    The constant feature, of size `bias`, is the last one.

    A : (n_classes, 1 or d) expected precisions
    """
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    dense = is_dense(X)
    h, noise = np.zeros((2, mu.shape[1], mu.shape[0]), dtype=mu.dtype)
    step = max(1, BLOCK // len(mu))
    for a in range(0, n, step):
        rows = X[a : a + step]
        z = np.asarray(rows @ mu[:, :d].T + (bias * mu[:, -1] if bias else 0.0))
        p = softmax(z, axis=1) if link == "softmax" else expit(z)
        for total, each in ((h, secant_curvature(p)), (noise, None if dense else p * (1 - p))):
            if each is not None:
                _add(total, rows, weight[a : a + step, None] * each, bias)
    found = 1.0 / (h.T + A) if dense else noise.T / (h.T + A) ** 2
    return np.asarray(found, dtype=mu.dtype)


def _add(total: Any, rows: sp.csr_array, each: Values, bias: float) -> None:
    """total (d, n_classes) += the sums of x_ij^2 each_ik over the rows, the constant last."""
    each = each.astype(total.dtype)
    total[: rows.shape[1]] += rows.multiply(rows).T.tocsr() @ each
    if bias:
        total[-1] += bias**2 * each.sum(axis=0)
