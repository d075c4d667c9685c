"""Collections for the studies of [Cai2008] section 7.1, and its synthetic data.

Newsgroups: 15 groups in 5 families; counts of words scaled to length 1, without stop words and
words that occur once. The thesis counts 158 such words a document: posts without their header lines
have 150, with them 174, so the header lines are left out. Posts without words go, as in the thesis.
Posts are in the order of their groups, as they lie in the collection's folders.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from linnaeus import Taxonomy
from linnaeus.io import read_collection
from linnaeus.synthetic import make_hierarchical
from linnaeus.text import SpectrumVectorizer
from studies import gopal_data

FAMILIES = {
    "computers": (
        "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
        "comp.sys.mac.hardware", "comp.windows.x",
    ),
    "politics": ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
    "religion": ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
    "sports": ("rec.sport.baseball", "rec.sport.hockey"),
    "vehicles": ("rec.autos", "rec.motorcycles"),
}  # fmt: skip
LENGTH = 4  # of the substrings of proteins


class Problem(NamedTuple):
    """Rows, one label or a label list for each, and where a given division is, its rows."""

    X: Any
    y: Any
    taxonomy: Taxonomy
    train: np.ndarray | None = None
    test: np.ndarray | None = None


@lru_cache(maxsize=1)
def newsgroups(root: Path) -> Problem:
    """The newsgroups of the folder ``news20``, both parts together."""
    data = read_collection(root / "news20")
    edges = [("root", family) for family in FAMILIES]
    edges += [(family, group) for family, groups in FAMILIES.items() for group in groups]
    taxonomy = Taxonomy.from_edges(edges)
    posts = sorted(
        (own[0], i, body(text))
        for i, (text, own) in enumerate(
            pair
            for part in (data.part("train"), data.part("test"))
            for pair in zip(part.texts or (), part.labels, strict=True)
        )
        if own[0] in taxonomy
    )
    counts = CountVectorizer(stop_words="english").fit_transform([text for _, _, text in posts])
    counts = counts[:, np.flatnonzero(counts.sum(axis=0) >= 2)]
    some = np.flatnonzero(counts.sum(axis=1))
    labels = np.array([group for group, _, _ in posts])
    X = sp.csr_array(normalize(counts[some].astype(np.float64)))
    return Problem(X, labels[some], taxonomy)


def newsgroups_by_family(root: Path) -> Problem:
    """The same posts, groups of one family after the other."""
    data = newsgroups(root)
    place = {group: i for i, group in enumerate(data.taxonomy.leaves)}
    rows = np.argsort([place[group] for group in data.y.tolist()], kind="stable")
    return data._replace(X=data.X[rows], y=data.y[rows])


def body(post: str) -> str:
    """A post without its header lines, which end at the first empty line.

    >>> body("From: a@b.c\\nSubject: x\\n\\nHello,\\n\\nbye")
    'Hello,\\n\\nbye'
    """
    return post.split("\n\n", 1)[-1]


@lru_cache(maxsize=1)
def enzyme(root: Path) -> Problem:
    """Proteins as counts of substrings of length 4, scaled to length 1; the given division."""
    data = read_collection(root / "enzyme")
    train, test = data.part("train"), data.part("test")
    words = SpectrumVectorizer(LENGTH)
    X = [words.fit_transform(train.texts or ()), words.transform(test.texts or ())]
    return _stacked(X[0], list(train.labels), X[1], list(test.labels), data.taxonomy)


@lru_cache(maxsize=1)
def images(root: Path) -> Problem:
    """ImCLEF07A, features standardised by the training part; the given division."""
    found = gopal_data.load(root, "ImCLEF07A")
    return _stacked(
        sp.csr_array(found.X), [[own] for own in found.y], sp.csr_array(found.X_test), found.truth,
        found.taxonomy,
    )  # fmt: skip


def synthetic(shape: str, seed: int, ratio: float = 0.5) -> Problem:
    """One draw of 200 examples in 20 features; "3 x 3" is fan-out by depth.

    ratio : of the variance of node weights to that of the level above
    """
    fan_out, depth = map(int, shape.split(" x "))
    variances = [ratio**level for level in range(depth + 1)]
    X, Y, taxonomy = make_hierarchical(
        fan_out=fan_out, depth=depth, variances=variances, random_state=seed
    )
    return Problem(X, Y, taxonomy)


def _stacked(X: Any, y: list[Any], X_test: Any, y_test: list[Any], taxonomy: Taxonomy) -> Problem:
    """Both parts one below the other; plain labels where every row has one."""
    labels: Any = y + y_test
    if all(len(own) == 1 for own in labels):
        labels = np.array([own[0] for own in labels])
    rows = np.arange(len(y) + len(y_test))
    both = sp.csr_array(sp.vstack([X, X_test], format="csr"))
    return Problem(both, labels, taxonomy, rows[: len(y)], rows[len(y) :])
