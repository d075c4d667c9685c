"""H-M3 with features of partial paths: one block of weights per node.

A labeling y enters through z_j = [all nodes on the path from the root to j are on], a closed set;

    score(x, z) = sum_j z_j w_j.x ,     minimise_w  1/2 ||w||^2 + C sum_i xi_i ,
    xi_i = max_z  loss(z_i, z) + sum_j (z_j - z_ij) w_j.x_i .

The losses are linear in z, loss(z_i, z) = sum_j a_ij (z_j - z_ij), with z_pa = 1 above a root:

    delta   sum_j z_ij (1 - z_j) + (1 - z_ij) z_j
    H       sum_j c_j [z_ij (z_pa - z_j) + (1 - z_ij) z_i,pa z_j]

The dual has mu_i in the order polytope 0 <= mu_j <= mu_pa(j) <= C; nu = C z - mu; w_j = sum_i
nu_ij x_i; the gradient is g = a + f with f the scores. P - D = sum_i C max_z <g_i, z> - <mu_i, g_i>.
[Rousu2006] section 4, as corrected in docs/maths/hm3_variants.md. Steps: `hm3_paths_fast`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.inference.closed_fast import closed_argmax_rows
from linnaeus.losses import SCALINGS, node_coefficients
from linnaeus.solvers.hm3_paths_fast import Work, certify, visits
from linnaeus.solvers.hm3_rows import Certificate, Values, check_options, labels, run, source
from linnaeus.solvers.structured import Fitted
from linnaeus.taxonomy import Taxonomy

STEPS = 10  # of a visit


def solve(
    taxonomy: Taxonomy,
    Y: Any,
    X: Any = None,
    K: Any = None,
    *,
    C: float = 1.0,
    loss: str = "delta",
    tol: float = 1e-3,
    max_iter: int = 1000,
    dtype: Any = np.float64,
    seed: int = 0,
) -> Fitted:
    """Train on closed label sets Y and features X (linear) or a kernel matrix K.

    The result has one column per node. A label set is predicted from its scores by `decode`.

    loss : "delta", or the scaling of H: "unif", "sibl" or "subtree"
    """
    check_options(C, tol, max_iter)
    z = labels(taxonomy, Y)
    data, a, parent = (
        source(X, K, len(z), dtype),
        path_losses(taxonomy, z, loss),
        taxonomy.tree.parent,
    )
    mu = C * z.astype(np.float64)
    work = _work(len(parent))
    W = data.weights(np.zeros_like(mu))

    def certificate() -> Certificate:
        N = C * z - mu
        W[...] = data.weights(N)
        slack, gaps = np.empty(len(z)), np.empty(len(z))
        for rows, F in data.scores(W):
            certify(parent, a[rows], z[rows], F, C, mu[rows], work, slack[rows], gaps[rows])
        half = 0.5 * data.squared_norm(N, W)
        return Certificate(half + C * slack.sum(), -float(np.vdot(a, N)) - half, slack, gaps)

    def visit(order: npt.NDArray[np.int64]) -> None:
        visits(data.inputs, parent, a, order, C, STEPS, mu, W, work)

    at, n_iter, trace = run(certificate, visit, tol=tol, max_iter=max_iter, seed=seed)
    N = (C * z - mu).astype(dtype)
    weights = W if data.linear else None
    return Fitted(N, weights, at.slack, at.gaps, at.objective, at.dual, n_iter, trace)


def decode(taxonomy: Taxonomy, scores: Any) -> npt.NDArray[np.bool_]:
    """The best closed set of every row of scores (n, n_nodes): j stays if its parent does and
    V_j = s_j + sum over children of max(0, V_c) is positive."""
    s = np.ascontiguousarray(scores, dtype=np.float64)
    on = np.empty(s.shape, dtype=bool)
    closed_argmax_rows(taxonomy.tree.parent, s, False, np.empty(s.shape[1]), on, np.empty(len(s)))
    return on


def path_losses(taxonomy: Taxonomy, z: npt.NDArray[np.int8], loss: str) -> Values:
    """The coefficients a of the loss in z, (n, n_nodes)."""
    if loss == "delta":
        return 1.0 - 2.0 * z
    if loss not in SCALINGS:
        known = ", ".join(("delta", *SCALINGS))
        raise UserError(f"The loss {loss!r} is not known. Use one of: {known}.")
    parent, c = taxonomy.tree.parent, node_coefficients(taxonomy, loss)
    above = np.where(parent < 0, 1, z[:, parent])
    a: Values = c * ((1 - z) * above - z)
    for v in np.flatnonzero(parent >= 0):
        a[:, parent[v]] += c[v] * z[:, v]
    return a


def _work(n_nodes: int) -> Work:
    f, g, gain, step = (np.empty(n_nodes) for _ in range(4))
    best, away = (np.empty(n_nodes, dtype=bool) for _ in range(2))
    return Work(f, g, gain, best, away, step)
