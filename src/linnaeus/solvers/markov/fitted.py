"""What max-margin structured solvers take and give.

    minimise_w  1/2 ||w||^2 + C sum_i xi_i
    xi_i = max_y loss(y_i, y) - w.(phi(x_i, y_i) - phi(x_i, y))

Weights are sums over examples of tensors: W[., q] = sum_i N[i, q] phi(x_i), q running over blocks
(an edge and its labels, or a node), so that scores are F = K N for any kernel matrix K, or X W for
a linear one. [Rousu2006] section 3, docs/maths/hm3.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linnaeus.solvers.numerics.rounds import Record, Rounds

Values = npt.NDArray[np.float64]


class Certificate(NamedTuple):
    """Values of the primal and the dual, and the part of every example in the gap."""

    objective: float
    dual: float
    slack: Values  # (n,)
    gaps: Values  # (n,)

    @property
    def gap(self) -> float:
        """P - D."""
        return self.objective - self.dual


class Fitted(NamedTuple):
    """A solution with its certificate."""

    N: npt.NDArray[np.floating[Any]]  # (n_examples, n_blocks) nu times `stretch`, flattened
    W: Any  # (n_features, n_blocks) for a linear kernel, else None
    slack: Values  # (n_examples,) xi
    gaps: Values  # (n_examples,) of every example, before stretching
    objective: float
    dual: float
    n_iter: int
    trace: list[Record]
    stretch: float = 1.0  # weights are those that nu makes times this: often a lower objective

    @classmethod
    def of(cls, N: Any, W: Any, at: Certificate, rounds: Rounds) -> Fitted:
        """What some rounds came to."""
        return cls(N, W, at.slack, at.gaps, at.objective, at.dual, rounds.n, rounds.trace)
