"""H-M3 with features of partial paths: one block of weights per node.

A labeling y enters through z_j = [all nodes on the path from the root to j are on], a closed set;

    score(x, z) = sum_j z_j w_j.x ,     minimise_w  1/2 ||w||^2 + C sum_i xi_i ,
    xi_i = max_z  loss(z_i, z) + sum_j (z_j - z_ij) w_j.x_i .

The losses are linear in z, loss(z_i, z) = sum_j a_ij (z_j - z_ij), with z_pa = 1 above a root:

    delta   sum_j z_ij (1 - z_j) + (1 - z_ij) z_j
    H       sum_j c_j [z_ij (z_pa - z_j) + (1 - z_ij) z_i,pa z_j]

The dual has mu_i in the order polytope 0 <= mu_j <= mu_pa(j) <= C; nu = C z - mu; w_j = sum_i
nu_ij x_i; the gradient is g = a + f with f the scores. P - D = sum_i gap_i, with
gap_i = C max_z <g_i, z> - <mu_i, g_i>. [Rousu2006] section 4, as corrected in
docs/maths/hm3_variants.md; steps: `hm3_paths_fast`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linnaeus.errors import UserError
from linnaeus.inference.closed_fast import closed_argmax_rows
from linnaeus.losses import SCALINGS, node_coefficients
from linnaeus.solvers.markov.hm3_interior import Labelings, Machine
from linnaeus.solvers.markov.hm3_paths_fast import PathsWork, certify, visits
from linnaeus.solvers.markov.hm3_rows import Certificate, Finish, Fitted, Values, prepare, run
from linnaeus.solvers.numerics.rounds import Kept
from linnaeus.taxonomy import Taxonomy

STEPS = 10  # of a visit


def solve(
    X: Any,
    Y: Any,
    parent: Any,
    *,
    loss: str = "delta",
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    **made: Any,
) -> Fitted:
    """Train on features X, or a kernel matrix if `precomputed`, and closed label sets Y.

    The result has one column per node. Predicted is the best closed set by the scores,
    `inference.closed_argmax`.

    loss : "delta", or the scaling of H: "unif", "sibl" or "subtree"
    made : C, sample_weight, precomputed and dtype of `hm3_rows.prepare`
    """
    taxonomy, z, cost, data = prepare(X, Y, parent, **made)
    a, up = np.ascontiguousarray(path_losses(taxonomy, z, loss)), taxonomy.tree.parent
    full = cost[:, None] * z
    mu, W, work = full.copy(), data.weights(np.zeros_like(full)), _work(len(up))

    def certificate() -> Certificate:
        N = full - mu
        W[...] = data.weights(N)
        slack, gaps, half = np.empty(len(z)), np.empty(len(z)), 0.0
        for r, F in data.scores(W):
            half += 0.5 * float(np.vdot(N[r], F))
            certify(up, a[r], z[r], F, cost[r], mu[r], work, slack[r], gaps[r])
        return Certificate(half + float(cost @ slack), -float(np.vdot(a, N)) - half, slack, gaps)

    def visit(order: npt.NDArray[np.int64]) -> None:
        visits(data.inputs, up, a, order, cost, STEPS, mu, W, work)

    def machine(rows: npt.NDArray[np.int64], X: Values) -> Machine:
        lost, own = a[rows], z[rows].astype(np.float64)

        def search(scores: Values) -> Labelings:
            on, gain, value = np.empty(own.shape, bool), np.empty(len(up)), np.empty(rows.size)
            closed_argmax_rows(up, lost + scores, False, gain, on, value)
            return Labelings(on.astype(np.float64), np.einsum("ij,ij->i", lost, on - own))

        first = Labelings(own, np.zeros(rows.size))
        return Machine(X, cost[rows], own, np.eye(len(up)), first, search)

    finish = Finish(data, cost, np.eye(len(up)), machine)

    def restore(found: Any) -> None:
        mu[...], W[...] = found

    kept = Kept(("paths", data.plain(), a, up, z, cost), lambda: (mu, W), restore)
    options: Any = {"tol": tol, "max_iter": max_iter, "seed": seed, "kept": kept}
    at, rounds, N = run(certificate, visit, finish, **options)
    N = (full - mu if N is None else N).astype(data.dtype)
    return Fitted.of(N, data.weights(N) if data.linear else None, at, rounds)


def path_losses(taxonomy: Taxonomy, z: npt.NDArray[np.int8], loss: str) -> Values:
    """The coefficients a of the loss in z, (n, n_nodes)."""
    if loss == "delta":
        return np.asarray(1.0 - 2.0 * z, dtype=np.float64)
    if loss not in SCALINGS:
        known = ", ".join(("delta", *SCALINGS))
        raise UserError(f"The loss {loss!r} is not known. Use one of: {known}.")
    parent, c = taxonomy.tree.parent, node_coefficients(taxonomy, loss)
    above = np.where(parent < 0, 1, z[:, parent])
    a: Values = c * ((1 - z) * above - z)
    for v in np.flatnonzero(parent >= 0):
        a[:, parent[v]] += c[v] * z[:, v]
    return a


def _work(n_nodes: int) -> PathsWork:
    f, g, gain, step = (np.empty(n_nodes) for _ in range(4))
    best, away = (np.empty(n_nodes, dtype=bool) for _ in range(2))
    return PathsWork(f, g, gain, best, away, step)
