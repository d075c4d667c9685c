"""H-M3 with slacks that may be negative: the truth is no competitor.

    minimise_{w, xi}  1/2 ||w||^2 + C sum_i xi_i
    subject to        w.(phi(x_i, y_i) - phi(x_i, y)) >= loss(y_i, y) - xi_i    for all y != y_i

With y = y_i the constraint would say xi_i >= 0. Without it an example that is far on the right
side earns something, and the dual has sum_{y != y_i} alpha(i, y) = C; the optimum may be negative.
To replace "<= C" by "= C" in the marginal dual, as [Rousu2006] section 4 has it, changes nothing:
the marginals of y_i itself take up the rest. `hm3_labelings` solves it exactly.
"""

from __future__ import annotations

from typing import Any

from linnaeus.solvers.markov import hm3_local
from linnaeus.solvers.markov.fitted import Fitted


def solve(X: Any, Y: Any, parent: Any, **options: Any) -> Fitted:
    """Train with free slacks; options are those of `hm3_local.solve`, local features among them."""
    return hm3_local.solve(X, Y, parent, negative=True, **options)
