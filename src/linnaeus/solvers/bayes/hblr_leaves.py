"""What is the same for full and for diagonal covariances of the leaves of HBLR.

The best q(w_n) = N(mu_n, Psi_n) of a leaf n, while everything else is kept, is

    Psi_n^-1 = 2 X' diag(c lambda_n) X + diag(A_n),
    mu_n     = Psi_n (sum_i c_i (y_in - 1/2 + 2 lambda_in beta_i) x_i + A_n mu_parent)

for weights c of the examples [GopalYang2015, (5) and (6)]. Leaves do not meet: they are updated
side by side. `hblr_full` and `hblr_diagonal` do it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from linnaeus.execution import Executor
from linnaeus.solvers.bayes.hblr_model import Values
from linnaeus.solvers.numerics.examples import over_blocks

ROWS = 512  # examples at once
LEAVES = 32  # leaves at once


class Given(NamedTuple):
    """What is kept while some leaves are updated, and their old means."""

    curvature: Values  # (n, k): c_i lambda_in
    beta: Values  # (n,)
    base: Values  # (k, d): sum_i c_i (y_in - 1/2) x_i
    A: Values  # (k, 1 or d)
    above: Values  # (k, d): means of the parents
    mean: Values  # (k, d)


class Leaves(NamedTuple):
    """q(w) of some leaves."""

    mean: Values  # (k, d)
    variance: Values  # (k, d)
    log_det: Values  # (k,): log|Psi|
    covariance: Values | None = None  # (k, d, d)


def row_blocks(n: int) -> list[slice]:
    """Examples in blocks."""
    return [slice(a, min(a + ROWS, n)) for a in range(0, n, ROWS)]


def side_by_side(
    executor: Executor | None,
    function: Callable[..., tuple[Any, ...]],
    arrays: Sequence[Any],
    k: int,
) -> list[Any]:
    """What the function makes of blocks of k leaves, each of its results put together."""
    blocks = [slice(a, min(a + LEAVES, k)) for a in range(0, k, LEAVES)]
    parts = over_blocks(function, arrays, blocks, executor)
    return [np.concatenate(part) for part in zip(*parts, strict=True)]
