"""One update direction of H-M3 by dynamic programming and by linear programming.

    maximise_mu  <s, mu>   over the marginals of labelings of a tree:  mu >= 0,
    sum_u mu_e(u) = 1,     mu_e(parent on) = n_parent,   mu_e(child on) = n_child   for every edge e

with n_v the chance that node v is on. The vertices are labelings, so both ways have the same
value; [Rousu2006] section 3.4 and figure 3, where an interior point solver took ten times as long.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from linnaeus.inference import max_sum
from linnaeus.losses import Edges, markov_edges
from studies.results import Cell, Outcome
from studies.rousu_data import load
from studies.tables import Context

PROBLEMS = 200
QUICK = 5
MICRO = 1e6


def polytope(edges: Edges, n_nodes: int) -> tuple[sp.csr_array, np.ndarray]:
    """The equations A z = b of z = (mu, n), marginals of edges and then of nodes."""
    n = edges.child.size
    entries: list[tuple[int, int, float]] = []
    right = np.zeros(3 * n)
    for e, (parent, child) in enumerate(zip(edges.parent, edges.child, strict=True)):
        entries += [(3 * e, 4 * e + u, 1.0) for u in range(4)]
        right[3 * e] = 1.0
        entries += [(3 * e + 1, 4 * e + u, 1.0) for u in (2, 3)]
        if parent < 0:  # nothing above: always on
            right[3 * e + 1] = 1.0
        else:
            entries.append((3 * e + 1, 4 * n + int(parent), -1.0))
        entries += [(3 * e + 2, 4 * e + u, 1.0) for u in (1, 3)]
        entries.append((3 * e + 2, 4 * n + int(child), -1.0))
    row, column, value = zip(*entries, strict=True)
    return sp.csr_array((value, (row, column)), shape=(3 * n, 4 * n + n_nodes)), right


def by_linear_programme(edges: Edges, n_nodes: int, scores: np.ndarray) -> np.ndarray:
    """The best value for every row of scores (n_rows, n_edges, 4)."""
    A, b = polytope(edges, n_nodes)
    cost = np.zeros((len(scores), A.shape[1]))
    cost[:, : 4 * edges.child.size] = -scores.reshape(len(scores), -1)
    found = [linprog(c, A_eq=A, b_eq=b, bounds=(0, None), method="highs") for c in cost]
    return np.array([-result.fun for result in found])


def run(context: Context) -> Outcome:
    """Microseconds of one direction, by either way, on random scores."""
    taxonomy = load(context.data, "rcv1-ccat").taxonomy
    edges = markov_edges(taxonomy.tree)
    n = QUICK if context.quick else PROBLEMS
    scores = np.random.default_rng(context.seed).normal(size=(n, edges.child.size, 4))
    max_sum(edges, scores, "all")  # compiles the loop
    start = time.process_time()
    values = max_sum(edges, scores, "all").value
    middle = time.process_time()
    same = by_linear_programme(edges, len(taxonomy), scores)
    seconds = {"dynamic programming": middle - start,
               "linear programming": time.process_time() - middle}  # fmt: skip
    cells = [Cell("one direction", f"µs by {how}", MICRO * s / n) for how, s in seconds.items()]
    facts = {"method": "directions", "problems": n,
             "largest difference": round(float(np.abs(values - same).max()), 9)}  # fmt: skip
    return Outcome(cells, facts=facts)
