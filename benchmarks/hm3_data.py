"""The problems on which H-M3 is measured: two collections, and made-up ones of given shapes.

The collections are found by `recording.collections`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from benchmarks.recording import collections
from linnaeus import HM3, Taxonomy
from linnaeus.synthetic import make_text_like, random_taxonomy
from studies import rousu_data
from studies.rousu_data import TOL, Problem


def missing() -> list[str]:
    """The collections that are not there."""
    where = collections()
    return [name for name in TOL if where is None or not (where / name).is_dir()]


def collection(name: str) -> Problem:
    return rousu_data.load(collections() or Path(), name)


def shaped(
    n_samples: int, n_features: int, n_nodes: int, nonzeros: int, depth: int = 3
) -> tuple[Taxonomy, sp.csr_array, sp.csr_array]:
    """Text-like rows with one full path each, in a random tree of so many nodes."""
    trees = (random_taxonomy(leaves, depth, 0) for leaves in range(n_nodes, 0, -1))
    tree = next(tree for tree in trees if len(tree) == n_nodes)
    X, Y, _ = make_text_like(
        n_samples, n_features, tree, labels_per_sample=1.0, nonzeros=nonzeros, tfidf=True,
        random_state=0,
    )  # fmt: skip
    return tree, X, tree.closure(Y)


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, of all threads, and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def markov(name: str, loss: str) -> tuple[HM3, Any, Any]:
    """H-M3 for a collection, and what it takes for its two parts."""
    return rousu_data.markov(collection(name), name, loss)


@cache
def fitted(name: str, loss: str) -> tuple[float, HM3]:
    """CPU seconds, kernel matrix included, and the model."""
    model, inputs, _ = markov(name, loss)
    seconds, _ = seconds_of(lambda: model.fit(inputs, collection(name).Y))
    return seconds, model
