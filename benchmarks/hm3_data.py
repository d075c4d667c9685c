"""The problems on which H-M3 is measured: two collections, and made-up ones of given shapes.

The collections are looked for in the folder ``shared/data`` beside the checkout, or in the one that
COLLECTIONS names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp

from linnaeus import HM3, Taxonomy
from linnaeus.io import read_collection
from linnaeus.kernels import SpectrumKernel, normalize
from linnaeus.synthetic import make_text_like, random_taxonomy
from linnaeus.text import SpectrumVectorizer

LENGTH = 4  # of the substrings of proteins
TOL = {"rcv1-ccat": 0.01, "enzyme": 0.05}
NEAR = Path(__file__).resolve().parents[2] / "shared" / "data"


class Problem(NamedTuple):
    """Features of both parts for linear models, label sets with all ancestors, and sequences."""

    taxonomy: Taxonomy
    X: sp.csr_array
    Y: sp.csr_array
    X_test: sp.csr_array
    Y_test: sp.csr_array
    texts: Any = None
    texts_test: Any = None


def folder(name: str) -> Path:
    return Path(os.environ.get("COLLECTIONS", NEAR)) / name


@cache
def collection(name: str) -> Problem:
    data = read_collection(folder(name))
    train, test, close = data.part("train"), data.part("test"), data.taxonomy.closure
    Y, Y_test = close(data.Y("train")), close(data.Y("test"))
    if train.texts is None:
        return Problem(data.taxonomy, train.X, Y, test.X, Y_test)
    substrings = SpectrumVectorizer(LENGTH)
    X, X_test = substrings.fit_transform(train.texts), substrings.transform(test.texts)
    return Problem(data.taxonomy, X, Y, X_test, Y_test, train.texts, test.texts)


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
    """H-M3 for a collection, and what it takes for its two parts.

    Sequences get the spectrum kernel, and `root_edges="all"`: the paper's tree of enzymes has one
    more node on top, always on, and an edge of this kind from it to every class.
    """
    data = collection(name)
    options: dict[str, Any] = {"loss": loss, "tol": TOL[name], "random_state": 0}
    if data.texts is None:
        return HM3(data.taxonomy, **options), data.X, data.X_test
    kernel = normalize(SpectrumKernel(LENGTH))
    model = HM3(data.taxonomy, kernel=kernel, root_edges="all", **options)
    return model, data.texts, data.texts_test


@cache
def fitted(name: str, loss: str) -> tuple[float, HM3]:
    """CPU seconds, kernel matrix included, and the model."""
    model, inputs, _ = markov(name, loss)
    seconds, _ = seconds_of(lambda: model.fit(inputs, collection(name).Y))
    return seconds, model
