"""What answering the same for every row would reach: the least that a model must beat.

The answer is learned from how often each label was in the training rows. Where every row has one
label it is the most common one. Otherwise it is the best one for each figure: for micro F1 the m
most common labels, m as it would be best on the training rows; the same with ancestors for
hierarchical F1; for the zero-one loss the most common label set. Macro F1 is that of the first.
For AU(PRC) every row gets the training shares of the nodes as scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.metrics.au_prc import counted
from linnaeus.metrics.evaluate import evaluate
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.labelsets import commonest_set


class Frequencies(NamedTuple):
    """How often labels were in some training rows.

    Attributes
    ----------
    rows : int
        Number of rows.
    own : ndarray of int of shape (n_nodes,)
        Rows with each node as a most specific label.
    closed : ndarray of int of shape (n_nodes,)
        Rows with each node or one below it.
    commonest : ndarray of int
        The numbers of the labels of the most common label set.
    single : bool
        Whether every row has one label.
    """

    rows: int
    own: np.ndarray
    closed: np.ndarray
    commonest: np.ndarray
    single: bool

    @classmethod
    def of(cls, taxonomy: Taxonomy, Y: Any) -> Frequencies:
        """Of training rows, from their labels.

        Parameters
        ----------
        taxonomy : Taxonomy
            The taxonomy.
        Y : array-like, sparse matrix or list of lists
            Labels of the rows, in any form of `linnaeus.labels`.

        Returns
        -------
        Frequencies
        """
        given = taxonomy.encode(Y)
        own, closed = taxonomy.most_specific(given), taxonomy.closure(given)
        counts, below = (np.bincount(M.indices, minlength=len(taxonomy)) for M in (own, closed))
        single = bool((np.diff(own.indptr) == 1).all())
        return cls(own.shape[0], counts, below, commonest_set(own), single)


class Baseline(NamedTuple):
    """What one answer for all rows reaches.

    Attributes
    ----------
    labels : list
        The answer: the most common label, or the labels that are best for micro F1.
    right : int
        How many of these labels are right, over all rows.
    values : dict of str to float
        Figures by name.
    """

    labels: list[Any]
    right: int
    values: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
        """
        return {"labels": [str(name) for name in self.labels], **self.values}


def baseline(Y_true: Any, taxonomy: Taxonomy, known: Frequencies) -> Baseline:
    """Judge the constant answers by the true labels of some rows.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    taxonomy : Taxonomy
        The taxonomy.
    known : Frequencies
        How often labels were in the training rows.

    Returns
    -------
    Baseline

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("pet", "cat"), ("pet", "dog")])
    >>> known = Frequencies.of(tax, ["cat", "dog", "cat"])
    >>> found = baseline(["cat", "dog"], tax, known)
    >>> found.labels, found.values["micro_f1"]
    (['cat'], 0.5)
    """
    truth = taxonomy.encode(Y_true)
    micro = known.commonest if known.single else _best(known.own, known.rows)
    closed = known.commonest if known.single else _best(known.closed, known.rows)
    answers = {"hierarchical_f1": closed, "zero_one_loss": known.commonest}
    first = evaluate(truth, _constant(truth, micro), taxonomy)
    values = {name: float(first[name]) for name in ("micro_f1", "macro_f1")}
    for name, nodes in answers.items():
        same = np.array_equal(nodes, micro)
        report = first if same else evaluate(truth, _constant(truth, nodes), taxonomy)
        values[name] = float(report[name])
    support = np.bincount(taxonomy.closure(truth).indices, minlength=len(taxonomy))
    area = _area(support, known.closed, truth.shape[0], counted(taxonomy))
    right = round(first["micro_precision"] * first.own.pred.nnz)
    return Baseline(list(taxonomy.names(micro)), right, {**values, "au_prc": area})


def _best(counts: np.ndarray, rows: int) -> np.ndarray:
    """The nodes that, given to every training row, have the highest F1: the m most common."""
    order = np.lexsort((np.arange(counts.size), -counts))
    order = order[counts[order] > 0]
    hits, given = np.cumsum(counts[order]), rows * np.arange(1, order.size + 1)
    f1 = 2 * hits / (given + hits[-1:].sum())
    return np.sort(order[: int(f1.argmax()) + 1]) if order.size else order


def _constant(truth: sp.csr_array, nodes: np.ndarray) -> sp.csr_array:
    """These nodes for every row."""
    n, m = truth.shape[0], nodes.size
    ones, starts = np.ones(n * m, dtype=np.int8), m * np.arange(n + 1)
    return sp.csr_array((ones, np.tile(nodes, n), starts), truth.shape)


def _area(support: np.ndarray, counts: np.ndarray, rows: int, used: np.ndarray) -> float:
    """The area under the pooled curve, of the same scores for every row."""
    support, counts = support[used], counts[used]
    if not support.sum():
        return float("nan")
    _, place = np.unique(-counts, return_inverse=True)
    hits, nodes = np.bincount(place, support), np.bincount(place)
    return float((hits * np.cumsum(hits) / (rows * np.cumsum(nodes))).sum() / hits.sum())
