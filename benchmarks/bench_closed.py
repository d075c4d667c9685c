"""The best closed label set: milliseconds a row, on trees and DAGs, checked by a linear programme.

Random normal scores, lowered by a shift: at 0 half of the nodes pay, at -2 hardly any. The DAG is
the Gene Ontology of cellcycle_GO where the shared data lie beside the checkout, else a random
DAG of the same size. The yardstick is SciPy's HiGHS on the same rows, whose optimum must be equal.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from linnaeus import Taxonomy
from linnaeus.inference import closed_argmax

GO = Path(__file__).resolve().parents[2] / "shared" / "data" / "cellcycle_GO" / "taxonomy.tsv"
N_NODES, N_ROWS, N_CHECKED = 4125, 1000, 2
SHIFTS = (0.0, -0.5, -1.0, -2.0)


def random_taxonomy(n: int, rng: np.random.Generator, second_parent: float) -> Taxonomy:
    """Every node draws one parent among the earlier ones, and a second with some probability."""
    child = np.arange(1, n)
    first, second = ((rng.random(n - 1) * child).astype(int) for _ in range(2))
    both = rng.random(n - 1) < second_parent
    edges = np.vstack([np.column_stack([first, child]), np.column_stack([second, child])[both]])
    return Taxonomy.from_edges(edges.tolist())


def gene_ontology(rng: np.random.Generator) -> Taxonomy:
    if not GO.exists():
        return random_taxonomy(N_NODES, rng, second_parent=0.41)
    edges = (line.split("\t") for line in GO.read_text().splitlines())
    return Taxonomy.from_edges([(None if p == "root" else p, c) for p, c in edges])


def linear_programme(taxonomy: Taxonomy, s: np.ndarray) -> float:
    """The same optimum by a generic solver: the relaxation of the closure problem is exact."""
    dag, n = taxonomy.dag, len(taxonomy)
    m = dag.parents.size
    child = np.repeat(np.arange(n), np.diff(dag.parent_ptr))
    entries = (np.tile(np.arange(m), 2), np.concatenate([child, dag.parents]))
    A = sp.csr_array((np.repeat([1.0, -1.0], m), entries), shape=(m, n))
    return -linprog(-s, A_ub=A, b_ub=np.zeros(m), bounds=(0, 1), method="highs").fun


def run(name: str, taxonomy: Taxonomy, rng: np.random.Generator) -> None:
    closed_argmax(taxonomy, np.zeros((1, len(taxonomy))))  # compile before the clock starts
    for shift in SHIFTS:
        scores = rng.normal(size=(N_ROWS, len(taxonomy))) + shift
        start = time.perf_counter()
        Y, value = closed_argmax(taxonomy, scores)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        optimum = np.array([linear_programme(taxonomy, s) for s in scores[:N_CHECKED]])
        theirs = time.perf_counter() - start
        error = np.abs(optimum - value[:N_CHECKED]).max() / max(1.0, np.abs(optimum).max())
        print(
            f"{name:6} {shift:6.1f} {Y.nnz / N_ROWS:10.1f} {1e3 * ours / N_ROWS:10.3f} "
            f"{1e3 * theirs / N_CHECKED:10.1f} {error:12.1e}",
            flush=True,
        )


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"{N_ROWS:,} rows; a linear programme for {N_CHECKED} of them")
    print(f"{'':6} {'shift':>6} {'labels/row':>10} {'ms/row':>10} {'LP ms/row':>10} {'error':>12}")
    run("tree", random_taxonomy(N_NODES, rng, second_parent=0.0), rng)
    run("GO", gene_ontology(rng), rng)


if __name__ == "__main__":
    main()
