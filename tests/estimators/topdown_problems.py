"""Taxonomies, points and label sets that the tests of top-down models share."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.estimators.topdown import TopDown

TREE = Taxonomy.from_edges(
    [("A", "a1"), ("A", "a2"), ("A", "a3"), ("B", "b1"), ("B", "b2"), ("b2", "b21"), ("b2", "b22")]
    + [(None, "C")]
)  # leaves at depths 0, 1 and 2
DAG = Taxonomy.from_edges(
    [
        ("A", "a"),
        ("A", "x"),
        ("B", "x"),
        ("B", "b"),
        ("x", "x1"),
        ("x", "x2"),
        ("b", "b1"),
        ("b", "b2"),
    ]
)
DECODES = ("greedy", "beam", "path")
TIGHT = {"tol": 1e-8, "dtype": "float64", "random_state": 0}


def points(tax: Taxonomy, n: int = 150, d: int = 6, spread: float = 0.7, seed: int = 0):
    """Points around a centre per leaf; the centres of siblings are close to their parent's."""
    rng = np.random.default_rng(seed)
    centre = np.zeros((len(tax), d))
    for v in range(len(tax)):
        above = [centre[tax.index(p)] for p in tax.parents(tax.nodes[v])]
        centre[v] = (np.mean(above, axis=0) if above else 0) + rng.normal(size=d)
    leaf = rng.permutation(np.resize(tax.leaf_numbers, n))
    X = centre[leaf] + spread * rng.normal(size=(n, d))
    return X, np.array(tax.names(leaf))


def label_sets(tax: Taxonomy, y, seed: int = 0) -> sp.csr_array:
    """One more leaf for some rows, with all ancestors."""
    rng = np.random.default_rng(seed)
    lists = [
        [a, b] if rng.random() < 0.4 else [a] for a, b in zip(y, rng.permutation(y), strict=True)
    ]
    return tax.closure(tax.encode(lists))


def sigmoid(s):
    return 1 / (1 + np.exp(-s))


def local_scores(model: TopDown, X) -> dict:
    s = X @ model.coef_.T + model.intercept_
    return {edge: s[:, e] for e, edge in enumerate(model.edges_)}
