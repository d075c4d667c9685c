"""The collections of [Rousu2006] section 5 of which we have the like: rcv1-ccat and enzyme."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp

from linnaeus import HM3, Taxonomy
from linnaeus.io import read_collection
from linnaeus.kernels import SpectrumKernel, normalize
from linnaeus.text import SpectrumVectorizer

LENGTH = 4  # of the substrings of proteins
TOL = {"rcv1-ccat": 0.01, "enzyme": 0.05}  # relative duality gaps of H-M3


class Problem(NamedTuple):
    """Features of both parts for linear models, label sets with all ancestors, and sequences."""

    taxonomy: Taxonomy
    X: sp.csr_array
    Y: sp.csr_array
    X_test: sp.csr_array
    Y_test: sp.csr_array
    texts: Any = None
    texts_test: Any = None


@lru_cache(maxsize=2)
def load(root: Path, name: str) -> Problem:
    """A collection in a folder of collections, by its name."""
    data = read_collection(root / name)
    train, test, close = data.part("train"), data.part("test"), data.taxonomy.closure
    Y, Y_test = close(data.Y("train")), close(data.Y("test"))
    if train.texts is None or test.texts is None:
        return Problem(data.taxonomy, train.X, Y, test.X, Y_test)
    substrings = SpectrumVectorizer(LENGTH)
    X, X_test = substrings.fit_transform(train.texts), substrings.transform(test.texts)
    return Problem(data.taxonomy, X, Y, X_test, Y_test, train.texts, test.texts)


def kernel() -> Any:
    """Of proteins: shared substrings, normalised."""
    return normalize(SpectrumKernel(LENGTH))


def markov(data: Problem, name: str, loss: str, seed: int = 0) -> tuple[HM3, Any, Any]:
    """H-M3 for a collection, and what it takes for its two parts.

    Sequences get the spectrum kernel, and `root_edges="all"`: the paper's tree of enzymes has one
    more node on top, always on, and an edge of this kind from it to every class.
    """
    options: dict[str, Any] = {"loss": loss, "tol": TOL[name], "random_state": seed}
    if data.texts is None:
        return HM3(data.taxonomy, empty="none", **options), data.X, data.X_test
    model = HM3(data.taxonomy, kernel=kernel(), root_edges="all", empty="none", **options)
    return model, data.texts, data.texts_test
