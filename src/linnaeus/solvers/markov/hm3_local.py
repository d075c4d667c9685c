"""H-M3 with features of single edges, with slacks that may be negative, or both.

Orthogonal: block (e, u) of the weights sees (x, x_e), so K_e(x, x') = x.x' + x_e.x'_e, and

    score of code u on edge e = w_{e,u}.x + v_{e,u}.x_e ,     v_{e,u} = sum_i nu_i[e,u] x_ie .

The same features as one additive map phi(x, y) = sum_e phi_e^{y_e}(x) with one weight vector:
row (i, e, u) of a sparse matrix holds x_ie in columns of its own. [Rousu2006] section 2.3;
`solve` trains the plain H-M3 with such features, `hm3_labelings`.

Negative slacks: the truth is no competitor.

    minimise_{w, xi}  1/2 ||w||^2 + C sum_i xi_i
    subject to        w.(phi(x_i, y_i) - phi(x_i, y)) >= loss(y_i, y) - xi_i    for all y != y_i

With y = y_i the constraint would say xi_i >= 0. Without it an example that is far on the right
side earns something, and the dual has sum_{y != y_i} alpha(i, y) = C; the optimum may be negative.
To replace "<= C" by "= C" in the marginal dual, as [Rousu2006] section 4 has it, changes nothing:
the marginals of y_i itself take up the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.losses import Edges, markov_edges
from linnaeus.solvers.markov import hm3_labelings
from linnaeus.solvers.markov.hm3_rows import Fitted, MarkovProblem, Source, prepare

Array = npt.NDArray[np.floating[Any]]


def solve(
    X: Any,
    Y: Any,
    parent: Any,
    *,
    loss: str = "delta",
    root_edges: str = "none",
    competitors: str = "all",
    local: Sequence[Any] | None = None,
    negative: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    **made: Any,
) -> Fitted:
    """Train on features X, or a kernel matrix if `precomputed`, and closed label sets Y.

    The result has column 4 e + u for code u of edge e; `tol` is relative to max(0.1, |objective|).

    competitors : "all" labelings, or the "consistent" ones
    local : features of each edge besides X, linear only: for every edge a matrix with a row per
        example, or None; their weights come from `local_weights`
    negative : whether slacks may be negative
    made : C, sample_weight, precomputed and dtype of `hm3_rows.prepare`
    """
    problem, _, blocks = prepare_local(X, Y, parent, root_edges, local, **made)
    phi = None if blocks is None else additive_features(blocks, len(problem.y))
    how = {"loss": loss, "root_edges": root_edges, "competitors": competitors}
    task = hm3_labelings.task(problem, phi, others=negative, **how)
    return hm3_labelings.learn(task, tol=tol, max_iter=max_iter, seed=seed)[0]


def prepare_local(
    X: Any, Y: Any, parent: Any, root_edges: str, local: Sequence[Any] | None, **made: Any
) -> tuple[MarkovProblem, Edges, list[sp.csr_array | None] | None]:
    """The problem, its edges and their own features; `made` goes to `hm3_rows.prepare`."""
    problem = prepare(X, Y, parent, **made)
    edges = markov_edges(problem.taxonomy.tree, root_edges)
    return problem, edges, check_local(local, problem.data, edges.child.size)


def check_local(
    local: Sequence[Any] | None, data: Source, n_edges: int
) -> list[sp.csr_array | None] | None:
    """The blocks as CSR, None if there are none."""
    if local is None:
        return None
    if not data.linear:
        raise UserError("Local features need features X, but a kernel matrix is given. Give X.")
    if len(local) != n_edges:
        raise UserError(
            f"There are {len(local)} blocks of local features, but {n_edges} edges. Give one for "
            "each in the order of losses.markov_edges, None for an edge without any."
        )
    blocks = [None if block is None else sp.csr_array(block) for block in local]
    n_rows = data.matrix.shape[0]
    for e, block in enumerate(blocks):
        if block is not None and block.shape[0] != n_rows:
            raise UserError(
                f"The local features of edge {e} have {block.shape[0]:,} rows, but there are "
                f"{n_rows:,} examples. Give one row for each."
            )
    return blocks


def local_weights(local: Sequence[Any], N: Array) -> list[Array | None]:
    """The weights v_e (n_local, 4) of every edge, from a solution's multipliers (n, 4 n_edges)."""
    return [
        None if block is None else np.asarray(sp.csr_array(block).T @ N[:, 4 * e : 4 * e + 4])
        for e, block in enumerate(local)
    ]


def local_scores(local: Sequence[Any], weights: Sequence[Array | None], n_rows: int) -> Array:
    """What local features add to the scores X W: (n, 4 n_edges)."""
    parts = [
        np.zeros((n_rows, 4)) if v is None else np.asarray(sp.csr_array(block) @ v)
        for block, v in zip(local, weights, strict=True)
    ]
    return np.hstack(parts)


def additive_features(local: Sequence[Any], n_rows: int) -> sp.csr_array:
    """Local features as one additive map: row (i n_edges + e) 4 + u, four columns per feature."""
    n_edges, offset = len(local), 0
    data, rows, columns = [], [], []
    for e, block in enumerate(local):
        if block is None:
            continue
        part = sp.coo_array(block)
        for u in range(4):
            data.append(part.data)
            rows.append((part.coords[0].astype(np.int64) * n_edges + e) * 4 + u)
            columns.append(4 * part.coords[1].astype(np.int64) + (offset + u))
        offset += 4 * part.shape[1]
    shape = (4 * n_rows * n_edges, offset)
    if not data:
        return sp.csr_array(shape)
    entries = np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(sp.coo_array(entries, shape=shape))
