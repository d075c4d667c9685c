"""How long metrics take: 100,000 rows, some 10,000 nodes, the 50 best scores of every row.

On a smaller size they are beside scikit-learn and plain formulas, whose values are the same.

python -m benchmarks metrics
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import (
    average_precision_score,
    label_ranking_average_precision_score,
    label_ranking_loss,
    ndcg_score,
)

from linnaeus import Taxonomy, metrics
from linnaeus.inference import lift
from linnaeus.metrics.scorers import OF_SCORES, OF_SETS


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


def make_scores(
    true: sp.csr_array, taxonomy: Taxonomy, k: int, rng: np.random.Generator
) -> sp.csr_array:
    """Scores of about k leaves of every row, four fifths of the true ones among them."""
    n, leaves = true.shape[0], taxonomy.leaf_numbers
    columns, rows = rng.integers(0, leaves.size, n * k), np.repeat(np.arange(n), k)
    some = sp.csr_array((rng.normal(size=n * k), (rows, columns)), shape=(n, leaves.size))
    found = sp.csr_array(true[:, leaves], dtype=float)
    found.data = 2.0 * (rng.random(found.nnz) < 0.8)
    found.eliminate_zeros()
    return sp.csr_array(some + found)


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and the answer."""
    start = time.process_time()
    answer = call()
    return time.process_time() - start, answer


def peak() -> str:
    """The peak memory of the process so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"


def large(n_rows: int, k: int) -> None:
    """Every metric on sparse scores, and reports."""
    taxonomy, rng = make_taxonomy(), np.random.default_rng(0)
    true, pred = make_labels(taxonomy, n_rows, rng)
    scores = make_scores(true, taxonomy, k, rng)
    print(
        f"{n_rows:,} rows, {len(taxonomy):,} nodes, {true.nnz:,} labels true and {pred.nnz:,} "
        f"predicted, {scores.nnz:,} scores"
    )
    calls = {name: (metric, pred) for name, metric in OF_SETS.items()}
    calls |= {name: (metric, scores) for name, metric in OF_SCORES.items()}
    calls |= {"au_prc mean": (partial(metrics.au_prc, average="mean"), scores)}
    for name, (metric, given) in calls.items():
        metric(true[:9], given[:9], taxonomy)  # compiles
        cpu, value = seconds(partial(metric, true, given, taxonomy))
        print(f"  {name:<33}{value:8.4f}{cpu:8.2f} s")
    report = partial(metrics.evaluate, true, pred, taxonomy)
    print(f"  {'evaluate, label sets':<41}{seconds(report)[0]:8.2f} s")
    print(f"  {'evaluate, with scores':<41}{seconds(partial(report, scores))[0]:8.2f} s")
    print(f"  peak memory {peak()}")


def beside_others(n_rows: int, width: int) -> None:
    """Ours beside scikit-learn and plain formulas on dense scores, with the same values."""
    taxonomy, rng = make_taxonomy(width), np.random.default_rng(0)
    true, _ = make_labels(taxonomy, n_rows, rng)
    leaves = taxonomy.leaf_numbers
    S = make_scores(true, taxonomy, leaves.size, rng).toarray()
    S += 1e-9 * rng.random(S.shape)  # no ties
    Y, closed = true[:, leaves].toarray(), taxonomy.closure(true).toarray()
    full = lift(taxonomy, S)
    others = {
        "label_ranking_average_precision": lambda: label_ranking_average_precision_score(Y, S),
        "ranking_loss": lambda: label_ranking_loss(Y, S),
        "ndcg_at": lambda: ndcg_score(Y, S, k=1),
        "precision_at": lambda: np.take_along_axis(Y, np.argsort(-S, axis=1)[:, :1], 1).mean(),
        "au_prc": lambda: average_precision_score(closed.ravel(), full.ravel()),
        "au_prc mean": lambda: np.mean(
            [average_precision_score(closed[:, v], full[:, v]) for v in closed.any(0).nonzero()[0]]
        ),
    }
    print(f"{n_rows:,} rows, {len(taxonomy):,} nodes, dense scores: ours, theirs")
    for name, theirs in others.items():
        average = {"average": "mean"} if name.endswith("mean") else {}
        ours = partial(getattr(metrics, name.split()[0]), true, S, taxonomy, **average)
        (cpu, value), (cpu_theirs, same) = seconds(ours), seconds(theirs)
        assert np.isclose(value, same), (name, value, same)
        print(f"  {name:<33}{value:8.4f}{cpu:8.2f} s{cpu_theirs:8.2f} s")


def main(n_rows: int = 100_000, k: int = 50) -> None:
    """The large size with sparse scores, then a small one beside other libraries."""
    large(n_rows, k)
    beside_others(max(n_rows // 50, 10), 10)


if __name__ == "__main__":
    main()
