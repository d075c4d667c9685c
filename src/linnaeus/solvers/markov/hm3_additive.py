"""H-M3 with additive features: one weight vector for all edges.

    phi(x, y) = sum_e phi_e^{y_e}(x),     minimise_w  1/2 ||w||^2 + C sum_i xi_i

Edges share what they learn, so features must depend on the labels: the rows phi_e^u(x) are given
for every edge e and code u. A kernel would take all pairs of edges; the primal needs none:
w is kept, and every visit scores the rows of one example, [Rousu2006] section 2.3 (where the map
as printed in the chapter on MMCRF does not depend on y at all). Steps are those of block-coordinate
Frank-Wolfe, with pairwise directions; the duality gap is exact. `hm3_labelings`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.solvers.markov import hm3_labelings
from linnaeus.solvers.markov.hm3_rows import Fitted, prepare


def solve(
    features: Any,
    Y: Any,
    parent: Any,
    *,
    loss: str = "delta",
    root_edges: str = "none",
    competitors: str = "all",
    negative: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    **made: Any,
) -> Fitted:
    """Train on rows of features and closed label sets Y.

    The result's W is the weight vector (n_features,), which `scores` applies.

    features : (4 n n_edges, n_features) CSR; row (i n_edges + e) 4 + u is phi_e^u(x_i), edges in
        the order of `losses.markov_edges`. Rows of codes 0 and 1 of a top edge are not looked at.
    competitors, negative : as in `hm3_local.solve`
    made : C, sample_weight and dtype of `hm3_rows.prepare`
    """
    none = sp.csr_array((len(Y), 0))
    problem = prepare(none, Y, parent, precomputed=False, **made)
    how = {"loss": loss, "root_edges": root_edges, "competitors": competitors}
    task = hm3_labelings.task(problem, features, others=negative, **how)
    fitted, v = hm3_labelings.learn(task, tol=tol, max_iter=max_iter, seed=seed)
    return fitted._replace(W=v)


def scores(features: Any, w: Any, n_edges: int) -> Any:
    """The scores of every edge and code, (n, 4 n_edges), from rows of features as in `solve`."""
    return np.asarray(features @ w).reshape(-1, 4 * n_edges)
