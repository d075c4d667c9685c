"""How long a report takes: 100,000 rows of sparse label sets over some 10,000 nodes.

python benchmarks/bench_metrics.py
"""

from __future__ import annotations

import resource
import time

import numpy as np
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.metrics import evaluate


def make_taxonomy(width: int = 21) -> Taxonomy:
    """A tree with a root and three levels of `width` children each."""
    ids = ["0"]
    edges = []
    for _ in range(3):
        below = [f"{v}.{i}" for v in ids for i in range(width)]
        edges += [(name.rsplit(".", 1)[0], name) for name in below]
        ids = below
    return Taxonomy.from_edges(edges)


def make_labels(taxonomy: Taxonomy, n_rows: int, rng: np.random.Generator) -> list[sp.csr_array]:
    """Truth with 1 to 4 leaves a row, and a prediction in which a third of them are others."""
    n_labels = rng.integers(1, 5, n_rows)
    rows = np.repeat(np.arange(n_rows), n_labels)
    leaves = taxonomy.leaf_numbers
    true = rng.choice(leaves, rows.size)
    pred = np.where(rng.random(rows.size) < 1 / 3, rng.choice(leaves, rows.size), true)
    shape = (n_rows, len(taxonomy))
    out = []
    for labels in (true, pred):
        Y = sp.csr_array((np.ones(rows.size), (rows, labels)), shape=shape)
        Y.data[:] = 1
        out.append(Y)
    return out


def timed(what: str, taxonomy: Taxonomy, *given: object, **options: object) -> None:
    """Time `evaluate` and print seconds, rows, non-zeros and peak memory."""
    true, pred = given[:2]
    start = time.perf_counter()
    report = evaluate(taxonomy, *given, **options)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{what}: {seconds:.2f} s, {true.shape[0]:,} rows, {len(taxonomy):,} nodes, "
        f"nnz {true.nnz:,} true and {pred.nnz:,} predicted, peak memory {peak:,.0f} MB, "
        f"hierarchical F1 {report['hierarchical_f1']:.3f}"
    )


def main(n_rows: int = 100_000, n_scored: int = 2_000) -> None:
    """A report of label sets, then one with scores as well, on fewer rows."""
    taxonomy, rng = make_taxonomy(), np.random.default_rng(0)
    true, pred = make_labels(taxonomy, n_rows, rng)
    timed("sets", taxonomy, true, pred, train_counts=rng.integers(0, 200, len(taxonomy)))
    scores = rng.normal(size=(n_scored, taxonomy.leaf_numbers.size)).astype(np.float32)
    timed("sets and scores", taxonomy, true[:n_scored], pred[:n_scored], scores)


if __name__ == "__main__":
    main()
