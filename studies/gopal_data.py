"""The collections of [GopalYang2015] section 5.1, of which we have the like, ready to be learnt.

CLEF's features are standardised by the training part. Texts and counts of words become TF-IDF.
Label sets of RCV1 are closed upwards. ``rcv1-30k`` takes the most specific labels for the truth;
``rcv1-30k-closed``, as the paper seems to do (it counts 3.18 labels per row), takes every label
for one, those of inner nodes by way of a misc leaf.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.io import Collection, read_collection
from linnaeus.text import TfidfVectorizer

CLOSED = "-closed"
FILES: dict[str, dict[str, Any]] = {
    "ImCLEF07A": {"train": "train.csv.gz", "test": "test.csv.gz"},  # not its arff files
    "lshtc-small-val": {"taxonomy": "taxonomy_collapsed.tsv"},
}
NO_INTERCEPT = {"fit_intercept": False}
INTERCEPTS = {"ImCLEF07A": {"intercept_scaling": 10.0}}  # else none, as in the paper's models
COUNTS = (  # of words, not weighted yet
    "lshtc-small-val", "lshtc-small", "dmoz-2010", "dmoz-2011", "dmoz-2012", "swiki-2011", "lwiki",
)  # fmt: skip

GRAPHS = ("lwiki",)  # whose categories are related without a hierarchy
UNGROUNDED = {"root": "free"}  # the paper's regulariser on a graph: edges alone


class Problem(NamedTuple):
    """Features and labels of the training and of the test part.

    y : names where every row has one label, else an indicator over the nodes, or label lists
    truth : label lists of the test rows
    """

    taxonomy: Taxonomy
    X: Any
    y: Any
    X_test: Any
    truth: list[list[Any]]


def intercept_of(collection: str) -> dict[str, Any]:
    """The parameters of methods that say what intercept they learn.

    The paper's models have none. Images need one, and one that is hardly regularised: their
    features are centred, so that without it a class cannot be rare. The table gopal-costs shows it.
    """
    return dict(INTERCEPTS.get(collection, NO_INTERCEPT))


def load(root: Path, name: str) -> Problem:
    """A collection in a folder of collections, by its name."""
    data = read_collection(root / name.removesuffix(CLOSED), **FILES.get(name, {}))
    tax = data.taxonomy
    if name in GRAPHS and not tax.is_graph:
        raise UserError(f"{name} is not a graph. Import it again, with --graph.")
    X, X_test = features(data)
    own = [tax.decode(tax.most_specific(data.Y(part))) for part in ("train", "test")]
    if all(len(row) == 1 for row in own[0]):
        return Problem(tax, X, np.array([row[0] for row in own[0]]), X_test, own[1])
    problem = Problem(tax, X, data.Y("train"), X_test, own[1])
    return every_label(problem) if name.endswith(CLOSED) else problem


def features(data: Collection) -> tuple[Any, Any]:
    """Of the training and of the test part."""
    train, test = data.part("train"), data.part("test")
    if train.texts is not None and test.texts is not None:
        words = TfidfVectorizer(min_df=2, sublinear_tf=True)
        return words.fit_transform(train.texts), words.transform(test.texts)
    if not sp.issparse(train.X):
        mean, deviation = train.X.mean(axis=0), train.X.std(axis=0, ddof=1)
        return (train.X - mean) / deviation, (test.X - mean) / deviation
    if data.name not in COUNTS:
        return train.X, test.X
    weights = TfidfTransformer(sublinear_tf=True).fit(train.X)
    X, X_test = weights.transform(train.X), weights.transform(test.X)
    seen = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))  # 2 % of the numbers
    return X[:, seen], X_test[:, seen]


def every_label(problem: Problem) -> Problem:
    """The same problem with all labels of the closed sets as labels of their own."""
    tax = problem.taxonomy
    grown = tax.with_misc()
    leaf = {v: v for v in tax.nodes} | {v: misc for misc, v in grown.misc.items()}
    grown = Taxonomy.from_edges(grown.edges)  # misc leaves are classes by their own names
    parts = (tax.decode(tax.closure(Y)) for Y in (problem.y, tax.encode(problem.truth)))
    y, truth = ([[leaf[v] for v in row] for row in rows] for rows in parts)
    return Problem(grown, problem.X, y, problem.X_test, truth)
