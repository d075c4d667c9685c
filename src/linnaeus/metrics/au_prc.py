"""The area under the precision-recall curve of nodes, as hierarchical classification reports it.

Labels are closed upwards, and scores too: a node takes the largest at or below it. With a threshold
t a node is predicted where its score is at least t; over the distinct thresholds t_1 > t_2 > ...

    AU(PRC) = sum_n (R_n - R_(n-1)) P_n,        P_n, R_n: precision and recall at t_n,

the step-wise sum that scikit-learn calls average precision, ties in score counting together.

    pooled    one curve of all nodes together: the literature's AU(PRC)
    mean      the mean over the nodes that are true somewhere: AUPRC-mean
    weighted  the same, weighted by how often each is true: AUPRC-weighted   [VensEtAl2008]

Recall rises at the scores of true labels only, so it is enough to count how many scores reach each
of those: rows pass by twice, block by block, and nothing of the size of all scores is kept. Sparse
scores may hold the best of every row: what is absent has -inf, is retrieved last and all at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference import consistency_fast
from linnaeus.labels import parse
from linnaeus.metrics import au_prc_fast as fast
from linnaeus.metrics.blocks import Entries, entries, score_blocks
from linnaeus.metrics.inputs import named_columns, needed, same_rows
from linnaeus.metrics.ranking import Names
from linnaeus.taxonomy import Taxonomy

AVERAGES = ("pooled", "mean", "weighted")
# The tops of the gene ontology, which all genes have, as benchmarks and as the ontology write them
ONTOLOGIES = {f"GO{colon}{n}" for n in ("0003674", "0005575", "0008150") for colon in ("", ":")}


def au_prc(
    Y_true: Any,
    scores: Any,
    taxonomy: Taxonomy,
    average: str = "pooled",
    roots: bool = True,
    *,
    classes: Names = None,
) -> float:
    """The area under the precision-recall curve, over all nodes.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        Label sets in any form; they are closed upwards.
    scores : {array-like, sparse matrix} of shape (n_rows, n_classes)
        A column per leaf or per node, or per name in `classes`; they are closed upwards by the
        maximum.
    taxonomy : Taxonomy
        The taxonomy.
    average : {'pooled', 'mean', 'weighted'}, default='pooled'
        AU(PRC), AUPRC-mean and AUPRC-weighted; nodes that are never true are left out of the
        means.
    roots : bool, default=True
        Whether the roots count.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).

    Returns
    -------
    float

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> round(au_prc(["cat", "dog", "oak"], [[2, -1, 0], [1, 2, 0], [0, 0, 1.0]], tax), 4)
    0.9524
    """
    if average not in AVERAGES:
        raise UserError(f"average={average!r} is not known. Use one of: {', '.join(AVERAGES)}.")
    given = ScoredRows.of(Y_true, scores, needed(taxonomy, "au_prc"), classes)
    used = np.ones(len(taxonomy), dtype=bool)
    used[taxonomy.root_numbers] = roots
    return given.area(used, average)


def counted(taxonomy: Taxonomy) -> np.ndarray:
    """The nodes that the literature counts: without tops of ontologies, and a top called root."""
    tops = set(taxonomy.roots)
    return np.array(
        [
            name not in ONTOLOGIES and not (name in tops and str(name).casefold() == "root")
            for name in taxonomy.nodes
        ]
    )


class Cuts(NamedTuple):
    """The distinct scores of the true labels of some groups of nodes: thresholds."""

    start: np.ndarray  # (n_groups + 1,) where the thresholds of each group begin
    value: np.ndarray  # the thresholds, ascending in each group
    true: np.ndarray  # how many true labels have this score

    @classmethod
    def of(cls, group: np.ndarray, scores: np.ndarray) -> Cuts:
        """Of labels, each with its group (-1: none) and score; each group has a label."""
        group, scores = group[group >= 0], scores[group >= 0]
        order = np.lexsort((scores, group))
        group, scores = group[order], scores[order]
        new = np.ones(scores.size, dtype=bool)
        new[1:] = (group[1:] != group[:-1]) | (scores[1:] != scores[:-1])
        first = np.flatnonzero(new)
        start = np.searchsorted(group[first], np.arange(group[-1] + 2)).astype(np.int64)
        return cls(start, scores[first], np.diff(np.append(first, scores.size)))

    def reaching(self, between: np.ndarray) -> np.ndarray:
        """How many reach each threshold, given how many reach it but not the next one."""
        total = np.append(np.cumsum(between[::-1])[::-1], 0)
        return np.asarray(total[:-1] - np.repeat(total[self.start[1:]], np.diff(self.start)))

    def areas(self, n: np.ndarray) -> np.ndarray:
        """The area of each group, given how many scores reach each threshold."""
        steps = self.true * self.reaching(self.true) / n
        return np.add.reduceat(steps, self.start[:-1]) / np.add.reduceat(self.true, self.start[:-1])


class ScoredRows(NamedTuple):
    """The closed truth, and scores of nodes."""

    taxonomy: Taxonomy
    true: sp.csr_array
    scores: Any  # dense or CSR
    columns: np.ndarray  # the node of each column

    @classmethod
    def of(cls, Y_true: Any, scores: Any, taxonomy: Taxonomy, classes: Names) -> ScoredRows:
        given = parse(Y_true, taxonomy)
        S, names = named_columns(given, scores, taxonomy, classes)
        true = same_rows(taxonomy.closure(taxonomy.encode(given)).sorted_indices(), S)
        return cls(taxonomy, true, S, taxonomy.numbers(names))

    def area(self, used: np.ndarray, average: str = "pooled") -> float:
        """The area over some nodes."""
        support = np.bincount(self.true.indices, minlength=used.size) * used
        if not support.any():
            warnings.warn(
                "No row has a label among the nodes that are counted, so the area under the "
                "precision-recall curve is NaN. Check labels and taxonomy.",
                stacklevel=3,
            )
            return float("nan")
        if average == "pooled":
            return float(self._pooled(used))
        nodes = np.flatnonzero(support)
        areas = self._each(nodes)
        return float(np.average(areas, weights=support[nodes] if average == "weighted" else None))

    def _pooled(self, used: np.ndarray) -> float:
        """The area of all nodes together."""
        cuts = Cuts.of(np.where(used, 0, -1)[self.true.indices], self._own())
        reached, work = np.zeros(cuts.value.size, dtype=np.int64), np.full(used.size, -np.inf)
        for _, scores, above in self._blocks():
            found = np.empty(np.diff(above[0])[scores.columns].sum())
            found = np.sort(found[: fast.gather(*scores, *above, used, work, found)])
            reached += found.size - np.searchsorted(found, cuts.value)
        cells = self.true.shape[0] * np.count_nonzero(used)
        return float(cuts.areas(np.where(cuts.value == -np.inf, cells, reached))[0])

    def _each(self, nodes: np.ndarray) -> np.ndarray:
        """The area of each of some nodes."""
        group = np.full(len(self.taxonomy), -1)
        group[nodes] = np.arange(nodes.size)
        cuts = Cuts.of(group[self.true.indices], self._own())
        between, work = np.zeros(cuts.value.size, dtype=np.int64), np.full(group.size, -np.inf)
        for _, scores, above in self._blocks():
            fast.count_between(*scores, *above, group, *cuts[:2], work, between)
        n = np.where(cuts.value == -np.inf, self.true.shape[0], cuts.reaching(between))
        return cuts.areas(n)

    def _own(self) -> np.ndarray:
        """The closed scores of all true labels."""
        found = np.empty(self.true.indices.size)
        work = np.full(len(self.taxonomy), -np.inf)
        for rows, scores, above in self._blocks():
            ptr, labels, _ = entries(self.true[rows])
            own = np.empty(labels.size)
            fast.scores_of_labels(*scores, *above, ptr, labels, work, own)
            begin = self.true.indptr[rows[0]]
            found[begin : begin + own.size] = own
        return found

    def _blocks(self) -> Iterator[tuple[np.ndarray, Entries, tuple[np.ndarray, np.ndarray]]]:
        """Rows, their scores, and the nodes that each column of these stands for."""
        rows, tax = np.arange(self.true.shape[0]), self.taxonomy
        above = entries(tax.ancestor_rows(self.columns))[:2]
        if sp.issparse(self.scores):
            for part, scores in score_blocks(self.scores, rows):
                yield part, scores, above
            return
        itself = np.arange(len(tax) + 1, dtype=np.int64), np.arange(len(tax), dtype=np.int32)
        for part, scores in score_blocks(self.scores, rows):
            full = np.full((part.size, len(tax)), -np.inf)
            full[:, self.columns] = scores.values.reshape(part.size, -1)
            consistency_fast.lift_rows(tax.dag.parent_ptr, tax.dag.parents, full)
            yield part, entries(full), itself
