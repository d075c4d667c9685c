"""H-M3 with slacks that may be negative: the truth is no competitor.

    minimise_{w, xi}  1/2 ||w||^2 + C sum_i xi_i
    subject to        w.(phi(x_i, y_i) - phi(x_i, y)) >= loss(y_i, y) - xi_i    for all y != y_i

With y = y_i the constraint would say xi_i >= 0. Without it an example that is far on the right
side earns something, and the dual has sum_{y != y_i} alpha(i, y) = C; the optimum may be negative.
To replace "<= C" by "= C" in the marginal dual, as [Rousu2006] section 4 has it, changes nothing:
the marginals of y_i itself take up the rest. `hm3_labelings` solves it exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linnaeus.losses import markov_edges
from linnaeus.solvers import hm3_labelings
from linnaeus.solvers.hm3_local import additive_features, check_local
from linnaeus.solvers.hm3_rows import check_options, source
from linnaeus.solvers.structured import Fitted
from linnaeus.taxonomy import Taxonomy


def solve(
    taxonomy: Taxonomy,
    Y: Any,
    X: Any = None,
    K: Any = None,
    *,
    local: Sequence[Any] | None = None,
    C: float = 1.0,
    loss: str = "delta",
    root_edges: str = "none",
    competitors: str = "all",
    tol: float = 1e-3,
    max_iter: int = 1000,
    dtype: Any = np.float64,
    seed: int = 0,
    negative: bool = True,
) -> Fitted:
    """Train on closed label sets Y and features X (linear) or a kernel matrix K.

    The result has column 4 e + u for code u of edge e; its gap is relative to max(1, |objective|).

    local : features of each edge besides X, linear only: a CSR matrix with a row per example, or
        None; their weights come from `hm3_local.local_weights`
    competitors : "all" labelings, or the "consistent" ones
    negative : False for slacks of 0 or more, the plain H-M3; of use with local features
    """
    check_options(C, tol, max_iter)
    n, n_edges = Y.shape[0], markov_edges(taxonomy.tree, root_edges).child.size
    blocks = check_local(local, X, n, n_edges)
    phi = None if blocks is None else additive_features(blocks, n)
    problem = hm3_labelings.task(
        taxonomy, Y, source(X, K, n, dtype), phi,
        C=C, loss=loss, root_edges=root_edges, competitors=competitors, others=negative,
    )  # fmt: skip
    return hm3_labelings.learn(problem, tol=tol, max_iter=max_iter, seed=seed)[0]
